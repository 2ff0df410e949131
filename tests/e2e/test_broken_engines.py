"""Engines that fail at each stage, in each way, under each program that starts engines: it ends, and the engine with it."""

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from client import HANG, eventually
from conftest import linux_only
from explorer import Server
from polyglot_writer import Book
from processes import alive

STAGES = ("uci", "isready", "go", "quit")
WAYS = ("silent", "close", "flood", "late", "crash")
CASES = [(stage, way) for stage in STAGES for way in WAYS]

# A position that no book knows.
TALK = b"uci\nisready\nposition startpos moves a2a3 a7a6 h2h3\ngo movetime 10\nquit\n"

DONE, ENGINE = 0, 4


class Case:
    """One broken engine, in a folder of its own."""

    def __init__(self, folder, stage, way, scripted_exe):
        self.name = f"{stage} {way}"
        self.stage = stage
        self.folder = folder / f"{stage}-{way}"
        self.folder.mkdir()
        self.pid, self.heard = self.folder / "pid", self.folder / "heard"
        self.args = ["--legal", "--fail", f"{stage}={way}", "--pid-file", self.pid, "--record", self.heard]
        # One that fails only at the end has to pass what comes before, also on a busy machine.
        patience = 60 if stage == "quit" else 1
        self.engine = [f"--engine={scripted_exe}", *(f"--engine-arg={arg}" for arg in self.args), f"--engine-timeout={patience}"]
        words = ", ".join(f"'{arg}'" for arg in self.args)
        (self.folder / "tabiya.toml").write_text(f"engine = '{scripted_exe}'\nengine-timeout = {patience}\nengine-arg = [{words}]\n")

    def has_reached_its_stage(self):
        return self.heard.exists() and self.stage in self.heard.read_text().split()

    def has_left_no_engine(self):
        # On a busy machine the first engine may be late, and is killed before it says who it is.
        return eventually("the engine ends", lambda: not self.pid.exists() or not alive(int(self.pid.read_text())))


@pytest.fixture
def cases(tmp_path, scripted_exe):
    """Tries all cases at the same time, because most of them wait, and names those that fail."""

    def each(check):
        def tried(case):
            try:
                check(case)
                assert case.has_left_no_engine(), "the engine runs on"
            except (AssertionError, subprocess.TimeoutExpired) as error:
                return f"{case.name}: {error}"

        found = [Case(tmp_path, stage, way, scripted_exe) for stage, way in CASES]
        with ThreadPoolExecutor(len(found)) as pool:
            failed = [what for what in pool.map(tried, found) if what]
        assert not failed, "\n".join(failed)

    return each


def ended(line, case, talk=b""):
    """The exit code and the output of a program that has to end by itself."""
    line = [str(word) for word in line]
    done = subprocess.run(line, input=talk, capture_output=True, cwd=case.folder, timeout=HANG, check=False)
    assert b"panicked" not in done.stderr
    return done


def interrupted(line, case, talk=b""):
    """Sends Ctrl-C once the engine fails; the program has to end."""
    line = [str(word) for word in line]
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    with subprocess.Popen(line, cwd=case.folder, **pipes) as process:
        process.stdin.write(talk)
        process.stdin.flush()
        eventually("the engine fails", lambda: case.has_reached_its_stage() or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=HANG)
        assert b"panicked" not in errors


def vetting(exe, book, case):
    # Each with a store of its own: what another engine has evaluated is not searched again.
    files = ["-o", case.folder / "out.bin", "--store", case.folder / "evals"]
    return [exe, "vet", book, *files, *case.engine, "--nodes", "10", "--jobs", "1"]


def events(exe, book, case):
    """The server, and the events of its engine."""
    server = Server(exe, book, cwd=case.folder)
    return server, server.listen("/api/engine", play="a2a3")[1]


@linux_only
def test_the_adapter_ends(cases, tabiya_exe):
    def check(case):
        done = ended([tabiya_exe, *case.engine], case, TALK)
        assert done.returncode in (DONE, ENGINE), done.returncode

    cases(check)


@linux_only
def test_the_doctor_ends(cases, tabiya_exe):
    def check(case):
        done = ended([tabiya_exe, "doctor", *case.engine], case)
        assert done.returncode == (DONE if case.stage == "quit" or "late" in case.name and case.stage != "uci" else ENGINE)
        if case.name == "uci crash":
            assert done.stdout.count(b"cannot open weights") == 1, done.stdout

    cases(check)


@linux_only
def test_vetting_ends(cases, tabiya_exe, tmp_path):
    # Each position of the book is tried twice, and each time takes seconds.
    book = Book().line("d2d4", weight=10).write(tmp_path / "one.bin")

    def check(case):
        done = ended(vetting(tabiya_exe, book, case), case)
        assert (done.returncode == DONE) == (case.stage == "quit"), (done.returncode, done.stderr)
        if case.name == "uci crash":
            assert b"; it wrote: cannot open weights" in done.stderr, done.stderr

    cases(check)


@linux_only
def test_the_explorers_engine_ends(cases, tabiya_exe, small_book):
    def check(case):
        server, heard = events(tabiya_exe, small_book, case)
        try:
            while (event := heard.get(timeout=HANG)) is not None and event[0] not in ("error", "done"):
                pass
            assert event is not None and event[0] == ("done" if case.stage == "quit" else "error"), event
            if case.name == "uci crash":
                assert event[1]["error"].endswith("; it wrote: cannot open weights")
        finally:
            server.end()
            server.process.communicate()

    cases(check)


@linux_only
def test_ctrl_c_ends_the_adapter(cases, tabiya_exe):
    talk = TALK.removesuffix(b"quit\n")
    cases(lambda case: interrupted([tabiya_exe, *case.engine], case, TALK if case.stage == "quit" else talk))


@linux_only
def test_ctrl_c_ends_the_doctor(cases, tabiya_exe):
    cases(lambda case: interrupted([tabiya_exe, "doctor", *case.engine], case))


@linux_only
def test_ctrl_c_ends_vetting(cases, tabiya_exe, small_book):
    cases(lambda case: interrupted(vetting(tabiya_exe, small_book, case), case))


@linux_only
def test_ctrl_c_ends_the_explorer(cases, tabiya_exe, small_book):
    def check(case):
        server, heard = events(tabiya_exe, small_book, case)
        eventually("the engine fails", lambda: case.has_reached_its_stage() or not heard.empty())
        server.end(signal.SIGINT)
        server.process.communicate()

    cases(check)
