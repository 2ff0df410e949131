"""`tabiya build` beside `polyglot make-book`, in little memory, and as games grow; merge, export and check."""

import random
import struct
import subprocess

from timing import MEBI, goal, in_turn, line, run, say

ENTRY = struct.Struct(">QHHI")

# Moves along a file, which some piece can always make.
MOVES = [start << 6 | end for start in range(64) for end in range(start % 8, 64, 8) if start != end]

SMALL_MEMORY, SMALL_PEAK, SMALL_SLOWER = "64M", 128, 1.5
MERGE_ENTRIES, MERGE_SECONDS = 500_000, 0.3
DUMP_ENTRIES_A_SECOND = 2_000_000


def measure(args, tools, folder):
    """Everything, in a folder for its files."""
    entries, random_games, games = MERGE_ENTRIES, 25_000, tools.games
    if args.smoke:
        entries, random_games, games = 10_000, 100, folder / "games.pgn"
        subprocess.run([tools.bench["build"], "--random", "500", games], check=True)
    beside_polyglot(args, tools, games, folder)
    growing(tools, random_games, folder)
    books(args, tools, entries, folder)
    say("where the time goes")
    subprocess.run([tools.bench["build"], games, str(args.rounds)], check=True)


def beside_polyglot(args, tools, source, folder):
    with open(source, "rb") as file:
        games = sum(text.startswith(b"[Event ") for text in file)
    ours = [tools.tabiya, "build", source, "-o", folder / "ours.bin", "--force"]
    theirs = [tools.polyglot, "make-book", "-pgn", source, "-bin", folder / "theirs.bin"]
    for setting, our, their in (("defaults", [], []), ("--max-ply 40", ["--max-ply", 40], ["-max-ply", 40])):
        say(f"{games} games, {setting}")
        costs = in_turn(args.rounds, {"polyglot make-book": theirs + their, "tabiya build": ours + our})
        for name, cost in costs.items():
            line(name, cost, games)
        them, us = costs.values()
        print(f"  times less processor time: {them.cpu / us.cpu:.1f}")
        for times in (10, 15):
            goal("times as fast", them.wall / us.wall, times, most=False)
        goal("share of its peak memory", us.peak / them.peak, 1)
    say(f"{games} games, --memory {SMALL_MEMORY} against memory without bound")
    ours += ["--temp", folder, "--memory"]
    costs = in_turn(args.rounds, {"without bound": [*ours, "16G"], "bound": [*ours, SMALL_MEMORY]})
    for name, cost in costs.items():
        line(name, cost, games)
    compare(costs["bound"], costs["without bound"])


def compare(bound, free):
    goal("times its time", bound.wall / free.wall, SMALL_SLOWER)
    goal("MiB at the peak", bound.peak / MEBI, SMALL_PEAK)


def growing(tools, random_games, folder):
    """Input of 1, 4 and 16 parts in the same memory. The games are random: nearly every position is new."""
    say(f"random games in --memory {SMALL_MEMORY}")
    part = folder / "random.pgn"
    argv = [tools.tabiya, "build", part, "-o", folder / "ours.bin", "--force", "--temp", folder, "--min-games", 1]
    for parts in (1, 4, 16):
        # The same seed: the larger ones begin with the smaller ones.
        games = random_games * parts
        subprocess.run([tools.bench["build"], "--random", str(games), part], check=True)
        cost = run([*argv, "--memory", SMALL_MEMORY])
        line(f"{parts} x {random_games} games", cost, games)
        if parts < 16:
            free = run(argv)
            line("  in as much as it likes", free, games)
            compare(cost, free)
        else:
            goal("MiB at the peak", cost.peak / MEBI, SMALL_PEAK)


def book(path, entries, chance):
    """A sorted book of keys that belong to no position."""
    keys = sorted(chance.getrandbits(64) for _ in range(entries // 2))
    with open(path, "wb") as file:
        for key in keys:
            first, second = chance.sample(MOVES, 2)
            file.write(ENTRY.pack(key, first, 20, 0) + ENTRY.pack(key, second, 10, 0))


def books(args, tools, entries, folder):
    chance = random.Random(1)
    first, second, large = folder / "a.bin", folder / "b.bin", folder / "large.bin"
    for path, size in ((first, entries), (second, entries), (large, entries * 4)):
        book(path, size, chance)
    say(f"books of {entries} entries: two merged, and one of {entries * 4}")
    merge = [tools.tabiya, "merge", first, second, "-o", folder / "c.bin", "--force"]
    costs = in_turn(
        args.rounds,
        {"merge": merge, "cat": ["cat", large], "export": [tools.tabiya, "export", large], "check": [tools.tabiya, "check", large]},
    )
    for name, cost in costs.items():
        line(name, cost)
    size = large.stat().st_size
    goal(f"seconds to merge {MERGE_ENTRIES:,} entries", costs["merge"].wall, MERGE_SECONDS)
    goal("entries exported a second", size / ENTRY.size / costs["export"].wall, DUMP_ENTRIES_A_SECOND, most=False)
    print(f"  MiB checked a second: {size / costs['check'].wall / MEBI:,.0f}")
