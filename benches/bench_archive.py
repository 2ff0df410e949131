"""Builds of games in the form of Lichess's monthly files (.zst) beside zstdcat, pgn-extract and PolyGlot.

The moves are those of Debian's source package gnuchess-book (see scripts/fetch-games), the rest is drawn by
lichess_games.py.
"""

import subprocess
import sys
from pathlib import Path

from timing import MEBI, goal, in_turn, line, run, say

GAMES, SMOKE_GAMES = 300_000, 320


def write(source, games, to):
    """The games as text, on standard output of the program that this starts."""
    script = Path(__file__).with_name("lichess_games.py")
    subprocess.run([sys.executable, script, source, str(games)], stdout=to, check=True)


def compress(source, games, pgn, archive):
    with open(pgn, "wb") as file:
        write(source, games, file)
    subprocess.run(["zstd", "-q", "-f", pgn, "-o", archive], check=True)


def measure(args, tools, folder):
    """Everything, in a folder for its files."""
    source = tools.games
    if args.smoke:
        source = folder / "source.pgn"
        source.write_text('[Event "x"]\n[ECO "C50"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 *\n\n' * 3)
    games = args.games or (SMOKE_GAMES if args.smoke else GAMES)
    pgn, archive = folder / "games.pgn", folder / "games.pgn.zst"
    compress(source, games, pgn, archive)

    def build(*options):
        return [tools.tabiya, "build", archive, "-o", folder / "a.bin", "--force", "--temp", folder, "--min-games", 1, *options]

    say(f"{games} games, {archive.stat().st_size / MEBI:,.0f} MiB of .zst, {pgn.stat().st_size / MEBI:,.0f} MiB of text")
    costs = in_turn(
        args.rounds,
        {
            "zstdcat": ["zstd", "-dcq", archive],
            "16 plies": build("--max-ply", 16),
            "1 game in 100": build("--min-elo", 2500),
            "whole games": build(),
            "16 plies, 1 thread": build("--max-ply", 16, "--threads", 1),
            "whole games, 1 thread": build("--threads", 1),
        },
    )
    polyglot = [tools.polyglot, "make-book", "-pgn", pgn, "-bin", folder / "p.bin", "-min-game", 1, "-max-ply"]
    others = {"PolyGlot, 16 plies": [*polyglot, 16], "PolyGlot, whole games": [*polyglot, 1000]}
    if not args.smoke:
        others["pgn-extract"] = ["pgn-extract", "-s", "-r", pgn]
    # They take minutes: once will do.
    costs |= in_turn(1, others)
    for name, cost in costs.items():
        line(name, cost, games)
    for name, wanted in (("16 plies", 1.3), ("1 game in 100", 1.1), ("whole games", 2.5)):
        goal(f"{name}, times zstdcat", costs[name].wall / costs["zstdcat"].wall, wanted)

    say("memory, as games become more")
    for part in (16, 4, 1):
        compress(source, games // part, pgn, archive)
        for memory in ("64M", "256M", "1G"):
            line(f"{games // part} games, --memory {memory}", run(build("--memory", memory)))
