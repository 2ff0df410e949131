"""Count files: builds of several machines, with DuckDB as one of them."""

import bz2
import gzip
import hashlib
import json
import os
import random
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot
import duckdb
import pytest

from client import START
from conftest import linux_only

PAGE = Path(__file__).parents[2] / "docs/guide/count-files.md"
GAMES = 320
SHARDS = 8
BOUNDS = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500]
SPEEDS = {
    "15+0": "ultrabullet",
    "60+0": "bullet",
    "180+2": "blitz",
    "600+5": "rapid",
    "1800+20": "classical",
    "-": "correspondence",
    "?": None,
    None: None,
}


def random_game(rng):
    """Moves that others have played too: the first of the sorted ones mostly."""
    board = chess.Board()
    game = chess.pgn.Game()
    game.headers["Result"] = rng.choice(["1-0", "0-1", "1/2-1/2", "1/2-1/2"])
    control = rng.choice(list(SPEEDS))
    ratings = [rng.choice([None, *range(900, 2700, 50)]) for _ in range(2)]
    for name, value in zip(("TimeControl", "WhiteElo", "BlackElo"), (control, *ratings)):
        if value is not None:
            game.headers[name] = str(value)
    node = game
    while not board.is_game_over() and board.ply() < 40:
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        mv = moves[min(int(rng.expovariate(0.9)), len(moves) - 1)]
        board.push(mv)
        node = node.add_main_variation(mv)
    return game


def code(board, mv):
    """The move as Polyglot codes it."""
    to = mv.to_square
    if board.is_castling(mv):
        to = chess.square(7 if board.is_kingside_castling(mv) else 0, chess.square_rank(mv.from_square))
    return ((mv.promotion or 1) - 1) << 12 | mv.from_square << 6 | to


def part(game):
    """The game's speed and band of ratings."""
    ratings = [int(game.headers.get(name, 0)) for name in ("WhiteElo", "BlackElo")]
    band = max(bound for bound in BOUNDS if 2 * bound <= sum(ratings)) if all(ratings) else None
    return SPEEDS[game.headers.get("TimeControl")], band


def counted(games, ends=False, by=lambda game: ()):
    """Wins, draws and losses of each move, counted by python-chess; with `ends`, of no move where games ended."""
    counts = defaultdict(lambda: [0, 0, 0])
    for game in games:
        board = game.board()
        for mv in [*game.mainline_moves(), *([None] if ends else [])]:
            at = {"1-0": 0, "0-1": 2, "1/2-1/2": 1}[game.headers["Result"]]
            if board.turn == chess.BLACK:
                at = 2 - at
            counts[(chess.polyglot.zobrist_hash(board), code(board, mv) if mv else 0, *by(game))][at] += 1
            if mv:
                board.push(mv)
    return {what: tuple(counts) for what, counts in counts.items()}


@pytest.fixture(scope="module")
def games():
    rng = random.Random(20)
    return [random_game(rng) for _ in range(GAMES)]


@pytest.fixture(scope="module")
def texts(games):
    return [f"{game}\n\n" for game in games]


@pytest.fixture
def pgn(texts, tmp_path):
    """The games in files of their own, and all in one."""
    (tmp_path / "all.pgn").write_text("".join(texts))
    (tmp_path / "pgn").mkdir()
    for shard in range(SHARDS):
        (tmp_path / "pgn" / f"{shard}.pgn").write_text("".join(texts[shard::SHARDS]))
    return tmp_path / "all.pgn"


@pytest.fixture
def done(tabiya):
    """Runs a command that must succeed; returns what it printed."""

    def call(*args):
        ended = tabiya(*args)
        assert ended.returncode == 0, ended.stderr.decode()
        return ended.stdout.decode()

    return call


@pytest.fixture
def refused(tabiya):
    """Runs a command that must be refused; returns why."""

    def call(code, *args):
        ended = tabiya(*args)
        assert ended.returncode == code, (ended.stdout, ended.stderr)
        return ended.stderr.decode()

    return call


