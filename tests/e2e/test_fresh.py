"""*Book Fresh*: no line is played twice while the book has others."""

import re
import subprocess
import threading

import chess
import chess.polyglot
import pytest

import fresh_lines
from client import HANG, eventually, find_tool, problems, times
from conftest import not_windows
from polyglot_writer import Book
from test_learning import fields

# The lines of the book, White's and Black's moves: eight for White, of which six begin with the heaviest move.
LINES = [
    "e2e4 e7e5 g1f3 b8c6 f1b5",
    "e2e4 e7e5 g1f3 b8c6 f1c4",
    "e2e4 e7e5 g1f3 b8c6 d2d4",
    "e2e4 e7e5 b1c3 b8c6 f2f4",
    "e2e4 e7e5 b1c3 b8c6 g2g3",
    "e2e4 e7e5 f2f4 b8c6 g1f3",
    "d2d4 d7d5 c2c4 e7e6 b1c3",
    "c2c4 c7c5 g1f3 g8f6 b1c3",
]
REPLIES = {"e2e4": "e7e5", "d2d4": "d7d5", "c2c4": "c7c5"}

# The first line of the file.
HEAD = "# lines that tabiya has played from books"

# A line of the file: a position, the player, and what may follow.
NODE = re.compile(r"[0-9a-f]{16}[:?~]( [0-9a-f]{16})+")


@pytest.fixture
def book(tmp_path):
    book, known = Book(), set()
    for line in LINES:
        moves, board = line.split(), chess.Board()
        for ply, uci in enumerate(moves):
            move = chess.Move.from_uci(uci)
            if ply % 2 == 0 and (board.epd(), uci) not in known:
                known.add((board.epd(), uci))
                book.add(board, uci, 1000 if uci == "e2e4" else 10)
            board.push(move)
    return book.write(tmp_path / "fresh.bin")


def game(client):
    """The moves of a game against an opponent that answers as the book's lines do, until the book falls silent."""
    client.send("ucinewgame")
    moves = []
    while True:
        answer = client.go("movetime 10", "position startpos" + (f" moves {' '.join(moves)}" if moves else ""))
        if not answer.book:
            line = " ".join(moves[:-1])
            # Learning wants to hear the engine three times; one that knows a single move is heard twice.
            while len(moves) < len(line.split()) + 5 and chess.Move.from_uci(answer.move) in legal(moves):
                moves.append(answer.move)
                moves.append(reply(moves))
                answer = client.go("movetime 10", f"position startpos moves {' '.join(moves)}")
            return line
        moves.append(answer.move)
        moves.append(reply(moves))


def reply(moves):
    """Black's answer."""
    known = {line.split()[len(moves)] for line in LINES if line.split()[: len(moves)] == moves and len(line.split()) > len(moves)}
    return known.pop() if known else next(iter(legal(moves))).uci()


def legal(moves):
    board = chess.Board()
    for uci in moves:
        board.push_uci(uci)
    return board.legal_moves


def test_the_lines_of_the_book_are_played_once_each(adapter, book):
    client = adapter("--book", book, "--set", "Book Fresh=true", "--set", "Book Threshold=0", "--seed", "5")
    client.start()
    first = [game(client) for _ in LINES]
    assert sorted(first) == sorted(LINES)
    # Then as without the option.
    assert {game(client) for _ in range(4)} <= set(LINES)


def test_without_it_and_for_a_new_process_lines_come_again(adapter, book):
    for options in ([], ["--set", "Book Fresh=false"]):
        client = adapter("--book", book, *options, "--set", "Book Threshold=0", "--seed", "5")
        client.start()
        assert len({game(client) for _ in LINES}) < len(LINES)


def test_the_weights_decide_among_new_lines(adapter, book):
    first = []
    for seed in range(1, 21):
        client = adapter("--book", book, "--set", "Book Fresh=true", "--set", "Book Threshold=0", "--seed", str(seed))
        client.start()
        played = [game(client) for _ in range(3)]
        assert len(set(played)) == 3
        first.append(played[0].split()[0])
        client.quit()
    # It weighs fifty times the others together.
    assert first.count("e2e4") >= 18, first


