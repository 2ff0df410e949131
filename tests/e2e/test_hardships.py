"""Disks that hang, books that are cut off under tabiya, files that may not grow, and more input than anybody works off."""

import fcntl
import os
import resource
import shutil
import signal
import subprocess
import sys

import pytest

from client import OUT_OF_BOOK, START, problems
from polyglot_writer import ENTRY, Book

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses leases, limits and pipes as Linux has them")

# An engine that answers each `go` with a line of more than 4 MiB, and once more.
LONG_LINES = """
import sys
for line in sys.stdin:
    word = line.split()[0]
    if word == "uci":
        print("uciok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "quit":
        break
    elif word == "go" and "ponder" not in line:
        print("bestmove a2a3" + " " * 5_000_000 + "ponder a7a6")
        print("bestmove b2b3", flush=True)
    elif word == "stop":
        print("info string " + "x" * 5_000_000)
        print("bestmove c2c3", flush=True)
"""

# An engine that answers `go movetime` at once, writes down what it is asked, and searches for ever otherwise.
COUNTING = """
import sys
record = open(sys.argv[1], "w")
searching = False
for line in sys.stdin:
    word = line.split()[0]
    if word in ("go", "stop"):
        print(line.strip(), file=record, flush=True)
    if word == "uci":
        print("uciok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "quit":
        break
    elif word == "go" and "movetime" not in line:
        searching = True
    elif word == "go" or (word == "stop" and searching):
        searching = False
        print("bestmove h2h3", flush=True)
"""


def python_engine(source, *args):
    return ["--engine", sys.executable, *(f"--engine-arg={arg}" for arg in ("-c", source, *args))]


# Long lines


def test_a_line_of_five_megabytes_is_an_answer_like_any_other(run, tabiya_exe):
    client = run(tabiya_exe, *python_engine(LONG_LINES))
    client.start()
    assert client.go("movetime 10", OUT_OF_BOOK).lines[-1] == "bestmove a2a3 ponder a7a6"
    assert client.ready() == ["readyok"], "the second answer belongs to no question"


def test_long_lines_of_a_search_in_vain_do_not_follow_the_book_move(run, tabiya_exe, small_book):
    client = run(tabiya_exe, *python_engine(LONG_LINES), "--book", small_book)
    client.start()
    client.send(START, "go ponder wtime 1000 btime 1000", "ponderhit")
    assert client.answer().move == "d2d4"
    assert client.ready() == ["readyok"]


# Much input


def test_more_input_than_can_wait_stops_no_search(run, tabiya_exe, tmp_path):
    record = tmp_path / "heard.txt"
    client = run(tabiya_exe, *python_engine(COUNTING, record))
    client.start()
    client.send(OUT_OF_BOOK, "go infinite")
    question = b"position startpos moves a2a3 a7a6" + b" b1a3 b8a6 a3b1 a6b8" * 400 + b"\ngo movetime 1\n"
    count = (20 << 20) // len(question)
    client.send_bytes(question * count)
    assert record.read_text() == "go infinite\n"
    client.send("stop")
    for _ in range(1 + count):
        assert client.answer().move == "h2h3"
    # What was asked before the stop is stopped too, as soon as it begins.
    heard = record.read_text().splitlines()
    assert heard[:2] == ["go infinite", "stop"] and heard.count("go movetime 1") == count
    assert client.quit() == 0


def test_quit_is_heard_after_more_input_than_can_be_worked_off(run, tabiya_exe, tmp_path):
    client = run(tabiya_exe, *python_engine(COUNTING, tmp_path / "heard.txt"))
    client.start()
    client.send(OUT_OF_BOOK, "go infinite")
    client.send_bytes(b"go movetime 1\n" * (20 << 20 >> 4))
    assert client.quit() == 0


# Counting moves


def test_an_engine_that_does_not_know_perft_is_heard(adapter, engine):
    client = adapter()
    client.start()
    client.send(OUT_OF_BOOK, "go perft 3")
    assert client.answer().move == "h2h3"
    assert client.go("movetime 10").move == "h2h3"
    assert engine.violations() == []


def test_stockfish_counts_and_goes_on(run, tabiya_exe, stockfish, small_book):
    client = run(tabiya_exe, "--engine", stockfish, "--book", small_book)
    client.start()
    client.send(START, "go perft 3")
    assert client.until("Nodes")[-1] == "Nodes searched: 8902"
    assert client.go("movetime 10", START).move == "d2d4"
    assert client.go("depth 1", OUT_OF_BOOK).lines[-1].startswith("bestmove ")
    assert client.quit() == 0


# A disk that hangs


@pytest.fixture
def hanging_book(small_book):
    """A book whose opening waits until we let it, as on a disk that does not answer: a lease on it is ours."""
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    held = os.open(small_book, os.O_RDWR)
    try:
        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        os.close(held)
        pytest.skip(f"no leases on this file system: {error}")

    def is_hanging():
        try:
            os.close(os.open(small_book, os.O_RDONLY | os.O_NONBLOCK))
        except BlockingIOError:
            return True
        return False

    def let_go():
        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK)

    yield small_book, is_hanging, let_go
    os.close(held)
    signal.signal(signal.SIGIO, before)


def test_quit_does_not_wait_for_a_disk_that_hangs(adapter, hanging_book):
    book, is_hanging, _ = hanging_book
    client = adapter("--book", book)
    client.uci()
    assert client.quit() == 0
    assert is_hanging()


