"""Stopping calls that take long: Ctrl-C, and handles in threads and under asyncio."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

import pytest

import tabiya

from conftest import HANG, STARTER, many_games, python_does

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes with names in folders, and no such signals")


class Feed:
    """Games in a pipe that has no end before it is let: a build from it cannot be over before it is stopped."""

    def __init__(self, path: Path, games: str) -> None:
        self.path, self.games, self.ending = path, games, threading.Event()
        os.mkfifo(path)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        try:
            with self.path.open("w") as into:
                into.write(self.games)
                into.flush()
                self.ending.wait(HANG)
                into.write(self.games)
        except BrokenPipeError:
            pass

    def end(self) -> None:
        """Writes the games once more, and lets them end."""
        self.ending.set()
        self.thread.join(HANG)
        assert not self.thread.is_alive()


def wait_until(is_so: Callable[[], object]) -> None:
    while not is_so():
        threading.Event().wait(0.01)


@pytest.fixture
def games(tmp_path: Path) -> str:
    return many_games(tmp_path / "few.pgn", 50).read_text()


@pytest.mark.parametrize("end", ["bin", "ctg", "abk", "kob"])
def test_of_two_builds_the_one_whose_handle_is_set_stops(end: str, tmp_path: Path, games: str) -> None:
    folders = {name: tmp_path / name for name in ("out", "temp", "other")}
    for folder in folders.values():
        folder.mkdir()
    stopped, kept = folders["out"] / f"a.{end}", folders["other"] / f"a.{end}"
    stopped.write_bytes(b"precious")
    before = os.listdir(folders["out"])
    feeds = [Feed(tmp_path / "one.pgn", games), Feed(tmp_path / "other.pgn", games)]
    with ThreadPoolExecutor() as pool, tabiya.Cancel() as cancel, tabiya.Cancel() as never:
        options = {"min_games": 1, "threads": 2}
        one = pool.submit(
            tabiya.build, feeds[0].path, stopped, force=True, cancel=cancel, temp=folders["temp"], **options
        )  # type: ignore[arg-type]
        other = pool.submit(tabiya.build, feeds[1].path, kept, cancel=never, **options)  # type: ignore[arg-type]
        # A book is begun beside its place.
        wait_until(lambda: len(os.listdir(folders["out"])) > len(before) and os.listdir(folders["other"]))
        assert not cancel.is_set()
        cancel.set()
        raised = one.exception(HANG)
        assert isinstance(raised, tabiya.CancelledError) and cancel.is_set() and not never.is_set()
        assert os.listdir(folders["out"]) == before and stopped.read_bytes() == b"precious"
        assert os.listdir(folders["temp"]) == []
        assert not other.done()
        feeds[1].end()
        report = other.result(HANG)
    assert report.games == 100 and report.errors == []
    # The same games in a file give the same book.
    whole, same = tmp_path / "whole.pgn", tmp_path / "same" / f"a.{end}"
    same.parent.mkdir()
    whole.write_text(games * 2)
    tabiya.build(whole, same, min_games=1)
    with tabiya.open_reader(kept) as ours, tabiya.open_reader(same) as theirs:
        assert [(entry, entry.games) for entry in ours] == [(entry, entry.games) for entry in theirs]
    feeds[0].end()


def test_a_task_that_is_cancelled_stops_its_build(tmp_path: Path, games: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    feed = Feed(tmp_path / "games.pgn", games)
    ended: list[BaseException] = []

    def build(cancel: tabiya.Cancel) -> None:
        try:
            tabiya.build(feed.path, folder / "a.bin", min_games=1, cancel=cancel)
        except BaseException as error:
            ended.append(error)
            raise

    async def job() -> None:
        with tabiya.Cancel() as cancel:
            await asyncio.get_running_loop().run_in_executor(None, build, cancel)

    async def main() -> None:
        task = asyncio.create_task(job())
        while not os.listdir(folder):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    # It waits for the thread of the build.
    asyncio.run(main())
    assert [type(error) for error in ended] == [tabiya.CancelledError] and os.listdir(folder) == []
    feed.end()


def test_a_handle_that_is_set_lets_nothing_begin(tmp_path: Path) -> None:
    cancel = tabiya.Cancel()
    assert not cancel.is_set() and repr(cancel) == "<tabiya.Cancel: not set>"
    assert tabiya.check(STARTER, cancel=cancel) == []
    report = tabiya.convert(STARTER, tmp_path / "a.abk", cancel=cancel)
    assert report.moves > 0
    cancel.set()
    before = sorted(os.listdir(tmp_path))
    calls: list[Callable[[], object]] = [
        lambda: tabiya.check(STARTER, cancel=cancel),
        lambda: tabiya.convert(STARTER, tmp_path / "b.ctg", cancel=cancel),
        lambda: tabiya.merge([STARTER, STARTER], tmp_path / "b.kob", cancel=cancel),
        lambda: tabiya.build(tmp_path / "none.pgn", tmp_path / "b.bin", cancel=cancel),
    ]
    for call in calls:
        with pytest.raises(tabiya.CancelledError, match="cancelled"):
            call()
    assert sorted(os.listdir(tmp_path)) == before
    with pytest.raises(TypeError, match="tabiya.Cancel"):
        tabiya.check(STARTER, cancel=threading.Event())  # type: ignore[arg-type]


INTERRUPTED = """\
\
import os, signal, sys, threading, tabiya
games, few, folder = sys.argv[1:]
# A shell lets what it starts in the background ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
def feed():
    # Games without an end, so that the build cannot be over before it is interrupted.
    some = open(few).read() * 1000
    with open(games, "w") as into:
        # The book is begun beside its place.
        while not (ready.is_set() and os.listdir(folder)):
            into.write(some)
        os.kill(os.getpid(), signal.SIGINT)
        try:
            while True:
                into.write(some)
        except BrokenPipeError:
            pass
ready = threading.Event()
os.mkfifo(games)
feeding = threading.Thread(target=feed)
feeding.start()
try:
    BUILD
    sys.exit("it was not interrupted")
except KeyboardInterrupt:
    print(os.listdir(folder))
feeding.join()
# The next call is not stopped by that.
tabiya.build(few, os.path.join(folder, "b.bin"), min_games=1)
print(os.listdir(folder))
"""

# Where Ctrl-C finds the build: in the thread that it is raised in, in another thread, or in one of asyncio's.
BUILDS = {
    "main": """
    ready.set()
    tabiya.build(games, os.path.join(folder, "a.bin"), threads=1)
""",
    "thread": """
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor() as pool, tabiya.Cancel() as cancel:
        built = pool.submit(tabiya.build, games, os.path.join(folder, "a.bin"), threads=1, cancel=cancel)
        ready.set()
        built.result()
""",
    "asyncio": """
    import asyncio
    async def job():
        with tabiya.Cancel() as cancel:
            await asyncio.to_thread(tabiya.build, games, os.path.join(folder, "a.bin"), threads=1, cancel=cancel)
    ready.set()
    asyncio.run(job())
""",
}


@pytest.mark.parametrize("where", BUILDS)
def test_ctrl_c_stops_a_build_and_nothing_remains(where: str, tmp_path: Path) -> None:
    few, folder = many_games(tmp_path / "few.pgn", 5), tmp_path / "out"
    folder.mkdir()
    code = INTERRUPTED.replace("    BUILD\n", f"    {BUILDS[where].strip()}\n")
    done = python_does(code, tmp_path / "games.pgn", few, folder)
    assert done.stdout.splitlines() == ["[]", "['b.bin']"], done.stderr
