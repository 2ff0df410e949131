"""`[[book]]` tables: each answer's book, rule and move against a reckoning of what the tables allow."""

import json
import os
import random
import re
from dataclasses import dataclass

import chess
import chess.polyglot
import pytest

from client import START, problems, times
from polyglot_writer import Book

GAMES = int(os.environ.get("TABIYA_E2E_GAMES", times(40, 100)))

# Moves of ours in a game.
MOVES = 10

NUMBERS = {"variety": 100, "depth": 12, "threshold": 400, "games": 5, "reserve": 6, "min-clock": 60, "max-uses": 4}


def written(rules):
    """The tables of rules."""
    lines = []
    for rule in rules:
        lines.append("[[book]]")
        lines += [f"{key} = {value!r}" for key, value in rule.items()]
    return "\n".join(lines) + "\n"


def random_book(path, seed, games=60, plies=18):
    """A book of random games that share their first moves, with no two moves of a position alike in weight."""
    chance = random.Random(seed)
    book, known = Book(), {}
    for _ in range(games):
        board = chess.Board()
        for _ in range(chance.randint(4, plies)):
            legal = sorted(move.uci() for move in board.legal_moves)
            if not legal:
                break
            few = random.Random(len(board.move_stack) * 7 + seed % 2).sample(legal, min(len(legal), 3))
            move = chance.choice(few)
            moves = known.setdefault(board.epd(), (board.copy(), set()))[1]
            moves.add(move)
            board.push_uci(move)
    for board, moves in known.values():
        for move, weight in zip(sorted(moves), chance.sample(range(1, 2000), len(moves)), strict=True):
            book.add(board, move, weight)
    return book.write(path)


class Reckoning:
    """What the rules allow, by python-chess's reading of the books."""

    def __init__(self, folder, rules, options):
        self.rules = [options | rule for rule in rules]
        files = {rule["file"] for rule in rules}
        self.readers = {file: chess.polyglot.open_reader(folder / file) for file in files}

    def moves(self, file, board):
        return {entry.move.uci(): entry.weight for entry in self.readers[file].find_all(board, minimum_weight=1)}

    def plies(self, files, board, move):
        """The plies of the line that begins with a move: it ends where it comes back to a position."""
        board = board.copy()
        seen, count = [board.epd()], 1
        board.push_uci(move)
        while board.epd() not in seen:
            seen.append(board.epd())
            found = next((moves for moves in (self.moves(file, board) for file in files) if moves), None)
            if not found:
                return count
            board.push_uci(max(found, key=found.get))
            count += 1
        return count

    def shares(self, rule, files, board):
        """The chance of each playable move under a rule, and how many moves the book has."""
        moves = self.moves(rule["file"], board)
        total = sum(moves.values())

        def fits(move):
            after = board.copy()
            after.push_uci(move)
            enough = moves[move] * 1000 >= total * rule["threshold"]
            return enough and not after.is_repetition(3) and self.plies(files, board, move) >= rule["reserve"]

        weights = {move: weight for move, weight in moves.items() if fits(move)}
        if weights:
            most = max(weights.values())
            if rule["variety"] == 0:
                weights = {move: 1 for move, weight in weights.items() if weight == most}
            else:
                power = (100 - rule["variety"]) / rule["variety"]
                weights = {move: (weight / most) ** power for move, weight in weights.items()}
        total = sum(weights.values())
        return {move: weight / total for move, weight in weights.items()}, len(moves)

    def answer(self, board, left, uses):
        """The number of the rule that answers, its chances, and the number of its book's moves; None for the engine."""
        color = "white" if board.turn else "black"
        asked = [(number, rule) for number, rule in enumerate(self.rules, 1) if rule.get("color", color) == color]
        for place, (number, rule) in enumerate(asked):
            late = rule["depth"] and board.fullmove_number > rule["depth"]
            hurried = left is not None and left < 1000 * rule.get("min-clock", 0)
            used_up = sum(used == number for _, used in uses) >= rule.get("max-uses", 10**6)
            if late or hurried or used_up:
                continue
            shares, all_moves = self.shares(rule, [rule["file"] for _, rule in asked[place:]], board)
            if shares:
                return number, shares, all_moves
        return None


@dataclass
class Told:
    """What was played, for comparison with the log."""

    move: str
    rule: int
    file: str


