"""However tabiya ends, no engine outlives it; however the engine ends, tabiya says so and ends."""

import os
import signal
import subprocess
import sys
import time

import pytest

from client import HANG, START, eventually, problems
from conftest import linux_only
from polyglot_writer import Book
from processes import alive, children

pytestmark = pytest.mark.skipif(os.name == "nt", reason="ends processes by Unix signals and looks for them by number")


# What happens at once takes less than so many answers to `isready`.
AT_ONCE = 100

STARTED = []


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    """Ends what a failed test did not see end."""
    yield
    while STARTED:
        pid = STARTED.pop()
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def engine_pid(path):
    """The number that the scripted engine wrote on its start."""
    eventually("the engine has started", path.exists)
    STARTED.append(int(path.read_text()))
    return STARTED[-1]


def grandchild_pid(lines):
    """The number of the process that the scripted engine started, as it tells before `uciok`."""
    (pid,) = [int(line.split()[-1]) for line in lines if line.startswith("info string grandchild ")]
    STARTED.append(pid)
    return pid


def ends(pid, which="the engine"):
    """Waits for the end of a process; an engine that is not ended lives for longer than this waits."""
    eventually(f"{which} ({pid}) ends with tabiya", lambda: not alive(pid))


def searching(client):
    """Sets the engine thinking for ever, and returns once it does."""
    client.send("position startpos", "go infinite")
    client.ready()


def seconds(what):
    """How long something takes."""
    begin = time.monotonic()
    what()
    return time.monotonic() - begin


def end_by(client, way):
    if way == "quit":
        client.send("quit")
    elif way == "closed input":
        client.close_input()
    else:
        client.process.send_signal(getattr(signal, way))


@linux_only
def test_killing_tabiya_leaves_no_engine(run, tabiya_exe, stockfish):
    client = run(tabiya_exe, "--engine", stockfish)
    client.start()
    client.send("position startpos", "go infinite")
    client.until("info")
    engines = children(client.pid)
    assert engines, "there is an engine to be left behind"
    os.kill(client.pid, signal.SIGKILL)
    for pid in engines:
        ends(pid)


@linux_only
def test_killing_tabiya_takes_an_engine_along_that_heeds_neither_quit_nor_the_end_of_input(adapter, tmp_path):
    # Stockfish ends with its input; this one must be ended.
    client = adapter(engine_args=("--pid-file", tmp_path / "pid", "--ignore-quit", "--ignore-stop"))
    pid = engine_pid(tmp_path / "pid")
    client.start()
    searching(client)
    os.kill(client.pid, signal.SIGKILL)
    ends(pid)


@linux_only
def test_killing_the_engine_ends_tabiya_at_once_with_code_4(run, tabiya_exe, stockfish):
    # A machine that is busy takes its time for everything: compared is with questions that are answered at once.
    shares = []
    while len(shares) < 20 and min(shares, default=AT_ONCE) >= AT_ONCE:
        client = run(tabiya_exe, "--engine", stockfish)
        client.start()
        client.send("position startpos", "go infinite")
        client.until("info")
        (pid,) = children(client.pid)
        trips = [seconds(client.ready) for _ in range(10)]
        os.kill(pid, signal.SIGKILL)
        shares.append(seconds(lambda client=client: client.process.wait(HANG)) / max(trips))
        assert client.process.returncode == 4
        said = client.rest()
        assert any(line.startswith("info string tabiya:") for line in said), said
        assert not any(line.startswith("bestmove") for line in said)
        eventually("the message arrives", lambda client=client: "tabiya:" in client.errors())
    assert min(shares) < AT_ONCE, f"tabiya's end took so many times as long as an answer: {shares}"


def test_a_book_move_that_an_engine_dies_checking_is_logged_and_shared(adapter, tmp_path):
    """Each process knows the lines of those before, whose engines have died."""
    book, log, firsts = Book(), tmp_path / "log", ["e2e4", "d2d4", "c2c4", "g1f3", "b2b3"]
    for move in firsts:
        book.line(move, weight=9)
    book.write(tmp_path / "five.bin")
    options = ["Book Fresh=true", f"Book Fresh File={tmp_path / 'match.lines'}", "Book Guard=100", "Book Max Loss=50"]
    words = [word for option in options for word in ("--set", option)]
    played = []
    for _ in firsts:
        client = adapter("--book", tmp_path / "five.bin", "--log", log, *words, engine_args=("--die-on-go", "exit"))
        client.start()
        played.append(client.go("wtime 60000 btime 60000", START).move)
        assert client.wait() == 4
        assert problems(client.rest())[-1].count("the engine ended by itself") == 1
    assert sorted(played) == sorted(firsts)
    text = log.read_text()
    assert [text.count(f"book move {move} ") for move in firsts] == [1] * len(firsts), text
    # The move was played before the end.
    assert text.index("book move ") < text.index("the engine ended by itself")


def test_the_verdict_on_a_game_whose_engine_dies_is_logged(adapter, small_book, tmp_path):
    log = tmp_path / "log"
    client = adapter(
        "--book", small_book, "--log", log, "--set", "Book Learn=true",
        engine_args=("--bestmove", "h2h3", "--die-at", "a5a4"),
    )
    client.start()
    client.send("ucinewgame")
    for moves in (" moves d2d4 d7d5", " moves d2d4 d7d5 c2c4 a7a5"):
        client.go("wtime 60000 btime 60000", START + moves)
    client.send(f"{START} moves d2d4 d7d5 c2c4 a7a5 h2h3 a5a4", "go wtime 60000 btime 60000")
    assert client.wait() == 4
    (told,) = [line for line in client.rest() if "game 1 as White" in line]
    assert log.read_text().count(told.removeprefix("info string tabiya: ")) == 1, log.read_text()


