"""Books: several, changed in mid-session, real ones."""

import re
import subprocess
import sys

import chess
import chess.polyglot
import pytest

from client import HANG, START, problems
from polyglot_writer import Book, after, one_line

# Several books


def test_books_answer_by_priority(adapter, tmp_path):
    first = one_line(tmp_path / "first.bin", "e2e4 e7e5")
    second = one_line(tmp_path / "second.bin", "e2e4 c7c5 g1f3")
    for order, reply in ((("first", "second"), "e7e5"), (("second", "first"), "c7c5")):
        books = {"first": first, "second": second}
        client = adapter("--book", books[order[0]], "--book", books[order[1]], "--set", "Book Variety=100")
        client.start()
        answers = {client.go("movetime 10", "position startpos moves e2e4").move for _ in range(30)}
        assert answers == {reply}, "books of different priority do not mix"
        # Where the first has nothing the second answers.
        answer = client.go("movetime 10", "position startpos moves e2e4 c7c5")
        assert answer.move == "g1f3" and answer.book["file"].endswith("second.bin")


def test_a_book_without_a_playable_move_leaves_it_to_the_next(adapter, tmp_path):
    first = Book().at(e2e4=0).raw(chess.Board(), 0, 9).write(tmp_path / "first.bin")
    second = one_line(tmp_path / "second.bin", "d2d4")
    client = adapter("--book", first, "--book", second)
    client.start()
    answer = client.go("movetime 10", START)
    assert answer.move == "d2d4" and answer.book["file"].endswith("second.bin")


def test_books_for_one_colour_come_before_the_others(adapter, tmp_path):
    both = one_line(tmp_path / "both.bin", "e2e4 e7e5 g1f3 b8c6")
    white = one_line(tmp_path / "white.bin", "d2d4 d7d5")
    black = one_line(tmp_path / "black.bin", "e2e4 c7c5")
    client = adapter("--book", both, "--book-white", white, "--book-black", black)
    client.start()
    assert client.go("movetime 10", START).move == "d2d4"
    assert client.go("movetime 10", "position startpos moves e2e4").move == "c7c5"
    # White's book does not speak for Black, nor Black's for White.
    assert not client.go("movetime 10", "position startpos moves d2d4").book
    assert client.go("movetime 10", "position startpos moves e2e4 e7e5").move == "g1f3"
    client.set("Book White", black)
    assert client.go("movetime 10", START).move == "e2e4"
    client.set("Book Black", white)
    assert client.go("movetime 10", "position startpos moves d2d4").move == "d7d5"
    assert client.go("movetime 10", "position startpos moves e2e4").move == "e7e5"


@pytest.mark.parametrize("option", ["--book-white", "Book White"])
def test_beside_a_book_for_one_colour_the_starter_book_is_silent(adapter, tmp_path, option):
    white = one_line(tmp_path / "white.bin", "e2e4 e7e5")
    client = adapter(*((option, white) if option[0] == "-" else ("--set", f"{option}={white}")))
    client.start()
    assert client.go("movetime 10", START).book
    # Neither for the other colour nor where the book has no move.
    for moves in ("e2e4", "e2e4 e7e5", "d2d4 d7d5"):
        assert not client.go("movetime 10", f"position startpos moves {moves}").book, moves


# Changed in mid-session


def test_a_book_may_be_changed_in_mid_session(adapter, tmp_path, engine):
    first = one_line(tmp_path / "first.bin", "e2e4 e7e5")
    second = one_line(tmp_path / "second.bin", "d2d4 d7d5")
    client = adapter("--book", first)
    client.start()
    assert client.go("movetime 10", START).move == "e2e4"
    client.set("Book File", second)
    assert problems(client.ready()) == []
    answer = client.go("movetime 10", START)
    assert answer.move == "d2d4" and answer.book["file"].endswith("second.bin")
    client.set("Book File", f"{first};{second}")
    assert problems(client.ready()) == []
    assert client.go("movetime 10", START).move == "e2e4"
    assert client.go("movetime 10", "position startpos moves d2d4").move == "d7d5"
    assert engine.commands("setoption") == []


@pytest.mark.parametrize(
    "nothing",
    [
        "setoption name Book File value <empty>",
        "setoption name Book File value ",
        "setoption name Book File value",
        "setoption name Book File",
    ],
)
def test_a_book_set_to_nothing_is_left_for_the_default(adapter, tmp_path, nothing):
    odd = one_line(tmp_path / "odd.bin", "a2a3")
    client = adapter()
    client.start()
    client.set("Book File", odd)
    assert client.go("movetime 10", START).move == "a2a3"
    client.send(nothing)
    assert problems(client.ready()) == []
    answer = client.go("movetime 10", START)
    assert answer.book, "the starter book stands in where none is named"
    assert not answer.book["file"].endswith("odd.bin")
    assert answer.move in {"e2e4", "d2d4", "c2c4", "g1f3", "b2b3", "f2f4", "b1c3", "g2g3", "b2b4"}


