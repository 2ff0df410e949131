"""Where what a command prints cannot be written, or nobody reads it, its work is done to the end, and what was written is said."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from client import HANG, eventually
from conftest import linux_only, not_windows
from polyglot_writer import Book

DONE, FILE, INTERRUPTED = 0, 3, 130

GAME = '[Event "{0}"]\n[White "a{0}"]\n[Black "b"]\n[Result "1-0"]\n\n{1} 1-0\n\n'
LINES = ["1. e4 e5 2. Nf3", "1. d4 d5 2. c4", "1. e4 c5 2. Nf3", "1. d4 Nf6 2. c4"]
GAMES = "".join(GAME.format(number, LINES[number % 4]) for number in range(600))

# Commands that change a file and then say so: that file, and the words. Each is run in a folder of its own.
COMMANDS = {
    "build": ("made.bin", "build games.pgn -o made.bin --min-games 1"),
    "count": ("made.parquet", "build games.pgn -o made.parquet"),
    "convert": ("made.ctg", "convert book.bin -o made.ctg"),
    "merge": ("made.bin", "merge book.bin book.bin -o made.bin"),
    "trim": ("made.bin", "trim book.bin -o made.bin --top 1"),
    "edit": ("book.bin", "edit book.bin --set e4=7"),
    "undo": ("book.bin", "edit book.bin --undo"),
    "games": ("book.bin", "learn games book.bin games.pgn --both"),
    "list": ("book.bin", "learn games book.bin games.pgn --both --list"),
    "export": ("made.epd", "export book.bin.evals -o made.epd"),
    "import": ("made.evals", "import made.evals some.epd"),
    "suite": ("made.epd", "suite games.pgn -o made.epd --ply 2 --count 2 --seed 1"),
    "report": ("made.pgn", "report games.pgn --book book.bin --pgn made.pgn"),
    "report as JSON": ("made.pgn", "report games.pgn --book book.bin --pgn made.pgn --json"),
    "gaps": ("made.pgn", "gaps book.bin --against games.pgn --pgn made.pgn"),
    "vet": ("made.bin", "vet book.bin -o made.bin --no-engine"),
    "grow": ("made.bin", "grow book.bin -o made.bin --no-engine --store book.bin.evals"),
}


@pytest.fixture(scope="module")
def inputs(tabiya_exe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "games.pgn").write_text(GAMES)
    book = Book().line("e2e4 e7e5 g1f3", weight=10).line("d2d4 d7d5 c2c4", weight=5).line("e2e4 c7c5 g1f3", weight=5)
    book.write(folder / "book.bin")
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ce 20; acd 20; pv e2e4;\n"
    (folder / "some.epd").write_text(start)
    for words in ("edit book.bin --set d4=9", "import book.bin.evals some.epd"):
        subprocess.run([tabiya_exe, *words.split()], cwd=folder, check=True, capture_output=True, timeout=HANG)
    return folder


def run(exe, inputs, folder, words, **more):
    """Runs a command in a copy of the inputs; returns how it ended, what it said, and the file that it has changed."""
    shutil.copytree(inputs, folder)
    name, line = COMMANDS[words]
    more = {"stdout": subprocess.PIPE} | more
    done = subprocess.run(
        [str(exe), *line.split()], cwd=folder, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=HANG, check=False, **more
    )
    path = folder / name
    return done, path.read_bytes() if path.exists() else None


@not_windows
@pytest.mark.parametrize("words", COMMANDS)
def test_work_is_done_and_said_whatever_becomes_of_standard_output(tabiya_exe, inputs, tmp_path, words):
    good, expected = run(tabiya_exe, inputs, tmp_path / "good", words)
    assert good.stdout and expected, good
    changed = expected != ((inputs / COMMANDS[words][0]).read_bytes() if (inputs / COMMANDS[words][0]).exists() else None)
    assert changed, "the command changes the file"
    # Nobody reads: that is no error.
    reader, writer = os.pipe()
    os.close(reader)
    done, written = run(tabiya_exe, inputs, tmp_path / "closed", words, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (good.returncode, good.stderr)
    assert written == expected
    if sys.platform == "linux":
        with open("/dev/full", "wb") as full:
            done, written = run(tabiya_exe, inputs, tmp_path / "full", words, stdout=full)
        assert done.returncode == FILE and b"the work is done, but not reported" in done.stderr, done.stderr
        assert written == expected


@linux_only
def test_a_file_that_was_written_before_an_error_is_named(tabiya_exe, inputs, tmp_path):
    """The disk is full for the second file, as a limit on the size of files makes it."""
    shutil.copytree(inputs, tmp_path / "in")
    evals = " ".join(f"{move} {{[%eval 0.{ply}]}}" for ply, move in enumerate("e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6".split()))
    (tmp_path / "in" / "evals.pgn").write_text(GAME.format(1, evals))
    line = [tabiya_exe, *"build games.pgn evals.pgn -o made.bin --min-games 1 --store made.evals".split()]
    more = {"cwd": tmp_path / "in", "capture_output": True, "timeout": HANG, "check": False}
    assert subprocess.run(line, **more).returncode == DONE
    book, store = (tmp_path / "in" / name for name in ("made.bin", "made.evals"))
    size = book.stat().st_size
    assert size < store.stat().st_size, "a limit stops the second file alone"
    book.unlink()
    store.unlink()
    limited = subprocess.run(line, preexec_fn=lambda: limit(size), **more)
    assert limited.returncode == FILE and b"made.bin: written before the error" in limited.stderr, limited.stderr
    assert book.exists() and not store.exists()


def limit(size):
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@linux_only
@pytest.mark.parametrize("line", ["learn games book.bin games.pgn --both", "edit book.bin --set e4=7", "edit book.bin --undo"])
def test_a_command_that_waits_for_a_lock_can_be_interrupted(tabiya_exe, inputs, tmp_path, line):
    import fcntl

    shutil.copytree(inputs, tmp_path / "in")
    before = (tmp_path / "in" / "book.bin").read_bytes()
    with (tmp_path / "in" / "book.bin.learn").open("a+b") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen([tabiya_exe, *line.split()], cwd=tmp_path / "in", **more)
        eventually("the command waits", lambda: any(link.name == "book.bin.learn" for link in opened(process.pid)))
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=HANG)
    assert process.returncode == INTERRUPTED and b"interrupted: " in errors, errors
    assert b"nothing was written" in errors or b"0 learned into 0 entries" in out and b"the others are not" in errors
    assert (tmp_path / "in" / "book.bin").read_bytes() == before
    assert not [path for path in (tmp_path / "in").iterdir() if path.suffix == ".part"]


def opened(pid):
    """The files that a process has open."""
    files = []
    for number in Path(f"/proc/{pid}/fd").iterdir():
        try:
            files.append(number.readlink())
        except FileNotFoundError:
            pass
    return files
