"""Arena books: writes small ones, and reads any as a second opinion."""

import struct

import chess
import chess.polyglot

HEADER = 25200
RECORD = struct.Struct("<BBbB3iI2i")
ROOT = HEADER // RECORD.size
DELETED = 1
PROMOTIONS = {0: None, 1: chess.ROOK, 2: chess.KNIGHT, 3: chess.BISHOP, 4: chess.QUEEN}
FIELDS = {
    "min_games": 0xDE,
    "min_wins": 0xE2,
    "min_white": 0xE6,
    "min_black": 0xEA,
    "by_priority": 0xEE,
    "by_games": 0xF2,
    "by_score": 0xF6,
    "last_ply": 0xFA,
}


class Abk:
    """A tree on its way into a file."""

    def __init__(self, comment="", author="", **fields):
        self.header = bytearray(b"x" * HEADER)
        self.header[:12] = b"\x03ABK" + struct.pack("<II", HEADER, RECORD.size)
        for at, room, text in ((0x0C, 120, comment), (0x85, 80, author)):
            raw = text.encode("latin-1")
            self.header[at : at + 1 + room] = bytes([len(raw)]) + raw.ljust(room, b"\0")
        values = dict.fromkeys(FIELDS, 0) | {"by_priority": 1, "by_games": 1, "last_ply": 9999} | fields
        for name, at in FIELDS.items():
            struct.pack_into("<i", self.header, at, values[name])
        self.records = []
        self.known = {}

    def line(self, moves, priority=5, games=1, wins=0, losses=0):
        """Every move of a line; the last one gets these numbers, and so do those that are new."""
        path = ()
        for uci in moves.split():
            before, path = path, (*path, uci)
            if path not in self.known:
                move = chess.Move.from_uci(uci)
                code = next(code for code, piece in PROMOTIONS.items() if piece == move.promotion)
                number = len(self.records) + ROOT
                siblings = [known for line, known in self.known.items() if line[:-1] == before]
                if siblings:
                    self.records[siblings[-1]][9] = number
                elif before:
                    self.records[self.known[before]][8] = number
                self.known[path] = len(self.records)
                self.records.append([move.from_square, move.to_square, code, priority, games, wins, losses, 0, -1, -1])
        self.records[self.known[path]][3:7] = [priority, games, wins, losses]
        return self

    def write(self, path):
        path.write_bytes(bytes(self.header) + b"".join(RECORD.pack(*record) for record in self.records))
        return path


def read(path):
    """The moves of each position by its key: {key: {uci: [(priority, games, White's wins, White's losses)]}}."""
    data = path.read_bytes()
    known = {}
    seen = set()
    stack = [(ROOT, chess.Board())]
    while stack:
        number, board = stack.pop()
        while number > 0:
            assert number not in seen and (number + 1) * RECORD.size <= len(data), number
            seen.add(number)
            record = RECORD.unpack_from(data, number * RECORD.size)
            source, target, promotion, priority, games, wins, losses, flags, child, number = record
            if flags >> 24 == DELETED:
                continue
            move = chess.Move(source, target, PROMOTIONS[abs(promotion)])
            assert move in board.legal_moves, (board.fen(), move)
            at = known.setdefault(chess.polyglot.zobrist_hash(board), {})
            at.setdefault(move.uci(), []).append((priority, games, wins, losses))
            after = board.copy(stack=False)
            after.push(move)
            stack.append((child, after))
    return known
