"""`tabiya convert` with limits, also called `trim`: what stays of books of all formats, recomputed from their dumps."""

import collections
import csv
import io
import random
import struct

import chess
import chess.polyglot
import pytest

from polyglot_writer import Book, encode
from random_games import FORMATS, pgn, random_games

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3
GAMES = random_games(80, seed=77, most_plies=26)

Entry = collections.namedtuple("Entry", "weight games")


def words(moves):
    return " ".join(move.uci() for move in moves)


def sans(moves):
    return chess.Board().variation_san(moves)


@pytest.fixture
def dumped(tabiya):
    """The entries of a book: {key: {UCI: Entry}}, in the order of the export."""

    def dumped(path):
        done = tabiya("export", path)
        assert done.returncode == DONE, done.stderr
        found = {}
        for row in csv.DictReader(io.StringIO(done.stdout.decode()), delimiter="\t"):
            entry = Entry(int(row["weight"]), int(row["games"]) if row["games"] else None)
            found.setdefault(row["key"], {})[row["uci"]] = entry
        return found

    return dumped


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


def key(board):
    return f"{chess.polyglot.zobrist_hash(board):016x}"


NEXT = {}


def next_keys(at, board):
    """The key of the position after each legal move."""
    if at not in NEXT:
        NEXT[at] = {}
        for move in board.legal_moves:
            board.push(move)
            NEXT[at][move.uci()] = key(board)
            board.pop()
    return NEXT[at]


class Model:
    """What stays of a book, by the words of the guide."""

    def __init__(self, book, reachable=False, max_ply=0, min_games=0, min_share=0, min_weight=0, top=None, only=None, below=(), without=()):
        self.book = book
        self.limits = (min_games, min_share, min_weight, top)
        self.only = {None: None, "white": chess.WHITE, "black": chess.BLACK}[only]
        self.max_ply = max_ply or 1000
        self.removed = set()
        for line in without:
            board = chess.Board()
            for move in line[:-1]:
                board.push(move)
            self.removed.add((key(board), line[-1].uci()))
        own = {}
        self.walk([(0, chess.Board())], lambda at, board: list(book.get(at, ())), 1000, own)
        # Replies that the book does not have matter only if its own moves do not reach everything.
        self.own = own if book.keys() - own.keys() else None
        self.boards = {}
        self.walk([(0, chess.Board())], lambda at, board: [*book.get(at, ()), *self.replies(at, board)], 1000, self.boards)
        self.kept = {}
        if reachable or max_ply or below or without:
            self.traverse(below)
        else:
            for at in book:
                if self.only is None or at in self.boards and self.boards[at].turn == self.only:
                    self.keep(at, self.judged(at))
        self.kept = {at: moves for at, moves in self.kept.items() if moves}

    def walk(self, starts, follow, most, seen):
        level, plies = [], 0
        while level or any(start >= plies for start, _ in starts):
            level += [board for start, board in starts if start == plies]
            following = []
            for board in level:
                at = key(board)
                if at in seen or plies >= most:
                    continue
                seen[at] = board
                for uci in follow(at, board):
                    after = board.copy(stack=False)
                    after.push_uci(uci)
                    following.append(after)
            level, plies = following, plies + 1

    def replies(self, at, board):
        if self.own is None:
            return []
        there = next_keys(at, board).items()
        return [uci for uci, after in there if uci not in self.book.get(at, ()) and after in self.book and after not in self.own]

    def judged(self, at):
        games, share, weight, top = self.limits
        moves = self.book.get(at, {})
        whole = sum(entry.weight for entry in moves.values())
        left = [
            (uci, entry)
            for uci, entry in moves.items()
            if entry.weight >= weight
            and (entry.games is None or entry.games >= games)
            and entry.weight * 1000 >= share * whole
        ]
        # Stable: the order of the book decides between equals.
        left.sort(key=lambda item: (-item[1].weight, -(item[1].games or 0)))
        return [uci for uci, _ in left[:top]]

    def keep(self, at, ucis):
        known = self.kept.setdefault(at, {})
        known.update({uci: self.book[at][uci] for uci in ucis if uci in self.book.get(at, {}) and (at, uci) not in self.removed})

    def traverse(self, below):
        starts = []
        for line in below:
            board = chess.Board()
            for plies, move in enumerate(line):
                if (key(board), move.uci()) in self.removed or plies >= self.max_ply:
                    break
                if self.only is None or board.turn == self.only:
                    self.keep(key(board), [move.uci()])
                board.push(move)
            else:
                starts.append((len(line), board))

        def follow(at, board):
            mine = self.only is None or board.turn == self.only
            moves = self.judged(at) if mine else list(self.book.get(at, ()))
            return [uci for uci in [*moves, *self.replies(at, board)] if (at, uci) not in self.removed]

        reached = {}
        self.walk(starts or ([] if below else [(0, chess.Board())]), follow, self.max_ply, reached)
        for at, board in reached.items():
            if self.only is None or board.turn == self.only:
                self.keep(at, self.judged(at))


