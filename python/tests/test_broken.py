"""Broken files, threads and forks: exceptions, and never a crash. Each runs in a Python of its own, whose end tells."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import PGN, STARTER, python_does, samples, tabiya_says

# Changes files at random and does with each all that can be done. Whatever is raised has to be an exception of Python, and
# none may be a panic or an error inside.
BROKEN = """\
import pathlib, random, sys, warnings
import chess, tabiya
warnings.simplefilter("ignore")
source, folder, count, kind = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
parts = {path.name: path.read_bytes() for path in source.iterdir()}
names = sorted(parts)
opened = sorted(name for name in names if name.endswith(("." + kind, "." + kind.upper())))[0]
rng = random.Random(kind)
boards = [chess.Board()]
for san in ("e4", "e5", "Nf3", "Nc6"):
    boards.append(boards[-1].copy())
    boards[-1].push_san(san)

def broken(data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 50))):
        if not data:
            break
        at = rng.randrange(min(len(data), rng.choice((64, 4096, 1 << 30))))
        change = rng.randrange(5)
        if change == 0:
            data[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        elif change == 1:
            del data[at:]
        elif change == 2:
            del data[at : at + rng.randrange(1, 40)]
        elif change == 3:
            data[at:at] = rng.randbytes(rng.randrange(1, 40))
        else:
            data[at : at + 8] = rng.choice((b"\\0" * 8, b"\\xff" * 8, rng.randbytes(8)))
    return bytes(data)

def book(path):
    with tabiya.open_reader(path) as reader:
        for board in boards:
            for entry in reader.find_all(board, minimum_weight=0):
                assert board.is_legal(entry.move), entry
                entry.opening, entry.games, entry.annotation, repr(entry)
            reader.get(board), reader.comment(board)
        for number, entry in enumerate(reader):
            entry.move, entry.opening
            if number > 500:
                break
        policy = tabiya.Policy(reader, reserve=3)
        for board in boards:
            policy.choose(board, seed=1)
    tabiya.check(path)

def games(path):
    for moves_only in (False, True):
        found = tabiya.open_games(path, moves_only=moves_only)
        for number, game in enumerate(found):
            board = chess.Board()
            if moves_only:
                game.headers, game.error, repr(game)
                board = chess.Board(game.fen, chess960=game.chess960) if game.fen else board
                moves = game.moves
            else:
                board, moves = game.board(), game.mainline_moves()
            for move in moves:
                assert board.is_legal(move), (board.fen(), move)
                board.push(move)
            if number > 20:
                break
        found.errors

work = games if kind in ("cbh", "pgn") else book
outcomes = {}
for number in range(count):
    changed = rng.choice(names)
    for name in names:
        (folder / name).write_bytes(broken(parts[name]) if name == changed else parts[name])
    try:
        work(folder / opened)
        outcome = "read"
    except tabiya.Error as error:
        assert str(error), error
        outcome = type(error).__name__
    except OSError as error:
        outcome = type(error).__name__
    outcomes[outcome] = outcomes.get(outcome, 0) + 1
print(number + 1, sorted(outcomes.items()))
"""

# In all ten thousand before a release.
COUNT = 1250 if "TABIYA_FULL_TESTS" in os.environ else 125


@pytest.mark.parametrize("kind", ["bin", "ctg", "abk", "kob", "parquet", "pgn", "cbh", "cbh of variations"])
def test_broken_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    source, folder = tmp_path / "sound", tmp_path / "broken"
    source.mkdir()
    folder.mkdir()
    if kind == "bin":
        (source / "book.bin").write_bytes(STARTER.read_bytes()[: 16 * 4000])
    elif kind == "pgn":
        (source / "games.pgn").write_text(PGN * 3, encoding="utf-8")
    elif kind.startswith("cbh"):
        name = "WithVariations" if "variations" in kind else "linares"
        for file in samples().glob(f"cbh/{name}/{name}.cb*"):
            (source / file.name).write_bytes(file.read_bytes())
    else:
        small = tmp_path / "small.bin"
        tabiya_says("trim", STARTER, "-o", small, "--max-ply", "8")
        if kind == "parquet":
            games = tmp_path / "games.pgn"
            games.write_text(PGN * 3, encoding="utf-8")
            tabiya_says("build", games, "-o", source / "book.parquet")
        else:
            tabiya_says("convert", small, "-o", source / f"book.{kind}")
    done = python_does(BROKEN, source, folder, COUNT, kind.split()[0])
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith(f"{COUNT} ") and "'read'" in done.stdout, done.stdout
    assert "panicked" not in done.stderr, done.stderr


THREADS = """\
import sys, threading
import chess, tabiya
path, games = sys.argv[1:]
reader, policy = tabiya.open_reader(path), tabiya.Policy(path)
expected = [entry.uci for entry in reader.find_all(chess.Board())]
everything = len(list(reader))
wrong = []

def ask():
    try:
        for _ in range(300):
            assert [entry.uci for entry in reader.find_all(chess.Board())] == expected
            assert policy.choose(chess.Board()).uci in expected
        assert len(list(reader)) == everything
        assert sum(len(line) for line in tabiya.open_games(games, moves_only=True)) > 0
        tabiya.check(path)
    except BaseException as error:
        wrong.append(repr(error))

shared = iter(reader)
taken = []

def share():
    while True:
        try:
            entry = next(shared, None)
        except RuntimeError:
            continue
        if entry is None:
            return
        taken.append(entry)

threads = [threading.Thread(target=work) for work in (ask, share) * 6]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong
assert len(taken) == everything, (len(taken), everything)
print("done")
"""


def test_threads_share_books(books: dict[str, Path], pgn: Path) -> None:
    for path in books.values():
        done = python_does(THREADS, path, pgn)
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


FORKS = """\
import os, sys
import chess, tabiya
path, games, output = sys.argv[1:]
reader, policy = tabiya.open_reader(path), tabiya.Policy(path, seed=1)
expected = [entry.uci for entry in reader.find_all(chess.Board())]
begun = iter(reader)
next(begun)
lines = tabiya.open_games(games, moves_only=True)
next(lines)
tabiya.build(games, output + ".before.bin", min_games=1)
children = []
for number in range(4):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert [entry.uci for entry in reader.find_all(chess.Board())] == expected
            assert policy.choose(chess.Board()).uci in expected
            assert len(list(reader)) == len(reader)
            for half in (begun, lines):
                if half is begun and reader.format == "polyglot":
                    continue
                try:
                    next(half)
                    raise SystemExit("an iterator of another process went on")
                except RuntimeError as error:
                    assert "process" in str(error)
            tabiya.build(games, f"{output}.{number}.bin", min_games=1)
            assert sum(1 for _ in tabiya.open_games(games)) > 1
            tabiya.check(path)
            code = 0
        finally:
            os._exit(code)
    children.append(child)
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
list(begun), list(lines)
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
@pytest.mark.parametrize("kind", ["bin", "ctg", "parquet"])
def test_forks_go_on_with_books(kind: str, books: dict[str, Path], pgn: Path, tmp_path: Path) -> None:
    done = python_does(FORKS, books[kind], pgn, tmp_path / "out")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


MULTIPROCESSING = """\
import multiprocessing, sys
import chess, tabiya

def ask(path):
    with tabiya.open_reader(path) as reader:
        return sorted(entry.uci for entry in reader.find_all(chess.Board()))

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        answers = pool.map(ask, sys.argv[1:] * 4)
    assert answers[0] and all(answer == answers[0] for answer in answers)
    print("done")
"""


def test_processes_of_a_pool_open_their_own(tmp_path: Path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(MULTIPROCESSING)
    done = python_does("import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')", script, STARTER)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


GONE = """\
import gc, sys
import tabiya
for _ in range(200):
    entries = iter(tabiya.open_reader(sys.argv[1]))
    next(entries)
    del entries
gc.collect()
print(len(list(tabiya.open_reader(sys.argv[1]))))
iter_at_end = iter(tabiya.open_reader(sys.argv[1]))
next(iter_at_end)
"""


def test_iterators_that_are_given_up_end_their_threads(books: dict[str, Path]) -> None:
    done = python_does(GONE, books["ctg"])
    assert (done.returncode, int(done.stdout) >= 9) == (0, True), done.stderr
