"""`tabiya vet`: what an engine finds in a book, what becomes of it, and that nothing that it found is lost."""

import json
import os
import random
import shutil
import signal
import subprocess
import time

import chess
import chess.engine
import chess.polyglot
import pytest

from client import HANG, complaints, times
from conftest import linux_only, not_windows
from polyglot_writer import Book
from processes import alive, children
from random_games import FORMATS, Game
from test_evals import Eval, exported, zstandard  # noqa: F401

DONE, WANTING, USAGE, FILE, ENGINE, INTERRUPTED = 0, 1, 2, 3, 4, 130

NODES = 20_000


def shown(tabiya, book, moves="", *args):
    """The moves of a position: {UCI: line of `show --json`}."""
    done = tabiya("show", book, "--moves", moves, "--json", *args)
    assert done.returncode in (DONE, WANTING), done.stderr
    return {move["uci"]: move for move in json.loads(done.stdout)["moves"]}


def scripted(exe, *args):
    return ["--engine", exe, *(f"--engine-arg={arg}" for arg in ("--legal", *args))]


def reached(path):
    """The positions that a Polyglot book reaches and those in which its lines end, each once, with the lines to them."""
    found, waiting = {}, [chess.Board()]
    with chess.polyglot.open_reader(path) as reader:
        while waiting:
            board = waiting.pop()
            if board.epd() in found:
                continue
            found[board.epd()] = board
            for entry in reader.find_all(board):
                after = board.copy()
                after.push(entry.move)
                waiting.append(after)
    return found


@pytest.fixture(scope="module")
def main_lines(gnu_book, tmp_path_factory):
    """The two heaviest moves of each position of GNU Chess's book, four plies deep."""
    book, seen, waiting = Book(), set(), [chess.Board()]
    with chess.polyglot.open_reader(gnu_book) as reader:
        while waiting:
            board = waiting.pop(0)
            if board.epd() in seen or board.ply() == 4:
                continue
            seen.add(board.epd())
            for entry in sorted(reader.find_all(board), key=lambda entry: -entry.weight)[:2]:
                book.add(board, entry.move.uci(), entry.weight)
                after = board.copy()
                after.push(entry.move)
                waiting.append(after)
    assert len(seen) > 10
    return book.write(tmp_path_factory.mktemp("main") / "main.bin")


@pytest.fixture
def planted(tabiya, main_lines, tmp_path):
    """The main lines with blunders, each the heaviest move of its position."""
    book = tmp_path / "planted.bin"
    shutil.copy(main_lines, book)
    blunders = {"": "g2g4", "e2e4": "f7f5", "d2d4 d7d5": "e2e4", "e2e4 e7e5": "e1e2"}
    added = {}
    for line, blunder in blunders.items():
        known = shown(tabiya, book, line)
        assert known and blunder not in known, line
        weight = 2 * max(move["weight"] for move in known.values())
        added[line] = blunder
        edited = tabiya("edit", book, "--moves", line, "--add", f"{blunder}={min(weight, 65535)}")
        assert edited.returncode == DONE, edited.stderr
    for journal in tmp_path.glob("planted.bin.*"):
        journal.unlink()
    return book, added


