"""A UCI client that speaks raw lines and never waits for ever.

Lines are decoded as latin-1, so that each byte stays one character and "byte for byte" can be asserted.
"""

import contextlib
import os
import queue
import re
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

# Seconds after which a silent peer counts as hanging: a guard, never a measure of speed. On a machine whose disk and
# processors are busy with other work, what takes a second elsewhere takes minutes.
HANG = float(os.environ.get("TABIYA_E2E_HANG", "300"))

BOOK_LINE = re.compile(
    r"^info string book (?P<file>.+): (?P<playable>\d+) of (?P<moves>\d+) moves?"
    r", line ends in (?P<plies>\d+) pl(?:y|ies)(?:, rule (?P<rule>\d+))?$"
)
MOVE_LINE = re.compile(
    r"^info string (?P<uci>[a-h][1-8][a-h][1-8][nbrq]?) (?P<percent>\d+(?:\.\d+)?)% weight (?P<weight>\d+)(?P<rest>.*)$"
)
SCORED_LINE = re.compile(r"^info depth 0 seldepth 0 multipv 1 score cp 0 nodes 0 nps 0 time 0 pv (?P<pv>\S+(?: \S+)*)$")



def times(few, many):
    """How often a test does a thing: `many` times before a release, where TABIYA_FULL_TESTS is set."""
    return many if os.environ.get("TABIYA_FULL_TESTS") else few


def find_tool(name, *folders):
    """Where a program is that the project may not carry: in the folder TABIYA_TOOLS, in `tools` beside the sample books, in
    one of these folders, or on PATH."""
    samples = os.environ.get("TABIYA_SAMPLES")
    folders = [os.environ.get("TABIYA_TOOLS"), samples and os.path.join(os.path.dirname(samples), "tools"), *folders]
    return shutil.which(name, path=os.pathsep.join([*filter(None, folders), os.environ["PATH"]]))


def put_program(program, at):
    """Puts a program at another path. It is the same file there where the system can do that: some are of 100 MB, and many tests
    have their own."""
    try:
        os.link(program, at)
    except OSError:
        shutil.copy(program, at)


def match_of_the_guide(runner, program):
    """The command for a match of a program against itself, as the guide's page on tournaments has it."""
    page = (Path(__file__).parents[2] / "docs/guide/run-a-tournament.md").read_text()
    found = re.findall(rf"^{runner} +-engine .*?[^\\]$", page, re.DOTALL | re.MULTILINE)
    (command,) = [command for command in found if f"cmd={program} " in command]
    return command


START = "position startpos"

# A position that the small books of the tests do not know.
OUT_OF_BOOK = "position startpos moves a2a3"


def bestmoves(lines):
    return [line for line in lines if line.startswith("bestmove")]


def problems(lines):
    """What the adapter complains of."""
    return [line for line in lines if line.startswith("info string tabiya:")]


class Hang(AssertionError):
    """The peer said nothing for longer than the guard allows."""


class Ended(AssertionError):
    """The peer closed its output where a line was expected."""


@dataclass
class Answer:
    """Everything between a `go` and its `bestmove`."""

    lines: list = field(default_factory=list)

    @property
    def move(self):
        return self.lines[-1].split()[1]

    @property
    def ponder(self):
        words = self.lines[-1].split()
        return words[3] if len(words) > 3 and words[2] == "ponder" else None

    @property
    def book(self):
        """The match of the line that names the book, or None where the engine answered."""
        found = [match for match in map(BOOK_LINE.match, self.lines) if match]
        assert len(found) <= 1, f"the book is named twice: {self.lines}"
        return found[0] if found else None

    @property
    def candidates(self):
        """The book's moves as told in the lines before the answer: (uci, percent, weight)."""
        found = [match for match in map(MOVE_LINE.match, self.lines) if match]
        return [(match["uci"], float(match["percent"]), int(match["weight"])) for match in found]

    @property
    def pv(self):
        """The line of the scored info line that a book answer ends with, or None."""
        match = SCORED_LINE.match(self.lines[-2]) if len(self.lines) > 1 else None
        return match["pv"].split() if match else None