@pytest.fixture
def shards(pgn, done, tmp_path):
    (tmp_path / "shards").mkdir()
    for shard in range(SHARDS):
        done("build", "-o", f"shards/{shard}.parquet", f"pgn/{shard}.pgn")
    return tmp_path / "shards"


@pytest.fixture
def duck(tmp_path):
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{tmp_path}'")
        yield connection


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def queries():
    """The queries that the documentation shows."""
    found = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(found) == 2
    return found


def query(tmp_path):
    """The one that adds up."""
    # DuckDB writes where the process works, which is not the test's folder.
    return queries()[0].replace("TO 'all.parquet'", f"TO '{tmp_path}/duck.parquet'")


def test_pandas_counts_games_and_wins_as_tabiya_does(pgn, done, duck, tmp_path, monkeypatch, capsys):
    pandas = pytest.importorskip("pandas")
    [code] = re.findall(r"```python\n(import pandas\n.*?)```", PAGE.read_text(), re.DOTALL)
    done("build", "-o", "all.parquet", pgn)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(code, names)
    sums = names["sums"].assign(games=names["sums"].sum(axis=1))
    assert str(sums.index.size) in capsys.readouterr().out
    query = "SELECT key, move, sum(wins), sum(draws), sum(losses), sum(wins + draws + losses) FROM 'all.parquet' GROUP BY key, move ORDER BY key, move"
    assert [tuple(map(int, row)) for row in duck.execute(query).fetchall()] == [tuple(map(int, row)) for row in sums.reset_index().itertuples(index=False)]
    assert all(pandas.api.types.is_integer_dtype(kind) for kind in sums.dtypes)


def test_shards_merged_by_tabiya_and_by_duckdb_give_the_book_of_one_build(shards, pgn, done, duck, tmp_path):
    for weigh in ([], ["--min-games", "1"], ["--uniform", "--min-score", "20"]):
        done("build", pgn, "-o", "one.bin", "--force", *weigh)
        expected = sha(tmp_path / "one.bin")
        done("merge", "-o", "all.parquet", "--force", *sorted(shards.iterdir()))
        duck.execute(query(tmp_path))
        for source in (["all.parquet"], ["duck.parquet"], ["shards"], ["shards/0.parquet", *sorted(pgn.parent.glob("pgn/[1-7].pgn"))]):
            done("build", *source, "-o", "book.bin", "--force", *weigh)
            assert sha(tmp_path / "book.bin") == expected, source
    # The count files themselves are the same too, however they came about.
    done("build", "-o", "once.parquet", pgn)
    done("merge", "-o", "again.parquet", "duck.parquet", "--threads", "2", "--memory", "16M")
    assert sha(tmp_path / "all.parquet") == sha(tmp_path / "once.parquet") == sha(tmp_path / "again.parquet")


def test_merging_is_associative(shards, done, tmp_path):
    files = sorted(shards.iterdir())
    done("merge", "-o", "a.parquet", *files[5:], files[0])
    done("merge", "-o", "b.parquet", files[3], "a.parquet")
    done("merge", "-o", "one.parquet", "b.parquet", *files[1:3], files[4])
    done("merge", "-o", "all.parquet", *files)
    assert sha(tmp_path / "one.parquet") == sha(tmp_path / "all.parquet")


def test_the_counts_are_those_of_python_chess(games, pgn, done, duck, tmp_path):
    printed = done("build", "-o", "all.parquet", pgn)
    rows = duck.execute("SELECT key, move, wins, draws, losses FROM 'all.parquet'").fetchall()
    expected = counted(games, True)
    assert {(key, mv): tuple(counts) for key, mv, *counts in rows} == expected
    assert [row[:2] for row in rows] == sorted(expected)
    keys = {key for key, _ in expected}
    plies = sum(sum(counts) for (_, mv), counts in expected.items() if mv)
    assert f"all.parquet: {len(rows)} rows, {len(keys)} positions, {plies} plies" in printed
    types = duck.execute("DESCRIBE SELECT * FROM 'all.parquet'").fetchall()
    assert [(name, kind) for name, kind, *_ in types] == [
        ("key", "UBIGINT"),
        ("move", "USMALLINT"),
        *((name, "UBIGINT") for name in ("wins", "draws", "losses")),
        ("position", "BLOB"),
    ]
    info = json.loads(done("info", "--json", "all.parquet"))
    assert (info["format"], info["entries"], info["positions"]) == ("counts", len(rows), len(keys))
    assert (info["games"], info["wins"] + info["draws"] + info["losses"]) == (GAMES, plies)
    assert info["holds_positions"] and info["version"] == 1 and not info["damages"] and not info["oddities"]
    assert f"plies            {plies} (" in done("info", "all.parquet")
    assert done("check", "all.parquet") == "all.parquet: sound\n"


