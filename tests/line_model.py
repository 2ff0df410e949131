"""What lines do to a book, by python-chess's reckoning. A model of a book is {(key, UCI): number}."""

import io
import random

import chess
import chess.pgn
import chess.polyglot


def key(board):
    return chess.polyglot.zobrist_hash(board)


def line_of(text):
    return chess.pgn.read_game(io.StringIO(text))


def moves_of(game):
    """The moves of a game and its variations with the boards before them, each once, parents first."""
    found, left = {}, [game]
    while left:
        node = left.pop(0)
        for child in node.variations:
            board = node.board()
            found.setdefault((key(board), child.move.uci()), board)
            left.append(child)
    return found


def study(moves, seed):
    """A game with variations in variations, of so many moves without promotions."""
    chance = random.Random(seed)
    game = chess.pgn.Game()
    nodes = [game]
    while len(nodes) <= moves:
        # Mostly the line goes on, and now and then another one begins somewhere.
        node = nodes[-1] if chance.random() < 0.8 else chance.choice(nodes)
        board = node.board()
        known = {child.move for child in node.variations}
        legal = sorted(
            (move for move in board.legal_moves if move not in known and not move.promotion), key=lambda move: move.uci()
        )
        if node.ply() > 60 or not legal:
            nodes.append(chance.choice(nodes))
            continue
        nodes.append(node.add_variation(chance.choice(legal[:6]), comment=chance.choice(["", "so"])))
    return game


def in_text(game):
    return game.accept(chess.pgn.StringExporter(headers=False, columns=None))


def usual(model, at, alone=1):
    """The number of a new move: the median of those of its position."""
    row = sorted(number for (there, _), number in model.items() if there == at and number > 0)
    return row[len(row) // 2] if row else alone


def added(model, moves, side=None, number=None, alone=1, tree=False):
    """What a model becomes with moves, as `moves_of` has them. A tree gets the other side's moves with 0."""
    after = dict(model)
    for at, board in moves.items():
        if side is not None and board.turn != (side == "white"):
            if tree:
                after.setdefault(at, 0)
        elif at not in model:
            after[at] = usual(model, at[0], alone) if number is None else number
        elif number is not None:
            after[at] = number
    return after


def compared(before, after, line=()):
    """What led from one model to another: moves that came, changed, left; and of a line those that stay."""
    both = before.keys() & after.keys()
    changes = sum(before[at] != after[at] for at in both)
    stays = sum(at in before and before[at] == after.get(at) for at in line)
    return {"adds": len(after.keys() - both), "changes": changes, "deletes": len(before.keys() - both), "stays": stays}


class Walks:
    """Walks through models: what legal moves lead to is reckoned once for each position."""

    def __init__(self):
        self.known = {}

    def replies(self, board):
        """The legal moves of a position, each with the key of the position after it."""
        if (at := key(board)) not in self.known:
            self.known[at] = found = {}
            for move in board.legal_moves:
                board.push(move)
                found[move.uci()] = key(board)
                board.pop()
        return self.known[at]

    def reached(self, model, start, missing=(), without=None):
        """The keys of positions that a model's moves lead to, and replies to what is missing."""
        met, left = {key(start)}, [start]
        while left:
            board = left.pop()
            at = key(board)
            for uci, then in self.replies(board).items():
                if then not in met and (at, uci) != without and ((at, uci) in model or then in missing):
                    met.add(then)
                    left.append(board.copy(stack=False))
                    left[-1].push_uci(uci)
        return met

    def deleted(self, model, played):
        """What a model loses with the last move of a line."""
        board = chess.Board()
        for uci in played:
            last = key(board), uci
            board.push_uci(uci)
        own = self.reached(model, chess.Board())
        missing = {at for at, _ in model} - own
        still = self.reached(model, chess.Board(), missing, without=last)
        below = self.reached(model, board, missing, without=last)
        return {at for at in model if at == last or at[0] in below - still}
