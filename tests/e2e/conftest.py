"""The programs under test, from the environment, and clients that are always ended.

TABIYA_EXE, TABIYA_SCRIPTED_ENGINE, STOCKFISH, POLYGLOT and GNUCHESS_BOOK must name files. TABIYA_SAMPLES may name the
folder of sample books. TABIYA_E2E_GAMES, TABIYA_E2E_PLIES, TABIYA_E2E_ROUNDS and TABIYA_CHAOS_GAMES say how
much is played and talked, TABIYA_FULL_TESTS that it is as much as before a release; TABIYA_CHAOS_SEED repeats a run of test_learning_chaos.py; TABIYA_E2E_HANG (300) after how
many silent seconds a program counts as hanging.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from client import HANG, Client, eventually, times
from explorer import Server
from polyglot_writer import Book
from random_games import FORMATS, pgn

sys.path.insert(0, str(Path(__file__).parents[1]))

from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401


def _needed(name):
    value = os.environ.get(name)
    if not value:
        pytest.exit(f"the environment variable {name} must name a file; `scripts/test` sets it", returncode=2)
    path = Path(value).resolve()
    if not path.exists():
        pytest.exit(f"{name}: {path} does not exist", returncode=2)
    return path


@pytest.fixture(scope="session")
def tabiya_exe():
    return _needed("TABIYA_EXE")


@pytest.fixture(scope="session")
def books_of(tabiya_exe, tmp_path_factory):
    """Builds a book of the same games in each format."""

    def build(games):
        folder = tmp_path_factory.mktemp("sources")
        (folder / "games.pgn").write_text(pgn(games))
        for name in FORMATS:
            line = [tabiya_exe, "build", folder / "games.pgn", "-o", folder / f"book.{name}", "--min-games", "1"]
            subprocess.run([str(word) for word in line], check=True, capture_output=True)
        return {name: folder / f"book.{name}" for name in FORMATS}

    return build


@pytest.fixture
def copy_of(sources, tmp_path):
    """A copy of one of the books that a file of tests has as `sources`, with all of its files."""

    def copy(name):
        folder = tmp_path / f"copy-{name}"
        folder.mkdir()
        for file in sources[name].parent.iterdir():
            if file.stem.split("_")[0] == "book" and file.suffix != ".pgn":
                (folder / file.name).write_bytes(file.read_bytes())
        return folder / f"book.{name}"

    return copy


@pytest.fixture(scope="session")
def scripted_exe():
    return _needed("TABIYA_SCRIPTED_ENGINE")


@pytest.fixture(scope="session")
def stockfish():
    return _needed("STOCKFISH")


@pytest.fixture(scope="session")
def polyglot_exe():
    return _needed("POLYGLOT")


@pytest.fixture(scope="session")
def gnu_book():
    return _needed("GNUCHESS_BOOK")


def _trimmed(tabiya_exe, book, tmp_path_factory, plies):
    """The first plies of a book, which one of the processes that test makes for all of them."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    made = folder / f"first-{plies}-plies{book.suffix}"
    name = f"book{book.suffix}"
    claim = made.with_suffix(".claim")
    try:
        claim.mkdir()
    except FileExistsError:
        eventually("another process has made the book", made.exists)
    else:
        half = claim / "half"
        half.mkdir()
        line = [tabiya_exe, "trim", book, "-o", half / name, "--max-ply", plies]
        subprocess.run([str(word) for word in line], check=True, capture_output=True)
        half.rename(made)
    return made / name


@pytest.fixture(scope="session")
def real_book(tabiya_exe, gnu_book, tmp_path_factory):
    """GNU Chess's book: all of it, or as deep as python-chess can read in time."""
    if times(False, True):
        return gnu_book
    return _trimmed(tabiya_exe, gnu_book, tmp_path_factory, 10)


@pytest.fixture(scope="session")
def real_games():
    """The games of Debian's source package gnuchess-book."""
    path = os.environ.get("TABIYA_GAMES")
    if not path:
        pytest.skip("TABIYA_GAMES is unset: the test needs the games that scripts/fetch-games fetches")
    return Path(path)


