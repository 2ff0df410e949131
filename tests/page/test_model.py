"""A walk through books by two pages: after each edit each book is what a model says, and nothing was written that it did not ask for.

People press keys and buttons for different times, so delays are drawn for each. Nothing waits for a time: what an action does is awaited
on the page and in the server's answers. The books are read by python-chess and by the readers of docs/formats. TABIYA_WALK_SEED and
TABIYA_WALK_ACTIONS make other walks; a failure prints its own.
"""

import collections
import json
import os
import random
import re
import sys
import time

import chess
import chess.polyglot
import pytest
from conftest import GAMES, HANG, HERE, tabiya
from line_model import Walks, added, compared, in_text, key, line_of, moves_of, study, usual
from parts import address, drag, shown
from playwright.sync_api import expect

sys.path.insert(0, str(HERE.parents[1] / "docs" / "formats"))

import read_abk  # noqa: E402

FULL = os.environ.get("TABIYA_FULL_TESTS")
ACTIONS = int(os.environ.get("TABIYA_WALK_ACTIONS", "700" if FULL else "50"))
SEEDS = [int(seed) for seed in os.environ.get("TABIYA_WALK_SEED", "1,2,3" if FULL else "1").split(",")]

# How many milliseconds a key or a button is pressed, or until the next one is; most of them few.
LONGEST, FEW = 400, 2 if FULL else 12

# The longest line: plies.
DEEPEST = 7

# How many edits a server keeps of a book without a journal.
KEPT = 200


def read_bin(path, boards):
    """Its entries as python-chess reads them; in the file castling is king takes rook."""
    found = {}
    with chess.polyglot.open_reader(path) as reader:
        for entry in reader:
            board = boards[entry.key]
            uci = next((move.uci() for move in board.legal_moves if castled(board, move) == entry.move), entry.move.uci())
            found[entry.key, uci] = entry.weight
    return found


def castled(board, move):
    if not board.is_castling(move):
        return move
    file = 7 if chess.square_file(move.to_square) > chess.square_file(move.from_square) else 0
    return chess.Move(move.from_square, chess.square(file, chess.square_rank(move.from_square)))


def read_tree(path, boards):
    found = {}
    for at, entries in read_abk.index(path).items():
        for entry in entries:
            priority = found.setdefault((at, entry.move.uci()), entry.priority)
            assert priority == entry.priority
    return found


def read_text(path, boards):
    found = {}
    for text in path.read_text().splitlines():
        board = chess.Board()
        if path.suffix == ".epd":
            said = board.set_epd(text)
            weights = {move: int(weight) for move, weight in re.findall(r"(\S+)=(\d+)", said.get("c0", ""))}
            weights = weights or {board.san(move): int(name == "bm") for name in ("bm", "am") for move in said.get(name, [])}
        else:
            fen, moves = text.split("; ")
            board.set_fen(fen)
            weights = dict((move, int(weight)) for move, weight in (part.split() for part in moves.split(", ")))
        for san, weight in weights.items():
            found[key(board), board.parse_san(san).uci()] = weight
    return found


Kind = collections.namedtuple("Kind", "read unit most alone is_tree")
KINDS = {
    "main.bin": Kind(read_bin, "weight", 65_535, 1, False),
    "arena.abk": Kind(read_tree, "priority", 9, 5, True),
    "plain.epd": Kind(read_text, "weight", 99_999, 1, False),
    "plain.fen": Kind(read_text, "weight", 99_999, 1, False),
}


# The positions of the walk by their keys.
BOARDS = {}


def know(boards):
    for board in boards:
        BOARDS.setdefault(key(board), board.copy(stack=False))


def after(play):
    """The position after moves from the start, which is known from here on."""
    board = chess.Board()
    for uci in play:
        board.push_uci(uci)
    know([board])
    return board


