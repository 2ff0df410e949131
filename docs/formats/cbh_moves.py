"""Starting position and moves of a game in a ChessBase database; the tables of the modes are taken from cbh.md."""

import re
from pathlib import Path

import chess

PAGE = Path(__file__).with_name("cbh.md").read_text(encoding="utf-8")
TABLES = {int(mode): bytes.fromhex(table) for mode, table in re.findall(r"### Mode (\d+)\n\n```\n([^`]+)```", PAGE)}
CHESS960, REVERSED, SIMPLE = (10, 11), (2, 3, 6, 7, 11), (1, 3, 5, 7)
SETUP_KINDS = [None, chess.KING, chess.QUEEN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.PAWN]
PROMOTIONS = [chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT]
CORNERS = [chess.A1, chess.H1, chess.A8, chess.H8]

# The steps in the order of their codes: kind, numbers of the pieces, files to the right and ranks up.
ROOK = [(0, far) for far in range(1, 8)] + [(far, 0) for far in range(1, 8)]
BISHOP = [(far, far) for far in range(1, 8)] + [(far, -far) for far in range(1, 8)]
KNIGHT = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]
GROUPS = [
    (chess.KING, [0], [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1), "O-O", "O-O-O"]),
    (chess.QUEEN, [0], ROOK + BISHOP),
    (chess.ROOK, [0, 1], ROOK),
    (chess.BISHOP, [0, 1], BISHOP),
    (chess.KNIGHT, [0, 1], KNIGHT),
    (chess.PAWN, range(8), [(0, 1), (0, 2), (1, 1), (-1, 1)]),
    (chess.QUEEN, [1, 2], ROOK + BISHOP),
    (chess.ROOK, [2], ROOK),
    (chess.BISHOP, [2], BISHOP),
    (chess.KNIGHT, [2], KNIGHT),
]
STEPS = [None] + [(kind, piece, step) for kind, pieces, steps in GROUPS for piece in pieces for step in steps]
NULL, LONG, PUSH, POP = 0x00, 0xEB, 0xFE, 0xFF


def number(data, at, size, order="big"):
    return int.from_bytes(data[at : at + size], order)


def square(index):
    """The square of a number: a1 is 0, a2 is 1, b1 is 8."""
    return chess.square(index >> 3 & 7, index & 7)


def start(mode, data, opening):
    """The board that a game begins with; `data` has the starting position, or nothing."""
    if not data:
        return chess.Board.from_chess960_pos(opening - 64576) if mode in CHESS960 else chess.Board()
    board = chess.Board(None, chess960=mode in CHESS960)
    bits = iter(f"{number(data, 4, 24):0192b}")
    for index in range(64):
        if next(bits) == "1":
            color, kind = next(bits) == "0", int(next(bits) + next(bits) + next(bits), 2)
            board.set_piece_at(square(index), chess.Piece(SETUP_KINDS[kind], color))
    board.turn, board.fullmove_number = not data[1] & 0x10, max(data[3], 1)
    if file := data[1] & 15:
        board.ep_square = chess.square(file - 1, 5 if board.turn else 2)
    rooks = [square(data[28 + at]) for at in (3, 2, 5, 4)] if board.chess960 else CORNERS
    board.castling_rights = sum(chess.BB_SQUARES[rook] for bit, rook in enumerate(rooks) if data[2] >> bit & 1)
    return board


def codes(mode, data):
    """The codes of a game, each with the number of a long move. Simple moves become long moves and marks."""
    table, count, at = TABLES[mode], 0, 0
    while at < len(data):
        three = data[at : at + 3]
        plain = [table[(byte - count) % 256] if mode < 4 else (table[byte] - count) % 256 for byte in three]
        if mode in SIMPLE:
            word, size = number(plain, 0, 2), 2
            yield from [(PUSH, 0)] * (word >> 15)
            swapped = word & 0x3000 | word >> 6 & 0x3F | (word & 0x3F) << 6
            yield LONG if word & 0xFFF else NULL, swapped if mode in REVERSED else word & 0x3FFF
            yield from [(POP, 0)] * (word >> 14 & 1)
            count += 1
        else:
            code, size = plain[0], 3 if plain[0] == LONG else 1
            yield code, number(plain, 1, 2) & 0x3FFF
            count += code <= LONG
        at += size


def first_numbers(board, mode):
    """The numbers of the pieces of a starting position, by their squares; counted from 0 for each colour and kind."""
    numbers, counts = {}, {}
    for index in range(63, -1, -1) if mode in REVERSED else range(64):
        if piece := board.piece_at(square(index)):
            numbers[square(index)] = counts[piece] = counts.get(piece, -1) + 1
    return numbers


def move_of(board, numbers, code, word):
    """The move that a code means. Raises a ValueError, IndexError or KeyError if there is none."""
    if code == NULL:
        return chess.Move.null()
    if code == LONG:
        source, target = square(word), square(word >> 6)
        if board.chess960 and source == target:
            return board.parse_san("O-O" if chess.square_file(target) == 6 else "O-O-O")
        promotion = PROMOTIONS[word >> 12]
    else:
        kind, piece, step = STEPS[code]
        if isinstance(step, str):
            return board.parse_san(step)
        own = sorted((numbers[at], at) for at in board.pieces(kind, board.turn))
        source = dict(own)[piece] if kind == chess.PAWN else own[piece][1]
        sign = 1 if kind != chess.PAWN or board.turn else -1
        file, rank = chess.square_file(source) + sign * step[0], chess.square_rank(source) + sign * step[1]
        target, promotion = chess.square(file % 8, rank % 8), chess.QUEEN
    last = board.piece_type_at(source) == chess.PAWN and chess.square_rank(target) in (0, 7)
    move = chess.Move(source, target, promotion if last else None)
    if not board.is_legal(move):
        raise ValueError(f"{move} is not legal")
    return move


def play(board, numbers, move):
    if board.is_castling(move):
        short, rank = board.is_kingside_castling(move), chess.square_rank(move.from_square)
        rook = move.to_square if board.chess960 else chess.square(7 if short else 0, rank)
        king, rook = numbers.pop(move.from_square), numbers.pop(rook)
        numbers[chess.square(6 if short else 2, rank)] = king
        numbers[chess.square(5 if short else 3, rank)] = rook
    elif move:
        if board.is_en_passant(move):
            del numbers[move.to_square ^ 8]
        numbers[move.to_square] = numbers.pop(move.from_square)
        if move.promotion:
            numbers[move.to_square] = 64 + board.ply()
    board.push(move)