def twins(board, uci):
    """A move in all positions that CTG and Kvetka books do not distinguish."""
    boards = [(board, chess.Move.from_uci(uci))]
    if not board.castling_rights:
        flipped = board.transform(chess.flip_horizontal)
        move = boards[0][1]
        squares = [chess.square(7 - chess.square_file(s), chess.square_rank(s)) for s in (move.from_square, move.to_square)]
        boards.append((flipped, chess.Move(*squares, move.promotion)))
    for board, move in list(boards):
        squares = map(chess.square_mirror, (move.from_square, move.to_square))
        boards.append((board.mirror(), chess.Move(*squares, move.promotion)))
    return {(key(board), move.uci()) for board, move in boards}


LINE = GAMES[0].moves
OTHER = next(game.moves for game in GAMES if len(game.moves) > 4 and game.moves[0] != LINE[0])

CASES = [
    dict(),
    dict(reachable=True),
    dict(max_ply=1),
    dict(max_ply=7),
    dict(min_games=2),
    dict(min_share=300),
    dict(min_weight=3),
    dict(top=1),
    dict(top=2),
    dict(only="white"),
    dict(only="black"),
    dict(below=[LINE[:1]]),
    dict(below=[LINE[:3], OTHER[:2]]),
    dict(below=[LINE[:2]], max_ply=1),
    dict(without=[LINE[:1]]),
    dict(without=[LINE[:3], OTHER[:1]]),
    dict(min_games=2, reachable=True),
    dict(top=1, reachable=True),
    dict(top=1, only="white", max_ply=9),
    dict(top=1, only="black", reachable=True, min_weight=1),
    dict(below=[LINE[:2]], without=[LINE[:4]], top=2, max_ply=12),
    dict(below=[LINE[:3]], without=[LINE[:2]]),
]


