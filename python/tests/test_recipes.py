"""The examples of the README and the guide run, and bots play from books of every format after one changed import."""

from __future__ import annotations

import functools
import random
import re
import runpy
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional

import chess
import chess.polyglot
import pytest

import tabiya

from conftest import HANG, PGN, ROOT, samples

PAGES = ["README.md", "python/README.md", "docs/guide/python.md", "docs/guide/bots.md"]


def examples() -> list[Any]:
    found = []
    for page in PAGES:
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        assert blocks, page
        found += [pytest.param(block, id=f"{page} {number}") for number, block in enumerate(blocks, 1)]
    return found


@pytest.fixture
def folder(tmp_path: Path, books: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples name."""
    assert books["ctg"] == tmp_path / "book.ctg" and books["bin"] == tmp_path / "book.bin"
    (tmp_path / "games.pgn").write_text(PGN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("code", examples())
def test_an_example_runs_and_prints(
    code: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "import pandas" in code:
        pytest.importorskip("pandas")
    for name in ["open_reader", "MemoryMappedReader"]:
        monkeypatch.setattr(chess.polyglot, name, getattr(chess.polyglot, name))
    if "database.cbh" in code:
        for part in samples().glob("cbh/linares/linares.cb*"):
            shutil.copy(part, folder / f"database{part.suffix}")
    script = folder / "example.py"
    script.write_text(code, encoding="utf-8")
    runpy.run_path(str(script))
    assert "print" not in code or capsys.readouterr().out.strip()


def test_the_lines_for_other_programs_have_sound_types(tmp_path: Path) -> None:
    patches = [block.values[0] for block in examples() if "chess.polyglot" in block.values[0]]
    assert len(patches) == 2
    for number, code in enumerate(patches):
        (tmp_path / f"patch{number}.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", *tmp_path.glob("patch*.py")],
        capture_output=True, encoding="utf-8", timeout=HANG,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# After the calls of lichess-bot's get_book_move, which makes a number with a fraction of the least weight.
def lichess_bot_move(
    board: chess.Board, book: Path, selection: str, least: float, normalization: str
) -> Optional[chess.Move]:
    with chess.polyglot.open_reader(book) as reader:
        try:
            weights = [entry.weight for entry in reader.find_all(board)]
            whole = {"sum": sum, "max": max}[normalization](weights) if normalization != "none" and weights else 100
            minimum: Any = least * whole / 100
            if selection == "weighted_random":
                return reader.weighted_choice(board).move
            if selection == "uniform_random":
                return reader.choice(board, minimum_weight=minimum).move
            return reader.find(board, minimum_weight=minimum).move
        except IndexError:
            return None


# After the calls of BotLi's book moves, which keeps its readers, orders the entries, and names the share of the move.
class BotLi:
    def __init__(self, books: list[Path]) -> None:
        self.readers: list[chess.polyglot.MemoryMappedReader] = [chess.polyglot.open_reader(book) for book in books]

    def move(self, board: chess.Board, selection: str) -> Optional[tuple[chess.Move, float, int]]:
        for reader in self.readers:
            try:
                entries = list(reader.find_all(board))
            except struct.error:
                continue
            if not entries:
                continue
            if selection == "weighted_random":
                entries.sort(key=lambda entry: random.random() ** (1.0 / entry.weight), reverse=True)
            elif selection == "uniform_random":
                random.shuffle(entries)
            else:
                entries.sort(key=lambda entry: entry.weight, reverse=True)
            entry = entries[0]
            return entry.move, entry.weight / sum(entry.weight for entry in entries) * 100.0, entry.learn
        return None

    def end(self) -> None:
        for reader in self.readers:
            reader.close()


@pytest.mark.parametrize("selection", ["weighted_random", "uniform_random", "best_move"])
@pytest.mark.parametrize("end", ["bin", "ctg", "abk", "kob", "parquet"])
def test_bots_play_from_a_book_of_every_format(
    end: str, selection: str, books: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    book = books[end]
    monkeypatch.setattr(chess.polyglot, "open_reader", functools.partial(tabiya.open_reader, tournament=True))
    for least, normalization in [(1, "none"), (0, "none"), (1, "sum"), (30, "sum"), (100, "max"), (0.5, "max")]:
        board = chess.Board()
        while (move := lichess_bot_move(board, book, selection, least, normalization)) is not None:
            assert board.is_legal(move)
            board.push(move)
        # After 1. e4 c5 only a lost game goes on, whose moves weigh nothing in some formats.
        assert 2 <= board.ply() <= 4, (least, normalization)
    # No move weighs more than all of them.
    assert (lichess_bot_move(chess.Board(), book, selection, 101, "sum") is None) == (selection != "weighted_random")
    bot, board = BotLi([book]), chess.Board()
    while (found := bot.move(board, selection)) is not None:
        move, share, learn = found
        assert board.is_legal(move) and 0 < share <= 100 and learn == 0
        board.push(move)
    assert 2 <= board.ply() <= 4
    bot.end()
