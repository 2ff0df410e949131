#!/usr/bin/env python3
"""Reads ChessBase books as ctg.md describes them; hash words and codes of moves are taken from that page.

usage: read_ctg.py BOOK.ctg [FEN]

Prints the facts of the position, which is the starting position unless a FEN is given, and a line for each move.
"""

import math
import re
import sys
from collections import namedtuple
from pathlib import Path

import chess

import normal_form
from normal_form import BISHOP, ROOK
from read_polyglot import en_passant_file

SECTIONS = re.split(r"\n## (.+)\n", Path(__file__).with_name("ctg.md").read_text(encoding="utf-8"))
SECTIONS = dict(zip(SECTIONS[1::2], SECTIONS[2::2]))
HASH = [int(word, 16) for word in re.findall(r"\b[0-9a-f]{8}\b", SECTIONS["Hash"])]
PAGE_LENGTH = 4096

# The steps, right and up, in the order in which the page lists their codes: kind, number of pieces, steps of each.
GROUPS = [
    (chess.PAWN, 8, [(0, 1), (0, 2), (1, 1), (-1, 1)]),
    (chess.KNIGHT, 2, [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]),
    (chess.KING, 1, [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1), (2, 0), (-2, 0)]),
    (chess.BISHOP, 2, BISHOP),
    (chess.ROOK, 2, ROOK),
    (chess.QUEEN, 2, ROOK + BISHOP),
]
# A cell `=` has no code of its own.
CELLS = re.findall(r"(?<=\| )(?:`(..)`|=)(?= \|)", SECTIONS["Move table"])
CODES = {int(code, 16): step for code, step in zip(CELLS, normal_form.numbered(GROUPS)) if code}
UNSURE = (0x1A, 0xF9)
# The bits of a mark that mean nothing in a book that sets them on every move.
UPPER_BITS = 0xE0
MARKS = {1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!", 8: "only", 0x16: "zugzwang"}

# What an entry holds after its moves, seen by the side to move. Ratings are a number of games and a sum.
Facts = namedtuple("Facts", "games wins losses draws unknown own_ratings other_ratings colours factor comment")
SIZES = (3, 3, 3, 3, 4, 3, 4, 3, 4, 1, 1, 1)
# `after` has the facts of the position that the move leads to, seen by the opponent, or is None.
Entry = namedtuple("Entry", "move mark after")


def signature(board):
    board, _ = normal_form.normal(board)
    bits, head, tail = normal_form.board_bits(board), 0, ""
    if (file := en_passant_file(board)) is not None:
        head, tail = 0x20, f"{file:03b}"
    if board.clean_castling_rights():
        head, tail = head | 0x40, tail + normal_form.castling_bits(board)
    bits += "" if tail else "0"
    bits += "0" * (-len(bits + tail) % 8) + tail
    length = 1 + len(bits) // 8
    return bytes([head | length]) + int(bits, 2).to_bytes(length - 1, "big")


def hash_of(name):
    result = total = 0
    for byte in name:
        for half in (byte & 15, byte >> 4):
            total += (15 - half) * 4 + 1
            result += HASH[total % 64]
    return result % 2**32


def page_of(path, wanted):
    """The number of the page to which the index leads for a hash, 0xffffffff for none."""
    bitmap, leaves = (Path(path).with_suffix(end).read_bytes() for end in (".ctb", ".cto"))
    mask = node = 0
    while (byte := 12 + node // 8) < len(bitmap) and bitmap[byte] >> node % 8 & 1:
        mask = 2 * mask + 1
        node = (wanted & mask) + mask
    return int.from_bytes(leaves[16 + 4 * node : 20 + 4 * node] or b"\xff" * 4, "big")


def entries(path, number):
    """The entries of a page: signature, pairs of codes and marks, facts."""
    with open(Path(path).with_suffix(".ctg"), "rb") as pages:
        pages.seek((number + 1) * PAGE_LENGTH)
        page = pages.read(PAGE_LENGTH)
    at = 4
    for _ in range(int.from_bytes(page[:2], "big")):
        codes_at = at + (page[at] & 0x1F)
        facts_at = codes_at + page[codes_at]
        name, codes = page[at:codes_at], page[codes_at + 1 : facts_at]
        at, numbers = facts_at, []
        for size in SIZES:
            numbers.append(int.from_bytes(page[at : at + size], "big"))
            at += size
        colours, factor, comment = numbers[9:]
        factor -= 256 if factor > 127 else 0
        facts = Facts(*numbers[:5], tuple(numbers[5:7]), tuple(numbers[7:9]), colours, factor, comment)
        yield name, list(zip(codes[::2], codes[1::2])), facts


def find(path, board):
    """The codes with their marks and the facts of a position; no codes and None if the book does not have it."""
    names = [signature(board)]
    if board.ep_square is not None and not board.has_legal_en_passant():
        board = board.copy(stack=False)
        board.ep_square = None
        names.append(signature(board))
    for name in names:
        for known, codes, facts in entries(path, page_of(path, hash_of(name))):
            if known == name:
                return codes, facts
    return [], None


def mark_mask(path):
    """The bits of the byte of a mark that mean something: all, unless all moves of the first pages have the upper ones."""
    pages = min(Path(path).with_suffix(".ctg").stat().st_size // PAGE_LENGTH - 1, 1024)
    marks = (mark for page in range(pages) for _, codes, _ in entries(path, page) for _, mark in codes)
    first = next(marks, 0)
    is_upper = first & UPPER_BITS == UPPER_BITS and all(mark & UPPER_BITS == UPPER_BITS for mark in marks)
    return 0x1F if is_upper else 0xFF


def moves(path, board):
    """The legal moves that the book has in a position, in its order."""
    found, mask = [], mark_mask(path)
    for code, mark in find(path, board)[0]:
        steps = [(chess.QUEEN, 1, 0, 6), (chess.QUEEN, 1, 6, 0)] if code in UNSURE else [CODES.get(code)]
        legal = [move for step in steps if step and (move := normal_form.move(board, *step))]
        if legal:
            after = find(path, normal_form.after(board, legal[0]))[1]
            found.append(Entry(legal[0], MARKS.get(mark & mask, f"${mark & mask}" if mark & mask else None), after))
    return found


def ratings(after):
    """Average rating and performance of the side that moved to a position, None where they are not known."""
    both = (after.other_ratings, after.own_ratings)
    average, opponents = (math.floor(total / games + 0.5) if games else None for games, total in both)
    points, ended = after.losses + after.draws / 2, after.wins + after.draws + after.losses
    if opponents is None or not ended:
        return average, None
    odds = points / (ended - points) if points < ended else math.inf
    difference = 400 * math.log10(odds) if odds else -math.inf
    return average, math.floor(max(opponents + min(max(difference, -800), 800), 0) + 0.5)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    board = chess.Board(*sys.argv[2:])
    print(find(sys.argv[1], board)[1])
    for entry in moves(sys.argv[1], board):
        print(board.san(entry.move) + (f" {entry.mark} " if entry.mark else " ") + str(entry.after))


if __name__ == "__main__":
    main()
