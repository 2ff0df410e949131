#!/usr/bin/env python3
"""Reads the games of Scid's databases as scid.md describes them.

usage: read_scid.py DATABASE.si4 [NUMBER]

Prints the games, or the one with the number, as PGN. Version 300 is not read.
"""

import struct
import sys
from pathlib import Path

import chess
import chess.pgn

RESULTS = ["*", "1-0", "0-1", "1/2-1/2"]
RATINGS = ["Elo", "Rating", "Rapid", "ICCF", "USCF", "DWZ", "ECF"]
COMMON = ["WhiteCountry", "BlackCountry", "Annotator", "PlyCount", "EventDate", "Opening", "Variation", "Setup", "Source", "SetUp"]
GLYPH, COMMENT, OPEN, CLOSE, END = 11, 12, 13, 14, 15
KING = [-9, -8, -7, -1, 1, 7, 8, 9]
KNIGHT = [-17, -15, -10, -6, 6, 10, 15, 17]
PROMOTIONS = [None, chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT]


def text(raw):
    """UTF-8, and what is none as Windows-1252, byte by byte."""
    found = ""
    while raw:
        try:
            return found + raw.decode("utf-8")
        except UnicodeDecodeError as error:
            found += raw[: error.start].decode("utf-8")
            found += raw[error.start : error.end].decode("cp1252", errors="replace")
            raw = raw[error.end :]
    return found


def names4(data):
    """The names of players, events, sites and rounds of version 4."""
    lists, at = [], 36
    for kind in range(4):
        count, highest = (int.from_bytes(data[place + 3 * kind : place + 3 * kind + 3], "big") for place in (12, 24))
        found, name = {}, b""
        for nth in range(count):
            width = 3 if count >= 1 << 16 else 2
            number = int.from_bytes(data[at : at + width], "big")
            at += width + 1 + (highest >= 1 << 8) + (highest >= 1 << 16)
            length, shared = data[at], data[at + 1] if nth else 0
            at += 2 if nth else 1
            name = name[:shared] + data[at : at + length - shared]
            at += length - shared
            found[number] = text(name)
        lists.append(found)
    return lists


def names5(data):
    """The same of version 5."""
    lists, at = [{}, {}, {}, {}], 0
    while at < len(data):
        head, shift = 0, 0
        while True:
            head |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                break
        kind, length = head & 7, head >> 3
        if kind < 4:
            lists[kind][len(lists[kind])] = text(data[at : at + length])
        at += length
    return lists


def record4(data):
    """Offset, length, flags, numbers of names, whether it is Chess960, dates, ratings, result and opening of version 4."""
    (offset, low, high, flags, players, white, black, others, event, site, round_, counts, eco, dates, *ratings) = struct.unpack(">IHBHBHHBHHHHHIHH", data[:33])
    numbers = [players >> 4 << 16 | white, (players & 15) << 16 | black, others >> 5 << 16 | event, (others >> 2 & 7) << 16 | site, (others & 3) << 16 | round_]
    date, near = dates & 0xFFFFF, dates >> 20
    event_date = ((date >> 9) + (near >> 9) - 4) << 9 | near & 0x1FF if near >> 9 else 0
    kinds = [(rating & 0xFFF, rating >> 12) for rating in ratings]
    return offset, high >> 7 << 16 | low, (high & 63) << 16 | flags, numbers, False, date, event_date, kinds, counts >> 12, eco


def record5(data):
    """The same of version 5."""
    words = struct.unpack("<12I", data[:48])
    numbers = [word & 0xFFFFFFF for word in words[:3]] + [words[3], words[4] & 0x7FFFFFFF]
    last = words[11]
    ratings = [(words[5] >> 20, last >> 21 & 7), (words[6] >> 20, last >> 18 & 7)]
    offset = (words[8] & 0x7FFF) << 32 | words[9]
    return offset, words[8] >> 15, words[7] & 0x3FFFFF, numbers, words[4] >> 31 == 1, words[5] & 0xFFFFF, words[6] & 0xFFFFF, ratings, last >> 16 & 3, last & 0xFFFF


def date(bits):
    parts = (bits >> 9, 4), (bits >> 5 & 15, 2), (bits & 31, 2)
    return ".".join(str(part).zfill(width) if part else "?" * width for part, width in parts)


def opening(eco):
    if not eco:
        return ""
    code, sub = divmod(eco - 1, 131)
    letter, digit = divmod(sub - 1, 5)
    return f"{'ABCDE'[code // 100]}{code % 100:02}" + (f"{chr(ord('a') + letter)}{digit or ''}" if sub else "")


def first_numbers(board, has_fen):
    """The squares of each side's pieces by their numbers."""
    if not has_fen:
        return {color: [home + file for file in (4, 0, 1, 2, 3, 5, 6, 7)] + list(range(pawns, pawns + 8)) for color, home, pawns in ((True, 0, 8), (False, 56, 48))}
    numbers = {chess.WHITE: [], chess.BLACK: []}
    for square in sorted(chess.SQUARES, key=lambda at: (-chess.square_rank(at), chess.square_file(at))):
        piece = board.piece_at(square)
        if piece:
            own = numbers[piece.color]
            own.append(square)
            if piece.piece_type == chess.KING:
                own[0], own[-1] = own[-1], own[0]
    return numbers


