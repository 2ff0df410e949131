"""`tabiya grow`: the same book whatever happens to the run, values by an independent minimax, every format, and the merging of stores."""

import json
import math
import random
import signal
import subprocess
import time

import chess
import chess.pgn
import chess.polyglot
import pytest

from client import HANG, times
from conftest import linux_only
from polyglot_writer import Book
from processes import alive, children
from random_games import FORMATS
from test_evals import Eval, exported  # noqa: F401

DONE, WANTING, USAGE, FILE, ENGINE, INTERRUPTED = 0, 1, 2, 3, 4, 130

NEXT_LOSS = 20


def scripted(exe, *args, score=40):
    return ["--engine", exe, *(f"--engine-arg={arg}" for arg in ("--legal", "--any-score", score, *args)), "--nodes", 20]


def entries(path):
    """All that a Polyglot book has: {key: {UCI: weight}}."""
    found = {}
    with chess.polyglot.open_reader(path) as reader:
        for entry in reader:
            found.setdefault(entry.key, {})[entry.move.uci()] = entry.weight
    return found


@pytest.fixture
def seed(tmp_path):
    """Two moves of White, three replies, and a line that transposes."""
    book = Book().at("", e2e4=100, d2d4=30, g1f3=10).at("e2e4", e7e5=60, c7c5=40).at("e2e4 e7e5", g1f3=60).at("d2d4", d7d5=30, g8f6=20)
    book.at("e2e4 e7e5 g1f3", b8c6=60).at("e2e4 c7c5", g1f3=40).at("g1f3", d7d5=5).at("g1f3 d7d5", d2d4=5).at("d2d4 d7d5", g1f3=3, c2c4=9)
    return book.write(tmp_path / "seed.bin")


@pytest.fixture
def grown(tabiya, scripted_exe, seed, tmp_path):
    """Grows a book of some name, and returns it with its report."""

    def grow(name, *args, positions=300, engine=(), start=(seed,)):
        out, report = tmp_path / name, tmp_path / f"{name}.json"
        line = ["grow", *start, "-o", out, "--report", report, "--positions", positions, *scripted(scripted_exe, *engine), *args]
        done = tabiya(*line)
        assert done.returncode == DONE, done.stderr
        return out, json.loads(report.read_bytes())

    return grow


def test_the_book_is_the_same_whatever_the_jobs(tabiya, scripted_exe, grown, seed, tmp_path):
    books = {grown(f"{jobs}.bin", "--jobs", jobs)[0].read_bytes() for jobs in (1, 2, 8)}
    assert len(books) == 1
    # From the store alone, and with another thing to keep it in, it is the same too.
    again, report = tmp_path / "again.bin", tmp_path / "again.json"
    line = ["grow", seed, "-o", again, "--no-engine", "--store", tmp_path / "1.bin.evals", "--nodes", 20]
    done = tabiya(*line, "--positions", 300, "--report", report)
    assert done.returncode == DONE and {again.read_bytes()} == books, done.stderr
    told = json.loads(report.read_bytes())
    assert (told["searched"], told["known"]) == (0, 300)
    # A second run goes on where the first one ended, and stores can be merged.
    half, _ = grown("half.bin", positions=150)
    store = tmp_path / "merged.evals"
    for part in ("half", "1"):
        assert tabiya("import", store, tmp_path / f"{part}.bin.evals").returncode == DONE
    for name, positions, known in [("half.bin", 300, 150), ("merged.bin", 300, 300)]:
        stored = ["--store", store] if name == "merged.bin" else ["--force"]
        out, told = grown(name, *stored, positions=positions)
        assert out.read_bytes() in books and told["known"] == known