class Model:
    """A book as it is to be, and how it was before each edit that can be taken back."""

    def __init__(self, number, path):
        self.number, self.path, self.kind = number, path, KINDS[path.name]
        self.now, self.content = self.kind.read(path, BOARDS), path.read_bytes()
        self.first = self.content
        # Each: the model and the bytes that it leads to, and how the edit is named.
        self.made, self.undone = [], []

    @property
    def name(self):
        return self.path.name

    def row(self, board):
        return {uci: number for (at, uci), number in self.now.items() if at == key(board)}

    def usual(self, board):
        return usual(self.now, key(board), self.kind.alone)

    def does(self, model, answer):
        """An edit made the book what this model says."""
        old, self.now = (self.now, self.content), model
        self.compare()
        if self.content == old[1]:
            return
        # An edit that is made anew leaves those before it to be made again, where a journal tells.
        again = self.undone.pop()[0] == model if self.undone else False
        if not again or self.path.suffix != ".bin":
            self.undone.clear()
        self.made.append((*old, naming(answer)))
        if self.path.suffix != ".bin":
            del self.made[:-KEPT]

    def next(self, way):
        stack = self.made if way == "undo" else self.undone
        return stack[-1] if stack else None

    def hurried(self, first, both, answers, undone):
        """Two edits, of which the second was taken back; the book between them was not seen."""
        old = self.now, self.content
        self.now = first
        self.compare()
        self.undone.clear()
        self.made.append((*old, naming(answers[0])))
        self.undone.append((both, None, naming(undone)))
        if self.path.suffix != ".bin":
            del self.made[:-KEPT]

    def reverses(self, way, answer):
        """What was made last is taken back, or made again: the same bytes."""
        source, other = (self.made, self.undone) if way == "undo" else (self.undone, self.made)
        model, content, _ = source.pop()
        other.append((self.now, self.content, naming(answer)))
        self.now = model
        self.compare()
        assert content in (self.content, None), (self.name, way)

    def compare(self):
        found = self.kind.read(self.path, BOARDS)
        assert found == self.now, (self.name, sorted(found.items() ^ self.now.items()))
        self.content = self.path.read_bytes()


def naming(edit):
    """How an edit is named, whichever way it was made last."""
    said = sorted(json.dumps(edit.get(side), sort_keys=True) for side in ("before", "after"))
    return (edit["start"], *edit["play"], edit.get("move"), *(said if edit.get("move") else []))


WRITES = re.compile(r"/api/(edit|line|undo|redo)$")
Write = collections.namedtuple("Write", "path body")

# Whether the tables show the numbers of models.
SHOWN = """wanted => document.querySelector('#tables[aria-busy="false"]:not([data-saving])') && Object.entries(wanted).every(([name, moves]) => {
    const book = [...document.querySelectorAll('#tables section')].find(node => node.getAttribute('aria-label') === name);
    const rows = [...book?.querySelectorAll('tr[data-move]') ?? []];
    const number = row => [...row.querySelectorAll('button')].map(node => /: ([0-9,]+), change$/.exec(node.getAttribute('aria-label') ?? '')?.[1]).find(Boolean);
    return book && rows.length === Object.keys(moves).length && rows.every(row => number(row)?.replaceAll(',', '') === String(moves[row.dataset.move]));
})"""


class Tab:
    """A page, where it is, and what it asked to be written."""

    def __init__(self, page):
        self.page, self.play, self.sans, self.last = page, [], [], None
        self.asked, self.answers = [], []
        page.on("request", lambda request: self.asked.append(request) if WRITES.search(request.url) else None)
        page.on("response", lambda answer: self.answers.append(answer) if WRITES.search(answer.url) else None)

    def book(self, model):
        return self.page.get_by_role("region", name=model.name, exact=True)

    def note(self, model):
        return self.book(model).locator(".note")

    def answered(self, count):
        """What was asked since this was last called, which must be so many requests; each with its answer."""
        end = time.monotonic() + HANG
        while len(self.asked) < count or len(self.answers) < len(self.asked):
            assert time.monotonic() < end, (self.asked, self.answers)
            self.page.wait_for_timeout(5)
        assert len(self.asked) == count, [request.post_data for request in self.asked]
        answers = {answer.request: answer for answer in self.answers}
        done = [(Write(WRITES.search(asked.url)[1], asked.post_data_json), answers[asked]) for asked in self.asked]
        self.asked, self.answers = [], []
        return done


