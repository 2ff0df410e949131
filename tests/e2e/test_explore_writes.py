"""Writes of `tabiya explore`: beside other writers of the same book, and what they cost."""

import json
import re
import threading
from pathlib import Path

import chess
import pytest

from client import HANG, times
from conftest import linux_only
from explorer import value_of
from random_games import FORMATS, Game

# Every first move, with two replies.
GAMES = [
    Game([first, chess.Move.from_uci(reply)], result, {})
    for first in chess.Board().legal_moves
    for reply, result in (("e7e5", "1-0"), ("h7h6", "1/2-1/2"))
]


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


def in_parallel(works):
    """Does all of this at once, and reports the first failure."""
    failed = []

    def run(work):
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    assert not failed, failed[0]
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_lost_between_pages_names_and_commands(explore, tabiya, copy_of, name):
    """Two names of one book in one page, another page, and the command, all at once: each has moves of its own."""
    path = copy_of(name)
    link = path.with_name("link" + path.suffix)
    try:
        link.symlink_to(path.name)
    except OSError:
        link = path
    # The other files of a CTG or Kvetka book are found by its name.
    names = [path, Path(".", path.name) if path.parent == Path.cwd() else path.parent / "." / path.name]
    first, second = explore("--edit", *names), explore("--edit", link if name in ("bin", "abk") else path)
    moves = first.moves()
    start = {uci: value_of(name, move) for uci, move in moves.items()}
    marks = ["!", "?", "!?", "?!"]

    def wanted(uci, turn):
        if name == "ctg":
            mark = marks[(marks.index(start[uci]["mark"]) + 1 + turn % 3) % 4 if start[uci]["mark"] in marks else turn % 4]
            return {"color": "red" if turn % 2 else "green", "mark": mark}
        [before] = start[uci].values()
        return (before + 1 + turn % 8) % 10

    def after(uci, turn):
        value = wanted(uci, turn)
        return {**start[uci], **value} if name == "ctg" else {next(iter(start[uci])): value}

    def by_page(server, book):
        def edit(uci, turn, expect):
            status, answer = server.edit(book=book, move=uci, op="set", value=wanted(uci, turn), expect=expect)
            assert status == 200, answer

        return edit

    def by_command(uci, turn, _):
        value = wanted(uci, turn)
        text = f"{value['color']},{value['mark']}" if name == "ctg" else str(value)
        done = tabiya("edit", path, "--set", f"{uci}={text}")
        assert done.returncode == 0, done.stderr

    editors = [by_page(first, 0), by_page(first, 1), by_page(second, 0), by_command, by_command]
    rounds = times(3, 16)
    ends = {}

    def all_of(editor, own):
        def run():
            for turn in range(rounds):
                for uci in own:
                    editor(uci, turn, start[uci] if turn == 0 else after(uci, turn - 1))
                    ends[uci] = after(uci, turn)

        return run

    in_parallel([all_of(editor, list(moves)[number :: len(editors)]) for number, editor in enumerate(editors)])
    assert set(ends) == set(moves) and len(moves) == 20
    shown = {move["uci"]: move for move in json.loads(tabiya("show", path, "--json").stdout)["moves"]}
    for uci, move in explore(path).moves().items():
        assert value_of(name, move) == ends[uci], uci
        assert name == "abk" or {key: move[key] for key in shown[uci]} == shown[uci]
    assert tabiya("check", path).returncode == 0
    assert not [file.name for file in path.parent.iterdir() if file.name.startswith(".tabiya-")]


@linux_only
def test_what_takes_edits_back_is_small(explore, copy_of):
    """Adding moves to a large Arena book, whose file then differs from near its beginning to its end."""
    path = copy_of("abk")
    size = times(16 << 20, 80 << 20)
    with path.open("ab") as file:
        # Records that no line reaches.
        file.write(bytes(28) * (size // 28))
    before = path.read_bytes()
    server = explore("--edit", path)
    added = []
    for first in list(server.moves())[:15]:
        for reply in ("a7a6", "g7g6"):
            status, answer = server.edit(play=[first], move=reply, op="add", value=5, expect=None)
            assert (status, answer["after"]) == (200, {"priority": 5}), answer
            added.append((first, reply))
    memory = Path("/proc", str(server.process.pid), "status").read_text()
    assert int(re.search(r"RssAnon:\s+(\d+) kB", memory)[1]) << 10 < size, memory
    for first, reply in reversed(added):
        status, answer = server.post("/api/undo", {"book": 0})
        assert (status, answer["play"], answer["after"]) == (200, [first], None), answer
    assert server.post("/api/undo", {"book": 0})[0] == 404
    assert path.read_bytes() == before
