"""What shows a part of a book takes as long as that part, however large the book is; what reads all of it takes as long as the book."""

import subprocess

from timing import MEBI, goal, in_turn, line, say

# Games that make a book of about 1 MB and a count file of about 100,000 rows; each size has ten times as many as the one before.
GAMES, SMOKE_GAMES = 1_000, 20
SIZES, LARGE_SIZES = 2, 3

# Of a file of ten times the size, the time of what shows a part of it.
PART_TIMES = 1.5


def parts(tabiya, file, folder):
    """Commands whose answers are the same in files of all sizes: the openings of their games are of few moves."""
    trim = [tabiya, "trim", file, "-o", folder / "part.bin", "--force", "--max-ply", 3]
    suite = [tabiya, "suite", file, "-o", folder / "part.epd", "--force", "--ply", 4]
    of_book = {"trim --max-ply 3": trim, "trim --below": [*trim, "--below", "a3"]}
    return {
        "show": [tabiya, "show", file],
        "tree --plies 3": [tabiya, "tree", file, "--plies", 3],
        "suite --ply 4": suite,
        **(of_book if file.suffix == ".bin" else {}),
    }


def wholes(tabiya, file, folder):
    return {
        "info": [tabiya, "info", file],
        "check": [tabiya, "check", file],
        "convert": [tabiya, "convert", file, "-o", folder / "whole.bin", "--force"],
    }


def measure(args, tools, folder):
    games = SMOKE_GAMES if args.smoke else GAMES
    sizes = LARGE_SIZES if args.large and not args.smoke else SIZES
    for suffix in (".bin", ".parquet"):
        before = {}
        for size in range(sizes):
            pgn, file = folder / "games.pgn", folder / f"book{suffix}"
            count = games * 10**size
            subprocess.run([tools.bench["build"], "--openings", str(count), pgn], check=True)
            build = [tools.tabiya, "build", pgn, "-o", file, "--force", "--temp", folder]
            build += ["--min-games", "1", "--uniform"] if suffix == ".bin" else []
            subprocess.run(build, check=True, capture_output=True)
            pgn.unlink()
            bytes_ = file.stat().st_size
            say(f"{suffix} of {count} games, {bytes_ / MEBI:,.1f} MiB")
            of_part, of_whole = parts(tools.tabiya, file, folder), wholes(tools.tabiya, file, folder)
            costs = in_turn(args.rounds, of_part) | in_turn(1, of_whole)
            for name, cost in costs.items():
                line(name, cost)
                last = before.get(name)
                if name in of_part and last:
                    goal("times the time of a tenth", cost.cpu / max(last.cpu, 0.01), PART_TIMES)
                if name in of_whole:
                    print(f"  MiB a second: {bytes_ / cost.wall / MEBI:,.1f}")
            before = costs
