"""*Book Fresh* in set-ups that are drawn at random: no line is played twice while one is left, as `fresh_lines.py` sees it.

Two players with books of their own or one for both, one process or two each, in one file or alone, against each other or against an
opponent that varies or leaves the book; games are cut short, and options are changed in the middle of them.
"""

import random

import chess
import chess.polyglot
import pytest

from client import times
from fresh_lines import Player, after
from polyglot_writer import Book
from test_fresh import fresh

# What happens in the middle of a game: options that silence the book for one request, and what undoes them; or what the GUI asks.
SILENCED = {
    "OwnBook": ("OwnBook value false", "OwnBook value true"),
    "MultiPV": ("MultiPV value 2", "MultiPV value 1"),
    "analysis": ("UCI_AnalyseMode value true", "UCI_AnalyseMode value false"),
    "no book": ("Book File value <none>", "Book File value {book}"),
    "depth": ("Book Depth value 1", "Book Depth value 0"),
    "reserve": ("Book Reserve value 50", "Book Reserve value 0"),
}
INTERRUPTIONS = [*SILENCED, "abort", "infinite", "searchmoves", "ponder"]

# Moves whose orders can be changed.
MOVES = ["e2e4", "d2d4", "c2c4", "g1f3", "b1c3", "e7e5", "d7d5", "c7c5", "g8f6", "b8c6", "f1c4", "f8c5", "e4d5", "d4e5"]


