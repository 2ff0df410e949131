"""Names of openings, against the list itself and python-chess's positions."""

import io
import json
import os
import random
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot
import pytest

from client import START, times
from kvetka_book import Kvetka, key
from polyglot_writer import Book
from random_games import FORMATS, Game

LIST = Path(__file__).parents[2] / "crates/chess/src/openings/lines.tsv"

SICILIAN = "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6"
NAJDORF = {"eco": "B90", "name": "Sicilian Defense: Najdorf Variation"}


@pytest.fixture(scope="module")
def names():
    """The list: {EPD: what JSON has of its opening}. python-chess writes an en-passant square only if the capture is legal."""
    named = {}
    for line in LIST.read_text(encoding="utf-8").splitlines()[1:]:
        eco, name, moves = line.split("\t")
        board = chess.pgn.read_game(io.StringIO(moves)).end().board()
        assert board.epd() not in named, f"two lines for {name}"
        named[board.epd()] = {"eco": eco, "name": name}
    assert len(named) > 3000
    return named


def words(opening):
    return f"{opening['eco']} {opening['name']}"


def name_of(moves, names):
    """The name of the last position of a line that has one."""
    board, last = chess.Board(), None
    for move in moves:
        board.push_uci(str(move))
        last = names.get(board.epd(), last)
    return last


def book_games(gnu_book, number):
    """Games that follow a book made of real games, and then wander."""
    chance = random.Random(7)
    with chess.polyglot.open_reader(gnu_book) as reader:
        for _ in range(number):
            board = chess.Board()
            while entries := sorted(reader.find_all(board, minimum_weight=1), key=lambda entry: entry.raw_move):
                entry = chance.choice(entries) if chance.random() < 0.5 else max(entries, key=lambda entry: entry.weight)
                board.push(entry.move)
            for _ in range(4):
                if legal := sorted(board.legal_moves, key=lambda move: move.uci()):
                    board.push(chance.choice(legal))
            yield board


def shown(tabiya, path, boards):
    """The openings that `show --json` gives positions, as FENs."""
    path.write_text("".join(f"{board.fen()}\n" for board in boards))
    lines = tabiya("show", Path(__file__).parents[2] / "books/starter.bin", "--fen-file", path, "--json").stdout.splitlines()
    assert len(lines) == len(boards)
    return [json.loads(line)["opening"] for line in lines]


def test_each_line_of_the_list_has_its_own_name(tabiya, tmp_path, names):
    boards = [chess.Board(f"{epd} 0 1") for epd in names]
    assert shown(tabiya, tmp_path / "positions.txt", boards) == list(names.values())


def positions(games, most):
    """The different positions of games of python-chess, no more than this number."""
    boards = {}
    for moves in games:
        board = chess.Board()
        for move in moves:
            board.push(move)
            boards.setdefault(board.epd(), board.copy(stack=False))
        if len(boards) >= most:
            break
    return list(boards.values())


def test_positions_of_book_lines_have_the_names_of_the_list(tabiya, tmp_path, gnu_book, names):
    boards = positions((game.move_stack for game in book_games(gnu_book, 600)), 4000)
    expected = [names.get(board.epd()) for board in boards]
    assert len(boards) >= 2000 and sum(map(bool, expected)) >= 200, "positions with and without a name"
    assert shown(tabiya, tmp_path / "positions.txt", boards) == expected


def test_positions_of_real_games_have_the_names_of_the_list(tabiya, tmp_path, real_games, names):
    with open(real_games, encoding="latin-1") as file:
        games = (list(game.mainline_moves())[:30] for game in iter(lambda: chess.pgn.read_game(file), None))
        boards = positions(games, 5000)
    expected = [names.get(board.epd()) for board in boards]
    assert len(boards) >= 2000 and sum(map(bool, expected)) >= 100
    assert shown(tabiya, tmp_path / "positions.txt", boards) == expected


def test_a_line_has_the_name_of_its_last_named_position(tabiya, gnu_book, names):
    later = 0
    for game in list(book_games(gnu_book, 25)):
        moves = [move.uci() for move in game.move_stack]
        done = tabiya("show", gnu_book, "--moves", " ".join(moves), "--json")
        opening = name_of(moves, names)
        assert json.loads(done.stdout)["opening"] == opening
        later += names.get(game.epd()) is None
        text = tabiya("show", gnu_book, "--moves", " ".join(moves)).stdout.decode().splitlines()
        assert text[1] == words(opening)
    assert later > 5


