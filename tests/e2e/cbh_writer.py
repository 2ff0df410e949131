"""Writes small ChessBase databases: games with variations, in any encoding mode."""

import struct

import chess

from readers import cbh_moves, read_cbh, read_cbv

HEADER = 26
# Bytes of a file in each block of an archive.
BLOCK = 61440
SETUP_KINDS = cbh_moves.SETUP_KINDS


def index(square):
    """ChessBase's number of a square."""
    return chess.square_file(square) << 3 | chess.square_rank(square)


class Encoder:
    """The moves of a game on their way into bytes."""

    def __init__(self, mode, board):
        self.mode, self.board, self.count, self.out = mode, board, 0, bytearray()
        self.numbers = cbh_moves.first_numbers(board, mode)
        self.kept = []
        # Of simple moves the marks are bits of the move before or after them.
        self.pushed = 0

    def put(self, *plain):
        table = cbh_moves.TABLES[self.mode]
        for byte in plain:
            if self.mode < 4:
                self.out.append((table.index(byte) + self.count) % 256)
            else:
                self.out.append(table.index((byte + self.count) % 256))

    def push(self):
        self.kept.append((self.board.copy(stack=False), dict(self.numbers)))
        if self.mode in cbh_moves.SIMPLE:
            self.pushed = 0x8000
        else:
            self.put(cbh_moves.PUSH)

    def move(self, move, ends):
        """Writes a move; whether its line ends with it."""
        code, word = self.code(move)
        if self.mode in cbh_moves.SIMPLE:
            if self.mode in cbh_moves.REVERSED:
                word = word & 0x3000 | word >> 6 & 0x3F | (word & 0x3F) << 6
            word |= self.pushed | (0x4000 if ends else 0)
            self.put(word >> 8, word & 0xFF)
            self.pushed = 0
        else:
            self.put(code, *(struct.pack(">H", word) if code == cbh_moves.LONG else b""))
        self.count += 1
        cbh_moves.play(self.board, self.numbers, move)
        if ends:
            if self.mode not in cbh_moves.SIMPLE:
                self.put(cbh_moves.POP)
            self.board, self.numbers = self.kept.pop() if self.kept else (None, None)

    def code(self, move):
        """The code of a move, and its number as a long move."""
        board = self.board
        if not move:
            return cbh_moves.NULL, 0
        kind = board.piece_type_at(move.from_square)
        source, target = index(move.from_square), index(move.to_square)
        promotion = cbh_moves.PROMOTIONS.index(move.promotion) if move.promotion else 0
        code = cbh_moves.LONG
        if board.is_castling(move):
            short = board.is_kingside_castling(move)
            if board.chess960:
                source = target = index(chess.square(6 if short else 2, chess.square_rank(move.from_square)))
            else:
                code = cbh_moves.STEPS.index((chess.KING, 0, "O-O" if short else "O-O-O"))
        elif not move.promotion:
            own = sorted(self.numbers[at] for at in board.pieces(kind, board.turn))
            number = self.numbers[move.from_square]
            piece = number if kind == chess.PAWN else own.index(number)
            sign = 1 if kind != chess.PAWN or board.turn else -1
            right = sign * (chess.square_file(move.to_square) - chess.square_file(move.from_square)) % 8
            up = sign * (chess.square_rank(move.to_square) - chess.square_rank(move.from_square)) % 8
            code = CODES.get((kind, piece, right, up), code)
        return code, source | target << 6 | promotion << 12


CODES = {
    (kind, piece, step[0] % 8, step[1] % 8): code
    for code, (kind, piece, step) in enumerate(cbh_moves.STEPS[1:], 1)
    if not isinstance(step, str)
}


def encoded(mode, game):
    """The bytes of the moves of a game, variations first as the format has them: the main continuation, then the others."""
    encoder = Encoder(mode, game.board())
    waiting = list(reversed(game.variations))
    while waiting:
        node = waiting.pop()
        if node is not node.parent.variations[-1]:
            encoder.push()
        encoder.move(node.move, not node.variations)
        waiting += reversed(node.variations)
    return bytes(encoder.out)