def drawn_book(rng, path, lines):
    """A book of lines of 2 to 6 plies."""
    book, known = Book(), set()
    for _ in range(lines):
        board = chess.Board()
        for _ in range(rng.randint(2, 6)):
            legal = [uci for uci in MOVES if board.is_legal(chess.Move.from_uci(uci))]
            if not legal:
                break
            # The first ones are the heaviest, so that without the option lines would come again.
            uci = legal[min(int(rng.expovariate(0.7)), len(legal) - 1)]
            if (board.epd(), uci) not in known:
                known.add((board.epd(), uci))
                book.add(board, uci, 1000 // (1 + legal.index(uci)) ** 2)
            board.push_uci(uci)
    return book.write(path)


class Process:
    """A process of a player, and what the player has played."""

    def __init__(self, client, book, players):
        self.client, self.book, self.players = client, book, players
        client.start()

    def end_game(self):
        """What it has played is in the file: the next game waits for that, but not the next game of another process."""
        self.client.send("ucinewgame")
        self.client.ready()

    def new_game(self):
        self.client.send("ucinewgame")
        self.client.ready()
        # The position after the last move of the book, if what follows it can be known.
        self.before = None

    def move(self, board, interruption):
        """The move, and whether the book has played it; the book is interrupted first, or the game ends: None."""
        client, player = self.client, self.players[board.turn]
        position = "position startpos" + (f" moves {' '.join(move.uci() for move in board.move_stack)}" if board.move_stack else "")
        if interruption in SILENCED:
            silence, back = (option.format(book=self.book) for option in SILENCED[interruption])
            client.send(f"setoption name {silence}")
            client.ready()
            answer = client.go("movetime 10", position)
            assert not answer.book or interruption == "depth" and board.fullmove_number == 1, (interruption, answer.lines)
            client.send(f"setoption name {back}")
            client.ready()
            # The GUI plays on from here, or asks again.
            if not answer.book and board.ply() % 2:
                self.before = None
                return chess.Move.from_uci(answer.move), False
        elif interruption == "abort":
            return None, False
        elif interruption == "infinite":
            client.send(position, "go infinite", "stop")
            client.answer()
        elif interruption == "searchmoves":
            # None of these is in the book.
            client.go("movetime 10 searchmoves h2h3 h7h6", position)
        elif interruption == "ponder":
            # Another reply came than that which was expected.
            client.send(position, "go ponder wtime 1000 btime 1000", "stop")
            client.answer()
        answer = client.go("movetime 10", position)
        move, known = chess.Move.from_uci(answer.move), player.choices(board)
        assert bool(answer.book) == bool(known) and (not known or move in known), (board.fen(), answer.lines)
        if known:
            assert not player.is_wrong(board, move), (interruption, position, answer.move, player.best(board))
        player.asked(self.before, board)
        self.before = player.plays(board, move) if known else None
        return move, bool(known)


def game(rng, sides, interrupts):
    """Plays a game; an opponent that is None plays at random. Returns its moves as long as a book had them."""
    board, cut = chess.Board(), rng.randint(0, 5) if rng.random() < interrupts else None
    for process in sides.values():
        if process:
            process.new_game()
    silent = {color: not process for color, process in sides.items()}
    while not all(silent.values()):
        process = sides[board.turn]
        if process:
            interruption = rng.choice(INTERRUPTIONS) if board.ply() == cut else None
            move, is_book = process.move(board, interruption)
            if move is None:
                break
            silent[board.turn] = not is_book
        else:
            (opponent,) = filter(None, sides.values())
            replies = [reply for reply in board.legal_moves if opponent.players[not board.turn].choices(after(board, reply))]
            move = rng.choice(replies) if replies and rng.random() < 0.9 else rng.choice([*board.legal_moves])
        board.push(move)
    return " ".join(move.uci() for move in board.move_stack)


@pytest.mark.parametrize("seed", range(times(6, 40)))
def test_no_line_comes_again_while_one_is_left(adapter, tmp_path, seed):
    rng = random.Random(seed)
    books = [drawn_book(rng, tmp_path / f"{name}.bin", rng.randint(4, 16)) for name in ("one", "other")]
    if seed % 3 == 0:
        books[1] = books[0]
    shared, opponent, interrupts = rng.random() < 0.6, rng.choice(["other", "random"]), rng.choice([0, 0.3, 0.8])
    players = []
    for book in books if opponent == "other" else books[:1]:
        of_book = {color: Player(chess.polyglot.open_reader(book)) for color in chess.COLORS}
        options = fresh(tmp_path / "match.lines") if shared else ["--set", "Book Fresh=true", "--set", "Book Threshold=0"]
        # Two of one book are one player, which both must know of.
        of_book = players[0][0].players if players and book == books[0] and shared else of_book
        more = ["--set", f"Book Seed={seed + 1}"]
        count = 2 if shared and rng.random() < 0.5 else 1
        clients = [adapter("--book", book, *options, *more, engine_args=("--legal",)) for _ in range(count)]
        players.append([Process(client, book, of_book) for client in clients])
    for number in range(rng.randint(16, 30)):
        sides = [processes[number // 2 % len(processes)] for processes in players] + [None]
        colors = (chess.WHITE, chess.BLACK) if number % 2 else (chess.BLACK, chess.WHITE)
        game(rng, dict(zip(colors, sides)), interrupts)
        for process in filter(None, sides):
            process.end_game()
    for processes in players:
        for process in processes:
            assert process.client.quit() == 0


# The lines of a book for both sides.
EIGHT = [
    "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
    "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5",
    "e2e4 e7e5 g1f3 g8f6 f3e5 d7d6",
    "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4",
    "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6",
    "d2d4 g8f6 c2c4 g7g6 b1c3 f8g7",
    "c2c4 e7e5 b1c3 g8f6",
    "g1f3 d7d5 d2d4 g8f6",
]


@pytest.mark.parametrize("swaps", [False, True], ids=["same colors", "colors in turn"])
def test_two_players_of_one_book_play_all_its_lines(adapter, tmp_path, swaps):
    """Each answers as the other's book varies: in as many games as there are lines, each comes once."""
    book, known = Book(), set()
    for line in EIGHT:
        board = chess.Board()
        for uci in line.split():
            if (board.epd(), uci) not in known:
                book.add(board, uci, 10)
            known.add((board.epd(), uci))
            board.push_uci(uci)
    path = book.write(tmp_path / "eight.bin")
    both = {color: Player(chess.polyglot.open_reader(path)) for color in chess.COLORS}
    for seed in range(1, times(3, 12) + 1):
        file = tmp_path / f"{seed}.lines"
        clients = [adapter("--book", path, *fresh(file), "--seed", seed, engine_args=("--legal",)) for _ in range(2)]
        processes = [Process(client, path, both) for client in clients]
        for player in both.values():
            player.replies.clear()
        played = []
        for number in range(len(EIGHT)):
            white = number % 2 if swaps else 0
            line = game(random.Random(0), {chess.WHITE: processes[white], chess.BLACK: processes[1 - white]}, 0)
            played += [known for known in EIGHT if line.startswith(known)]
            for process in processes:
                process.end_game()
        assert sorted(played) == sorted(EIGHT), (seed, played)
        for client in clients:
            assert client.quit() == 0