def test_moves_are_named_where_there_is_room(tabiya, tmp_path):
    path = Book().line("e2e4 c7c5 c2c3", weight=10).line("e2e4 e7e5", weight=30).line("e2e4 a7a5", weight=1).write(tmp_path / "a.bin")
    lines = tabiya("show", path, "--moves", "e4").stdout.decode().splitlines()
    assert lines[1] == "B00 King's Pawn Game"
    assert lines[3].split() == ["move", "uci", "weight", "chance", "opening"]
    found = [line for line in lines if line.startswith(" c5 ")]
    assert found and found[0].endswith("  Sicilian Defense")
    assert all(len(line) <= 80 for line in lines if line.startswith(" "))
    nothing = tabiya("show", path).stdout.decode().splitlines()
    assert nothing[1].startswith(str(path)), "the starting position has no name"


@pytest.fixture
def books(tabiya, tmp_path):
    """The same three lines in each format."""
    text = ""
    for line in (SICILIAN, "e2e4 c7c5 c2c3 d7d5", "g1f3 d7d5 d2d4 g8f6 c2c4 e7e6"):
        game = Game([chess.Move.from_uci(move) for move in line.split()], "1/2-1/2", {})
        board = chess.Board()
        san = [board.san_and_push(move) for move in game.moves]
        text += f'[Result "{game.result}"]\n\n{" ".join(san)} {game.result}\n\n'
    (tmp_path / "games.pgn").write_text(text)
    for name in FORMATS:
        done = tabiya("build", "games.pgn", "-o", f"book.{name}", "--min-games", "1")
        assert done.returncode == 0 and b"comment" not in done.stdout, done
    return [tmp_path / f"book.{name}" for name in FORMATS]


def test_books_of_every_format_have_names(tabiya, books, names):
    for book in books:
        view = json.loads(tabiya("show", book, "--moves", "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3", "--json").stdout)
        assert view["found"] and view["opening"] == name_of(SICILIAN.split()[:-1], names)
        for scope in ([], ["--reachable"]):
            named = 0
            for line in tabiya("export", book, "--format", "json", *scope).stdout.splitlines():
                known = json.loads(line)
                if known["fen"]:
                    assert known["opening"] == names.get(chess.Board(known["fen"]).epd())
                named += known["opening"] is not None
            assert named > 5, book
        tree = tabiya("tree", book, "--plies", "20").stdout.decode().splitlines()
        assert any(line.endswith(f"a6  ({words(NAJDORF)})") for line in tree), tree
        assert tree[0] == chess.STARTING_FEN


def test_a_tree_names_its_start_and_only_what_changes(tabiya, tmp_path):
    book = Book().line("e2e4 c7c5 c2c3 h7h6 h2h3 a7a6", weight=3).line("e2e4 c7c5 c2c3 h7h6 a2a3", weight=1).write(tmp_path / "a.bin")
    tree = tabiya("tree", book, "--moves", "e4 c5", "--plies", "9").stdout.decode().splitlines()
    assert tree[1] == "B20 Sicilian Defense"
    assert len(tree) == 5 and tree[2].endswith("h6  (B22 Sicilian Defense: Alapin Variation)")
    assert "(" not in tree[3] + tree[4]


def games_of(text):
    text = io.StringIO(text)
    return list(iter(lambda: chess.pgn.read_game(text), None))


def test_games_of_a_dump_have_tags(tabiya, books, names, tmp_path):
    for book in books:
        games = games_of(tabiya("export", book, "--format", "pgn", "--lines").stdout.decode())
        assert len(games) == 3
        for game in games:
            opening = name_of(game.mainline_moves(), names)
            assert (game.headers["ECO"], game.headers["Opening"]) == (opening["eco"], opening["name"])
        [tree] = games_of(tabiya("export", book, "--format", "pgn").stdout.decode())
        assert "Opening" not in tree.headers, "its lines begin with different moves"
    one = Book().line("e2e4 c7c5 c2c3 h7h6", weight=3).line("e2e4 c7c5 c2c3 g8f6", weight=3).write(tmp_path / "one.bin")
    [tree] = games_of(tabiya("export", one, "--format", "pgn").stdout.decode())
    assert (tree.headers["ECO"], tree.headers["Opening"]) == ("B22", "Sicilian Defense: Alapin Variation")


def comments(stem):
    return {name: comment for name, (*_, comment) in Kvetka(stem).elements.items() if comment}


