#!/usr/bin/env python3
"""Reads Chessmaster books as obk.md describes them.

usage: read_obk.py BOOK [FEN]

Prints the header of the book, its texts, and a line for each move of the position, which is the starting position unless a
FEN is given.
"""

import struct
import sys
from collections import namedtuple
from pathlib import Path

import chess

from read_polyglot import key

PERCENT = [0, 25, 50, 100]
KINDS = {0x80: "name", 0x81: "remark", 0x82: "eco"}
LAST, LEAF, SQUARE = 0x40, 0x80, 0x3F

Header = namedtuple("Header", "version length moves texts")
Entry = namedtuple("Entry", "move weight")


def header(data):
    """What the header of a book says."""
    if data[:4] == b"UGWS":
        return Header(1, 8, *struct.unpack_from("<I", data, 4), 0)
    if data[:4] == b"BOO!":
        return Header(2, 12, *struct.unpack_from("<2I", data, 4))
    raise ValueError("no Chessmaster book")


def tree(data):
    """Every position with the move that a record has there, or without one if it is not legal."""
    head = header(data)
    board, waiting = chess.Board(), []
    count = min(head.moves, (len(data) - head.length) // 2)
    for number in range(count):
        first, second = data[head.length + 2 * number :][:2]
        source, target = first & SQUARE, second & SQUARE
        if source == target == 0 and number + 1 == count:
            return
        move = None
        if board is not None:
            pawn = board.piece_type_at(source) == chess.PAWN and chess.square_rank(target) in (0, 7)
            move = chess.Move(source, target, chess.QUEEN if pawn else None)
            move = move if board.is_legal(move) else None
        yield board, move, PERCENT[second >> 6]
        if not first & LAST:
            waiting.append(board)
        if not first & LEAF:
            after = board and move and board.copy(stack=False)
            if after:
                after.push(move)
            board = after
        elif waiting:
            board = waiting.pop()
        else:
            return


def index(path):
    """The moves of each position, by its Polyglot key, with the greatest of their weights."""
    found = {}
    for board, move, weight in tree(Path(path).read_bytes()):
        if move:
            moves = found.setdefault(key(board), {})
            moves[move] = max(weight, moves.get(move, 0))
    return {at: [Entry(*entry) for entry in moves.items()] for at, moves in found.items()}


def moves(path, board):
    """The moves of a position."""
    return index(path).get(key(board), [])


def texts(data):
    """The texts: the number of a move, its kind, and what is said."""
    head = header(data)
    at = head.length + 2 * head.moves
    end = min(at + head.texts, len(data))
    while at + 6 <= end:
        number, length, kind = struct.unpack_from("<IBB", data, at)
        yield number, KINDS.get(kind, kind), data[at + 6 : at + 6 + length].decode("cp1252", "replace")
        at += 6 + length


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    data = Path(sys.argv[1]).read_bytes()
    print(header(data))
    for text in texts(data):
        print(*text)
    board = chess.Board(*sys.argv[2:])
    for entry in moves(sys.argv[1], board):
        print(board.san(entry.move), f"weight={entry.weight}")


if __name__ == "__main__":
    main()
