"""Who does not read holds up who writes; nothing grows, nothing is lost, and the end comes all the same."""

import subprocess
import threading

import pytest

from client import HANG, eventually
from conftest import linux_only
from processes import own_memory, waiting

THINK = b"position startpos moves a2a3 a7a6 h2h3 h7h6\n"


@linux_only
@pytest.mark.parametrize("how", [(), ("--flood-line",)], ids=["in blocks", "line by line"])
def test_a_gui_that_does_not_read_costs_no_memory(tabiya_exe, engine, tmp_path, how):
    count = 300_000
    argv = [tabiya_exe, *engine.argv("--flood", count, *how, "--bestmove", "h2h3")]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path)
    guard = threading.Timer(HANG, process.kill)
    guard.start()
    try:
        process.stdin.write(b"uci\nisready\n" + THINK + b"go movetime 1000\n")
        process.stdin.flush()
        # A pipe takes 64 KiB, or half of that where writes do not fit its pages; the rest of the flood has to wait.
        eventually("the pipe is full", lambda: waiting(process.stdout) > 30 << 10)
        assert own_memory(process.pid) < 24 << 20, "what waits is in the pipes, not in memory"
        numbers = []
        for line in process.stdout:
            if line.startswith(b"bestmove"):
                break
            if b" nodes " in line:
                numbers.append(int(line.split(b" nodes ")[1].split()[0]))
        assert line == b"bestmove h2h3\n"
        # The first is the engine's ordinary line before the flood.
        assert numbers[1:] == list(range(1, count + 1))
        assert own_memory(process.pid) < 24 << 20
        process.stdin.write(b"quit\n")
        process.stdin.flush()
        assert process.wait(HANG) == 0
    finally:
        guard.cancel()
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_a_gui_that_does_not_read_while_the_engine_floods_can_still_end_it(tabiya_exe, engine, tmp_path):
    argv = [tabiya_exe, *engine.argv("--flood", "300000")]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path)
    try:
        process.stdin.write(b"uci\nisready\n" + THINK + b"go movetime 1000\n")
        process.stdin.flush()
        # The flood has begun; more of it than any pipe takes is still to come.
        assert any(line.startswith(b"info depth 22 ") for line in process.stdout)
        process.stdin.write(b"quit\n")
        process.stdin.flush()
        assert process.wait(HANG) == 0
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_an_engine_that_does_not_read_holds_nothing_up(adapter):
    client = adapter(engine_args=("--no-newline-line", "10"))
    client.start()
    client.send_bytes(THINK + b"go movetime 1000\n")
    # The engine has fallen asleep: far more than a pipe holds waits for it.
    client.send_bytes(b"xyzzy and something to fill the line with\n" * 100_000)
    assert client.quit() == 0


def test_a_book_answers_while_the_engine_does_not_read(adapter, small_book):
    client = adapter("--book", small_book, engine_args=("--no-newline-line", "0"))
    client.start()
    client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000")
    client.send_bytes(b"xyzzy and something to fill the line with\n" * 20_000)
    client.send("ponderhit")
    assert client.answer().move == "c2c4"
    assert client.quit() == 0


@linux_only
def test_thousands_of_questions_take_no_more_memory_than_a_few(adapter, small_book):
    client = adapter("--book", small_book, engine_args=("--bestmove", "h2h3"))
    client.start()
    sizes = []
    for _ in range(5):
        for _ in range(500):
            assert client.go("movetime 1", "position startpos").move == "d2d4"
            assert client.go("movetime 1", "position startpos moves a2a3").move == "h2h3"
        sizes.append(own_memory(client.pid))
    assert sizes[-1] < sizes[0] + (1 << 20), sizes
