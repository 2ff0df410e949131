"""Compares two PGN files game by game: moves and variations as trees, starting positions, results, and tags.

usage: compare_games.py ONE.pgn OTHER.pgn; exits with 1 where moves, positions or results differ.
"""

import sys
from collections import Counter

import chess.pgn

# Of a tag that differs so many games are shown.
SHOWN = 3


def games(path):
    with open(path, encoding="utf-8", errors="replace") as text:
        while (game := chess.pgn.read_game(text)) is not None:
            yield game


def tree(game):
    """Every move with its place: the moves as nested lists, main line first."""
    top = []
    waiting = [(game, top)]
    while waiting:
        node, out = waiting.pop()
        for child in node.variations:
            out.append((child.move.uci(), []))
            waiting.append((child, out[-1][1]))
    return top


def size(top):
    """How many moves a tree has."""
    count, waiting = 0, [top]
    while waiting:
        line = waiting.pop()
        count += len(line)
        waiting.extend(behind for _, behind in line)
    return count


def is_branched(game):
    """Whether a move of the main line has variations."""
    return any(len(node.variations) > 1 for node in [game, *game.mainline()])


def compare(one, other):
    total, equal, legal, branched, moves = 0, 0, 0, 0, 0
    tags, examples = Counter(), {}
    pairs = zip(games(one), games(other), strict=True)
    for total, (ours, theirs) in enumerate(pairs, 1):
        ours_tree, theirs_tree = tree(ours), tree(theirs)
        moves += size(ours_tree)
        legal += not ours.errors
        branched += is_branched(ours)
        same = ours_tree == theirs_tree and ours.board() == theirs.board()
        same = same and ours.headers["Result"] == theirs.headers["Result"]
        equal += same
        if not same:
            print(f"game {total} differs: {ours.headers['White']} - {ours.headers['Black']}")
        for tag in {*ours.headers, *theirs.headers}:
            values = (ours.headers.get(tag), theirs.headers.get(tag))
            if values[0] != values[1]:
                tags[tag] += 1
                examples.setdefault(tag, []).append((total, *values))
    print(f"{equal} of {total} games equal, {legal} legal to the end, {branched} with variations, {moves} moves")
    for tag, count in sorted(tags.items()):
        shown = "; ".join(f"game {game}: {ours!r}, {theirs!r}" for game, ours, theirs in examples[tag][:SHOWN])
        print(f"  {tag} differs in {count}: {shown}")
    return equal == total == legal


def remarks(game):
    """What is said of each move: texts word by word, and glyphs."""
    found = []
    waiting = [game]
    while waiting:
        node = waiting.pop()
        for child in node.variations:
            texts = [" ".join((text or "").split()) for text in (child.starting_comment, child.comment)]
            found.append((child.move.uci(), texts, sorted(child.nags)))
            waiting.append(child)
    return found


if __name__ == "__main__":
    sys.exit(0 if compare(*sys.argv[1:3]) else 1)
