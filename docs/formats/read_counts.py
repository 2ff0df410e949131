#!/usr/bin/env python3
"""Reads count files as counts.md describes them, with DuckDB (the package duckdb) for Parquet.

usage: read_counts.py FILE.parquet [FEN]

Prints a line for each move of the position, which is the starting position unless a FEN is given. FILE may be a folder.
"""

import sys
from collections import namedtuple
from pathlib import Path

import chess
import duckdb

from read_polyglot import decode, key

PIECES = [chess.Piece(kind, color) for color in (chess.WHITE, chess.BLACK) for kind in chess.PIECE_TYPES]
PASSED, WHITE_ROOK, BLACK_ROOK, BLACK_TO_MOVE = 12, 13, 14, 15
OPTIONAL = ("position", "speed", "rating")

# `position`, `speed` and `rating` are None where the file does not have them. `move` is None for games that ended.
Entry = namedtuple("Entry", "move wins draws losses position speed rating")


def files(path):
    """The names of the files of a path, as DuckDB wants them."""
    path = Path(path)
    parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    return [str(part) for part in parts if part == path or part.name[0] not in "._"]


def rows(path, where="true", *values):
    """The rows of a file in its order: key, code of the move, and the fields of an entry after its move."""
    relation = duckdb.read_parquet(files(path))
    known = {column.lower() for column in relation.columns}
    columns = ["key", "move", "wins", "draws", "losses", *(name if name in known else "NULL" for name in OPTIONAL)]
    return duckdb.execute(f"SELECT {', '.join(columns)} FROM relation WHERE {where}", values).fetchall()


def moves(path, board):
    """The rows of a position; a move has several if games are counted by speed or rating, or in several files."""
    found = rows(path, "key = ?", key(board))
    return [Entry(decode(code, board) if code else None, *counts) for _, code, *counts in found]


def position(packed):
    """The board that the 24 bytes of a position mean."""
    occupied = int.from_bytes(packed[:8], "little")
    board = chess.Board(None)
    board.castling_rights = 0
    for at, square in enumerate(chess.scan_forward(occupied)):
        code = packed[8 + at // 2] >> 4 * (at % 2) & 15
        if code < PASSED:
            piece = PIECES[code]
        elif code == PASSED:
            white = chess.square_rank(square) == 3
            piece = chess.Piece(chess.PAWN, white)
            board.ep_square = square - 8 if white else square + 8
        elif code == BLACK_TO_MOVE:
            piece, board.turn = chess.Piece(chess.KING, chess.BLACK), chess.BLACK
        else:
            piece = chess.Piece(chess.ROOK, code == WHITE_ROOK)
            board.castling_rights |= chess.BB_SQUARES[square]
        board.set_piece_at(square, piece)
    return board


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    board = chess.Board(*sys.argv[2:])
    for entry in moves(sys.argv[1], board):
        packed = entry.position and position(entry.position).epd()
        print(board.san(entry.move) if entry.move else "end", *entry[1:4], packed, entry.speed, entry.rating)


if __name__ == "__main__":
    main()