def test_kvetka_books_get_the_names(tabiya, books, names, tmp_path):
    def comment(moves):
        board = chess.Board()
        for move in moves.split():
            board.push_uci(move)
        opening = names[board.epd()]
        return key(board), f"{opening['eco']}|{opening['name'].replace(': ', '|', 1)}"

    built = comments(tmp_path / "book")
    for moves in ("e2e4", "e2e4 c7c5", "e2e4 c7c5 c2c3", "g1f3 d7d5 d2d4 g8f6"):
        name, text = comment(moves)
        assert built[name] == text
    # What is converted from a format without comments is named too, except for the end of a line, where it has no moves.
    assert tabiya("convert", "book.bin", "-o", "converted.kob").returncode == 0
    end, _ = comment(SICILIAN)
    assert comments(tmp_path / "converted") == {name: text for name, text in built.items() if name != end}
    # A comment that says the same as the name is not repeated.
    text = tabiya("show", "book.kob", "--moves", "e4 c5").stdout.decode()
    assert text.count("Sicilian Defense\n") == 1 and text.splitlines()[1] == "B20 Sicilian Defense"
    # Names from files take the place of all of them, and are kept when the book is converted.
    (tmp_path / "own.eco").write_text('B20 "Sizilianisch: Test" 1.e4 c5 *\n')
    assert tabiya("build", "games.pgn", "-o", "own.kob", "--min-games", "1", "--eco", "own.eco").returncode == 0
    name, _ = comment("e2e4 c7c5")
    assert comments(tmp_path / "own") == {name: "B20|Sizilianisch|Test"}
    assert tabiya("convert", "own.kob", "-o", "again.kob").returncode == 0
    assert comments(tmp_path / "again") == {name: "B20|Sizilianisch|Test"}
    view = json.loads(tabiya("show", "own.kob", "--moves", "e4 c5", "--json").stdout)
    assert (view["opening"]["eco"], view["comment"]) == ("B20", "B20 Sizilianisch: Test")
    assert " B20 Sizilianisch: Test\n" in tabiya("show", "own.kob", "--moves", "e4 c5").stdout.decode()


def test_what_was_learned_is_grouped_by_openings(tabiya, books):
    assert tabiya("learn", "games", "book.bin", "games.pgn", "--both").returncode == 0
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    lines = tabiya("learn", "show", "book.bin", env=env).stdout.decode().splitlines()
    heading = next(index for index, line in enumerate(lines) if line.split()[:2] == ["line", "move"])
    groups, sum_of = {}, {}
    for line in lines[heading + 1 :]:
        if line.startswith(" "):
            groups[group].append(line)
        else:
            group, _, sums = line.rpartition(": ")
            sum_of[group] = sums
            assert group not in groups
            groups[group] = []
    assert list(groups)[:2] == ["without a name", "B00 King's Pawn Game"]
    assert all(groups.values()) and [line.split()[0] for line in groups["without a name"]] == ["start", "start"]
    assert "B20 Sicilian Defense" in groups and len(groups["B20 Sicilian Defense"]) == 2
    assert sum(map(len, groups.values())) == int(lines[0].split(":")[1].split()[0])
    # Nothing is cut where no terminal limits the lines, and each sum is that of its moves.
    cut = [line for rows in groups.values() for line in rows if line.startswith(" ... ")]
    assert not cut, cut
    results = {group: [row.split()[-2].split("/") for row in rows] for group, rows in groups.items()}
    for group, rows in results.items():
        points, games = sum(float(row[0]) for row in rows), sum(int(row[1]) for row in rows)
        assert sum_of[group] == f"{points:g} points of {games}, {points / games * 100:.1f}%"
    (every,) = [line for line in lines if line.startswith("all moves: ")]
    games = sum(int(row[1]) for rows in results.values() for row in rows)
    assert f" points of {games}, " in every
    report = json.loads(tabiya("learn", "show", "book.bin", "--json").stdout)
    assert report["games"] == games and len(report["openings"]) == len(groups)
    assert [len(opening["moves"]) for opening in report["openings"]] == [len(rows) for rows in groups.values()]
    for order, of in (("games", lambda one: -one["games"]), ("score", lambda one: one["points"] / one["games"])):
        report = json.loads(tabiya("learn", "show", "book.bin", "--json", "--sort", order).stdout)
        for ordered in (report["openings"], *(opening["moves"] for opening in report["openings"])):
            assert list(map(of, ordered)) == sorted(map(of, ordered))


def test_the_adapter_names_the_opening_when_it_changes(adapter, books, names):
    def told(answer):
        found = [line for line in answer.lines if line.startswith("info string opening ")]
        assert len(found) <= 1
        return found[0].removeprefix("info string opening ").encode("latin-1").decode() if found else None

    client = adapter("--book", books[0])
    client.start()
    for _ in range(2):
        client.send("ucinewgame")
        moves, said = [], None
        for opponent in SICILIAN.split()[1::2]:
            answer = client.go("movetime 10", f"{START} moves {' '.join(moves)}" if moves else START)
            assert answer.book
            opening = name_of([*moves, answer.move], names)
            assert told(answer) == (words(opening) if opening != said else None)
            said = opening
            if answer.move != SICILIAN.split()[len(moves)]:
                break
            moves += [answer.move, opponent]
    # The engine's moves name nothing.
    answer = client.go("movetime 10", f"{START} moves a2a3")
    assert not answer.book and told(answer) is None


