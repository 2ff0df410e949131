"""python-chess's own tests of Polyglot books, with our reader in place of theirs; and both beside each other."""

from __future__ import annotations

import importlib.util
import os
import random
import unittest
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import chess
import chess.polyglot
import pytest

import tabiya

from conftest import STARTER


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Path:
    """python-chess's source distribution, as scripts/try-wheel unpacks it."""
    named = os.environ.get("TABIYA_CHESS_SOURCE")
    if not named:
        pytest.skip("TABIYA_CHESS_SOURCE is not set: it names the unpacked source distribution of python-chess")
    monkeypatch.chdir(named)
    return Path(named)


def test_python_chess_s_own_tests_pass(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chess.polyglot, "open_reader", tabiya.open_reader)
    spec = importlib.util.spec_from_file_location("chess_test", source / "test.py")
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(module.PolyglotTestCase)
    result = unittest.TestResult()
    suite.run(result)
    assert result.testsRun >= 12 and not result.skipped
    assert result.wasSuccessful(), [text for _, text in result.failures + result.errors]


def positions(path: Path, count: int) -> list[chess.Board]:
    """Positions of games that the book's moves lead through, and one move beyond."""
    rng = random.Random(7)
    boards: list[chess.Board] = []
    with chess.polyglot.open_reader(path) as reader:
        while len(boards) < count:
            board = chess.Board()
            while True:
                boards.append(board.copy(stack=False))
                entries = list(reader.find_all(board, minimum_weight=0))
                if not entries:
                    break
                board.push(rng.choice(entries).move)
    return boards


def fields(entry: Any) -> tuple[Any, ...]:
    return entry.key, entry.raw_move, entry.weight, entry.learn, entry.move


def test_every_call_answers_as_python_chess_does() -> None:
    boards = positions(STARTER, 2000)
    with chess.polyglot.open_reader(STARTER) as theirs, tabiya.open_reader(STARTER) as ours:
        assert len(ours) == len(theirs)
        assert [fields(entry) for entry in ours] == [fields(entry) for entry in theirs]
        assert fields(ours[-1]) == fields(theirs[-1])
        for number in (len(ours), -len(ours) - 1):
            with pytest.raises(IndexError):
                ours[number]
        found = 0
        for board in boards:
            key = chess.polyglot.zobrist_hash(board)
            for minimum in (0, 1, 100):
                expected = [fields(entry) for entry in theirs.find_all(board, minimum_weight=minimum)]
                assert [fields(entry) for entry in ours.find_all(board, minimum_weight=minimum)] == expected
                assert [fields(entry) for entry in ours.find_all(board.fen(), minimum_weight=minimum)] == expected
                by_key = [fields(entry) for entry in theirs.find_all(key, minimum_weight=minimum)]
                assert [fields(entry) for entry in ours.find_all(key, minimum_weight=minimum)] == by_key
                found += len(expected)
            if not expected:
                continue
            excluded = [expected[0][-1]]
            assert list(map(fields, ours.find_all(board, exclude_moves=excluded))) == list(
                map(fields, theirs.find_all(board, exclude_moves=excluded))
            )
            for method in ("choice", "weighted_choice"):
                seeded = [random.Random(key % 1000), random.Random(key % 1000)]
                drawn = [getattr(reader, method)(board, random=rng) for reader, rng in zip((ours, theirs), seeded)]
                assert fields(drawn[0]) == fields(drawn[1])
            assert fields(ours.find(board)) == fields(theirs.find(board))
        assert found > 5000


