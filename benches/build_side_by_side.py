"""Measures `tabiya build` beside `polyglot make-book`, and merge, dump and check: time, processor time, peak memory.

Only what Python brings along is used. scripts/bench-build says what goes where.
"""

import argparse
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ENTRY = struct.Struct(">QHHI")
MEBI = 1 << 20

# Moves along a file, which some piece can always make.
MOVES = [start << 6 | end for start in range(64) for end in range(start % 8, 64, 8) if start != end]

# What is wanted: games a second and peak memory beside PolyGlot's; the rest in seconds, bytes and entries a second.
FASTER, FASTER_STILL = 10, 15
SMALL_MEMORY, SMALL_PEAK, SMALL_SLOWER = "64M", 128 * MEBI, 1.5
MERGE_ENTRIES, MERGE_SECONDS = 500_000, 0.3
DUMP_ENTRIES_A_SECOND = 2_000_000


@dataclass
class Cost:
    """What one run of a program took."""

    wall: float
    user: float
    system: float
    peak: int


def run(argv):
    # A child's peak counts from this process's own: nothing large is held here.
    begun = time.perf_counter()
    process = subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - begun
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {' '.join(map(str, argv))}")
    # Linux counts the peak in KiB, macOS in bytes.
    return Cost(wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def alternating(rounds, *argvs):
    """The medians of several programs, run in turn so that a busy machine is busy for all of them."""
    costs = [[] for _ in argvs]
    for _ in range(rounds):
        for which, argv in enumerate(argvs):
            costs[which].append(run(argv))
    fields = ("wall", "user", "system", "peak")
    return [Cost(*(statistics.median(getattr(cost, field) for cost in all_costs) for field in fields)) for all_costs in costs]


def verdict(reached):
    return "reached" if reached else "MISSED"


def line(name, cost, games=None):
    speed = f"{games / cost.wall:>12,.0f} games/s" if games else ""
    print(f"{name:<32}{cost.wall:>9.3f} s{cost.user:>9.2f} user{cost.system:>7.2f} sys{cost.peak / MEBI:>8.0f} MiB{speed}", flush=True)


def polyglot(args, folder):
    with open(args.games, "rb") as file:
        games = sum(line.startswith(b"[Event ") for line in file)
    for setting, ours, theirs in (("defaults", [], []), ("--max-ply 40", ["--max-ply", 40], ["-max-ply", 40])):
        print(f"\n{games} games, {setting}: medians of {args.rounds}")
        them, us = alternating(
            args.rounds,
            [args.polyglot, "make-book", "-pgn", args.games, "-bin", folder / "theirs.bin", *theirs],
            [args.tabiya, "build", args.games, "-o", folder / "ours.bin", "--force", *ours],
        )
        line("polyglot make-book", them, games)
        line("tabiya build", us, games)
        times = them.wall / us.wall
        work = (them.user + them.system) / (us.user + us.system)
        print(f"{work:.1f} times less processor time; {times:.1f} times as fast (wanted: {FASTER}, {verdict(times >= FASTER)};"
              f" {FASTER_STILL}, {verdict(times >= FASTER_STILL)});"
              f" {us.peak / them.peak:.2f} of its peak memory (wanted: 1, {verdict(us.peak <= them.peak)})")  # fmt: skip
    small = ["--memory", SMALL_MEMORY]
    print(f"\n--memory {SMALL_MEMORY} against memory without bound: medians of {args.rounds}")
    argv = [args.tabiya, "build", args.games, "-o", folder / "ours.bin", "--force", "--temp", folder]
    free, bound = alternating(args.rounds, [*argv, "--memory", "16G"], [*argv, *small])
    line("without bound", free, games)
    line(" ".join(small), bound, games)
    compare("its", bound, free)


def compare(whose, bound, free):
    slower = bound.wall / free.wall
    print(f"{slower:.2f} times {whose} time (wanted: {SMALL_SLOWER}, {verdict(slower <= SMALL_SLOWER)});"
          f" peak {bound.peak / MEBI:.0f} MiB (wanted: {SMALL_PEAK // MEBI}, {verdict(bound.peak <= SMALL_PEAK)})")  # fmt: skip


def growing(args, folder):
    """Input of 1, 4 and 16 parts in the same memory. The games are random: nearly every position is new."""
    print(f"\nrandom games in --memory {SMALL_MEMORY}")
    for parts in (1, 4, 16):
        part = folder / "random.pgn"
        # The same seed: the larger ones begin with the smaller ones.
        subprocess.run([args.stages, "--random", str(args.random_games * parts), part], check=True)
        games = args.random_games * parts
        argv = [args.tabiya, "build", part, "-o", folder / "ours.bin", "--force", "--temp", folder, "--min-games", 1]
        cost = run([*argv, "--memory", SMALL_MEMORY])
        line(f"{parts} x {args.random_games} games", cost, games)
        if parts < 16:
            free = run(argv)
            line("  in as much as it likes", free, games)
            compare("its", cost, free)
        else:
            print(f"peak {cost.peak / MEBI:.0f} MiB (wanted: {SMALL_PEAK // MEBI}, {verdict(cost.peak <= SMALL_PEAK)})")


def book(path, entries, chance):
    """A sorted book of keys that belong to no position."""
    keys = sorted(chance.getrandbits(64) for _ in range(entries // 2))
    with open(path, "wb") as file:
        for key in keys:
            first, second = chance.sample(MOVES, 2)
            file.write(ENTRY.pack(key, first, 20, 0) + ENTRY.pack(key, second, 10, 0))


def books(args, folder):
    chance = random.Random(1)
    paths = [folder / "a.bin", folder / "b.bin"]
    for path in paths:
        book(path, args.entries, chance)
    print(f"\nbooks of {args.entries} entries: medians of {args.rounds}")
    (cost,) = alternating(args.rounds, [args.tabiya, "merge", *paths, "-o", folder / "c.bin", "--force"])
    line("merge of two", cost)
    print(f"wanted: under {MERGE_SECONDS} s for {MERGE_ENTRIES}, {verdict(cost.wall < MERGE_SECONDS)}")
    large = folder / "large.bin"
    book(large, args.entries * 4, chance)
    cat, dump, check = alternating(
        args.rounds, ["cat", large], [args.tabiya, "dump", large], [args.tabiya, "check", large]
    )
    entries = large.stat().st_size / ENTRY.size
    line("cat", cat)
    line("dump", dump)
    speed = entries / dump.wall
    print(f"{speed:,.0f} entries/s (wanted: {DUMP_ENTRIES_A_SECOND:,}, {verdict(speed >= DUMP_ENTRIES_A_SECOND)})")
    line("check", check)
    print(f"{large.stat().st_size / check.wall / MEBI:,.0f} MiB/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tabiya", type=Path, required=True)
    parser.add_argument("--polyglot", type=Path, required=True)
    parser.add_argument("--games", type=Path, required=True)
    parser.add_argument("--stages", type=Path, required=True, help="the bench `build`, which also writes random games")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--random-games", type=int, default=25_000, help="of one part out of 16")
    parser.add_argument("--entries", type=int, default=MERGE_ENTRIES)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
        polyglot(args, folder)
        growing(args, folder)
        books(args, folder)
    print("\nwhere the time goes", flush=True)
    subprocess.run([args.stages, args.games, str(args.rounds)], check=True)


if __name__ == "__main__":
    main()
