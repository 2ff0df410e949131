"""Scid's databases: games as they were written, beside Scid's own export, and what commands do with broken files."""

import json
import random
import resource
import subprocess

import chess
import chess.pgn
import pytest

import scid_writer
from branched_games import with_remarks, with_variations
from client import find_tool, times
from compare_games import remarks, tree
from readers import read_scid

# A database of few games, which Scid creates, fills and closes.
CREATE = "sc_base create SCID4 [lindex $argv 0]\nputs [sc_base import [sc_base current] [lindex $argv 1]]\nsc_base close [sc_base current]\nexit\n"
# More than any command needs for a database of a few kilobytes.
MOST_MEMORY = 3 << 30


def read(text):
    games = list(iter(lambda: chess.pgn.read_game(text), None))
    assert not [error for game in games for error in game.errors]
    return games


def same(games, others):
    """Games are equal in tags, start, moves, variations, comments and glyphs."""
    for number, (game, other) in enumerate(zip(games, others, strict=True), 1):
        assert dict(game.headers) == dict(other.headers), number
        assert game.board() == other.board() and tree(game) == tree(other), number
        assert game.comment.split() == other.comment.split(), number
        assert remarks(game) == remarks(other), number


def made(count, ends):
    """Random games from ordinary and other starts, with what is said of them."""
    chance = random.Random(11)
    games = []
    for number in range(count):
        board = chess.Board()
        if number % 4 == 1:
            board = chess.Board("r3k2r/pP4p1/1n1q1b2/2p1p3/2P1P3/1N1Q1B2/Pp4P1/R3K2R w KQkq - 0 12")
        elif number % 4 == 2 and ends == "si5":
            board = chess.Board.from_chess960_pos(chance.randrange(960))
        game = with_remarks(chance, with_variations(chance, number, board))
        game.headers.update(Date=chance.choice(["2024.03.09", "1999.??.??", "????.??.??"]), White=f"Müller, K{number % 7}", Round=str(number % 9), ECO="C50")
        game.headers.update(TimeControl="40/7200:3600", Annotator="Jürgen") if number % 3 else None
        games.append(game)
    return games


def exported(tabiya, tmp_path, database, *args):
    done = tabiya("export", database, "-o", "out.pgn", "--force", *args)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "out.pgn", encoding="utf-8") as text:
        return read(text)


@pytest.mark.parametrize("end", ["si4", "si5"])
def test_games_are_read_as_they_were_written(tabiya, tmp_path, end):
    games = made(32, end)
    database = scid_writer.write(tmp_path / f"made.{end}", games, deleted={7})
    kept = [game for number, game in enumerate(games, 1) if number != 7]
    same(exported(tabiya, tmp_path, database), kept)
    same(exported(tabiya, tmp_path, database, "--deleted"), games)
    same([game for _, game in read_scid.games(database)], kept)
    assert tabiya("check", database).stdout.endswith(f"made.{end}: sound\n".encode())
    told = json.loads(tabiya("info", database.with_suffix(f".sn{end[-1]}"), "--json").stdout)
    assert (told["format"], told["games"], told["deleted"], told["players"]) == (end, 31, 1, 39)
    assert told["set_up"] == sum("FEN" in game.headers for game in kept)


@pytest.mark.parametrize("end", ["si4", "si5"])
def test_commands_do_the_same_with_a_database_and_with_its_pgn(tabiya, tmp_path, end):
    scid_writer.write(tmp_path / f"made.{end}", made(24, end), deleted={7})
    (tmp_path / "base").mkdir()
    for path in tmp_path.glob("made.*"):
        path.rename(tmp_path / "base" / path.name.upper())
    assert tabiya("export", f"base/MADE.{end.upper()}", "-o", "all.pgn").returncode == 0
    # The whole folder, and one file of the database.
    sources = ("base", f"base/MADE.SG{end[-1]}", "all.pgn")
    for args in (
        ("build", "-o", "OUT.bin", "--min-games", "1"),
        ("build", "-o", "OUT.ctg", "--min-games", "1", "--variations"),
        ("build", "-o", "OUT.bin", "--repertoire", "white"),
        ("build", "-o", "OUT.bin", "--player", "Müller, K3", "--min-games", "1", "--min-elo", "2000"),
        ("suite", "-o", "OUT.epd", "--ply", "2", "--min-games", "1"),
    ):
        found = []
        for number, source in enumerate(sources):
            words = [word.replace("OUT", f"out{number}") for word in args]
            done = tabiya(*words, source, "--force")
            assert done.returncode in (0, 1), (args, done.stderr)
            name = next(word for word in words if word.startswith("out"))
            found.append((tmp_path / name).read_bytes())
        assert found[0] == found[1] == found[2] and found[0], args


