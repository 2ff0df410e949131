"""ChessBase databases: their games beside ChessBase's own export, and what the commands say of them."""

import gzip
import json
import shutil

import chess.pgn
import pytest

from compare_games import is_branched, remarks, tree

SAME = ("White", "Black", "Date", "Result", "Event", "Site", "ECO", "WhiteElo", "BlackElo")


@pytest.fixture
def samples(sample):
    return sample("cbh")


def read(path):
    with open(path, encoding="utf-8") as text:
        games = list(iter(lambda: chess.pgn.read_game(text), None))
    assert not [error for game in games for error in game.errors]
    return games


def exported(tabiya, tmp_path, database, *args):
    done = tabiya("export", database, "-o", tmp_path / "out.pgn", "--force", *args)
    assert done.returncode == 0, done.stderr
    return read(tmp_path / "out.pgn")


@pytest.mark.parametrize(
    "database, pgn, number",
    [
        ("WithVariations/WithVariations.cbh", "WithVariations/GamesWithVariations.pgn", 28),
        ("Chess960Biel/Chess960Biel.cbh", "Chess960Biel/Chess960.pgn", 188),
        ("UnusualStart/UnusualStartBytes.cbh", "UnusualStart/UnusualStart.pgn", 9),
    ],
)
def test_games_equal_the_export_of_chessbase(tabiya, tmp_path, samples, database, pgn, number):
    ours, theirs = exported(tabiya, tmp_path, samples / database), read(samples / pgn)
    assert len(ours) == len(theirs) == number
    for one, other in zip(ours, theirs, strict=True):
        assert tree(one) == tree(other)
        assert one.board() == other.board()
        for tag in SAME:
            assert one.headers.get(tag) == other.headers.get(tag), tag
        # The games of Chess960 came from a PGN whose boards have become subrounds.
        board = other.headers.get("Board")
        assert one.headers["Round"] == other.headers["Round"] + (f".{board}" if board else "")
        # ChessBase stores no clock that has run out, and does not write every team.
        for tag in ("WhiteTeam", "BlackTeam", "WhiteClock", "BlackClock", "Annotator"):
            if other.headers.get(tag, "0:00:00") != "0:00:00":
                assert one.headers.get(tag) == other.headers[tag], tag
        if not board:
            assert remarks(one) == remarks(other)
    print(f"{database}: {number} / {number}")


def test_every_game_of_twic1134_and_linares_is_legal(tabiya, tmp_path, samples):
    games = exported(tabiya, tmp_path, samples / "twic1134" / "twic1134.cbh", "--numbers", "1-400")
    assert len(games) == 400 and all(game.headers["WhiteElo"].isdigit() for game in games[:3])
    games = exported(tabiya, tmp_path, samples / "linares" / "linares.cbh")
    branched = [game for game in games if is_branched(game)]
    assert (len(games), len(branched)) == (503, 388)


def test_a_book_from_a_database_and_from_its_pgn_has_the_same_bytes(tabiya, tmp_path, samples):
    database = samples / "twic1134" / "twic1134.cbh"
    assert tabiya("export", database, "-o", "all.pgn").returncode == 0
    for args in ((), ("--min-elo", "2400"), ("--player", "carlsen", "--min-games", "1"), ("--date", "2016.08..")):
        for source, book in ((database, "a.bin"), ("all.pgn", "b.bin")):
            done = tabiya("build", source, "-o", book, "--force", *args)
            assert done.returncode in (0, 1), done.stderr
        assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes(), args


def test_variations_are_built_in_where_they_are_wanted(tabiya, samples):
    database = samples / "linares" / "linares.cbh"
    counts = []
    for args in ((), ("--variations",)):
        done = tabiya("build", database, "-o", "a.bin", "--force", "--min-games", "1", *args)
        assert done.returncode == 0, done.stderr
        counts.append(int(done.stdout.decode().split(" plies")[0].rsplit(" ", 1)[1]))
    assert counts[1] > counts[0] * 1.1