def fresh(file, *more):
    return ["--set", "Book Fresh=true", "--set", f"Book Fresh File={file}", "--set", "Book Threshold=0", *more]


def test_processes_share_their_lines_in_a_file(adapter, book, tmp_path):
    file = tmp_path / "match.lines"
    played = []
    for _ in LINES:
        # Each knows the file at its start, and writes its last line there before it ends.
        client = adapter("--book", book, *fresh(file))
        client.start()
        played.append(game(client))
        client.quit()
        assert client.wait() == 0
    assert sorted(played) == sorted(LINES)
    text = file.read_text()
    assert text.startswith(f"{HEAD}\n")
    assert f"{chess.polyglot.zobrist_hash(chess.Board()):016x}: " in text


def test_a_runner_sends_all_options_again_before_each_game(adapter, book, tmp_path):
    file, other = tmp_path / "match.lines", tmp_path / "other.lines"
    client = adapter("--book", book, "--set", "Book Threshold=0")
    client.start()
    played = []
    for _ in LINES:
        for name, value in (("Book Fresh", "true"), ("Book Fresh File", file), ("Book Seed", 7)):
            client.set(name, value)
        played.append(game(client))
    client.send("ucinewgame")
    client.ready()
    assert sorted(played) == sorted(LINES)
    nodes = file.read_text().splitlines()
    assert len(nodes) == len(set(nodes)), "each is written once"
    # Another file gets what this process has played; one that is named again is read for what is new.
    client.set("Book Fresh File", other)
    client.ready()
    client.quit()
    client.wait()
    assert {NODE.fullmatch(line)[0][:16] for line in other.read_text().splitlines()[1:]} == {line[:16] for line in nodes[1:]}


def test_the_same_seed_again_does_not_repeat_the_choice(adapter, gnu_book):
    client = adapter("--book", gnu_book)
    client.start()
    first = set()
    for _ in range(40):
        client.set("Book Seed", 7)
        client.send("ucinewgame")
        first.add(client.go("movetime 10", "position startpos").move)
    assert len(first) > 1


@pytest.mark.parametrize("how", ["plain", "guard", "learn", "rules", "chess960", "colors"])
def test_processes_in_turn_play_each_line_once(adapter, book, tmp_path, how):
    """Each process alone plays two lines: what the others have played decides which."""
    more = {
        "guard": ["--set", "Book Max Loss=50", "--set", "Book Guard=60"],
        "learn": ["--set", "Book Learn=true"],
        "chess960": ["--set", "UCI_Chess960=true"],
        "rules": ["--config", tmp_path / "rules.toml"],
    }
    (tmp_path / "rules.toml").write_text("[[book]]\nfile = 'fresh.bin'\nmax-uses = 3\n")
    books = [] if how == "rules" else ["--book", book]
    engine_args = ["--legal", "--score", "cp 900"]
    clients = [adapter(*books, *fresh(tmp_path / "match.lines", *more.get(how, [])), engine_args=engine_args) for _ in range(4)]
    for client in clients:
        client.start()
    played = []
    for number in range(len(LINES)):
        client = clients[number % len(clients)]
        played.append(game(client))
        if how == "colors":
            # As Black, against the same moves: the book has none for this side.
            client.send("ucinewgame")
            assert not client.go("movetime 10", "position startpos moves e2e4").book
        # What it has played is in the file before another one reads that.
        client.ready()
        client.send("ucinewgame")
        client.ready()
    assert sorted(played) == sorted(LINES)
    for client in clients:
        assert client.quit() == 0
    assert bool(fields(book)) == (how == "learn")
    lines = (tmp_path / "match.lines").read_text().splitlines()
    assert len(lines) == len(set(lines)) and all(NODE.fullmatch(line) for line in lines[1:])