def options(case):
    line = []
    for name, value in case.items():
        name = "--" + name.replace("_", "-")
        if name in ("--below", "--without"):
            # In both notations.
            for number, moves in enumerate(value):
                line += [name, sans(moves) if number == 0 else words(moves)]
        else:
            # Thousandths here, per cent there.
            line += [name] if value is True else [name, value / 10 if name == "--min-share" else value]
    return line


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case) or "nothing")
def test_what_stays_is_what_the_options_say(tabiya, dumped, sources, tmp_path, name, case):
    source, out = sources[name], tmp_path / f"out.{name}"
    book = dumped(source)
    model = Model(book, **case)
    done = tabiya("trim", source, "-o", out, *options(case))
    if not model.kept:
        assert (done.returncode, out.exists()) == (WANTING, False)
        assert b"not written: no move of the book is left" in done.stderr
        return
    assert (done.returncode, done.stderr) == (DONE, b""), done
    found = dumped(out)
    if name == "bin":
        weights = {at: {uci: entry.weight for uci, entry in moves.items()} for at, moves in found.items()}
        assert weights == {at: {uci: entry.weight for uci, entry in moves.items()} for at, moves in model.kept.items()}
    else:
        # Games and results are all that these formats keep.
        expected = {(at, uci): entry.games for at, moves in model.kept.items() for uci, entry in moves.items()}
        same = {(at, uci) for at, moves in found.items() for uci, entry in moves.items() if entry.games}
        counts = {(at, uci): found[at][uci].games for at, uci in same}
        if name == "abk":
            # A tree has no room for what nothing leads to.
            assert {move: expected.get(move) for move in counts} == counts
            lost = {at for at, _ in expected} - {at for at, _ in same}
            assert all(at in lost for at, uci in expected if (at, uci) not in counts)
            assert not lost or not (case.keys() & {"reachable", "max_ply", "below", "without"})
        else:
            assert {move: counts.get(move) for move in expected} == expected
            twin = set().union(*(twins(model.boards[at], uci) for at, uci in expected))
            assert same <= twin
    assert tabiya("check", out).returncode == DONE
    kept = sum(map(len, model.kept.values()))
    all_moves = sum(map(len, book.values()))
    # Without limits on moves and lines the whole book is converted.
    report = f"kept: {kept} of {all_moves} moves, " if case.keys() - {"reachable"} else " positions read\n"
    assert report in done.stdout.decode(), done.stdout


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("other", FORMATS)
def test_the_new_name_decides_the_format(tabiya, dumped, sources, tmp_path, name, other):
    out = tmp_path / f"out.{other}"
    done = tabiya("trim", sources[name], "-o", out, "--max-ply", 6, "--top", 2)
    assert done.returncode == DONE, done
    model = Model(dumped(sources[name]), max_ply=6, top=2)
    found = {(at, uci) for at, moves in dumped(out).items() for uci in moves}
    expected = {(at, uci) for at, moves in model.kept.items() for uci, entry in moves.items() if entry.weight > 0}
    assert expected <= found


def test_a_transposition_stays_and_a_branch_goes(tabiya, dumped, tmp_path):
    book = Book()
    for line in ("g1f3 d7d5 d2d4 g8f6 c2c4", "d2d4 d7d5 g1f3 g8f6 c2c4", "d2d4 e7e5 d4e5"):
        board = chess.Board()
        for uci in line.split():
            if (key(board), uci) not in {(f"{at:016x}", uci_of(move)) for at, move, *_ in book.entries}:
                book.add(board, uci)
            board.push_uci(uci)
    source = book.write(tmp_path / "a.bin")
    done = tabiya("trim", source, "-o", tmp_path / "b.bin", "--without", "Nf3")
    assert done.returncode == DONE
    left = {uci for moves in dumped(tmp_path / "b.bin").values() for uci in moves}
    assert left == {"d2d4", "d7d5", "g1f3", "g8f6", "c2c4", "e7e5", "d4e5"}
    assert len(dumped(source)) - len(dumped(tmp_path / "b.bin")) == 2
    # Only the knight's own move, at the start, is gone.
    assert list(dumped(tmp_path / "b.bin")[key(chess.Board())]) == ["d2d4"]


def uci_of(raw):
    return chess.square_name(raw >> 6 & 63) + chess.square_name(raw & 63)


@pytest.mark.parametrize("side", ["white", "black"])
def test_a_book_for_one_side_is_followed_along_replies(tabiya, dumped, sources, tmp_path, side):
    one, short = tmp_path / "one.bin", tmp_path / "short.bin"
    assert tabiya("trim", sources["bin"], "-o", one, "--only", side).returncode == DONE
    done = tabiya("trim", one, "-o", short, "--max-ply", 6)
    assert done.returncode == DONE
    whole = Model(dumped(sources["bin"]), only=side, max_ply=6)
    assert dumped(short).keys() >= whole.kept.keys()
    assert all(dumped(short)[at].keys() == moves.keys() for at, moves in whole.kept.items())
    again = tmp_path / "again.bin"
    assert tabiya("trim", one, "-o", again, "--reachable").returncode == DONE
    assert again.read_bytes() == one.read_bytes()
    assert tabiya("trim", one, "-o", again, "--only", side, "--force").returncode == DONE
    assert again.read_bytes() == one.read_bytes()