def where(board):
    """The position; an en-passant square counts only if the capture is legal."""
    return board._transposition_key()


class Ways:
    """The positions of all lines of the list, and from which of them an opening can be reached, by python-chess."""

    def __init__(self):
        self.boards, self.lines, book = {}, [], Book()
        for line in LIST.read_text(encoding="utf-8").splitlines()[1:]:
            eco, name, moves = line.split("\t")
            board, path = chess.Board(), [where(chess.Board())]
            self.boards[where(board)] = board.copy()
            for move in chess.pgn.read_game(io.StringIO(moves)).mainline_moves():
                board.push(move)
                path.append(where(board))
                self.boards.setdefault(where(board), board.copy())
            self.lines.append((name, path))
        self.book, self.before = book, {}
        for place, board in self.boards.items():
            for move in board.legal_moves:
                board.push(move)
                to = where(board)
                board.pop()
                if to in self.boards:
                    self.before.setdefault(to, []).append(place)
                    book.add(board, move.uci())

    def to(self, name):
        """The positions of an opening and its variations, and those from which moves lead there."""
        ends = {path[-1] for other, path in self.lines if other == name or other.startswith((f"{name}:", f"{name},", f"{name} "))}
        ways, left = set(ends), list(ends)
        while left:
            for place in self.before.get(left.pop(), ()):
                if place not in ways:
                    ways.add(place)
                    left.append(place)
        return ends, ways


def test_a_book_gets_to_each_opening_in_every_game_whose_replies_allow_it(adapter, tmp_path):
    """With a book of all moves between positions of the list, from both sides; a reply in four is any move."""
    ways, chance = Ways(), random.Random(64)
    client = adapter("--book", ways.book.write(tmp_path / "all.bin"), "--set", "Book Threshold=0", "--set", "Book Variety=100")
    client.start()
    reached = lost = 0
    names = sorted({name for name, _ in ways.lines})
    for name in chance.sample(names, times(60, 200)):
        ends, known = ways.to(name)
        client.send_bytes(f"setoption name Book Opening value {name}\n".encode())
        for ours in (chess.WHITE, chess.BLACK):
            board = chess.Board()
            while where(board) in known and where(board) not in ends:
                on = [move for move in board.legal_moves if (board.push(move), where(board) in known, board.pop())[1]]
                if board.turn == ours:
                    answer = client.go("movetime 10", f"position startpos moves {' '.join(map(str, board.move_stack))}")
                    assert answer.book and chess.Move.from_uci(answer.move) in on, (name, board.move_stack, answer.lines)
                    board.push_uci(answer.move)
                else:
                    board.push(chance.choice(list(board.legal_moves) if chance.random() < 0.25 else on))
            assert where(board) in ends or board.turn == ours
            reached += where(board) in ends
            lost += where(board) not in ends
            if where(board) not in ends:
                assert not client.go("movetime 10", f"position startpos moves {' '.join(map(str, board.move_stack))}").book, board.move_stack
    assert reached > 20 and lost > 20, (reached, lost)


def test_trim_and_suite_take_an_opening(tabiya, tmp_path):
    lines = ("e2e4 c7c5 d2d4", "e2e4 e7e5 g1f3", "d2d4 d7d5 c2c4")
    book = Book()
    for line in lines:
        book.line(line)
    book.entries = list(dict.fromkeys(book.entries))
    path = book.write(tmp_path / "all.bin")
    done = tabiya("trim", path, "-o", "morra.bin", "--opening", "smith-morra gambit", cwd=tmp_path)
    said = done.stdout.decode()
    assert done.returncode == 0 and "kept: 3 of 8 moves" in said, (said, done.stderr)
    assert "that lead elsewhere than to smith-morra gambit (--opening)" in said, said
    with chess.polyglot.open_reader(tmp_path / "morra.bin") as reader:
        board = chess.Board()
        for move in lines[0].split():
            assert [entry.move.uci() for entry in reader.find_all(board)] == [move]
            board.push_uci(move)
        assert len(reader) == 3
    done = tabiya("suite", path, "-o", "sicilian.epd", "--ply", "1-3", "--opening", "B2*", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "sicilian.epd").read_text().splitlines()) == 2
    for command in (("trim", path, "-o", "x.bin"), ("suite", path, "-o", "x.epd")):
        done = tabiya(*command, "--opening", "Sicilean", cwd=tmp_path)
        assert done.returncode == 2 and b"no opening is called 'Sicilean': names that come near are " in done.stderr, done.stderr