def test_positions_go_through_duckdb(pgn, done, duck, tmp_path):
    for shard in range(SHARDS):
        done("build", "-o", f"{shard}.parquet", f"pgn/{shard}.pgn")
    done("build", "-o", "all.parquet", pgn)
    duck.execute(query(tmp_path).replace("shards/*.parquet", "[0-7].parquet"))
    done("merge", "-o", "again.parquet", "duck.parquet")
    assert sha(tmp_path / "again.parquet") == sha(tmp_path / "all.parquet")
    # Books of formats that need positions, and count games where they ended, are the same too.
    for name in ("book.ctg", "book.abk"):
        done("build", pgn, "-o", f"one-{name}", "--min-games", "1")
        done("build", "again.parquet", "-o", f"two-{name}", "--min-games", "1")
        assert sha(tmp_path / f"one-{name}") == sha(tmp_path / f"two-{name}"), name
    # One file without them leaves none, and nothing of what only they need.
    for name, files in (("keys", "0"), ("rest", "[1-7]")):
        without = query(tmp_path).replace("AS losses,", "AS losses").replace("any_value(position) AS position", "")
        duck.execute(without.replace("shards/*.parquet", f"{files}.parquet"))
        (tmp_path / "duck.parquet").rename(tmp_path / f"{name}.parquet")
    positions = [f"{shard}.parquet" for shard in range(1, SHARDS)]
    assert "left out: the positions" in done("merge", "-o", "both.parquet", "keys.parquet", *positions)
    done("merge", "-o", "neither.parquet", "keys.parquet", "rest.parquet")
    assert sha(tmp_path / "both.parquet") == sha(tmp_path / "neither.parquet")


@pytest.mark.parametrize(
    "how",
    ["COMPRESSION snappy", "COMPRESSION zstd", "COMPRESSION gzip", "COMPRESSION lz4_raw", "COMPRESSION uncompressed",
     "COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 2048", "COMPRESSION snappy, PARQUET_VERSION v2"],
)  # fmt: skip
def test_what_duckdb_writes_is_read(how, pgn, done, duck, tmp_path):
    done("build", "-o", "all.parquet", pgn)
    # Other types and another order of columns and rows, a column more, and rows of their own for wins.
    duck.execute(
        f"""COPY (
            SELECT 'x' AS site, losses::INTEGER AS losses, draws::DECIMAL(38, 0) AS draws, 0::UTINYINT AS wins,
                move::BIGINT AS "MOVE", key::DECIMAL(20, 0) AS key, position FROM 'all.parquet'
            UNION ALL SELECT NULL, 0, 0, wins, move, key, position FROM 'all.parquet' WHERE wins > 0
            ORDER BY losses, hash(key)
        ) TO '{tmp_path}/other.parquet' (FORMAT parquet, {how})"""
    )
    done("merge", "-o", "again.parquet", "other.parquet")
    assert sha(tmp_path / "again.parquet") == sha(tmp_path / "all.parquet")
    assert " rows that are not sorted by key and move (first at byte 4 of other.parquet)" in done("check", "other.parquet")