def test_the_side_of_a_trim_plays_moves_of_the_book_alone(tabiya, dumped, tmp_path):
    entries, board = [], chess.Board()
    for uci in ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4"):
        # White has no move after 1... e5.
        if uci != "g1f3":
            entries.append((chess.polyglot.zobrist_hash(board), encode(board, uci)))
        board.push_uci(uci)
    whole, one, again = (tmp_path / name for name in ("whole.bin", "one.bin", "again.bin"))
    whole.write_bytes(b"".join(struct.pack(">QHHI", at, mv, 1, 0) for at, mv in sorted(entries)))
    for source, target in ((whole, one), (one, again)):
        assert tabiya("trim", source, "-o", target, "--only", "white").returncode == DONE
        assert list(dumped(target)) == [key(chess.Board())]


def test_unreached_entries_stay_unless_lines_are_followed(tabiya, dumped, tmp_path):
    stray = chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    source = Book().line("e2e4 e7e5").add(stray, "e2e4", 5).write(tmp_path / "a.bin")
    for args, positions in (([], 3), (["--min-weight", "2"], 1), (["--reachable"], 2), (["--max-ply", "9"], 2)):
        done = tabiya("trim", source, "-o", tmp_path / "b.bin", "--force", *args)
        assert done.returncode == DONE
        assert len(dumped(tmp_path / "b.bin")) == positions, args


def test_files_are_safe(tabiya, sources, tmp_path):
    source = tmp_path / "a.bin"
    source.write_bytes(sources["bin"].read_bytes())
    kept = source.read_bytes()
    done = tabiya("trim", source, "-o", source, "--force", "--top", 1)
    assert done.returncode != DONE and source.read_bytes() == kept
    out = tmp_path / "b.bin"
    out.write_bytes(b"mine")
    done = tabiya("trim", source, "-o", out, "--top", 1)
    assert done.returncode == FILE and b"--force" in done.stderr and out.read_bytes() == b"mine"
    done = tabiya("trim", source, "-o", out, "--min-weight", 2**63, "--force")
    assert done.returncode == WANTING and out.read_bytes() == b"mine"
    assert not [path for path in tmp_path.iterdir() if ".part" in path.name]


def test_wrong_words_are_named(tabiya, sources, tmp_path):
    out = tmp_path / "out.bin"
    for args, says in (
        (["--below", "e4 Ke3"], b"--below: \"Ke3\", number 2, is not a legal move in"),
        (["--without", ""], b"--without: there is no move to remove"),
        (["--without", "xyz"], b"--without: \"xyz\""),
        (["--top", "0"], b"--top"),
        (["--min-share", "100.1"], b"--min-share"),
        (["--only", "player"], b"--only"),
    ):
        done = tabiya("trim", sources["bin"], "-o", out, *args)
        assert done.returncode == USAGE and says in done.stderr, (args, done.stderr)
    done = tabiya("trim", sources["bin"], "-o", out, "--without", "a4")
    assert (b"does not have this move" in done.stdout) == all(game.moves[0].uci() != "a2a4" for game in GAMES)
    assert tabiya("trim", tmp_path / "none.bin", "-o", out).returncode == FILE
    assert tabiya("trim", sources["bin"], "-o", tmp_path / "out.pgn").returncode == USAGE


