"""How builds end that do not end well: killed, interrupted, on bad input, without room. Nothing half-written stays."""

import gzip
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from client import HANG, eventually, kill_when_writing, stamps, times
from conftest import as_nobody, not_windows
from random_games import pgn, random_games, read_book

DONE, WANTING, USAGE, FILE, INTERRUPTED = 0, 1, 2, 3, 130

GOOD = '[Event "good"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n'


@pytest.fixture
def folder(tmp_path):
    """An empty folder for the book, and one for temporary files."""
    for name in ("out", "temp"):
        (tmp_path / name).mkdir()
    return tmp_path


def left(folder):
    """What stands in the two folders."""
    return sorted(os.listdir(folder / "out")), os.listdir(folder / "temp")


def told(done, code, *words):
    text = (done.stdout + done.stderr).decode()
    assert done.returncode == code, text
    assert b"panicked" not in done.stderr
    for word in words:
        assert word in text, text
    return text


# Killed and interrupted


@pytest.fixture(scope="session")
def much(tmp_path_factory):
    """Games of more positions than fit into the memory that the tests allow."""
    chance = random.Random(5)
    # Kings walk in their corners, each game beside other pawns, which stand still.
    corner = [(file, rank) for file in "ab" for rank in range(1, 4)]
    far = [(file, 9 - rank) for file, rank in corner]
    steps = {
        f"{file}{rank}": [f"{f}{r}" for f, r in here if (f, r) != (file, rank) and abs(r - rank) <= 1]
        for here in (corner, far) for file, rank in here
    }  # fmt: skip
    path = tmp_path_factory.mktemp("much") / "games.pgn"
    with open(path, "w", encoding="ascii") as file:
        for pawns in itertools.product(range(3), repeat=8):
            files = list(zip(pawns[:4], pawns[4:], strict=True))
            ranks = ["k7"] + ["4" + "".join("p" if black == at else "1" for _, black in files) for at in range(3)]
            ranks += ["4" + "".join("P" if white == 2 - at else "1" for white, _ in files) for at in range(3)] + ["K7"]
            white, black, words = "a1", "a8", []
            for _ in range(100):
                white, black = chance.choice(steps[white]), chance.choice(steps[black])
                words.append(f"K{white} K{black}")
            file.write(f'[Event "x"]\n[FEN "{"/".join(ranks)} w - - 0 1"]\n\n{" ".join(words)} 1/2-1/2\n\n')
    return path


@not_windows
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_whenever_a_build_is_stopped_the_old_book_or_the_new_one_is_whole(tabiya_exe, much, folder, name):
    number = signal.Signals[name]
    book, temp = folder / "out" / "book.bin", folder / "temp"
    argv = [tabiya_exe, "build", much, "-o", book, "--force", "--memory", "16M", "--temp", temp, "--min-games", "1"]
    begun = time.monotonic()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, timeout=HANG)
    whole_run = time.monotonic() - begun
    new, old = book.read_bytes(), b"0123456789abcdef" * 5
    assert len(new) > 1 << 20
    stopped, until = 0, time.monotonic() + HANG
    wanted = times(5, 20)
    while stopped < wanted:
        assert time.monotonic() < until, "builds end before they are stopped"
        book.write_bytes(old)
        files, begun = stamps(book.parent), time.monotonic()
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if stopped % 2:
            kill_when_writing(process, book.parent, files, number)
        else:
            # Any moment will do: what must hold, holds at all of them.
            time.sleep(whole_run * (stopped + 0.5) / wanted)
            process.send_signal(number)
        _, errors = process.communicate(timeout=HANG)
        stopped += process.returncode != DONE
        names, temporary = left(folder)
        assert temporary == []
        if process.returncode == DONE:
            assert (names, book.read_bytes()) == (["book.bin"], new)
            # The next one is stopped earlier.
            whole_run = min(whole_run, time.monotonic() - begun)
        elif number == signal.SIGKILL:
            assert process.returncode == -number
            assert book.read_bytes() in (old, new)
            others = set(names) - {"book.bin"}
            # What a killed process leaves says whose it is, and is no book by its name; the next run removes it.
            assert len(others) <= 1
            assert all(other.startswith(".tabiya-") and other.endswith(".part") for other in others)
        else:
            # Before the handler stands, the signal ends the process as it would any other.
            assert process.returncode in (INTERRUPTED, -number), errors
            assert (names, book.read_bytes()) == (["book.bin"], old)
            assert process.returncode == -number or b"interrupted" in errors
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, timeout=HANG)
    assert left(folder) == (["book.bin"], [])


