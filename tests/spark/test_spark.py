"""scripts/spark_counts.py on a real Spark: what its tasks count becomes the files that one machine writes.

TABIYA_EXE names the executable.
"""

import gzip
import os
import random
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from random_games import pgn, random_games  # noqa: E402

SCRIPT = Path(__file__).parents[2] / "scripts" / "spark_counts.py"
EXE = Path(os.environ["TABIYA_EXE"]).resolve()
HANG = float(os.environ.get("TABIYA_E2E_HANG", "600"))
GAMES = 200
OPTIONS = ["--max-ply", "24", "--by", "speed,rating"]
BOOKS = ("book.bin", "book.ctg")


def call(*line, code=0, **more):
    """Runs a program that must end with this code; returns what it printed and what it said."""
    more = {"cwd": more.pop("cwd"), "stdin": subprocess.DEVNULL, "capture_output": True, "timeout": HANG, "text": True} | more
    done = subprocess.run([str(word) for word in line], check=False, **more)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout, done.stderr


def text(seed):
    chance = random.Random(seed)
    games = random_games(GAMES, seed=seed, mixed=True)
    for game in games:
        game.head["TimeControl"] = chance.choice(["15+0", "60+0", "180+2", "600+5", "1800+20", "1/86400", "-", "?"])
    return pgn(games).encode()


@pytest.fixture
def games(tmp_path):
    """Three files, compressed and not."""
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "a.pgn").write_bytes(text(1))
    (folder / "b.pgn.gz").write_bytes(gzip.compress(text(2)))
    (folder / "c.pgn.zst").write_bytes(pa.compress(text(3), codec="zstd", asbytes=True))
    return folder


@pytest.fixture
def one_machine(games, tmp_path):
    """The count file and the books that a single build makes of the games."""
    folder = tmp_path / "one"
    folder.mkdir()
    shutil.copytree(games, folder / "games")
    call(EXE, "build", "-o", "counts.parquet", "games", *OPTIONS, cwd=folder)
    for book in BOOKS:
        call(EXE, "build", "games", "-o", book, "--max-ply", "24", cwd=folder)
    return folder


def same(counts, one_machine, tmp_path):
    """Asserts that the folder that Spark wrote holds the counts of one machine."""
    assert call(EXE, "check", counts, cwd=tmp_path)[0] == f"{counts}: sound\n"
    info, _ = call(EXE, "info", counts, cwd=tmp_path)
    assert "keys and positions, games by speed and rating" in info
    call(EXE, "merge", counts, "-o", "counts.parquet", "--by", "speed,rating", cwd=tmp_path)
    for book in BOOKS:
        call(EXE, "build", counts, "-o", book, cwd=tmp_path)
    for name in ("counts.parquet", *BOOKS):
        assert (tmp_path / name).read_bytes() == (one_machine / name).read_bytes(), name


def test_a_task_that_is_killed_is_tried_again_and_counts_once(games, one_machine, tmp_path):
    # The first process that counts a file dies after it has written a part; before it the options were tried.
    wrapper = tmp_path / "wrapped"
    wrapper.write_text(
        f"""#!/bin/sh
echo run >> '{tmp_path}/runs'
if mkdir '{tmp_path}/tried' 2>/dev/null; then exec '{EXE}' "$@"; fi
if mkdir '{tmp_path}/killed' 2>/dev/null; then head -c 1000; printf PAR1; kill -9 $$; fi
exec '{EXE}' "$@"
"""
    )
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    line = [sys.executable, SCRIPT, "--tabiya", wrapper, "--output", "counts", f"{games}/*", "--", *OPTIONS]
    printed, said = call(*line, cwd=tmp_path)
    assert (tmp_path / "killed").exists() and "tabiya was ended by signal 9" in said
    assert "counts: the counts of 3 of 3 files" in printed
    # No file is counted twice but the one whose process was killed.
    assert (tmp_path / "runs").read_text() == "run\n" * 5
    assert (tmp_path / "counts" / "_SUCCESS").exists()
    same("counts", one_machine, tmp_path)


def test_broken_files_are_reported_and_skipped(games, one_machine, tmp_path):
    whole = (games / "b.pgn.gz").read_bytes()
    (games / "cut.pgn.gz").write_bytes(whole[: len(whole) // 2])
    (games / "other.pgn").write_bytes(b"no\0text")
    # Files of another system than the disk's are read as Spark reads them, with its settings.
    mount = f"--conf spark.hadoop.fs.viewfs.mounttable.games.link./pgn=file://{games} pyspark-shell"
    env = os.environ | {"PYSPARK_SUBMIT_ARGS": mount}
    line = [sys.executable, SCRIPT, "--tabiya", EXE, "--output", "counts", "viewfs://games/pgn"]
    printed, said = call(*line, "--", *OPTIONS, cwd=tmp_path, env=env, code=1)
    assert "counts: the counts of 3 of 5 files" in printed
    assert "skipped: viewfs://games/pgn/cut.pgn.gz: " in said and "1 file not read to the end" in said
    assert "skipped: viewfs://games/pgn/other.pgn: " in said and "this is not a text file of games" in said
    assert said.count("skipped: ") == 2
    same("counts", one_machine, tmp_path)
    # Nothing is replaced unless that is asked for.
    _, said = call(*line[:-1], games / "a.pgn", cwd=tmp_path, code=2)
    assert "counts exists already: name another folder, or replace it with --force" in said


def test_what_cannot_work_is_refused_at_once(games, tmp_path):
    def refused(*words):
        return call(sys.executable, SCRIPT, "--output", "counts", *words, cwd=tmp_path, code=2)[1]

    assert "nowhere: No such file" in refused("--tabiya", tmp_path / "nowhere", games)
    assert "these options are refused: --min-games changes weights" in refused("--tabiya", EXE, games, "--", "--min-games", "3")
    assert "no*.pgn: there is no such file" in refused("--tabiya", EXE, games / "no*.pgn")
    assert not (tmp_path / "counts").exists()
