"""Games for the chaos test of learning: what is played, where it may be written, and what must come of it."""

import contextlib
import os
import re
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass, field

import chess

from polyglot_writer import Book, encode, key

ENTRY = struct.Struct(">QHHHH")
VERDICT = re.compile(r"game (\d+) as (White|Black), (\d+) plies, is (won|drawn|lost|of unknown result): (.*)$")
LOST = re.compile(r"not learned: |not kept either|neither kept")
POINTS = {"won": 2, "drawn": 1, "lost": 0}


@dataclass(eq=False)
class Plan:
    """A game to play. Its first question is about a position that no other game comes to."""

    kind: str
    fen: str
    # What was played before the first question.
    before: list
    # Our moves, entries of each book; the opponent's between them. After that both sides play anything.
    ours: list
    theirs: list

    def board(self):
        board = chess.Board(self.fen)
        for uci in self.before:
            board.push_uci(uci)
        return board

    def entries(self):
        """(board, uci) of each entry."""
        board, found = self.board(), []
        for at, uci in enumerate(self.ours):
            found.append((board.copy(stack=False), uci))
            board.push_uci(uci)
            if at < len(self.theirs):
                board.push_uci(self.theirs[at])
        return found


def by_scores(chance):
    """From the starting position; decided by the engine's scores."""
    board, before = chess.Board(), []
    for _ in range(chance.choice([4, 5])):
        before.append(chance.choice(sorted(move.uci() for move in board.legal_moves)))
        board.push_uci(before[-1])
    return Plan("scores", chess.STARTING_FEN, before, [chance.choice(sorted(move.uci() for move in board.legal_moves))], [])


def fools_mate(chance):
    """The black side of a fool's mate, beside pawns of its own."""
    ranks = [[" "] * 8 for _ in range(8)]
    ranks[0], ranks[7] = list("rnbqkbnr"), list("RNBQKBNR")
    for at in range(8):
        ranks[chance.choice([1, 2, 3]) if at < 3 else 1][at] = "p"
        ranks[6 - chance.choice([0, 1, 2]) if at < 3 else 6][at] = "P"
    board = chess.Board(None)
    for row, rank in enumerate(ranks):
        for file, piece in enumerate(rank):
            if piece != " ":
                board.set_piece_at(chess.square(file, 7 - row), chess.Piece.from_symbol(piece))
    board.castling_rights = chess.BB_CORNERS
    return Plan("mate", board.fen(), ["f2f3"], ["e7e5", "d8h4"], ["g2g4"])


