"""The command build: its books against PolyGlot's, against python-chess's reckoning, and against one another."""

import gzip
import hashlib
import io
import os
import random
import shutil
import subprocess
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot
import pytest

from client import HANG, complaints
from random_games import counted, pgn, random_games, read_book, weighed

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3

# PolyGlot halves the counts of a position when a move of it has come so often.
HALVED = 16384


@pytest.fixture
def build(tabiya, tmp_path):
    """Builds a book that must succeed, and gives its path and what was said."""

    def call(*args, out="book.bin", **more):
        done = tabiya("build", *args, "-o", tmp_path / out, "--force", **more)
        assert done.returncode == DONE and not complaints(done), (done.stdout, done.stderr)
        return tmp_path / out, done.stdout.decode()

    return call


def polyglot_book(polyglot, games, folder, *args):
    path = folder / "polyglot.bin"
    subprocess.run(
        [polyglot, "make-book", "-pgn", games, "-bin", path, *args],
        cwd=folder, check=True, capture_output=True, timeout=HANG,
    )
    return read_book(path)


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# PolyGlot


@pytest.mark.parametrize("ours, theirs", [
    ([], []),
    (["--max-ply", "9"], ["-max-ply", "9"]),
    (["--min-games", "1"], ["-min-game", "1"]),
    (["--min-games", "5", "--min-score", "50"], ["-min-game", "5", "-min-score", "50"]),
    (["--only", "white"], ["-only-white"]),
    (["--only", "black", "--uniform"], ["-only-black", "-uniform"]),
])  # fmt: skip
def test_made_games_give_polyglots_entries(build, polyglot_exe, tmp_path, ours, theirs):
    path = tmp_path / "games.pgn"
    path.write_text(pgn(random_games(300)))
    expected = polyglot_book(polyglot_exe, path, tmp_path, *theirs)
    book, _ = build(path, *ours)
    assert len(expected) > 20
    found = read_book(book)
    if "--uniform" in ours:
        # PolyGlot leaves out what only lost, whatever the weights.
        scored = read_book(build(path, *(option for option in ours if option != "--uniform"))[0])
        assert any(found[at].keys() - scored.get(at, {}).keys() for at in found)
        found = {at: {move: found[at][move] for move in moves} for at, moves in scored.items()}
    assert found == expected


@pytest.mark.parametrize("args", [[], ["40"]], ids=["defaults", "max-ply 40"])
def test_real_games_give_polyglots_entries_but_for_halved_positions(build, polyglot_exe, real_games, tmp_path, args):
    ours = [word for value in args for word in ("--max-ply", value)]
    theirs = [word for value in args for word in ("-max-ply", value)]
    expected = polyglot_book(polyglot_exe, real_games, tmp_path, *theirs)
    book = read_book(build(real_games, *ours)[0])
    halved = set(read_book(build(real_games, *ours, "--min-games", HALVED, "--uniform")[0]))
    different = {key for key in expected.keys() | book.keys() if expected.get(key) != book.get(key)}
    assert len(expected) > 100_000
    assert different <= halved
    print(f"{len(expected.keys() | book.keys())} positions, {len(different)} with a move of {HALVED} games or more:")
    for key in sorted(different):
        print(f"{key:016x} PolyGlot's {expected.get(key)}, ours {book.get(key)}")


def test_python_chess_and_polyglot_read_the_book(build, polyglot_exe, tmp_path):
    games = random_games(200, seed=4)
    path = tmp_path / "games.pgn"
    path.write_text(pgn(games))
    book, told = build(path)
    seen = 0
    with chess.polyglot.open_reader(book) as reader:
        assert f"{len(reader)} moves" in told
        board = chess.Board()
        while entries := list(reader.find_all(board)):
            assert all(entry.move in board.legal_moves for entry in entries)
            board.push(entries[0].move)
            seen += len(entries)
    assert seen > 10
    info = subprocess.run(
        [polyglot_exe, "info-book", "-bin", book, "-exact"],
        cwd=tmp_path, check=False, capture_output=True, text=True, timeout=HANG,
    )  # fmt: skip
    assert "Lines for white" in info.stdout and info.returncode == 0, info


# The same input, the same bytes


@pytest.fixture
def shards(tmp_path):
    """Games in several files, packed and not."""
    games = random_games(600, seed=7, mixed=True)
    text = [pgn(games[at::4], random.Random(at)).encode() for at in range(4)]
    folder = tmp_path / "shards"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.pgn").write_bytes(text[0])
    (folder / "b.pgn.gz").write_bytes(gzip.compress(text[1]))
    (folder / "c.pgn").write_bytes(text[2].replace(b"\n", b"\r\n"))
    (folder / "sub" / "d.PGN").write_bytes(b"\xef\xbb\xbf" + text[3])
    return folder, games