class Client:
    """A child process and its lines."""

    def __init__(self, argv, cwd=None, env=None):
        self.argv = [str(word) for word in argv]
        self.process = subprocess.Popen(
            self.argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.heard = []
        self._queue = queue.SimpleQueue()
        self._errors = bytearray()
        self._readers = [
            threading.Thread(target=self._read_lines, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read_lines(self):
        for line in self.process.stdout:
            self._queue.put(line)
        self._queue.put(None)

    def _read_errors(self):
        while chunk := os.read(self.process.stderr.fileno(), 65536):
            self._errors += chunk

    @property
    def pid(self):
        return self.process.pid

    # Sending

    def send(self, *lines):
        self.send_bytes(b"".join(line.encode("latin-1") + b"\n" for line in lines))

    def send_bytes(self, data):
        def write():
            try:
                self.process.stdin.write(data)
                self.process.stdin.flush()
            except (BrokenPipeError, ConnectionResetError, ValueError):
                pass

        if len(data) <= 4096:
            write()
            return
        # A peer that does not read would block the test for ever.
        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        writer.join(HANG)
        if writer.is_alive():
            raise Hang(f"{self.argv[0]} does not read its input")

    def close_input(self):
        try:
            self.process.stdin.close()
        except (BrokenPipeError, ConnectionResetError):
            pass

    # Hearing

    def line(self, timeout=HANG):
        """The next line without its `\\n`; a `\\r` stays."""
        try:
            raw = self._queue.get(timeout=timeout)
        except queue.Empty:
            raise Hang(f"no line in {timeout} s; the last ones: {self.heard[-10:]}") from None
        if raw is None:
            self._queue.put(None)
            raise Ended(f"output ended; the last lines: {self.heard[-10:]}; errors: {self.errors()!r}")
        text = raw.decode("latin-1")
        text = text[:-1] if text.endswith("\n") else text
        self.heard.append(text)
        return text

    def until(self, *words, timeout=HANG):
        """All lines up to the first one that starts with one of the words."""
        lines = []
        while True:
            lines.append(self.line(timeout))
            if lines[-1].split(" ", 1)[0].rstrip("\r") in words:
                return lines

    def rest(self, timeout=HANG):
        """All lines up to the end of the output."""
        lines = []
        while True:
            try:
                lines.append(self.line(timeout))
            except Ended:
                return lines

    def errors(self):
        return bytes(self._errors).decode("utf-8", "replace")

    # Talking

    def uci(self):
        self.send("uci")
        return self.until("uciok")

    def ready(self):
        """Everything sent before has reached the engine, and everything said before that has been heard."""
        self.send("isready")
        return self.until("readyok")

    def start(self):
        lines = self.uci()
        return lines + self.ready()

    def answer(self, timeout=HANG):
        return Answer(self.until("bestmove", timeout=timeout))

    def go(self, how="movetime 10", position=None):
        """Asks for a move and returns the answer."""
        if position is not None:
            self.send(position)
        self.send(f"go {how}")
        return self.answer()

    def set(self, name, value=None):
        self.send(f"setoption name {name}" if value is None else f"setoption name {name} value {value}")

    # Ending

    def wait(self, timeout=HANG):
        """The exit code."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Hang(f"{self.argv[0]} does not end; the last lines: {self.heard[-10:]}") from None
        self._readers[1].join(HANG)
        return code

    def quit(self):
        self.send("quit")
        return self.wait()

    def dispose(self):
        """Ends the process whatever state it is in."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(1)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except OSError:
                pass


def eventually(awaited, what, timeout=HANG, pause=0.005):
    """Polls until `what()` is true, and returns its value; fails with the name of what was awaited when time is up."""
    deadline = time.monotonic() + timeout
    while not (value := what()):
        if time.monotonic() >= deadline:
            raise AssertionError(f"waited {timeout:g} s in vain: {awaited}")
        time.sleep(pause)
    return value


def kill_when_writing(process, folder, before, number=None):
    """Ends a process as soon as a file of this folder is not as it was `before`, unless it has ended by then."""
    while process.poll() is None and stamps(folder) == before:
        pass
    # Not as a default above: Windows, which imports this file too, has no SIGKILL.
    process.send_signal(number or signal.SIGKILL)


def stamps(folder):
    """The files of a folder, and when and how long they were written."""
    files = {}
    for file in os.scandir(folder):
        # It may have been removed since.
        with contextlib.suppress(FileNotFoundError):
            files[file.name] = file.stat().st_size, file.stat().st_mtime_ns
    return files


def complaints(done):
    """The lines of a finished program on standard error."""
    return done.stderr.splitlines()
