#!/usr/bin/env python3
"""Reads Arena books as abk.md describes them.

usage: read_abk.py BOOK [FEN]

Prints the header of the book and a line for each record of the position, which is the starting position unless a FEN is
given.
"""

import struct
import sys
from collections import namedtuple
from pathlib import Path

import chess

from read_polyglot import key

HEADER_LENGTH = 25200
RECORD = struct.Struct("<BBbB3iI2i")
ROOT = HEADER_LENGTH // RECORD.size
PROMOTIONS = [None, chess.ROOK, chess.KNIGHT, chess.BISHOP, chess.QUEEN]
DELETED = 1

TEXTS = {"comment": (0x0C, 120), "author": (0x85, 80)}
NUMBERS = {
    "records": 0xDA,
    "min_games": 0xDE,
    "min_wins": 0xE2,
    "min_white": 0xE6,
    "min_black": 0xEA,
    "by_priority": 0xEE,
    "by_games": 0xF2,
    "by_score": 0xF6,
    "last_ply": 0xFA,
}
NEVER_WRITTEN = b"xxxx"

Entry = namedtuple("Entry", "move priority games white_wins white_losses plies")


def header(data):
    """What the header of a book says, by name."""
    if data[:3] != b"\x03AB" or struct.unpack_from("<2I", data, 4) != (HEADER_LENGTH, RECORD.size):
        raise ValueError("no Arena book")
    found = {"version": chr(data[3])}
    for name, (at, room) in TEXTS.items():
        found[name] = data[at + 1 : at + 1 + min(data[at], room)].decode("latin-1")
    for name, at in NUMBERS.items():
        raw = data[at : at + 4]
        found[name] = 0 if raw == NEVER_WRITTEN else int.from_bytes(raw, "little", signed=True)
    return found


def tree(data):
    """Every position that a line reaches, with its entries there. A position may come again."""
    seen = set()
    waiting = [(ROOT, chess.Board())]
    while waiting:
        number, board = waiting.pop()
        entries = []
        while number >= ROOT and number not in seen and (number + 1) * RECORD.size <= len(data):
            seen.add(number)
            record = RECORD.unpack_from(data, number * RECORD.size)
            source, target, promotion, *counts, plies, reply, number = record
            if plies >> 24 == DELETED or max(source, target) > 63 or abs(promotion) > 4:
                continue
            move = chess.Move(source, target, PROMOTIONS[abs(promotion)])
            if board.is_legal(move):
                entries.append(Entry(move, *counts, plies))
                if reply >= ROOT:
                    after = board.copy(stack=False)
                    after.push(move)
                    waiting.append((reply, after))
        yield board, entries


def index(path):
    """The entries of each position, by its Polyglot key. A move has one for each line that reaches the position."""
    found = {}
    for board, entries in tree(Path(path).read_bytes()):
        found.setdefault(key(board), []).extend(entries)
    return found


def moves(path, board):
    """The entries of a position."""
    return index(path).get(key(board), [])


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    print(*(f"{name}={value!r}" for name, value in header(Path(sys.argv[1]).read_bytes()).items()))
    board = chess.Board(*sys.argv[2:])
    for entry in moves(sys.argv[1], board):
        values = [f"{name}={value}" for name, value in entry._asdict().items()]
        print(board.san(entry.move), *values[1:])


if __name__ == "__main__":
    main()