def test_the_log_has_everything_in_the_order_in_which_it_happened(adapter, small_book, tmp_path):
    log = tmp_path / "log"
    client = adapter("--book", small_book, "--log", log, "--log-level", "debug")
    client.start()
    # In one write, so that the adapter may read it in one piece.
    client.send(START, "go movetime 10", f"{START} moves d2d4 d7d5", "go movetime 10")
    assert [client.answer().move, client.answer().move] == ["d2d4", "c2c4"]
    client.quit()
    words = ("gui: go", "gui: position", "book move")
    told = [next((word for word in words if word in line), None) for line in log.read_text().splitlines()]
    assert [word for word in told if word] == ["gui: position", "gui: go", "book move"] * 2


@linux_only
@pytest.mark.parametrize("state", ["before uci", "idle", "searching", "pondering in the book"])
@pytest.mark.parametrize("way", ["quit", "closed input", "SIGTERM", "SIGINT", "SIGHUP"])
def test_the_engine_goes_with_tabiya(adapter, small_book, tmp_path, engine, way, state):
    client = adapter(
        "--book", small_book, engine_args=("--pid-file", tmp_path / "pid", "--bestmove", "h2h3", "--think", "50")
    )
    pid = engine_pid(tmp_path / "pid")
    if state != "before uci":
        client.start()
    if state == "searching":
        searching(client)
    if state == "pondering in the book":
        client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000")
        client.ready()
    end_by(client, way)
    code = client.wait()
    if way in ("quit", "closed input"):
        assert code == 0, client.errors()
    ends(pid)
    assert engine.violations() == []
    assert "panicked" not in client.errors()


@linux_only
def test_a_signal_that_comes_with_the_start_of_the_engine_is_not_lost(tabiya_exe, tmp_path):
    engine = tmp_path / "engine"
    engine.write_text("#!/bin/sh\nkill -INT $PPID\nexec cat >/dev/null\n")
    engine.chmod(0o755)
    for _ in range(20):
        # As under nohup, or in the background of a script, where the signal is ignored unless it is caught.
        process = subprocess.Popen(
            [tabiya_exe, "--engine", engine],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
        try:
            assert process.wait(HANG) == 0
        finally:
            process.kill()


@linux_only
@pytest.mark.parametrize("way", ["quit", "closed input", "SIGTERM", "SIGINT"])
def test_an_engine_that_will_not_quit_is_killed(adapter, tmp_path, way):
    # A signal leaves the engine less time, so that Ctrl-C ends everything within a second.
    least, most = (2, 3) if way in ("quit", "closed input") else (0.75, 1.75)
    # A busy machine may take longer, but not each time.
    for number in range(20):
        client = adapter(engine_args=("--pid-file", tmp_path / f"pid{number}", "--ignore-quit"))
        pid = engine_pid(tmp_path / f"pid{number}")
        client.start()
        waited = seconds(lambda client=client: (end_by(client, way), client.wait()))
        if least == 2:
            assert client.process.returncode == 0, client.errors()
        ends(pid)
        assert waited >= least, "the engine is given time to end by itself"
        if waited < most:
            return
    pytest.fail("the engine was never killed soon enough")


@linux_only
def test_a_slow_engine_may_end_in_peace(adapter, tmp_path):
    client = adapter(engine_args=("--pid-file", tmp_path / "pid", "--slow-quit", "500"))
    pid = engine_pid(tmp_path / "pid")
    client.start()
    begin = time.monotonic()
    assert client.quit() == 0
    assert time.monotonic() - begin >= 0.4, "the engine was not given the time it takes"
    ends(pid)


@linux_only
@pytest.mark.parametrize("way", ["quit", "closed input"])
def test_what_the_engine_started_goes_as_well(adapter, way):
    client = adapter(engine_args=("--spawn-child",))
    lines = client.start()
    grandchild = grandchild_pid(lines)
    assert alive(grandchild)
    end_by(client, way)
    assert client.wait() == 0
    ends(grandchild, "the engine's own child")


@linux_only
def test_what_a_stubborn_engine_started_goes_as_well(adapter):
    client = adapter(engine_args=("--spawn-child", "--ignore-quit"))
    lines = client.start()
    grandchild = grandchild_pid(lines)
    assert client.quit() == 0
    ends(grandchild, "the engine's own child")


@linux_only
def test_a_gui_that_reads_no_more_ends_it(tmp_path, tabiya_exe, stockfish):
    process = subprocess.Popen(
        [tabiya_exe, "--engine", stockfish], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    )
    try:
        process.stdin.write(b"uci\n")
        process.stdin.flush()
        while process.stdout.readline().strip() != b"uciok":
            pass
        pids = children(process.pid)
        assert pids
        process.stdout.close()
        process.stdin.write(b"position startpos\ngo infinite\n")
        process.stdin.flush()
        process.wait(HANG)
        for pid in pids:
            ends(pid)
    finally:
        process.kill()
        process.wait()
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass


@pytest.mark.skipif(sys.platform == "win32", reason="has no descriptors to inherit")
def test_the_answer_to_the_last_line_without_an_end_is_given(adapter, small_book):
    client = adapter("--book", small_book)
    client.start()
    client.send_bytes(b"position startpos\ngo movetime 10")
    client.close_input()
    assert "bestmove d2d4 ponder d7d5" in client.rest()
    assert client.wait() == 0
