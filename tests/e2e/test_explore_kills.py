"""kill -9 of `tabiya explore` at 200 random moments while books are edited: whatever was answered is in the book."""

import http.client
import random
import signal
import threading

import pytest

from client import HANG, times
from conftest import not_windows
from explorer import value_of
from random_games import FORMATS, random_games

GAMES = random_games(60, seed=7, most_plies=20)

# How often each format's book loses its server.
KILLS = {"bin": times(20, 140), "ctg": times(8, 20), "abk": times(8, 20), "kob": times(8, 20), "epd": times(4, 20), "fen": times(4, 20)}

# The longest that a server is left alone before it is killed, in seconds. No check depends on it.
LONGEST = 0.15


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


class Edited:
    """What a book must have in some positions, by the answers to its edits: a model that no answer may contradict."""

    def __init__(self, name, chance):
        self.name = name
        self.chance = chance
        # The moves to each position that is edited, what its moves have, and which could be added.
        self.places = {}
        self.legal = {}
        # What was asked and not answered: (position, move, what it may have by then besides what it had).
        self.asked = None
        # Edits that can be taken back and made again: (position, move, before, after).
        self.made, self.undone = [], []

    def look(self, server):
        """Compares the book with the model, and settles what was asked and not answered."""
        if not self.places:
            first = next(iter(server.moves()))
            for play in ((), (first,)):
                self.legal[play] = [move["uci"] for move in server.get("/api/view", play=",".join(play))["legal"]]
                self.places[play] = self.now(server, play)
        for play, known in self.places.items():
            now = self.now(server, play)
            if self.asked is not None and self.asked[0] == play and now != known:
                _, uci, fits, settle = self.asked
                assert fits(now.get(uci)), (uci, known, now)
                assert {**now, uci: None} == {**known, uci: None}, (uci, known, now)
                settle(now.get(uci))
                known = self.places[play]
            assert now == known, (play, self.asked)
        self.asked = None

    def now(self, server, play):
        return {uci: value_of(self.name, move) for uci, move in server.moves(play=play).items()}

    def note(self, play, uci, value):
        if value is None:
            self.places[play].pop(uci, None)
        else:
            self.places[play][uci] = value

    def forget(self):
        """Only a Polyglot book's edits can be taken back after a restart."""
        if self.name != "bin":
            self.made, self.undone = [], []

    def step(self, server):
        kind = self.chance.random()
        if kind < 0.25 and (self.undone if kind < 0.1 else self.made):
            self.reverse(server, "redo" if kind < 0.1 else "undo")
        else:
            self.edit(server)

    def reverse(self, server, way):
        source, target = (self.made, self.undone) if way == "undo" else (self.undone, self.made)
        play, uci, before, after = entry = source[-1]
        if way == "undo":
            before, after = after, before

        def settle(_):
            self.note(play, uci, after)
            target.append(source.pop())

        self.asked = (play, uci, lambda value: value == after, settle)
        status, answer = server.post(f"/api/{way}", {"book": 0})
        assert (status, answer["play"], answer["before"], answer["after"]) == (200, list(play), before, after), (answer, entry)
        settle(None)
        self.asked = None

    def edit(self, server):
        play = self.chance.choice(list(self.places))
        known = self.places[play]
        absent = [uci for uci in self.legal[play] if uci not in known]
        op = self.chance.choices(["set", "add", "delete"], [6, 2, 2])[0]
        # CTG has no room for every move that is legal.
        if op == "add" and (self.name == "ctg" or not absent) or op == "delete" and len(known) < 3:
            op = "set"
        uci = self.chance.choice(absent if op == "add" else list(known))
        before = known.get(uci)
        value, fits = self.wanted(before)
        if op == "delete":
            value, fits = None, lambda value: value is None

        def settle(after):
            self.note(play, uci, after)
            self.made.append((play, uci, before, after))
            self.undone.clear()

        self.asked = (play, uci, fits, settle)
        status, answer = server.edit(play=list(play), move=uci, op=op, value=value, expect=before)
        if self.name == "abk" and op == "delete" and status == 400:
            # An Arena book keeps a move from which it goes on.
            assert "tabiya trim" in answer["error"]
        else:
            assert status == 200 and answer["before"] == before and fits(answer["after"]), (op, uci, answer)
            settle(answer["after"])
        self.asked = None

    def wanted(self, before):
        """A value that the move does not have, and whether another is that one."""
        if self.name == "ctg":
            looks = [{"color": color, "mark": mark} for color in ("green", "red") for mark in ("!", "?!")]
            value = self.chance.choice([look for look in looks if before is None or look.items() - before.items()])
            return value, lambda now: now is not None and value.items() <= now.items()
        key, most = ("priority", 9) if self.name == "abk" else ("weight", 60_000)
        number = self.chance.randrange(1, most)
        number += before is not None and number >= before[key]
        return number, lambda now: now == {key: number}


@not_windows
@pytest.mark.parametrize("name", FORMATS)
def test_no_edit_that_was_answered_is_lost_by_kill_9(explore, tabiya, copy_of, name):
    path = copy_of(name)
    # The same edits in each run; what a kill meets depends on the machine.
    chance = random.Random(5)
    book = Edited(name, chance)
    edits = 0
    for _ in range(KILLS[name]):
        server = explore("--edit", path)
        book.look(server)
        book.forget()
        # On a busy machine the kill may come before the first answer.
        for _ in range(chance.randrange(4)):
            book.step(server)
            edits += 1
        killer = threading.Timer(chance.uniform(0, LONGEST), server.process.kill)
        killer.start()
        try:
            while True:
                book.step(server)
                edits += 1
        except (OSError, http.client.HTTPException):
            pass
        killer.join()
        assert server.process.wait(HANG) == -signal.SIGKILL
        done = tabiya("check", path)
        assert done.returncode == 0, done.stderr
    book.look(explore("--edit", path))
    assert edits >= KILLS[name]
