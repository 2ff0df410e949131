"""What commands say after Ctrl-C: what was written by then, where they know it."""

import signal
import subprocess

from cbh_database import repeat
from client import HANG
from conftest import not_windows

INTERRUPTED = 130

pytestmark = not_windows


def start(exe, folder, *words):
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    return subprocess.Popen([str(word) for word in (exe, *words)], cwd=folder, **pipes)


def after_all_was_taken(process, text):
    """Interrupts a program that has taken more from its standard input than a pipe holds, and waits for the rest."""
    process.stdin.write(text)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    process.wait(HANG)
    errors = process.stderr.read()
    process.stdin.close()
    assert process.returncode == INTERRUPTED, errors
    return errors


def test_an_import_says_that_nothing_was_written(tabiya_exe, tmp_path):
    line = b'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 ce 20; acd 20; pv e2e4;\n'
    process = start(tabiya_exe, tmp_path, "import", "some.evals", "-")
    errors = after_all_was_taken(process, line * (1 << 16))
    assert b"interrupted: nothing was written" in errors, errors
    assert list(tmp_path.iterdir()) == []


def test_a_build_says_that_nothing_was_written(tabiya_exe, tmp_path):
    process = start(tabiya_exe, tmp_path, "build", "-", "-o", "book.bin", "--threads", "1")
    errors = after_all_was_taken(process, b'[Event "x"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n' * (1 << 18))
    assert b"interrupted: nothing was written" in errors, errors
    assert list(tmp_path.iterdir()) == []


def test_an_export_says_that_not_all_games_are_written(tabiya_exe, tmp_path, sample):
    base = sample("cbh") / "WithVariations" / "WithVariations.cbh"
    games = repeat(base, tmp_path / "many.cbh", 2000)
    process = start(tabiya_exe, tmp_path, "export", "many.cbh")
    first = process.stdout.read(1)
    # The pipe is full now or soon, and the rest does not fit into it.
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=HANG)
    assert process.returncode == INTERRUPTED, errors
    assert first == b"[" and b"interrupted: not all games are written" in errors and b"nothing was written" not in errors
    assert 0 < rest.count(b"[Event ") < games

