#!/usr/bin/env python3
"""Reads Kvetka books as kvetka.md describes them.

usage: read_kvetka.py BOOK [FEN]

Prints the header, the element of the position (the starting position unless a FEN is given), its game, and its moves.
"""

import re
import sys
from collections import namedtuple
from pathlib import Path

import chess

import normal_form
from normal_form import BISHOP, ROOK
from read_polyglot import en_passant_file

BLOCK, KEY = 2048, 22
# The steps in the order of their codes: kind, number of pieces, steps of each.
GROUPS = [
    (chess.PAWN, 8, [(0, 1), (0, 2), (1, 1), (7, 1)]),
    (chess.KNIGHT, 2, [(1, 2), (7, 2), (2, 1), (6, 1), (2, 7), (6, 7), (1, 6), (7, 6)]),
    (chess.BISHOP, 2, BISHOP),
    (chess.ROOK, 2, ROOK),
    (chess.QUEEN, 3, ROOK + BISHOP),
    (chess.KING, 1, [(0, 1), (1, 1), (7, 1), (1, 0), (7, 0), (0, 7), (1, 7), (7, 7), (2, 0), (6, 0)]),
]
UNUSED = (0x3A, 0x48, 0x80, 0x9C, 0xB8)
STEPS = {code: step for code, step in enumerate(normal_form.numbered(GROUPS)) if code not in UNUSED}
COMMENT, LINK = 1, 4

Header = namedtuple("Header", "type caption white black stronger weaker plies elements transpositions blocks")
Element = namedtuple("Element", "length wins draws losses codes flags link comment rest")
# `after` is the element of the position that the move leads to, whose results are the opponent's, or None.
Entry = namedtuple("Entry", "move after")
Source = namedtuple("Source", "kind gone address games")
Game = namedtuple("Game", "offset length white black white_elo black_elo result")


class Cursor:
    """Reads one thing after another."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def bytes(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size):
        return int.from_bytes(self.bytes(size), "big")

    def compact(self):
        value = 0
        while (byte := self.number(1)) & 0x80:
            value = value << 7 | byte & 0x7F
        return value << 7 | byte

    def unicode(self):
        return self.bytes(2 * self.number(4)).decode("utf-16-be", "replace")

    def ansi(self):
        raw = self.bytes(self.number(4))
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw.decode("cp1252", "replace")


def file_of(path, end):
    """The path of one of the files of a book."""
    return Path(re.sub(r"(_0)?\.kob$", "", str(path)) + end)


def blocks(path):
    """The header of a book, and its blocks without the bytes that mean nothing."""
    cursor = Cursor(file_of(path, "_0.kob").read_bytes())
    header = Header(cursor.number(1), cursor.unicode(), *map(cursor.number, (2, 2, 2, 2, 1, 1, 1, 4)))
    data, number = cursor.data[cursor.at :], 1
    while (more := file_of(path, f"_{number}.kob")).exists():
        data, number = data + more.read_bytes(), number + 1
    starts = range(0, len(data), BLOCK)
    return header, [data[at + 2 : at + int.from_bytes(data[at : at + 2], "big")] for at in starts]


def elements(header, block):
    """The elements of a block, each with its key."""
    cursor = Cursor(block)
    while cursor.at < len(block):
        length = cursor.compact()
        end, name = cursor.at + length, cursor.bytes(KEY)
        results = cursor.compact(), cursor.compact(), cursor.compact()
        codes, flags = cursor.bytes(cursor.number(1)), cursor.number(1)
        link = (cursor.number(2), cursor.number(4)) if flags & LINK and header.elements & 1 else None
        comment = cursor.unicode() if flags & COMMENT else None
        yield name, Element(length, *results, codes, flags, link, comment, cursor.bytes(end - cursor.at))


def key(board):
    """The key of a position; one of more than 22 bytes is in no book."""
    board, _ = normal_form.normal(board)
    file = en_passant_file(board)
    bits = normal_form.board_bits(board) + f"{0 if file is None else file + 1:04b}" + normal_form.castling_bits(board)
    bits = bits.ljust(8 * KEY, "0")
    return int(bits, 2).to_bytes(-(-len(bits) // 8), "big")


def read(path):
    """The header of a book, and all elements by their keys."""
    header, found = blocks(path)
    return header, {name: element for block in found for name, element in elements(header, block)}


def entries(known, board):
    """The legal moves of a position, in the order of its element; `known` has the elements by their keys."""
    found = []
    for code in known[key(board)].codes if key(board) in known else b"":
        if code in STEPS and (move := normal_form.move(board, *STEPS[code])):
            found.append(Entry(move, known.get(key(normal_form.after(board, move)))))
    return found


def moves(path, board):
    return entries(read(path)[1], board)


def sources(path):
    """The sources of games, with their games; none without a .ksf file."""
    found, file = [], file_of(path, ".ksf")
    contents = Cursor(file.read_bytes() if file.exists() else bytes(4))
    for _ in range(contents.number(4)):
        cursor = Cursor(contents.data, contents.number(4))
        source = Source(cursor.number(1), cursor.number(1), cursor.unicode(), [])
        for _ in range(cursor.number(4)):
            place = cursor.number(4), cursor.number(4)
            source.games.append(Game(*place, cursor.ansi(), cursor.ansi(), *map(cursor.number, (2, 2, 1))))
        found.append(source)
    return found


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    board = chess.Board(*sys.argv[2:])
    header, known = read(sys.argv[1])
    element = known.get(key(board))
    game = element and element.link and sources(sys.argv[1])[element.link[0]].games[element.link[1]]
    print(header, element, game, sep="\n")
    for entry in entries(known, board):
        print(board.san(entry.move), entry.after)


if __name__ == "__main__":
    main()