def test_planted_blunders_are_found(tabiya, planted, stockfish, tmp_path, exported):
    book, blunders = planted
    out, report = tmp_path / "out.bin", tmp_path / "report.json"
    line = ["vet", book, "-o", out, "--engine", stockfish, "--nodes", NODES, "--jobs", 2, "--report", report, "--max-loss", 70]
    done = tabiya(*line)
    assert done.returncode == DONE, done.stderr
    text = done.stdout.decode()
    for moves, blunder in blunders.items():
        assert blunder in shown(tabiya, book, moves)
        left = shown(tabiya, out, moves)
        assert left and blunder not in left and all(move["weight"] > 0 for move in left.values())
    # Every position that the book reaches, and every end of a line, is in the store with what the engine reached.
    evals = exported(tmp_path / "planted.bin.evals")
    wanted = {epd for epd, board in reached(book).items() if not board.is_game_over()}
    assert set(evals) == wanted
    assert all(found.depth > 0 and found.nodes >= NODES * 0.9 for found in evals.values())
    # The report has every move of the book.
    told = json.loads(report.read_bytes())
    assert {"white", "black"} == set(told["exits"]["before"]) == set(told["exits"]["after"])
    moves = {(" ".join(move["fen"].split()[:4]), move["uci"]): move for move in told["moves"]}
    assert len(moves) == len(told["moves"])
    by_epd = reached(book)
    with chess.polyglot.open_reader(book) as reader:
        entries = {(board.epd(), entry.move.uci()) for board in by_epd.values() for entry in reader.find_all(board)}
    assert {(chess.Board(f"{epd} 0 1").epd(), uci) for epd, uci in moves} == entries
    values = naive(book, evals)
    for (epd, uci), move in moves.items():
        board = chess.Board(move["fen"])
        assert move["san"] == board.san(chess.Move.from_uci(uci)) and move["line"].endswith(move["san"])
        assert move["best"] == values[board.epd()]
        board.push_uci(uci)
        assert (move["value"], move["loss"]) == (-values[board.epd()], move["best"] - move["value"])
        assert move["plays"] == (move["loss"] <= 70), move
    for moves_before, blunder in blunders.items():
        board = chess.Board()
        for move in moves_before.split():
            board.push_uci(move)
        assert f"{board.san(chess.Move.from_uci(blunder))}" in text
    again = [found.nodes for found in evals.values() if found.nodes > 4 * NODES]
    assert f"searched again before dropping moves: {len(again)} position" in text or not again
    # Run again, nothing is searched.
    again = tabiya(*line, "--force")
    assert again.returncode == DONE and f"evaluated: 0 positions; {len(wanted)} were known" in again.stdout.decode()
    # Values and losses are shown.
    shown_evals = shown(tabiya, book, "", "--store", f"{book}.evals")
    assert shown_evals["g2g4"]["loss"] > 70 and min(move["loss"] for move in shown_evals.values()) >= 0
    plain = shown(tabiya, book)
    start = evals[chess.Board().epd()].cp
    for uci, move in plain.items():
        board = chess.Board()
        board.push_uci(uci)
        assert move["eval"] == -evals[board.epd()].cp
    best = max([start, *(move["eval"] for move in plain.values())])
    assert all(move["loss"] == best - move["eval"] for move in plain.values())
    table = tabiya("show", book, "--store", f"{book}.evals").stdout.decode()
    assert "value" in table and "loss" in table
    tree = tabiya("tree", book, "--store", f"{book}.evals", "--plies", 2).stdout.decode()
    assert f"{shown_evals['g2g4']['eval'] / 100:+.2f} (-{shown_evals['g2g4']['loss']})" in tree


def naive(book, evals):
    """Values by plain minimax; the book has no cycles."""
    boards, values = reached(book), {}

    def value(board):
        epd = board.epd()
        if epd not in values:
            if board.is_checkmate():
                own = -32767
            elif board.is_stalemate():
                own = 0
            else:
                found = evals[epd]
                own = found.cp if found.mate is None else (32767 - found.mate if found.mate > 0 else -32767 - found.mate)
            best = own
            with chess.polyglot.open_reader(book) as reader:
                for entry in reader.find_all(board):
                    after = board.copy()
                    after.push(entry.move)
                    best = max(best, -value(after))
            values[epd] = best
        return values[epd]

    for board in boards.values():
        value(board)
    return values


