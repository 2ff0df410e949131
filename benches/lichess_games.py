#!/usr/bin/env python3
"""Writes games in the form of Lichess's monthly files: all their tags, and an evaluation and a clock after every move.

The moves are those of real games, from a PGN file. Everything else is drawn: who played and when, ratings, results, clocks, evaluations, the order of
the games, and where a game ends. The same seed gives the same bytes, and fewer games are the beginning of more. One game in a hundred has two players of at
least 2500.
"""

import argparse
import random
import re
import sys

TAG = re.compile(r'^\[(\w+) "(.*)"\]$')
COMMENT = re.compile(r"\{[^}]*\}|\([^()]*\)|\$\d+|\d+\.+|1-0|0-1|1/2-1/2|\*")

STRONG = 2500

# Name, time control, seconds on the clock at first.
SPEEDS = [
    ("Bullet", "60+0", 60), ("Bullet", "120+1", 120), ("Blitz", "180+0", 180), ("Blitz", "180+2", 180),
    ("Blitz", "300+0", 300), ("Blitz", "300+3", 300), ("Rapid", "600+0", 600), ("Rapid", "900+10", 900),
    ("Classical", "1800+0", 1800),
]  # fmt: skip

OPENINGS = {
    "A": ["Zukertort Opening", "English Opening: King's English Variation", "Dutch Defense", "Modern Benoni"],
    "B": ["Sicilian Defense: Bowdler Attack", "Caro-Kann Defense: Advance Variation", "Scandinavian Defense: Mieses-Kotroc Variation"],
    "C": ["French Defense: Knight Variation", "Italian Game: Two Knights Defense", "Ruy Lopez: Morphy Defense", "Philidor Defense"],
    "D": ["Queen's Gambit Declined", "Slav Defense: Modern Line", "Queen's Pawn Game: Accelerated London System"],
    "E": ["Nimzo-Indian Defense: Normal Variation", "King's Indian Defense", "Catalan Opening: Closed"],
}  # fmt: skip

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def read(path):
    """The ECO code and the words of the moves of each game from the ordinary starting position."""
    games, eco, plain, lines = [], "", True, []

    def end():
        words = COMMENT.sub(" ", " ".join(lines)).split()
        if plain and len(words) > 3:
            games.append((eco, words))

    with open(path, encoding="latin-1") as file:
        for line in file:
            tag = TAG.match(line.rstrip())
            if tag is None:
                lines.append(line)
                continue
            if lines and any(text.strip() for text in lines):
                end()
                eco, plain = "", True
            lines = []
            if tag[1] == "ECO":
                eco = tag[2]
            plain = plain and tag[1] not in ("FEN", "Variant")
    end()
    return games


def clock(seconds):
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def moves(words, chance, seconds, increment):
    """The moves with what Lichess writes after each."""
    left, evaluation, out = [seconds, seconds], 0.2, []
    for ply, word in enumerate(words):
        side = ply & 1
        evaluation += (chance() - 0.5) * (1.2 if chance() < 0.1 else 0.3)
        if ply > 1:
            left[side] = max(1, left[side] + increment - int(chance() * chance() * seconds / 20))
        number = f"{ply // 2 + 1}{'...' if side else '.'}"
        out.append(f"{number} {word} {{ [%eval {evaluation:.2f}] [%clk {clock(left[side])}] }}")
    return " ".join(out)


def rating(chance, strong):
    if strong:
        return chance.randint(STRONG, 2950)
    return min(STRONG - 1, max(600, round(chance.gauss(1650, 350))))


def head(chance, eco):
    speed, control, seconds = chance.choice(SPEEDS)
    strong = chance.random() < 0.01
    white = rating(chance, strong)
    black = rating(chance, True) if strong else min(STRONG - 1, max(600, round(chance.gauss(white, 60))))
    result = chance.choices(["1-0", "0-1", "1/2-1/2"], [49, 46, 5])[0]
    gain = chance.randint(1, 12)
    diffs = {"1-0": (gain, -gain), "0-1": (-gain, gain), "1/2-1/2": (0, 0)}[result]
    letter = eco[0] if eco[:1] in OPENINGS and eco else chance.choice("ABCDE")
    names = ["".join(chance.choices(LETTERS, k=chance.randint(4, 14))) for _ in range(2)]
    date = f"2024.{chance.randint(1, 12):02}.{chance.randint(1, 28):02}"
    day = f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:{chance.randint(0, 59):02}"
    tags = [
        ("Event", f"Rated {speed} game"), ("Site", "https://lichess.org/" + "".join(chance.choices(LETTERS, k=8))),
        ("Date", date), ("Round", "-"), ("White", names[0]), ("Black", names[1]), ("Result", result), ("UTCDate", date),
        ("UTCTime", day), ("WhiteElo", white), ("BlackElo", black), ("WhiteRatingDiff", f"{diffs[0]:+d}"),
        ("BlackRatingDiff", f"{diffs[1]:+d}"), ("ECO", eco or f"{letter}{chance.randint(0, 99):02}"),
        ("Opening", chance.choice(OPENINGS[letter])), ("TimeControl", control),
        ("Termination", chance.choices(["Normal", "Time forfeit", "Abandoned"], [70, 29, 1])[0]),
    ]  # fmt: skip
    return "".join(f'[{name} "{text}"]\n' for name, text in tags), seconds, int(control.split("+")[1]), result


def write(sources, number, seed, out):
    chance = random.Random(seed)
    order = []
    for _ in range(number):
        if not order:
            order = list(range(len(sources)))
            chance.shuffle(order)
        eco, words = sources[order.pop()]
        tags, seconds, increment, result = head(chance, eco)
        # A third of the games end early.
        if chance.random() < 0.33:
            words = words[: chance.randint(2, len(words))]
        out.write(f"{tags}\n{moves(words, chance.random, seconds, increment)} {result}\n\n\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", help="a PGN file of real games")
    parser.add_argument("games", type=int, help="how many games to write")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    sources = read(args.source)
    if not sources:
        sys.exit(f"{args.source}: there are no games from the ordinary starting position")
    write(sources, args.games, args.seed, sys.stdout)


if __name__ == "__main__":
    main()