def stalemate(chance):
    """White stalemates in two moves, beside pawns that block one another."""
    while True:
        board = chess.Board(None)
        for at in range(4):
            rank = chance.choice([None, 1, 2, 3, 4])
            if rank is not None:
                board.set_piece_at(chess.square(at, rank), chess.Piece.from_symbol("P"))
                board.set_piece_at(chess.square(at, rank + 1), chess.Piece.from_symbol("p"))
        board.set_piece_at(chess.H8, chess.Piece.from_symbol("k"))
        free = [square for square in range(40, 63) if square % 8 > 3]
        for piece, square in zip("KQ", chance.sample(free, 2), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        if not board.is_valid() or board.is_game_over():
            continue
        moves = sorted(board.legal_moves, key=lambda move: move.uci())
        for first in chance.sample(moves, len(moves)):
            line = board.copy()
            line.push(first)
            for reply in sorted(line.legal_moves, key=lambda move: move.uci()):
                line.push(reply)
                for second in line.legal_moves:
                    line.push(second)
                    if line.is_stalemate():
                        return Plan("stalemate", board.fen(), [], [first.uci(), second.uci()], [reply.uci()])
                    line.pop()
                line.pop()


def plans(chance, count):
    """So many games whose first positions are all different."""
    found, seen = [], set()
    while len(found) < count:
        plan = chance.choice([by_scores, by_scores, fools_mate, stalemate])(chance)
        keys = {key(board) for board, _ in plan.entries()}
        if not seen & keys:
            seen |= keys
            found.append(plan)
    return found


# Disks


class Tmpfs:
    """A small disk that can be full. Needs the right to mount one."""

    def __init__(self, path, size):
        self.path = path
        path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tabiya-chaos", path], check=True, capture_output=True)
        self.filler = path / "filler"

    def fill(self):
        with open(self.filler, "ab", buffering=0) as file:
            for block in (1 << 20, 4096, 64, 1):
                try:
                    while file.write(bytes(block)) == block:
                        pass
                except OSError:
                    pass

    def free(self):
        self.filler.unlink(missing_ok=True)

    def dispose(self):
        subprocess.run(["umount", "-l", self.path], check=False)


class Folder:
    """A folder that can be closed to writers. No hindrance to root."""

    def __init__(self, path):
        self.path = path
        path.mkdir()

    def fill(self):
        self._permit(0o555, 0o444)

    def free(self):
        self._permit(0o755, 0o644)

    def _permit(self, folder, files):
        for path in (self.path, *self.path.rglob("*")):
            # Files come and go meanwhile.
            with contextlib.suppress(FileNotFoundError):
                path.chmod(folder if path.is_dir() else files)

    def dispose(self):
        self.free()


def disk(path, size):
    """A disk of so many bytes that can be full, or what is nearest to it."""
    if sys.platform == "linux" and os.geteuid() == 0:
        try:
            return Tmpfs(path, size)
        except (OSError, subprocess.CalledProcessError):
            path.rmdir()
    return Folder(path)


class Disks:
    """The disk of the books and that of the logs and spools, of which one at most is full."""

    def __init__(self, folder, games):
        self.books = disk(folder / "books", (8 << 20) + (games << 10))
        # Logs take tens of kilobytes a game.
        self.logs = disk(folder / "logs", (8 << 20) + (games << 17))
        self.can_be_full = isinstance(self.books, Tmpfs) or os.geteuid() != 0
        self.full = None
        # How often each of them was filled.
        self.fills = {self.books: 0, self.logs: 0}
        self._lock = threading.Lock()

    def fill(self, which):
        with self._lock:
            if self.can_be_full:
                self._free()
                self.fills[which] += 1
                self.full = which
                which.fill()

    def free(self):
        with self._lock:
            self._free()

    def _free(self):
        if self.full:
            self.full.free()
            self.full = None

    def logs_were_full(self):
        """A number that changes when the disk of the logs is filled, and whether it is full now."""
        return self.fills[self.logs], self.full is self.logs

    def dispose(self):
        self.free()
        self.books.dispose()
        self.logs.dispose()


# What must come of it


@dataclass(eq=False)
class Played:
    """What is known of a game that was begun."""

    plan: Plan
    where: str
    # The book that answered the first question, by its number.
    book: int | None = None
    # How many of the plan's moves were answered.
    answered: int = 0
    # It had two moves of ours, and the adapter was not killed: it must have a verdict.
    due: bool = False
    # Nothing may be learned from it: learning was off from its first question on.
    off: bool = False
    # As tabiya reported it: won, drawn, lost, of unknown result; None where it did not.
    verdict: str | None = None
    # The disk of its spool was full at some time, and tabiya said that it is lost, or could not say so.
    excused: bool = False


@dataclass
class Books:
    """Books with the same entries; the weight of their entries tells which one has answered."""

    paths: list
    entries: dict = field(default_factory=dict)

    @classmethod
    def write(cls, folder, games, count=3):
        books = cls([folder / f"{name}.bin" for name in "abcdefgh"[:count]])
        for number, path in enumerate(books.paths):
            book = Book()
            for plan in games:
                for board, uci in plan.entries():
                    book.add(board, uci, weight=number + 1)
            book.write(path)
            books.entries[number] = path.read_bytes()
        return books

    def fields(self, number):
        """The learn field of each entry, by key and move; nothing else of the book may have changed."""
        before, data = self.entries[number], self.paths[number].read_bytes()
        assert len(before) == len(data), f"{self.paths[number]} has another length"
        found = {}
        for at in range(0, len(data), ENTRY.size):
            assert before[at : at + 12] == data[at : at + 12], f"{self.paths[number]}: byte {at} has changed"
            entry, move, _, games, points = ENTRY.unpack_from(data, at)
            found[entry, move] = (games, points)
        return found


def spooled(folder):
    """The games that wait in the spools below a folder: the JSON text of each."""
    found = []
    for path in sorted(folder.rglob("*.spool")):
        for line in path.read_bytes().split(b"\n"):
            # A line without an end was being written when its process was killed, or its disk was full.
            if line.startswith(b"+ ") and line.endswith(b"}"):
                found.append((path, line[19:].decode()))
    return found


def faults(games, books, waiting=()):
    """What is wrong with the books after these games. `waiting` are (plan, book's number) of games in a spool."""
    fields = [books.fields(number) for number in range(len(books.paths))]
    wrong = []
    for played in games:
        if played.due and not played.off and played.verdict is None:
            wrong.append(f"{played.where}: no verdict was reported")
        if played.book is None:
            continue
        places = [(key(board), encode(board, uci)) for board, uci in played.plan.entries()]
        learned = [[have[place] for place in places[: played.answered]] for have in fields]
        kept = [sum(1 for plan, number in waiting if plan is played.plan and number == at) for at in range(len(fields))]
        decided = played.verdict in POINTS
        for number, values in enumerate(learned):
            mine = number == played.book
            counts = {games for games, _ in values} or {0}
            once = (1, POINTS[played.verdict]) if decided else (1, values[0][1] if values else 0)
            if counts == {0}:
                if mine and decided and not played.excused and kept[number] == 0:
                    wrong.append(f"{played.where}: {played.verdict}, and it is in neither book nor spool")
            elif not mine:
                wrong.append(f"{played.where}: played from book {played.book}, learned into book {number}: {values}")
            elif played.off or played.verdict == "of unknown result":
                wrong.append(f"{played.where}: learned, though nothing was to be learned: {values}")
            elif set(values) != {once}:
                wrong.append(f"{played.where}: {played.verdict}, and learned as {values}")
            if kept[number] > (1 if mine else 0):
                wrong.append(f"{played.where}: {kept[number]} times in spools for book {number} (it was book {played.book})")
    # Entries of games that nobody played.
    touched = {(key(board), encode(board, uci)) for played in games for board, uci in played.plan.entries()[: played.answered]}
    for number, have in enumerate(fields):
        strange = {place: value for place, value in have.items() if value != (0, 0) and place not in touched}
        if strange:
            wrong.append(f"book {number} has learned what was not played: {strange}")
    return wrong