class Indexed:
    """A number that is no ``int``, as those of NumPy."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


@pytest.mark.parametrize("end", ["bin", "ctg", "abk", "kob", "parquet"])
def test_a_least_weight_is_any_number(end: str, books: dict[str, Path]) -> None:
    board = chess.Board()
    with tabiya.open_reader(books[end]) as reader:
        weights = [entry.weight for entry in reader.find_all(board, minimum_weight=0)]
        numbers: list[Any] = [0.0, -1.5, 0.5, 1.0, True, -(10**60), 10**60, float("inf"), float("-inf"), float("nan")]
        for weight in weights:
            numbers += [weight, float(weight), weight + 0.5, Fraction(2 * weight - 1, 2), Decimal(weight)]
        for number in numbers:
            expected = [weight for weight in weights if not weight < number]
            assert [entry.weight for entry in reader.find_all(board, minimum_weight=number)] == expected, number
            best = reader.get(board, minimum_weight=number)
            assert (best.weight if best else 0) == max(expected, default=0)
            if not expected:
                for method in (reader.find, reader.choice):
                    with pytest.raises(IndexError):
                        method(board, minimum_weight=number)
                continue
            assert reader.find(board, minimum_weight=number).weight == max(expected)
            assert reader.choice(board, minimum_weight=number).weight in expected
        for wrong in ("1", None, [1]):
            with pytest.raises(TypeError):
                list(reader.find_all(board, minimum_weight=wrong))


def test_keys_and_numbers_of_entries_are_any_number() -> None:
    with chess.polyglot.open_reader(STARTER) as theirs, tabiya.open_reader(STARTER) as ours:
        first = ours[0]
        keys: list[Any] = [Indexed(first.key), -1, 1 << 64, 10**30, 1.0]
        for key in keys:
            # python-chess takes whatever ``int`` takes.
            whole = key.number if isinstance(key, Indexed) else int(key)
            expected = [fields(entry) for entry in theirs.find_all(whole)]
            assert [fields(entry) for entry in ours.find_all(key)] == expected, key
        assert fields(ours[Indexed(3)]) == fields(theirs[3])  # type: ignore[index]
        for number in (1 << 70, -(1 << 70)):
            with pytest.raises(IndexError):
                ours[number]


def test_an_entry_is_that_of_python_chess_and_more() -> None:
    with chess.polyglot.open_reader(STARTER) as theirs, tabiya.open_reader(STARTER) as ours:
        expected, entry = theirs.find(chess.Board()), ours.find(chess.Board())
        assert entry == tuple(expected) and hash(entry) == hash(tuple(expected))
        assert entry == ours.find(chess.STARTING_FEN) and entry != ours[0]
        assert entry._fields == expected._fields and entry._asdict() == expected._asdict()
        key, raw_move, weight, learn, move = entry
        assert (key, raw_move, weight, learn, move) == tuple(expected) and len(entry) == 5
        assert (entry[0], entry[-1]) == (expected[0], expected[-1])
        with pytest.raises(IndexError):
            entry[5]
        with pytest.raises(IndexError):
            entry[-6]
        assert repr(entry) == repr(expected)
        assert entry in ours and ours[0] in ours
        assert entry.uci == move.uci()
        assert (entry.games, entry.wins, entry.draws, entry.losses) == (None,) * 4
        assert (entry.annotation, entry.recommended, entry.learned, entry.average_rating, entry.performance) == (None,) * 5
        assert entry.opening == tabiya.Opening("A40", "Queen's Pawn Game")
        assert entry.opening.eco == "A40"
        assert ours[0].opening is None


def test_a_learn_field_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "learned.bin"
    key = chess.polyglot.zobrist_hash(chess.Board())
    rows = [(0x31C, 7, 3 << 16 | 5), (0x2DB, 6, 0xFFFF_FFFF), (0x31C, 4, 1 << 16)]
    path.write_bytes(b"".join(chess.polyglot.ENTRY_STRUCT.pack(key, *row) for row in rows))
    with tabiya.open_reader(path) as reader:
        assert [entry.learn for entry in reader] == [row[2] for row in rows]
        by_key = [(entry.raw_move, entry.weight, entry.learn) for entry in reader.find_all(key)]
        assert by_key == [tuple(row) for row in rows]
        # Entries that repeat a move are one move of the position.
        assert [(entry.uci, entry.weight) for entry in reader.find_all(chess.Board())] == [("e2e4", 11), ("d2d4", 6)]


def test_castling_in_either_form_is_the_king_s_two_steps(tmp_path: Path) -> None:
    path = tmp_path / "castling.bin"
    board = chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    key = chess.polyglot.zobrist_hash(board)
    codes = [4 << 6 | 7, 4 << 6 | 2]
    path.write_bytes(b"".join(chess.polyglot.ENTRY_STRUCT.pack(key, code, 1, 0) for code in codes))
    with tabiya.open_reader(path) as reader:
        found = list(reader.find_all(board))
        assert [entry.move for entry in found] == [chess.Move.from_uci("e1g1"), chess.Move.from_uci("e1c1")]
        assert [entry.raw_move for entry in found] == codes
        assert all(board.is_legal(entry.move) for entry in found)
        board.chess960 = True
        assert [entry.uci for entry in reader.find_all(board)] == ["e1h1", "e1a1"]