@pytest.fixture(scope="session")
def sample():
    """The path of one of the sample books or databases."""

    def find(name):
        samples = os.environ.get("TABIYA_SAMPLES")
        if not samples:
            pytest.skip(f"TABIYA_SAMPLES is unset: the test needs {name} of the samples")
        path = Path(samples) / name
        if not path.exists():
            pytest.skip(f"TABIYA_SAMPLES has no {name}")
        return path

    return find


@pytest.fixture(scope="session")
def real_ctg(tabiya_exe, sample, tmp_path_factory):
    """A real book of ChessBase's: all of it, or its first plies."""
    book = sample("ctg/perfect2021/Perfect2021.ctg")
    if times(False, True):
        return book
    return _trimmed(tabiya_exe, book, tmp_path_factory, 12)


@pytest.fixture(scope="session")
def perfect_book(sample):
    return sample("polyglot/Perfect2021.bin")


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """Games and settings are kept in a folder of the test's own."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "state"))


@pytest.fixture
def run(tmp_path):
    """Starts programs with a clean working folder and ends them after the test."""
    clients = []

    def start(*argv, cwd=tmp_path, env=None):
        clients.append(Client(argv, cwd=cwd, env=env))
        return clients[-1]

    yield start
    for client in clients:
        client.dispose()


class Scripted:
    """The command line that makes the scripted engine the child, and the file in which it writes what it hears."""

    def __init__(self, program, record):
        self.program = program
        self.record = record

    def argv(self, *args):
        words = ["--engine", self.program]
        for arg in args:
            words.append(f"--engine-arg={arg}")
        return words

    def recorded(self, *args):
        return self.argv("--record", self.record, *args)

    def heard(self):
        """The lines that the engine has received so far, without line ends; its findings among them."""
        if not self.record.exists():
            return []
        return self.record.read_bytes().decode("latin-1").split("\n")[:-1]

    def commands(self, *words):
        """Those of the lines that begin with one of the words."""
        return [line for line in self.heard() if line.split(" ", 1)[0].rstrip("\r") in words]

    def violations(self):
        return [line for line in self.heard() if line.startswith("VIOLATION")]


@pytest.fixture
def engine(scripted_exe, tmp_path):
    return Scripted(scripted_exe, tmp_path / "record.txt")


@pytest.fixture
def adapter(run, tabiya_exe, engine):
    """tabiya around the scripted engine, which is recorded; its arguments go into `engine_args`."""

    def start(*args, engine_args=("--bestmove", "h2h3"), **more):
        return run(tabiya_exe, *engine.recorded(*engine_args), *args, **more)

    return start


@pytest.fixture
def small_book(tmp_path):
    """1. d2d4 d7d5 2. c2c4 e7e6, every move with no other."""
    return Book().line("d2d4 d7d5 c2c4 e7e6", weight=10).write(tmp_path / "small.bin")


@pytest.fixture
def tabiya(tabiya_exe, tmp_path):
    """Runs a command to its end."""

    def call(*args, **more):
        more = {"cwd": tmp_path, "timeout": HANG, "capture_output": True, "stdin": subprocess.DEVNULL} | more
        done = subprocess.run([str(word) for word in (tabiya_exe, *args)], check=False, **more)
        assert b"panicked" not in (done.stderr or b"")
        return done

    return call


@pytest.fixture
def explore(tabiya_exe, tmp_path):
    servers = []

    def start(*args, cwd=tmp_path, **more):
        servers.append(Server(tabiya_exe, *args, cwd=cwd, **more))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait()
        errors = server.process.stderr.read()
        server.process.stdout.close()
        server.process.stderr.close()
        assert b"panicked" not in errors


def as_nobody(folder, program):
    """The command line that starts a program without root's rights to read and write every file, in a folder of a test."""
    if os.geteuid() != 0:
        return [program]
    for above in (folder, *folder.parents[:3]):
        if above.owner() == "root" and str(above) != "/":
            above.chmod(above.stat().st_mode | 0o555)
    # Where the program is, others than root may have no business.
    copy = shutil.copy(program, folder / "of-nobody")
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy]


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, which only Linux has")
not_windows = pytest.mark.skipif(sys.platform == "win32", reason="sends signals, which Windows has not")
