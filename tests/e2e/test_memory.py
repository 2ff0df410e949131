"""How much memory the making of books takes: no more than it is allowed, however many games there are."""

import filecmp
import os
import random
import struct
import subprocess

import pytest

from client import times
from random_games import FORMATS

LIMIT = 64 << 20

# Plies of a game: fewer than the steps that there are, or all games would end in the same position.
PLIES = 24


def pawn_games(path, moves):
    """Games of nothing but single steps of pawns, in any order: all of them legal, and hardly a position comes twice."""
    chance = random.Random(7)
    with path.open("w") as out:
        for number in range(moves // PLIES):
            sides = []
            for ranks in ("34", "65"):
                steps = [file for file in "abcdefgh" for _ in ranks]
                chance.shuffle(steps)
                seen = {file: iter(ranks) for file in "abcdefgh"}
                sides.append([file + next(seen[file]) for file in steps[: PLIES // 2]])
            text = " ".join(f"{at}. {white} {black}" for at, (white, black) in enumerate(zip(*sides, strict=True), 1))
            result = chance.choice(["1-0", "0-1", "1/2-1/2"])
            out.write(f'[White "A{number % 99}"]\n[Black "B"]\n[Result "{result}"]\n\n{text} {result}\n\n')
    return path


def in_pieces(path, pieces):
    """Writes a file without holding it: what this process takes counts as that of those that it starts."""
    with path.open("wb") as out:
        out.writelines(pieces)


def peak(*argv, cwd):
    """The most memory that a command took, in bytes."""
    process = subprocess.Popen(list(map(str, argv)), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    told = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, told
    return usage.ru_maxrss << 10


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    return [pawn_games(folder / f"{moves}.pgn", moves) for moves in (1000, 150_000, 450_000)]


# Each format, for both sides or for White in turn; before a release for the other one too.
BUILDS = [(format, "white" if at % 2 else None) for at, format in enumerate(FORMATS)]
BUILDS += times([], [(format, None if only else "white") for format, only in BUILDS])


@pytest.mark.parametrize(("format", "only"), BUILDS)
def test_a_build_takes_no_more_than_it_is_allowed(tabiya_exe, tmp_path, games, format, only):
    """Of few games it shows what the program itself takes, of more what their number adds."""
    temp = tmp_path / "temp"
    temp.mkdir()

    def build(pgn):
        book = tmp_path / f"book.{format}"
        means = ("--memory", "64M", "--threads", "2", "--temp", temp)
        side = ["--only", only] if only else []
        return peak(tabiya_exe, "build", pgn, "-o", book, "--force", "--min-games", "1", *means, *side, cwd=tmp_path)

    few, more, most = map(build, games)
    assert more - few < LIMIT and most - few < LIMIT, (few, more, most)
    # Three times as many games add no more than some bits of each position.
    assert most - more < LIMIT // 4, (few, more, most)
    assert list(temp.iterdir()) == []


@pytest.mark.parametrize("format", ["ctg", "abk", "kob"])
def test_a_merge_takes_no_more_than_it_is_allowed(tabiya_exe, tmp_path, games, format):
    sizes = []
    for number, pgn in enumerate(games[:2]):
        part = tmp_path / f"part{number}.ctg"
        peak(tabiya_exe, "build", pgn, "-o", part, "--min-games", "1", cwd=tmp_path)
        out = ("-o", tmp_path / f"{number}.{format}", "--memory", "64M", "--threads", "2")
        sizes.append(peak(tabiya_exe, "merge", part, *out, cwd=tmp_path))
    few, more = sizes
    assert more - few < LIMIT, sizes


def test_games_that_are_all_one_take_no_more_than_is_allowed(tabiya_exe, tmp_path):
    """Each game but the first repeats another, so all of their numbers are kept."""
    sizes = []
    for games in (1000, 1_000_000):
        in_pieces(tmp_path / "same.pgn", [b'[White "A"]\n\n1. e4 *\n\n' * 1000] * (games // 1000))
        means = ("--memory", "16M", "--threads", "2")
        line = ("build", "same.pgn", "-o", "book.bin", "--unique", "--min-games", "1", "--force")
        sizes.append(peak(tabiya_exe, *line, *means, cwd=tmp_path))
    few, many = sizes
    # 24 bytes of each game and 8 of each that is left out would be 32 MB.
    assert many - few < 20 << 20, sizes


def test_keys_that_are_close_together_take_no_more_than_is_allowed(tabiya_exe, tmp_path):
    sizes = []
    for entries in (1000, times(1_500_000, 3_000_000)):
        moves = (struct.pack(">QHHI", number // 3, 796 + number % 3, 1, 0) for number in range(entries))
        in_pieces(tmp_path / "close.bin", moves)
        out = ("-o", tmp_path / "copy.bin", "--force", "--memory", "16M", "--threads", "2")
        sizes.append(peak(tabiya_exe, "convert", tmp_path / "close.bin", *out, cwd=tmp_path))
        assert filecmp.cmp(tmp_path / "copy.bin", tmp_path / "close.bin", shallow=False)
    few, many = sizes
    # The book itself is mapped into memory.
    assert many - few < (16 << 20) + 16 * entries, sizes