@pytest.mark.parametrize("separator", [";", " ; ", ";;", "; ;"])
def test_blanks_and_gaps_between_books_do_not_matter(adapter, tmp_path, separator):
    first = one_line(tmp_path / "first.bin", "e2e4")
    second = one_line(tmp_path / "second.bin", "e2e4 e7e5")
    client = adapter()
    client.start()
    client.set("Book File", f"{first}{separator}{second}")
    assert problems(client.ready()) == []
    assert client.go("movetime 10", START).book["file"].endswith("first.bin")
    assert client.go("movetime 10", "position startpos moves e2e4").book["file"].endswith("second.bin")


def test_a_missing_book_is_told_and_the_others_are_played(adapter, tmp_path):
    good = one_line(tmp_path / "good.bin", "d2d4")
    client = adapter("--book", good)
    client.start()
    client.set("Book File", f"{tmp_path / 'missing.bin'};{good}")
    (problem,) = problems(client.ready())
    assert "missing.bin" in problem
    assert client.go("movetime 10", START).move == "d2d4"
    client.set("Book File", tmp_path / "missing.bin")
    (problem,) = problems(client.ready())
    assert str(tmp_path / "missing.bin") in problem
    answer = client.go("movetime 10", START)
    assert not answer.book and answer.move == "h2h3", "play goes on with the engine"
    client.set("Book File", good)
    assert client.go("movetime 10", START).move == "d2d4"


def test_a_book_set_while_the_engine_searches_acts_on_the_next_question(adapter, tmp_path, engine):
    good = one_line(tmp_path / "good.bin", "d2d4")
    client = adapter("--set", "OwnBook=true", "--book", one_line(tmp_path / "other.bin", "e2e4"))
    client.start()
    client.send("position startpos moves a2a3", "go infinite")
    client.ready()
    client.set("Book File", good)
    client.send("stop")
    assert client.answer().move == "h2h3"
    assert client.go("movetime 10", START).move == "d2d4"
    assert engine.violations() == []


def test_a_book_that_vanishes_while_it_is_pondered_on_leaves_the_answer_to_the_engine(adapter, tmp_path, engine):
    good = one_line(tmp_path / "good.bin", "d2d4 d7d5 c2c4")
    client = adapter("--book", good)
    client.start()
    client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000")
    client.ready()
    client.set("OwnBook", "false")
    client.send("ponderhit")
    answer = client.answer()
    assert not answer.book and answer.move == "h2h3"
    assert engine.violations() == []


def test_a_book_replaced_by_a_new_file_goes_on_from_the_old_one_until_set_again(adapter, tmp_path):
    path = one_line(tmp_path / "a.bin", "e2e4")
    client = adapter("--book", path)
    client.start()
    assert client.go("movetime 10", START).move == "e2e4"
    one_line(tmp_path / "b.bin", "d2d4").replace(path)
    assert client.go("movetime 10", START).book
    client.set("Book File", path)
    assert client.go("movetime 10", START).move == "d2d4"


def test_a_path_may_be_in_quotation_marks_and_hold_blanks(adapter, tmp_path):
    folder = tmp_path / "my books"
    folder.mkdir()
    path = one_line(folder / "a  b.bin", "d2d4")
    client = adapter()
    client.start()
    client.set("Book File", f'"{path}"')
    assert client.go("movetime 10", START).move == "d2d4"


def test_a_path_may_be_outside_ascii(adapter, tmp_path):
    path = one_line(tmp_path / "Eröffnung ♔.bin", "d2d4")
    client = adapter()
    client.start()
    client.send_bytes(f"setoption name Book File value {path}\n".encode())
    answer = client.go("movetime 10", START)
    assert answer.move == "d2d4"
    assert "Eröffnung ♔.bin" in answer.book["file"].encode("latin-1").decode()


# Keys


def test_an_en_passant_square_counts_where_a_pawn_stands_beside_legal_or_not(adapter, tmp_path):
    fen = "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
    board = chess.Board(fen)
    assert chess.polyglot.zobrist_hash(board) == 0x7DDD0EEFBFC8435A
    book = Book().add(board, "e1d2").write(tmp_path / "ep.bin")
    client = adapter("--book", book)
    client.start()
    assert client.go("movetime 10", f"position fen {fen}").move == "e1d2"
    assert not client.go("movetime 10", "position fen 4r1k1/8/8/3pP3/8/8/8/4K3 w - - 0 1").book


@pytest.mark.parametrize("piece", "nbrq")
def test_promotions(adapter, tmp_path, piece):
    fen = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
    book = Book().add(chess.Board(fen), f"a7a8{piece}").write(tmp_path / "promotion.bin")
    client = adapter("--book", book)
    client.start()
    assert client.go("movetime 10", f"position fen {fen}").move == f"a7a8{piece}"


# Real books


