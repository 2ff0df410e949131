"""Builds that are cut off at any moment and continued give the bytes and the report of one that was not."""

import contextlib
import gzip
import itertools
import os
import random
import shutil
import signal
import subprocess
import time
import zipfile

import pytest

from client import HANG, complaints
from conftest import not_windows
from random_games import pgn, random_games

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3

BROKEN = '[Event "x"]\n[White "me_user"]\n[Black "other"]\n[Result "1-0"]\n\n1. e4 e5 2. Ke3 Nc6 1-0\n\n'


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Files of games, a folder of them and an archive, with games of which some are broken."""
    folder = tmp_path_factory.mktemp("sources")
    texts = [pgn(random_games(40, number, mixed=True)) + (BROKEN if number % 3 == 1 else "") for number in range(9)]
    (folder / "more").mkdir()
    for number, text in enumerate(texts[:6]):
        (folder / ("more" if number % 2 else ".") / f"{number}.pgn").write_text(text)
    with zipfile.ZipFile(folder / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number, text in enumerate(texts[6:]):
            archive.writestr(f"{number}.pgn", text)
    return [folder / "0.pgn", folder / "more", folder / "2.pgn", folder / "4.pgn", folder / "z.zip", folder / "0.pgn"]


def run(exe, cwd, *words, code=DONE):
    done = subprocess.run([exe, *map(str, words)], cwd=cwd, capture_output=True, timeout=HANG)
    assert done.returncode == code, (done.stdout + done.stderr).decode()
    return done


KINDS = {
    "bin": ["-o", "out.bin"],
    "sides": ["-o", "out.bin", "--min-share", "1/0"],
    "ctg": ["-o", "out.ctg"],
    "abk": ["-o", "out.abk"],
        "counts": ["--by", "speed,rating", "-o", "out.parquet"],
}  # fmt: skip


def two_folders(tmp_path):
    """One for a build in one go, one for a build with --resume."""
    plain, kept = tmp_path / "plain", tmp_path / "kept"
    plain.mkdir(), kept.mkdir()
    return plain, kept


def outputs(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("kind", KINDS)
def test_kept_work_gives_the_same_bytes_and_report(tabiya_exe, sources, tmp_path, kind):
    plain, kept = two_folders(tmp_path)
    words = ["build", *sources, *KINDS[kind], "--max-ply", 30]
    if kind != "counts":
        words += ["--min-games", 1]
    expected = run(tabiya_exe, plain, *words)
    done = run(tabiya_exe, kept, *words, "--resume")
    assert done.stdout == expected.stdout and not complaints(done)
    assert outputs(kept) == outputs(plain)
    # Nothing else remains.
    assert sorted(os.listdir(kept)) == sorted(os.listdir(plain))


def test_databases_are_kept_too(tabiya_exe, sample, tmp_path):
    databases = sorted(sample("cbh").glob("*/*.cbh"))
    assert len(databases) > 3
    words = ["build", *databases, "-o", "out.ctg", "--max-ply", 12]
    plain, kept = two_folders(tmp_path)
    expected = run(tabiya_exe, plain, *words)
    done = run(tabiya_exe, kept, *words, "--resume")
    assert done.stdout == expected.stdout and outputs(kept) == outputs(plain)


def counted(folder):
    # A build that ends meanwhile takes its folder away.
    with contextlib.suppress(FileNotFoundError):
        return len(list(folder.glob("*.partial/*.json")))
    return 0


def begun(tabiya_exe, folder, words):
    """A build that has counted its first source and no more, and is stopped there."""
    until = time.monotonic() + HANG
    while True:
        child = subprocess.Popen([tabiya_exe, *map(str, words), "--resume"], cwd=folder, stderr=subprocess.DEVNULL)
        # build.json and the first file's record.
        while counted(folder) < 2 and child.poll() is None:
            assert time.monotonic() < until
        child.send_signal(signal.SIGSTOP)
        if child.poll() is None and counted(folder) == 2:
            return child
        # On a busy machine it may have gone on by then.
        assert time.monotonic() < until
        child.kill()
        child.wait()
        shutil.rmtree(folder / "out.bin.partial", ignore_errors=True)
        (folder / "out.bin").unlink(missing_ok=True)


@not_windows
@pytest.mark.parametrize("kind", ["bin", "ctg", "counts"])
def test_a_build_that_is_killed_at_any_moment_can_be_continued(tabiya_exe, sources, tmp_path, kind):
    plain, kept = two_folders(tmp_path)
    words = ["build", *sources, *KINDS[kind], *([] if "counts" in kind else ["--min-games", 1])]
    expected = run(tabiya_exe, plain, *words)
    start = time.monotonic()
    shutil.copytree(plain, tmp_path / "scratch")
    run(tabiya_exe, tmp_path / "scratch", *words, "--resume", "--force")
    takes = time.monotonic() - start
    chance = random.Random(7)
    kills, until = 0, time.monotonic() + HANG
    for turn in itertools.takewhile(lambda turn: turn < 12 or kills < 6, itertools.count()):
        assert time.monotonic() < until, "builds end before they are killed"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        for _ in range(chance.randrange(1, 4)):
            start = time.monotonic()
            child = subprocess.Popen(
                [tabiya_exe, *map(str, words), "--resume"], cwd=kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            try:
                child.communicate(timeout=takes * chance.random() * 1.2)
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.communicate()
            kills += child.returncode == -signal.SIGKILL
            if child.returncode == DONE:
                takes = min(takes, time.monotonic() - start)
                break
        # Killed between the last rename and the end, it leaves the whole output.
        is_there = any(path.name.startswith("out.") and path.is_file() for path in kept.iterdir())
        force = ["--force"] if is_there else []
        done = run(tabiya_exe, kept, *words, "--resume", *force)
        assert done.stdout == expected.stdout, turn
        assert outputs(kept) == outputs(plain), turn
        assert sorted(os.listdir(kept)) == sorted(os.listdir(plain)), turn


@not_windows
def test_only_what_is_not_counted_is_counted(tabiya_exe, tmp_path):
    big, small = tmp_path / "big.pgn", tmp_path / "small.pgn"
    text = pgn(random_games(40, 5))
    small.write_text(text)
    big.write_text(text * 400)
    files = [small, big, tmp_path / "last.pgn"]
    files[2].write_text(text)
    plain, kept = two_folders(tmp_path)
    words = ["build", *files, "-o", "out.bin", "--threads", 1]
    expected = run(tabiya_exe, plain, *words)
    child = begun(tabiya_exe, kept, words)
    # While it lives, nobody else may use its folder.
    second = run(tabiya_exe, kept, *words, "--resume", code=FILE)
    assert b"another tabiya" in second.stderr
    child.kill()
    child.wait()
    known = counted(kept) - 1
    done = run(tabiya_exe, kept, *words, "--resume")
    assert f"{known} source".encode() in done.stderr
    assert done.stdout == expected.stdout
    assert outputs(kept) == outputs(plain)


@not_windows
def test_a_changed_source_is_counted_again_and_changed_options_are_refused(tabiya_exe, tmp_path):
    small, more = tmp_path / "small.pgn", tmp_path / "more.pgn"
    text = pgn(random_games(20, 6))
    small.write_text(text)
    more.write_text(text * 300)
    words = ["build", small, more, "-o", "out.bin"]
    child = begun(tabiya_exe, tmp_path, words)
    child.kill()
    child.wait()
    assert (tmp_path / "out.bin.partial").exists()
    for other in (["--max-ply", 10], ["--min-share", "5/0"], ["--finished"]):
        done = run(tabiya_exe, tmp_path, *words, "--resume", "--force", *other, code=USAGE)
        assert b"cannot be continued" in done.stderr
    small.write_text(BROKEN)
    done = run(tabiya_exe, tmp_path, *words, "--resume", "--force")
    assert b"counted again" in done.stderr and b"small.pgn: line 6" in done.stdout
    # What only decides about weights may change, and so may the list of sources.
    again = run(tabiya_exe, tmp_path, "build", small, "-o", "out.bin", "--resume", "--force", "--min-games", 1)
    assert b"counted" not in again.stderr
    assert not (tmp_path / "out.bin.partial").exists()


def test_counts_of_which_no_move_stays_are_kept_for_lower_limits(tabiya_exe, tmp_path):
    games = tmp_path / "games.pgn"
    games.write_text(pgn(random_games(20, 6)))
    plain, kept = two_folders(tmp_path)
    words = ["build", games, "-o", "out.bin"]
    run(tabiya_exe, plain, *words, "--min-games", 1)
    done = run(tabiya_exe, kept, *words, "--min-games", 10_000, "--resume", code=WANTING)
    assert b"out.bin.partial: holds the counts" in done.stderr and counted(kept)
    done = run(tabiya_exe, kept, *words, "--min-games", 1, "--resume")
    assert b"1 source had been counted before" in done.stderr
    assert outputs(kept) == outputs(plain) and not (kept / "out.bin.partial").exists()
    # Without games there is nothing to keep.
    run(tabiya_exe, kept, *words, "--force", "--min-elo", 3900, "--resume", code=WANTING)
    assert not (kept / "out.bin.partial").exists()


def test_what_cannot_be_continued_is_refused(tabiya, tmp_path):
    (tmp_path / "a.pgn").write_text(BROKEN)
    for words, what in [
        (["-o", "out.kob"], "names games"),
        (["-o", "out.bin", "--repertoire", "white"], "--repertoire"),
        (["-o", "out.bin", "--variations"], "--variations"),
        (["-o", "out.bin", "--unique"], "--unique"),
        (["-o", "out.bin", "--store", "a.evals"], "--store"),
        (["-o", "-"], "standard output"),
    ]:
        done = tabiya("build", "a.pgn", *words, "--resume")
        assert done.returncode == USAGE, done.stderr
        assert what in done.stderr.decode()
        assert os.listdir(tmp_path) == ["a.pgn"]
    done = tabiya("build", "-", "-o", "out.bin", "--resume", stdin=None, input=b"1. e4 *")
    assert done.returncode == USAGE and b"pipe" in done.stderr
    assert os.listdir(tmp_path) == ["a.pgn"]


def test_a_file_that_is_cut_off_counts_and_is_read_again(tabiya_exe, tmp_path):
    text = pgn(random_games(30, 8)).encode()
    whole = gzip.compress(text)
    (tmp_path / "a.pgn.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "b.pgn").write_bytes(text)
    plain, kept = two_folders(tmp_path)
    words = ["build", "../a.pgn.gz", "../b.pgn", "-o", "out.bin", "--min-games", 1]
    expected = run(tabiya_exe, plain, *words, code=WANTING)
    done = run(tabiya_exe, kept, *words, "--resume", code=WANTING)
    assert done.stdout == expected.stdout and outputs(kept) == outputs(plain)