def test_the_choices_leave_out_what_they_say(tabiya, tmp_path, samples):
    database = samples / "linares" / "linares.cbh"
    games = exported(tabiya, tmp_path, database, "--mainline", "--no-annotations", "--numbers", "10-19")
    assert len(games) == 10
    for game in games:
        assert not game.comment
        assert all(len(node.variations) == 1 and not node.comment and not node.nags for node in list(game.mainline())[:-1])
    text = tabiya("export", database, "--numbers", "3").stdout.decode()
    assert text.count("[Event ") == 1 and all(len(line) < 80 for line in text.split("\n\n", 1)[1].splitlines())
    assert tabiya("export", database, "--numbers", "9-3").returncode == 2
    (tmp_path / "here.pgn").write_text("mine")
    done = tabiya("export", database, "-o", "here.pgn")
    assert done.returncode == 3 and b"exists already" in done.stderr
    assert (tmp_path / "here.pgn").read_text() == "mine"


def test_info_and_check_know_databases(tabiya, tmp_path, samples):
    database = samples / "twic1134" / "twic1134.cbh"
    line = json.loads(tabiya("info", database, "--json").stdout)
    assert (line["format"], line["games"], line["players"], line["modes"]) == ("cbh", 6117, 2737, [{"mode": 0, "games": 6117}])
    assert "  tournaments      48\n" in tabiya("info", database).stdout.decode()
    done = tabiya("check", database)
    assert done.returncode == 0 and done.stdout.decode().endswith("twic1134.cbh: sound\n")
    for path in database.parent.iterdir():
        shutil.copyfile(path, tmp_path / path.name)
    (tmp_path / "twic1134.cbg").write_bytes(database.with_suffix(".cbg").read_bytes()[:300_000])
    done = tabiya("check", "twic1134.cbh")
    assert done.returncode == 1
    assert b"twic1134.cbh: error: game " in done.stdout and b" of twic1134.cbg)" in done.stdout
    done = tabiya("export", "twic1134.cbh", "-o", "rest.pgn")
    assert done.returncode == 1 and b"games with moves lost: damaged" in done.stderr
    assert len(read(tmp_path / "rest.pgn")) == 6117
    (tmp_path / "twic1134.cbg").unlink()
    done = tabiya("export", "twic1134.cbh")
    assert done.returncode == 3 and b"the moves of the database twic1134.cbh are missing" in done.stderr


def test_other_formats_are_answered_with_what_to_do(tabiya, tmp_path):
    for name, words in (("a.2cbh", b"save it as a CBH database"), ("a.cbv", b"unlock it in ChessBase"), ("a.cbz", b"unpack it first"), ("a.si3", b"export its games as PGN")):
        (tmp_path / name).write_bytes(b"\0" * 100)
        for command in (("export", name), ("info", name), ("check", name), ("build", name, "-o", "b.bin")):
            done = tabiya(*command)
            assert done.returncode == 3 and words in done.stderr, done.stderr


def test_a_database_is_never_written_over(tabiya, tmp_path, samples):
    for part in (samples / "linares").iterdir():
        shutil.copyfile(part, tmp_path / part.name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    database = tmp_path / "linares.cbh"
    # The last is another program's, which ChessBase does not know.
    for name in before.keys() - {"linares.pgi"}:
        assert tabiya("export", database, "-o", tmp_path / name, "--force").returncode == 2
        (tmp_path / "link.pgn").symlink_to(tmp_path / name)
        (tmp_path / "link.bin").hardlink_to(tmp_path / name)
        for argv in (["export", database, "-o", tmp_path / "link.pgn"], ["build", database, "-o", tmp_path / "link.bin"]):
            done = tabiya(*argv, "--force")
            assert done.returncode == 2 and b"would replace an input of the command" in done.stderr, argv
        (tmp_path / "link.pgn").unlink()
        (tmp_path / "link.bin").unlink()
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before, name


def test_games_are_packed_as_their_name_says(tabiya, tmp_path, samples):
    database = samples / "linares" / "linares.cbh"
    outputs = {end: tmp_path / f"out.pgn{end}" for end in ("", ".gz", ".zst")}
    for path in outputs.values():
        assert tabiya("export", database, "-o", path).returncode == 0
    plain = outputs[""].read_bytes()
    assert gzip.decompress(outputs[".gz"].read_bytes()) == plain
    assert tabiya("export", database, "-o", "-").stdout == plain
    books = [tmp_path / f"{at}.bin" for at in range(3)]
    for path, book in zip(outputs.values(), books):
        assert tabiya("build", path, "-o", book).returncode == 0
    assert len({book.read_bytes() for book in books}) == 1
    done = tabiya("export", database, "-o", tmp_path / "out.txt")
    assert done.returncode == 2 and b"end the name with .pgn" in done.stderr
