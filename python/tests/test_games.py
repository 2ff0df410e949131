"""Games of PGN files and databases."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Iterator

import chess
import chess.pgn
import pytest

import tabiya

from conftest import PGN, samples, tabiya_says


def theirs(text: str) -> Iterator[chess.pgn.Game]:
    handle = io.StringIO(text)
    while True:
        game = chess.pgn.read_game(handle)
        if game is None:
            return
        yield game


def words(text: Any) -> str:
    return " ".join(str(text).split())


def tree(game: chess.pgn.GameNode) -> Any:
    """The nodes of a game with their depths, in the order of its lines."""
    found: list[Any] = []
    waiting = [(0, game)]
    while waiting:
        depth, node = waiting.pop()
        own = None
        if isinstance(node, chess.pgn.ChildNode):
            own = (node.move.uci(), words(node.starting_comment), sorted(node.nags))
        found.append((depth, own, words(node.comment)))
        waiting.extend((depth + 1, child) for child in reversed(node.variations))
    return found


def headers(game: chess.pgn.Game) -> dict[str, str]:
    """The head of a game, without the backslashes of the PGN standard, which python-chess keeps."""
    return {name: text.replace('\\"', '"').replace("\\\\", "\\") for name, text in game.headers.items()}


def same(ours: chess.pgn.Game, expected: chess.pgn.Game) -> None:
    assert dict(ours.headers) == headers(expected)
    assert tree(ours) == tree(expected), expected.headers


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="chess.pgn")


def test_games_are_those_that_python_chess_reads(pgn: Path) -> None:
    with tabiya.open_games(pgn) as games:
        ours = list(games)
        assert (games.errors, games.unreadable) == ([], 0)
    expected = list(theirs(PGN))
    assert len(ours) == len(expected) == 4
    for game, other in zip(ours, expected):
        assert type(game) is chess.pgn.Game
        same(game, other)
        assert game.end().board().fen() == other.end().board().fen()
    assert [len(game.errors) for game in ours] == [0, 0, 0, 1]
    error = ours[3].errors[0]
    assert isinstance(error, tabiya.GameError) and error.path == str(pgn)
    assert error.offset == PGN.encode().index(b"Ke5") and error.line is not None and "Ke5" in str(error)
    assert any(not node.move for node in all_nodes(ours[0])), "the null move"


def test_main_lines_have_the_moves_and_the_head(pgn: Path) -> None:
    lines = list(tabiya.open_games(pgn, moves_only=True))
    expected = list(theirs(PGN))
    for line, other in zip(lines, expected):
        assert line.moves == list(other.mainline_moves())
        assert line.uci == [move.uci() for move in other.mainline_moves()] and len(line) == len(line.uci)
        kept = ("Event", "Site", "Date", "Round", "White", "Black", "Result", "WhiteElo", "BlackElo", "SetUp", "Variant")
        assert line.headers == {
            **{name: text for name, text in headers(other).items() if name in kept},
            **({"FEN": line.fen} if line.fen else {}),
        }
        if line.fen:
            assert chess.Board(line.fen, chess960=line.chess960) == other.board()
    first, *_, last = lines
    assert (first.white, first.black, first.event, first.date) == ("H\u00fcbner", "Bird", 'A "B"', "2021.03.14")
    assert (first.white_elo, first.black_elo, first.result, first.number) == (2600, None, "1-0", None)
    assert (first.file, first.offset, first.error, first.fen, bool(first)) == (str(pgn), 0, None, None, True)
    assert last.error is not None and last.uci == ["d2d4", "d7d5"]


def databases() -> list[Path]:
    found = sorted(samples().glob("cbh/*/*.cbh"))
    archives = sorted(samples().glob("cbv/twic*.cbv"))
    assert len(found) == 5 and archives
    scid = Path(__file__).parents[2] / "crates/games/src/scid/tests"
    return found + archives + [scid / "features.si4", scid / "chess960.si5"]


def test_games_of_databases_are_those_of_their_pgn(tmp_path: Path) -> None:
    games = variations = comments = 0
    for database in databases():
        text = tabiya_says("export", database)
        pgn = tmp_path / "exported.pgn"
        pgn.write_text(text, encoding="utf-8")
        expected = list(theirs(text))[:700]
        ours = tabiya.open_games(database)
        lines = tabiya.open_games(database, moves_only=True)
        for game, line, other in zip(ours, lines, expected):
            assert line.moves == list(before_a_pass(other)), other.headers
            assert (line.white or "?", line.black or "?") == (other.headers["White"], other.headers["Black"])
            same(game, other)
            assert game.errors == []
            games += 1
            variations += sum(len(node.variations) > 1 for node in all_nodes(other))
            comments += sum(bool(node.comment) for node in all_nodes(other))
    assert games > 1000 and variations > 100 and comments > 100


def before_a_pass(game: chess.pgn.Game) -> Iterator[chess.Move]:
    for move in game.mainline_moves():
        if not move:
            return
        yield move


def all_nodes(game: chess.pgn.Game) -> Iterator[chess.pgn.ChildNode]:
    stack = list(game.variations)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.variations)


def test_every_game_of_a_database_comes_once_in_order() -> None:
    for database in databases():
        numbers = [line.number for line in tabiya.open_games(database, moves_only=True)]
        known = [number for number in numbers if number is not None]
        assert numbers == sorted(set(known))
        assert sum(1 for _ in tabiya.open_games(database)) == len(numbers)


def test_folders_and_several_files_are_read_one_after_another(pgn: Path, tmp_path: Path) -> None:
    import gzip
    import zipfile

    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.pgn").write_text("1. e4 *\n")
    (folder / "b.pgn.gz").write_bytes(gzip.compress(b"1. d4 *\n"))
    with zipfile.ZipFile(folder / "c.zip", "w") as archive:
        archive.writestr("one.pgn", "1. c4 *\n")
        archive.writestr("two.pgn", "1. b4 *\n")
    (folder / "d.cbv").write_bytes(b"an archive")
    for moves_only in (False, True):
        with pytest.warns(tabiya.DamageWarning, match="d.cbv"):
            found = list(tabiya.open_games([folder, pgn], moves_only=moves_only))
        assert len(found) == 8
        firsts = [
            (game.moves if isinstance(game, tabiya.MainLine) else list(game.mainline_moves()))[0].uci()
            for game in found
        ]
        assert firsts[:4] == ["e2e4", "d2d4", "c2c4", "b2b4"]


def test_games_that_cannot_be_read_are_counted_and_never_fatal(tmp_path: Path) -> None:
    path = tmp_path / "odd.pgn"
    path.write_text('[Variant "Atomic"]\n\n1. e4 *\n\n[FEN "no"]\n\n1. e4 *\n\n[Event "C"]\n\n1. e4 e5 *\n')
    for moves_only in (False, True):
        games = tabiya.open_games(path, moves_only=moves_only)
        assert len(list(games)) == 1 and games.unreadable == 2
        assert [error.line for error in games.errors] == [1, 5]
        assert "Atomic" in str(games.errors[0])


def test_what_holds_no_games_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tabiya.open_games(tmp_path / "none.pgn")
    (tmp_path / "a.pgn").write_bytes(b"\0\1\2")
    with pytest.raises(tabiya.FormatError):
        tabiya.open_games(tmp_path / "a.pgn")
    with pytest.raises(ValueError):
        tabiya.open_games([])
    with pytest.raises(TypeError):
        tabiya.open_games(5)  # type: ignore[call-overload]


def test_closed_games_end(pgn: Path) -> None:
    with tabiya.open_games(pgn, moves_only=True) as games:
        assert next(games).white == "H\u00fcbner"
    assert list(games) == []
