"""Walks through a book by two pages that edit it and take edits back, while `tabiya edit` does the same.

In the end the pages and the book agree, and nothing is lost: every edit that was answered leads from a value that the position had
to another one, so that all of them together lead from what the book had to what it has.
"""

import collections
import os
import random
import re
import subprocess
import time

import pytest
from conftest import EXE, HANG, show
from parts import line, saved, weight
from playwright.sync_api import Error, expect

# Before a release, 2,000 walks: 500 in a book of each format.
WALKS = 500 if os.environ.get("TABIYA_FULL_TESTS") else 25

UCI = {"e4": "e2e4", "c5": "c7c5", "e5": "e7e5", "d4": "d2d4", "Nf3": "g1f3"}
PLACES = [(), ("e4",), ("e4", "c5"), ("e4", "e5"), ("d4",), ("e4", "c5", "Nf3")]

# How many numbers the format has, and what `tabiya edit` calls one; nothing for a format of colours and marks.
NUMBERS = {"main.bin": (65_536, "weight"), "arena.abk": (10, "priority"), "named.kob": (100_000, "weight"), "marks.ctg": None}
LOOKS = {"green: recommended": "green", "red: to be avoided": "red", "good move": "!", "mistake": "?"}


def value_of(name, move):
    """What an edit of this book changes: of an answer to an edit, a move of `/api/view`, or one of `show --json`."""
    if move is None:
        return None
    if name == "marks.ctg":
        if "color" in move:
            return move["color"], move["mark"]
        return {True: "green", False: "red", None: None}[move["recommended"]], move["annotation"]
    return move["priority" if name == "arena.abk" else "weight"]


def printed(name, text):
    """The values before and after that `tabiya edit` prints of a move; both are the same where nothing changed."""
    if NUMBERS[name]:
        found = re.search(rf"{NUMBERS[name][1]} (\d+)(?: -> (\d+)|, as before)", text)
        return int(found[1]), int(found[2] or found[1])
    found = re.search(r"weight \d+([^\n>]*?)(?: -> \d+([^\n]*)|, as before)\n", text)

    def looks(words):
        words = [word for word in words.split(", ") if word]
        colors = [word for word in words if word in ("green", "red")]
        marks = [word for word in words if word not in colors]
        return (colors or [None])[0], (marks or [None])[0]

    return looks(found[1]), looks(found[1] if found[2] is None else found[2])


class Walker:
    """A page, and what it was answered when it edited the book."""

    def __init__(self, page):
        self.page, self.place, self.asked, self.answers = page, (), 0, []
        writes = re.compile(r"/api/(edit|undo|redo)$")

        def asked(request):
            self.asked += bool(writes.search(request.url))

        page.on("request", asked)
        page.on("response", lambda response: self.answers.append(response) if writes.search(response.url) else None)

    def go(self, place):
        self.page.evaluate("fragment => { location.hash = fragment; }", "#" + ",".join(place))
        expect(line(self.page)).to_have_text(list(place))
        self.place = place

    def write(self, move, value):
        until = time.monotonic() + HANG
        while True:
            weight(self.page, move).click()
            try:
                weight(self.page, move).fill(str(value))
                break
            except Error:
                # The field closes when the value before it is refused, which somebody else has changed.
                assert time.monotonic() < until
        self.page.keyboard.press("Enter")

    def mark(self, move, look):
        self.page.locator(f'[data-focus="0 {move} looks"]').click()
        self.page.get_by_role("menuitemradio", name=look).click()

    def edits(self, name):
        """The edits that were made: the position, and the values before and after."""
        saved(self.page)
        while len(self.answers) < self.asked:
            self.page.wait_for_timeout(10)
        for response in self.answers:
            # 404: nothing to take back. 409: somebody else was there first. 422: in a CTG book the colour belongs to the position
            # after the move, to which other moves lead. The page says which.
            assert response.status in ((200, 404, 409, 422) if name == "marks.ctg" else (200, 404, 409)), response.text()
            if response.status == 200:
                answer = response.json()
                yield tuple(answer["play"]), value_of(name, answer["before"]), value_of(name, answer["after"])


