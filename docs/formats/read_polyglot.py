#!/usr/bin/env python3
"""Reads Polyglot books as polyglot.md describes them; the random words are taken from that page.

usage: read_polyglot.py BOOK [FEN]

Prints a line for each move of the position, which is the starting position unless a FEN is given.
"""

import re
import struct
import sys
from collections import namedtuple
from pathlib import Path

import chess

PAGE = Path(__file__).with_name("polyglot.md").read_text(encoding="utf-8")
WORDS = [int(word, 16) for word in re.findall(r"\b[0-9a-f]{16}\b", PAGE.split("\n## Random words\n")[1])]
CASTLING, EN_PASSANT, WHITE_TO_MOVE = 768, 772, 780

LAYOUT = struct.Struct(">QHHHH")
PROMOTIONS = ["", "n", "b", "r", "q"]

Entry = namedtuple("Entry", "move weight learned_games learned_points")


def en_passant_file(board):
    """The file of a pawn that has just made a double step beside a pawn of the side to move, or None."""
    if board.ep_square is None:
        return None
    file, rank = chess.square_file(board.ep_square), 4 if board.turn else 3
    beside = [chess.square(at, rank) for at in (file - 1, file + 1) if 0 <= at < 8]
    return file if any(board.piece_at(at) == chess.Piece(chess.PAWN, board.turn) for at in beside) else None


def key(board):
    """The key of a position."""
    words = []
    for square, piece in board.piece_map().items():
        kind = 2 * (piece.piece_type - 1) + int(piece.color)
        words.append(64 * kind + square)
    for at, (color, short) in enumerate([(True, True), (True, False), (False, True), (False, False)]):
        has_right = board.has_kingside_castling_rights if short else board.has_queenside_castling_rights
        if has_right(color):
            words.append(CASTLING + at)
    if (file := en_passant_file(board)) is not None:
        words.append(EN_PASSANT + file)
    if board.turn:
        words.append(WHITE_TO_MOVE)
    result = 0
    for word in words:
        result ^= WORDS[word]
    return result


def decode(code, board):
    """The legal move that a code means, or None. The rules accept castling in both of its forms."""
    source, target, promotion = code >> 6 & 63, code & 63, code >> 12
    if promotion >= len(PROMOTIONS):
        return None
    try:
        return board.parse_uci(chess.square_name(source) + chess.square_name(target) + PROMOTIONS[promotion])
    except ValueError:
        return None


def entries(path):
    """Every whole entry of a book: key, code of the move, weight, learned games, learned half-points."""
    data = Path(path).read_bytes()
    return LAYOUT.iter_unpack(data[: len(data) // LAYOUT.size * LAYOUT.size])


def moves(path, board):
    """The entries of a position whose moves are legal, in the order of the book."""
    wanted = key(board)
    found = []
    with open(path, "rb") as book:
        low, high = 0, book.seek(0, 2) // LAYOUT.size
        while low < high:
            middle = (low + high) // 2
            book.seek(middle * LAYOUT.size)
            if LAYOUT.unpack(book.read(LAYOUT.size))[0] < wanted:
                low = middle + 1
            else:
                high = middle
        book.seek(low * LAYOUT.size)
        while len(data := book.read(LAYOUT.size)) == LAYOUT.size:
            known, code, weight, games, points = LAYOUT.unpack(data)
            if known != wanted:
                break
            if move := decode(code, board):
                found.append(Entry(move, weight, games, points))
    return found


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    board = chess.Board(*sys.argv[2:])
    for entry in moves(sys.argv[1], board):
        values = [f"{name}={value}" for name, value in entry._asdict().items()]
        print(board.san(entry.move), *values[1:])


if __name__ == "__main__":
    main()
