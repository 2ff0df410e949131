"""`tabiya diff`: what differs between books, recomputed from their dumps."""

import csv
import io
import json
import random
import struct
import subprocess

import chess
import chess.polyglot
import pytest

from client import HANG, complaints
from polyglot_writer import ENTRY, Book, encode
from polyglot_writer import key as number_of
from random_games import FORMATS, random_games

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3
GAMES = random_games(60, seed=41, most_plies=24)


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


@pytest.fixture
def diff(tabiya):
    """The differences of two books as JSON, and how the command ended."""

    def diff(a, b, *args):
        done = tabiya("diff", a, b, "--json", *args)
        assert not complaints(done), done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()], done.returncode

    return diff


def entries(path):
    """{(key, move): weight} of a Polyglot book."""
    return {(at, move): weight for at, move, weight, _ in struct.iter_unpack(">QHHI", path.read_bytes())}


def test_flags_comments_and_unknown_bytes_of_ctg_books_are_compared(tabiya, diff, tmp_path):
    (tmp_path / "g.pgn").write_text("1. e4 1-0\n")
    for name in "ab":
        assert tabiya("build", tmp_path / "g.pgn", "-o", tmp_path / f"{name}.ctg", "--min-games", 1).returncode == DONE
    assert diff(tmp_path / "a.ctg", tmp_path / "b.ctg") == ([], DONE)
    pages = bytearray((tmp_path / "b.ctg").read_bytes())
    first = 4096 + 4
    facts = first + (pages[first] & 0x1F)
    facts += pages[facts]
    # Four unknown bytes, bits beside the colour, and the comment.
    unknown = int.from_bytes(pages[facts + 12 : facts + 16], "big")
    for at, byte in ((15, 2), (30, 0x08), (32, 0x0A)):
        pages[facts + at] ^= byte
    (tmp_path / "b.ctg").write_bytes(pages)
    found, code = diff(tmp_path / "a.ctg", tmp_path / "b.ctg")
    assert code == WANTING and [line["kind"] for line in found] == ["flags"]
    assert found[0]["a"] == {"flags": 0, "comment": 0, "unknown": unknown}
    assert found[0]["b"] == {"flags": 8, "comment": 10, "unknown": unknown ^ 2}
    text = tabiya("diff", tmp_path / "a.ctg", tmp_path / "b.ctg").stdout.decode()
    assert "flags 0x00 -> 0x08, comment 0x00 -> 0x0a, unknown bytes 0x" in text
    assert text.endswith("changed: 0 moves\nchanged: flags or comments of 1 position\n")
    # Nothing is said where a format has none.
    assert tabiya("convert", tmp_path / "b.ctg", "-o", tmp_path / "c.kob").returncode == DONE
    assert all(line["kind"] != "flags" for line in diff(tmp_path / "b.ctg", tmp_path / "c.kob")[0])


@pytest.mark.parametrize("name", FORMATS)
def test_a_book_does_not_differ_from_itself(tabiya, diff, sources, name, tmp_path):
    assert diff(sources[name], sources[name]) == ([], DONE)
    done = tabiya("diff", sources[name], sources[name])
    assert (done.returncode, done.stdout, done.stderr) == (DONE, b"no difference\n", b"")
    copy = tmp_path / f"copy.{name}"
    assert tabiya("convert", sources[name], "-o", copy).returncode == DONE
    assert diff(sources[name], copy) == ([], DONE)


def test_books_of_the_same_games_agree_across_formats(diff, sources):
    """CTG and Kvetka keep the same counts and distinguish the same positions."""
    assert diff(sources["ctg"], sources["kob"]) == ([], DONE)
    # Arena's weights follow another formula, its counts do not; Polyglot's books have no move that only lost.
    found, code = diff(sources["abk"], sources["kob"])
    assert code == WANTING
    for line in found:
        if line["kind"] == "changed":
            assert line["a"]["games"] <= line["b"]["games"], line
        assert line["only_in"] != "a"
    found, code = diff(sources["bin"], sources["kob"])
    assert code == WANTING
    assert not [line for line in found if line["only_in"] == "a"]
    for line in found:
        if line["kind"] == "move":
            assert line["b"]["weight"] == 0
        assert line["kind"] != "changed", line


