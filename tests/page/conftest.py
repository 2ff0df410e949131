"""The server with books that the tests make, and a Chromium that looks at its page.

TABIYA_EXE and CHROMIUM name the programs; TABIYA_AXE, where it is set, axe-core's script; TABIYA_PAGE_SHOTS the folder where
screenshots are kept; TABIYA_PAGE_DELAY (0) the milliseconds for which each request is held back, as on a slow machine;
TABIYA_E2E_HANG (600) after how many seconds something that does not come counts as hanging.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

HANG = float(os.environ.get("TABIYA_E2E_HANG", "600"))
expect.set_options(timeout=HANG * 1000)

DELAY = int(os.environ.get("TABIYA_PAGE_DELAY", "0"))
HOLD_BACK = """const now = window.fetch;
window.fetch = async (...request) => {
    await new Promise(resolve => setTimeout(resolve, %d));
    return now(...request);
};"""

# Each line is played so many times; White wins, loses and draws in turn.
GAMES = [
    (40, "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Bg5 e6 f4 Be7"),
    (30, "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be2 e5 Nb3 Be7"),
    (20, "e4 c5 Nf3 Nc6 Bb5 g6 O-O Bg7 Re1 e5"),
    (25, "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7"),
    (15, "e4 e6 d4 d5 Nc3 Bb4 e5 c5 a3 Bxc3"),
    (36, "d4 Nf6 c4 g6 Nc3 d5 cxd5 Nxd5 e4 Nxc3"),
    (12, "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O"),
    (9, "c4 e5 Nc3 Nf6 Nf3 Nc6 g3 d5"),
    # By another order of moves into positions of the first line.
    (6, "Nf3 c5 e4 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 h3 e5"),
]
RESULTS = ["1/2-1/2", "1-0", "0-1"]


def needed(name):
    value = os.environ.get(name)
    if not value or not Path(value).exists():
        pytest.exit(f"the environment variable {name} must name a file; `scripts/page` sets it", returncode=2)
    return Path(value).resolve()


EXE = needed("TABIYA_EXE")


def tabiya(*line, code=0):
    done = subprocess.run([EXE, *map(str, line)], check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG, text=True)
    assert done.returncode == code, (line, done.stdout, done.stderr)
    return done.stdout


def show(book, *moves):
    """The moves of a book in a position, by UCI, as `show --json` prints them."""
    line = json.loads(tabiya("show", book, "--json", "--moves", " ".join(moves)))
    return {move["uci"]: move for move in line["moves"]}


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("books")
    games = folder / "games.pgn"
    with games.open("w") as file:
        for number, (times, line) in enumerate(GAMES):
            for time in range(times):
                result = RESULTS[time % len(RESULTS)]
                head = {"Event": "Test", "White": f"White {number}", "Black": f"Black {time}", "WhiteElo": 2400 + time, "BlackElo": 2500, "Date": f"2021.01.{time % 28 + 1:02}", "Result": result}
                file.write("".join(f'[{key} "{value}"]\n' for key, value in head.items()) + f"\n{line} {result}\n\n")
    for name in ("main.bin", "marks.ctg", "arena.abk", "named.kob"):
        tabiya("build", "-o", folder / name, games)
    tabiya("edit", folder / "marks.ctg", "--set", "e4=green,!", "--set", "c4=red,?")
    epd = folder / "evals.epd"
    epd.write_text(
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce -35; acd 30;\n"
        "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - ce -25; acd 30;\n"
        "rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - ce -5; acd 30;\n"
    )
    tabiya("import", folder / "main.bin.evals", epd)
    return folder


@pytest.fixture
def books(made, tmp_path):
    """Books of one's own, to be edited."""
    return Path(shutil.copytree(made, tmp_path / "books"))


# Speed, ratings, year, moves, times.
SLICED = [("180+2", 2100, 2019, "e4 c5 Nf3", 5), ("180+2", 1700, 2021, "d4 d5 c4", 3), ("600+5", 2100, 2023, "c4 e5 Nc3", 2)]


@pytest.fixture
def counted(tmp_path):
    """A count file by speed and rating, and its games."""
    games, counts = tmp_path / "sliced.pgn", tmp_path / "by.parquet"
    with games.open("w") as file:
        for clock, rating, year, line, times in SLICED:
            for number in range(times):
                tags = {"Event": f"{number}", "White": "A", "Black": "B", "WhiteElo": rating, "BlackElo": rating, "Date": f"{year}.05.01", "TimeControl": clock, "Result": "1-0"}
                file.write("".join(f'[{key} "{value}"]\n' for key, value in tags.items()) + f"\n{line} 1-0\n\n")
    tabiya("build", "--by", "speed,rating", "-o", counts, games)
    return counts, games


class Server:
    """`tabiya explore`, which can be ended and started again on its port."""

    def __init__(self, line, folder):
        self.line = [str(word) for word in line]
        self.folder = folder
        self.port = 0
        self.start()

    def start(self):
        self.errors = (self.folder / "explore.err").open("a")
        kept = self.folder / "token"
        self.process = subprocess.Popen([EXE, "explore", "--no-open", "--listen", f"127.0.0.1:{self.port}", "--token-file", kept, *self.line],
            cwd=self.folder, env=os.environ | {"XDG_STATE_HOME": str(self.folder / "state")}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.once = self.process.stdout.readline().strip()
        found = re.fullmatch(r"(http://127\.0\.0\.1:(\d+))/\?code=\w+", self.once)
        assert found, (self.once, (self.folder / "explore.err").read_text())
        self.port, self.token = int(found[2]), kept.read_text().strip()
        # Opens the page as often as it is wanted.
        self.address = f"{found[1]}/?token={self.token}"

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(HANG)
        self.process.stdout.close()
        self.errors.close()

    def ask(self, path, body=None):
        """What the server answers to another program."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"Bearer {self.token}"})
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=HANG) as answer:
            return json.loads(answer.read())


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(*line):
        servers.append(Server(line, tmp_path))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def engine(tmp_path):
    """A program that starts the tests' own engine; it survives a search while the file `life` exists."""
    life = tmp_path / "life"
    life.touch()
    program = tmp_path / "engine"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "engine.py"}" "{life}"\n')
    program.chmod(0o755)
    return program, life


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=needed("CHROMIUM"), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def context(browser):
    """One browser's worth of pages, whose requests can be held back before the first of them is opened."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US", permissions=["clipboard-read", "clipboard-write"])
    yield context
    context.close()


@pytest.fixture
def look(browser):
    """Opens the page; what the browser finds wrong with it fails the test."""
    contexts, complaints = [], []

    def open_page(server, place="", width=1280, height=800, theme="light", context=None, address=None, **more):
        if context is None:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme, locale="en-US", **more)
            contexts.append(context)
        context.set_default_timeout(HANG * 1000)
        page = context.new_page()
        if DELAY:
            page.add_init_script(HOLD_BACK % DELAY)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None)
        page.goto((address or server.address) + place)
        page.wait_for_selector("#tables section")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def shots():
    folder = Path(os.environ.get("TABIYA_PAGE_SHOTS", "target/page/shots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