def test_what_cannot_be_counts_is_refused(shards, refused, duck, tmp_path):
    def written(select, more="", code=3):
        duck.execute(f"COPY (SELECT {select} FROM 'shards/*.parquet') TO '{tmp_path}/x.parquet' (FORMAT parquet{more})")
        return refused(code, "build", "x.parquet", "-o", "x.bin")

    said = written("key, move, sum(wins) OVER () AS wins, draws, losses")
    assert 'the column "wins" holds DOUBLE numbers, which are not exact: write it as whole numbers, with CAST(sum(' in said
    # Rows before such a one would count.
    said = written("key, move, wins::BIGINT - 99999 AS wins, draws, losses", code=1)
    assert re.search(r"x\.parquet: damaged: row \d+, counted from 0: wins is -\d+, but cannot be negative", said)
    said = written("key, move, wins, draws, NULL::BIGINT AS losses", code=1)
    assert "row 0, counted from 0: a value is missing (NULL)" in said
    said = written("key, move, wins, draws", more="")
    assert 'this Parquet file has no column "losses"' in said
    said = written("key, 40000 AS move, wins, draws, losses", code=1)
    assert "move is 40000, which is not the code of a move" in said
    said = written("*", more=", COMPRESSION brotli", code=1)
    assert "is compressed with BROTLI: write it with snappy, zstd" in said
    assert not (tmp_path / "x.bin").exists()


def test_options_that_do_not_go_together_are_refused(pgn, shards, refused, done, tmp_path):
    for option in (["--min-games", "3"], ["--min-score", "1"], ["--uniform"]):
        said = refused(2, "build", "-o", "x.parquet", pgn, *option)
        assert said.startswith(f"tabiya: {option[0]} changes weights, but a count file keeps all"), said
    for option in (["--eco", pgn], ["--repertoire", "white"], ["--green", "5"]):
        assert option[0] in refused(2, "build", "-o", "x.parquet", pgn, *option)
    assert "--rating work on those" in refused(2, "build", "-o", "x.bin", "shards", "--max-ply", "3")
    assert "not a count file" in refused(3, "merge", "-o", "x.parquet", "shards/0.parquet", pgn)
    assert "a count file cannot be edited" in refused(2, "edit", "shards/0.parquet", "--set", "e4=5")
    assert "only Polyglot books can keep results" in refused(2, "learn", "games", "shards/0.parquet", pgn, "--player", "x")
    assert "exists already" in refused(3, "merge", "-o", "shards/0.parquet", "shards/1.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.pgn", "pgn", "shards"]
    # Filters act on games, those of count files being counted already.
    done("build", "-o", "short.parquet", pgn, "--max-ply", "2")
    info = json.loads(done("info", "--json", "short.parquet"))
    assert info["wins"] + info["draws"] + info["losses"] == 2 * GAMES


def test_count_files_are_books(games, shards, done, duck, tabiya, tmp_path):
    """Positions are found in place in our file, in a folder, and in DuckDB's, by the counts of python-chess."""
    done("merge", "-o", "all.parquet", "shards")
    for name, order in (("duck", "key"), ("wrong", "key DESC")):
        table = f"TO '{tmp_path}/{name}.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048)"
        duck.execute(f"COPY (SELECT * FROM 'all.parquet' ORDER BY {order}) {table}")
    counts = counted(games)
    for game in games[:6]:
        board = chess.Board()
        for ply, mv in enumerate(game.mainline_moves()):
            fen = board.fen()
            for book in ("all.parquet", "shards", "duck.parquet"):
                line = json.loads(done("show", book, "--fen", fen, "--json"))
                assert line["format"] == "counts"
                key = chess.polyglot.zobrist_hash(board)
                found = {
                    code(board, chess.Move.from_uci(move["uci"])): (move["wins"], move["draws"], move["losses"])
                    for move in line["moves"]
                }
                assert found == {at: wanted for (known, at), wanted in counts.items() if known == key}
                assert all(2 * move["wins"] + move["draws"] == move["weight"] for move in line["moves"])
            board.push(mv)
            if ply > 11:
                break
    assert tabiya("show", "all.parquet", "--fen", "8/8/8/4k3/8/4K3/8/8 w - - 0 1").returncode == 1
    wrong = tabiya("show", "wrong.parquet")
    assert wrong.returncode == 3 and b"it is not sorted by key: sort it; `tabiya merge" in wrong.stderr
    done("convert", "all.parquet", "-o", "all.bin")
    with chess.polyglot.open_reader(tmp_path / "all.bin") as reader:
        for entry in reader.find_all(chess.Board()):
            wins, draws, _ = counts[(chess.polyglot.zobrist_hash(chess.Board()), entry.raw_move)]
            assert entry.weight == 2 * wins + draws