def test_missing_files_and_other_variants_are_answered_with_what_to_do(tabiya, tmp_path):
    scid_writer.write(tmp_path / "a.si4", made(3, "si4"))
    done = tabiya("build", "a.si4", "-o", "a.bin", "--variant", "atomic")
    assert done.returncode == 2 and b"databases hold standard chess only" in done.stderr
    done = tabiya("export", "a.si4", "--texts", "texts")
    assert done.returncode == 2 and b"--texts is for databases with texts" in done.stderr
    for name, words in (("a.sn4", b"the names of the database a.si4 are missing"), ("a.sg4", b"the games of the database a.si4 are missing"), ("a.si4", b"name its .si4 file")):
        (tmp_path / name).rename(tmp_path / "kept")
        for command in (("export", "a.sg4"), ("info", "a.si4"), ("check", "a.si4"), ("build", "a.sn4", "-o", "b.bin")):
            done = tabiya(*command)
            assert done.returncode == 3 and words in done.stderr and name.encode() in done.stderr, done.stderr
        # In a folder it is reported, and the other games are read.
        (tmp_path / "b.pgn").write_text("1. e4 e5 1-0\n")
        done = tabiya("build", ".", "-o", "b.bin", "--min-games", "1", "--force")
        assert done.returncode == 1 and words in done.stderr.replace(b"./", b"") and b"1 game read" in done.stdout
        (tmp_path / "kept").rename(tmp_path / name)


def test_games_equal_the_export_of_scid_itself(tabiya, tmp_path):
    tool, exporter = (find_tool(name, "/usr/games") for name in ("tkscid", "scidpgn"))
    if not tool or not exporter:
        pytest.skip("there is no Scid")
    games = made(32, "si4")
    (tmp_path / "made.pgn").write_text("\n\n".join(map(str, games)) + "\n", encoding="utf-8")
    (tmp_path / "create.tcl").write_text(CREATE)
    environment = {"PATH": "/usr/games:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(tmp_path)}
    run = {"cwd": tmp_path, "env": environment, "check": True, "capture_output": True, "timeout": 300}
    done = subprocess.run([tool, "create.tcl", "base", "made.pgn"], **run)
    assert done.stdout.startswith(b"32 "), done
    (tmp_path / "scids.pgn").write_bytes(subprocess.run([exporter, "base"], **run).stdout)
    with open(tmp_path / "scids.pgn", encoding="utf-8") as text:
        same(exported(tabiya, tmp_path, tmp_path / "base.si4"), read(text))
    # Scid opens what the tests write, too.
    scid_writer.write(tmp_path / "own.si4", games)
    (tmp_path / "scids.pgn").write_bytes(subprocess.run([exporter, "own"], **run).stdout)
    with open(tmp_path / "scids.pgn", encoding="utf-8") as text:
        same(games, read(text))


def broken(chance, files):
    """The files with a few bytes changed, inserted or cut off."""
    files = dict(files)
    for _ in range(chance.randint(1, 4)):
        name = chance.choice(list(files))
        data = bytearray(files[name])
        at = chance.randrange(max(len(data), 1))
        kind = chance.random()
        if kind < 0.15:
            del data[at:]
        elif kind < 0.3:
            data[at:at] = chance.randbytes(chance.randint(1, 4))
        elif data:
            data[at] = chance.randrange(256)
        files[name] = bytes(data)
    return files


@pytest.mark.parametrize("end", ["si4", "si5"])
def test_broken_files_end_no_command_in_disorder(tabiya, tmp_path, end):
    chance = random.Random(5)
    database = scid_writer.write(tmp_path / f"a.{end}", made(12, end))
    sound = {path.name: path.read_bytes() for path in tmp_path.glob("a.s*")}

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

    for number in range(times(30, 10_000)):
        for name, data in broken(chance, sound).items():
            (tmp_path / name).write_bytes(data)
        command = (("export", database), ("check", database), ("build", database, "-o", "a.bin", "--force"), ("info", database))[number % 4]
        done = tabiya(*command, preexec_fn=limit)
        assert done.returncode in (0, 1, 3), (number, done.stderr)