class Command:
    """`tabiya edit`, one at a time, and what it did."""

    def __init__(self, book):
        self.book, self.running, self.done = book, None, []

    def start(self, place, *arguments):
        self.wait()
        line = [EXE, "edit", self.book, *(["--moves", " ".join(place)] if place else []), *arguments]
        self.running = place, subprocess.Popen([*map(str, line)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def wait(self):
        if self.running:
            place, process = self.running
            text, _ = process.communicate(timeout=HANG)
            # 1: there is nothing to take back, or the book would not be whole.
            assert process.returncode in (0, 1) or "would lose a part of it" in text, text
            if process.returncode == 0:
                self.done.append((place, text))
            self.running = None


@pytest.mark.parametrize("name", NUMBERS)
def test_two_pages_and_the_command_lose_nothing(serve, look, books, name):
    book, chance = books / name, random.Random(31)
    server = serve(book, "--edit")

    def values():
        found = {}
        for place in PLACES:
            play = tuple(UCI[word] for word in place)
            shown = show(book, *place)
            # The server looks once a second whether a book was changed by somebody else.
            end = time.monotonic() + HANG
            looks = lambda move: [move[key] for key in ("weight", "recommended", "annotation")]
            while True:
                listed = server.ask("/api/view?books=0&play=" + ",".join(play))["books"][0]["moves"]
                found[play] = {move["uci"]: value_of(name, move) for move in listed}
                if {move["uci"]: looks(move) for move in listed} == {uci: looks(move) for uci, move in shown.items()}:
                    break
                assert time.monotonic() < end, (play, listed, shown)
        return found

    before = values()
    walkers, command = [Walker(look(server)), Walker(look(server))], Command(book)
    for _ in range(WALKS):
        walker, place = chance.choice(walkers), chance.choice(PLACES)
        move = chance.choice(sorted(before[tuple(UCI[word] for word in place)]))
        step = chance.random()
        if step < 0.25:
            value = chance.randrange(NUMBERS[name][0]) if NUMBERS[name] else chance.choice([*LOOKS.values()])
            command.start(place, "--set", f"{move}={value}")
        elif step < 0.3 and name == "main.bin":
            # What is taken back says where that was.
            command.start((), "--undo")
        elif step < 0.45:
            walker.page.keyboard.press("u")
        else:
            walker.go(place)
            if NUMBERS[name]:
                walker.write(move, chance.randrange(NUMBERS[name][0]))
            else:
                walker.mark(move, chance.choice([*LOOKS]))
    command.wait()
    edits = [edit for walker in walkers for edit in walker.edits(name)]
    assert len(edits) > WALKS // 4
    balance = collections.defaultdict(collections.Counter)
    for play, old, new in edits:
        balance[play].update({new: 1})
        balance[play].subtract({old: 1})
    for place, text in command.done:
        play = tuple(UCI[word] for word in place)
        if "undone" in text:
            line = re.search(r", (in the starting position|after [^,]*), undone", text)[1]
            words = [] if line.startswith("in") else re.sub(r"\d+\.+ ?", "", line.removeprefix("after ")).split()
            play = tuple(UCI[word] for word in words)
        old, new = printed(name, text)
        balance[play].update({new: 1})
        balance[play].subtract({old: 1})
    after = values()
    for play, moves in before.items():
        balance[play].update(moves.values())
        balance[play].subtract(after[play].values())
        assert not any(balance[play].values()), (play, moves, after[play], balance[play])
    for walker in walkers:
        for place in PLACES:
            walker.go(place)
            for move, value in after[tuple(UCI[word] for word in place)].items():
                if NUMBERS[name]:
                    expect(weight(walker.page, move)).to_have_text(f"{value:,}")
                else:
                    cell = walker.page.locator(f'[data-focus="0 {move} looks"]')
                    expect(cell).to_contain_text(value[1] or "")
