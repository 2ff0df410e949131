"""What builds, merges and trims cost as games become ten times as many: time, memory, disk and rows.

The games are drawn as a count file of real ones has them (of Debian's source package gnuchess-book, see scripts/fetch-games).
"""

import filecmp
import json
import math
import os
import subprocess
import sys
from pathlib import Path

from timing import MEBI, Cost, line, run, say

ROOT = Path(__file__).parents[1]

SIZES, LARGE_SIZES, SMOKE_SIZES = (100_000, 1_000_000), (3_000_000, 10_000_000), (60, 240)
PLIES, SHARDS = 24, 12

# A machine with little memory, and what the picture shows.
LITTLE = "64M"
DRAWN = f"build, a count file in {LITTLE}"
SPARK = "spark_counts.py, a folder"


def rows(tools, file):
    done = subprocess.run([tools.tabiya, "info", file, "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)["entries"]


def draw(tools, counts, games, folder):
    """Files of the games, as many as there are shards."""
    files = [folder / f"{shard}.pgn" for shard in range(SHARDS)]
    subprocess.run([tools.bench["build"], "--drawn", counts, "1", str(games // SHARDS), *files], check=True)
    return files


def costs_of(tools, files, folder, spark):
    """The costs of each command, the bytes that it writes, and its rows; ends everything where the same counts have other bytes."""
    names = ("counts.parquet", "little.parquet", "merged.parquet", "book.bin", "short.bin", "spark", "sorted.parquet")
    counted, little, merged, book, short, parts, gathered = (folder / name for name in names)
    shards = [path.with_suffix(".parquet") for path in files]
    deep, temp = ["--max-ply", PLIES], ["--force", "--temp", folder]
    commands = {
        "build, a count file": (["build", *files, "-o", counted, *deep, *temp], counted),
        DRAWN: (["build", *files, "-o", little, *deep, *temp, "--memory", LITTLE], little),
    }
    for number, (pgn, shard) in enumerate(zip(files, shards, strict=True)):
        commands[f"build, shard {number + 1} of {SHARDS}"] = (["build", pgn, "-o", shard, *deep, *temp], shard)
    commands |= {
        f"merge, {SHARDS} shards in {LITTLE}": (["merge", *shards, "-o", merged, *temp, "--memory", LITTLE], merged),
        "build, a book": (["build", *files, "-o", book, *deep, *temp], book),
        "build, a book of counts": (["build", counted, "-o", short, *temp], short),
        "trim": (["trim", book, "-o", short, "--max-ply", 16, "--min-share", 10, *temp], short),
    }
    if spark:
        commands[SPARK] = (["--tabiya", tools.tabiya, "--output", parts, "--force", *files, "--", *deep], parts)
        commands["merge, what Spark has written"] = (["merge", parts, "-o", gathered, *temp], gathered)
    for name, (words, made) in commands.items():
        program = [ROOT / ".venv-spark/bin/python", ROOT / "scripts/spark_counts.py"] if name == SPARK else [tools.tabiya]
        cost = run([*program, *words], family=name == SPARK)
        written = made.glob("*.parquet") if made.is_dir() else [made]
        yield name, cost, sum(path.stat().st_size for path in written), rows(tools, made)
    for other in (little, merged, *([gathered] if spark else [])):
        if not filecmp.cmp(counted, other, shallow=False):
            sys.exit(f"{other.name} is not the count file of all games")


def sharded(tools, counts, games, folder):
    """The costs of so many games that only shards of them are on the disk at a time: counted one by one, merged with little memory."""
    text, short = folder / "games.pgn", folder / "short.bin"
    merged, book = folder / "merged.parquet", folder / "book.bin"
    shards = [folder / f"{shard}.parquet" for shard in range(SHARDS)]
    temp = ["--force", "--temp", folder]
    cost = Cost(0, 0, 0)
    for number, shard in enumerate(shards, 1):
        subprocess.run([tools.bench["build"], "--drawn", counts, str(number), str(games // SHARDS), text], check=True)
        cost = cost.then(run([tools.tabiya, "build", text, "-o", shard, "--max-ply", PLIES, *temp]))
    text.unlink()
    yield f"build, {SHARDS} shards", cost, sum(path.stat().st_size for path in shards), None
    commands = {
        f"merge, {SHARDS} shards in {LITTLE}": (["merge", *shards, "-o", merged, *temp, "--memory", LITTLE], merged),
        "build, a book of shards": (["build", *shards, "-o", book, *temp], book),
        "trim": (["trim", book, "-o", short, "--max-ply", 16, "--min-share", 10, *temp], short),
    }
    for name, (words, made) in commands.items():
        yield name, run([tools.tabiya, *words]), made.stat().st_size, rows(tools, made)


def picture(points):
    """An SVG of seconds, memory, bytes and rows by games, each axis by powers of ten."""
    width, height, left, right, top, bottom = 720, 330, 60, 170, 20, 50
    lines = [
        ("seconds of one core", "#c2571a", [cost.cpu for _, cost, _, _ in points]),
        ("MiB of memory", "#1f6fb2", [cost.peak / MEBI for _, cost, _, _ in points]),
        ("MiB of the count file", "#2f8f4e", [size / MEBI for _, _, size, _ in points]),
        ("rows in ten thousands", "#7a4fa3", [entries / 10_000 for _, _, _, entries in points]),
    ]
    games = [math.log10(point[0]) for point in points]
    values = [value for _, _, of in lines for value in of]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(exponent):
        return left + (width - left - right) * (exponent - games[0]) / (games[-1] - games[0] or 1)

    def y(exponent):
        return height - bottom - (height - top - bottom) * (exponent - low) / (high - low)

    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
    yield f'<rect width="{width}" height="{height}" fill="#fff"/>'
    for exponent in range(low, high + 1):
        at = y(exponent)
        yield f'<line x1="{left}" x2="{width - right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
        yield f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end" fill="#333">{10**exponent:,}</text>'
    for exponent, point in zip(games, points, strict=True):
        yield f'<text x="{x(exponent):.1f}" y="{height - bottom + 18}" text-anchor="middle" fill="#333">{point[0]:,}</text>'
    yield f'<text x="{(left + width - right) / 2:.0f}" y="{height - 10}" text-anchor="middle" fill="#333">games</text>'
    # Words at the ends of lines, none over another.
    lowest = height - bottom
    for name, color, of in sorted(lines, key=lambda line: line[2][-1]):
        ends = [(x(exponent), y(math.log10(value))) for exponent, value in zip(games, of, strict=True)]
        yield '<polyline points="' + " ".join(f"{a:.1f},{b:.1f}" for a, b in ends) + f'" fill="none" stroke="{color}" stroke-width="2"/>'
        lowest = min(ends[-1][1] + 4, lowest - 15)
        yield f'<text x="{width - right + 8}" y="{lowest:.1f}" fill="{color}">{name}</text>'
    yield "</svg>\n"


def measure(args, tools, folder):
    source = tools.games
    if args.smoke:
        source = folder / "source.pgn"
        subprocess.run([tools.bench["build"], "--openings", "200", source], check=True)
    counts = folder / "source.parquet"
    subprocess.run([tools.tabiya, "build", source, "-o", counts, "--max-ply", str(PLIES)], check=True, capture_output=True)
    # What Spark keeps on the disk between its two steps.
    os.environ["SPARK_LOCAL_DIRS"] = str(folder)
    sizes = SMOKE_SIZES if args.smoke else SIZES + (LARGE_SIZES if args.large else ())
    sizes = [games // SHARDS * SHARDS for games in sizes if not args.games or games <= args.games]
    before, few, points = {}, 0, []
    for games in sizes:
        files = draw(tools, counts, games, folder)
        say(f"{games} games, {sum(path.stat().st_size for path in files) / MEBI:,.0f} MiB of text, {PLIES} plies")
        costs = {}
        for name, cost, size, entries in costs_of(tools, files, folder, args.spark):
            if "shard " in name and name.split()[2] != str(SHARDS):
                continue
            costs[name] = cost
            if name == DRAWN:
                points.append((games, cost, size, entries))
            read = games // SHARDS if "shard " in name else games
            line(name, cost, read)
            print(f"  {size / MEBI:,.1f} MiB, {entries:,} rows, {entries / read:,.2f} for each game", flush=True)
            if few:
                # 1: as the games do.
                grows = math.log(cost.cpu / max(before[name].cpu, 0.01)) / math.log(games / few)
                print(f"  time grows as games to the power of {grows:.2f}", flush=True)
        before, few = costs, games
    if args.sharded or args.smoke:
        games = (args.sharded or SMOKE_SIZES[-1]) // SHARDS * SHARDS
        say(f"{games} games in {SHARDS} shards, {PLIES} plies")
        for name, cost, size, entries in sharded(tools, counts, games, folder):
            line(name, cost, games)
            print(f"  {size / MEBI:,.1f} MiB" + (f", {entries:,} rows" if entries else ""), flush=True)
    if args.picture:
        args.picture.write_text("\n".join(picture(points)), encoding="utf-8")
