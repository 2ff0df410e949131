"""Damaged books: what `check` finds, every command that reads a whole book reports too, and ends with exit code 1."""

import random
import re
import shutil
import subprocess

import pytest

from client import times
from random_games import FORMATS, pgn, random_games

DONE, WANTING, FILE = 0, 1, 3
BOOKS = times(16, 40)


@pytest.fixture(scope="module")
def sources(books_of, tabiya_exe, tmp_path_factory):
    games = random_games(40, seed=3, most_plies=24)
    books = books_of(games)
    folder = tmp_path_factory.mktemp("counts")
    (folder / "games.pgn").write_text(pgn(games))
    line = [tabiya_exe, "build", folder / "games.pgn", "-o", folder / "book.parquet"]
    subprocess.run([str(word) for word in line], check=True, capture_output=True)
    (folder / "games.pgn").unlink()
    return books | {"parquet": folder / "book.parquet"}


# The files of a book, the one that opens it first.
PARTS = {
    "bin": ["book.bin"],
    "ctg": ["book.ctg", "book.cto", "book.ctb"],
    "abk": ["book.abk"],
    "kob": ["book_0.kob", "book.kin", "book.ksf"],
    "epd": ["book.epd"],
    "fen": ["book.fen"],
    "parquet": ["book.parquet"],
}


def copied(sources, name, folder):
    for part in PARTS[name]:
        shutil.copy(sources[name].parent / part, folder)
    return folder / PARTS[name][0]


def damage(path, chance):
    """Damages one of the files of a book in one of the ways in which files are damaged."""
    part = chance.choice([path, *sorted(path.parent.iterdir())])
    data = bytearray(part.read_bytes())
    kind = chance.choice(["byte", "byte", "bit", "bytes", "cut", "zeros", "hole"])
    at = chance.randrange(len(data))
    if kind == "byte":
        data[at] = (data[at] + chance.randrange(1, 256)) % 256
    elif kind == "bit":
        data[at] ^= 1 << chance.randrange(8)
    elif kind == "bytes":
        for _ in range(30):
            data[chance.randrange(len(data))] = chance.randrange(256)
    elif kind == "cut":
        del data[at:]
    elif kind == "zeros":
        end = min(len(data), at + 512)
        data[at:end] = bytes(end - at)
    else:
        del data[at : at + 512]
    part.write_bytes(data)
    return kind, part.suffix, at


@pytest.fixture
def read(tabiya, tmp_path, sources):
    """What each command that reads a whole book says of it."""
    (tmp_path / "one.pgn").write_text('[Result "1-0"]\n\n1. e4 {[%eval 0.2]} e5 1-0\n')
    done = tabiya("import", "some.evals", "one.pgn")
    assert done.returncode == DONE, done.stderr

    def run(book):
        out = ["-o", "out.bin", "--force"]
        # What a book of keys needs not is not read.
        builds = {"build": ["-o", "out.ctg"], "count": ["-o", "out.parquet"]}
        builds = builds if book.suffix == ".parquet" else {}
        return {name: tabiya("build", book, *words, "--force") for name, words in builds.items()} | {
            "convert": tabiya("convert", book, *out),
            "merge": tabiya("merge", book, sources["bin"], *out),
            "trim": tabiya("trim", book, *out, "--reachable"),
            "export": tabiya("export", book),
            "diff": tabiya("diff", book, book),
            "vet": tabiya("vet", book, *out, "--no-engine", "--store", "some.evals"),
        }

    return run


@pytest.mark.parametrize("name", [*FORMATS, "parquet"])
def test_what_check_finds_every_command_that_reads_reports(name, sources, read, tabiya, tmp_path):
    chance = random.Random(28)
    found = {DONE: 0, WANTING: 0, FILE: 0}
    for number in range(BOOKS):
        folder = tmp_path / str(number)
        folder.mkdir()
        book = copied(sources, name, folder)
        how = damage(book, chance)
        check = tabiya("check", book)
        found[check.returncode] += 1
        errors = re.findall(rb": error: .*?\((?:first at )?(byte \d+[^)]*)\)\n", check.stdout)
        for command, done in read(book).items():
            assert (done.returncode == FILE) == (check.returncode == FILE), (how, command, done, check)
            if check.returncode == DONE:
                assert b"damaged: " not in done.stderr, (how, command, done)
            if check.returncode == WANTING:
                assert done.returncode == WANTING, (how, command, done, check)
                said = [line for line in done.stderr.splitlines() if b": damaged: " in line]
                assert said, (how, command, done, check)
                # The first of a kind is named, so the first of all is.
                assert not errors or any(errors[0] in line for line in said), (how, command, done, check)
    assert found[WANTING] >= BOOKS // 4, found


def test_a_book_of_which_a_third_is_missing_does_not_pass_for_a_whole_one(sources, read, tmp_path):
    for name in ["ctg", "abk", "kob"]:
        folder = tmp_path / f"third-{name}"
        folder.mkdir()
        book = copied(sources, name, folder)
        data = book.read_bytes()
        head = 25_200 if name == "abk" else 0
        book.write_bytes(data[: head + (len(data) - head) * 2 // 3])
        for command, done in read(book).items():
            assert done.returncode == WANTING and b": damaged: " in done.stderr, (name, command, done)
            assert b"(byte " in done.stderr or b"(first at byte " in done.stderr, (name, command, done)


def test_what_could_be_read_is_written(sources, tabiya, tmp_path):
    data = sources["bin"].read_bytes()
    (tmp_path / "cut.bin").write_bytes(data[:-5])
    done = tabiya("convert", "cut.bin", "-o", "out.bin")
    assert done.returncode == WANTING
    assert f"cut.bin: damaged: the last entry is cut off: it has 11 of 16 bytes (byte {len(data) - 16})" in done.stderr.decode()
    assert (tmp_path / "out.bin").read_bytes() == data[:-16]


def test_a_report_names_what_its_look_ups_could_not_find(sources, tabiya, tmp_path):
    (tmp_path / "game.pgn").write_text('[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n')
    data = sources["bin"].read_bytes()
    (tmp_path / "whole.bin").write_bytes(data)
    (tmp_path / "cut.bin").write_bytes(data[:-5])
    # The second half first: look-ups find little.
    half = len(data) // 32 * 16
    (tmp_path / "turned.bin").write_bytes(data[half:] + data[:half])
    for name, code, what in [("whole", DONE, b""), ("cut", WANTING, b"the last entry is cut off"), ("turned", WANTING, b"follows the higher key")]:
        done = tabiya("report", "game.pgn", "--book", f"{name}.bin")
        assert done.returncode == code, done
        assert (f"{name}.bin: damaged: ".encode() in done.stderr) == bool(what) and what in done.stderr, done