@pytest.mark.parametrize("book", ["shards/0.parquet", "shards"])
def test_the_adapter_plays_from_count_files(book, shards, adapter, tmp_path):
    client = adapter("--book", tmp_path / book, "--set", "Book Threshold=0")
    client.start()
    answer = client.go("movetime 10", START)
    assert answer.book["file"].endswith(Path(book).name)
    assert chess.Move.from_uci(answer.move) in chess.Board().legal_moves


def test_broken_count_files_are_refused_or_reported(shards, tabiya, tmp_path):
    whole = (shards / "0.parquet").read_bytes()
    rng = random.Random(1)
    broken = [whole[: rng.randrange(len(whole))] for _ in range(10)]
    for _ in range(60):
        changed = bytearray(whole)
        for _ in range(rng.choice((1, 3, 30))):
            changed[rng.randrange(4, len(whole))] = rng.randrange(256)
        broken.append(bytes(changed))
    ends = defaultdict(int)
    assert tabiya("build", "shards/0.parquet", "-o", "whole.bin", "--min-games", "1").returncode == 0
    for number, data in enumerate(broken):
        (tmp_path / "x.parquet").write_bytes(data)
        checked = tabiya("check", "x.parquet")
        built = tabiya("build", "x.parquet", "-o", "x.bin", "--force", "--min-games", "1")
        assert checked.returncode in (0, 1, 3) and built.returncode in (0, 1, 3), number
        if built.returncode == 0 and checked.returncode != 0:
            # What is damaged is not needed for this format: the positions, or the end of a page.
            assert sha(tmp_path / "x.bin") == sha(tmp_path / "whole.bin"), (number, checked)
        assert checked.returncode != 0 or built.returncode == 0, (number, checked, built)
        if built.returncode == 3:
            assert b"x.parquet: " in built.stderr
        ends[checked.returncode] += 1
    assert ends[1] >= 5 and ends[3] >= 5, ends
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".tabiya")]


def rows(duck, file, columns="key, move, speed, rating"):
    """The counts of a file, by its other columns."""
    found = duck.execute(f"SELECT {columns}, wins, draws, losses FROM '{file}'").fetchall()
    assert len({row[:-3] for row in found}) == len(found)
    return {row[:-3]: row[-3:] for row in found}


