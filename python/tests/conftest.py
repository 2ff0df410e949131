"""What the tests of the Python package share. scripts/try-wheel sets the variables."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import chess
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

STARTER = ROOT / "crates/book/books/starter.bin"

# Seconds after which a program counts as hanging.
HANG = 600


def samples() -> Path:
    """The folder of sample books and databases; without it the test is skipped."""
    named = os.environ.get("TABIYA_SAMPLES")
    if not named:
        pytest.skip("TABIYA_SAMPLES is unset: it names the folder of samples")
    return Path(named)


def executable() -> str:
    """The executable that the wheel put beside Python."""
    beside = shutil.which("tabiya", path=str(Path(sys.executable).parent))
    found = os.environ.get("TABIYA_EXE") or beside
    assert found, "there is no tabiya beside Python: install the wheel"
    return found


def tabiya_says(*arguments: object) -> str:
    """What the executable prints."""
    words = [executable(), *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=HANG)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def python_does(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs code in a Python of its own, which may crash."""
    words = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, encoding="utf-8", timeout=HANG)


def many_games(path: Path, count: int) -> Path:
    """A file of so many games, in which nothing repeats."""
    rng = random.Random(3)
    games = []
    for number in range(50):
        board = chess.Board()
        moves: list[str] = []
        while len(moves) < 80 and not board.is_game_over():
            move = rng.choice(list(board.legal_moves))
            moves.append(board.san(move))
            board.push(move)
        games.append(" ".join(moves))
    with path.open("w") as file:
        for number in range(count):
            file.write(f'[White "P{number}"]\n[Result "1-0"]\n\n{games[number % 50]} 1-0\n\n')
    return path


PGN = """\
[Event "A \\"B\\""]
[Site "?"]
[Date "2021.03.14"]
[Round "1"]
[White "H\u00fcbner"]
[Black "Bird"]
[Result "1-0"]
[WhiteElo "2600"]
[Annotator "me"]

{Before} 1. e4 {first} e5 (1... c5 $1 {Sicilian} 2. Nf3 (2. c3 {Alapin}) 2... d6) ({or} 1... c6) (1... -- {threat} 2. d4 d5) 2. Nf3! Nc6 $14 3. Bb5 1-0

[Event "Set up"]
[White "A"]
[Black "B"]
[Result "0-1"]
[SetUp "1"]
[FEN "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 17"]

17... O-O 18. O-O-O Kg7 0-1

[Event "Chess960"]
[White "A"]
[Black "B"]
[Result "1/2-1/2"]
[Variant "Chess960"]
[SetUp "1"]
[FEN "r3k1r1/pppppppp/8/8/8/8/PPPPPPPP/R3K1R1 w GAga - 0 1"]

1. O-O O-O 1/2-1/2

[Event "Bad"]
[White "A"]
[Black "B"]
[Result "*"]

1. d4 d5 2. Ke5 *
"""


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    """A file of four games."""
    path = tmp_path / "games.pgn"
    path.write_text(PGN, encoding="utf-8")
    return path


@pytest.fixture
def books(tmp_path: Path) -> dict[str, Path]:
    """The same lines in a book of each format."""
    games = tmp_path / "lines.pgn"
    lines = ["e4 e5 Nf3", "e4 e5 Nf3", "e4 c5 Nf3 d6", "d4 d5 c4 e6", "d4 Nf6 c4 g6"]
    results = ["1-0", "1/2-1/2", "0-1", "1-0", "1/2-1/2"]
    games.write_text("".join(f'[Result "{result}"]\n\n{line} {result}\n\n' for line, result in zip(lines, results)))
    import tabiya

    made = {}
    for end in ["bin", "ctg", "abk", "kob", "epd", "fen"]:
        made[end] = tmp_path / f"book.{end}"
        tabiya.build(games, made[end], min_games=1)
    made["parquet"] = tmp_path / "book.parquet"
    tabiya_says("build", games, "-o", made["parquet"])
    return made
