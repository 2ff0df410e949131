"""What lines a player has left, told from its games and its book alone; finds moves into lines that were played before although
others were left.

    fresh_lines.py MATCH.pgn NAME=BOOK.bin ...

A line is a player's, with one color: the moves from its first position on, until the book has no more, after a move to which it
knows no reply, or after a reply that it does not know. A position is told by its pieces, rights and ply.
"""

import sys

import chess
import chess.pgn
import chess.polyglot

# What a move leads to: only lines that were played; one that the opponent decides about, whose reply has not come; a line that
# was cut short; one that was not played.
PLAYED, AWAITED, CUT, FRESH = range(4)


def place(board):
    return board.epd(), board.ply()


def after(board, move):
    next_board = board.copy(stack=False)
    next_board.push(move)
    return next_board


class Player:
    """What one player has played with one color from its book."""

    def __init__(self, reader):
        self.reader, self.known = reader, {}
        # The replies that have come after each of its moves.
        self.replies = {}

    def choices(self, board):
        """The moves of the book."""
        at = place(board)
        if at not in self.known:
            entries = self.reader.find_all(board)
            self.known[at] = [entry.move for entry in entries if entry.weight > 0 and board.is_legal(entry.move)]
        return self.known[at]

    def best(self, board):
        """The most that it can choose."""
        return max((self.rank(after(board, move)) for move in self.choices(board)), default=PLAYED)

    def rank(self, board):
        """What its move to this position leads to."""
        come = self.replies.get(place(board))
        if come is None:
            return FRESH
        nexts = [after(board, reply) for reply in board.legal_moves]
        nexts = [board for board in nexts if self.choices(board)]
        if not come and nexts:
            return CUT
        return max((min(self.best(board), FRESH if place(board) in come else AWAITED) for board in nexts), default=PLAYED)

    def is_wrong(self, board, move):
        """Whether a move of the book leads to less than another, as the games show it: whether a line was cut is not always known."""
        chosen, best = self.rank(after(board, move)), self.best(board)
        return chosen == PLAYED < best or chosen == AWAITED and best == FRESH

    def asked(self, before, board):
        """The books were asked, after an own move to the position `before` if there is one."""
        if before:
            self.replies[place(before)].add(place(board))

    def plays(self, board, move):
        """Plays a move of the book; returns the position after it."""
        next_board = after(board, move)
        self.replies.setdefault(place(next_board), set())
        return next_board


def twice(games, books):
    """The lines that came again although a move led to another: (number of the game, player, moves); and how many there were."""
    players, found, played = {}, [], 0
    for number, game in enumerate(games, 1):
        for color, name in ((chess.WHITE, game.headers["White"]), (chess.BLACK, game.headers["Black"])):
            if name not in books:
                continue
            player, board, path, before = players.setdefault((name, color), Player(books[name])), game.board(), [], None
            for move in game.mainline_moves():
                if board.turn == color:
                    known = player.choices(board)
                    path.append((before, board.copy(), move))
                    if move not in known:
                        # The book had no move, or the game is not of this book.
                        assert not known, f"game {number}: {name} has not played from its book: {board.fen()}"
                        break
                    before = after(board, move)
                board.push(move)
            if not path or path[0][2] not in player.choices(path[0][1]):
                continue
            played += 1
            # Nobody foresees the opponent's answer: what counts is what could be reached from the moves to choose from.
            if any(player.is_wrong(at, move) for _, at, move in path if player.choices(at)):
                found.append((number, name, " ".join(move.uci() for move in board.move_stack)))
            for before, at, move in path:
                player.asked(before, at)
                if move in player.choices(at):
                    player.plays(at, move)
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
