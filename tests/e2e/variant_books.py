"""Books of one line of each variant, by python-chess's keys."""

import struct

import chess
import chess.polyglot
import chess.variant

BOARDS = {
    "antichess": (chess.variant.AntichessBoard, "e2e3 b7b5 f1b5 c8a6"),
    "atomic": (chess.variant.AtomicBoard, "g1f3 f7f6 b1c3 d7d5 c3d5 c7c6 e2e4 e7e5"),
    "crazyhouse": (chess.variant.CrazyhouseBoard, "e2e4 d7d5 e4d5 d8d5 b1c3 P@d4 c3d5 a7a6 Q@e4"),
    "horde": (chess.variant.HordeBoard, "e4e5 d7d6 e5d6 c7d6"),
    "kingofthehill": (chess.variant.KingOfTheHillBoard, "e2e4 e7e5 e1e2 e8e7 e2d3 e7e8 d3c4 e8e7 c4d5"),
    "racingkings": (chess.variant.RacingKingsBoard, "h2h3 a2a3"),
    "3check": (chess.variant.ThreeCheckBoard, "e2e4 e7e5 d1h5 b8c6 h5f7"),
}


def code_of(move):
    """A move that is no castling, as books have it."""
    to = move.to_square
    source, promotion = (to, move.drop) if move.drop else (move.from_square, move.promotion or 1)
    return (promotion - 1) << 12 | source << 6 | to


def book_of(board, line, path):
    """A book of one line, by python-chess's keys."""
    entries = []
    for move in map(chess.Move.from_uci, line.split()):
        entries.append((chess.polyglot.zobrist_hash(board), code_of(move)))
        assert board.is_legal(move), move
        board.push(move)
    path.write_bytes(b"".join(struct.pack(">QHHI", key, code, 1, 0) for key, code in sorted(entries)))
    return path