def setup(board):
    """The bytes of a starting position."""
    bits = ""
    for at in range(64):
        piece = board.piece_at(cbh_moves.square(at))
        bits += f"1{int(not piece.color)}{SETUP_KINDS.index(piece.piece_type):03b}" if piece else "0"
    file = 0 if board.ep_square is None else chess.square_file(board.ep_square) + 1
    rights, rooks = 0, []
    for color in (chess.WHITE, chess.BLACK):
        own = sorted(chess.scan_forward(board.castling_rights & (chess.BB_RANK_1 if color else chess.BB_RANK_8)))
        for short in (False, True):
            rook = next((at for at in own if (at > board.king(color)) == short), None)
            rights |= 0 if rook is None else 1 << 2 * (not color) + short
            rooks.append(0 if rook is None else index(rook))
    found = bytes([1, file | (0 if board.turn else 0x10), rights, board.fullmove_number])
    found += int(bits.ljust(192, "0"), 2).to_bytes(24, "big")
    if board.chess960:
        kings = [index(board.king(chess.WHITE)), index(board.king(chess.BLACK))]
        found += bytes([*kings, rooks[1], rooks[0], rooks[3], rooks[2], 0, 0])
    return found


def names(records, size, *fields):
    """A file of names: the texts of each record, its bytes, and the offset and room of each text."""
    found = struct.pack("<7i", len(records), -1, 1234567890, size, -1, len(records), 4) + bytes(4)
    for texts in records:
        record = bytearray(size)
        for (at, room), text in zip(fields, texts, strict=True):
            record[at : at + room] = text.encode("utf-8")[:room].ljust(room, b"\0")
        found += bytes(9) + record
    return found


def write(path, games):
    """A database of pairs of a mode and a game; games of Chess960 start from one of its positions."""
    records, moves = b"", bytearray(struct.pack(">H", HEADER).ljust(HEADER, b"\0"))
    players, events = [], []
    for mode, game in games:
        tags, board = game.headers, game.board()
        # Every other game of Chess960 names its starting position by number only.
        numbered = mode in cbh_moves.CHESS960 and len(events) % 2
        start = b"" if numbered or board.fen() == chess.STARTING_FEN and not board.chess960 else setup(board)
        body = start + encoded(mode, game)
        record = bytearray(read_cbh.RECORD)
        record[0] = 1
        record[1:5] = struct.pack(">I", len(moves))
        for at, number in ((9, len(players)), (12, len(players) + 1), (15, len(events))):
            record[at : at + 3] = number.to_bytes(3, "big")
        record[27] = read_cbh.RESULTS.index(tags["Result"])
        record[29] = int(tags["Round"]) if tags["Round"].isdigit() else 0
        record[31:35] = struct.pack(">2H", int(tags.get("WhiteElo", 0)), int(tags.get("BlackElo", 0)))
        if mode in cbh_moves.CHESS960:
            record[35:37] = struct.pack(">H", 64576 + board.chess960_pos())
        players += [tags["White"].split(", "), tags["Black"].split(", ")]
        events.append([tags["Event"], tags["Site"]])
        moves += bytes([mode | (0x40 if start else 0)]) + (4 + len(body)).to_bytes(3, "big") + body
        records += record
    moves[2:6] = struct.pack(">I", len(moves))
    header = bytes(1) + struct.pack(">HHBI", 0x2C, read_cbh.RECORD, 1, len(games) + 1)
    path.write_bytes(header.ljust(read_cbh.RECORD, b"\0") + records)
    path.with_suffix(".cbg").write_bytes(moves)
    path.with_suffix(".cbp").write_bytes(names(players, 58, (0, 30), (30, 20)))
    path.with_suffix(".cbt").write_bytes(names(events, 90, (0, 40), (40, 30)))
    return path


def pack(database):
    """The archive of a database beside it: its files, stored as they are."""
    files = sorted(file for file in database.parent.glob(f"{database.stem}.cb?") if file.suffix != ".cbv")
    packed, directory = b"", b""
    for file in files:
        content = file.read_bytes()
        blocks = [b"\0" + content[at : at + BLOCK] for at in range(0, len(content), BLOCK)]
        member = b"".join(struct.pack("<2H", len(block), read_cbv.checksum(block)) + block for block in blocks)
        numbers = 8 + 173 * len(files) + len(packed), len(member), len(content)
        entry = file.name.encode().ljust(128, b"\0") + struct.pack("<3IB", *numbers, 1)
        directory += entry.ljust(149, b"\0") + struct.pack("<3Q", *numbers)
        packed += member
    archive = database.with_suffix(".cbv")
    archive.write_bytes(struct.pack("<4H", 8, len(files), 173, 3) + directory + packed)
    return archive
