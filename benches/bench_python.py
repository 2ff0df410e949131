"""The Python package beside python-chess: look-ups in a book of half a million entries, and main lines of a database.

Run by a Python that has both, such as that of scripts/try-wheel. Prints the least time of the rounds of each.
usage: bench_python.py [--smoke] [--rounds N] [DATABASE.cbh]
"""

import argparse
import io
import random
import tempfile
import time
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot
import tabiya

# Games of the book, and plies of each: half a million entries.
GAMES, PLIES = 8000, 70
# Positions that are asked for, and games that python-chess reads: it takes seconds for them.
ASKED, READ = 2000, 300


def random_games(count, path):
    """Games that share their openings, as those of people do."""
    rng = random.Random(1)
    with path.open("w") as file:
        for _ in range(count):
            board, moves = chess.Board(), []
            while len(moves) < PLIES:
                legal = list(board.legal_moves)
                if not legal:
                    break
                place = min(rng.randrange(len(legal)) for _ in range(4 if len(moves) < 10 else 1))
                moves.append(board.san(legal[place]))
                board.push(legal[place])
            file.write(f'[Result "1/2-1/2"]\n\n{" ".join(moves)} 1/2-1/2\n\n')


def least(rounds, work, things):
    """Microseconds for each of these things."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for thing in things:
            work(thing)
        best = min(best, time.perf_counter() - begin)
    return best / len(things) * 1e6


def books(folder, smoke, rounds):
    games, path = folder / "games.pgn", folder / "book.bin"
    random_games(20 if smoke else GAMES, games)
    tabiya.build(games, path, min_games=1)
    ours, theirs = tabiya.open_reader(path), chess.polyglot.open_reader(path)
    rng, boards = random.Random(2), []
    while len(boards) < (20 if smoke else ASKED):
        board = chess.Board()
        while entries := list(theirs.find_all(board)):
            boards.append(board.copy(stack=False))
            board.push(rng.choice(entries).move)
    fens = [board.fen() for board in boards]
    for board in boards:
        fields = [(entry.key, entry.raw_move, entry.weight, entry.learn, entry.move) for entry in ours.find_all(board)]
        assert fields == list(map(tuple, theirs.find_all(board)))
    found = sum(len(list(ours.find_all(board))) for board in boards) / len(boards)
    print(f"a book of {len(ours)} entries, {len(boards)} positions with {found:.1f} entries each: microseconds for list(find_all)")
    usual = least(rounds, lambda board: list(theirs.find_all(board)), boards)
    parsed = least(rounds, lambda fen: list(theirs.find_all(chess.Board(fen))), fens)
    rows = [
        ("chess.polyglot, a Board", usual, usual),
        ("chess.polyglot, a FEN", parsed, parsed),
        ("tabiya, a Board", least(rounds, lambda board: list(ours.find_all(board)), boards), usual),
        ("tabiya, a FEN", least(rounds, lambda fen: list(ours.find_all(fen)), fens), parsed),
        ("tabiya, a Board, and each move", least(rounds, lambda board: [entry.move for entry in ours.find_all(board)], boards), usual),
    ]
    for name, own, other in rows:
        print(f"  {name:32} {own:8.2f}  {other / own:6.1f} times as fast")


def lines(database, folder, smoke, rounds):
    most = 5 if smoke else READ
    text, games = [], tabiya.open_games(database)
    for _, game in zip(range(most), games):
        text.append(str(game) + "\n\n")
    pgn = "".join(text)

    def theirs(_):
        handle, found = io.StringIO(pgn), []
        while (game := chess.pgn.read_game(handle)) is not None:
            found.append(list(game.mainline_moves()))
        return found

    def ours(_):
        return [line.moves for line in tabiya.open_games(database, moves_only=True)]

    def trees(_):
        return [game for _, game in zip(range(most), tabiya.open_games(database))]

    expected, found = theirs(0), ours(0)
    assert found[: len(expected)] == expected
    print(f"{Path(database).name}, {len(found)} games, of which python-chess reads {len(expected)} as PGN: microseconds a game")
    usual = least(rounds, theirs, [0]) / len(expected)
    for name, own in [
        ("chess.pgn, the main lines", usual),
        ("tabiya, the main lines", least(rounds, ours, [0]) / len(found)),
        ("tabiya, all of each game", least(rounds, trees, [0]) / len(expected)),
    ]:
        print(f"  {name:32} {own:8.1f}  {usual / own:6.1f} times as fast")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="few and small: shows that everything runs, and measures nothing")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("database", nargs="?")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        books(Path(made), args.smoke, args.rounds)
        if args.database:
            lines(args.database, Path(made), args.smoke, args.rounds)


if __name__ == "__main__":
    main()