def play(client, reckoning, chance, told, ours):
    """Plays one game, with some take-backs; returns how often each rule answered."""
    client.send("ucinewgame")
    board, uses, counts = chess.Board(), [], {}
    for _ in range(MOVES):
        if board.turn != ours:
            files = list(reckoning.readers)
            known = sorted({move for file in files for move in reckoning.moves(file, board)})
            legal = sorted(move.uci() for move in board.legal_moves)
            if not legal:
                return counts
            board.push_uci(chance.choice(known if known and chance.random() < 0.95 else legal))
        if board.is_game_over(claim_draw=False):
            return counts
        if len(board.move_stack) >= 2 and chance.random() < 0.1:
            board.pop()
            board.pop()
            uses = [(ply, rule) for ply, rule in uses if ply < len(board.move_stack)]
        left = chance.choice([None, chance.randint(0, 70_000), chance.randint(0, 70_000)])
        other = chance.randint(0, 70_000)
        clock = f"wtime {left} btime {other}" if ours else f"wtime {other} btime {left}"
        moves = " ".join(move.uci() for move in board.move_stack)
        position = f"position startpos moves {moves}" if moves else START
        answer = client.go("movetime 10" if left is None else clock, position)
        expected = reckoning.answer(board, left, uses)
        what = (position, left, uses, answer.lines)
        if expected is None:
            assert answer.book is None, what
        else:
            number, shares, all_moves = expected
            book = answer.book
            assert book, ("the engine answered", expected, what)
            file = reckoning.rules[number - 1]["file"]
            assert (int(book["rule"]), os.path.basename(book["file"])) == (number, file), (expected, what)
            assert answer.move in shares, (expected, what)
            assert (int(book["playable"]), int(book["moves"])) == (len(shares), all_moves), (expected, what)
            for move, percent, _ in answer.candidates:
                assert percent == pytest.approx(100 * shares.get(move, 0), abs=0.11), (expected, what)
            uses.append((len(board.move_stack), number))
            counts[number] = counts.get(number, 0) + 1
            told.append(Told(answer.move, number, file))
        board.push_uci(answer.move)
    return counts


def compare(run, tabiya_exe, engine, folder, rules, options, games, chance):
    """Plays games under a configuration; returns how many moves each rule answered."""
    names = {"variety": "Book Variety", "depth": "Book Depth", "threshold": "Book Threshold", "reserve": "Book Reserve"}
    settings = "\n".join(f"'{names[key]}' = {value}" for key, value in options.items())
    log = folder / "log.txt"
    log.unlink(missing_ok=True)
    (folder / "rules.toml").write_text(f"seed = {chance.randint(1, 10**6)}\nlog = '{log}'\n{written(rules)}[set]\n{settings}\n")
    client = run(tabiya_exe, *engine.argv("--legal"), "--config", "rules.toml", cwd=folder)
    assert problems(client.start()) == []
    reckoning = Reckoning(folder, rules, options)
    told, total = [], {}
    for game in range(games):
        for number, count in play(client, reckoning, chance, told, ours=game % 2 == 0).items():
            total[number] = total.get(number, 0) + count
    assert client.quit() == 0
    for reader in reckoning.readers.values():
        reader.close()
    noted = re.findall(r"book move (\S+) from (.+), chance [\d.]+%, rule (\d+) \((.+)\)$", log.read_text(), re.MULTILINE)
    expected = [(move.move, str(folder / move.file), str(move.rule), move.file) for move in told]
    assert noted == expected
    return total


@pytest.fixture
def books(tmp_path):
    random_book(tmp_path / "varied.bin", 1)
    random_book(tmp_path / "main.bin", 3, games=90)
    return tmp_path


def test_three_rules_answer_as_they_say(run, tabiya_exe, engine, books):
    rules = [
        {"file": "varied.bin", "variety": 90, "depth": 4, "max-uses": 3},
        {"file": "main.bin", "color": "black", "variety": 0, "min-clock": 20},
        {"file": "main.bin", "threshold": 200, "min-clock": 5},
    ]
    options = {"variety": 30, "depth": 8, "threshold": 5, "reserve": 0}
    total = compare(run, tabiya_exe, engine, books, rules, options, GAMES, random.Random(7))
    assert set(total) == {1, 2, 3} and min(total.values()) > GAMES / 5, total


