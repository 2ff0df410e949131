"""Books of variants: what a reader finds is what python-chess finds, and drops of pawns besides."""

import pickle
import random
import struct

import chess
import chess.polyglot
import chess.variant
import pytest

import tabiya
from conftest import samples

BOARDS = {
    "antichess": chess.variant.AntichessBoard,
    "atomic": chess.variant.AtomicBoard,
    "crazyhouse": chess.variant.CrazyhouseBoard,
    "horde": chess.variant.HordeBoard,
    "kingOfTheHill": chess.variant.KingOfTheHillBoard,
    "racingKings": chess.variant.RacingKingsBoard,
    "threeCheck": chess.variant.ThreeCheckBoard,
}


def code_of(board, move):
    """The number of a move in a book; castling is the king taking its rook, a drop goes from its square to the same square."""
    if move.drop:
        return (move.drop - 1) << 12 | move.to_square << 6 | move.to_square
    to = move.to_square
    if board.is_castling(move):
        to = chess.square(7 if chess.square_file(to) == 6 else 0, chess.square_rank(to))
    return ((move.promotion or 1) - 1) << 12 | move.from_square << 6 | to


def games(board_class, count, seed):
    """Each position of random games with the move that is played there."""
    chance = random.Random(seed)
    for _ in range(count):
        board = board_class()
        while len(board.move_stack) < 60 and not board.is_variant_end():
            moves = list(board.legal_moves)
            if not moves:
                break
            rare = [move for move in moves if move.drop or move.promotion or board.is_castling(move)]
            move = chance.choice(rare if rare and chance.random() < 0.4 else moves)
            yield board.copy(), move
            board.push(move)


def book_of(played, path):
    entries = {(chess.polyglot.zobrist_hash(board), code_of(board, move)) for board, move in played}
    path.write_bytes(b"".join(struct.pack(">QHHI", key, code, 1, 0) for key, code in sorted(entries)))
    return path


def found(reader, board):
    return sorted(((entry.move, entry.weight, entry.raw_move) for entry in reader.find_all(board)), key=str)


@pytest.mark.parametrize("name", BOARDS)
def test_what_python_chess_finds_is_found(name, tmp_path):
    played = list(games(BOARDS[name], 30, seed=len(name)))
    path = book_of(played, tmp_path / "book.bin")
    pawns = 0
    with chess.polyglot.open_reader(path) as theirs, tabiya.open_reader(path) as ours:
        for board, move in played:
            # python-chess has no number for a pawn that is dropped.
            expected = found(theirs, board)
            all_of_them = found(ours, board)
            others = [entry for entry in all_of_them if entry[0].drop != chess.PAWN]
            assert others == expected, board.fen()
            assert move in [entry[0] for entry in all_of_them], (board.fen(), move)
            pawns += len(all_of_them) - len(others)
            entry = ours.find(board)
            again = pickle.loads(pickle.dumps(entry))
            assert (again.move, again.uci) == (entry.move, entry.move.uci()), board.fen()
        # The board of another variant has other moves, which are legal there, or none.
        assert all(entry.move in chess.Board().legal_moves for entry in ours.find_all(chess.Board()))
    assert (pawns > 0) == (name == "crazyhouse")


@pytest.mark.parametrize(("name", "file"), [("antichess", "antichess"), ("atomic", "atomic"), ("horde", "horde")])
def test_real_books_are_those_of_python_chess(name, file):
    path = samples() / f"variants/{file}.bin"
    with chess.polyglot.open_reader(path) as theirs, tabiya.open_reader(path) as ours:
        seen, line = set(), [BOARDS[name]()]
        while line and len(seen) < 1500:
            board = line.pop()
            key = chess.polyglot.zobrist_hash(board)
            if key in seen:
                continue
            seen.add(key)
            expected = found(theirs, board)
            assert found(ours, board) == expected, board.fen()
            for move, *_ in expected:
                line.append(board.copy())
                line[-1].push(move)
        assert len(seen) == 1500


def test_boards_with_other_rules_find_nothing(tmp_path):
    path = book_of(games(chess.variant.AntichessBoard, 3, seed=1), tmp_path / "book.bin")
    with tabiya.open_reader(path) as ours:
        assert not list(ours.find_all(chess.variant.GiveawayBoard()))
        assert list(ours.find_all(chess.variant.AntichessBoard()))
