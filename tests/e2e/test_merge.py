"""The commands merge and convert: what several Polyglot books say in one, and what damaged ones become."""

import random

import chess
import chess.polyglot
import pytest

from client import complaints
from polyglot_writer import ENTRY, Book, after, encode, key, raw_move
from random_games import counted, pgn, random_games, read_book, weighed

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3


@pytest.fixture
def merge(tabiya, tmp_path):
    """Merges books, and gives what the new one holds."""

    def call(*books, command="merge", args=(), damaged=False):
        out = tmp_path / "merged.bin"
        done = tabiya(command, *books, "-o", out, "--force", *args)
        assert done.returncode == (WANTING if damaged else DONE), (done.stdout, done.stderr)
        assert damaged == (b": damaged: " in done.stderr) == bool(complaints(done)), (done.stdout, done.stderr)
        check = tabiya("check", out)
        assert check.returncode == DONE, check.stdout
        return read_book(out)

    return call


def summed(*books):
    sums = {}
    for book in books:
        for position, moves in book.items():
            for move, weight in moves.items():
                at = sums.setdefault(position, {})
                at[move] = at.get(move, 0) + weight
    return sums


def test_weights_are_added_up(merge, tabiya, tmp_path):
    games = random_games(240, seed=21)
    paths = []
    for at in range(3):
        (tmp_path / f"{at}.pgn").write_text(pgn(games[at::3]))
        paths.append(tmp_path / f"{at}.bin")
        done = tabiya("build", tmp_path / f"{at}.pgn", "-o", paths[-1], "--min-games", "1")
        assert done.returncode == DONE
    expected = weighed(counted(games), min_games=1)
    assert summed(*map(read_book, paths)) == expected
    # In any order, in any memory, and one after the other.
    merged = {}
    for order in (paths, paths[::-1]):
        for means in (["--threads", "1", "--memory", "16M"], ["--threads", "3", "--memory", "1G"]):
            assert merge(*order, args=means) == expected
            merged[(tmp_path / "merged.bin").read_bytes()] = True
    first = tmp_path / "first.bin"
    assert tabiya("merge", *paths[:2], "-o", first).returncode == DONE
    assert merge(first, paths[2]) == expected
    merged[(tmp_path / "merged.bin").read_bytes()] = True
    assert len(merged) == 1


def test_sums_that_do_not_fit_are_scaled_and_never_wrap(merge, tmp_path):
    board = chess.Board()
    first = Book().add(board, "e2e4", 60_000).add(board, "d2d4", 40_000).add(board, "a2a3", 1).write(tmp_path / "a.bin")
    second = Book().add(board, "e2e4", 60_000).add(board, "c2c4", 60).write(tmp_path / "b.bin")
    merged = merge(first, second)[key(board)]
    at = {uci: merged[encode(board, uci)] for uci in ("e2e4", "d2d4", "c2c4", "a2a3")}
    assert at["e2e4"] == 65535
    for uci, weight in (("d2d4", 40_000), ("c2c4", 60), ("a2a3", 1)):
        assert at[uci] == max(1, round(weight * 65535 / 120_000))


def test_a_book_that_is_converted_into_its_own_format_stays_the_same(merge, real_book, tmp_path):
    assert merge(real_book, command="convert") == read_book(real_book)
    merge(real_book, command="convert", args=["--memory", "16M", "--temp", tmp_path])
    with chess.polyglot.open_reader(tmp_path / "merged.bin") as ours, chess.polyglot.open_reader(real_book) as theirs:
        assert len(ours) == len(theirs)


def damaged(book, kind):
    """The bytes of a sound book with one kind of damage, and what is still to be read in it."""
    data = book.data()
    entries = [data[at : at + 16] for at in range(0, len(data), 16)]
    if kind == "trailing bytes":
        return data + b"\1\2\3\4\5"
    if kind == "unsorted":
        # As a program that appends leaves them.
        entries = entries[len(entries) // 2 :] + entries[: len(entries) // 2]
    elif kind == "duplicates":
        # Each half of what it was: together they are what it was.
        halves = []
        for entry in entries:
            position, move, weight, learn = ENTRY.unpack(entry)
            halves += [ENTRY.pack(position, move, half, learn) for half in (weight // 2, weight - weight // 2)]
        entries = halves
    elif kind == "padding":
        entries = [bytes(16)] * 3 + entries
    return b"".join(entries)


@pytest.mark.parametrize("kind", ["trailing bytes", "unsorted", "duplicates", "padding"])
def test_damaged_books_are_repaired(merge, tmp_path, kind):
    chance = random.Random(31)
    book = Book()
    for _ in range(40):
        board = chess.Board()
        for _ in range(12):
            move = chance.choice(list(board.legal_moves)[:4])
            if not any(entry[:2] == (key(board), encode(board, move.uci())) for entry in book.entries):
                book.add(board, move.uci(), chance.randrange(2, 1000))
            board.push(move)
    sound = tmp_path / "sound.bin"
    book.write(sound)
    path = tmp_path / "damaged.bin"
    path.write_bytes(damaged(book, kind))
    # Duplicates and null moves are odd, but nothing is lost by them.
    assert merge(path, command="convert", damaged=kind in ("trailing bytes", "unsorted")) == read_book(sound)


def test_old_castling_becomes_todays(merge, tmp_path):
    line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"
    board = after(line)
    old = Book().line(line).raw(board, raw_move(chess.E1, chess.G1), 7).write(tmp_path / "old.bin")
    merged = merge(old, command="convert", args=[])
    with chess.polyglot.open_reader(tmp_path / "merged.bin") as reader:
        assert [(entry.move, entry.weight) for entry in reader.find_all(board)] == [(chess.Move.from_uci("e1g1"), 7)]
    assert merged[key(board)] == {raw_move(chess.E1, chess.H1): 7}


def test_the_old_book_stays_where_something_is_wrong(tabiya, tmp_path):
    sound = Book().line("e2e4 e7e5").write(tmp_path / "a.bin")
    out = tmp_path / "out.bin"
    out.write_bytes(b"old")
    for argv, code in (
        (["merge", sound, sound, "-o", out], FILE),
        (["convert", sound, "-o", out], FILE),
        (["merge", sound, tmp_path / "none.bin", "-o", out, "--force"], FILE),
        (["convert", sound, "-o", tmp_path / "out.xyz"], USAGE),
        (["convert", sound, "-o", tmp_path / "none" / "out.bin"], FILE),
        (["merge", "-o", out], USAGE),
    ):
        done = tabiya(*argv)
        assert done.returncode == code, (argv, done.stderr)
        assert out.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["a.bin", "out.bin"]


def test_a_book_is_not_written_over_what_is_read(tabiya, tmp_path):
    book = Book().line("e2e4 e7e5", weight=3).write(tmp_path / "a.bin")
    before = book.read_bytes()
    (tmp_path / "soft.bin").symlink_to(book)
    (tmp_path / "hard.bin").hardlink_to(book)
    for out in ("a.bin", "soft.bin", "hard.bin"):
        for command in ("merge", "convert"):
            for force in ([], ["--force"]):
                done = tabiya(command, book, "-o", tmp_path / out, *force)
                assert done.returncode == USAGE and b"would replace an input of the command" in done.stderr
    assert book.read_bytes() == before