def test_several_at_once_lose_nothing(adapter, book, tmp_path):
    file = tmp_path / "match.lines"
    clients = [adapter("--book", book, *fresh(file)) for _ in range(4)]
    played = {}

    def match(number):
        clients[number].start()
        played[number] = [game(clients[number]) for _ in range(2)]
        clients[number].quit()

    threads = [threading.Thread(target=match, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    # Each that found the file empty has said what it is.
    lines = [line for line in file.read_text().splitlines() if line != HEAD]
    assert lines and all(NODE.fullmatch(line) for line in lines), lines
    # What any of them has played is known to the next: it plays the rest, whatever that is.
    before = {line for lines in played.values() for line in lines}
    client = adapter("--book", book, *fresh(file))
    client.start()
    rest = [game(client) for _ in range(len(LINES) - len(before))]
    assert before | set(rest) == set(LINES) and len(before) + len(rest) == len(LINES)


def test_what_others_have_played_counts_for_a_question_in_the_same_write(adapter, tmp_path):
    book, file = Book(), tmp_path / "match.lines"
    for uci, weight in (("e2e4", 60000), ("d2d4", 1), ("c2c4", 1)):
        book.add(chess.Board(), uci, weight)
    path = book.write(tmp_path / "firsts.bin")
    one, other = (adapter("--book", path, *fresh(file), "--seed", "5") for _ in range(2))
    last = adapter("--book", path, "--set", "Book Threshold=0", "--seed", "5")
    for client in (one, other, last):
        client.start()
    assert one.go(position="position startpos").move == "e2e4"
    assert one.quit() == 0
    other.send("ucinewgame", "position startpos", "go movetime 10")
    first = other.answer().move
    assert first in ("d2d4", "c2c4") and other.quit() == 0
    # So it does if the options come in that write too.
    last.send(f"setoption name Book Fresh File value {file}", "setoption name Book Fresh value true", "position startpos", "go movetime 10")
    assert {"e2e4", first, last.answer().move} == {"e2e4", "d2d4", "c2c4"}


def test_two_players_in_one_file_play_all_that_is_theirs(adapter, book, tmp_path):
    """The other's book has moves for the side that is its opponent here: they are no lines that this player has left."""
    other = Book()
    board = chess.Board()
    for uci in ("e2e4", "e7e5"):
        board.push_uci(uci)
    for uci in ("b8a6", "b8c6", "d7d6", "g8f6", "f8c5", "h7h6"):
        after = board.copy()
        after.push_uci("g1f3")
        other.add(after, uci, 10)
    other.add(chess.Board(), "a2a3", 1)
    file = tmp_path / "match.lines"
    players = [adapter("--book", path, *fresh(file)) for path in (book, other.write(tmp_path / "other.bin"))]
    for client in players:
        client.start()
    played = []
    for _ in LINES:
        played.append(game(players[0]))
        players[0].send("ucinewgame")
        players[0].ready()
        players[1].send("ucinewgame")
        assert players[1].go("movetime 10", "position startpos moves e2e4 e7e5 g1f3").book
    assert sorted(played) == sorted(LINES)


def test_a_relative_name_is_one_file_for_all_working_folders(adapter, book, tmp_path):
    (tmp_path / "tabiya.toml").write_text("[set]\n'Book Fresh' = true\n'Book Fresh File' = 'match.lines'\n'Book Threshold' = 0\n")
    played = []
    for number in range(len(LINES)):
        folder = tmp_path / f"started-here-{number}"
        folder.mkdir()
        client = adapter("--book", book, "--config", tmp_path / "tabiya.toml", cwd=folder)
        client.start()
        played.append(game(client))
        assert f"info string tabiya: Book Fresh File is {tmp_path / 'match.lines'}" in client.heard
        client.quit()
        assert not list(folder.iterdir())
    assert sorted(played) == sorted(LINES) and (tmp_path / "match.lines").exists()


def test_a_file_that_was_emptied_in_use_is_good_for_others(adapter, book, tmp_path):
    file = tmp_path / "match.lines"
    one = adapter("--book", book, *fresh(file))
    one.start()
    game(one)
    one.send("ucinewgame")
    one.ready()
    file.write_text("")
    second = game(one)
    one.quit()
    other = adapter("--book", book, *fresh(file))
    other.start()
    played = [game(other) for _ in range(len(LINES) - 1)]
    assert second not in played and not problems(other.heard)


def test_a_torn_file_is_read_as_far_as_it_goes_and_said(adapter, book, tmp_path):
    file, log = tmp_path / "match.lines", tmp_path / "log"
    one = adapter("--book", book, *fresh(file))
    one.start()
    game(one)
    one.quit()
    file.write_bytes(file.read_bytes()[:-9] + b"\n0123\n")
    other = adapter("--book", book, *fresh(file), "--log", log)
    other.start()
    assert game(other) in LINES
    other.quit()
    said = f"{file}: 2 lines are damaged and passed over"
    assert said in other.errors() and said in log.read_text() and any(said in line for line in problems(other.heard))


def test_doctor_leaves_no_trace_in_the_file_of_a_match(tabiya, engine, book, tmp_path):
    file = tmp_path / "match.lines"
    line = ("doctor", *engine.argv("--legal"), "--book", book, *fresh(file))
    assert tabiya(*line).returncode == 0 and not file.exists()
    file.write_text("# lines that tabiya has played from books\n")
    assert tabiya(*line).returncode == 0 and file.read_text() == "# lines that tabiya has played from books\n"
    file.write_text("mine\n")
    done = tabiya(*line)
    assert done.returncode == 3 and b"not a file of played lines" in done.stdout and file.read_text() == "mine\n"


def test_another_file_is_left_alone_and_said(adapter, book, tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text('[Event "mine"]\n')
    client = adapter("--book", book, "--set", "Book Fresh=true")
    client.start()
    client.set("Book Fresh File", str(file))
    assert game(client) in LINES and file.read_text() == '[Event "mine"]\n'
    assert any("games.pgn" in line and "Book Fresh File" in line for line in client.heard), client.heard
    eventually("it is on standard error too", lambda: "games.pgn" in client.errors() and "Book Fresh File" in client.errors())
    client.set("Book Fresh File", "<none>")
    assert game(client) in LINES


def first_plies(path, plies, share):
    """The first plies of a book, without moves of a lesser share."""
    book, left, met = Book(), [chess.Board()], set()
    with chess.polyglot.open_reader(path) as reader:
        while left:
            board = left.pop()
            known = list(reader.find_all(board)) if board.ply() < plies and board.epd() not in met else []
            met.add(board.epd())
            for entry in known:
                if entry.weight > share * sum(entry.weight for entry in known):
                    book.add(board, entry.move.uci(), entry.weight)
                    left.append(board.copy())
                    left[-1].push(entry.move)
    return book


@not_windows
@pytest.mark.parametrize("opponent", ["another book", "no book"])
def test_no_line_comes_again_in_a_match_while_one_is_left(tabiya_exe, stockfish, gnu_book, tmp_path, opponent):
    """Two players with one file, and one player with colors alternating; what the games show, without tabiya."""
    runner = find_tool("fastchess")
    if not runner:
        pytest.skip("no fastchess on PATH")
    first_plies(gnu_book, 3, 0).write(tmp_path / "one.bin")
    first_plies(gnu_book, 4, 0.1).write(tmp_path / "other.bin")

    def player(name):
        settings = "".join(f' --set "{setting}"' for setting in ("Book Threshold=0", "Book Fresh=true", f"Book Fresh File={tmp_path / 'match.lines'}"))
        return ["-engine", f"name={name}", f"cmd={tabiya_exe}", f"dir={tmp_path}", f"args=--engine={stockfish} --book={name}.bin{settings}"]

    without = ["-engine", "name=without", f"cmd={stockfish}", f"dir={tmp_path}"]
    line = [runner, *player("one"), *(player("other") if opponent == "another book" else without)]
    line += ["-each", "proto=uci", "tc=inf", "nodes=60", "-maxmoves", "6", "-games", "2", "-concurrency", "1"]
    line += ["-rounds", times("15", "75"), "-pgnout", "file=match.pgn", "-ratinginterval", "0"]
    done = subprocess.run(list(map(str, line)), cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr
    games = list(fresh_lines.read(tmp_path / "match.pgn"))
    names = ["one", "other"] if opponent == "another book" else ["one"]
    found, played = fresh_lines.twice(games, {name: chess.polyglot.open_reader(tmp_path / f"{name}.bin") for name in names})
    assert len(games) == times(30, 150) and played >= len(games) // 2 and not found, found