def play(board, numbers, move):
    """Plays a move, and moves the numbers."""
    if move:
        own, other = numbers[board.turn], numbers[not board.turn]
        if board.is_castling(move):
            short = board.is_kingside_castling(move)
            rook = max(chess.scan_forward(rooks(board))) if short else min(chess.scan_forward(rooks(board)))
            rank = chess.square_rank(move.from_square)
            at = own.index(rook)
            own[own.index(move.from_square)] = chess.square(6 if short else 2, rank)
            own[at] = chess.square(5 if short else 3, rank)
        else:
            taken = move.to_square
            if board.is_en_passant(move):
                taken = chess.square(chess.square_file(move.to_square), chess.square_rank(move.from_square))
            if board.piece_at(taken):
                last = other[-1]
                other[other.index(taken)] = last
                other.pop()
            own[own.index(move.from_square)] = move.to_square
    board.push(move)


def rooks(board):
    """The rooks with which the side to move may castle."""
    return board.clean_castling_rights() & board.occupied_co[board.turn]


def move_of(board, numbers, byte, more):
    """The move of a byte; `more` gives the next byte."""
    number, code = byte >> 4, byte & 15
    start = numbers[board.turn][number]
    file, rank, role = chess.square_file(start), chess.square_rank(start), board.piece_type_at(start)
    if role == chess.KING:
        if code == 0:
            return chess.Move.null()
        if code in (9, 10):
            return next(move for move in board.generate_castling_moves() if board.is_kingside_castling(move) == (code == 10))
        return chess.Move(start, start + KING[code - 1])
    if role == chess.KNIGHT:
        return chess.Move(start, start + KNIGHT[code - 1])
    if role == chess.QUEEN and code == file:
        return chess.Move(start, more() - 64)
    if role in (chess.ROOK, chess.QUEEN):
        return chess.Move(start, chess.square(code, rank) if code < 8 else chess.square(file, code - 8))
    if role == chess.BISHOP:
        to = code & 7
        return chess.Move(start, chess.square(to, rank + (to - file if code < 8 else file - to)))
    steps = 16 if code == 15 else 7 + code % 3
    return chess.Move(start, start + (steps if board.turn else -steps), PROMOTIONS[0 if code == 15 else code // 3])


def add_moves(game, data, comments, numbers):
    """Adds the moves of a game. `comments` has those of its marks, in their order."""
    at, comments = 0, iter(comments)
    # Where the line is; the same before its last move; and those of the lines around it.
    state, before, around = (game, game.board(), numbers), None, []
    # The comment before the first move of a variation; None elsewhere.
    first = None

    def more():
        nonlocal at
        at += 1
        return data[at - 1]

    def kept(state):
        node, board, numbers = state
        return node, board.copy(stack=False), {color: list(own) for color, own in numbers.items()}

    while (byte := more()) != END:
        node, board, numbers = state
        if byte == GLYPH:
            node.nags.add(more())
        elif byte == COMMENT:
            words = " ".join(text(next(comments)).split())
            if first is None:
                node.comment = words
            else:
                first = words
        elif byte == OPEN:
            around.append((state, before))
            state, first = kept(before), ""
        elif byte == CLOSE:
            (state, before), first = around.pop(), None
        else:
            move = move_of(board, numbers, byte, more)
            assert not move or board.is_legal(move), (board.fen(), move)
            before = kept(state)
            play(board, numbers, move)
            state, first = (node.add_variation(move, starting_comment=first or ""), board, numbers), None


def game_of(data, is_chess960, tags):
    """A game of its bytes."""
    game, at = chess.pgn.Game(), 0
    while (kind := data[at]) != 0:
        at += 1
        if kind == 255:
            at += 3
            continue
        if kind <= 240:
            name = text(data[at : at + kind])
            at += kind
        else:
            name = COMMON[kind - 241]
        tags.setdefault(name, text(data[at + 1 : at + 1 + data[at]]))
        at += 1 + data[at]
    flags = data[at + 1]
    at += 2
    if flags & 1:
        fen = data[at : data.index(0, at)]
        at += len(fen) + 1
        tags.update(FEN=text(fen), SetUp="1")
        if is_chess960:
            tags.setdefault("Variant", "Chess960")
    game.headers = chess.pgn.Headers(tags)
    moves = at
    count = 0
    while data[at] != END:
        count += data[at] == COMMENT
        at += 2 if data[at] == GLYPH else 1
    comments = data[at + 1 :].split(b"\0")
    assert len(comments) == count + 1 and not comments[-1]
    add_moves(game, data[moves : at + 1], comments, first_numbers(game.board(), flags & 1))
    return game


def games(path):
    """The numbers and games of a database, without deleted ones."""
    path = Path(path)
    version = int(path.suffix[-1])
    index, names, stored = (path.with_suffix(f".s{part}{version}").read_bytes() for part in "ing")
    lists = names4(names) if version == 4 else names5(names)
    header, size, record = (182, 47, record4) if version == 4 else (0, 56, record5)
    if version == 4:
        assert index.startswith(b"Scid.si\0\x01\x90") and names.startswith(b"Scid.sn\0")
    for number, at in enumerate(range(header, len(index), size), 1):
        offset, length, flags, numbers, is_chess960, played, event_date, ratings, result, eco = record(index[at : at + size])
        if flags & 8:
            continue
        white, black, event, site, round_ = (lists[kind].get(number) or "?" for kind, number in zip((0, 0, 1, 2, 3), numbers, strict=True))
        tags = {"Event": event, "Site": site, "Date": date(played), "Round": round_, "White": white, "Black": black, "Result": RESULTS[result]}
        for side, (rating, kind) in zip(("White", "Black"), ratings, strict=True):
            if rating:
                tags[side + RATINGS[kind]] = str(rating)
        tags.update({name: value for name, value in (("ECO", opening(eco)), ("EventDate", date(event_date) if event_date else "")) if value})
        yield number, game_of(stored[offset : offset + length], is_chess960, tags)


if __name__ == "__main__":
    for number, game in games(sys.argv[1]):
        if len(sys.argv) < 3 or number == int(sys.argv[2]):
            print(game, end="\n\n")