@not_windows
def test_a_build_that_waits_for_standard_input_can_be_interrupted(tabiya_exe, folder):
    book = folder / "out" / "book.bin"
    process = subprocess.Popen(
        [tabiya_exe, "build", "-", "-o", book, "--temp", folder / "temp"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdin.write(GOOD.encode() * 1000)
    process.stdin.flush()
    eventually("the build has begun to write, or ended", lambda: os.listdir(folder / "out") or process.poll() is not None)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    # Its standard input stays open all the while.
    process.wait(HANG)
    assert process.returncode == INTERRUPTED
    assert left(folder) == ([], [])
    process.stdin.close()


# Bad input


def test_bad_games_are_counted_and_the_good_ones_used(tabiya, folder):
    head = '[Event "bad"]\n[Result "1-0"]\n'
    plies = "Nf3 Nf6 Ng1 Ng8 " * 1250
    bad = {
        "parentheses": (head + "\n1. e4 " + "(" * 200_000 + "\n\n", "unterminated comment or variation"),
        "nested": (head + "\n1. e4 " + "(" * 200_000 + ")" * 200_000 + " e5 2. Nf3 1-0\n\n", None),
        "tag": (f'[Event "bad"]\n[White "{"x" * (1 << 20)}"]\n\n1. e4 1-0\n\n', "4 games read, 4 used"),
        "name": (f'[Event "{"x" * (1 << 20)}"]\n\n1. e4 1-0\n\n', "4 games read, 4 used"),
        "comment": (head + "\n1. e4 {" + "x" * (1 << 20) + "\n\n", "unterminated"),
        "plies": (f"{head}\n{plies}1-0\n\n", None),
        "word": (head + "\n1. e4 " + "x" * (1 << 20) + " e5 1-0\n\n", None),
        "illegal": (head + "\n1. e4 e5 2. Ke3 1-0\n\n", '2. "Ke3": the move is not legal'),
        "fen": (head + '[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n1. e4 1-0\n\n', "no legal starting position"),
        "variant": (head + '[Variant "Atomic"]\n\n1. e4 1-0\n\n', "another chess variant"),
        "bytes": (head + "\n" + "\u0416" * 500 + "\n\n", None),
    }
    for name, (text, word) in bad.items():
        path = folder / f"{name}.pgn"
        path.write_text(GOOD * 2 + text + GOOD)
        done = tabiya("build", path, "-o", folder / "out" / "book.bin", "--force", "--temp", folder / "temp")
        text = told(done, DONE, *([word] if word else []))
        book = read_book(folder / "out" / "book.bin")
        # The three good games, and up to two moves of the bad one.
        assert book[0x463B961816 << 24 | 0x91FC9C][796] in (6, 7, 8), name
        assert left(folder) == (["book.bin"], []), text


def test_bytes_that_are_no_games_make_no_book(tabiya, folder):
    chance = random.Random(9)
    (folder / "random.pgn").write_bytes(chance.randbytes(1 << 20))
    (folder / "nul.pgn").write_bytes(bytes(1 << 16))
    (folder / "wide.pgn").write_bytes(GOOD.encode("utf-16"))
    for name, words in (("random", ["not a text file of games"]), ("nul", ["not a text file of games"]), ("wide", ["UTF-16"])):
        done = tabiya("build", folder / f"{name}.pgn", "-o", folder / "out" / "book.bin", "--temp", folder / "temp")
        told(done, FILE, f"{name}.pgn", *words)
        assert left(folder) == ([], [])
    # Bytes without the one that no text has.
    (folder / "text.pgn").write_bytes(bytes(chance.choice(range(1, 256)) for _ in range(1 << 18)))
    (folder / "prose.pgn").write_text("Dear friend,\n\nnothing to report from e4.\n")
    for name in ("text", "prose"):
        done = tabiya("build", folder / f"{name}.pgn", "-o", folder / "out" / "book.bin", "--force")
        told(done, WANTING, "book.bin: not written: ")
        assert left(folder) == ([], [])


@pytest.mark.parametrize("name", ["gz", "zst"])
def test_a_cut_packed_file_gives_what_comes_before_the_cut(tabiya, folder, name):
    chance = random.Random(2)
    games = (f'[Event "{at}"]\n[Result "1-0"]\n\n1. e4 e5 {{{chance.random()}}} 1-0\n\n' for at in range(60_000))
    text = "".join(games)
    if name == "gz":
        data = gzip.compress(text.encode())
    elif shutil.which("zstd"):
        data = subprocess.run(["zstd", "-qc"], input=text.encode(), check=True, capture_output=True).stdout
    else:
        pytest.skip("there is no zstd to pack the games with")
    path = folder / f"games.pgn.{name}"
    for cut in (len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        done = tabiya("build", path, "-o", folder / "out" / "book.bin", "--force", "--temp", folder / "temp")
        out = told(done, WANTING, "1 file not read to the end", str(path))
        used = int(out.split(" games read, ")[1].split()[0])
        assert 60_000 * cut // len(data) * 0.8 < used <= 60_000
        assert read_book(folder / "out" / "book.bin")
        assert left(folder) == (["book.bin"], [])
    damaged = bytearray(data)
    damaged[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    path.write_bytes(damaged)
    done = tabiya("build", path, "-o", folder / "out" / "book.bin", "--force", "--temp", folder / "temp")
    told(done, WANTING, "1 file not read to the end")


@not_windows
def test_a_file_that_grows_while_it_is_read_is_no_trouble(tabiya_exe, folder):
    path, book = folder / "games.pgn", folder / "out" / "book.bin"
    path.write_text(GOOD * 200_000)
    process = subprocess.Popen([tabiya_exe, "build", path, "-o", book], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(path, "a") as file:
        while process.poll() is None and file.tell() < 1 << 26:
            # Often the middle of a game is what stands at the end.
            file.write(GOOD + GOOD[:40])
            file.flush()
    out, errors = process.communicate(timeout=HANG)
    assert process.returncode == DONE, errors
    assert int(out.split()[0]) >= 200_000
    assert read_book(book)


@not_windows
def test_a_pipe_is_read_like_a_file(tabiya_exe, folder):
    pipe, book = folder / "games.pgn", folder / "out" / "book.bin"
    os.mkfifo(pipe)
    process = subprocess.Popen([tabiya_exe, "build", pipe, "-o", book], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(pipe, "w") as file:
        file.write(GOOD * 5)
    out, errors = process.communicate(timeout=HANG)
    assert process.returncode == DONE and out.startswith(b"5 games read, 5 used"), (out, errors)


# Where the book is to stand


def test_a_standing_book_is_replaced_only_by_force(tabiya, folder):
    path, book = folder / "games.pgn", folder / "out" / "book.bin"
    path.write_text(GOOD * 3)
    book.write_bytes(b"old")
    told(tabiya("build", path, "-o", book), FILE, "exists already", "--force")
    assert book.read_bytes() == b"old"
    told(tabiya("build", path, "-o", book, "--force"), DONE)
    assert read_book(book) and left(folder)[0] == ["book.bin"]


def test_what_cannot_be_a_book_is_refused_before_the_games_are_read(tabiya, folder):
    path = folder / "games.pgn"
    path.write_text(GOOD * 3)
    (folder / "folder.bin").mkdir()
    for out, code, word in (("book.xyz", USAGE, "which format"), ("book", USAGE, "which format"),
                            ("folder.bin", FILE, "folder"), ("none/book.bin", FILE, "folder")):  # fmt: skip
        told(tabiya("build", path, "-o", folder / out), code, out, word)
    done = tabiya("build", path, "-o", folder / "out" / "book.bin", "--temp", folder / "none")
    told(done, FILE, "--temp")
    told(tabiya("build", folder / "none.pgn", "-o", folder / "out" / "book.bin"), FILE, "none.pgn")
    told(tabiya("build", folder / "out", "-o", folder / "out" / "book.bin"), FILE, "holds no PGN files")
    assert left(folder) == ([], [])


@pytest.mark.parametrize("dates, words", [
    (["--date", "2021-13.."], ["2021-13", "no such month"]),
    (["--date", "..2021.02.29"], ["2021.02.29", "no such day"]),
    (["--date", "2021x"], ["2021x", "not a date"]),
    (["--date", "2021.06..2021.05"], ["2021.05.?? is before 2021.06.??"]),
    (["--date", "2022..2021"], ["before"]),
    (["--date", ".."], ["write dates"]),
])  # fmt: skip
def test_dates_that_no_game_can_have_are_refused(tabiya, folder, dates, words):
    path = folder / "games.pgn"
    path.write_text(GOOD * 3)
    told(tabiya("build", path, "-o", folder / "book.bin", *dates), USAGE, *words)
    assert not (folder / "book.bin").exists()
    month = ["--date", "2021.06"]
    assert tabiya("build", path, "-o", folder / "book.bin", *month).returncode != USAGE


@not_windows
def test_an_unwritable_folder_is_refused(tabiya_exe, tabiya, folder):
    path = folder / "games.pgn"
    path.write_text(GOOD * 3)
    (folder / "out").chmod(0o555)
    try:
        argv = [*as_nobody(folder, tabiya_exe), "build", path, "-o", folder / "out" / "book.bin"]
        done = subprocess.run(argv, check=False, capture_output=True, timeout=HANG)
        told(done, FILE, "book.bin", "cannot write a file into this folder")
    finally:
        (folder / "out").chmod(0o755)
    assert left(folder) == ([], [])


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux may mount a small file system")
    path = tmp_path / "disk"
    path.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", path], check=False, capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield path
    subprocess.run(["umount", path], check=True)


def test_a_full_disk_leaves_the_old_book_untouched(tabiya, much, folder, small_disk):
    book = small_disk / "book.bin"
    book.write_bytes(b"0123456789abcdef")
    done = tabiya("build", much, "-o", book, "--force", "--min-games", "1")
    told(done, FILE, "book.bin", "cannot write the file", "the old file is unchanged")
    assert os.listdir(small_disk) == ["book.bin"] and book.read_bytes() == b"0123456789abcdef"
    # No room for the temporary files.
    done = tabiya("build", much, "-o", folder / "out" / "book.bin", "--memory", "16M", "--temp", small_disk)
    told(done, FILE, "temporary file", "--temp")
    assert left(folder) == ([], []) and os.listdir(small_disk) == ["book.bin"]