def test_lichess_dump_gives_the_same_book(tabiya, planted, stockfish, tmp_path, exported):
    book, _ = planted
    out, same = tmp_path / "out.bin", tmp_path / "same.bin"
    line = ["vet", book, "-o", out, "--engine", stockfish, "--nodes", 3000]
    assert tabiya(*line).returncode == DONE
    lines = []
    for epd, found in exported(tmp_path / "planted.bin.evals").items():
        white = chess.Board(f"{epd} 0 1").turn
        sign = 1 if white else -1
        score = {"cp": sign * found.cp} if found.mate is None else {"mate": sign * found.mate}
        one = {"pvs": [score | {"line": found.best}], "knodes": found.nodes // 1000, "depth": found.depth}
        lines.append(json.dumps({"fen": epd, "evals": [one]}) + "\n")
    (tmp_path / "dump.jsonl.zst").write_bytes(zstandard("".join(lines).encode()))
    store = tmp_path / "lichess.evals"
    assert tabiya("import", store, tmp_path / "dump.jsonl.zst", "--for", book).returncode == DONE
    done = tabiya("vet", book, "-o", same, "--store", store, "--no-engine")
    assert done.returncode == DONE, done.stderr
    assert same.read_bytes() == out.read_bytes()


@pytest.fixture
def tiny(tmp_path):
    """Two lines that diverge at Black's first move, and one after d4."""
    book = Book().at("", e2e4=100, d2d4=30).at("e2e4", e7e5=60, c7c5=40).at("e2e4 e7e5", g1f3=60)
    book.at("e2e4 e7e5 g1f3", b8c6=60).at("e2e4 c7c5", g1f3=40).at("d2d4", d7d5=30)
    return book.write(tmp_path / "tiny.bin")


AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b"
AFTER_D4 = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b"
AFTER_C5 = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w"


@pytest.mark.parametrize("side", [None, "white", "black"])
def test_only_one_side_is_judged(tabiya, scripted_exe, tiny, tmp_path, side):
    # Every position is worth 13 for its side; d4 loses 100 more, and Black's c5 too.
    line = scripted(scripted_exe, "--score-at", f"{AFTER_D4}=cp 213", "--score-at", f"{AFTER_C5}=cp 213")
    args = ["--side", side] if side else []
    done = tabiya("vet", tiny, "-o", "out.bin", *line, "--nodes", 20, *args)
    assert done.returncode == DONE, done.stderr
    assert ("d2d4" in shown(tabiya, tmp_path / "out.bin")) == (side == "black")
    assert ("c7c5" in shown(tabiya, tmp_path / "out.bin", "e2e4")) == (side == "white")


def test_the_most_probable_positions_come_first(tabiya, engine, tiny, tmp_path):
    done = tabiya("vet", tiny, "-o", "out.bin", *engine.recorded("--legal"), "--nodes", 20)
    assert done.returncode == DONE, done.stderr
    assert not engine.violations()
    order = [line.removeprefix("position fen ").split()[0] for line in engine.commands("position")]
    chance = {}

    def walk(board, probability):
        fen = board.fen().split()[0]
        chance[fen] = chance.get(fen, 0) + probability
        with chess.polyglot.open_reader(tiny) as reader:
            entries = list(reader.find_all(board))
        total = sum(entry.weight for entry in entries)
        for entry in entries:
            after = board.copy()
            after.push(entry.move)
            walk(after, probability * entry.weight / total)

    walk(chess.Board(), 1.0)
    chances = [round(chance[fen], 6) for fen in order]
    assert chances == sorted(chances, reverse=True) and len(order) == len(chance)
    # What the store has is not searched again, by nodes or by depth; more is.
    before = len(engine.commands("go"))
    for args, searched in [(["--nodes", 20], 0), (["--depth", 1], 0), (["--movetime", 9], 0), (["--nodes", 21], len(chance))]:
        done = tabiya("vet", tiny, "-o", "out.bin", "--force", *engine.recorded("--legal"), *args)
        assert done.returncode == DONE, done.stderr
        assert len(engine.commands("go")) - before == searched, args
        before = len(engine.commands("go"))
    # The engine never gets further than 20 nodes, and is not asked for them again.
    assert tabiya("vet", tiny, "-o", "out.bin", "--force", *engine.recorded("--legal"), "--nodes", 21).returncode == DONE
    assert len(engine.commands("go")) == before


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(tabiya, scripted_exe, books_of, tmp_path, name):
    """A move that loses goes as the format has it, and the rest stays."""
    lines = [[chess.Move.from_uci(uci) for uci in line.split()] for line in ("e2e4 e7e5 g1f3", "d2d4 d7d5 c2c4")]
    games = [Game(lines[number % 2], "1/2-1/2" if number % 2 else "1-0", {"Round": str(number)}) for number in range(7)]
    book = books_of(games)[name]
    out = tmp_path / f"out.{name}"
    done = tabiya("vet", book, "-o", out, *scripted(scripted_exe, "--score-at", f"{AFTER_D4}=cp 213"), "--nodes", 20)
    assert done.returncode == DONE, done.stderr
    before, after = shown(tabiya, book), shown(tabiya, out)
    assert after["e2e4"]["playable"] and after["e2e4"]["games"] == before["e2e4"]["games"]
    gone = after.get("d2d4")
    if name in ("bin", "kob", "epd", "fen"):
        assert gone is None
    elif name == "ctg":
        assert gone["recommended"] is False and not gone["playable"] and gone["games"] == before["d2d4"]["games"]
    else:
        assert gone["weight"] == 0 and gone["games"] == before["d2d4"]["games"]
    assert tabiya("check", out).returncode == DONE


def test_colors_do_not_bring_back_what_was_dropped(tabiya, tmp_path):
    games = [f'[Event "r"]\n[Result "1-0"]\n\n1. {line} 1-0\n\n' for line in ("e4 e5", "d4 d5", "g4 d5")]
    (tmp_path / "g.pgn").write_text("".join(games))
    ends = [("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w", 30), (AFTER_E4, -30), (AFTER_D4, -30), ("rnbqkbnr/pppppppp/8/8/6P1/8/PPPPPP1P/RNBQKBNR b", 120)]
    (tmp_path / "e.epd").write_text("".join(f"{place} KQkq - ce {score}; acd 20;\n" for place, score in ends))
    # All three first moves are green.
    line = ["build", "g.pgn", "-o", "s.ctg", "--min-games", 1, "--uniform", "--green", 10]
    assert tabiya(*line).returncode == DONE and tabiya("import", "s.evals", "e.epd").returncode == DONE
    for end in FORMATS:
        done = tabiya("vet", "s.ctg", "-o", f"v.{end}", "--store", "s.evals", "--no-engine")
        assert done.returncode == DONE, done.stderr
        moves = shown(tabiya, tmp_path / f"v.{end}")
        assert {uci: move["chance"] for uci, move in moves.items() if move["chance"]} == {"e2e4": 0.5, "d2d4": 0.5}


def test_weights_follow_losses(tabiya, scripted_exe, tmp_path):
    book = Book().at("", e2e4=1000, d2d4=1000).write(tmp_path / "a.bin")
    # After d4 the other side is 43 - 13 = 30 centipawns better off than after e4.
    line = scripted(scripted_exe, "--score-at", f"{AFTER_D4}=cp 13", "--score-at", f"{AFTER_E4}=cp -17")
    for args, weight in [((), 368), (("--temperature", 60), 607), (("--keep-weights",), 1000)]:
        done = tabiya("vet", book, "-o", "out.bin", "--force", *line, "--nodes", 20, *args)
        assert done.returncode == DONE, done.stderr
        moves = shown(tabiya, tmp_path / "out.bin")
        assert (moves["e2e4"]["weight"], moves["d2d4"]["weight"]) == (1000, weight)


def test_the_book_ends_where_the_engine_does_better(tabiya, scripted_exe, tiny, tmp_path):
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w"
    for score, left in [("cp 80", {"e2e4"}), ("cp 200", None)]:
        line = scripted(scripted_exe, "--score-at", f"{start}={score}", "--score-at", f"{AFTER_D4}=cp 14")
        store = tmp_path / f"{score}.evals"
        done = tabiya("vet", tiny, "-o", "out.bin", "--force", "--store", store, *line, "--nodes", 20)
        assert done.returncode == DONE, done.stderr
        assert set(shown(tabiya, tmp_path / "out.bin")) == (left or set())


def test_what_decides_that_a_move_goes_is_searched_again(tabiya, engine, tiny, tmp_path):
    # d4 and the reply to it lose more than 100, and c5 more than 300, which needs no confirmation.
    short = ["--score-at", f"{AFTER_D4} KQkq - 0 1 go nodes 20=cp 113", "--score-at", f"{AFTER_C5}=cp 313"]
    after_d5 = "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w"
    searched = [f"position fen {fen} KQkq - 0 1" for fen in (chess.STARTING_FEN.split(" KQkq")[0], AFTER_D4, after_d5)]
    for score, args, stays in [(13, [], True), (113, [], False), (13, ["--confirm", 3], True), (13, ["--confirm", 1], False)]:
        store, nodes = tmp_path / f"{score}{args}.evals", 20 * (args[1] if args else 8)
        argv = engine.recorded("--legal", *short, "--score-at", f"{AFTER_D4} KQkq - 0 1 go nodes {nodes}=cp {score} nodes {nodes}")
        line = ["vet", tiny, "-o", "out.bin", "--force", "--store", store, *argv, "--nodes", 20, *args]
        before = len(engine.heard())
        done = tabiya(*line)
        assert done.returncode == DONE, done.stderr
        assert ("d2d4" in shown(tabiya, tmp_path / "out.bin")) == stays, (score, args)
        assert "c7c5" not in shown(tabiya, tmp_path / "out.bin", "e2e4")
        heard = engine.heard()[before:]
        again = [heard[place - 1] for place, text in enumerate(heard) if text == f"go nodes {nodes}" and nodes > 20]
        assert again == ([] if nodes == 20 else searched), (score, args)
        assert (b"searched again before dropping moves: 3 positions" in done.stdout) == (nodes > 20)
        # Everything is known to another run, and to one without an engine.
        before, book = len(engine.commands("go")), (tmp_path / "out.bin").read_bytes()
        assert b"evaluated: 0 positions; 9 were known" in tabiya(*line).stdout
        assert len(engine.commands("go")) == before and (tmp_path / "out.bin").read_bytes() == book
        done = tabiya("vet", tiny, "-o", "out.bin", "--force", "--store", store, "--no-engine")
        assert done.returncode == DONE and (tmp_path / "out.bin").read_bytes() == book
    assert not engine.violations()


def test_an_engine_that_dies_or_hangs_is_started_again(tabiya, engine, tiny, tmp_path, exported):
    done = tabiya("vet", tiny, "-o", "one.bin", *engine.recorded("--legal", "--die-once", tmp_path / "once"), "--nodes", 20)
    assert done.returncode == DONE and not complaints(done), done.stderr
    all_positions = set(exported(tmp_path / "tiny.bin.evals"))
    assert len(all_positions) == 9
    for what in ("--die-at", "--hang-at"):
        store = tmp_path / f"{what}.evals"
        line = [*engine.argv("--legal", what, AFTER_D4), "--engine-timeout", 1, "--nodes", 20, "--jobs", 2]
        done = tabiya("vet", tiny, "-o", "two.bin", "--force", "--store", store, *line)
        assert done.returncode == WANTING, done.stderr
        [complaint] = [line for line in done.stderr.decode().splitlines() if "not evaluated" in line]
        assert AFTER_D4 in complaint
        assert {epd for epd in all_positions if not epd.startswith(AFTER_D4)} == set(exported(store))
        assert set(shown(tabiya, tmp_path / "two.bin")) == {"e2e4", "d2d4"}


def test_an_engine_that_is_none_ends_the_work(tabiya, engine, tiny, tmp_path):
    for args in (["--exit-at-start", 3], ["--hang-uci"], ["--garbage-instead-of-uci"], ["--die-on-go"]):
        done = tabiya("vet", tiny, "-o", "out.bin", *engine.argv(*args), "--engine-timeout", 1, "--nodes", 20)
        skips = args == ["--die-on-go"]
        assert done.returncode == (WANTING if skips else ENGINE), done.stderr
        assert (tmp_path / "out.bin").exists() == skips
    done = tabiya("vet", tiny, "-o", "none.bin", "--engine", tmp_path / "no-such-engine")
    assert done.returncode == ENGINE and b"no such engine" in done.stderr


@linux_only
def test_killed_at_any_moment_nothing_is_lost_or_wrong(tabiya, tabiya_exe, planted, stockfish, tmp_path, exported):
    book, _ = planted
    line = ["vet", book, "-o", tmp_path / "out.bin", "--force", "--engine", stockfish, "--nodes", times(8000, 20_000), "--jobs", 2]
    store = tmp_path / "planted.bin.evals"
    other = tabiya("vet", book, "-o", tmp_path / "other.bin", *line[4:], "--store", tmp_path / "other.evals")
    assert other.returncode == DONE, other.stderr
    whole = exported(tmp_path / "other.evals")
    assert set(whole) == {epd for epd, board in reached(book).items() if not board.is_game_over()}
    chance, kept, kills, deaths, until = random.Random(50), {}, 0, 0, time.monotonic() + HANG
    wanted = times(6, 50)
    while True:
        process = subprocess.Popen(list(map(str, [tabiya_exe, *line])), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
        # Any moment will do: what must hold, holds at all of them. In every fifth run an engine is killed first.
        moments = [time.monotonic() + chance.uniform(0, times(0.15, 0.3))] * (2 if kills % 5 == 4 else 1)
        engines = set()
        while process.poll() is None:
            assert time.monotonic() < until
            engines |= set(children(process.pid))
            if kills < wanted and moments and time.monotonic() > moments[0]:
                moments.pop(0)
                victim = next((pid for pid in engines if alive(pid)), None) if moments else process.pid
                if victim:
                    os.kill(victim, signal.SIGKILL)
                    kills += 1
            time.sleep(0.002)
        output, errors = process.communicate(timeout=HANG)
        while any(alive(pid) for pid in engines):
            assert time.monotonic() < until, "an engine outlived tabiya"
            time.sleep(0.01)
        now = exported(store) if store.exists() else {}
        # What decides that moves go is searched again, and deeper.
        assert all(now[epd] == found or now[epd].nodes > found.nodes for epd, found in kept.items())
        kept = now
        if process.returncode == 0:
            assert now == whole and (tmp_path / "out.bin").read_bytes() == (tmp_path / "other.bin").read_bytes()
            if kills == wanted:
                break
            store.unlink()
            kept = {}
        else:
            assert process.returncode == -signal.SIGKILL, errors
            deaths += 1
    # One run in five loses an engine first, and some end before they are killed.
    assert deaths >= wanted // 2


@not_windows
def test_killed_while_it_searches_again_it_asks_for_the_same_searches(tabiya, tabiya_exe, engine, tiny, tmp_path, exported):
    at = f"{AFTER_D4} KQkq - 0 1 go nodes"
    argv = engine.recorded("--legal", "--score-at", f"{at} 20=cp 113", "--score-at", f"{at} 160=cp 13 nodes 160", "--think", 200)

    def line(name):
        return ["vet", tiny, "-o", tmp_path / f"{name}.bin", "--store", tmp_path / f"{name}.evals", *argv, "--nodes", 20]

    def again():
        return [text for text in engine.commands("go") if text == "go nodes 160"]

    process = subprocess.Popen(list(map(str, [tabiya_exe, *line("cut")])), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + HANG
    while len(again()) < 3:
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.01)
    # By what is stored now, d4 stays. The third search was asked for when it was to go.
    process.kill()
    process.communicate(timeout=HANG)
    assert tabiya(*line("cut")).returncode == DONE
    assert len(again()) == 4
    assert tabiya(*line("whole")).returncode == DONE
    assert exported(tmp_path / "cut.evals") == exported(tmp_path / "whole.evals")
    assert (tmp_path / "cut.bin").read_bytes() == (tmp_path / "whole.bin").read_bytes()


@not_windows
def test_ctrl_c_keeps_everything(tabiya, tabiya_exe, engine, tiny, tmp_path, exported):
    line = ["vet", tiny, "-o", tmp_path / "out.bin", *engine.recorded("--legal", "--think", "300"), "--nodes", 20]
    process = subprocess.Popen(list(map(str, [tabiya_exe, *line])), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    until = time.monotonic() + HANG
    while len(engine.commands("go")) < 3:
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANG)
    assert process.returncode == INTERRUPTED and b"has all evaluations so far" in errors
    assert not (tmp_path / "out.bin").exists()
    kept = exported(tmp_path / "tiny.bin.evals")
    assert 2 <= len(kept) < 9
    before = len(engine.commands("go"))
    done = tabiya(*line)
    assert done.returncode == DONE, done.stderr
    assert len(engine.commands("go")) == before + 9 - len(kept)


def test_another_kind_of_chess_is_set_aside(tabiya, engine, tiny, tmp_path):
    line = ("vet", tiny, "-o", tmp_path / "out.bin", *engine.recorded("--legal"), "--nodes", "20")
    done = tabiya(*line, "--set", "uci_variant=horde", "--set", "Hash=16")
    assert done.returncode == DONE, done.stderr
    assert done.stderr.count(b"UCI_Variant is horde: this command searches standard chess only") == 1, done.stderr
    sent = [line for line in engine.commands("setoption") if "ariant" in line]
    assert sent and all(line == "setoption name uci_variant value chess" for line in sent), sent
    done = tabiya(*line, "--force", "--set", "UCI_Variant=chess")
    assert done.returncode == DONE and b"UCI_Variant" not in done.stderr, done.stderr


def test_when_the_time_is_up_the_book_is_written(tabiya, engine, tiny, tmp_path, exported):
    # Each search would take an hour.
    done = tabiya("vet", tiny, "-o", "out.bin", *engine.argv("--legal", "--think", "3600000"), "--nodes", 20, "--time", "1s")
    assert done.returncode == DONE, done.stderr
    assert b"the time was up" in done.stdout
    assert set(shown(tabiya, tmp_path / "out.bin")) == {"e2e4", "d2d4"}
    assert len(exported(tmp_path / "tiny.bin.evals")) == 1


def test_what_is_there_is_not_replaced(tabiya, scripted_exe, tiny, tmp_path):
    (tmp_path / "out.bin").write_bytes(b"mine")
    (tmp_path / "report.json").write_bytes(b"mine")
    line = [*scripted(scripted_exe), "--nodes", 20]
    for args in (["-o", "out.bin"], ["-o", "new.bin", "--report", "report.json"], ["-o", tiny, "--force"], ["-o", "tiny.bin.evals", "--force"],
                 ["-o", "new.bin", "--store", tiny], ["-o", "new.bin", "--report", "new.bin"], ["-o", "new.bin", "--report", "tiny.bin.evals", "--force"]):
        before = tiny.read_bytes()
        done = tabiya("vet", tiny, *line, *args)
        assert done.returncode in (USAGE, FILE), (args, done.stderr)
        assert tiny.read_bytes() == before and not (tmp_path / "new.bin").exists()
    assert (tmp_path / "out.bin").read_bytes() == (tmp_path / "report.json").read_bytes() == b"mine"
    done = tabiya("vet", tiny, "-o", "out.bin", "--report", "report.json", "--force", *line)
    assert done.returncode == DONE, done.stderr
    assert json.loads((tmp_path / "report.json").read_bytes())["moves"]


def test_wrong_input(tabiya, scripted_exe, tiny, tmp_path):
    line = ["vet", tiny, "-o", "out.bin", *scripted(scripted_exe)]
    for args in (["--nodes", 0], ["--nodes", 5, "--depth", 5], ["--time", "8"], ["--time", "x"], ["--temperature", 0], ["--temperature", "nan"],
                 ["--side", "red"], ["--jobs", 0], ["--keep-weights", "--temperature", 5], ["--no-engine", "--nodes", 5], ["--set", "Hash"]):
        assert tabiya(*line, *args).returncode == USAGE, args
    assert tabiya("vet", tiny, "-o", "out.txt", *scripted(scripted_exe)).returncode == USAGE
    none = tabiya("vet", tiny, "-o", "out.bin", "--no-engine")
    assert none.returncode == FILE and b"no store of evaluations" in none.stderr
    (tmp_path / "bad.evals").write_bytes(b"this is no store of evaluations, but a text that is long enough")
    assert tabiya(*line, "--store", "bad.evals").returncode == FILE
    assert tabiya("show", tiny, "--store", f"{tiny}.evals").returncode == FILE
    assert tabiya("tree", tiny, "--store", f"{tiny}.evals").returncode == FILE
    assert tabiya("vet", tmp_path / "none.bin", "-o", "out.bin").returncode == FILE
    assert not (tmp_path / "out.bin").exists()


def test_options_reach_the_engine(tabiya, engine, tiny):
    done = tabiya("vet", tiny, "-o", "out.bin", *engine.recorded("--legal"), "--set", "Hash=64", "--set", "Threads=2", "--depth", 7)
    assert done.returncode == DONE, done.stderr
    assert {"setoption name Hash value 64", "setoption name Threads value 2"} <= set(engine.commands("setoption"))
    assert set(engine.commands("go")) == {"go depth 7"}


@pytest.mark.parametrize("command", ["vet", "suite"])
def test_options_of_play_spoil_no_store(tabiya, engine, tiny, tmp_path, command):
    """Neither those of the configuration nor those of the command line; what makes another engine is in its name."""
    path = engine.recorded("--legal", "--option", "option name Use Book type check default true")
    (tmp_path / "tabiya.toml").write_text(
        "[set]\n'Skill Level' = 3\nuci_limitstrength = true\nUCI_Elo = 1500\nContempt = 50\nHash = 32\n'Use NNUE' = false\n"
    )
    line = [command, tiny, *path, "--nodes", "20", "--config", "tabiya.toml", "--set", "multipv=4", "--store", "one.evals"]
    line += ["-o", "out.bin"] if command == "vet" else ["-o", "out.epd", "--ply", "1", "--eval", "0..10000"]
    done = tabiya(*line)
    assert done.returncode == DONE, done.stderr
    sent = engine.commands("setoption")
    assert set(sent) == {"setoption name Hash value 32", "setoption name Use NNUE value false", "setoption name Use Book value false"}
    said = done.stderr.decode()
    for option in ("Skill Level=3", "uci_limitstrength=true", "UCI_Elo=1500", "Contempt=50", "multipv=4"):
        assert said.count(f"the engine evaluates without {option}, which is for play") == 1, said
    store = json.loads(tabiya("info", "one.evals", "--json").stdout)
    (source,) = store["sources"]
    assert source["name"].endswith(" (Use NNUE=false)"), store


def test_a_store_that_is_none_leaves_the_moves(tabiya, tiny, tmp_path):
    (tmp_path / f"{tiny.name}.evals").write_bytes(b"this is no store of evaluations, but long enough to be one")
    done = tabiya("show", tiny, "--json")
    assert done.returncode == DONE and "eval" not in json.loads(done.stdout)["moves"][0]
    assert f"{tiny.name}.evals" in done.stderr.decode()
    assert tabiya("show", tiny, "--store", f"{tiny}.evals").returncode == FILE


@linux_only
def test_a_store_that_another_process_keeps_is_waited_for_as_long_as_the_time_is(tabiya, stockfish, small_book, tmp_path):
    """It is kept to the end, and the commands end all the same."""
    fcntl = pytest.importorskip("fcntl")
    shutil.copy(small_book, tmp_path / "b.bin")
    assert tabiya("vet", "b.bin", "-o", "v.bin", "--engine", stockfish, "--nodes", "100").returncode == DONE
    with (tmp_path / "b.bin.evals").open("r+b") as store:
        fcntl.flock(store, fcntl.LOCK_EX)
        before = store.read()
        for line in [
            ("vet", "b.bin", "-o", "o.bin", "--nodes", "5000"),
            ("grow", "b.bin", "-o", "g.bin", "--store", "b.bin.evals", "--nodes", "5000"),
        ]:
            done = tabiya(*line, "--time", "1s", "--engine", stockfish)
            says = b"tabiya: b.bin.evals: another process keeps the store of evaluations locked: waiting for it"
            assert done.stderr.count(says) >= 1 and done.returncode in (DONE, WANTING), done
        store.seek(0)
        assert store.read() == before
    assert b"; 0 were known already" in tabiya("vet", "b.bin", "-o", "w.bin", "--engine", stockfish, "--nodes", "5000").stdout
