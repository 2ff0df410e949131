#!/usr/bin/env python3
"""Reads the games of ChessBase databases as cbh.md describes them.

usage: read_cbh.py DATABASE.cbh [NUMBER]

Prints the games, or the one with the number, as PGN with variations. Annotations, and files beyond 4 GiB, are not read.
"""

import re
import sys
from pathlib import Path

import chess
import chess.pgn

from cbh_moves import CHESS960, CORNERS, LONG, POP, PUSH, TABLES, codes, first_numbers, move_of, number, play, start

RECORD = 46
RESULTS = ["0-1", "1/2-1/2", "1-0", "*", "0-1", "1/2-1/2", "1-0", "*"]


def text(raw):
    raw = raw.split(b"\0")[0]
    for encoding in ("utf-8", "cp1252"):
        try:
            return raw.decode(encoding).strip()
        except UnicodeDecodeError:
            pass
    return raw.decode("latin-1")


def names(path, end):
    """The records of a file of names without their first nine bytes; None for those that are deleted."""
    path = path.with_suffix(end)
    data = path.read_bytes() if path.exists() else bytes(28)
    size = 9 + number(data, 12, 4, "little")
    first = 28 + number(data, 24, 4, "little")
    records = [data[at : at + size] for at in range(first, first + size * number(data, 0, 4, "little"), size)]
    return [None if number(record, 0, 4, "little") == 2**32 - 999 else record[9:] for record in records]


def name(records, at, *fields):
    """Fields of a record of names, each by its offset and length, joined by a comma; ? if there is nothing."""
    record = records[at] if at < len(records) else None
    parts = [text(record[start : start + size]) for start, size in fields] if record else []
    return ", ".join(filter(None, parts)) or "?"


def player(records, at):
    """The name of a player as in PGN, where initials have a period."""
    return re.sub("(?<=, )[A-Z0-9]{1,2}$", r"\g<0>.", name(records, at, (0, 30), (30, 20)))


def decode(game, board, mode, data):
    """Adds moves to a game, up to the first that cannot be read. Returns the corners whose rooks have castled."""
    node, numbers, kept, castled = game, first_numbers(board, mode), [], 0
    for code, word in codes(mode, data):
        if code == PUSH:
            kept.append((node, board.copy(stack=False), dict(numbers)))
        elif code == POP:
            if not kept:
                break
            node, board, numbers = kept.pop()
        elif code <= LONG:
            try:
                move = move_of(board, numbers, code, word)
            except (ValueError, LookupError):
                break
            if board.is_castling(move):
                castled |= chess.BB_SQUARES[CORNERS[2 * (not board.turn) + board.is_kingside_castling(move)]]
            play(board, numbers, move)
            node = node.add_variation(move)
    return castled


def tags(record, players, tournaments):
    date, opening = number(record, 24, 3), number(record, 35, 2)
    parts = (date >> 9, 4), (date >> 5 & 15, 2), (date & 31, 2)
    found = {
        "Event": name(tournaments, number(record, 15, 3), (0, 40)),
        "Site": name(tournaments, number(record, 15, 3), (40, 30)),
        "Date": ".".join(f"{part:0{size}}" if part else "?" * size for part, size in parts),
        "Round": ".".join(str(part or "?") for part in record[29 : 31 if record[30] else 30]),
        "White": player(players, number(record, 9, 3)),
        "Black": player(players, number(record, 12, 3)),
        "Result": RESULTS[record[27] & 7],
    }
    elos = {"WhiteElo": number(record, 31, 2), "BlackElo": number(record, 33, 2)}
    found.update((tag, str(elo)) for tag, elo in elos.items() if elo)
    if 0 < opening >> 7 <= 500:
        letter, code = divmod((opening >> 7) - 1, 100)
        found["ECO"] = f"{'ABCDE'[letter]}{code:02}"
    return found


def games(path):
    """The games of a database that are not deleted, each with its number and without its annotations."""
    path = Path(path)
    records, moves = path.read_bytes(), path.with_suffix(".cbg").read_bytes()
    players, tournaments = names(path, ".cbp"), names(path, ".cbt")
    for count, start_of_record in enumerate(range(RECORD, len(records) - RECORD + 1, RECORD), 1):
        record = records[start_of_record : start_of_record + RECORD]
        at = number(record, 1, 4)
        mode = moves[at] & 0x3F
        if record[0] & 0x83 != 1 or mode not in TABLES:
            continue
        head = (36 if mode in CHESS960 else 28) if moves[at] & 0x40 else 0
        data = moves[at + 4 : at + number(moves, at + 1, 3)]
        board = start(mode, data[:head], number(record, 35, 2))
        game = chess.pgn.Game(tags(record, players, tournaments))
        stored, generous = board.castling_rights, board.copy()
        if head and mode not in CHESS960:
            # A game may castle without the right in its starting position.
            generous.castling_rights = chess.BB_CORNERS
            generous.castling_rights = generous.clean_castling_rights()
        castled = decode(game, generous, mode, data[head:])
        if mode not in CHESS960:
            board.castling_rights = stored | castled
        game.setup(board)
        yield count, game


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    for count, game in games(sys.argv[1]):
        if sys.argv[2:] in ([], [str(count)]):
            print(game, end="\n\n")


if __name__ == "__main__":
    main()
