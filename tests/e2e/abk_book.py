"""Writes small Arena books."""

import struct

import chess

from readers import read_abk

HEADER, RECORD, ROOT = read_abk.HEADER_LENGTH, read_abk.RECORD, read_abk.ROOT
FIELDS = {name: at for name, at in read_abk.NUMBERS.items() if name != "records"}


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
                code = read_abk.PROMOTIONS.index(move.promotion)
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
