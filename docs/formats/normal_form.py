"""The normal form of positions in ChessBase's and Kvetka's books, as ctg.md describes it under Signature."""

import chess

PIECES = {
    chess.PAWN: "11",
    chess.KNIGHT: "1001",
    chess.BISHOP: "1010",
    chess.ROOK: "1011",
    chess.QUEEN: "10001",
    chess.KING: "10000",
}
SQUARES = [chess.square(file, rank) for file in range(8) for rank in range(8)]

# The steps of pieces that go along lines, right and up.
ROOK = [(0, far) for far in range(1, 8)] + [(far, 0) for far in range(1, 8)]
BISHOP = [(far, far) for far in range(1, 8)] + [(-far, far) for far in range(1, 8)]


def numbered(groups):
    """The steps of all pieces: kind, number, right, up. A group has a kind, how many pieces, and the steps of each."""
    return [(kind, number, *step) for kind, pieces, steps in groups for number in range(pieces) for step in steps]


def normal(board):
    """The normal form of a position, and whether its files are mirrored."""
    board = board.copy(stack=False) if board.turn else board.mirror()
    mirrored = not board.clean_castling_rights() and chess.square_file(board.king(chess.WHITE)) < 4
    return (board.transform(chess.flip_horizontal) if mirrored else board), mirrored


def board_bits(board):
    """The squares of a normal form as a string of bits."""
    pieces = [board.piece_at(square) for square in SQUARES]
    return "".join(PIECES[piece.piece_type] + "10"[piece.color] if piece else "0" for piece in pieces)


def castling_bits(board):
    """The castling rights of a normal form, in the order k, q, K, Q."""
    sides = (board.has_kingside_castling_rights, board.has_queenside_castling_rights)
    return "".join("01"[has(color)] for color in (chess.BLACK, chess.WHITE) for has in sides)


def after(board, move):
    """The position after a move."""
    board = board.copy(stack=False)
    board.push(move)
    return board


def move(board, kind, number, right, up):
    """The legal move of a piece, by its number from 0, with a step in the normal form; None if there is none."""
    turned, mirrored = normal(board)
    pieces = [square for square in SQUARES if square in turned.pieces(kind, chess.WHITE)]
    if number >= len(pieces):
        return None
    source = pieces[number]
    target = chess.square((chess.square_file(source) + right) % 8, (chess.square_rank(source) + up) % 8)
    promotion = chess.QUEEN if kind == chess.PAWN and target >= chess.A8 else None
    flip = (7 if mirrored else 0) ^ (0 if board.turn else 56)
    found = chess.Move(source ^ flip, target ^ flip, promotion)
    return found if board.is_legal(found) else None
