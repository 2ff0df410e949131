"""*Book Fresh*: no line is played twice while the book has others."""

import threading

import chess
import chess.polyglot
import pytest

from client import HANG
from polyglot_writer import Book

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
            return " ".join(moves[:-1])
        moves.append(answer.move)
        replies = {line.split()[len(moves)] for line in LINES if line.split()[: len(moves)] == moves and len(line.split()) > len(moves)}
        moves.append(replies.pop() if replies else "g8f6" if chess.Move.from_uci("g8f6") in legal(moves) else "g8h6")


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
    firsts = set()
    for seed in range(1, 21):
        client = adapter("--book", book, "--set", "Book Fresh=true", "--set", "Book Threshold=0", "--seed", str(seed))
        client.start()
        played = [game(client) for _ in range(3)]
        assert len(set(played)) == 3
        firsts.update(line.split()[0] for line in played)
        client.quit()
    # Of 60 games 58 or so begin with the move that weighs fifty times the others together.
    assert "e2e4" in firsts


def test_processes_share_their_lines_in_a_file(adapter, book, tmp_path):
    file = tmp_path / "match.lines"
    options = ["--set", "Book Fresh=true", "--set", f"Book Fresh File={file}", "--set", "Book Threshold=0"]
    played = []
    for _ in LINES:
        # Each knows the file at its start, and writes its last line there before it ends.
        client = adapter("--book", book, *options)
        client.start()
        played.append(game(client))
        client.quit()
        assert client.wait() == 0
    assert sorted(played) == sorted(LINES)
    text = file.read_text()
    assert text.startswith("# lines that tabiya has played from books\n")
    assert f"{chess.polyglot.zobrist_hash(chess.Board()):016x}: " in text


def test_several_at_once_lose_nothing(adapter, book, tmp_path):
    file = tmp_path / "match.lines"
    options = ["--set", "Book Fresh=true", "--set", f"Book Fresh File={file}", "--set", "Book Threshold=0"]
    clients = [adapter("--book", book, *options) for _ in range(4)]
    played = {}

    def match(number):
        clients[number].start()
        played[number] = [game(clients[number]) for _ in range(10)]
        clients[number].quit()

    threads = [threading.Thread(target=match, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    assert all(set(lines) <= set(LINES) for lines in played.values())
    assert {line for lines in played.values() for line in lines} == set(LINES)
    for line in file.read_text().splitlines()[1:]:
        key, after = line.split(":")
        assert len(key) == 16 and all(len(word) == 16 for word in after.split()), line


def test_another_file_is_left_alone_and_said(adapter, book, tmp_path):
    file = tmp_path / "games.pgn"
    file.write_text('[Event "mine"]\n')
    client = adapter("--book", book, "--set", "Book Fresh=true")
    client.start()
    client.set("Book Fresh File", str(file))
    assert game(client) in LINES and file.read_text() == '[Event "mine"]\n'
    assert any("games.pgn" in line and "Book Fresh File" in line for line in client.heard), client.heard
    client.set("Book Fresh File", "<none>")
    assert game(client) in LINES
