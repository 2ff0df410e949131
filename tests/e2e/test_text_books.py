"""Books as text: as python-chess reads EPD, converted from and to every format, played, edited, and told from other texts."""

import json
import re

import chess
import chess.engine
import pytest

from random_games import FORMATS, TEXTS, random_games
from recording import popen

DONE, WANTING, FILE = 0, 1, 3
GAMES = random_games(60, seed=31, most_plies=40)
START = chess.Board().epd()


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


def exported(tabiya, book):
    """The moves of each position with their weights, by the position as EPD."""
    done = tabiya("export", "--format", "json", "--reachable", book)
    assert done.returncode == DONE, done.stderr
    lines = map(json.loads, done.stdout.splitlines())
    return {chess.Board(line["fen"]).epd(): {move["uci"]: move["weight"] for move in line["moves"]} for line in lines}


def read(path):
    """The same, as python-chess reads the lines of a book."""
    positions = {}
    for line in path.read_text().splitlines():
        board = chess.Board()
        if path.suffix == ".epd":
            said = board.set_epd(line)
            given = re.findall(r"(\S+)=(\d+)", said.get("c0", ""))
            moves = {board.parse_san(move): int(weight) for move, weight in given}
            moves = moves or {move: 1 for move in said.get("bm", [])} | {move: 0 for move in said.get("am", [])}
            assert {move for move, weight in moves.items() if weight} == set(said.get("bm", []))
            assert {move for move, weight in moves.items() if not weight} == set(said.get("am", []))
        else:
            fen, rest = line.split("; ")
            board.set_fen(fen)
            moves = {board.parse_san(part.split()[0]): int(part.split()[1]) for part in rest.split(", ")}
        assert board.epd() not in positions
        positions[board.epd()] = {move.uci(): weight for move, weight in moves.items()}
    return positions


@pytest.mark.parametrize("name", TEXTS)
def test_lines_are_what_python_chess_reads(tabiya, sources, name):
    assert read(sources[name]) == exported(tabiya, sources[name])


@pytest.mark.parametrize("name", FORMATS)
def test_a_book_of_each_format_becomes_text_and_says_what_is_lost(tabiya, sources, tmp_path, name):
    for end in TEXTS:
        out = tmp_path / f"out.{end}"
        done = tabiya("convert", sources[name], "-o", out)
        assert done.returncode == DONE, done.stderr
        counts = b"counts of games: the format has weights only" in done.stderr + done.stdout
        assert counts == (name in ("ctg", "abk", "kob")), done
        again = tmp_path / f"again.{end}"
        # Once as text, it is the same text from either form, and from Polyglot.
        for form in [*TEXTS, "bin"]:
            assert tabiya("convert", out, "-o", tmp_path / f"between.{form}", "--force").returncode == DONE
            assert tabiya("convert", tmp_path / f"between.{form}", "-o", again, "--force").returncode == DONE
            assert read(again) == read(out), form


def test_weights_of_text_are_kept_by_the_formats_that_have_them(tabiya, sources, tmp_path):
    expected = exported(tabiya, sources["bin"])
    for end in TEXTS:
        assert tabiya("convert", sources["bin"], "-o", tmp_path / f"a.{end}").returncode == DONE
        assert exported(tabiya, tmp_path / f"a.{end}") == expected
        assert tabiya("diff", tmp_path / f"a.{end}", sources["bin"]).returncode == DONE
    assert tabiya("merge", *(tmp_path / f"a.{end}" for end in TEXTS), "-o", tmp_path / "sum.fen").returncode == DONE
    doubled = {fen: {move: 2 * weight for move, weight in moves.items()} for fen, moves in expected.items()}
    assert exported(tabiya, tmp_path / "sum.fen") == doubled


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_played(tabiya_exe, scripted_exe, sources, name, tmp_path):
    book = tmp_path / f"mine.{name}"
    line = {"epd": f'{START} bm d4; am e4; c0 "d4=5, e4=0";', "fen": f"{START} 0 1; d4 5, e4 0"}[name]
    book.write_text(f"# my openings\n{line}\n")
    with popen([tabiya_exe, "--engine", scripted_exe, "--book", book], tmp_path) as engine:
        played = engine.play(chess.Board(), chess.engine.Limit(time=0.1))
        assert played.move == chess.Move.from_uci("d2d4")


def test_which_text_is_a_book(tabiya, sources, tmp_path):
    def says(name, text, command="info"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        done = tabiya(command, tmp_path / name, cwd=tmp_path)
        return done.returncode, (done.stdout + done.stderr).decode()

    # A suite that tests engines is a book of the best moves.
    code, text = says("tests.epd", 'r1b2rk1/pp1qbppp/8/3p4/8/2N5/PP3PPP/R2Q1RK1 w - - bm Qxd5; id "A.1"; c0 "Qxd5=10, Nxd5=7";\n')
    assert code == DONE and re.search(r"format +epd\n", text), text
    code, text = says("lines", f"\ufeff{START} 0 1; e2e4 3\r\n")
    assert code == DONE and re.search(r"format +fen\n", text), text
    # A suite of openings is none.
    assert tabiya("suite", sources["bin"], "-o", tmp_path / "suite.epd", "--ply", "2").returncode == DONE
    done = tabiya("show", tmp_path / "suite.epd")
    assert done.returncode == FILE and b"this is text, not a book" in done.stderr
    code, text = says("a.epd", f"{START} ce 20;\n")
    assert code == FILE and "this is text" in text
    # What else a line says of a position is read as before.
    (tmp_path / "best.epd").write_text(f"{START} bm e4; ce 31; acd 20;\n")
    done = tabiya("import", tmp_path / "new.evals", tmp_path / "best.epd")
    assert done.returncode == DONE, done.stderr
    # Damage is named, and the rest is read.
    code, text = says("a.fen", f"{START}; e4 2, e5 3\nnonsense\0\n{START}; d4 1\n", "check")
    assert code == WANTING
    assert 'error: line 1: "e5" is not a legal move (byte 0)' in text
    assert f"error: line 2 does not begin with a position (byte {len(START) + 13})" in text
    assert "warning: a position is on several lines" in text
