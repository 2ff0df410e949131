"""Writes small databases of Scid, of version 4 or 5: games with variations, comments and glyphs."""

import struct

import chess
import chess.pgn
from readers import read_scid

SEVEN = ["Event", "Site", "Date", "Round", "White", "Black", "Result"]
ABOVE = {"FEN", "WhiteElo", "BlackElo", "ECO", "EventDate"}


def code_of(board, numbers, move):
    """The bytes of a move."""
    if not move:
        return bytes(1)
    start, to = move.from_square, move.to_square
    number = numbers[board.turn].index(start)
    file, rank, role = chess.square_file(to), chess.square_rank(to), board.piece_type_at(start)
    more = b""
    if board.is_castling(move):
        code = 10 if board.is_kingside_castling(move) else 9
    elif role == chess.KING:
        code = 1 + read_scid.KING.index(to - start)
    elif role == chess.KNIGHT:
        code = 1 + read_scid.KNIGHT.index(to - start)
    elif role == chess.BISHOP:
        code = file if (file - chess.square_file(start)) == rank - chess.square_rank(start) else file + 8
    elif role == chess.PAWN:
        steps = abs(to - start)
        code = 15 if steps == 16 else steps - 7 + 3 * read_scid.PROMOTIONS.index(move.promotion)
    elif rank == chess.square_rank(start):
        code = file
    elif file == chess.square_file(start):
        code = rank + 8
    else:
        code, more = chess.square_file(start), bytes([to + 64])
    return bytes([number << 4 | code]) + more


def put_moves(node, numbers, out, comments):
    """Writes the moves after a node, with the variations that replace them."""
    board = node.board()
    while node.variations:
        main, *others = node.variations
        before = {color: list(own) for color, own in numbers.items()}
        put(main, board.copy(stack=False), numbers, out, comments)
        for other in others:
            out += bytes([read_scid.OPEN])
            if other.starting_comment:
                out += bytes([read_scid.COMMENT])
                comments.append(other.starting_comment)
            own = {color: list(squares) for color, squares in before.items()}
            put(other, board.copy(stack=False), own, out, comments)
            put_moves(other, own, out, comments)
            out += bytes([read_scid.CLOSE])
        node, board = main, main.board()


def put(node, board, numbers, out, comments):
    """Writes a move with what is said of it, and plays it."""
    out += code_of(board, numbers, node.move)
    for glyph in sorted(node.nags):
        out += bytes([read_scid.GLYPH, glyph])
    if node.comment:
        out += bytes([read_scid.COMMENT])
        comments.append(node.comment)
    read_scid.play(board, numbers, node.move)


def stored(game):
    """The bytes of a game."""
    out, comments = bytearray(), []
    for name, value in game.headers.items():
        if name not in SEVEN and name not in ABOVE:
            common = name in read_scid.COMMON
            out += bytes([241 + read_scid.COMMON.index(name)]) if common else bytes([len(name)]) + name.encode()
            out += bytes([len(value.encode())]) + value.encode()
    board = game.board()
    fen = game.headers.get("FEN")
    out += bytes([0, 1]) + fen.encode() + bytes(1) if fen else bytes(2)
    if game.comment:
        out += bytes([read_scid.COMMENT])
        comments.append(game.comment)
    put_moves(game, read_scid.first_numbers(board, fen is not None), out, comments)
    return bytes(out) + bytes([read_scid.END]) + b"".join(comment.encode() + b"\0" for comment in comments)


def date(value):
    year, month, day = (0 if "?" in part else int(part) for part in value.split("."))
    return year << 9 | month << 5 | day


def names4(lists):
    """The file of names of version 4, each list sorted and front-coded."""
    out = b"Scid.sn\0" + bytes(4) + b"".join(len(known).to_bytes(3, "big") for known in lists) + b"\0\0\1" * 4
    for known in lists:
        before = b""
        for nth, name in enumerate(sorted(name.encode() for name in known)):
            shared = 0
            while shared < min(len(name), len(before)) and name[shared] == before[shared]:
                shared += 1
            head = known[name.decode()].to_bytes(2, "big") + bytes([1, len(name)])
            out += head + (bytes([shared]) + name[shared:] if nth else name)
            before = name
    return out


def names5(lists):
    out = b""
    for kind, known in enumerate(lists):
        for name in known:
            number = 8 * len(name.encode()) + kind
            while number >= 0x80:
                out += bytes([number & 0x7F | 0x80])
                number >>= 7
            out += bytes([number]) + name.encode()
    return out


def write(path, games, deleted=()):
    """A database of games, of the version that its name ends with; those of these numbers are marked as deleted."""
    version = int(path.suffix[-1])
    records, data, lists = b"", b"", [{}, {}, {}, {}]
    for nth, game in enumerate(games, 1):
        tags, content = game.headers, stored(game)
        white, black, event, site, round_ = (
            lists[kind].setdefault(tags[tag], len(lists[kind])) for kind, tag in ((0, "White"), (0, "Black"), (1, "Event"), (2, "Site"), (3, "Round"))
        )
        played, result = date(tags["Date"]), read_scid.RESULTS.index(tags["Result"])
        ratings = [int(tags.get(side + "Elo", 0)) for side in ("White", "Black")]
        letter, number = tags.get("ECO", "A00")[0], int(tags.get("ECO", "A00")[1:])
        eco = 131 * (100 * "ABCDE".index(letter) + number) + 1 if "ECO" in tags else 0
        event_date = date(tags.get("EventDate", "????.??.??"))
        flags = ("FEN" in tags) | (8 if nth in deleted else 0)
        if version == 4:
            near = (event_date >> 9) - (played >> 9) + 4
            assert not event_date or 1 <= near <= 7
            near = near << 9 | event_date & 0x1FF if event_date else 0
            records += struct.pack(">IHBHBHHBHHHHHIHH", len(data), len(content) & 0xFFFF, len(content) >> 16 << 7, flags, 0, white, black, 0, event, site, round_, result << 12, eco, near << 20 | played, *ratings)
            records += bytes(47 - 33)
        else:
            is_chess960 = tags.get("Variant") == "Chess960"
            words = [white, black, event, site, is_chess960 << 31 | round_, ratings[0] << 20 | played, ratings[1] << 20 | event_date, flags]
            records += struct.pack("<12I", *words, len(content) << 15 | len(data) >> 32, len(data) & 0xFFFFFFFF, 0, result << 16 | eco) + bytes(8)
        data += content
    header = b"Scid.si\0" + struct.pack(">HI", 400, 0) + len(games).to_bytes(3, "big") + bytes(165) if version == 4 else b""
    path.write_bytes(header + records)
    path.with_suffix(f".sn{version}").write_bytes((names4 if version == 4 else names5)(lists))
    path.with_suffix(f".sg{version}").write_bytes(data)
    return path