class Walk:
    """What the two pages do."""

    def __init__(self, tabs, models, seed):
        self.tabs, self.models, self.chance = tabs, models, random.Random(seed)
        self.walks, self.done = Walks(), collections.Counter()
        self.tab = tabs[0]

    # What people do.

    def delay(self):
        return int(LONGEST * self.chance.random() ** FEW)

    def pause(self):
        self.tab.page.wait_for_timeout(self.delay())

    def click(self, what):
        what.click(delay=self.delay())

    def press(self, name):
        self.tab.page.keyboard.press(name, delay=self.delay())

    def type(self, text):
        for letter in str(text):
            self.press(letter)
            self.pause()

    def settle(self):
        """Waits until the page shows what the books are to have."""
        tab, board = self.tab, after(self.tab.play)
        tab.page.wait_for_function(SHOWN, arg={model.name: model.row(board) for model in self.models})

    # What an edit is to ask for, and what is to come of it.

    def wrote(self, model, op, move, value, expected):
        """One edit of a move where the page is: it asked for that and nothing else."""
        (write, answer), = self.tab.answered(1)
        wanted = {"book": model.number, "play": self.tab.play, "move": move, "op": op, "expect": expected}
        if op != "delete":
            wanted["value"] = value
        said = {name: value for name, value in write.body.items() if name != "start"}
        assert (write.path, said) == ("edit", wanted)
        self.tab.last = model
        self.came(model, op, move, value, expected, answer)

    def came(self, model, op, move, value, expected, answer):
        board = after(self.tab.play)
        at = key(board), move
        unit = model.kind.unit
        has = {unit: model.now[at]} if at in model.now else None
        then = dict(model.now)
        then.pop(at, None)
        made = False
        if has != expected:
            assert answer.status == 409, answer.text()
            said = "Nothing was written"
        elif model.kind.is_tree and not self.is_tree(then if op == "delete" else then | {at: value}):
            assert answer.status >= 400, answer.text()
            said = "Try again"
        else:
            assert answer.status == 200, answer.text()
            made, said = True, "saved"
            model.does(then if op == "delete" else then | {at: value}, answer.json())
        if not made:
            model.compare()
        self.says(model, said)

    def says(self, model, words):
        """What the page says of a book, as soon as it has heard of it."""
        expect(self.tab.note(model)).to_contain_text(words)

    def is_tree(self, model):
        """Whether moves lead to all positions of a model, as in a tree."""
        own = self.walks.reached(model, chess.Board())
        return bool(model) and all(at in own for at, _ in model)

    def choose(self):
        """A book with moves where the page is, and one of them."""
        board = after(self.tab.play)
        known = [(model, row) for model in self.models if (row := model.row(board))]
        if not known:
            return None
        model, row = self.chance.choice(known)
        return model, self.chance.choice(sorted(row))

    # The actions.

    def go(self):
        """A move, by its row or on the board, or steps back."""
        tab, board, way = self.tab, after(self.tab.play), self.chance.random()
        if way < 0.15 and tab.play:
            tab.page.evaluate("document.activeElement.blur()")
            self.press("Home")
            self.arrive([])
        elif way < 0.35 and tab.play or len(tab.play) >= DEEPEST:
            tab.page.evaluate("document.activeElement.blur()")
            self.press("ArrowLeft")
            self.arrive(tab.play[:-1])
        elif way < 0.85 and (chosen := self.choose()):
            model, move = chosen
            self.click(tab.book(model).locator(f'tr[data-move="{move}"] .san'))
            self.arrive([*tab.play, move])
        else:
            moves = sorted(move.uci() for move in board.legal_moves if not move.promotion)
            move = self.chance.choice(moves)
            drag(tab.page, move[:2], move[2:4])
            self.arrive([*tab.play, move])

    def arrive(self, play):
        board, sans = chess.Board(), []
        for uci in play:
            sans.append(board.san(chess.Move.from_uci(uci)))
            board.push_uci(uci)
        know([board])
        address(self.tab.page, "#" + ",".join(sans) if sans else "")
        shown(self.tab.page)
        self.tab.play, self.tab.sans = list(play), sans

    def reload(self):
        self.tab.page.reload()
        self.tab.last = None
        self.arrive(self.tab.play)

    def typed(self, model, move):
        """Opens a value and types another one."""
        now = model.now[key(after(self.tab.play)), move]
        value = self.other(model, now)
        san = after(self.tab.play).san(chess.Move.from_uci(move))
        tab, unit = self.tab, model.kind.unit
        self.click(tab.book(model).get_by_role("button", name=re.compile(f"^{unit} of {re.escape(san)}: ")))
        field = tab.book(model).get_by_role("spinbutton", name=re.compile(f"^{unit} of {re.escape(san)}, "))
        expect(field).to_be_focused()
        self.type(value)
        expect(field).to_have_value(str(value))
        return {unit: now}, value

    def other(self, model, now=None):
        """A number for a move that has this one."""
        most = self.chance.choice([9, model.kind.most])
        return self.chance.choice([number for number in (self.chance.randint(0, most), self.chance.randint(0, 9), 5, 6) if number != now])

    def set(self):
        if chosen := self.choose():
            expected, value = self.typed(*chosen)
            self.press("Enter")
            self.wrote(chosen[0], "set", chosen[1], value, expected)

    def set_meanwhile(self):
        """While a value is typed, the other page edits its position; what is typed is for its own move, or nothing."""
        if not (chosen := self.choose()):
            return
        (model, move), mine, play = chosen, self.tab, self.tab.play
        expected, value = self.typed(model, move)
        self.tab = next(tab for tab in self.tabs if tab is not mine)
        self.visit(play)
        self.settle()
        self.chance.choice([self.set, self.delete, self.add])()
        self.tab = mine
        if (key(after(play)), move) not in model.now:
            expect(mine.book(model).locator(f'tr[data-move="{move}"]')).to_have_count(0)
        self.press("Enter")
        self.wrote(model, "set", move, value, expected)
        mine.page.evaluate("document.activeElement.blur()")

    def visit(self, play):
        if self.tab.play != play:
            board, sans = chess.Board(), []
            for uci in play:
                sans.append(board.san(chess.Move.from_uci(uci)))
                board.push_uci(uci)
            self.tab.page.evaluate("fragment => { location.hash = fragment; }", "#" + ",".join(sans))
            self.arrive(play)

    def hurry(self):
        """Two values and a key that takes the last one back, without waiting for any of them."""
        board = after(self.tab.play)
        rows = [(model, sorted(row)) for model in self.models if len(row := model.row(board)) > 1]
        if not rows:
            return
        model, moves = self.chance.choice(rows)
        wanted = []
        for move in self.chance.sample(moves, 2):
            expected, value = self.typed(model, move)
            self.press("Enter")
            wanted.append((move, value, expected))
        self.press("u")
        *sets, (undo, answer) = self.tab.answered(3)
        for (move, value, expected), (write, made) in zip(wanted, sets, strict=True):
            assert (write.path, write.body["move"], write.body["value"], write.body["expect"]) == ("edit", move, value, expected)
            assert made.status == 200, made.text()
        # The second was taken back: the book has the first.
        assert (undo.path, undo.body) == ("undo", {"book": model.number}) and answer.status == 200, answer.text()
        self.tab.last = model
        (move, value, _), (other, then, _) = wanted
        at = key(board)
        both = model.now | {(at, move): value, (at, other): then}
        first = model.now | {(at, move): value}
        model.hurried(first, both, [made.json() for _, made in sets], answer.json())
        self.says(model, "undone")

    def ask_to_delete(self, model, san):
        book = self.tab.book(model)
        button = book.get_by_role("button", name=f"Delete {san} from {model.name}", exact=True)
        if button.count() == 0:
            # Where there is little room, it is behind the row.
            self.click(book.get_by_role("button", name=f"More of {san}", exact=True))
        self.click(button)

    def delete(self):
        if chosen := self.choose():
            model, move = chosen
            board = after(self.tab.play)
            now = model.now[key(board), move]
            san = board.san(chess.Move.from_uci(move))
            self.ask_to_delete(model, san)
            if self.chance.random() < 0.2:
                self.click(self.tab.note(model).get_by_role("button", name="Keep", exact=True))
                return
            self.click(self.tab.note(model).get_by_role("button", name="Delete", exact=True))
            self.wrote(model, "delete", move, None, {model.kind.unit: now})

    def delete_line(self):
        if chosen := self.choose():
            model, move = chosen
            san = after(self.tab.play).san(chess.Move.from_uci(move))
            self.ask_to_delete(model, san)
            self.click(self.tab.note(model).get_by_role("button", name="With all that only it leads to"))
            self.of_line(model, {"op": "delete", "play": [*self.tab.play, move]}, lambda now: self.left(now, [*self.tab.play, move]), "Delete")

    def left(self, now, play):
        gone = self.walks.deleted(now, play)
        return {at: number for at, number in now.items() if at not in gone}, []

    def form(self, model, name):
        """A form of a book, which is opened if it is closed."""
        form = self.tab.book(model).get_by_role("group").filter(has_text=name)
        if not form.get_by_role("button").first.is_visible():
            self.click(form.get_by_text(name, exact=True))
        return form

    def filled(self):
        """A form that adds a move, filled in; the book, the move, its number and the button, if there is a move to add."""
        board = after(self.tab.play)
        model = self.chance.choice(self.models)
        new = sorted(move.uci() for move in board.legal_moves if not move.promotion and move.uci() not in model.row(board))
        if not new:
            return None
        move, form = self.chance.choice(new), self.form(model, "Add a move")
        form.get_by_label("Move to add").select_option(move)
        field = form.get_by_label(f"{model.kind.unit} of the new move")
        if self.chance.random() < 0.3:
            value = int(field.input_value())
        else:
            value = self.other(model)
            self.click(field)
            self.press("Control+a")
            self.type(value)
        return model, move, value, form.get_by_role("button", name="Add", exact=True)

    def add(self):
        if filled := self.filled():
            model, move, value, button = filled
            self.click(button)
            self.wrote(model, "add", move, value, None)

    def add_meanwhile(self):
        """While a form is filled in, the other page edits its position."""
        if not (filled := self.filled()):
            return
        model, move, value, button = filled
        mine, play = self.tab, self.tab.play
        self.tab = next(tab for tab in self.tabs if tab is not mine)
        self.visit(play)
        self.settle()
        self.chance.choice([self.set, self.delete, self.add])()
        self.tab = mine
        self.settle()
        if (key(after(play)), move) not in model.now:
            self.click(button)
            self.wrote(model, "add", move, value, None)

    def add_last(self):
        """The move that left the book, where it did."""
        for model in self.models:
            if not self.tab.play:
                return
            button = self.tab.book(model).get_by_role("button", name=f"Add {self.tab.sans[-1]}", exact=True)
            if button.count() == 0:
                continue
            here, self.tab.play = self.tab.play, self.tab.play[:-1]
            value = model.usual(after(self.tab.play))
            self.click(button)
            self.wrote(model, "add", here[-1], value, None)
            self.tab.play = here
            return

    def add_line(self):
        model, chance = self.chance.choice(self.models), self.chance
        form = self.form(model, "Add or delete a line")
        text = in_text(study(chance.choice([2, 8, 30]), chance.randrange(1000))) if chance.random() < 0.6 or not self.tab.play else ""
        side, value = chance.choice(["", "", "white", "black"]), chance.choice(["", str(self.other(model))])
        form.get_by_label("Moves, a game or a study").fill(text)
        form.get_by_label("Moves to add").select_option(side)
        form.get_by_label("of all moves of the line").fill(value)
        if text:
            moves = moves_of(line_of(text))
        else:
            moves = {(key(board), uci): board for board, uci in ((after(self.tab.play[:ply]), uci) for ply, uci in enumerate(self.tab.play))}
        know(moves.values())
        for (_, uci), board in moves.items():
            board = board.copy(stack=False)
            board.push_uci(uci)
            know([board])
        kind = model.kind
        counting = [at for at, board in moves.items() if kind.is_tree or not side or board.turn == (side == "white")]
        self.click(form.get_by_role("button", name="Add the line"))
        body = {"op": "add", "play": self.tab.play}
        body |= ({"text": text.strip()} if text else {}) | ({"side": side} if side else {}) | ({"value": int(value)} if value else {})
        number = int(value) if value else None
        self.of_line(model, body, lambda now: (added(now, moves, side or None, number, kind.alone, kind.is_tree), counting), "Add it")

    def of_line(self, model, body, does, do):
        """A line: what it does is said first, then it is done, unless another edit came between that changes what it does."""
        tab, body = self.tab, {"book": model.number, **body}

        def asked():
            counts = compared(model.now, *does(model.now))
            (write, answer), = tab.answered(1)
            assert (write.path, without(write.body, "start")) == ("line", body)
            assert (answer.status, answer.json()) == (200, counts), counts
            return counts

        counts = asked()
        if not any(counts[name] for name in ("adds", "changes", "deletes")):
            expect(tab.note(model)).to_contain_text("there is nothing to change")
            return
        button = tab.note(model).get_by_role("button", name=do, exact=True)
        expect(button).to_be_visible()
        draw = self.chance.random()
        if draw < 0.15:
            self.click(tab.note(model).get_by_role("button", name="Keep" if do == "Delete" else "Leave it", exact=True))
            return
        if draw < 0.4:
            self.tab = next(other for other in self.tabs if other is not tab)
            self.settle()
            self.set()
            self.tab = tab
        then, counting = does(model.now)
        counts_now = compared(model.now, then, counting)
        self.click(button)
        tab.last = model
        if counts_now != counts:
            # It says what it would do now; that is left.
            end = time.monotonic() + HANG
            while len(tab.asked) < 2:
                assert time.monotonic() < end
                tab.page.wait_for_timeout(5)
            (write, refused), (again, answer) = tab.answered(2)
            assert (without(write.body, "start"), refused.status) == (body | {"expect": counts}, 409)
            assert (without(again.body, "start"), answer.json()) == (body, counts_now)
            model.compare()
            self.says(model, "The book has changed since")
            return
        (write, answer), = tab.answered(1)
        assert (without(write.body, "start"), answer.status) == (body | {"expect": counts}, 200), answer.text()
        model.does(then, answer.json())
        self.says(model, "saved")

    def reverse(self):
        """By key the last edit of the book that this page edited last; by a button the one that is meant, or none."""
        tab, way = self.tab, self.chance.choice(["undo", "undo", "redo"])
        buttons = [(model, tab.note(model).get_by_role("button", name=way, exact=True)) for model in self.models]
        buttons = [(model, button) for model, button in buttons if button.count()]
        by_button = self.chance.random() < 0.5
        if buttons and by_button:
            model, button = self.chance.choice(buttons)
            self.click(button)
        else:
            model = tab.last or self.models[0]
            tab.page.evaluate("document.activeElement.blur()")
            self.press("u" if way == "undo" else "U")
        (write, answer), = tab.answered(1)
        assert (write.path, write.body["book"]) == (way, model.number)
        named, last = write.body.get("edit"), model.next(way)
        if last is None:
            assert answer.status == 404, answer.text()
            self.says(model, f"no edit to {way}")
        elif named and naming(named) != last[2]:
            assert answer.status == 409, answer.text()
            self.says(model, "the last edit is another one")
        else:
            assert answer.status == 200, (answer.text(), named, last[2])
            tab.last = model
            model.reverses(way, answer.json())
            self.says(model, "undone" if way == "undo" else "redone")
        model.compare()

    def run(self, actions):
        ways = {self.go: 30, self.reload: 3, self.set: 16, self.set_meanwhile: 6, self.hurry: 5, self.delete: 8, self.delete_line: 4,
            self.add: 10, self.add_meanwhile: 4, self.add_last: 6, self.add_line: 8, self.reverse: 16}
        for number in range(actions):
            self.tab = self.chance.choice(self.tabs)
            act, = self.chance.choices([*ways], [*ways.values()])
            print(number, self.tabs.index(self.tab), act.__name__, *self.tab.sans)
            self.settle()
            act()
            self.done[act.__name__] += 1
            for tab in self.tabs:
                assert tab.asked == [], act.__name__
        for self.tab in self.tabs:
            self.settle()


def without(body, name):
    return {key: value for key, value in body.items() if key != name}


@pytest.mark.parametrize("seed", SEEDS)
def test_books_are_what_a_model_of_all_edits_says(serve, look, books, seed):
    for _, text in GAMES:
        board = chess.Board()
        know([board])
        for san in text.split():
            board.push_san(san)
            know([board])
    third = ["plain.epd", "plain.fen"][seed % 2]
    tabiya("convert", books / "main.bin", "-o", books / third)
    names = ["main.bin", "arena.abk", third]
    models = [Model(number, books / name) for number, name in enumerate(names)]
    server = serve(*(books / name for name in names), "--edit")
    # Two windows, wide enough that nothing is folded away, and high enough that nothing is scrolled to.
    tabs = [Tab(look(server, width=3000, height=1400)) for _ in range(2)]
    walk = Walk(tabs, models, seed)
    walk.run(ACTIONS)
    # All is taken back: the same bytes, unless there were more edits than are kept.
    for model in models:
        kept = len(model.made)
        while model.made:
            model.reverses("undo", server.ask("/api/undo", {"book": model.number}))
        assert model.content == model.first or kept == KEPT