def test_counts_by_speed_and_rating_are_those_of_python_chess_and_add_up(games, pgn, done, duck, tmp_path):
    done("build", "-o", "plain.parquet", pgn)
    done("build", "--by", "speed,rating", "-o", "both.parquet", pgn, "--memory", "16M", "--threads", "2")
    found = rows(duck, "both.parquet")
    assert found == counted(games, True, part)
    assert {speed for *_, speed, _ in found} == set(SPEEDS.values()) and {band for *_, band in found} >= {None, 1200, 1800, 2200}
    keys = [key for key, *_ in duck.execute("SELECT key FROM 'both.parquet'").fetchall()]
    assert keys == sorted(keys)
    types = {name: kind for name, kind, *_ in duck.execute("DESCRIBE SELECT * FROM 'both.parquet'").fetchall()}
    assert (types["speed"], types["rating"]) == ("VARCHAR", "USMALLINT")
    # By one of them, from the games or from the file by both.
    for name, at in (("speed", 0), ("rating", 1)):
        done("build", "--by", name, "-o", f"{name}.parquet", pgn)
        assert rows(duck, f"{name}.parquet", f"key, move, {name}") == counted(games, True, lambda game: part(game)[at : at + 1])
        said = done("merge", "both.parquet", "--by", name, "-o", f"{name}-again.parquet")
        assert "added up: each " in said
        assert sha(tmp_path / f"{name}-again.parquet") == sha(tmp_path / f"{name}.parquet")
    # By none of them.
    for number, source in enumerate((["both.parquet"], ["speed.parquet"], ["rating.parquet"])):
        done("merge", *source, "-o", f"{number}.parquet")
        assert sha(tmp_path / f"{number}.parquet") == sha(tmp_path / "plain.parquet")
        done("build", *source, "-o", "book.bin", "--force")
        done("build", "plain.parquet", "-o", "plain.bin", "--force")
        assert sha(tmp_path / "book.bin") == sha(tmp_path / "plain.bin")
    # Of parts, in any order.
    for shard in range(SHARDS):
        done("build", "--by", "rating,speed", "-o", f"part-{shard}.parquet", f"pgn/{shard}.pgn")
    parts = [f"part-{shard}.parquet" for shard in range(SHARDS)]
    done("merge", *reversed(parts), "--by", "speed,rating", "-o", "merged.parquet")
    assert sha(tmp_path / "merged.parquet") == sha(tmp_path / "both.parquet")
    assert done("check", "both.parquet") == "both.parquet: sound\n"
    info = json.loads(done("info", "--json", "both.parquet"))
    assert (info["by"], info["games"], info["entries"], info["version"]) == (["speed", "rating"], GAMES, len(found), 1)
    assert json.loads(done("info", "--json", "plain.parquet"))["by"] == []
    assert ", games by speed and rating\n" in done("info", "both.parquet")


FILTERS = [
    (["--speed", "blitz"], lambda speed, band: speed == "blitz"),
    (["--speed", "bullet,rapid"], lambda speed, band: speed in ("bullet", "rapid")),
    (["--rating", "1800,2000"], lambda speed, band: band in (1800, 2000)),
    (["--rating", "1400-2000"], lambda speed, band: band in (1400, 1600, 1800)),
    (["--rating", "2200+"], lambda speed, band: band in (2200, 2500)),
    (["--rating", "0-1200,2500", "--speed", "blitz,classical"], lambda speed, band: band in (0, 1000, 2500) and speed in ("blitz", "classical")),
]  # fmt: skip


