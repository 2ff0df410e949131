"""Writes small Polyglot books, good and bad, with keys by python-chess."""

import struct

import chess
import chess.polyglot

ENTRY = struct.Struct(">QHHI")


def key(board):
    return chess.polyglot.zobrist_hash(board)


def raw_move(from_square, to_square, promotion=None):
    """The sixteen bits of a move as the file has them."""
    return to_square | from_square << 6 | (promotion - 1 if promotion else 0) << 12


def encode(board, uci):
    """A move of the position: castling becomes king takes rook, all else stays."""
    move = chess.Move.from_uci(uci)
    to_square = move.to_square
    if board.is_castling(move):
        rook_file = 7 if chess.square_file(move.to_square) > chess.square_file(move.from_square) else 0
        if board.piece_type_at(move.to_square) != chess.ROOK:
            to_square = chess.square(rook_file, chess.square_rank(move.from_square))
    return raw_move(move.from_square, to_square, move.promotion)


class Book:
    """Entries on their way into a file."""

    def __init__(self):
        self.entries = []

    def raw(self, board, move, weight=1, learn=0):
        """An entry with any sixteen bits for a move."""
        self.entries.append((key(board), move, weight, learn))
        return self

    def add(self, board, uci, weight=1, learn=0):
        return self.raw(board, encode(board, uci), weight, learn)

    def at(self, moves="", **weights):
        """Moves of the position after `moves` from the start: at("e2e4", e7e5=3, c7c5=2)."""
        board = after(moves)
        for uci, weight in weights.items():
            self.add(board, uci, weight)
        return self

    def line(self, moves, weight=1):
        """Every move of a line from the starting position."""
        board = chess.Board()
        for uci in moves.split():
            self.add(board, uci, weight)
            board.push_uci(uci)
        return self

    def data(self, ordered=True):
        entries = sorted(self.entries, key=lambda entry: (entry[0], -entry[2])) if ordered else self.entries
        return b"".join(ENTRY.pack(*entry) for entry in entries)

    def write(self, path, ordered=True):
        path.write_bytes(self.data(ordered))
        return path


def after(moves="", fen=chess.STARTING_FEN, chess960=False):
    board = chess.Board(fen, chess960=chess960)
    for uci in moves.split():
        board.push_uci(uci)
    return board


def one_line(path, moves, weight=10):
    """A book of one line."""
    return Book().line(moves, weight).write(path)
