"""Random games with variations."""

import chess
import chess.pgn
from readers import read_cbh


def with_variations(chance, number, board):
    """A random game whose lines branch, castle, pass, promote and capture in passing."""
    game = chess.pgn.Game()
    game.setup(board)
    game.headers.update(White=f"Müller, K{number}", Black=f"Šarić, {number}", Result=chance.choice(read_cbh.RESULTS))
    game.headers.update(Event=f"Event {number}", Site="Göteborg", Date="????.??.??", Round=str(number + 1), WhiteElo="2400")
    waiting = [(game, board, 80)]
    while waiting:
        node, at, plies = waiting.pop()
        legal = list(at.legal_moves) if plies else []
        rare = [move for move in legal if at.is_castling(move) or move.promotion or at.is_en_passant(move)]
        moves = [chance.choice(rare or legal)] if legal else []
        if moves and chance.random() < 0.1:
            moves += [chance.choice(legal), *([] if at.is_check() else [chess.Move.null()])]
        for move in dict.fromkeys(moves):
            after = at.copy(stack=False)
            after.push(move)
            # Variations are short, or there would be no end of them.
            waiting.append((node.add_variation(move), after, plies - 1 if move == moves[0] else min(plies - 1, 6)))
    return game


def with_remarks(chance, game):
    """The same game with comments and glyphs here and there."""
    words = ["Zug", "plan für Schwarz", "(better)", "[%clk 1:00:00]", "Šarić; Müller", "% 100"]
    game.comment = chance.choice(["", *words])
    waiting = list(game.variations)
    while waiting:
        node = waiting.pop()
        waiting += node.variations
        if chance.random() < 0.2:
            node.comment = " ".join(chance.choices(words, k=2))
        if chance.random() < 0.2:
            # A move has one glyph of its own, and one of the position.
            node.nags = {chance.randint(1, 6), chance.choice([10, 14, 146])}
        if node.starts_variation() and chance.random() < 0.3:
            node.starting_comment = chance.choice(words)
    return game
