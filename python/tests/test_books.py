"""Books of every format, and what positions they are asked for."""

from __future__ import annotations

import copy
import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any, Iterator

import chess
import chess.variant
import pytest

import tabiya

from conftest import ROOT, STARTER, python_does, samples, tabiya_says

FORMATS = {"bin": "polyglot", "ctg": "ctg", "abk": "abk", "kob": "kvetka", "epd": "epd", "fen": "fen", "parquet": "counts"}


def sample_books() -> list[Path]:
    folder = samples()
    found = [*folder.glob("polyglot/*.bin"), *folder.glob("ctg/*/*.ctg"), *folder.glob("abk/*.abk")]
    assert len(found) >= 3
    return found


def shown(book: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """What `tabiya show --json` says of every position that the book has."""
    dump = tabiya_says("export", "--format", "json", *(["--reachable"] if book.suffix == ".bin" else []), book)
    fens = [json.loads(line)["fen"] for line in dump.splitlines()]
    file = folder / "fens.txt"
    file.write_text("\n".join(fens))
    lines = tabiya_says("show", "--json", book, "--fen-file", file).splitlines()
    assert len(lines) == len(fens) > 0
    return map(json.loads, lines)


def as_shown(entry: tabiya.Entry) -> dict[str, Any]:
    learned = entry.learned
    return {
        "uci": entry.uci,
        "weight": entry.weight,
        "games": entry.games,
        "wins": entry.wins,
        "draws": entry.draws,
        "losses": entry.losses,
        "annotation": entry.annotation,
        "recommended": entry.recommended,
        "learn": None if learned is None else {"games": learned[0], "halfpoints": learned[1]},
    }


def compare(book: Path, folder: Path) -> int:
    """Compares every position of a book with what the executable shows; how many moves they have."""
    moves = 0
    with tabiya.open_reader(book) as reader:
        policy = tabiya.Policy(reader)
        for line in shown(book, folder):
            fen = line["fen"]
            entries = [as_shown(entry) for entry in reader.find_all(fen, minimum_weight=0)]
            keys = ["uci", "weight", "games", "wins", "draws", "losses", "annotation", "recommended", "learn"]
            expected = [{key: move[key] for key in keys} for move in line["moves"]]
            by_uci = lambda move: move["uci"]  # noqa: E731
            assert sorted(entries, key=by_uci) == sorted(expected, key=by_uci), fen
            opening = tabiya.opening(fen)
            assert (opening and opening._asdict()) == line["opening"], fen
            assert reader.comment(fen) == line.get("comment"), fen
            chances = {entry.uci: chance for entry, chance in policy.chances(fen)}
            probabilities = {move["uci"]: move["chance"] for move in line["moves"]}
            playable = any(move["playable"] for move in line["moves"])
            assert chances == (probabilities if playable else {}), fen
            board = chess.Board(fen)
            assert all(board.is_legal(entry.move) for entry in reader.find_all(board)), fen
            moves += len(entries)
    return moves


def test_every_position_of_the_samples_is_as_shown(tmp_path: Path) -> None:
    assert sum(compare(book, tmp_path) for book in sample_books()) > 100_000


def test_every_position_of_books_of_each_format_is_as_shown(books: dict[str, Path], tmp_path: Path) -> None:
    for end, book in books.items():
        assert compare(book, tmp_path) >= 9, end


def test_a_book_of_each_format_is_iterated_and_counted(books: dict[str, Path]) -> None:
    for end, path in books.items():
        with tabiya.open_reader(path) as reader:
            assert reader.format == FORMATS[end] and reader.path == str(path)
            entries = list(reader)
            assert len(entries) == len(reader) >= 9, end
            assert [entry.uci for entry in entries].count("e2e4") == 1
            assert all(entry.move in chess.Board().legal_moves for entry in reader.find_all(chess.Board()))
            assert entries[0] in reader and reader
            assert reader.find(chess.Board()) in reader
            # A second time, and given up in the middle.
            assert next(iter(reader)) == entries[0]
            if end in ("ctg", "abk", "kob", "parquet"):
                e4 = reader.find(chess.Board(), exclude_moves=[chess.Move.from_uci("d2d4")])
                assert (e4.games, e4.wins, e4.draws, e4.losses) == (3, 1, 1, 1), end
                for wrong in (lambda: reader[0], lambda: reversed(reader), lambda: reader.find_all(7)):
                    with pytest.raises(TypeError, match=FORMATS[end]):
                        wrong()


def test_counts_make_the_statistics_of_a_position(books: dict[str, Path]) -> None:
    with tabiya.open_reader(books["ctg"]) as reader:
        board = chess.Board()
        assert sum(entry.games or 0 for entry in reader.find_all(board, minimum_weight=0)) == 5
        board.push_san("e4")
        assert {entry.uci: entry.games for entry in reader.find_all(board, minimum_weight=0)} == {"e7e5": 2, "c7c5": 1}
        openings = {entry.uci: entry.opening for entry in reader.find_all(board, minimum_weight=0)}
        assert openings["c7c5"] == tabiya.Opening("B20", "Sicilian Defense")


def test_only_boards_of_chess_are_known(books: dict[str, Path]) -> None:
    with tabiya.open_reader(books["ctg"]) as reader:
        for variant in chess.variant.VARIANTS:
            found = list(reader.find_all(variant()))
            assert bool(found) == (variant.uci_variant == "chess"), variant
        assert list(reader.find_all(chess.Board(None))) == []
        for wrong in (None, 1.5, object(), [], b"fen"):
            with pytest.raises(TypeError):
                reader.find_all(wrong)  # type: ignore[arg-type]
        for fen in ("", "no fen", "8/8/8/8/8/8/8/8 w - - 0 1"):
            with pytest.raises(ValueError):
                reader.find_all(fen)


def test_a_board_of_chess960_is_known_in_its_own_form(tmp_path: Path) -> None:
    games = tmp_path / "960.pgn"
    fen = "rkqnnbbr/pppppppp/8/8/8/8/PPPPPPPP/RKQNNBBR w HAha - 0 1"
    games.write_text(
        f'[Variant "Chess960"]\n[SetUp "1"]\n[FEN "{fen}"]\n[Result "1-0"]\n\n1. Nd3 Nd6 2. Qd1 Qd8 1-0\n'
    )
    book = tmp_path / "960.bin"
    tabiya.build(games, book, min_games=1)
    board = chess.Board(fen, chess960=True)
    with tabiya.open_reader(book) as reader:
        assert [board.san(entry.move) for entry in reader.find_all(board)] == ["Nd3"]
        assert [entry.move for entry in reader.find_all(fen)] == [board.parse_san("Nd3")]
        start = chess.Board(chess960=True)
        assert list(reader.find_all(start)) == []
    with tabiya.open_reader(STARTER) as reader:
        ordinary = list(reader.find_all(chess.Board()))
        assert list(reader.find_all(chess.Board(chess960=True))) == ordinary


def test_odd_boards_are_read_as_their_fens_are() -> None:
    boards = [
        chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"),
        chess.Board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e6 0 1"),
        chess.Board("rnbq1bnr/ppppkppp/8/4p3/4P3/8/PPPPKPPP/RNBQ1BNR w KQkq - 0 3"),
    ]
    late = chess.Board()
    late.fullmove_number, late.halfmove_clock = 10**6, 10**6
    boards.append(late)
    with tabiya.open_reader(STARTER) as reader:
        for board in boards:
            assert list(reader.find_all(board)) == list(reader.find_all(board.fen(en_passant="fen"))), board.fen()
        assert list(reader.find_all(boards[0])) and list(reader.find_all(late))


def test_a_closed_book_says_so(books: dict[str, Path]) -> None:
    for path in books.values():
        with tabiya.open_reader(path) as reader:
            assert not reader.closed
            entries = iter(reader)
            next(entries)
        assert reader.closed
        calls = [
            lambda: reader.find_all(chess.Board()),
            lambda: reader.get(chess.Board()),
            lambda: len(reader),
            lambda: list(reader),
            lambda: bool(reader),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="closed"):
                call()
        reader.close()
        # What was begun goes on.
        assert list(entries)


def test_nothing_found_is_what_it_is_in_python_chess(books: dict[str, Path]) -> None:
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    with tabiya.open_reader(books["ctg"]) as reader:
        assert list(reader.find_all(board)) == [] and reader.get(board) is None
        assert reader.get(board, 5) == 5
        for method in (reader.find, reader.choice, reader.weighted_choice):
            with pytest.raises(IndexError):
                method(board)
        assert reader.get(chess.Board(), minimum_weight=10**30) is None
        with pytest.raises(ZeroDivisionError):

            class Bad:
                def __contains__(self, move: object) -> bool:
                    raise ZeroDivisionError

            reader.find_all(chess.Board(), exclude_moves=Bad())


def test_exceptions_carry_file_and_offset(tmp_path: Path) -> None:
    missing = tmp_path / "none.bin"
    with pytest.raises(FileNotFoundError) as raised:
        tabiya.open_reader(missing)
    error = raised.value
    assert isinstance(error, tabiya.NotFoundError) and isinstance(error, tabiya.Error)
    assert (error.path, error.offset, error.errno) == (str(missing), None, 2) and str(missing) in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.path == error.path

    other = tmp_path / "other.bin"
    other.write_bytes(b"PK\x03\x04 is a zip archive")
    with pytest.raises(tabiya.FormatError, match="unpack it first") as raised_format:
        tabiya.open_reader(other)
    assert raised_format.value.path == str(other)

    short = tmp_path / "short.ctg"
    short.write_bytes(b"")
    with pytest.raises(tabiya.FormatError):
        tabiya.open_reader(short)
    with pytest.raises(tabiya.NotFoundError):
        tabiya.open_games(tmp_path / "none.cbh")
    empty = tmp_path / "empty.bin"
    empty.write_bytes(b"")
    with tabiya.open_reader(empty) as reader:
        assert len(reader) == 0 and not reader and list(reader) == []


@pytest.mark.parametrize("end", ["ctg", "kob"])
def test_a_book_without_a_main_part_is_a_format_error(end: str, books: dict[str, Path]) -> None:
    main, named = {"ctg": ("book.cto", "book.ctg"), "kob": ("book*.kob", "book.kin")}[end]
    (part,) = books[end].parent.glob(main)
    part.unlink()
    path = books[end].with_name(named)
    assert path.exists()
    for call in (tabiya.open_reader, tabiya.Policy, tabiya.check):
        with pytest.raises(tabiya.FormatError, match="missing"):
            call(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody truncate a file that is mapped")
@pytest.mark.parametrize("left", [0, 16, 5000])
def test_a_book_that_shrinks_while_it_is_open_is_an_error(left: int, tmp_path: Path) -> None:
    path = tmp_path / "book.bin"
    path.write_bytes(STARTER.read_bytes())
    reader, policy = tabiya.open_reader(path), tabiya.Policy(path)
    whole = [entry.key for entry in reader]
    forward, backward = iter(reader), reversed(reader)
    assert (next(forward).key, next(backward).key) == (whole[0], whole[-1])
    os.truncate(path, left)
    for entries, expected in ((forward, whole[1:]), (backward, whole[-2::-1])):
        read = []
        with pytest.raises(tabiya.FormatError, match="truncated while it was read"):
            read.extend(entry.key for entry in iter(entries))
        # What was read before is as it was.
        assert read == expected[: len(read)]
    for call in (lambda: list(reader), lambda: reader.find_all(chess.Board()), lambda: policy.choose(chess.Board())):
        with pytest.raises(tabiya.FormatError, match=str(path)):
            call()
    # A book that was replaced is another one: what is open stays whole.
    fresh = tmp_path / "fresh.bin"
    path.write_bytes(STARTER.read_bytes())
    with tabiya.open_reader(path) as replaced:
        fresh.write_bytes(b"\0" * 16)
        os.replace(fresh, path)
        assert [entry.key for entry in replaced] == whole


def test_what_cannot_be_pickled_says_what_to_do_instead(books: dict[str, Path], pgn: Path) -> None:
    for thing in (tabiya.open_reader(books["bin"]), tabiya.Policy(books["bin"]), tabiya.open_games(pgn)):
        for method in (pickle.dumps, copy.copy):
            with pytest.raises(TypeError, match="cannot be sent to another process: pass .* there"):
                method(thing)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows which signals a process catches")
def test_opening_changes_nothing_of_the_process_but_what_the_page_names(books: dict[str, Path]) -> None:
    code = """if True:
        import os, signal, sys, threading
        def state():
            status = dict(line.split(":", 1) for line in open("/proc/self/status"))
            return int(status["SigCgt"], 16), (sys.excepthook, sys.unraisablehook, threading.excepthook, os.getcwd())
        (caught, rest) = state()
        import tabiya
        for path in sys.argv[1:]:
            list(tabiya.open_reader(path))
        (now, same) = state()
        assert rest == same
        # The C library has two signals of its own for threads.
        print([name.name for name in signal.Signals if (now ^ caught) >> (name - 1) & 1])
    """
    done = python_does(code, *books.values())
    assert done.stdout.strip() == "['SIGBUS']", done.stdout + done.stderr
    assert "SIGBUS" in (ROOT / "docs/guide/python.md").read_text(encoding="utf-8")


def test_paths_are_given_in_any_form(tmp_path: Path) -> None:
    path = tmp_path / "Er\u00f6ffnung \u4e2d.bin"
    path.write_bytes(STARTER.read_bytes())
    for form in (path, str(path), str(path).encode()):
        with tabiya.open_reader(form) as reader:
            assert len(reader) == 13699
    with pytest.raises(TypeError):
        tabiya.open_reader(7)  # type: ignore[arg-type]


def test_tournament_weights_leave_out_what_the_book_rules_out(tmp_path: Path) -> None:
    book, games = tmp_path / "colors.ctg", tmp_path / "games.pgn"
    games.write_text("".join(f'[Result "1-0"]\n\n1. {move} 1-0\n\n' for move in ("e4", "d4", "a3", "f3")))
    tabiya.build(games, book, min_games=1)
    tabiya_says("edit", book, "--set", "a3=red", "--set", "f3=?", "--set", "e4=!")
    start = chess.Board()
    with tabiya.open_reader(book) as plain:
        facts = {entry.uci: (entry.weight, entry.recommended, entry.annotation) for entry in plain.find_all(start)}
    assert facts == {
        "e2e4": (2, None, "!"),
        "d2d4": (2, None, None),
        "a2a3": (2, False, None),
        "f2f3": (2, None, "?"),
    }
    with tabiya.open_reader(book, tournament=True) as strict:
        assert {entry.uci: entry.weight for entry in strict.find_all(start)} == {"e2e4": 2, "d2d4": 2}
        everything = {entry.uci: entry.weight for entry in strict.find_all(start, minimum_weight=0)}
        assert everything == {"e2e4": 2, "d2d4": 2, "a2a3": 0, "f2f3": 0}
    tabiya_says("edit", book, "--set", "a3=green")
    with tabiya.open_reader(book, tournament=True) as strict:
        assert {entry.uci: entry.recommended for entry in strict.find_all(start)} == {"a2a3": True}
