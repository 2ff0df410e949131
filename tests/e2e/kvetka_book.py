"""Kvetka books: reads any as a second opinion, with keys and moves by python-chess."""

import struct

import chess

BLOCK = 2048
KEY = 22
PIECES = {
    chess.PAWN: "11",
    chess.ROOK: "1011",
    chess.BISHOP: "1010",
    chess.KNIGHT: "1001",
    chess.QUEEN: "10001",
    chess.KING: "10000",
}
ROOK = [(0, step) for step in range(1, 8)] + [(step, 0) for step in range(1, 8)]
BISHOP = [(step, step) for step in range(1, 8)] + [(8 - step, step) for step in range(1, 8)]
# How many pieces of a kind have codes, the first code, and the steps of each: files to the right and ranks up.
GROUPS = [
    (chess.PAWN, 8, 0x00, [(0, 1), (0, 2), (1, 1), (7, 1)]),
    (chess.KNIGHT, 2, 0x20, [(1, 2), (7, 2), (2, 1), (6, 1), (2, 7), (6, 7), (1, 6), (7, 6)]),
    (chess.BISHOP, 2, 0x30, BISHOP),
    (chess.ROOK, 2, 0x4C, ROOK),
    (chess.QUEEN, 3, 0x68, ROOK + BISHOP),
    (chess.KING, 1, 0xBC, [(0, 1), (1, 1), (7, 1), (1, 0), (7, 0), (0, 7), (1, 7), (7, 7)]),
]
STEPS = {
    first + number * len(steps) + at: (kind, number, *step)
    for kind, count, first, steps in GROUPS
    for number in range(count)
    for at, step in enumerate(steps)
}


def turned(board):
    """The board as if White were to move with the king on the right, and whether files were mirrored."""
    if board.turn == chess.BLACK:
        board = board.mirror()
    mirrored = not board.castling_rights and chess.square_file(board.king(chess.WHITE)) < 4
    if mirrored:
        passed = board.ep_square
        board = board.transform(chess.flip_horizontal)
        board.ep_square = None if passed is None else passed ^ 7
    return board, mirrored


def squares():
    return [chess.square(file, rank) for file in range(8) for rank in range(8)]


def key(board):
    """The 22 bytes under which a book knows a position."""
    board, _ = turned(board)
    bits = ""
    for square in squares():
        piece = board.piece_at(square)
        bits += PIECES[piece.piece_type] + str(int(not piece.color)) if piece else "0"
    file = 0
    if board.ep_square is not None:
        beside = chess.square(chess.square_file(board.ep_square), 4)
        for step in (-1, 1):
            other = chess.square_file(beside) + step
            pawn = chess.Piece(chess.PAWN, chess.WHITE)
            if 0 <= other < 8 and board.piece_at(chess.square(other, 4)) == pawn:
                file = chess.square_file(beside) + 1
    bits += f"{file:04b}"
    for color in (chess.BLACK, chess.WHITE):
        bits += str(int(board.has_kingside_castling_rights(color)))
        bits += str(int(board.has_queenside_castling_rights(color)))
    assert len(bits) <= 8 * KEY
    return int(bits.ljust(8 * KEY, "0"), 2).to_bytes(KEY, "big")


def moves(board, codes):
    """The moves of a position that codes mean, in UCI notation."""
    normal, mirrored = turned(board)
    found = []
    for code in codes:
        if code in (0xC4, 0xC5):
            source, target = chess.E1, chess.G1 if code == 0xC4 else chess.C1
        else:
            kind, number, right, up = STEPS[code]
            pieces = normal.pieces(kind, chess.WHITE)
            source = [square for square in squares() if square in pieces][number]
            file, rank = chess.square_file(source) + right, chess.square_rank(source) + up
            target = chess.square(file % 8, rank % 8)
        promotion = chess.QUEEN if normal.piece_type_at(source) == chess.PAWN and target >= chess.A8 else None
        flip = (7 if mirrored else 0) ^ (0 if board.turn else 56)
        move = chess.Move(source ^ flip, target ^ flip, promotion)
        assert move in board.legal_moves, (board.fen(), hex(code), move)
        found.append(move.uci())
    return found


def compact(data, at):
    value = 0
    while True:
        byte = data[at]
        at += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at


def text(data, at, width):
    (length,) = struct.unpack_from(">I", data, at)
    end = at + 4 + width * length
    return data[at + 4 : end].decode("utf-16-be" if width == 2 else "latin-1"), end


class Kvetka:
    """All elements of a book, and its games."""

    def __init__(self, stem):
        parts = []
        while (path := stem.with_name(f"{stem.name}_{len(parts)}.kob")).exists():
            assert path.stat().st_size <= 20 * 1024 * 1024
            parts.append(path.read_bytes())
        data = b"".join(parts)
        assert data[0] == 1
        self.caption, at = text(data, 1, 2)
        *self.least_elo, self.plies, self.kind, self.links, blocks = struct.unpack_from(">4H3BI", data, at)
        start = at + 15
        assert all((len(part) - (start if number == 0 else 0)) % BLOCK == 0 for number, part in enumerate(parts))
        assert len(data) - start == blocks * BLOCK
        self.elements = {}
        firsts = []
        order = []
        for at in range(start, len(data), BLOCK):
            end = at + struct.unpack_from(">H", data, at)[0]
            at += 2
            firsts.append(None)
            while at < end:
                length, behind = compact(data, at)
                assert behind + length - at <= 682
                name = data[behind : behind + KEY]
                firsts[-1] = firsts[-1] or name
                order.append(name)
                self.elements[name] = self.element(data, behind + KEY, behind + length)
                at = behind + length
            assert at == end
        assert order == sorted(set(order))
        index = stem.with_name(f"{stem.name}.kin")
        if index.exists():
            assert index.read_bytes() == b"".join(firsts)
        games = stem.with_name(f"{stem.name}.ksf")
        self.sources = self.games(games.read_bytes()) if games.exists() else []

    def element(self, data, at, end):
        wins, at = compact(data, at)
        draws, at = compact(data, at)
        losses, at = compact(data, at)
        count = data[at]
        codes = data[at + 1 : at + 1 + count]
        at += 1 + count
        flags, at = data[at], at + 1
        link = comment = None
        if flags & 4:
            link, at = struct.unpack_from(">HI", data, at), at + 6
        if flags & 1:
            comment, at = text(data, at, 2)
        assert at == end and flags & ~5 == 0
        return (wins, draws, losses), codes, link, comment

    @staticmethod
    def games(data):
        (count,) = struct.unpack_from(">I", data)
        sources = []
        for start in struct.unpack_from(f">{count}I", data, 4):
            assert start >= 4 + 4 * count
            kind, gone = data[start : start + 2]
            address, at = text(data, start + 2, 2)
            (games,) = struct.unpack_from(">I", data, at)
            at += 4
            source = (kind, gone, address, [])
            for _ in range(games):
                offset, length = struct.unpack_from(">2I", data, at)
                white, at = text(data, at + 8, 1)
                black, at = text(data, at, 1)
                source[3].append((offset, length, white, black, *struct.unpack_from(">2HB", data, at)))
                at += 5
            sources.append(source)
        return sources
