"""Finds moves into lines that were played before although others were left, from the games of a match and the books alone.

    fresh_lines.py MATCH.pgn NAME=BOOK.bin ...

A line is a player's, with one colour: its moves as long as its book has one. A position is told by its pieces, rights and ply.
"""

import sys
from collections import defaultdict

import chess
import chess.pgn
import chess.polyglot


def place(board):
    return board.epd(), board.ply()


def choices(board, reader):
    """The positions after the moves of the book."""
    found = {}
    for entry in reader.find_all(board):
        after = board.copy(stack=False)
        if board.is_legal(entry.move) and entry.weight > 0:
            after.push(entry.move)
            found[place(after)] = entry.move
    return found


class Player:
    """What one player has gone through with one color."""

    def __init__(self):
        self.after = defaultdict(set)

    def is_fresh(self, at):
        """Whether a position that no game went through can be reached."""
        met, left = {at}, [at]
        while left:
            at = left.pop()
            if at not in self.after:
                return True
            new = self.after[at] - met
            met |= new
            left.extend(new)
        return False


def twice(games, books):
    """The lines that came again although a move led to another: (number of the game, player, moves); and how many there were."""
    players, found, played = defaultdict(Player), [], 0
    for number, game in enumerate(games, 1):
        for color, name in ((chess.WHITE, game.headers["White"]), (chess.BLACK, game.headers["Black"])):
            if name not in books:
                continue
            player, board, path, before = players[name, color], game.board(), [], None
            for move in game.mainline_moves():
                if board.turn == color:
                    known = choices(board, books[name])
                    if move not in known.values():
                        # The book had no move, or the game is not of this book.
                        assert not known, f"game {number}: {name} has not played from its book: {board.fen()}"
                        break
                    after = board.copy(stack=False)
                    after.push(move)
                    path.append((before, place(board), set(known), place(after)))
                    before = place(after)
                board.push(move)
            if not path:
                continue
            played += 1
            # Nobody foresees the opponent's answer: what counts is what could be reached from the moves to choose from.
            if any(not player.is_fresh(after) and any(map(player.is_fresh, known)) for _, _, known, after in path):
                found.append((number, name, " ".join(move.uci() for move in board.move_stack)))
            for before, at, known, after in path:
                if before:
                    player.after[before].add(at)
                player.after[at] |= known
                player.after[after]
    return found, played


def read(path):
    with open(path) as file:
        while game := chess.pgn.read_game(file):
            yield game


if __name__ == "__main__":
    named = dict(argument.split("=", 1) for argument in sys.argv[2:])
    found, played = twice(read(sys.argv[1]), {name: chess.polyglot.open_reader(book) for name, book in named.items()})
    for line in found:
        print(*line)
    print(f"{played} lines, {len(found)} of them again although another was left")
    sys.exit(bool(found))
