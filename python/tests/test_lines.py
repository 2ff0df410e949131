"""Lines that go into a book and leave it."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Callable

import chess
import chess.pgn
import pytest

import tabiya

from conftest import STARTER, tabiya_says

STUDY = "1. e4 {best} c5 (1... c6 2. d4 d5 (2... g6) 3. e5) 2. c3 d5 $1 3. exd5 Qxd5 4. Na3 *"


def moves(book: Path, line: str) -> dict[str, int]:
    board = chess.Board()
    for san in line.split():
        board.push_san(san)
    with tabiya.open_reader(book) as reader:
        return {entry.uci: entry.weight for entry in reader.find_all(board, minimum_weight=0)}


@pytest.mark.parametrize("name", ["book.bin", "book.ctg", "book.abk", "book.kob"])
def test_a_line_changes_what_the_command_changes(name: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours" / name, tmp_path / "theirs" / name
    ours.parent.mkdir()
    tabiya.convert(STARTER, ours)
    shutil.copytree(ours.parent, theirs.parent)

    def files(book: Path) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in book.parent.iterdir() if file.suffix != ".learn"}

    before = files(ours)
    game = chess.pgn.read_game(io.StringIO(STUDY))
    planned = tabiya.add_line(ours, str(game), dry_run=True)
    assert files(ours) == before and planned.added > 0
    done = tabiya.add_line(ours, str(game))
    assert done == planned == (done.added, 0, 0)
    tabiya_says("edit", theirs, "--add-line", STUDY)
    assert files(ours) == files(theirs)
    assert "a1b1" not in moves(ours, "e4 c5 c3") and "b1a3" in moves(ours, "e4 c5 c3 d5 exd5 Qxd5")
    assert tabiya.add_line(ours, STUDY) == (0, 0, 0)
    gone = tabiya.delete_line(ours, "e4 c6 d4")
    tabiya_says("edit", theirs, "--delete-line", "1. e4 c6 2. d4")
    assert gone.deleted >= 4 and files(ours) == files(theirs)
    weight = "green,!" if name == "book.ctg" else 9
    tabiya.add_line(ours, "e4 c5 c3 d5", side="white", weight=weight)
    tabiya_says("edit", theirs, "--add-line", f"e4 c5 c3 d5={weight}", "--side", "white")
    assert files(ours) == files(theirs)


def test_a_line_begins_where_it_is_said_to(tmp_path: Path) -> None:
    book = tmp_path / "book.bin"
    shutil.copy(STARTER, book)
    board = chess.Board("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1")
    assert tabiya.add_line(book, "Kd2 Kd4", fen=board.fen(), weight=5) == (2, 0, 0)
    with tabiya.open_reader(book) as reader:
        assert [(entry.uci, entry.weight) for entry in reader.find_all(board)] == [("e1d2", 5)]
    assert tabiya.delete_line(book, "Kd2", fen=board.fen()) == tabiya.LineReport(0, 0, 2)
    tabiya_says("edit", book, "--undo")
    with tabiya.open_reader(book) as reader:
        assert reader.get(board) is not None


def test_what_is_wrong_changes_nothing(tmp_path: Path) -> None:
    book = tmp_path / "book.bin"
    shutil.copy(STARTER, book)
    before = book.read_bytes()
    wrongs: list[tuple[Callable[[], object], type[Exception]]] = [
        (lambda: tabiya.add_line(book, "1. e4 e9"), tabiya.UsageError),
        (lambda: tabiya.add_line(book, "1. e4", weight=70000), tabiya.UsageError),
        (lambda: tabiya.add_line(book, "1. e4", weight="blue"), ValueError),
        (lambda: tabiya.add_line(book, "1. e4", side="both"), ValueError),
        (lambda: tabiya.add_line(book, "1. e4", fen="e4"), ValueError),
        (lambda: tabiya.add_line(tmp_path / "none.bin", "1. e4"), tabiya.NotFoundError),
        (lambda: tabiya.delete_line(book, "1. h4 h5 2. Rh3"), tabiya.UsageError),
        (lambda: tabiya.delete_line(book, "1. e4 (1. d4) *"), tabiya.UsageError),
    ]
    for wrong, error in wrongs:
        with pytest.raises(error):
            wrong()
        assert book.read_bytes() == before
    with tabiya.Cancel() as cancel:
        cancel.set()
        with pytest.raises(tabiya.CancelledError):
            tabiya.add_line(book, "1. e4", cancel=cancel)