def test_a_book_made_by_polyglot_is_played_as_python_chess_reads_it(adapter, polyglot_exe, tmp_path):
    (tmp_path / "games.pgn").write_text(
        "".join(
            f'[Event "{number}"]\n[Result "{result}"]\n\n{moves} {result}\n\n'
            for number, (moves, result) in enumerate(
                [("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7", "1-0")] * 4
                + [("1. e4 c5 2. Nf3 d6", "1/2-1/2")] * 3
                + [("1. d4 d5 2. c4", "0-1")] * 2
                + [("1. d4 Nf6", "1-0")]
            )
        )
    )
    made = subprocess.run(
        [polyglot_exe, "make-book", "-pgn", "games.pgn", "-bin", "made.bin", "-min-game", "1"],
        cwd=tmp_path,
        capture_output=True,
        timeout=HANG,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    client = adapter("--book", tmp_path / "made.bin", "--set", "Book Threshold=0", "--set", "Book Variety=0")
    client.start()
    board = chess.Board()
    plies = 0
    with chess.polyglot.open_reader(tmp_path / "made.bin") as reader:
        while True:
            entries = {entry.move.uci(): entry.weight for entry in reader.find_all(board, minimum_weight=1)}
            moves = " moves " + " ".join(move.uci() for move in board.move_stack) if board.move_stack else ""
            answer = client.go("movetime 10", START + moves)
            assert bool(answer.book) == bool(entries), board.fen()
            if not entries:
                break
            assert {uci: weight for uci, _, weight in answer.candidates} == entries
            assert entries[answer.move] == max(entries.values())
            board.push_uci(answer.move)
            plies += 1
    assert plies == 4, "1. e4 c5 2. Nf3 d6: Black's other reply only lost"
    castling = after("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6")
    assert client.go("movetime 10", f"{START} moves " + " ".join(map(str, castling.move_stack))).move == "e1g1"


def test_perfect_2021_is_played_as_python_chess_reads_it(adapter, perfect_book):
    walk_book(adapter, perfect_book, games=40)


def test_gnuchess_book_is_played_as_python_chess_reads_it(adapter, gnu_book):
    walk_book(adapter, gnu_book, games=40)


def walk_book(adapter, path, games):
    """Follows the book in random games: in every position it answers exactly where, and what, python-chess reads."""
    client = adapter(
        "--book",
        path,
        "--seed",
        "31",
        "--set",
        "Book Threshold=0",
        "--set",
        "Book Threefold=true",
        "--set",
        "Book Variety=100",
    )
    client.start()
    answered = 0
    with chess.polyglot.open_reader(path) as reader:
        for _ in range(games):
            board = chess.Board()
            while True:
                entries = {entry.move.uci(): entry.weight for entry in reader.find_all(board, minimum_weight=1)}
                moves = " moves " + " ".join(move.uci() for move in board.move_stack) if board.move_stack else ""
                answer = client.go("movetime 10", START + moves)
                assert bool(answer.book) == bool(entries), f"{board.fen()}: {entries}"
                if not entries or board.ply() > 120:
                    break
                assert answer.move in entries
                assert int(answer.book["moves"]) >= int(answer.book["playable"]) == len(entries)
                board.push_uci(answer.move)
                answered += 1
    assert answered > games * 5


def test_without_any_book_named_the_starter_book_answers(adapter):
    client = adapter()
    client.start()
    answer = client.go("movetime 10", START)
    assert answer.book and chess.Move.from_uci(answer.move) in chess.Board().legal_moves
    assert re.match(r"info string [a-h][1-8][a-h][1-8] \d", answer.lines[0])


def test_a_relative_book_is_looked_for_in_the_working_folder(run, tabiya_exe, engine, tmp_path):
    one_line(tmp_path / "near.bin", "d2d4")
    client = run(tabiya_exe, *engine.argv(), "--book", "near.bin", cwd=tmp_path)
    assert problems(client.start()) == []
    assert client.go("movetime 10", START).move == "d2d4"


def test_an_error_names_every_path_that_was_tried(run, tabiya_exe, engine, tmp_path):
    folder = tmp_path / "configured"
    folder.mkdir()
    config = folder / "my.toml"
    config.write_text("seed = 1\n")
    client = run(tabiya_exe, *engine.argv(), "--config", config, "--book", "nowhere.bin", cwd=tmp_path)
    client.send("uci")
    (problem,) = problems(client.rest())
    for place in (tmp_path, folder, tabiya_exe.parent):
        assert str(place / "nowhere.bin") in problem, problem


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_to_a_book_is_a_book(adapter, tmp_path):
    one_line(tmp_path / "real.bin", "d2d4")
    (tmp_path / "link.bin").symlink_to("real.bin")
    client = adapter("--book", tmp_path / "link.bin")
    client.start()
    assert client.go("movetime 10", START).move == "d2d4"


def test_the_side_to_move_is_the_books(adapter, tmp_path):
    """A position with Black to move at the start of a FEN: the color's books go by the side to move."""
    board = after("e2e4")
    black = Book().add(board, "c7c5").write(tmp_path / "black.bin")
    client = adapter("--book-black", black)
    client.start()
    assert client.go("movetime 10", f"position fen {board.fen()}").move == "c7c5"
