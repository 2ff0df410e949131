"""What commands print on a terminal: no more than fits its screen."""

import contextlib
import os
import struct
import sys

import pytest

from polyglot_writer import Book

if sys.platform == "win32":
    pytest.skip("pseudo-terminals", allow_module_level=True)

import fcntl
import pty
import subprocess
import termios

LINES, COLUMNS = 20, 60


@pytest.fixture
def typed(tabiya_exe, tmp_path):
    """Runs a command with standard output on a terminal, and returns what is seen there."""

    def run(*args, pager=None):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        env = {name: value for name, value in os.environ.items() if name not in ("PAGER", "LESS", "COLUMNS", "LINES")}
        env |= {"TERM": "xterm"} | ({"PAGER": pager} if pager is not None else {})
        line = [str(word) for word in (tabiya_exe, *args)]
        with subprocess.Popen(line, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL, env=env) as process:
            os.close(theirs)
            seen = b""
            # The system says that the other end is closed by an error.
            with contextlib.suppress(OSError):
                while part := os.read(ours, 4096):
                    seen += part
        os.close(ours)
        assert process.returncode == 0, seen
        return seen.decode().replace("\r\n", "\n")

    return run


def test_a_tree_goes_through_the_pager_that_is_named(typed, tabiya, small_book, tmp_path):
    plain = tabiya("tree", small_book, cwd=tmp_path).stdout.decode()
    assert plain.count("\n") >= 2
    mark = "s/^/paged: /"
    assert typed("tree", small_book, pager=f"sed '{mark}'").count("paged: ") == plain.count("\n")
    # A program without arguments is started without a shell; one that reads nothing is no error.
    assert typed("tree", small_book, pager="true") == ""
    for none in ("", "cat", "no-such-pager"):
        assert typed("tree", small_book, pager=none).count("\n") == plain.count("\n")


def test_the_worst_moves_of_vet_fit_the_screen(typed, tabiya, stockfish, tmp_path):
    book, line = Book(), ""
    for move in "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6 c2c3 e8g8 h2h3 c6a5".split():
        book.at(line, **{move: 100})
        line = f"{line} {move}".strip()
    # Blunders, so that there are many worst moves.
    for moves, blunder in (("", "g2g4"), ("", "f2f3"), ("", "h2h4"), ("e2e4", "f7f6"), ("e2e4", "g7g5"), ("e2e4", "a7a5"), ("e2e4 e7e5", "e1e2"), ("e2e4 e7e5", "g2g4"), (line, "f3e5"), (line, "e1e3")):
        book.at(moves, **{blunder: 50})
    book.write(tmp_path / "book.bin")
    words = ("vet", "book.bin", "-o", "vetted.bin", "--force", "--engine", stockfish, "--nodes", "2000")
    plain = tabiya(*words, cwd=tmp_path).stdout.decode()
    seen = typed(*words)
    assert max(map(len, plain.splitlines())) > COLUMNS
    table = seen.partition("the worst moves")[2].partition("where play leaves")[0].splitlines()[1:]
    assert len(seen.splitlines()) <= LINES and len(table) > 3 and max(map(len, table)) <= COLUMNS, seen
    assert "--report FILE.json has all" in seen and "--report" not in plain
