"""What builds, merges and trims cost as games become ten times as many: time, memory, disk and rows.

The games are drawn as a count file of real ones has them (of Debian's source package gnuchess-book, see scripts/fetch-games).
"""

import filecmp
import json
import math
import subprocess

from timing import MEBI, line, run, say

SIZES, LARGE_SIZES, SMOKE_SIZES = (100_000, 1_000_000), (3_000_000, 10_000_000), (60, 240)
PLIES, SHARDS = 24, 12


def rows(tools, file):
    done = subprocess.run([tools.tabiya, "info", file, "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)["entries"]


def draw(tools, counts, games, folder):
    """Files of the games, as many as there are shards."""
    files = [folder / f"{shard}.pgn" for shard in range(SHARDS)]
    subprocess.run([tools.bench["build"], "--drawn", counts, "1", str(games // SHARDS), *files], check=True)
    return files


def costs_of(tools, files, folder):
    """The costs of each command, the bytes that it writes, and its rows."""
    counted, merged, book, short = (folder / name for name in ("counts.parquet", "merged.parquet", "book.bin", "short.bin"))
    shards = [path.with_suffix(".parquet") for path in files]
    deep, temp = ["--max-ply", PLIES], ["--force", "--temp", folder]
    commands = {"build, a count file": (["build", *files, "-o", counted, *deep, *temp], counted)}
    for number, (pgn, shard) in enumerate(zip(files, shards, strict=True)):
        commands[f"build, shard {number + 1} of {SHARDS}"] = (["build", pgn, "-o", shard, *deep, *temp], shard)
    commands |= {
        f"merge, {SHARDS} shards": (["merge", *shards, "-o", merged, *temp], merged),
        "build, a book": (["build", *files, "-o", book, *deep, *temp], book),
        "build, a book of counts": (["build", counted, "-o", short, *temp], short),
        "trim": (["trim", book, "-o", short, "--max-ply", 16, "--min-share", 10, *temp], short),
    }
    for name, (words, made) in commands.items():
        yield name, run([tools.tabiya, *words]), made.stat().st_size, rows(tools, made)
    if not filecmp.cmp(counted, merged, shallow=False):
        print("  the merged shards are NOT the count file of all games")


def measure(args, tools, folder):
    source = tools.games
    if args.smoke:
        source = folder / "source.pgn"
        subprocess.run([tools.bench["build"], "--openings", "200", source], check=True)
    counts = folder / "source.parquet"
    subprocess.run([tools.tabiya, "build", source, "-o", counts, "--max-ply", str(PLIES)], check=True, capture_output=True)
    sizes = SMOKE_SIZES if args.smoke else SIZES + (LARGE_SIZES if args.large else ())
    sizes = [games // SHARDS * SHARDS for games in sizes if not args.games or games <= args.games]
    before, few = {}, 0
    for games in sizes:
        files = draw(tools, counts, games, folder)
        say(f"{games} games, {sum(path.stat().st_size for path in files) / MEBI:,.0f} MiB of text, {PLIES} plies")
        costs = {}
        for name, cost, size, entries in costs_of(tools, files, folder):
            if "shard " in name and name.split()[2] != str(SHARDS):
                continue
            costs[name] = cost
            read = games // SHARDS if "shard " in name else games
            line(name, cost, read)
            print(f"  {size / MEBI:,.1f} MiB, {entries:,} rows, {entries / read:,.2f} for each game", flush=True)
            if few:
                # 1: as the games do.
                grows = math.log(cost.cpu / max(before[name].cpu, 0.01)) / math.log(games / few)
                print(f"  time grows as games to the power of {grows:.2f}", flush=True)
        before, few = costs, games
