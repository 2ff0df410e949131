"""The reading of ChessBase databases beside cbvault: the sample database twic1134, repeated."""

import filecmp
import os
import subprocess
import sys
from pathlib import Path

from timing import goal, in_turn, line, run, say

GAMES = 600_000


def measure(args, tools, folder):
    """Everything, in a folder for its files."""
    games = args.games or (1 if args.smoke else GAMES)
    big, pgn = folder / "big.cbh", folder / "big.pgn"

    def database(path, least):
        script = Path(__file__).parents[1] / "tests/e2e/cbh_database.py"
        made = subprocess.run([sys.executable, script, tools.sample, path, str(least)], stdout=subprocess.PIPE, check=True)
        return int(made.stdout)

    count = database(big, games)
    run([tools.tabiya, "export", big, "-o", pgn])
    say(f"{count} games")
    costs = {}
    for threads in (1, 2):
        one = ["--threads", threads]
        commands = {
            "tabiya export": [tools.tabiya, "export", big, *one],
            # check takes as many threads as it may.
            "tabiya check": [tools.tabiya, "check", big],
            "tabiya build CBH": [tools.tabiya, "build", big, "-o", folder / "a.bin", "--force", *one],
            "tabiya build PGN": [tools.tabiya, "build", pgn, "-o", folder / "b.bin", "--force", *one],
        }
        if tools.cbvault:
            commands["cbvault pgn"] = [tools.cbvault, "pgn", big.with_suffix(""), *one]
            commands["cbvault verify"] = [tools.cbvault, "verify", big.with_suffix(""), *one]
        processors = set(sorted(os.sched_getaffinity(0))[:threads])
        for name, cost in in_turn(args.rounds, commands, processors).items():
            costs[name, threads] = cost
            line(f"{name}, {threads}", cost, count)
    if not filecmp.cmp(folder / "a.bin", folder / "b.bin", shallow=False):
        sys.exit("the books from CBH and from its PGN differ")
    wanted = [("tabiya build CBH", "tabiya build PGN", 3)]
    if tools.cbvault:
        wanted += [("tabiya export", "cbvault pgn", 1.5), ("tabiya check", "cbvault verify", 1.5)]
    for threads in (1, 2):
        for ours, theirs, times in wanted:
            us, them = costs[ours, threads], costs[theirs, threads]
            goal(f"{ours} as fast as {theirs}, {threads}, times", them.wall / us.wall, times, most=False)
            print(f"    by processor time: {them.cpu / us.cpu:.2f}")

    say("memory of 2 threads, as games become more")
    pgn.unlink()
    more = folder / "more.cbh"
    for times in (1, 4):
        count = database(more, games * times)
        line(f"export, {count}", run([tools.tabiya, "export", more, "--threads", 2]), count)
        line(f"check, {count}", run([tools.tabiya, "check", more]), count)
        build = [tools.tabiya, "build", more, "-o", folder / "c.bin", "--force", "--threads", 2, "--memory", "64M"]
        line(f"build --memory 64M, {count}", run(build), count)
