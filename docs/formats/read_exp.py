#!/usr/bin/env python3
"""Reads experience files as exp.md describes them.

usage: read_exp.py FILE [FEN]

Prints who wrote the file, how many positions it has and how many of them play reaches, and a line for each move of the
position, which is the starting position unless a FEN is given.
"""

import struct
import sys
from collections import namedtuple
from pathlib import Path

import chess

SUGAR_V2, SUGAR_V1 = b"SugaR Experience version 2", b"SugaR"
RECORD = 24
NO_MOVES = (0, 65)
NO_VALUE = 32002
PIECES = [chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN]
MASK = 2**64 - 1

Entry = namedtuple("Entry", "move value depth count")


def draws(state=1070372):
    """The engines' random numbers."""
    while True:
        state ^= state >> 12
        state = (state ^ state << 25) & MASK
        state ^= state >> 27
        yield state * 2685821657736338717 & MASK


def numbers(new):
    """The numbers of pieces, en-passant files, castling rights and the side to move."""
    source = draws()
    pieces = [[next(source) for _ in range(64)] for _ in range(12)]
    files = [next(source) for _ in range(8)]
    if new:
        castling = [next(source) for _ in range(16)]
    else:
        rights = [next(source) for _ in range(4)]
        castling = [0] * 16
        for index in range(16):
            for bit, number in enumerate(rights):
                castling[index] ^= number if index >> bit & 1 else 0
    return pieces, files, castling, next(source)


SETS = {"new": numbers(True), "old": numbers(False)}


def plain(board, name, legal):
    """The key of a position whose clock does not count."""
    pieces, files, castling, black = SETS[name]
    key = 0
    for square, piece in board.piece_map().items():
        key ^= pieces[piece.piece_type - 1 + (0 if piece.color else 6)][square]
    rights = [(chess.WHITE, True), (chess.WHITE, False), (chess.BLACK, True), (chess.BLACK, False)]
    index = 0
    for bit, (color, short) in enumerate(rights):
        has = board.has_kingside_castling_rights if short else board.has_queenside_castling_rights
        index |= has(color) << bit
    key ^= castling[index]
    if board.has_legal_en_passant() if legal else board.has_pseudo_legal_en_passant():
        key ^= files[chess.square_file(board.ep_square)]
    return key ^ (0 if board.turn else black)


def keys(board, name):
    """The keys under which a position may be stored, the likeliest first."""
    both = list(dict.fromkeys([plain(board, name, False), plain(board, name, True)]))
    if board.halfmove_clock >= 14:
        mask = ((board.halfmove_clock - 14) // 8 * 6364136223846793005 + 1442695040888963407) & MASK
        return [key ^ mask for key in both] + both
    return both


def move_of(code):
    """The move of a code."""
    promotion = PIECES[code >> 12 & 3] if code >> 14 == 1 else None
    return chess.Move(code >> 6 & 63, code & 63, promotion)


class Experience:
    """An experience file."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        self.family, start = "brainlearn", 0
        if data.startswith(SUGAR_V2):
            self.family, start = "sugar2", len(SUGAR_V2)
        elif data.startswith(SUGAR_V1):
            self.family, start = "sugar1", len(SUGAR_V1)
        self.sets = ["new", "old"] if self.family == "brainlearn" else ["old", "new"]
        self.records, self.known = 0, {}
        for at in range(start, len(data) - RECORD + 1, RECORD):
            self.records += 1
            if self.family == "brainlearn":
                key, depth, value, code, _ = struct.unpack_from("<Q2iHxxi", data, at)
                count = 1
            else:
                key, code, value, depth, count = struct.unpack_from("<QHxx2iHxx", data, at)
                count = 1 if self.family == "sugar1" else count
            if code not in NO_MOVES and value != NO_VALUE:
                moves = self.known.setdefault(key, {})
                moves[code] = self.together(moves.get(code), Entry(move_of(code), value, depth, count))

    def together(self, before, entry):
        """What two records of one move say together."""
        if before is None:
            return entry
        if self.family == "brainlearn":
            return entry if entry.depth >= before.depth else before
        count = min(before.count + entry.count, 65535)
        if before.depth == entry.depth:
            return entry._replace(value=int((before.value + entry.value) / 2), count=count)
        return max(before, entry, key=lambda known: known.depth)._replace(count=count)

    def moves(self, board):
        """The legal moves of a position, best first, as the engines rank them."""
        for key in (key for name in self.sets for key in keys(board, name)):
            if key in self.known:
                found = [entry for entry in self.known[key].values() if board.is_legal(entry.move)]
                return sorted(found, key=lambda entry: (rating(entry), entry.count, entry.depth), reverse=True)
        return []

    def reached(self, replies=True):
        """The positions that the file's own moves reach from the start and, with `replies`, those beyond moves it lacks."""
        seen, found, waiting = set(), {}, [chess.Board()]
        while waiting:
            board = waiting.pop()
            position = (board.epd(en_passant="fen") if board.has_pseudo_legal_en_passant() else board.epd())
            if position in seen:
                continue
            seen.add(position)
            entries = self.moves(board)
            if entries:
                found[position] = entries
            follow = [entry.move for entry in entries]
            if replies and entries:
                follow = list(board.legal_moves)
            for move in follow:
                after = board.copy(stack=False)
                after.push(move)
                waiting.append(after)
        return found


def rating(entry):
    """By what the engines rank moves."""
    return entry.value * max(entry.depth // 10, 1) * max(entry.count // 3, 1)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    book = Experience(sys.argv[1])
    print(f"{book.family}: {book.records} records, {len(book.known)} positions, {len(book.reached())} reached")
    board = chess.Board(*sys.argv[2:])
    for entry in book.moves(board):
        print(board.san(entry.move), f"value={entry.value} depth={entry.depth} count={entry.count}")


if __name__ == "__main__":
    main()
