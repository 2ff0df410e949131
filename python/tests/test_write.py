"""Building, converting, merging and checking."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import threading
from pathlib import Path

import chess
import pytest

import tabiya

from conftest import STARTER, many_games, samples, tabiya_says


# Of a finding, in JSON and in Python.
KEYS = ["severity", "what", "count", "offset", "file"]


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, []),
        ({"min_games": 1, "max_ply": 20}, ["--min-games", "1", "--max-ply", "20"]),
        ({"min_games": 1, "only": "white"}, ["--min-games", "1", "--only", "white"]),
        ({"min_games": 1, "player": "P1", "only": "player"}, ["--min-games", "1", "--player", "P1", "--only", "player"]),
        ({"min_games": 1, "players": "P1"}, ["--min-games", "1", "--tag", "White=P1"]),
        ({"min_games": 1, "players": ["p1", "P2"]}, ["--min-games", "1", "--tag", "White=P?", "--tag", "White!=P0"]),
        ({"min_games": 1, "tags": {"White": "P1*"}}, ["--min-games", "1", "--tag", "White=P1*"]),
        ({"repertoire": "white"}, ["--repertoire", "white"]),
        ({"min_games": 1, "min_share": 30, "uniform": True}, ["--min-games", "1", "--min-share", "30", "--uniform"]),
        ({"min_games": 1, "unique": True}, ["--min-games", "1", "--unique"]),
        ({"min_games": 1, "weights": "games"}, ["--min-games", "1", "--weights", "games"]),
    ],
)
def test_a_book_has_the_bytes_that_the_command_writes(
    options: dict[str, object], arguments: list[str], tmp_path: Path
) -> None:
    games = many_games(tmp_path / "games.pgn", 3 if "players" in options else 200)
    ours, theirs = tmp_path / "ours.bin", tmp_path / "theirs.bin"
    report = tabiya.build(games, ours, **options)  # type: ignore[arg-type]
    tabiya_says("build", games, "-o", theirs, *arguments)
    assert ours.read_bytes() == theirs.read_bytes()
    assert report.files == [str(ours)] and report.moves == len(ours.read_bytes()) // 16
    assert report.games == (3 if "players" in options else 200) and report.errors == []


def test_a_book_is_converted_as_the_command_does(tmp_path: Path) -> None:
    # The formats have the name of the book inside.
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    for end in ("ctg", "abk", "kob"):
        report = tabiya.convert(STARTER, ours / f"book.{end}")
        tabiya_says("convert", STARTER, "-o", theirs / f"book.{end}")
        assert len(report.files) == {"ctg": 3, "abk": 1, "kob": 2}[end]
        assert report.moves > 9_000 and not report.damage and report.read > 9_000
        for file in map(Path, report.files):
            assert file.read_bytes() == (theirs / file.name).read_bytes(), file
        tabiya.convert(ours / f"book.{end}", ours / f"{end}.bin")
        findings = tabiya.check(ours / f"{end}.bin")
        assert all(finding.severity == "warning" and finding.what for finding in findings)


def test_books_are_merged(books: dict[str, Path], tmp_path: Path) -> None:
    report = tabiya.merge([books["ctg"], books["kob"]], tmp_path / "both.ctg")
    with tabiya.open_reader(tmp_path / "both.ctg") as both, tabiya.open_reader(books["ctg"]) as one:
        start = chess.Board()
        assert both.find(start).games == 2 * (one.find(start).games or 0) > 0
        assert report.moves == len(both)


def test_games_with_errors_are_in_the_report(pgn: Path, tmp_path: Path) -> None:
    report = tabiya.build(pgn, tmp_path / "a.bin", min_games=1)
    assert (report.games, report.used, report.unfinished) == (4, 4, 1)
    [(kind, games, used, first)] = report.errors
    assert (kind, games, used) == ("illegal move", 1, 1) and "Ke5" in first


def test_nothing_is_replaced_or_left_half_written(pgn: Path, tmp_path: Path) -> None:
    book = tmp_path / "a.bin"
    book.write_bytes(b"precious")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(FileExistsError, match="force=True") as raised:
        tabiya.build(pgn, book)
    assert isinstance(raised.value, tabiya.ExistsError) and raised.value.path == str(book)
    with pytest.raises(tabiya.EmptyBookError, match="min_games"):
        tabiya.build(pgn, book, force=True)
    assert book.read_bytes() == b"precious" and sorted(os.listdir(tmp_path)) == before
    tabiya.build(pgn, book, force=True, min_games=1)
    with pytest.raises(tabiya.UsageError, match="would replace"):
        tabiya.convert(book, book, force=True)
    games = tmp_path / "games.bin"
    games.write_bytes(pgn.read_bytes())
    with pytest.raises(tabiya.UsageError, match="would replace"):
        tabiya.build(games, games, force=True, min_games=1)
    assert games.read_bytes() == pgn.read_bytes()
    assert tabiya.check(book) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"only": "green"},
        {"only": "player"},
        {"player_side": "white"},
        {"player": "a", "players": ["b"]},
        {"repertoire": "white", "only": "white"},
        {"min_share": 101},
        {"min_score": -1},
        {"weights": "often"},
        {"date_from": "2021.13"},
        {"tags": {"": "x"}},
        {"threads": 0},
        {"memory": 5},
        {"max_ply": -1},
    ],
)
def test_options_that_mean_nothing_are_refused(wrong: dict[str, object], pgn: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        tabiya.build(pgn, tmp_path / "a.bin", **wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "a.bin").exists()


def test_dates_are_texts_or_dates(pgn: Path, tmp_path: Path) -> None:
    dates: list[str | datetime.date] = ["2021", "2021.03", datetime.date(2021, 3, 14)]
    for number, date in enumerate(dates):
        report = tabiya.build(pgn, tmp_path / f"{number}.bin", min_games=1, date_from=date)
        assert report.used == 1


def test_the_name_says_the_format(pgn: Path, tmp_path: Path) -> None:
    with pytest.raises(tabiya.UsageError, match="which format"):
        tabiya.build(pgn, tmp_path / "a.xyz")


def test_findings_are_those_of_the_command(tmp_path: Path, books: dict[str, Path]) -> None:
    broken = tmp_path / "broken.bin"
    broken.write_bytes(STARTER.read_bytes()[: 16 * 700 + 3])
    damaged = tmp_path / "damaged.ctg"
    for end in ("ctg", "cto", "ctb"):
        data = bytearray(books["ctg"].with_suffix(f".{end}").read_bytes())
        if end == "ctg":
            data[4096:4196] = b"\xff" * 100
        damaged.with_suffix(f".{end}").write_bytes(data)
    found = 0
    for path in [broken, damaged, *books.values()]:
        lines = [json.loads(line) for line in tabiya_says("check", "--json", path).splitlines()]
        expected = [{key: line[key] for key in KEYS} for line in lines if "severity" in line]
        assert [dataclasses.asdict(finding) for finding in tabiya.check(path)] == expected
        found += len(expected)
    assert found > 1
    [cut, *_] = tabiya.check(broken)
    assert cut.offset is not None
    with pytest.raises(FileNotFoundError):
        tabiya.check(tmp_path / "none")


def test_databases_are_checked() -> None:
    for database in sorted(samples().glob("cbh/*/*.cbh")):
        lines = [json.loads(line) for line in tabiya_says("check", "--json", database).splitlines()]
        expected = [{key: line[key] for key in KEYS} for line in lines if "severity" in line]
        assert [dataclasses.asdict(finding) for finding in tabiya.check(database)] == expected


def test_python_goes_on_while_a_book_is_built(tmp_path: Path) -> None:
    games = many_games(tmp_path / "games.pgn", 20_000)
    done = threading.Event()
    steps = 0

    def build() -> None:
        tabiya.build(games, tmp_path / "a.bin", threads=1)
        done.set()

    worker = threading.Thread(target=build)
    worker.start()
    # Without the lock of Python nothing here would run before the build is done.
    while not done.wait(0.001):
        steps += 1
    worker.join()
    assert steps > 3 and (tmp_path / "a.bin").exists()