def test_a_script_that_is_piped_in_is_answered_though_quit_follows_at_once(tabiya_exe, engine, tmp_path, small_book):
    argv = [tabiya_exe, *engine.argv("--bestmove", "h2h3"), "--book", small_book]
    for ending in (b"quit\n", b""):
        done = subprocess.run(
            [str(word) for word in argv],
            input=b"isready\nposition startpos\ngo movetime 10\n" + ending,
            capture_output=True,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0
        assert done.stdout.splitlines()[-1].startswith(b"bestmove d2d4"), done


def test_quit_waits_for_lines_before_it_but_not_forever(adapter, hanging_book):
    book, is_hanging, _ = hanging_book
    client = adapter("--book", book)
    client.uci()
    client.send(START, "go movetime 10")
    assert client.quit() == 0
    assert is_hanging()


def test_stop_does_not_wait_for_a_disk_that_hangs(adapter, hanging_book):
    book, is_hanging, _ = hanging_book
    client = adapter()
    client.start()
    client.send(OUT_OF_BOOK, "go infinite")
    client.set("Book File", book)
    client.send("stop")
    assert client.answer().move == "h2h3"
    assert is_hanging()


def test_the_engine_plays_until_the_disk_answers(adapter, hanging_book):
    book, is_hanging, let_go = hanging_book
    client = adapter("--book", book)
    client.start()
    answer = client.go("movetime 10", START)
    assert answer.move == "h2h3"
    assert is_hanging()
    assert any("the books are slow to open" in line for line in problems(client.heard))
    let_go()
    client.until("info")
    assert client.heard[-1] == "info string tabiya: the books are open now"
    assert client.go("movetime 10", START).move == "d2d4"
    assert client.quit() == 0


@pytest.mark.parametrize("ending", ["bin", "ctg", "abk", "kob"])
def test_a_pipe_is_no_book(adapter, tmp_path, small_book, ending):
    pipe = tmp_path / f"pipe.{ending}"
    os.mkfifo(pipe)
    client = adapter("--book", small_book)
    client.start()
    client.set("Book File", f"{pipe};{small_book}")
    (problem,) = problems(client.ready())
    assert str(pipe) in problem
    assert client.go("movetime 10", START).move == "d2d4"


# Books that are cut off


@pytest.mark.parametrize("kind", ["polyglot", "ctg"])
@pytest.mark.parametrize("left", [0, 5000])
def test_a_book_that_is_cut_off_in_place_costs_its_moves_and_no_more(adapter, sample, tmp_path, kind, left):
    if kind == "polyglot":
        # Keys below and above those of the game, so that the whole file is needed.
        book = Book().line("d2d4 d7d5 c2c4 e7e6", weight=10).write(tmp_path / "cut.bin")
        entries = book.read_bytes()
        low, high = (bytes(8 * [byte]) + entries[8:16] for byte in (0, 0xFF))
        book.write_bytes(low * 20_000 + entries + high * 20_000)
        files = [book]
    else:
        source = sample("ctg/perfect2021")
        files = [tmp_path / f"cut.{ending}" for ending in ("ctg", "cto", "ctb")]
        for file in files:
            shutil.copyfile(next(source.glob(f"*{file.suffix}")), file)
        book = files[0]
    client = adapter("--book", book)
    client.start()
    assert client.go("movetime 10", START).book
    for file in files[:2]:
        os.truncate(file, left)
    # No line of it has been looked at before.
    assert client.go("movetime 10", "position startpos moves d2d4 d7d5 c2c4").lines[-1].startswith("bestmove ")
    assert client.go("movetime 10", START).lines[-1].startswith("bestmove ")
    told = [line for line in problems(client.heard) if "was truncated while in use" in line]
    assert told and all("cut." in line for line in told)
    client.set("OwnBook", "false")
    assert client.go("movetime 10", START).move == "h2h3"
    assert client.quit() == 0


# Files that may not grow


def test_a_limit_on_the_size_of_files_does_not_end_tabiya(tabiya_exe, engine, tmp_path, small_book):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    argv = [tabiya_exe, *engine.argv("--bestmove", "h2h3"), "--book", small_book, "--log", tmp_path / "log.txt"]
    script = b"uci\nisready\nposition startpos\ngo movetime 10\nquit\n"
    done = subprocess.run(
        [str(word) for word in argv], input=script, capture_output=True, preexec_fn=limit, cwd=tmp_path, check=False
    )
    assert done.returncode == 0
    assert b"bestmove d2d4" in done.stdout
    argv = [str(word) for word in (tabiya_exe, "convert", small_book, "-o", tmp_path / "new.bin")]
    done = subprocess.run(argv, capture_output=True, preexec_fn=limit, cwd=tmp_path, check=False)
    assert done.returncode == 3 and b"new.bin" in done.stderr, done
    assert not (tmp_path / "new.bin").exists()


def test_a_command_that_reads_a_book_that_is_cut_off_says_so(tabiya_exe, tmp_path):
    path = tmp_path / "cut.bin"
    path.write_bytes(b"".join(ENTRY.pack(key << 40, 796, 1, 0) for key in range(300_000)))
    argv = [tabiya_exe, "export", path, "--format", "json"]
    process = subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        # It writes far more than anything between us holds, so that it has not read the whole book yet.
        assert process.stdout.readline()
        os.truncate(path, 5000)
        _, complaints = process.communicate()
    assert process.returncode == 3
    assert b"cut.bin: the file was truncated while it was read" in complaints
