"""Book files that are none, make no sense, or are damaged: told by name, and play goes on."""

import os
import random
import shutil

import chess
import chess.polyglot
import pytest

from client import START, eventually, problems
from conftest import as_nobody, linux_only, not_windows
from polyglot_writer import ENTRY, Book, one_line
from processes import own_memory


def random_bytes(path, size=4000):
    path.write_bytes(random.Random(1).randbytes(size))


def entries(keys):
    return b"".join(ENTRY.pack(key << 40, 796, 1, 0) for key in keys)


def sparse(path, size=4 << 30):
    with path.open("wb") as file:
        file.truncate(size)


REFUSED = {
    "missing": lambda path: None,
    "empty": lambda path: path.write_bytes(b""),
    "short": lambda path: path.write_bytes(b"\x01" * 15),
    "folder": lambda path: path.mkdir(),
    "text": lambda path: path.write_text('[Event "A game, no book"]\n\n1. e4 e5 *\n'),
    "another format": random_bytes,
    "another format of odd length": lambda path: random_bytes(path, 40_007),
    "falling keys": lambda path: path.write_bytes(entries(range(99, 0, -1))),
    "dangling link": lambda path: path.symlink_to("nowhere"),
}

STRANGE = {
    "four gigabytes of one key": sparse,
    "zeros": lambda path: path.write_bytes(bytes(1600)),
    "all bits": lambda path: path.write_bytes(b"\xff" * 1600),
    "random bytes after a book": lambda path: path.write_bytes(entries(range(2000)) + random.Random(1).randbytes(4007)),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("when", ["from the start", "in mid-session"])
def test_what_is_no_book_is_told_by_name_and_play_goes_on_where_that_is_wanted(adapter, tmp_path, kind, when):
    good = one_line(tmp_path / "good.bin", "d2d4")
    path = tmp_path / "bad.bin"
    REFUSED[kind](path)
    if when == "from the start":
        client = adapter("--book", path, "--book", good, "--book-optional")
        lines = client.start()
    else:
        client = adapter("--book", good)
        client.start()
        client.set("Book File", f"{path};{good}")
        lines = client.ready()
    (problem,) = problems(lines)
    assert "bad.bin" in problem
    said = problem.replace("info string ", "")
    eventually("standard error has it too", lambda: said in client.errors().splitlines())
    if when == "from the start":
        assert lines.index(problem) > lines.index("uciok"), "nothing may stand between the options and uciok"
    assert client.go("movetime 10", START).move == "d2d4"
    client.set("Book File", path)
    client.ready()
    answer = client.go("movetime 10", START)
    assert not answer.book and answer.move == "h2h3"
    assert client.quit() == 0
    assert "panicked" not in client.errors()


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("list_of", ["--book", "--book-white", "--set", "file"])
def test_what_is_no_book_ends_a_match_before_it_begins(adapter, tmp_path, kind, list_of):
    good = one_line(tmp_path / "good.bin", "d2d4")
    path = tmp_path / "bad.bin"
    REFUSED[kind](path)
    if list_of == "file":
        (tmp_path / "tabiya.toml").write_text("book = ['bad.bin', 'worse.bin', 'good.bin']\n")
        client = adapter()
    elif list_of == "--set":
        client = adapter("--set", f"Book File={path};worse.bin;{good}")
    else:
        client = adapter("--book", good, list_of, path, list_of, "worse.bin")
    client.send("uci", "isready")
    lines = client.rest()
    assert client.wait() == 3
    assert "readyok" not in lines
    lines = problems(lines)
    assert len(lines) == 2 and "bad.bin" in lines[0] and "worse.bin" in lines[1], lines
    assert client.errors().splitlines() == [line.removeprefix("info string ") for line in lines]


@pytest.mark.parametrize("words", [[], ["quit"], ["uci", "quit"], ["uci", "isready", START, "go infinite"]])
def test_however_soon_the_gui_goes_a_missing_book_is_reported(adapter, words):
    client = adapter("--book", "missing.bin")
    client.send(*words)
    client.close_input()
    assert client.wait() == 3
    assert len(problems(client.rest())) == 1
    assert "missing.bin" in client.errors()


@linux_only
@pytest.mark.parametrize("name", ["/dev/full", "/proc/self/mem", "/dev/zero", "/dev/tty", "/proc/self/environ"])
def test_a_device_is_no_book_and_no_trap(adapter, tmp_path, name):
    good = one_line(tmp_path / "good.bin", "d2d4")
    client = adapter("--book", name, "--book", good, "--book-optional")
    client.start()
    assert client.go("movetime 10", START).move == "d2d4"
    assert client.quit() == 0


@linux_only
def test_a_pipe_that_nobody_writes_is_no_trap(adapter, tmp_path):
    good = one_line(tmp_path / "good.bin", "d2d4")
    os.mkfifo(tmp_path / "pipe.bin")
    client = adapter("--book", tmp_path / "pipe.bin", "--book", good, "--book-optional")
    lines = client.start()
    assert any("pipe.bin" in line for line in problems(lines))
    assert client.go("movetime 10", START).move == "d2d4"


@not_windows
def test_a_book_that_may_not_be_read_is_told(run, tabiya_exe, stockfish, tmp_path):
    path = one_line(tmp_path / "secret.bin", "d2d4")
    path.chmod(0)
    client = run(*as_nobody(tmp_path, tabiya_exe), "--engine", stockfish, "--book", path, "--book-optional")
    (problem,) = problems(client.start())
    assert "secret.bin" in problem
    assert not client.go("movetime 10", START).book


@pytest.mark.parametrize("kind", STRANGE)
def test_a_book_that_makes_no_sense_is_no_harm(adapter, tmp_path, kind):
    good = one_line(tmp_path / "good.bin", "d2d4")
    path = tmp_path / "strange.bin"
    STRANGE[kind](path)
    client = adapter("--book", path, "--book", good, "--book-optional")
    client.start()
    for _ in range(3):
        assert client.go("movetime 10", START).move == "d2d4"
    assert not client.go("movetime 10", "position startpos moves a2a3").book
    assert client.quit() == 0
    assert "panicked" not in client.errors()


@linux_only
def test_a_huge_book_takes_no_memory(adapter, tmp_path):
    path = tmp_path / "huge.bin"
    sparse(path)
    client = adapter("--book", path)
    client.start()
    client.go("movetime 10", START)
    assert own_memory(client.pid) < 64 << 20, "the file is not read into memory"


def test_a_truncated_book_is_played_as_far_as_it_goes(adapter, tmp_path, gnu_book):
    data = gnu_book.read_bytes()
    key = chess.polyglot.zobrist_hash(chess.Board())
    places = [at for at in range(0, len(data), 16) if int.from_bytes(data[at : at + 8], "big") == key]
    path = tmp_path / "cut.bin"
    path.write_bytes(data[: places[-1] + 16 + 5])
    client = adapter("--book", path)
    client.start()
    assert client.go("movetime 10", START).book
    shutil.copy(gnu_book, path)
    with path.open("r+b") as file:
        file.truncate(places[0] + 16 + 7)
    client = adapter("--book", path)
    client.start()
    assert client.go("movetime 10", START).book, "the first entry of the position is whole"


def test_an_unsorted_and_a_doubled_book_are_played_as_far_as_they_can_be(adapter, tmp_path):
    # The keys' order is right, the weights' is not, and one move stands there twice.
    book = Book().at(e2e4=1, d2d4=5, c2c4=3).at(e2e4=1)
    entries = sorted(book.entries, key=lambda entry: entry[2])
    path = tmp_path / "odd.bin"
    path.write_bytes(b"".join(ENTRY.pack(*entry) for entry in entries))
    client = adapter("--book", path, "--set", "Book Variety=0")
    client.start()
    answer = client.go("movetime 10", START)
    assert answer.move == "d2d4"
    assert [(uci, weight) for uci, _, weight in answer.candidates] == [("d2d4", 5), ("c2c4", 3), ("e2e4", 2)]


def test_many_entries_of_one_position_do_no_harm(adapter, tmp_path):
    board = chess.Board()
    book = Book()
    for number in range(5000):
        book.raw(board, number & 0xFFF, 1)
    client = adapter("--book", book.write(tmp_path / "many.bin"), "--set", "Book Threshold=0")
    client.start()
    for _ in range(5):
        answer = client.go("movetime 10", START)
        assert chess.Move.from_uci(answer.move) in board.legal_moves


@pytest.mark.parametrize("line", ["export BOOK --format pgn", "export BOOK --format json --tree", "learn show BOOK", "info BOOK", "convert BOOK -o other.abk", "trim BOOK -o other.bin --min-share 1"])
def test_keys_that_were_chosen_to_be_slow_are_not(tabiya, tmp_path, line):
    # A table that takes the lower bits of keys for their hashes would have all of them in one place.
    start = chess.polyglot.zobrist_hash(chess.Board())
    keys = sorted([start, *(number << 32 for number in range(1, 1_000_000))])
    (tmp_path / "chosen.bin").write_bytes(b"".join(ENTRY.pack(key, 796, 1, 0x0002_0002) for key in keys))
    done = tabiya(*line.replace("BOOK", "chosen.bin").split())
    assert done.returncode == 0, done.stderr


def test_a_book_that_leads_in_circles_ends_somewhere(adapter, tmp_path):
    book = Book().line("g1f3 g8f6 f3g1 f6g8")
    client = adapter("--book", book.write(tmp_path / "circle.bin"), "--set", "Book Threefold=true")
    client.start()
    for _ in range(3):
        answer = client.go("movetime 10", START)
        assert answer.move == "g1f3"
        assert any("line ends in 4 plies" in line for line in answer.lines), answer.lines
    # A line that comes back to where it was has ended there: it has three moves after the first.
    client.set("Book Reserve", "4")
    assert client.go("movetime 10", START).move == "g1f3"
    client.set("Book Reserve", "5")
    assert client.go("movetime 10", START).move != "g1f3"