@linux_only
def test_killed_at_any_moment_it_goes_on_to_the_same_book(tabiya, tabiya_exe, scripted_exe, grown, seed, tmp_path, exported):
    whole, _ = grown("whole.bin", positions=400)
    # Searches take 4 ms, so that a run is killed in the middle.
    out, store, chance = tmp_path / "out.bin", tmp_path / "out.bin.evals", random.Random(50)
    line = ["grow", seed, "-o", out, "--positions", 400, "--jobs", 2, *scripted(scripted_exe, "--think", 4)]
    kept, kills, until = {}, 0, time.monotonic() + HANG
    while not out.exists():
        assert time.monotonic() < until
        process = subprocess.Popen(list(map(str, [tabiya_exe, *line])), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
        size = store.stat().st_size if store.exists() else 0
        # Killed once it has stored some more searches; at last it is left alone.
        more, engines = chance.randrange(10, 36) * 48, set()
        while process.poll() is None and not (kills < 10 and store.exists() and store.stat().st_size > size + more):
            assert time.monotonic() < until
            engines |= set(children(process.pid))
            time.sleep(0.001)
        if process.poll() is None:
            process.kill()
            kills += 1
        _, errors = process.communicate(timeout=HANG)
        assert process.returncode in (DONE, -signal.SIGKILL), errors
        while any(alive(pid) for pid in engines):
            assert time.monotonic() < until, "an engine outlived tabiya"
            time.sleep(0.01)
        now = exported(store)
        assert all(now[epd] == found for epd, found in kept.items())
        kept = now
    assert kills == 10
    assert out.read_bytes() == whole.read_bytes() and kept == exported(tmp_path / "whole.bin.evals")


def average(values, chances):
    """The value whose winning chances (Lichess's curve) are the average of these."""
    if min(values) >= 1000 or max(values) <= -1000 or len(set(values)) == 1:
        return min(values)
    scores = [math.tanh(0.00368208 / 2 * max(-1000, min(1000, value))) for value in values]
    total = sum(score * chance for score, chance in zip(scores, chances, strict=True)) / sum(chances)
    return round(math.atanh(total) * 2 / 0.00368208)


class Minimax:
    """What a side can force, from the store's evaluations and the moves of each position. Positions on cycles have no value."""

    def __init__(self, white, positions, evals):
        self.white, self.evals, self.values = white, evals, {}
        self.positions = {chess.Board(position["fen"]).epd(): position for position in positions}

    def own(self, board):
        """What a position is worth by itself for the side, by its first search or the end of the game."""
        sign = 1 if board.turn == self.white else -1
        if board.is_checkmate():
            return -32767 * sign
        if board.is_stalemate():
            return 0
        found = self.evals.get(board.epd())
        return None if found is None else sign * found.cp

    def value(self, board):
        """`(value,)`, or None on or before a cycle."""
        epd = board.epd()
        if epd in self.values:
            return self.values[epd]
        self.values[epd] = None
        position, ours = self.positions.get(epd), board.turn == self.white
        if position is None:
            self.values[epd] = (self.own(board) if board.is_game_over() else None,)
            return self.values[epd]
        search, after, known = position["search"], {}, []
        for move in position["moves"]:
            board.push_uci(move["uci"])
            value, alone = self.value(board), self.own(board)
            board.pop()
            if value is None:
                return None
            after[move["uci"]] = alone
            known.append(value[0])
        if position["from_book"]:
            # They play by chance; a move that nobody has looked into counts as the search says.
            worths = [self.own(board) if value is None else value for value in known]
            chances = [move["chance"] for move in position["moves"]]
            played = [number for number, chance in enumerate(chances) if chance > 0]
            self.values[epd] = (average([worths[number] for number in played], [chances[number] for number in played]),)
            return self.values[epd]
        else:
            last = search["value"] * (1 if ours else -1)
            looked_into = after[search["uci"]]
            if looked_into is not None:
                # Once the engine's move was looked into, what was found after it counts.
                last = None if ours else min(last + NEXT_LOSS, looked_into)
        if None in known and last is None and not ours:
            known = [None]
        known = [value for value in [*known, last] if value is not None]
        self.values[epd] = ((max if ours else min)(known) if known else None,)
        return self.values[epd]


@pytest.mark.parametrize("side", ["white", "black"])
def test_values_are_those_of_another_minimax(tabiya, grown, real_book, exported, tmp_path, side):
    out, report = grown("out.bin", "--side", side, positions=times(1000, 5000), start=[real_book])
    evals, white = exported(tmp_path / "out.bin.evals"), side == "white"
    minimax, compared = Minimax(white, report["positions"], evals), 0
    firsts = 0
    for position in report["positions"]:
        board = chess.Board(position["fen"])
        value = minimax.value(board)
        if value is not None:
            assert position["value"] == value[0], position
            compared += 1
        search = position["search"]
        if search is None or (search["uci"], search["value"]) == (evals[board.epd()].best, evals[board.epd()].cp):
            firsts += 1
    assert compared > 0.9 * len(report["positions"]) and firsts > 0.5 * compared, (compared, firsts)
    # The book plays the best moves of the positions that it was grown for, and no others.
    book = entries(out)
    for position in report["positions"]:
        board = chess.Board(position["fen"])
        played = {move["uci"] for move in position["moves"] if move["chance"] > 0}
        if board.turn == white and position["reach"] > 0:
            found = {move.replace("e1h1", "e1g1") for move in book[chess.polyglot.zobrist_hash(board)]}
            assert played and played == found, position
            worths = {move["uci"]: position["search"]["value"] if move["value"] is None else move["value"] for move in position["moves"]}
            assert max(worths[move] for move in played) == position["value"]
            assert all(worths[move] >= position["value"] - 10 for move in played)
    # The root's chances are spread over what is played.
    assert sum(move["chance"] for move in report["positions"][0]["moves"]) == pytest.approx(1)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(tabiya, grown, seed, tmp_path, name):
    start = tmp_path / f"start.{name}"
    assert tabiya("convert", seed, "-o", start).returncode == DONE
    out, report = grown(f"out.{name}", "--side", "white", start=[start])
    assert tabiya("check", out).returncode == DONE
    for position in report["positions"]:
        if position["reach"] == 0 or chess.Board(position["fen"]).turn == chess.BLACK:
            continue
        done = tabiya("show", out, "--fen", position["fen"], "--json")
        assert done.returncode == DONE, done.stderr
        moves = {move["uci"] for move in json.loads(done.stdout)["moves"] if move["chance"] > 0}
        assert moves == {move["uci"] for move in position["moves"] if move["chance"] > 0}, position
    # Without a seed it begins with the starting position.
    out, _ = grown(f"alone.{name}", positions=100, start=[])
    assert tabiya("check", out).returncode == DONE and tabiya("show", out).returncode == DONE


@pytest.mark.parametrize("colored", [True, False])
def test_what_was_rejected_is_played_in_no_format(tabiya, grown, tmp_path, colored):
    """Whatever colors the seed has, and for both sides, in which the other's moves lead on."""
    games = [f'[Event "r"]\n[Result "1-0"]\n\n1. {line} 1-0\n\n' for line in ("e4 e5", "d4 d5", "g4 d5")]
    (tmp_path / "g.pgn").write_text("".join(games))
    start = tmp_path / ("s.ctg" if colored else "s.bin")
    assert tabiya("build", "g.pgn", "-o", start, "--min-games", 1, "--uniform", "--green", 10).returncode == DONE
    at = {"e4": "4P3/8/PPPP1PPP", "d4": "3P4/8/PPP1PPPP", "g4": "6P1/8/PPPPPP1P"}
    worth = {"e4": 40, "d4": 35, "g4": -100}
    if colored:
        assert tabiya("edit", start, "--set", "e4=none", "--set", "d4=red").returncode == DONE
    scores = [word for mv, place in at.items() for word in ("--score-at", f"rnbqkbnr/pppppppp/8/8/{place}/RNBQKBNR b=cp {-worth[mv]}")]
    shown = {}
    for end in FORMATS:
        out, report = grown(f"g.{end}", start=[start], positions=12, engine=scores)
        wanted = {move["uci"]: move["chance"] for move in report["positions"][0]["moves"] if move["chance"]}
        assert wanted and {"e2e4", "d2d4", "g2g4"} - wanted.keys()
        done = tabiya("show", out, "--json", "--set", "Book Threshold=0")
        shown[end] = {move["uci"]: move["chance"] for move in json.loads(done.stdout)["moves"] if move["chance"]}
        assert shown[end].keys() == wanted.keys(), (end, shown, wanted)
        if end in ("bin", "kob") and not (colored and end == "kob"):
            assert shown[end] == pytest.approx(wanted, abs=1e-3)


def test_several_machines_share_the_searches(tabiya, tabiya_exe, scripted_exe, grown, seed, tmp_path, exported):
    out, first = grown("out.bin", positions=300)
    store, parts, plan = tmp_path / "out.bin.evals", [tmp_path / f"{part}.evals" for part in (1, 2, 3)], tmp_path / "plan.jsonl"
    line = ["grow", seed, "-o", out, "--plan", plan]
    for cycle in range(4):
        done = tabiya(*line, "--positions", 60, "--nodes", 20, "--force")
        assert done.returncode == DONE, done.stderr
        searches = [json.loads(text) for text in plan.read_text().splitlines()]
        assert len({(search["fen"], tuple(search.get("without", []))) for search in searches}) == len(searches) == 60
        for number, part in enumerate(parts, 1):
            args = [*line, "--share", f"{number}/3", "--store", part, *scripted(scripted_exe)]
            if (cycle, number) == (1, 2):
                # A machine fails in the middle of its share, and its job is run again.
                size = part.stat().st_size
                process = subprocess.Popen([tabiya_exe, *map(str, args), "--engine-arg=--think", "--engine-arg=20"], cwd=tmp_path)
                until = time.monotonic() + HANG
                while part.stat().st_size < size + 300:
                    assert process.poll() is None and time.monotonic() < until
                    time.sleep(0.001)
                process.kill()
                process.communicate(timeout=HANG)
                done = tabiya(*args)
                assert done.returncode == DONE and b"searched: 0 " not in done.stdout and b"; 0 were known" not in done.stdout, done.stdout
            else:
                assert tabiya(*args).returncode == DONE
            # A share is not searched twice.
            done = tabiya(*args)
            assert b"searched: 0 positions; 20 were known" in done.stdout, done.stdout
        # More than one of these machines may search the same position.
        done = tabiya("import", store, *parts)
        assert done.returncode == DONE, done.stderr
        planned = {chess.Board(search["fen"]).epd() for search in searches if "without" not in search}
        assert planned <= set(exported(store))
    again = [tmp_path / "one.bin", tmp_path / "two.bin"]
    line = ["--no-engine", "--store", store, "--nodes", 20, "--positions", 10_000]
    for book in again:
        done = tabiya("grow", seed, "-o", book, *line, "--report", tmp_path / f"{book.name}.json")
        assert done.returncode == DONE, done.stderr
    assert again[0].read_bytes() == again[1].read_bytes()
    # Nearly all that was planned is of use.
    grew = len(json.loads((tmp_path / "one.bin.json").read_bytes())["positions"]) - len(first["positions"])
    assert grew > 200, grew


@linux_only
def test_the_explorer_shows_the_book_while_it_grows(tabiya, tabiya_exe, scripted_exe, grown, seed, tmp_path, explore):
    out, _ = grown("out.bin", "--side", "white", positions=300)
    before, number = entries(out), out.stat().st_ino
    line = ["grow", seed, "-o", out, "--side", "white", "--positions", 100_000, "--force", *scripted(scripted_exe, "--think", 20)]
    process = subprocess.Popen(list(map(str, [tabiya_exe, *line])), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    until = time.monotonic() + HANG
    while out.stat().st_ino == number:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    server = explore(out)
    moves = server.get("/api/position", play="", book=0)["moves"]
    assert all(move["eval"] for move in moves if move["chance"] > 0), moves
    # What is searched next, and what positions are worth.
    while (growth := server.get("/api/books")["books"][0]["growth"]) is None:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.1)
    assert growth["searches"] >= 300 and growth["next"] and growth["sides"][0]["positions"] > 0, growth
    for search in growth["next"]:
        board = chess.Board()
        sans = [board.san_and_push(chess.Move.from_uci(uci)) for uci in search["play"]]
        assert [word for word in search["line"].split() if not word[0].isdigit()] == sans
    [here] = server.get("/api/view", play="", books="0")["books"][0]["growth"]
    assert (here["side"], here["reach"]) == ("white", 1) and here["value"] == growth["sides"][0]["value"]
    process.kill()
    process.communicate(timeout=HANG)
    # Whatever the bytes of that file are, the book is shown.
    beside = tmp_path / "out.bin.growth"
    for damaged in (b"", b"{", b"\0" * 2_000_000, beside.read_bytes()[:-9], b'{"searches":1e400}'):
        beside.write_bytes(damaged)
        book = explore(out).get("/api/books")["books"][0]
        assert book["growth"] is None and book["error"] is None
    # What was known before was not lost from it while the run repeated that.
    assert {move["uci"] for move in moves} <= set(entries(out)[chess.polyglot.zobrist_hash(chess.Board())])
    assert len(entries(out)) > len(before) / 2


def test_two_at_the_same_time(tabiya_exe, scripted_exe, grown, seed, tmp_path):
    whole, _ = grown("whole.bin", positions=300)
    line = ["grow", seed, "-o", tmp_path / "out.bin", "--positions", 300, "--jobs", 2, "--force", *scripted(scripted_exe, "--think", 2)]
    both = [subprocess.Popen(list(map(str, [tabiya_exe, *line])), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=HANG)
        assert process.returncode == DONE, errors
    assert (tmp_path / "out.bin").read_bytes() == whole.read_bytes()
    # What both left in the store is enough for the same book.
    again, told = grown("out.bin", "--force", positions=300)
    assert again.read_bytes() == whole.read_bytes() and told["searched"] == 0


def test_when_the_time_is_up_the_book_is_that_of_the_store(tabiya, scripted_exe, grown, seed, tmp_path):
    # A search takes 50 ms, so that the time is up in the middle of a round.
    out, _ = grown("out.bin", "--time", "2s", "--jobs", 3, engine=["--think", 50], positions=100_000)
    again = tmp_path / "again.bin"
    done = tabiya("grow", seed, "-o", again, "--no-engine", "--nodes", 20, "--store", tmp_path / "out.bin.evals")
    assert done.returncode == DONE and again.read_bytes() == out.read_bytes(), done.stderr


def test_an_engine_that_dies_or_hangs_is_started_again(tabiya, engine, grown, seed, tmp_path):
    whole, _ = grown("whole.bin", positions=60)
    line = ["grow", seed, "-o", "out.bin", "--positions", 60, "--nodes", 20, *engine.argv("--legal", "--any-score", 40, "--die-once", tmp_path / "once")]
    done = tabiya(*line)
    assert done.returncode == DONE, done.stderr
    assert (tmp_path / "out.bin").read_bytes() == whole.read_bytes()
    done = tabiya("grow", seed, "-o", "none.bin", "--engine", tmp_path / "no-such-engine")
    assert done.returncode == ENGINE and b"no such engine" in done.stderr and not (tmp_path / "none.bin").exists()


def test_the_opponent_may_be_a_count_file_and_the_seed_games(tabiya, grown, seed, tmp_path):
    games = tmp_path / "games.pgn"
    games.write_text("".join(f'[Round "{number}"]\n\n1. e4 {reply} 2. Nf3 1/2-1/2\n\n' for number, reply in enumerate(["c5"] * 6 + ["e5"] * 4)))
    counts = tmp_path / "counts.parquet"
    assert tabiya("build", games, "-o", counts).returncode == DONE
    _, report = grown("out.bin", "--side", "white", "--against", counts, positions=100, start=[games])
    positions = {position["fen"]: position for position in report["positions"]}
    board = chess.Board()
    assert "e2e4" in {move["uci"] for move in positions[board.fen()]["moves"]}
    board.push_uci("e2e4")
    replies = {move["uci"]: move["chance"] for move in positions[board.fen(en_passant="legal")]["moves"]}
    # Three in thirteen are left to an engine.
    assert 6 / 13 <= replies["c7c5"] <= 9 / 13 and 4 / 13 <= replies["e7e5"] <= 7 / 13


def test_the_opponent_is_expected_by_how_often_he_plays(tabiya, scripted_exe, grown, seed, tmp_path):
    def games(name, *lines):
        text = (f'[White "{white}"]\n[Black "{black}"]\n[Round "{number}"]\n[Result "{result}"]\n\n{line} {result}\n\n' for number, (white, black, line, result) in enumerate(lines))
        (tmp_path / name).write_text("".join(text))
        return tmp_path / name

    # What he only lost counts as well, and what others play against him or as White does not.
    his = [("Else", "Rival, R", "1. e4 c5 2. Nf3", "1-0")] * 6 + [("Else", "R. Rival", "1. e4 e5", "0-1")] * 3
    rival = games("rival.pgn", *his, *[("Rival", "Else", "1. d4 d5", "1-0")] * 5, *[("One", "Two", "1. e4 a6", "0-1")] * 9)
    others = games("others.pgn", *[("One", "Two", "1. e4 e6", "1/2-1/2")] * 97)
    counts = tmp_path / "others.parquet"
    assert tabiya("build", others, "-o", counts).returncode == DONE
    against = ["--side", "white", "--against", rival, "--player", "rival", "--against"]
    books = set()
    for number, behind in enumerate((others, counts, counts)):
        out, report = grown(f"{number}.bin", *against, behind, "--jobs", 1 + number, positions=100)
        books.add(out.read_bytes())
        position = next(position for position in report["positions"] if position["line"] == "1. e4")
        chances = {move["uci"]: move["chance"] for move in position["moves"]}
        # Of nine games and three behind them; an engine has three in a hundred of that quarter.
        assert position["from_book"] and "a7a6" not in chances
        for uci, chance in [("c7c5", 6 / 12), ("e7e5", 3 / 12), ("e7e6", 0.97 * 3 / 12)]:
            assert chance - 1e-6 <= chances[uci] <= chance + 0.03 * 3 / 12 + 1e-6, (uci, chances)
        # Where he never was, the others say it.
        assert [position["from_book"] for position in report["positions"] if position["line"] == "1. d4"] == [False]
    assert len(books) == 1
    line = ["grow", seed, "-o", "none.bin", *scripted(scripted_exe), "--positions", 20, "--against"]
    for args, words in [((rival, "--player", "Rivall"), ["rival.pgn", "none of 23 games", '"R. Rival"']), ((counts, "--player", "rival"), ["others.parquet", "not games of a player"]),
                        ((rival, "--variant", "atomic"), ["rival.pgn", "variant"])]:
        done = tabiya(*line, *args)
        assert done.returncode == FILE and not (tmp_path / "none.bin").exists(), (args, done)
        assert all(word in done.stderr.decode() for word in words), (words, done.stderr)


def winning(value):
    return math.tanh(0.00368208 / 2 * max(-1000, min(1000, value)))


@pytest.mark.parametrize("side", ["white", "black"])
def test_a_dossier_has_what_he_plays_and_his_errors_in_order(tabiya, grown, real_book, tmp_path, side, explore):
    games = tmp_path / "games.bin"
    assert tabiya("trim", real_book, "-o", games, "--max-ply", 6).returncode == DONE
    # What he has played: lines of a real book, as games.
    chance, lines = random.Random(64), []
    with chess.polyglot.open_reader(games) as reader:
        for number in range(120):
            board = chess.Board()
            while entries := list(reader.find_all(board)):
                board.push(chance.choices(entries, [entry.weight + 1 for entry in entries])[0].move)
            players = ("Else", "Rival") if side == "white" else ("Rival", "Else")
            line = chess.Board().variation_san(board.move_stack)
            lines.append(f'[White "{players[0]}"]\n[Black "{players[1]}"]\n[Round "{number}"]\n[Result "1-0"]\n\n{line} 1-0\n\n')
    (tmp_path / "his.pgn").write_text("".join(lines))
    args = ["--side", side, "--against", tmp_path / "his.pgn", "--player", "rival", "--force"]
    texts = set()
    for name, jobs in (("one", 1), ("two", 3)):
        dossier = tmp_path / f"{name}.pgn"
        out, report = grown(f"{name}.bin", *args, "--jobs", jobs, "--dossier", dossier, positions=400, start=[real_book])
        texts.add(dossier.read_text().replace(f"{name}.bin", "BOOK"))
    assert len(texts) == 1
    # Each error of the report: what is known of the position's best move, and what he is expected to play.
    sign, wanted = (1 if side == "white" else -1), []
    for position in report["positions"]:
        board = chess.Board(position["fen"])
        if (board.turn == chess.WHITE) == (side == "white") or position["reach"] == 0:
            continue
        known = [move["value"] for move in position["moves"] if move["value"] is not None] + ([position["search"]["value"]] if position["search"] else [])
        for move in position["moves"]:
            if move["value"] is not None and move["chance"] > 0 and (lost := (winning(max(known)) - winning(move["value"])) / 2) >= 0.02:
                wanted.append((position["reach"] * move["chance"] * lost, lost, board.epd(), move["san"]))
    wanted.sort(key=lambda row: -row[0])
    with open(dossier) as file:
        games = [game for game in iter(lambda: chess.pgn.read_game(file), None)]
    assert not any(game.errors for game in games)
    first, *errors = games
    assert first.comment.startswith(f"120 games of rival with {'Black' if side == 'white' else 'White'}.") and first.variations
    assert len(errors) == min(len(wanted), 100) > 5
    for game, (_, lost, epd, san) in zip(errors, wanted[:100], strict=True):
        node = next(node for node in game.mainline() if " loses " in node.comment)
        assert f"{lost:.0%}".replace("%", " %") in game.comment, (game, lost)
        if (node.parent.board().epd(), node.san()) != (epd, san):
            # Equal ones may stand in either order.
            assert any(row[2:] == (node.parent.board().epd(), node.san()) for row in wanted)
    # The explorer has the first of them, and goes there.
    growth = explore(out).get("/api/books")["books"][0]["growth"]
    boards = []
    for error in growth["errors"]:
        board = chess.Board()
        for uci in error["play"]:
            board.push_uci(uci)
        boards.append(board)
    assert [board.fullmove_number for board in boards] and len(boards) == min(10, len(errors))
    assert [board.epd() for board in boards] == [next(node for node in game.mainline() if " loses " in node.comment).board().epd() for game in errors[:10]]
    assert all(error["chance"] > 0 and error["loss"] > 0 for error in growth["errors"])
    # Nothing of the user's is written over.
    done = tabiya("grow", "-o", tmp_path / "new.bin", "--against", tmp_path / "his.pgn", "--no-engine", "--dossier", dossier)
    assert done.returncode == FILE and dossier.read_text() and not (tmp_path / "new.bin").exists()


def test_several_seeds_are_one_book(tabiya, grown, tmp_path):
    first, second = tmp_path / "first.bin", tmp_path / "second.abk"
    Book().at("", e2e4=5).at("e2e4 e7e5", b1c3=1).write(first)
    games = tmp_path / "games.pgn"
    games.write_text("".join(f'[Round "{number}"]\n\n1. b3 d5 1/2-1/2\n\n' for number in range(9)))
    Book().at("", f2f4=5).write(tmp_path / "second.bin")
    assert tabiya("convert", tmp_path / "second.bin", "-o", second).returncode == DONE
    _, report = grown("out.bin", "--side", "white", positions=200, start=[first, games, second])
    start = next(position for position in report["positions"] if position["fen"] == chess.STARTING_FEN)
    assert {"e2e4", "f2f4", "b2b3"} <= {move["uci"] for move in start["moves"]}


def test_wrong_input(tabiya, scripted_exe, seed, tmp_path):
    line, before = ["grow", seed, *scripted(scripted_exe), "--positions", 20], seed.read_bytes()
    (tmp_path / "mine.bin").write_bytes(b"mine")
    for args in (["-o", "out.bin", "--side", "red"], ["-o", "out.bin", "--max-loss", 0], ["-o", "out.bin", "--positions", 0],
                 ["-o", "out.bin", "--share", "1/2"], ["-o", "out.bin", "--plan", "p", "--share", "3/2", "--store", "s"], ["-o", "out.txt"],
                 ["-o", "out.bin", "--no-engine", "--jobs", 2]):
        assert tabiya(*line, *args).returncode == USAGE, args
    for args in (["-o", "mine.bin"], ["-o", seed, "--force"], ["-o", "out.bin", "--store", seed], ["-o", "out.bin", "--report", "mine.bin"],
                 ["-o", "out.bin", "--against", "none.bin"], ["-o", "out.bin", "--plan", seed, "--force"],
                 ["-o", "out.bin", "--plan", "mine.bin", "--share", "1/2", "--store", "s.evals"]):
        done = tabiya(*line, *args)
        assert done.returncode in (USAGE, FILE), (args, done.stderr)
        assert seed.read_bytes() == before and (tmp_path / "mine.bin").read_bytes() == b"mine" and not (tmp_path / "out.bin").exists()
    none = tabiya("grow", seed, "-o", "out.bin", "--no-engine")
    assert none.returncode == FILE and b"no store of evaluations" in none.stderr