def test_games_that_are_not_counted_are_reported(tabiya, sources, tmp_path):
    done = tabiya("trim", sources["bin"], "-o", tmp_path / "out.bin", "--min-games", 1000)
    assert done.returncode == DONE and b"--min-games does not apply to" in done.stdout


LIMITS = [["--top", 1], ["--min-games", 2], ["--min-share", 2, "--max-ply", 8], ["--below", words(LINE[:1]), "--reachable"]]


@pytest.mark.parametrize("name", [*FORMATS, "parquet"])
def test_limits_of_several_books_act_on_what_they_add_up_to(tabiya, tmp_path, name):
    halves = []
    for number in range(2):
        (tmp_path / f"{number}.pgn").write_text(pgn(GAMES[number::2]))
        halves.append(tmp_path / f"{number}.{name}")
        more = [] if name == "parquet" else ["--min-games", 1]
        assert tabiya("build", tmp_path / f"{number}.pgn", "-o", halves[-1], *more).returncode == DONE
    assert tabiya("merge", *halves, "-o", tmp_path / f"all.{name}").returncode == DONE
    temp = tmp_path / "temp"
    temp.mkdir()
    for limits in LIMITS:
        for out in ("abk", "bin"):
            once, twice = tmp_path / f"once/book.{out}", tmp_path / f"twice/book.{out}"
            once.parent.mkdir(exist_ok=True), twice.parent.mkdir(exist_ok=True)
            done = tabiya("convert", *halves, "-o", once, "--force", *limits, "--temp", temp)
            alone = tabiya("convert", tmp_path / f"all.{name}", "-o", twice, "--force", *limits)
            assert (done.returncode, alone.returncode) == (DONE, DONE), (done.stderr, alone.stderr)
            assert once.read_bytes() == twice.read_bytes(), (limits, out)
            said = alone.stdout.decode().replace("twice", "once").splitlines()
            assert said == done.stdout.decode().splitlines()[-len(said) :] and b"kept: " in done.stdout
    assert not list(temp.iterdir())


def test_a_count_file_keeps_every_row(tabiya, tmp_path):
    (tmp_path / "games.pgn").write_text(pgn(GAMES))
    counts = tmp_path / "counts.parquet"
    assert tabiya("build", tmp_path / "games.pgn", "-o", counts).returncode == DONE
    for limits in (["--top", 1], ["--reachable"], ["--min-games", 2], ["--without", "e4"]):
        done = tabiya("convert", counts, "-o", tmp_path / "less.parquet", *limits)
        assert (done.returncode, (tmp_path / "less.parquet").exists()) == (USAGE, False)
        assert f"{limits[0]} works only for books".encode() in done.stderr


def test_broken_books_do_no_harm(tabiya, sources, tmp_path):
    chance = random.Random(5)
    for name in ("bin", "abk"):
        whole = sources[name].read_bytes()
        for number in range(15):
            data = bytearray(whole)
            for _ in range(chance.randint(1, 200)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            path = tmp_path / f"broken.{name}"
            path.write_bytes(data)
            done = tabiya("trim", path, "-o", tmp_path / "out.ctg", "--force", "--reachable", "--top", 2, "--only", "white")
            assert done.returncode in (DONE, WANTING, FILE), done
            done = tabiya("diff", path, sources["bin"])
            assert done.returncode in (WANTING, FILE), done


def test_a_trim_judges_the_moves_that_it_reads(tabiya, tmp_path):
    line, at = "e2e4 e7e5 g1f3 b8c6", chess.Board()
    for uci in line.split():
        at.push_uci(uci)
    book = Book().line(line).add(at, "a8h8", 1).write(tmp_path / "a.bin")
    for plies, found in ((3, False), (4, True), (5, True)):
        done = tabiya("trim", book, "-o", tmp_path / "b.bin", "--force", "--max-ply", plies)
        assert (b"the move a8h8 is not legal in " in done.stderr) == found, (plies, done)
        assert done.returncode == (WANTING if found else DONE), (plies, done)
