"""Games of other kinds of chess between two adapters under Cute Chess: no book move, nothing learned, no illegal move.

It needs `cutechess-cli`, in the folder TABIYA_TOOLS or on the PATH, and `fairy-stockfish`. TABIYA_VARIANT_GAMES (2) says how
many games are played of each kind.
"""

import os
import re
import subprocess

import pytest

from client import HANG, find_tool, times
from polyglot_writer import Book

GAMES = int(os.environ.get("TABIYA_VARIANT_GAMES", "2"))

# The kinds of chess of the books.
CHESS = ("standard", "fischerandom")

# What Cute Chess reports of a side that breaks off or breaks the rules.
FAILURES = ("illegal move", "disconnects", "stalls", "abandoned", "terminated")

CUTECHESS = find_tool("cutechess-cli")
FAIRY = os.environ.get("FAIRY_STOCKFISH") or find_tool("fairy-stockfish", "/usr/games")


def output_of(*line, **more):
    """What a program prints; nothing if it cannot be run."""
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=HANG, check=False, **more)
    except OSError:
        return ""
    return done.stdout


def variants():
    """The kinds of chess that both know."""
    if not CUTECHESS or not FAIRY:
        return []
    known = re.findall(r"^\s+'(\S+)'\s*:", output_of(CUTECHESS, "-help"), re.MULTILINE)
    lines = output_of(FAIRY, input="uci\nquit\n").splitlines()
    played = next((line.split() for line in lines if line.startswith("option name UCI_Variant ")), [])
    return [name for name in known if name in played and name not in CHESS]


KINDS = variants()


def why_skipped():
    if not CUTECHESS:
        return "there is no cutechess-cli, neither in the folder that TABIYA_TOOLS names nor on PATH"
    if not FAIRY:
        return "no fairy-stockfish on the PATH"
    return "cutechess-cli and fairy-stockfish know no kind of chess in common: does cutechess-cli run?"


@pytest.fixture
def played(tabiya_exe, tmp_path):
    """Plays games of a kind of chess between two adapters; returns what Cute Chess says, and the log of each adapter."""

    def play(variant, book, engine=FAIRY):
        line = [CUTECHESS, "-variant", variant, "-games", str(GAMES), "-maxmoves", "100"]
        logs = []
        for name in ("first", "second"):
            logs.append(tmp_path / f"{name}.log")
            words = ["--engine", engine, "--book", book, "--log", logs[-1], "--log-level", "debug"]
            words += ["--set", "Book Learn=true", "--set", "Book Guard=20", "--set", "Book Max Loss=50"]
            line += ["-engine", f"name={name}", f"cmd={tabiya_exe}", f"dir={tmp_path}"]
            line += [f"arg={word}" for word in words]
        line += ["-each", "proto=uci", "tc=inf", "depth=2"]
        done = subprocess.run(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG, check=False, cwd=tmp_path
        )
        ended = [text for text in done.stdout.splitlines() if text.startswith("Finished game")]
        assert len(ended) == GAMES, done.stdout
        return ended, [log.read_text() for log in logs]

    return play


@pytest.fixture
def book(tmp_path):
    return Book().line("e2e4 e7e5 g1f3 b8c6", weight=10).line("d2d4 d7d5", weight=5).write(tmp_path / "book.bin")


@pytest.mark.skipif(not KINDS, reason=why_skipped())
@pytest.mark.parametrize("variant", KINDS[:: times(8, 1)])
def test_books_keep_out_of_other_kinds_of_chess(played, book, variant):
    before = book.read_bytes()
    ended, logs = played(variant, book)
    assert not [text for text in ended if any(failure in text for failure in FAILURES)]
    for log in logs:
        assert log.count(": no book is named for it") == 1
        assert "book move" not in log and "is learned" not in log
    assert book.read_bytes() == before and not book.with_name("book.bin.learn").exists()


@pytest.mark.skipif(not KINDS, reason=why_skipped())
@pytest.mark.parametrize("variant", CHESS)
def test_books_answer_in_their_own_kinds_of_chess(played, book, stockfish, variant):
    # Fairy-Stockfish does not castle as Cute Chess expects in Chess960.
    ended, logs = played(variant, book, stockfish)
    assert not [text for text in ended if any(failure in text for failure in FAILURES)]
    assert all("books answer and learn" not in log for log in logs)
    assert variant != "standard" or all("book move" in log for log in logs)