def test_threads_memory_and_order_do_not_change_a_byte(build, shards):
    folder, games = shards
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    book, told = build(folder, "--min-games", "1")
    assert read_book(book) == weighed(counted(games), min_games=1)
    expected = sha(book)
    for order in (files, files[::-1], files[2:] + files[:2], [folder / "sub", *files[:3]]):
        for means in (["--threads", "1", "--memory", "16M"], ["--threads", "2", "--memory", "32M"],
                      ["--threads", "5", "--memory", "4G"]):  # fmt: skip
            book, again = build(*order, "--min-games", "1", *means)
            assert sha(book) == expected and again == told


def test_real_games_give_the_same_bytes_spilled_or_not(build, real_games, tmp_path):
    text = real_games.read_bytes()
    half = text.index(b"\n[Event ", len(text) // 2) + 1
    parts = [tmp_path / "z.pgn", tmp_path / "y.pgn"]
    for part, piece in zip(parts, (text[:half], text[half:]), strict=True):
        part.write_bytes(piece)
    expected = None
    for means in (["--threads", "1", "--memory", "4G"], ["--threads", "2", "--memory", "4G"], ["--memory", "32M"],
                  ["--threads", "1", "--memory", "16M"]):  # fmt: skip
        for files in ([real_games], parts, parts[::-1]):
            book, _ = build(*files, *means)
            expected = expected or sha(book)
            assert sha(book) == expected
    packed = tmp_path / "x.pgn.gz"
    packed.write_bytes(gzip.compress(text, 1))
    assert sha(build(packed)[0]) == expected


def test_packed_files_and_standard_input_give_the_same_bytes(build, tmp_path):
    text = pgn(random_games(200, seed=3), random.Random(3)).encode()
    path = tmp_path / "games.pgn"
    path.write_bytes(text)
    expected = sha(build(path)[0])
    assert sha(build("-", stdin=None, input=text)[0]) == expected
    # Several members behind one another, as parallel packers write them; the name tells nothing.
    members = gzip.compress(text[:1000]) + gzip.compress(text[1000:])
    (tmp_path / "members.pgn").write_bytes(members)
    assert sha(build(tmp_path / "members.pgn")[0]) == expected
    assert sha(build("-", stdin=None, input=members)[0]) == expected


def test_zstandard_files_give_the_same_bytes(build, tmp_path):
    if not shutil.which("zstd"):
        pytest.skip("there is no zstd to pack the games with")
    text = pgn(random_games(200, seed=3), random.Random(3)).encode()
    (tmp_path / "games.pgn").write_bytes(text)
    expected = sha(build(tmp_path / "games.pgn")[0])
    for args in (["-1"], ["-19", "--long=27"]):
        packed = subprocess.run(["zstd", "-q", "-c", *args], input=text, check=True, capture_output=True).stdout
        (tmp_path / "games.pgn.zst").write_bytes(packed + packed)
        twice = sha(build(tmp_path / "games.pgn.zst", "--min-games", "6")[0])
        (tmp_path / "twice.pgn").write_bytes(text + text)
        assert twice == sha(build(tmp_path / "twice.pgn", "--min-games", "6")[0])
        (tmp_path / "once.zst").write_bytes(packed)
        assert sha(build(tmp_path / "once.zst")[0]) == expected
        assert sha(build(tmp_path / "once.zst", "--threads", "8")[0]) == expected
    # As `pzstd` writes them: many frames, which several threads decompress; they end anywhere within games.
    parts = [text[at : at + 2000] for at in range(0, len(text), 2000)]
    frames = [subprocess.run(["zstd", "-q", "-c"], input=part, check=True, capture_output=True).stdout for part in parts]
    skipped = bytes.fromhex("502a4d18 04000000")
    (tmp_path / "frames.zst").write_bytes(b"".join(skipped + len(frame).to_bytes(4, "little") + frame for frame in frames))
    for threads in ("1", "4", "16"):
        assert sha(build(tmp_path / "frames.zst", "--threads", threads)[0]) == expected


# Filters


def days(game):
    """The first and the last day that a game's date may mean; None where nobody knows it."""
    year, month, day = game.head["Date"].split(".")
    if year == "????":
        return None
    return tuple((year, month.replace("??", m), day.replace("??", d)) for m, d in (("00", "00"), ("12", "31")))


def since(*first):
    return lambda game: days(game) is not None and days(game)[1] >= first


def until(*last):
    return lambda game: days(game) is not None and days(game)[0] <= last


def rated(least):
    return lambda game: all(int(game.head.get(side, 0)) >= least for side in ("WhiteElo", "BlackElo"))


def of(name, *sides):
    return lambda game: any(name in game.head[side] for side in sides or ("White", "Black"))


def everyone(game):
    return True


def many(game):
    # A problem after the plies that count is not looked for.
    return game.result != "*" and not (game.broken and len(game.moves) < 20) and rated(1900)(game)


# Name: arguments, which games they leave, what counts of their moves, and what it weighs.
FILTERS = {
    "none": ([], everyone, {}, {}),
    "none, by max-ply 0": (["--max-ply", "0"], everyone, {}, {}),
    "max-ply": (["--max-ply", "5"], everyone, {"max_ply": 5}, {}),
    "max-ply 1": (["--max-ply", "1"], everyone, {"max_ply": 1}, {}),
    "min-elo": (["--min-elo", "2300"], rated(2300), {}, {}),
    "from a day": (["--date", "2005.06.15.."], since("2005", "06", "15"), {}, {}),
    "from a year": (["--date", "2005.."], since("2005", "00", "00"), {}, {}),
    "to a month": (["--date", "..2005-06"], until("2005", "06", "31"), {}, {}),
    "player": (["--player", "MÜLLER"], of("Müller"), {}, {}),
    "player and side": (["--player", "carlsen", "--player-side", "black"], of("Carlsen", "Black"), {}, {}),
    "only player": (["--player", "Anand", "--only", "player"], of("Anand"), {"only": "player", "player": "Anand"}, {}),
    "only white": (["--only", "white"], everyone, {"only": "white"}, {}),
    "min-games": (["--min-games", "4"], everyone, {}, {"min_games": 4}),
    "min-score": (["--min-score", "62.5"], everyone, {}, {"min_score": 62.5}),
    "uniform": (["--uniform"], everyone, {}, {"uniform": True}),
    "strict": (["--strict"], lambda game: not game.broken, {}, {}),
    "finished": (["--finished"], lambda game: game.result != "*", {}, {}),
    "many": (
        "--finished --strict --max-ply 20 --min-elo 1900 --only black --min-games 1 --min-score 50".split(),
        many, {"max_ply": 20, "only": "black"}, {"min_games": 1, "min_score": 50},
    ),
}  # fmt: skip


@pytest.fixture(scope="session")
def mixed(tmp_path_factory):
    games = random_games(500, seed=11, mixed=True)
    path = tmp_path_factory.mktemp("mixed") / "games.pgn"
    path.write_text(pgn(games, random.Random(11)), encoding="utf-8")
    return path, games


@pytest.mark.parametrize("name", FILTERS)
def test_filters_leave_what_python_chess_leaves(build, mixed, name):
    path, games = mixed
    args, admits, counting, weighing = FILTERS[name]
    chosen = [game for game in games if admits(game)]
    expected = weighed(counted(chosen, **counting), **weighing)
    assert expected and (name.startswith("none") or len(chosen) < len(games) or counting or weighing)
    assert read_book(build(path, *args)[0]) == expected


def test_python_chess_reads_the_same_games(mixed):
    """What the other tests take for the games' moves is what python-chess reads in their text."""
    _, games = mixed
    file = io.StringIO(pgn(games))
    for game in games:
        read = chess.pgn.read_game(file)
        moves, null_move = list(read.mainline_moves()), [chess.Move.null()] * (game.broken == "--")
        assert (moves, read.headers["Result"]) == (game.moves + null_move, game.result)
        assert bool(read.errors) == (game.broken in ("Ke4", "Qxxh8", "Sf3"))


def test_the_report_counts_every_game_and_names_the_first_of_each_problem(build, mixed):
    path, games = mixed
    _, told = build(path)
    lines = told.splitlines()
    plies = sum(len(game.moves) for game in games)
    assert lines[0] == f"{len(games)} games read, {len(games)} used, {plies} plies"
    by_words = {"illegal move": ["Ke4"], "null move": ["--"], "unreadable move": ["Sf3", "Qxxh8"]}
    source = path.read_text(encoding="utf-8").splitlines()
    for reason, words in by_words.items():
        count = sum(game.broken in words for game in games)
        line = next(line for line in lines if f": {reason}, first {path}: line " in line)
        assert line.startswith(f"{count} games used up to the error: ")
        at = int(line.split(": line ")[1].split(":")[0])
        assert any(word in source[at - 1] for word in words)
        earlier = "\n".join(source[: at - 1]).split()
        assert not any(word in earlier for word in words)
    _, told = build(path, "--strict")
    broken = sum(bool(game.broken) for game in games)
    assert told.startswith(f"{len(games)} games read, {len(games) - broken} used, ")
