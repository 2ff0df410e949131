"""`tabiya report` of matches against an own count of their games: runners' openings, books that limits silence, games without a
result, two players with one book. Each game is written with what became of it, and read again by python-chess."""

import io
import random
from collections import Counter

import chess
import chess.pgn
import chess.polyglot
import pytest

from client import times
from polyglot_writer import Book
from test_report import reported

MOVES = ["e2e4", "d2d4", "e7e5", "d7d5", "c7c5", "g8f6", "g1f3", "b1c3", "b8c6", "c2c4", "f1c4", "f8c5"]
RESULTS = {"1-0": (2, 0), "0-1": (0, 2), "1/2-1/2": (1, 1), "*": None}


def drawn_book(rng, path):
    book, known = Book(), set()
    for _ in range(12):
        board = chess.Board()
        for _ in range(rng.randint(3, 8)):
            uci = rng.choice([uci for uci in MOVES if board.is_legal(chess.Move.from_uci(uci))] or [None])
            if not uci:
                break
            if (board.epd(), uci) not in known:
                known.add((board.epd(), uci))
                book.add(board, uci, rng.randint(1, 9))
            board.push_uci(uci)
    return book.write(path)


def in_book(book, board):
    with chess.polyglot.open_reader(book) as reader:
        return [entry.move for entry in reader.find_all(board)]


def played_game(rng, sides, opening, depths):
    """Moves with comments: the runner's opening, then each side from its book as long as it has a move and its depth allows."""
    board, text = chess.Board(), []

    def play(move, comment):
        number = f"{board.fullmove_number}. " if board.turn else ""
        text.append(f"{number}{board.san(move)} {{{comment}}}")
        board.push(move)

    for move in opening:
        play(move, "book")
    over = {chess.WHITE: False, chess.BLACK: False}
    while board.ply() < 20 and not board.is_game_over():
        side = board.turn
        known = [] if over[side] or depths[side] and board.fullmove_number > depths[side] else in_book(sides[side], board)
        if known:
            play(rng.choice(known), "0.00/0 0.000s")
        else:
            # An engine may find the move of the book by itself.
            over[side] = True
            others = in_book(sides[side], board)
            play(rng.choice(others if others and rng.random() < 0.5 else list(board.legal_moves)), f"+0.10/9 {rng.randint(1, 9)}.0s")
    return " ".join(text)


def counted(game, books):
    """What the report is to say of a game: plies in the books, and the side that left them, from the moves and comments alone."""
    nodes = list(game.mainline())
    given = next((number for number, node in enumerate(nodes) if node.comment != "book"), len(nodes))
    answers = {node.turn() for node in nodes if node.comment.startswith("0.00/0")}
    plies = 0
    for node in nodes[given:]:
        board = node.parent.board()
        side = board.turn
        known = in_book(books[side], board)
        is_searched = not node.comment.startswith("0.00/0") and (not side) in answers
        if node.move in known and not is_searched:
            plies += 1
            continue
        # A side whose book has had nothing yet may have none for this opening: the other's says whether the game goes on.
        own = [other for other in nodes[given : given + plies] if other.parent.board().turn == side]
        mine = [other for other in own if other.move in in_book(books[side], other.parent.board())]
        if not known and not mine and in_book(books[not side], node.board()):
            plies += 1
            continue
        left = ("white" if side else "black") if known and not is_searched else None
        return plies, left
    return plies, None


@pytest.mark.parametrize("seed", range(times(4, 20)))
def test_a_report_counts_what_the_games_say(tabiya, tmp_path, seed):
    rng = random.Random(seed)
    books = [drawn_book(rng, tmp_path / f"{name}.bin") for name in ("a", "b")]
    if seed % 3 == 0:
        books[1] = books[0]
    depths = [rng.choice([0, 1, 2]) for _ in books]
    games, openings = "", seed % 2
    for number in range(1, 13):
        opening, board = [], chess.Board()
        while openings and len(opening) < rng.randint(0, 4):
            opening.append(rng.choice(list(board.legal_moves)) if rng.random() < 0.3 else rng.choice(in_book(books[0], board) or list(board.legal_moves)))
            board.push(opening[-1])
        for turn in range(2):
            # The last game of a match that was stopped is missing.
            if number == 12 and turn and seed % 4 == 1:
                continue
            white, black = (0, 1) if turn == 0 else (1, 0)
            result = "*" if rng.random() < 0.06 else rng.choice(["1-0", "0-1", "1/2-1/2"])
            sides, limits = {True: books[white], False: books[black]}, {True: depths[white], False: depths[black]}
            moves = played_game(rng, sides, opening, limits)
            games += f'[Event "?"]\n[Round "{number}"]\n[White "{"AB"[white]}"]\n[Black "{"AB"[black]}"]\n[Result "{result}"]\n\n{moves} {result}\n\n'
    (tmp_path / "match.pgn").write_text(games)
    report = reported(tabiya, "match.pgn", "--book", f"A={books[0]}", "--book", f"B={books[1]}")
    read = list(iter(lambda file=io.StringIO(games): chess.pgn.read_game(file), None))
    assert len(report["games"]) == len(read)
    rounds, points = {}, Counter()
    for game, told in zip(read, report["games"], strict=True):
        white = game.headers["White"]
        sides = {True: books["AB".index(white)], False: books["AB".index(game.headers["Black"])]}
        assert (told["book_plies"], told["left_by"]) == counted(game, sides), (told, str(game))
        halves = RESULTS[game.headers["Result"]]
        rounds.setdefault(game.headers["Round"], []).append(halves and halves["A" != white])
        points[halves and halves["A" != white]] += 1
    (players,) = report["players"]
    assert players["score"] == {"wins": points[2], "draws": points[1], "losses": points[0]}
    pairs = Counter(sum(both) for both in rounds.values() if len(both) == 2 and None not in both)
    alone = sum(points[number] for number in (0, 1, 2)) - 2 * sum(pairs.values())
    assert players["pairs"] == ([pairs[number] for number in range(5)] if sum(pairs.values()) >= alone else None)
    assert alone == 0 or players["pairs"], "some games are without the other one in most of these matches"
    # No line of the report comes twice.
    text = tabiya("report", "match.pgn", "--book", f"A={books[0]}", "--book", f"B={books[1]}").stdout.decode()
    lines = [line for line in text.splitlines() if line.startswith("  ") and "x " in line]
    assert len(lines) == len(set(lines)), lines