@pytest.mark.parametrize("seed", range(10))
def test_any_rules_answer_as_they_say(run, tabiya_exe, engine, books, seed):
    chance = random.Random(seed)
    rules = []
    for _ in range(3):
        rule = {"file": chance.choice(["varied.bin", "main.bin"])}
        if chance.random() < 0.3:
            rule["color"] = chance.choice(["white", "black"])
        for key, most in NUMBERS.items():
            if chance.random() < 0.35:
                rule[key] = chance.randint(1 if key == "max-uses" else 0, most)
        rules.append(rule)
    options = {"variety": chance.randint(0, 100), "depth": chance.randint(0, 9), "threshold": 50, "reserve": chance.randint(0, 3)}
    compare(run, tabiya_exe, engine, books, rules, options, max(1, GAMES // 10), chance)


def test_a_varied_book_and_then_the_main_books_best_move(run, tabiya_exe, engine, tmp_path):
    Book().at(e2e4=9, d2d4=1).at("e2e4 e7e5", g1f3=9, f1c4=1).at("d2d4 d7d5", c2c4=1).write(tmp_path / "book.bin")
    (tmp_path / "tabiya.toml").write_text(
        "book = [{ file = 'book.bin', variety = 100, depth = 1 },\n        { file = 'book.bin', variety = 0 }]\n"
    )
    client = run(tabiya_exe, *engine.argv("--bestmove", "h2h3"))
    client.start()
    assert {client.go("movetime 10", START).move for _ in range(40)} == {"e2e4", "d2d4"}
    assert {client.go("movetime 10", "position startpos moves e2e4 e7e5").move for _ in range(20)} == {"g1f3"}
    client.set("Book File", tmp_path / "book.bin")
    answer = client.go("movetime 10", START)
    assert answer.book and answer.book["rule"] is None
    client.set("Book File", "<empty>")
    assert client.go("movetime 10", START).book["rule"] == "1"


def test_arguments_replace_the_rules(run, tabiya_exe, engine, tmp_path, small_book):
    Book().line("e2e4 e7e5").write(tmp_path / "rule.bin")
    (tmp_path / "tabiya.toml").write_text("[[book]]\nfile = 'rule.bin'\n")
    client = run(tabiya_exe, *engine.argv(), "--book", small_book)
    client.start()
    answer = client.go("movetime 10", START)
    assert (answer.move, answer.book["rule"]) == ("d2d4", None)
    client = run(tabiya_exe, *engine.argv(), "--book-white", small_book)
    client.start()
    assert client.go("movetime 10", START).book["rule"] is None
    assert client.go("movetime 10", "position startpos moves e2e4").book["rule"] == "1"


@pytest.mark.parametrize(
    "text, words",
    [
        ("[[book]]\nfile = 'a.bin'\nmin_clock = 3", ["line 3", "table 1", "'min_clock'", "write 'min-clock'"]),
        ("[[book]]\nfile = 'a.bin'\n[[book]]\nfile = 'a.bin'\nvariety = 101", ["line 5", "table 2", "'variety'", "0 to 100"]),
        ("[[book]]\nfile = 'a.bin'\ndepth = '9'", ["table 1", "'depth'", "0 to 1000"]),
        ("[[book]]\nvariety = 3", ["line 1", "table 1", "'file' is missing"]),
        ("[[book]]\nfile = 'a.bin'\ncolor = 'red'", ["table 1", "'color'", "white", "black"]),
        ("book = 'a.bin'\n[[book]]\nfile = 'a.bin'", ["line 2", "either"]),
        ("[book]\nfile = 'a.bin'", ["line 1", "write [[book]]"]),
    ],
)
@pytest.mark.parametrize("command", [[], ["doctor"], ["show"]])
def test_a_mistake_in_a_table_is_refused(run, tabiya_exe, tmp_path, small_book, text, words, command):
    small_book.rename(tmp_path / "a.bin")
    (tmp_path / "tabiya.toml").write_text(text + "\n")
    client = run(tabiya_exe, *command)
    client.rest()
    assert client.wait() == 3
    (line,) = client.errors().splitlines()
    assert line.startswith("tabiya: ") and all(word in line for word in words), line


def test_a_missing_book_of_a_rule_ends_tabiya_unless_books_are_optional(run, tabiya_exe, engine, tmp_path, small_book):
    tables = f"[[book]]\nfile = 'none.bin'\n[[book]]\nfile = '{small_book}'\n[[book]]\nfile = 'none.bin'\n"
    for optional in (False, True):
        (tmp_path / "tabiya.toml").write_text(("book-optional = true\n" if optional else "") + tables)
        client = run(tabiya_exe, *engine.argv())
        if optional:
            assert len(problems(client.start())) == 1
            assert client.go("movetime 10", START).book["rule"] == "2"
        else:
            client.rest()
            assert client.wait() == 3 and "none.bin: no such book" in client.errors()


def test_a_rule_says_that_its_own_book_may_be_missing(run, tabiya_exe, engine, tmp_path, small_book):
    for optional, code in (("true", 0), ("false", 3)):
        missing = "[[book]]\nfile = 'none.bin'\noptional = true\n"
        (tmp_path / "tabiya.toml").write_text(f"{missing}[[book]]\nfile = '{small_book}'\n[[book]]\nfile = 'gone.bin'\noptional = {optional}\n")
        client = run(tabiya_exe, *engine.argv())
        if code == 0:
            assert len(problems(client.start())) == 2
            assert client.go("movetime 10", START).book["rule"] == "2"
        else:
            client.rest()
            assert client.wait() == code and "gone.bin: no such book" in client.errors()


def test_a_rule_honours_the_colours_of_its_own_book(run, tabiya, tabiya_exe, engine, tmp_path):
    """1. e4 is red: it is playable only where colors are ignored, by the option or by the rule."""
    Book().at(e2e4=90, d2d4=10).write(tmp_path / "a.bin")
    for words in (("convert", "a.bin", "-o", "a.ctg"), ("edit", "a.ctg", "--set", "e2e4=red")):
        done = tabiya(*words)
        assert done.returncode == 0, done.stderr
    for option, own, playable in (
        ("true", "", "1"),
        ("true", "tournament = false\n", "2"),
        ("false", "", "2"),
        ("false", "tournament = true\n", "1"),
    ):
        text = f"[set]\n'Book Tournament' = {option}\n[[book]]\nfile = 'a.ctg'\n{own}"
        (tmp_path / "tabiya.toml").write_text(text)
        client = run(tabiya_exe, *engine.argv())
        client.start()
        assert client.go("movetime 10", START).book["playable"] == playable, (option, own)


@pytest.fixture
def tables(tmp_path, engine):
    Book().line("d2d4 d7d5 c2c4 e7e6", weight=10).at(e2e4=1).write(tmp_path / "a.bin")
    (tmp_path / "tabiya.toml").write_text(
        f"engine = '{engine.program}'\nengine-arg = ['--legal']\n[set]\n'Book Threshold' = 0\n"
        + written([{"file": "a.bin", "variety": 0, "depth": 1}, {"file": "a.bin", "color": "white", "max-uses": 5}])
    )


def test_doctor_says_which_rule_plays(tabiya, tables):
    done = tabiya("doctor")
    text = done.stdout.decode()
    assert done.returncode == 0, text
    assert re.search(r"^ *rule 1 +a\.bin, variety 0, depth 1$", text, re.MULTILINE), text
    assert re.search(r"^ *rule 2 +a\.bin, color white, max-uses 5$", text, re.MULTILINE), text
    assert re.findall(r"rule (\d) \(a\.bin\) +100\.0%", text) == ["1", "1", "2"], text


def test_show_says_which_rule_answers(tabiya, tables, tmp_path):
    done = tabiya("show")
    text = done.stdout.decode()
    assert done.returncode == 0, text + done.stderr.decode()
    assert text.rstrip().endswith("rule 1 (a.bin) answers.")
    done = tabiya("show", "--config", "tabiya.toml", "--moves", "d4 d5")
    assert "rule 2 (a.bin) answers, if it has answered fewer than 5 moves of the game." in done.stdout.decode()
    done = tabiya("show", "--moves", "d4 d5 c4")
    assert "No book answers here" in done.stdout.decode()
    lines = [json.loads(line) for line in tabiya("show", "--json").stdout.splitlines()]
    assert [(line["rule"], line["chosen"]) for line in lines] == [(1, True), (2, False)]
    (line,) = [json.loads(line) for line in tabiya("show", "a.bin", "--json").stdout.splitlines()]
    assert "rule" not in line and "chosen" not in line
    assert tabiya("show", "a.bin", "--config", "tabiya.toml").returncode == 2
    (tmp_path / "tabiya.toml").unlink()
    done = tabiya("show")
    assert done.returncode == 2 and b"no book is named" in done.stderr