@pytest.mark.parametrize("options, passes", FILTERS, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_count_files_are_filtered_as_games_are(options, passes, games, pgn, done, duck, tmp_path):
    done("build", "--by", "speed,rating", "-o", "all.parquet", pgn)
    expected = counted([game for game in games if passes(*part(game))], True)
    assert expected
    done("merge", "all.parquet", "-o", "merged.parquet", *options)
    done("build", "all.parquet", "-o", "built.parquet", *options)
    done("build", pgn, "-o", "games.parquet", *options)
    for name in ("merged", "built", "games"):
        assert rows(duck, f"{name}.parquet", "key, move") == expected, name
    for source in ("all.parquet", pgn):
        done("build", source, "-o", f"{source}.bin", "--min-games", "1", *options)
    assert sha(tmp_path / "all.parquet.bin") == sha(tmp_path / "all.pgn.bin")
    # Both at once: what is counted already, and games that are still to be counted.
    done("build", "all.parquet", pgn, "-o", "twice.parquet", *options)
    assert rows(duck, "twice.parquet", "key, move") == {row: tuple(2 * count for count in counts) for row, counts in expected.items()}


def test_the_query_for_speeds_gives_what_python_chess_counts(games, shards, pgn, done, duck):
    for shard in range(SHARDS):
        done("build", "--by", "speed", "-o", f"shards/{shard}.parquet", "--force", f"pgn/{shard}.pgn")
    found = duck.execute(queries()[1]).fetchall()
    start = chess.Board()
    first = (chess.polyglot.zobrist_hash(start), code(start, chess.Move.from_uci("e2e4")))
    counts = counted(games, by=lambda game: part(game)[:1])
    expected = {}
    for (key, mv, speed), (wins, draws, losses) in counts.items():
        if (key, mv) == first:
            total = wins + draws + losses
            expected[speed] = (total, round(100 * (wins + draws / 2) / total, 1))
    assert {speed: (total, score) for speed, total, score in found} == expected


def test_what_count_files_do_not_tell_apart_is_no_filter(shards, pgn, refused, done):
    for command in (["merge"], ["build"], ["build", pgn]):
        for options in (["--speed", "blitz"], ["--rating", "1800"]):
            said = refused(3, *command, "shards/0.parquet", "-o", "x.parquet" if command == ["merge"] else "x.bin", *options)
            assert "shards/0.parquet: this count file does not count games separately by" in said and "with --by speed,rating" in said
    assert "does not count games separately by rating" in refused(3, "merge", "shards", "-o", "x.parquet", "--by", "rating")
    assert "--by works only for count files" in refused(2, "build", pgn, "-o", "x.bin", "--by", "speed")
    assert "--speed works only for count files" in refused(2, "merge", "a.bin", "-o", "x.bin", "--speed", "blitz")
    assert "no band begins at" in refused(2, "build", pgn, "-o", "x.bin", "--rating", "1850")
    done("build", "--by", "speed", "-o", "speed.parquet", pgn, "--speed", "blitz")
    assert "no row passed the filters" in refused(1, "merge", "speed.parquet", "-o", "x.parquet", "--speed", "rapid")


def test_counts_go_through_pipes(pgn, done, tabiya, tmp_path):
    done("build", "--by", "speed", "-o", "all.parquet", pgn)
    line = ["build", "--by", "speed", "-o", "-", "-"]
    text = pgn.read_bytes()
    for data in (text, gzip.compress(text), bz2.compress(text)):
        ended = tabiya(*line, input=data, stdin=None)
        assert ended.returncode == 0 and hashlib.sha256(ended.stdout).hexdigest() == sha(tmp_path / "all.parquet")
        said = ended.stderr.decode().splitlines()
        assert said[0].startswith(f"tabiya: {GAMES} games read, {GAMES} used, ") and all(line.startswith("tabiya: ") for line in said)
    # A file that is cut off counts up to there, and the exit code says so.
    ended = tabiya(*line, input=gzip.compress(text)[:-9000], stdin=None)
    assert ended.returncode == 1 and b"1 file not read to the end" in ended.stderr
    (tmp_path / "cut.parquet").write_bytes(ended.stdout)
    assert done("check", "cut.parquet") == "cut.parquet: sound\n"
    # Nothing is counts too, which the others do not mind.
    ended = tabiya(*line, input=b"", stdin=None)
    assert ended.returncode == 0
    (tmp_path / "none.parquet").write_bytes(ended.stdout)
    done("merge", "none.parquet", "all.parquet", "--by", "speed", "-o", "same.parquet")
    assert sha(tmp_path / "same.parquet") == sha(tmp_path / "all.parquet")
    assert not (tmp_path / "-").exists()


@linux_only
def test_a_closed_pipe_is_an_error_and_leaves_nothing(games, tabiya_exe, tmp_path):
    (tmp_path / "games.pgn").write_text("".join(f"{game}\n\n" for game in games))
    (tmp_path / "temp").mkdir()
    line = [tabiya_exe, "build", "-o", "-", "games.pgn", "--temp", tmp_path / "temp", "--memory", "16M"]
    with subprocess.Popen([str(word) for word in line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait() == 3
    assert "cannot write to standard output" in said
    assert not list((tmp_path / "temp").iterdir()) and sorted(path.name for path in tmp_path.iterdir()) == ["games.pgn", "temp"]
    # A terminal is no place for it.
    master, slave = os.openpty()
    with open(master, "rb", buffering=0), open(slave, "wb", buffering=0) as terminal:
        ended = subprocess.run([str(word) for word in line], stdout=terminal, stderr=subprocess.PIPE, cwd=tmp_path, check=False)
    assert ended.returncode == 2 and b"standard output is a terminal" in ended.stderr
