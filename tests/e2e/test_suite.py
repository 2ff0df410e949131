"""`tabiya suite`: opening suites of books and games, as python-chess counts and reads them."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot
import pytest

from client import HANG, Client, complaints, match_of_the_guide, times
from conftest import not_windows
from polyglot_writer import Book
from test_config import runner_of
from test_dump import rows
from test_evals import put_in_order

STARTER = Path(__file__).parents[2] / "books/starter.bin"
DONE, FINDINGS, USAGE, FILE, ENGINE = 0, 1, 2, 3, 4

# Games, all drawn, and how often each is played.
GAMES = {
    "e4 e5 Nf3 Nc6 Bb5 a6": 5,
    "e4 e5 Nf3 Nc6 Bc4 Bc5": 3,
    "Nf3 Nc6 e4 e5 Bc4 Bc5": 4,
    "e4 c5 Nf3 d6 d4 cxd4": 2,
    "d4 d5 c4 e6 Nc3 Nf6": 6,
    "c4 e6 d4 d5 Nc3 Nf6": 1,
}


def text_of(games):
    text, number = "", 0
    for line, count in games.items():
        for _ in range(count):
            number += 1
            text += f'[Event "?"]\n[Round "{number}"]\n[White "a"]\n[Black "b"]\n[Result "1/2-1/2"]\n\n{line} 1/2-1/2\n\n'
    return text


@pytest.fixture
def games(tmp_path):
    path = tmp_path / "games.pgn"
    path.write_text(text_of(GAMES))
    return path


def lines_of(path):
    """Each line of a suite: its board, its operations, and the board after the moves of its comment."""
    lines = []
    for text in path.read_text().splitlines():
        board, operations = chess.Board.from_epd(text)
        replayed = chess.Board()
        for word in operations["c0"].split():
            if not word.endswith("."):
                replayed.push_san(word)
        # The FEN has no square of en passant unless somebody can capture there.
        assert board.epd(en_passant="legal") == replayed.epd(en_passant="legal") == " ".join(text.split()[:4])
        lines.append((board, operations, replayed))
    return lines


def made(tabiya, *args, out="suite.epd", code=DONE):
    done = tabiya("suite", *args, "-o", out, "--force")
    assert done.returncode == code, done.stderr
    return done.stdout.decode()


def reached(games, plies, least):
    """The positions after so many plies of these games, and how many games reach each, all before it as often as that."""
    counts, lines = {}, []
    for line, count in games.items():
        board, keys = chess.Board(), []
        for word in ["", *line.split()]:
            if word:
                board.push_san(word)
            keys.append(board.epd(en_passant="legal"))
        for key in set(keys):
            counts[key] = counts.get(key, 0) + count
        lines.append(keys)
    return {line[plies] for line in lines if all(counts[key] >= least for key in line[: plies + 1])}


def mirrors(board):
    flipped = [board] if board.castling_rights else [board, board.transform(chess.flip_horizontal)]
    return {twin.epd() for one in flipped for twin in (one, one.mirror())}


def playable_after(table, plies):
    """The positions after so many playable moves: those of at least five thousandths of the weight."""
    level = {chess.Board().epd(): chess.Board()}
    for _ in range(plies):
        following = {}
        for board in level.values():
            moves = table.get(f"{chess.polyglot.zobrist_hash(board):016x}", {})
            for uci, weight in moves.items():
                if weight > 0 and weight * 1000 >= 5 * sum(moves.values()):
                    after = board.copy(stack=False)
                    after.push_uci(uci)
                    following[after.epd()] = after
        level = following
    return level


@pytest.mark.parametrize("plies", [1, 4, 8])
def test_a_book_gives_each_position_that_it_plays_once(tabiya, perfect_book, tmp_path, plies):
    table = {}
    for row in rows(tabiya("export", perfect_book).stdout.decode()):
        table.setdefault(row["key"], {})[row["uci"]] = int(row["weight"])
    expected = playable_after(table, plies)
    made(tabiya, perfect_book, "--ply", plies)
    found = lines_of(tmp_path / "suite.epd")
    assert {board.epd() for board, *_ in found} == expected.keys() and len(found) == len(expected)
    assert all(replayed.ply() == plies for *_, replayed in found)
    # Of mirror images one is left.
    made(tabiya, perfect_book, "--ply", plies, "--require", "unique-colors")
    seen = set()
    for board, *_ in lines_of(tmp_path / "suite.epd"):
        assert not seen & mirrors(board)
        seen |= mirrors(board)
    assert expected.keys() <= seen


@pytest.mark.parametrize("least", [1, 3, 6])
def test_games_are_counted(tabiya, games, tmp_path, least):
    for plies in (2, 4, 6):
        expected = reached(GAMES, plies, least)
        code = DONE if expected else FINDINGS
        made(tabiya, games, "--ply", plies, "--min-games", least, code=code)
        if expected:
            found = lines_of(tmp_path / "suite.epd")
            assert {board.epd(en_passant="legal") for board, *_ in found} == expected and len(found) == len(expected)


def test_count_files_books_and_games_give_the_same(tabiya, games, tmp_path):
    made(tabiya, games, "--ply", "2-6", "--min-games", 1)
    whole = (tmp_path / "suite.epd").read_bytes()
    assert tabiya("build", games, "-o", "counts.parquet").returncode == DONE
    made(tabiya, "counts.parquet", "--ply", "2-6", "--min-games", 1)
    assert (tmp_path / "suite.epd").read_bytes() == whole
    assert tabiya("build", games, "-o", "book.kob", "--min-games", 1).returncode == DONE
    made(tabiya, "book.kob", "--ply", "2-6")
    assert sorted((tmp_path / "suite.epd").read_bytes().splitlines()) == sorted(whole.splitlines())
    done = tabiya("suite", "-", "-o", "piped.epd", "--ply", "2-6", "--min-games", 1, input=games.read_bytes(), stdin=None)
    assert done.returncode == DONE and (tmp_path / "piped.epd").read_bytes() == whole
    for threads in (1, 3):
        made(tabiya, games, "--ply", "2-6", "--min-games", 1, "--threads", threads)
        assert (tmp_path / "suite.epd").read_bytes() == whole


def test_a_game_leads_to_each_position_by_the_most_played_line(tabiya, games, tmp_path):
    made(tabiya, games, "--ply", "6", "--min-games", 1, out="suite.pgn")
    text = (tmp_path / "suite.pgn").read_text()
    found = list(iter(lambda file=io.StringIO(text): chess.pgn.read_game(file), None))
    assert not any(game.errors for game in found) and len(found) == len(reached(GAMES, 6, 1))
    lines = {" ".join(node.san() for node in game.mainline()): game.headers for game in found}
    # Both orders of the Italian Game: 1. e4 is played by ten of 21 games, 1. Nf3 by four, and then each move is the only one but
    # for 3. Bc4, which three of eight choose.
    italian = {line for line in lines if line.endswith("Bc4 Bc5")}
    assert italian == {"Nf3 Nc6 e4 e5 Bc4 Bc5"} or italian == {"e4 e5 Nf3 Nc6 Bc4 Bc5"}
    assert "d4 d5 c4 e6 Nc3 Nf6" in lines and "c4 e6 d4 d5 Nc3 Nf6" not in lines
    assert lines["e4 e5 Nf3 Nc6 Bb5 a6"]["ECO"] == "C70" and lines["e4 e5 Nf3 Nc6 Bb5 a6"]["Opening"].startswith("Ruy Lopez")


def test_evaluations_of_a_store_decide(tabiya, games, tmp_path):
    scores = {"e4 e5 Nf3 Nc6": 100, "e4 c5 Nf3 d6": 60, "d4 d5 c4 e6": -20}
    epd = ""
    for line, score in scores.items():
        board = chess.Board()
        for word in line.split():
            board.push_san(word)
        epd += f"{board.epd(en_passant='legal')} ce {score}; acd 20;\n"
    black = chess.Board()
    for word in "e4 e5 Nf3 Nc6 Bb5".split():
        black.push_san(word)
    epd += f"{black.epd(en_passant='legal')} ce -90; acd 20;\n"
    (tmp_path / "analysis.epd").write_text(epd)
    assert tabiya("import", "some.evals", "analysis.epd").returncode == DONE

    def scored(*args, code=DONE):
        said = made(tabiya, games, "--ply", "4-5", "--min-games", 1, "--store", "some.evals", *args, code=code)
        return said, sorted(operations["ce"] for _, operations, _ in lines_of(tmp_path / "suite.epd"))

    assert scored("--eval", "60..140")[1] == [-90, 60, 100]
    assert scored("--eval", "61..99")[1] == [-90]
    assert scored("--eval", "0..30")[1] == [-20]
    assert scored("--eval", "50..150", "--side", "white")[1] == [-90, 60, 100]
    assert scored("--eval=-30..-10", "--side", "white")[1] == [-20]
    assert "have no known evaluation" in scored("--eval", "60..140")[0]
    done = tabiya("suite", games, "-o", "none.epd", "--ply", 4, "--min-games", 1, "--store", "some.evals", "--eval", "500..600")
    assert done.returncode == FINDINGS and b"none is in the window" in done.stderr and not (tmp_path / "none.epd").exists()
    # Beside the source it need not be named.
    os.replace(tmp_path / "some.evals", tmp_path / "games.pgn.evals")
    made(tabiya, games, "--ply", "4", "--min-games", 1, "--eval", "60..140", "--report", "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["positions"] == 2 and report["evaluations"] == {"60": 1, "100": 1} and report["plies"] == {"4": 2}


@pytest.fixture
def evaluating(stockfish, real_book, tmp_path):
    """What makes a suite of evaluated positions."""
    return [real_book, "--ply", "3-4", "--eval", "20..90", "--engine", stockfish, "--nodes", "300", "--store", tmp_path / "e.evals"]


def test_an_engine_evaluates_what_no_store_has(tabiya, evaluating, tmp_path):
    said = made(tabiya, *evaluating, "--count", times(40, 250))
    first = (tmp_path / "suite.epd").read_bytes()
    scores = [operations["ce"] for _, operations, _ in lines_of(tmp_path / "suite.epd")]
    assert len(scores) == times(40, 250) and all(20 <= abs(score) <= 90 for score in scores) and "evaluated: " in said
    assert "evaluated: 0 positions" in made(tabiya, *evaluating, "--count", times(40, 250))
    assert (tmp_path / "suite.epd").read_bytes() == first
    os.remove(tmp_path / "e.evals")
    made(tabiya, *evaluating, "--count", times(40, 250), "--jobs", 3)
    assert (tmp_path / "suite.epd").read_bytes() == first


def test_an_engine_says_how_many_draws_it_expects(tabiya, stockfish, real_book, tmp_path):
    asked = [real_book, "--ply", "3-4", "--draw-rate", "60..90", "--store", "d.evals", "--count", 12]
    engine = ["--engine", stockfish, "--nodes", 300]
    said = made(tabiya, *asked, *engine, "--report", "report.json")
    first = (tmp_path / "suite.epd").read_bytes()
    lines = lines_of(tmp_path / "suite.epd")
    assert len(lines) == 12 and "draws in percent" in said
    engine = Client([stockfish])
    try:
        engine.start()
        engine.set("UCI_ShowWDL", "true")
        for board, operations, _ in lines:
            wins, draws, losses = map(int, operations["wdl"].split())
            assert wins + draws + losses == 1000 and 600 <= draws <= 900
            engine.send("ucinewgame")
            engine.ready()
            said = engine.go("nodes 300", f"position fen {board.epd()} 0 1").lines
            exact = [line for line in said if " wdl " in line and "bound" not in line]
            assert f" cp {operations['ce']} wdl {wins} {draws} {losses} " in exact[-1], board
    finally:
        engine.dispose()
    report = json.loads((tmp_path / "report.json").read_text())
    assert sum(report["draw_rates"].values()) == 12 and set(report["draw_rates"]) <= {"60", "70", "80", "90"}
    # The store has them: no engine is needed, and `export` and `evals import` keep them.
    assert "evaluated: " not in made(tabiya, *asked)
    assert (tmp_path / "suite.epd").read_bytes() == first
    assert tabiya("export", "d.evals", "-o", "d.epd").returncode == DONE
    assert tabiya("import", "e.evals", "d.epd").returncode == DONE
    made(tabiya, *asked, "--store", "e.evals")
    assert (tmp_path / "suite.epd").read_bytes() == first
    os.replace(tmp_path / "e.evals", tmp_path / "d.evals")
    made(tabiya, *asked)
    assert (tmp_path / "suite.epd").read_bytes() == first


def test_a_deeper_evaluation_without_draws_does_not_hide_them(tabiya, stockfish, real_book, tmp_path):
    asked = [real_book, "--ply", 3, "--draw-rate", "0..100", "--eval", "0..900", "--store", "d.evals", "--count", 8]
    made(tabiya, *asked, "--engine", stockfish, "--nodes", 300)
    assert tabiya("export", "d.evals", "-o", "all.epd").returncode == DONE
    positions = [" ".join(line.split()[:4]) for line in (tmp_path / "all.epd").read_text().splitlines()]
    (tmp_path / "deep.epd").write_text("".join(f"{position} ce 77; acd 60;\n" for position in positions))
    assert tabiya("import", "d.evals", "deep.epd").returncode == DONE
    assert "evaluated: 0 positions" in made(tabiya, *asked, "--engine", stockfish, "--nodes", 300)
    assert {operations["ce"] for _, operations, _ in lines_of(tmp_path / "suite.epd")} == {77}
    # What does not count goes where a store is put in order; the engine is asked again, and its answer serves nevertheless.
    put_in_order(tabiya, tmp_path / "d.evals")
    said = tabiya("suite", *asked, "-o", "none.epd")
    assert said.returncode == FINDINGS and b"UCI_ShowWDL" in said.stderr
    assert f"evaluated: {len(positions)} positions" in made(tabiya, *asked, "--engine", stockfish, "--nodes", 300)
    assert "evaluated: 0 positions" in made(tabiya, *asked, "--engine", stockfish, "--nodes", 300)
    assert {operations["ce"] for _, operations, _ in lines_of(tmp_path / "suite.epd")} == {77}


def test_an_engine_that_knows_no_draws_is_refused(tabiya, scripted_exe, real_book, tmp_path):
    done = tabiya("suite", real_book, "--ply", 3, "-o", "s.epd", "--draw-rate", "0..100", "--store", "d.evals", "--engine", scripted_exe)
    assert done.returncode == ENGINE and b"UCI_ShowWDL" in done.stderr and not (tmp_path / "s.epd").exists()


def test_killed_at_any_moment_it_goes_on_to_the_same_suite(tabiya, tabiya_exe, evaluating, tmp_path):
    made(tabiya, *evaluating, "--count", 60)
    whole = (tmp_path / "suite.epd").read_bytes()
    os.remove(tmp_path / "suite.epd")
    size = (tmp_path / "e.evals").stat().st_size
    os.remove(tmp_path / "e.evals")
    line = [str(word) for word in (tabiya_exe, "suite", *evaluating, "--count", 60, "-o", "suite.epd")]
    deaths = 0
    for number in range(times(4, 10)):
        with subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            wanted, until = size * (number + 1) // times(6, 12), time.monotonic() + HANG
            while process.poll() is None and time.monotonic() < until:
                if (tmp_path / "e.evals").exists() and (tmp_path / "e.evals").stat().st_size >= wanted:
                    break
            process.kill()
            process.communicate()
            deaths += process.returncode == -signal.SIGKILL
        assert not (tmp_path / "suite.epd").exists() or process.returncode == DONE
    assert deaths > 0
    made(tabiya, *evaluating, "--count", 60)
    assert (tmp_path / "suite.epd").read_bytes() == whole


def test_drawing_is_even_and_repeats(tabiya, real_book, tmp_path):
    suite = [real_book, "--ply", "4-6"]
    made(tabiya, *suite, "--count", 50, "--seed", 7)
    first = (tmp_path / "suite.epd").read_bytes()
    made(tabiya, *suite, "--count", 50, "--seed", 7)
    assert (tmp_path / "suite.epd").read_bytes() == first
    plies = [replayed.ply() for *_, replayed in lines_of(tmp_path / "suite.epd")]
    assert len(plies) == 50 and all(plies.count(number) >= 5 for number in (4, 5, 6))
    made(tabiya, *suite, "--count", 50, "--seed", 8)
    assert (tmp_path / "suite.epd").read_bytes() != first
    made(tabiya, *suite, "--per-opening", 1, "--openings", "eco", "--report", "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    codes = [name.split()[0] for name in report["openings"]]
    assert len(codes) == len(set(codes)) and set(report["openings"].values()) == {1}


def test_boards_are_as_they_are_asked_for(tabiya, real_book, tmp_path):
    made(tabiya, real_book, "--ply", 7)
    everything = [board for board, *_ in lines_of(tmp_path / "suite.epd")]

    def castles(board):
        return all(board.has_castling_rights(color) for color in chess.COLORS)

    for option, admits in [
        ("quiet", lambda board: not board.is_check()),
        ("queens", lambda board: len(board.pieces(chess.QUEEN, chess.WHITE)) == 1 == len(board.pieces(chess.QUEEN, chess.BLACK))),
        ("castling", castles),
    ]:
        made(tabiya, real_book, "--ply", 7, "--require", option)
        found = {board.epd() for board, *_ in lines_of(tmp_path / "suite.epd")}
        expected = {board.epd() for board in everything if admits(board)}
        assert found == expected and len(expected) < len(everything), option


def test_games_refine_a_suite(tabiya, games, tmp_path):
    results = {
        "e4 e5 Nf3 Nc6": ("1-0", "1-0"),
        "e4 c5 Nf3 d6": ("1/2-1/2", "1/2-1/2"),
        "d4 d5 c4 e6": ("1-0", "0-1"),
    }
    text = ""
    for line, pair in results.items():
        for (white, black), result in zip((("A", "B"), ("B", "A")), pair, strict=True):
            text += f'[Event "?"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{line} a3 a6 {result}\n\n'
    (tmp_path / "match.pgn").write_text(text)
    for keep, left in (("fair", 1), ("decisive", 2), ("drawn", 2), ("pairs", 1)):
        said = made(tabiya, games, "--ply", 4, "--min-games", 1, "--refine", "match.pgn", "--keep", keep)
        assert "played: 3 of 3 positions" in said
        assert len(lines_of(tmp_path / "suite.epd")) == left, keep
    # A match that began with the positions themselves.
    boards = {line: chess.Board() for line in results}
    for line, board in boards.items():
        for word in line.split():
            board.push_san(word)
    text = ""
    for line, pair in results.items():
        for (white, black), result in zip((("A", "B"), ("B", "A")), pair, strict=True):
            text += f'[Event "?"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n'
            text += f'[SetUp "1"]\n[FEN "{boards[line].fen()}"]\n\na3 a6 {result}\n\n'
    (tmp_path / "match.pgn").write_text(text)
    made(tabiya, games, "--ply", 4, "--min-games", 1, "--refine", "match.pgn")
    assert [board.epd() for board, *_ in lines_of(tmp_path / "suite.epd")] == [boards["d4 d5 c4 e6"].epd()]


def start_of(name):
    """The start of Chess960 or double Chess960 of this name, as python-chess numbers them."""
    kind, numbers = name.split()
    white, _, black = numbers.partition("-")
    assert (kind, bool(black)) in {("Chess960", False), ("DFRC", True)}
    board = chess.Board.from_chess960_pos(int(white))
    other = chess.Board.from_chess960_pos(int(black or white))
    for square in chess.SquareSet(chess.BB_RANK_8):
        board.set_piece_at(square, other.piece_at(square))
    board.castling_rights = board.rooks
    return board


def starts_of(path):
    """Each line of a suite of starts: its board and its operations."""
    for text in path.read_text().splitlines():
        board = chess.Board(chess960=True)
        operations = board.set_epd(text)
        assert board == start_of(operations["id"]) and board.is_valid(), text
        yield board, operations


def games_in(path):
    with open(path) as file:
        games = list(iter(lambda: chess.pgn.read_game(file), None))
    assert not [error for game in games for error in game.errors]
    return games


@pytest.mark.parametrize("options, count", [(["chess960"], 960), (["dfrc", "--count", 1000], 1000)])
def test_the_starts_of_chess960_are_those_of_others(tabiya, stockfish, tmp_path, options, count):
    made(tabiya, "--start", *options)
    made(tabiya, "--start", *options, out="suite.pgn")
    games, names = games_in(tmp_path / "suite.pgn"), set()
    engine = Client([stockfish])
    try:
        engine.start()
        engine.set("UCI_Chess960", "true")
        texts = (tmp_path / "suite.epd").read_text().splitlines()
        for text, (board, operations), game in zip(texts, starts_of(tmp_path / "suite.epd"), games, strict=True):
            names.add(operations["id"])
            assert game.board() == board and game.board().chess960 and not game.next()
            assert (game.headers["Event"], game.headers["Variant"]) == (operations["id"], "Chess960")
            for fen in (f"{' '.join(text.split()[:4])} 0 1", game.headers["FEN"]):
                engine.send(f"position fen {fen}", "go perft 1")
                moves = {line.partition(":")[0] for line in engine.until("Nodes") if line.endswith(": 1")}
                assert moves == {board.uci(move) for move in board.legal_moves}, fen
    finally:
        engine.dispose()
    assert len(names) == len({" ".join(text.split()[:4]) for text in texts}) == count
    if options == ["chess960"]:
        assert names == {f"Chess960 {number}" for number in range(960)}


def test_starts_are_drawn_by_the_seed_and_the_engine(tabiya, stockfish, tmp_path):
    asked = ["--start", "dfrc", "--count", 20]
    made(tabiya, *asked, "--seed", 6)
    other = (tmp_path / "suite.epd").read_text()
    asked += ["--seed", 5]
    made(tabiya, *asked)
    first = (tmp_path / "suite.epd").read_text()
    made(tabiya, *asked)
    assert (tmp_path / "suite.epd").read_text() == first
    assert not set(first.splitlines()) & set(other.splitlines())
    asked += ["--eval", "0..40", "--report", "report.json"]
    said = made(tabiya, *asked, "--engine", stockfish, "--nodes", 200)
    found = (tmp_path / "suite.epd").read_text()
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["start"], report["positions"], report["drawn_from"]["found"]) == ("dfrc", 20, 921600) and "evaluated: " in said
    assert all(abs(operations["ce"]) <= 40 for _, operations in starts_of(tmp_path / "suite.epd"))
    # The store beside the suite has them.
    made(tabiya, *asked)
    assert (tmp_path / "suite.epd").read_text() == found and (tmp_path / "suite.epd.evals").exists()


@not_windows
def test_an_engine_that_does_not_castle_as_in_chess960_is_refused(tabiya, scripted_exe, tmp_path):
    (tmp_path / "engine").write_text(f"#!/bin/sh\n'{scripted_exe}' --legal | grep --line-buffered -v Chess960\n")
    (tmp_path / "engine").chmod(0o755)
    done = tabiya("suite", "--start", "chess960", "-o", "s.epd", "--eval", "0..40", "--engine", tmp_path / "engine", "--nodes", 9)
    assert done.returncode == ENGINE and b"has no option UCI_Chess960" in done.stderr and not (tmp_path / "s.epd").exists()


@not_windows
@pytest.mark.parametrize("runner, form, which", [
    ("cutechess-cli", "pgn", "chess960"),
    ("cutechess-cli", "epd", "dfrc"),
    ("fastchess", "epd", "chess960"),
    ("fastchess", "pgn", "dfrc"),
])
def test_the_runners_play_from_the_starts_of_chess960(tabiya, tabiya_exe, stockfish, tmp_path, runner, form, which):
    found, is_fastchess, count = runner_of(runner), runner == "fastchess", times(4, 50)
    for out in ("suite.epd", "suite.pgn"):
        made(tabiya, "--start", which, "--count", count, out=out)
    starts = [board for board, _ in starts_of(tmp_path / "suite.epd")]
    book = Book()
    for board in starts:
        book.add(board, "a2a4")
    given = ["--engine", stockfish, "--book", book.write(tmp_path / "starts.bin")]
    words = [f"args={' '.join(map(str, given))}"] if is_fastchess else [f"arg={word}" for word in given]
    line = [found, "-engine", "name=A", f"cmd={tabiya_exe}", *words, "-engine", "name=B", f"cmd={stockfish}"]
    line += ["-each", "tc=inf", "nodes=150", *([] if is_fastchess else ["proto=uci"]), "-variant", "fischerandom"]
    line += ["-openings", f"file=suite.{form}", f"format={form}", "order=sequential", "-repeat", "-games", "2"]
    line += ["-rounds", str(count), "-maxmoves", str(times(40, 150)), "-pgnout", "file=match.pgn" if is_fastchess else "match.pgn"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=times(HANG, 4 * HANG), check=False)
    assert done.returncode == 0 and "illegal" not in (done.stdout + done.stderr).lower(), done.stdout + done.stderr
    games, began = games_in(tmp_path / "match.pgn"), {}
    assert len(games) == 2 * count and {game.headers.get("Termination", "normal") for game in games} <= {"normal", "adjudication"}
    for game in games:
        began.setdefault(game.board().epd(), set()).add(game.headers["White"])
        # Each start has a move in tabiya's book.
        assert game.headers["White"] == "B" or game.next().move.uci() == "a2a4"
    assert began == {board.epd(): {"A", "B"} for board in starts}
    if which == "chess960":
        said = made(tabiya, "--start", which, "--refine", "match.pgn", "--keep", "pairs", out="again.epd")
        assert f"played: {count} of 960 positions" in said


def test_what_cannot_be_is_said(tabiya, games, small_book, tmp_path):
    def refused(*args, code, says):
        done = tabiya("suite", *args)
        assert done.returncode == code and says in b"\n".join(complaints(done)).decode(), done.stderr

    refused(games, "-o", "suite.txt", code=USAGE, says="end it with .epd or .pgn")
    refused(small_book, "-o", "s.epd", "--min-games", 2, code=USAGE, says="counts no games")
    refused(small_book, "-o", "s.epd", "--engine", "none", code=USAGE, says="--eval")
    refused(small_book, "-o", "s.epd", code=FINDINGS, says="no line of the sources has 16 plies")
    refused(small_book, "-o", "s.epd", "--ply", 2, "--report", "s.epd", code=USAGE, says="another output")
    assert not (tmp_path / "s.epd").exists()
    refused("nothing.bin", "-o", "s.epd", code=FILE, says="nothing.bin")
    refused(small_book, "-o", "s.epd", "--ply", "9-2", code=USAGE, says="8-16")
    refused(small_book, "-o", "s.epd", "--eval", "5", code=USAGE, says="80..120")
    for more in ([small_book], ["--ply", 2], ["--min-games", 1], ["--opening", "C4*"], ["--per-opening", 1], ["--variant", "atomic"]):
        refused("--start", "dfrc", "-o", "s.epd", *more, code=USAGE, says="cannot be used with")
    refused("--start", "960", "-o", "s.epd", code=USAGE, says="chess960, dfrc")
    refused("-o", "s.epd", code=USAGE, says="SOURCE")
    refused(small_book, "-o", "s.epd", "--draw-rate", "30..101", code=USAGE, says="30..60")
    refused(small_book, "-o", "s.epd", "--ply", 2, "--eval", "0..90", "--store", "no.evals", code=FILE, says="no store of evaluations")
    (tmp_path / "there.epd").write_text("mine")
    refused(small_book, "-o", "there.epd", "--ply", 2, code=FILE, says="--force")
    assert (tmp_path / "there.epd").read_text() == "mine"
    # What is damaged is reported, and the rest serves.
    data = bytearray(small_book.read_bytes())
    (tmp_path / "damaged.bin").write_bytes(data[:-5])
    refused("damaged.bin", "-o", "s.epd", "--ply", 1, code=FINDINGS, says="damaged")
    assert (tmp_path / "s.epd").read_text().count("\n") == 1


@not_windows
@pytest.mark.parametrize("runner, form", [("cutechess-cli", "pgn"), ("fastchess", "epd")])
def test_the_runners_play_the_match_of_the_guide(tabiya, scripted_exe, tmp_path, runner, form):
    """The command as it is written, with another `stockfish` on PATH, which answers at once."""
    found = runner_of(runner)
    command = match_of_the_guide(runner, "stockfish")
    made(tabiya, "--ply", 6, "--count", 20, STARTER, out=f"suite.{form}")
    (tmp_path / "stockfish").write_text(f"#!/bin/sh\nexec '{scripted_exe}' --legal\n")
    (tmp_path / "stockfish").chmod(0o755)
    (tmp_path / runner).symlink_to(found)
    env = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0 and "warning" not in (done.stdout + done.stderr).lower(), done.stdout + done.stderr
    with open(tmp_path / "match.pgn") as file:
        games = list(iter(lambda: chess.pgn.read_game(file), None))
    assert len(games) == 40 and {game.headers.get("Termination", "normal") for game in games} == {"normal"}
    openings = {}
    for game in games:
        start = game.board()
        for node in list(game.mainline())[: 6 if form == "pgn" else 0]:
            start = node.board()
        openings.setdefault(start.epd(), set()).add(game.headers["White"])
    assert len(openings) == 20 and all(players == {"A", "B"} for players in openings.values())
    said = made(tabiya, "--ply", 6, "--count", 20, STARTER, "--refine", "match.pgn", "--keep", "drawn", out="again.epd")
    assert "played: 20 of " in said


def test_a_weighted_line_of_a_book_with_one_move(tabiya, tmp_path):
    book = Book().line("d2d4 d7d5 c2c4 e7e6", weight=10).write(tmp_path / "one.bin")
    made(tabiya, book, "--ply", 4, "--per-opening", 3)
    ((_, operations, replayed),) = lines_of(tmp_path / "suite.epd")
    assert operations["c0"] == "1. d4 d5 2. c4 e6" and replayed.ply() == 4


CASES = Path(__file__).parent / "cases"


def test_a_game_belongs_to_the_position_that_it_began_with(tabiya, tmp_path):
    folder = CASES / "refine"
    said = made(tabiya, folder / "g3.pgn", "--ply", "3-4", "--min-games", 1, "--refine", folder / "match.pgn")
    assert "played: 1 of 2 positions" in said and "won by one color in each pair: 1" in said
    assert [board.ply() for *_, board in lines_of(tmp_path / "suite.epd")] == [4]


def test_the_line_that_both_games_of_a_pair_have_is_the_opening(tabiya, tmp_path):
    """The moves of a suite as PGN are part of the games; what follows reaches other positions of the suite."""
    def games(*all_of):
        text = ""
        for white, number, result, line in all_of:
            text += f'[White "{white}"]\n[Black "{"B" if white == "A" else "A"}"]\n[Round "{number}"]\n[Result "{result}"]\n\n{line} {result}\n\n'
        return text

    lines = ["e4 e5 Nf3 Nc6", "e4 e5 Nf3 Nf6", "e4 e5 Nc3 Nf6", "d4 d5 c4 e6"]
    (tmp_path / "source.pgn").write_text(games(*(("A", 1, "1-0", line) for line in lines)))
    pairs = [(lines[0], lines[1]), (lines[2], lines[0]), (lines[3], lines[3])]
    for known in (True, False):
        # White wins both games after 1. e4 e5 2. Nf3, and both after 1. e4 e5; the other pair is decided.
        rounds = [((number, "1-0", "1-0"), lines) for number, lines in enumerate(pairs[:2], 1)] + [((3, "1-0", "0-1"), pairs[2])]
        match = []
        for (number, one, other), (first, second) in rounds:
            number = number if known else "?"
            match += [("A", number, one, first + " a3"), ("B", number, other, second + " h3")]
        if known:
            # Runners write games as they end.
            match = match[::2] + match[1::2]
        (tmp_path / "match.pgn").write_text(games(*match))
        said = made(tabiya, "source.pgn", "--ply", "2-4", "--min-games", 1, "--refine", "match.pgn")
        assert "played: 3 of 9 positions" in said and "won by one color in each pair: 2, with a decisive pair: 1" in said, said
        left = {operations["c0"] for _, operations, _ in lines_of(tmp_path / "suite.epd")}
        assert not left & {"1. e4 e5", "1. e4 e5 2. Nf3"} and "1. e4 e5 2. Nf3 Nc6" in left and len(left) == 7
    # Only one game of a pair goes on to a second position of the suite.
    (tmp_path / "source.pgn").write_text(games(("A", 1, "1-0", "e4 e5"), ("A", 1, "1-0", "d4 d5")))
    for number in (1, "?"):
        (tmp_path / "match.pgn").write_text(games(("A", number, "1-0", "e4 d6 a3"), ("B", number, "1-0", "e4 e5 a3")))
        said = made(tabiya, "source.pgn", "--ply", "1-2", "--min-games", 1, "--refine", "match.pgn")
        assert "played: 1 of 4 positions" in said and "won by one color in each pair: 1" in said, said
        left = {operations["c0"] for _, operations, _ in lines_of(tmp_path / "suite.epd")}
        assert left == {"1. e4 e5", "1. d4", "1. d4 d5"}
    (tmp_path / "source.pgn").write_text(games(*(("A", 1, "1-0", line) for line in lines)))
    # A game alone does not show which of them it was.
    (tmp_path / "match.pgn").write_text(games(("A", 1, "1/2-1/2", lines[0] + " a3")))
    done = tabiya("suite", "source.pgn", "-o", "suite.epd", "--ply", "2-4", "--min-games", 1, "--refine", "match.pgn", "--force")
    assert done.returncode == FINDINGS and b"name the same --ply" in done.stderr and len(lines_of(tmp_path / "suite.epd")) == 9


def test_the_commands_of_the_guide_refine_the_suite_of_the_match(tabiya, tmp_path):
    """As the guide has them, with a match that White wins throughout."""
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "tournaments.md").read_text()
    first, *_, refining = re.findall(r"^tabiya suite book\.bin [^#\n]*", guide, re.MULTILINE)[:3]
    assert "--refine match.pgn" in refining
    (tmp_path / "book.bin").write_bytes(STARTER.read_bytes())
    assert tabiya(*shlex.split(first)[1:]).returncode == DONE
    boards = [board for board, *_ in lines_of(tmp_path / "suite.epd")]
    text = ""
    for number, board in enumerate(boards[:-1]):
        for white, black in ("AB", "BA"):
            head = f'[White "{white}"]\n[Black "{black}"]\n[Round "{number}"]\n[Result "1-0"]\n[SetUp "1"]\n[FEN "{board.fen()}"]'
            text += f"{head}\n\n1-0\n\n"
    (tmp_path / "match.pgn").write_text(text)
    done = tabiya(*shlex.split(refining)[1:])
    assert done.returncode == DONE, done.stderr
    assert [board.epd() for board, *_ in lines_of(tmp_path / "better.epd")] == [boards[-1].epd()]


def test_games_with_a_position_of_their_own_are_reported(tabiya, tmp_path):
    match = CASES / "refine" / "match.pgn"
    done = tabiya("suite", match, "-o", "suite.epd", "--ply", 1, "--min-games", 1)
    assert done.returncode == FINDINGS and b"2 games begin with a position of their own" in done.stderr
    said = made(tabiya, match, CASES / "refine" / "g3.pgn", "--ply", 3, "--min-games", 1)
    assert "2 games begin with a position of their own" in said