def test_every_change_of_a_polyglot_book_is_found(diff, sources, tmp_path):
    chance = random.Random(8)
    was = entries(sources["bin"])
    now = dict(was)
    for move in chance.sample(sorted(was), 40):
        if chance.random() < 0.5:
            del now[move]
        else:
            now[move] += chance.randint(1, 9)
    stray = chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    now[number_of(stray), encode(stray, "e2e4")] = 3
    now[number_of(chess.Board()), encode(chess.Board(), "b1a3")] = 3
    path = tmp_path / "now.bin"
    path.write_bytes(b"".join(ENTRY.pack(*move, now[move], 0) for move in sorted(now)))
    found, code = diff(sources["bin"], path)
    assert code == WANTING
    told = {}
    for line in found:
        if line["kind"] == "position":
            for move in line["moves"]:
                told[line["key"], move["uci"]] = (line["only_in"], move["weight"])
        else:
            told[line["key"], line["uci"]] = (line["only_in"], *(line[book] and line[book]["weight"] for book in "ab"))
        if line["line"] is not None:
            board = chess.Board()
            for word in line["line"].replace(".", ". ").split():
                if not word.endswith("."):
                    board.push_san(word)
            assert board.fen(en_passant="fen").split()[0] == line["fen"].split()[0]
            assert f"{chess.polyglot.zobrist_hash(board):016x}" == line["key"]
            for move in line.get("moves", [line]):
                assert board.parse_san(move["san"]) == board.parse_uci(move["uci"])
    positions = [{at for at, _ in book} for book in (was, now)]
    expected = {}
    for at, move in was.keys() | now.keys():
        before, after = was.get((at, move)), now.get((at, move))
        if before == after:
            continue
        name = f"{at:016x}", chess.square_name(move >> 6 & 63) + chess.square_name(move & 63)
        if at not in positions[1]:
            expected[name] = ("a", before)
        elif at not in positions[0]:
            expected[name] = ("b", after)
        else:
            expected[name] = ("b" if before is None else "a" if after is None else None, before, after)
    # Castling is written as two steps of the king, where the position is known.
    castling = {"e1h1": "e1g1", "e1a1": "e1c1", "e8h8": "e8g8", "e8a8": "e8c8"}
    missing = {name: what for name, what in expected.items() if told.get(name) != what}
    assert all(told[at, castling[uci]] == what for (at, uci), what in missing.items())
    assert len(told) == len(expected)
    stray_line = next(line for line in found if line["key"] == f"{number_of(stray):016x}")
    assert (stray_line["fen"], stray_line["line"], stray_line["only_in"]) == (None, None, "b")


def test_lines_for_people_are_limited_and_counted(tabiya, tmp_path):
    start = chess.Board()
    first, second = Book().at(e2e4=1), Book().at(e2e4=2)
    for number, move in enumerate(start.legal_moves):
        after = chess.Board()
        after.push(move)
        for reply in list(after.legal_moves)[:2]:
            second.add(after, reply.uci(), 1 + number)
    a, b = first.write(tmp_path / "a.bin"), second.write(tmp_path / "b.bin")
    done = tabiya("diff", a, b)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == WANTING
    assert "changed: 1. e4: weight 1 -> 2" in lines
    # Of the replies only those after a move of a book have a line.
    assert any(line.startswith(f"only in {b}: the position after 1. e4: ") for line in lines)
    assert f"only in {b}: 20 positions with 40 moves, and 0 moves in other positions" in lines
    third = Book().at(e2e4=2)
    for at in range(30):
        third.raw(chess.Board(f"4k3/8/8/8/8/8/4P3/{at % 4 + 1}K{6 - at % 4} w - - 0 1"), 100 + at)
    c = third.write(tmp_path / "c.bin")
    for at in range(25):
        third.entries.append((at + 1, 796, 1, 0))
    third.write(c)
    text = tabiya("diff", b, c).stdout.decode()
    assert "... and " in text and "(--all lists them)" in text
    every = tabiya("diff", b, c, "--all").stdout.decode()
    assert "--all" not in every and len(every.splitlines()) > len(text.splitlines())
    assert tabiya("diff", b, c, "--all", "--json").returncode == USAGE


@pytest.fixture(scope="module")
def strays(tmp_path_factory):
    """A Polyglot book of which nothing is reached from the start."""
    book, chance = Book(), random.Random(3)
    board = chess.Board()
    board.push_san("Na3")
    board.push_san("Na6")
    for _ in range(30_000):
        if board.is_game_over() or board.ply() > 60:
            board = chess.Board("4k3/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQ - 0 1")
        move = chance.choice(list(board.legal_moves))
        book.raw(board, encode(board, move.uci()), chance.randint(1, 9))
        board.push(move)
    return book.write(tmp_path_factory.mktemp("strays") / "strays.bin")


def test_little_memory_changes_nothing(tabiya, tmp_path, strays, sources):
    plenty = tabiya("diff", strays, sources["bin"], "--json", "--memory", "1G")
    little = tabiya("diff", strays, sources["bin"], "--json", "--memory", "16M", "--threads", 1, "--temp", tmp_path)
    assert plenty.returncode == little.returncode == WANTING and plenty.stdout == little.stdout
    rows = list(csv.DictReader(io.StringIO(tabiya("export", strays).stdout.decode()), delimiter="\t"))
    mine = {row["key"] for row in csv.DictReader(io.StringIO(tabiya("export", sources["bin"]).stdout.decode()), delimiter="\t")}
    only = [line for line in map(json.loads, plenty.stdout.splitlines()) if line["kind"] == "position" and line["only_in"] == "a"]
    assert len(only) == len({row["key"] for row in rows} - mine)


def test_a_closed_pipe_ends_it_quietly(tabiya_exe, strays, sources):
    line = [str(word) for word in (tabiya_exe, "diff", strays, sources["bin"], "--json")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.readline()
        running.stdout.close()
        assert running.wait(timeout=HANG) == DONE
        assert running.stderr.read() == b""


def test_a_file_that_is_no_book_is_named(tabiya, sources, tmp_path):
    (tmp_path / "text.bin").write_text("nothing to see here, move on\n")
    for pair in ((tmp_path / "text.bin", sources["bin"]), (sources["bin"], tmp_path / "text.bin")):
        done = tabiya("diff", *pair)
        assert done.returncode == FILE and b"text.bin: this is text, not a book" in done.stderr
