"""The commands show, info and check."""

import json
import os
import random
import subprocess

import chess
import chess.polyglot
import pytest

from client import HANG, complaints
from polyglot_writer import ENTRY, Book, after

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3


def error_line(done, *words):
    """The one line on standard error."""
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 1 and lines[0].startswith("tabiya: "), done.stderr
    for word in words:
        assert str(word) in lines[0], lines[0]
    return lines[0]


def read(path, board):
    """The book's entries of weight above 0 as python-chess reads them: move -> weight."""
    with chess.polyglot.open_reader(path) as reader:
        return {entry.move.uci(): entry.weight for entry in reader.find_all(board, minimum_weight=1)}


def random_positions(path, number, seed=1):
    """Positions of the book, each reached by one of its lines: (moves, board)."""
    chance = random.Random(seed)
    found = {}
    with chess.polyglot.open_reader(path) as reader:
        while len(found) < number:
            board = chess.Board()
            while True:
                found.setdefault(board.fen(), board.copy())
                entries = list(reader.find_all(board, minimum_weight=1))
                if not entries or board.ply() > 100:
                    break
                board.push(chance.choice(entries).move)
    return list(found.values())[:number]


def moves_of(board):
    return " ".join(move.uci() for move in board.move_stack)


# show


def check_shown(shown, entries, board):
    """A line of `show --json` against python-chess's reading of the position."""
    assert shown["format"] == "polyglot"
    assert shown["found"] is bool(entries)
    moves = {move["uci"]: move for move in shown["moves"] if move["weight"] > 0}
    assert {uci: move["weight"] for uci, move in moves.items()} == entries, board.fen()
    total = sum(entries.values())
    probabilities = [move["chance"] for move in shown["moves"]]
    assert probabilities == sorted(probabilities, reverse=True)
    for uci, move in moves.items():
        assert move["chance"] == pytest.approx(entries[uci] / total, abs=1e-9)
        assert move["playable"] is True
        assert board.san(chess.Move.from_uci(uci)) == move["san"]
        assert move["games"] is move["wins"] is move["draws"] is move["losses"] is None
        assert move["annotation"] is move["recommended"] is None
    for move in shown["moves"]:
        if move["weight"] == 0:
            assert move["playable"] is False and move["chance"] == 0
        assert set(move) == {
            "uci",
            "san",
            "weight",
            "chance",
            "playable",
            "games",
            "wins",
            "draws",
            "losses",
            "annotation",
            "recommended",
            "learn",
        }
        assert board.is_legal(chess.Move.from_uci(move["uci"]))
    assert set(shown) == {"fen", "book", "format", "found", "moves", "opening"}


def check_positions(tabiya, tmp_path, path, number):
    boards = random_positions(path, number)
    (tmp_path / "fens.txt").write_text("".join(board.fen() + "\n" for board in boards))
    done = tabiya("show", path, "--fen-file", "fens.txt", "--json", "--set", "Book Threshold=0")
    lines = done.stdout.decode().splitlines()
    assert len(lines) == len(boards), done.stderr
    castled = 0
    for line, board in zip(lines, boards, strict=True):
        shown = json.loads(line)
        check_shown(shown, read(path, board), board)
        asked = chess.Board(shown["fen"])
        assert asked.board_fen() == board.board_fen() and asked.turn == board.turn
        castled += sum(board.is_castling(chess.Move.from_uci(move["uci"])) for move in shown["moves"])
    assert castled > 0, "castling is among the positions, as e1g1"
    return done


def test_show_agrees_with_python_chess_on_hundreds_of_positions(tabiya, tmp_path, gnu_book):
    check_positions(tabiya, tmp_path, gnu_book, 400)


def test_show_agrees_with_python_chess_on_perfect_2021(tabiya, tmp_path, perfect_book):
    check_positions(tabiya, tmp_path, perfect_book, 300)


def test_show_takes_moves_or_a_fen(tabiya, gnu_book):
    board = after("e2e4 c7c5")
    by_moves = tabiya("show", gnu_book, "--moves", "e2e4 c7c5", "--json")
    by_fen = tabiya("show", gnu_book, "--fen", board.fen(), "--json")
    assert by_moves.returncode == by_fen.returncode == DONE
    first, second = json.loads(by_moves.stdout), json.loads(by_fen.stdout)
    assert first["moves"] == second["moves"] != []


def test_show_counts_chances_under_the_policy(tabiya, tmp_path):
    path = Book().at(e2e4=900, d2d4=96, c2c4=4, g1f3=0).write(tmp_path / "a.bin")

    def chances(*args):
        done = tabiya("show", path, "--json", *args)
        assert done.returncode == DONE
        return {move["uci"]: (move["chance"], move["playable"]) for move in json.loads(done.stdout)["moves"]}

    usual = chances()
    assert usual["c2c4"] == (0, False), "below five per mille"
    assert usual["e2e4"][0] == pytest.approx(900 / 996)
    assert usual["g1f3"] == (0, False)
    assert chances("--set", "Book Threshold=0")["c2c4"] == (pytest.approx(0.004), True)
    assert chances("--set", "Book Variety=0")["e2e4"][0] == 1
    alike = chances("--set", "Book Variety=100", "--set", "Book Threshold=0")
    assert [alike[move][0] for move in ("e2e4", "d2d4", "c2c4", "g1f3")] == pytest.approx([1 / 3] * 3 + [0])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_an_error_and_a_closed_pipe_is_none(tabiya, gnu_book, tabiya_exe):
    with open("/dev/full", "wb") as full:
        done = tabiya("show", gnu_book, "--json", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == FILE, done.stderr
    process = subprocess.Popen([tabiya_exe, "show", gnu_book, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(HANG) in (0, -13, 141)
    assert errors == b""


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="needs a pipe of a known size")
def test_messages_wait_for_a_reader_and_none_is_lost(tabiya_exe, tmp_path):
    read, write = os.pipe()
    room = fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.write(write, b"x" * room)
    names = [f"missing-{number}.bin" for number in range(2)]
    process = subprocess.Popen([tabiya_exe, "info", *names], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=write)
    os.close(write)
    # It cannot have written anything, so it must not have ended either.
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    with os.fdopen(read, "rb") as errors:
        lines = errors.read()[room:].decode().splitlines()
    assert process.wait(HANG) == FILE
    assert [line.split(": ")[1] for line in lines] == names


# info


def test_info_of_a_real_book_counts_as_python_chess_does(tabiya, gnu_book):
    told = json.loads(tabiya("info", gnu_book, "--json").stdout)
    with chess.polyglot.open_reader(gnu_book) as reader:
        keys = [entry.key for entry in reader]
    assert told["positions"] == len(set(keys))
    assert told["moves"] == len(keys)
    assert 20 < told["deepest"] < 1024


# check


def test_check_finds_a_sound_book_sound(tabiya, gnu_book, small_book):
    done = tabiya("check", small_book)
    assert done.returncode == DONE, done.stdout + done.stderr
    done = tabiya("check", gnu_book, small_book)
    assert done.returncode == DONE, done.stdout + done.stderr


def damaged(kind, gnu_book):
    data = bytearray(gnu_book.read_bytes()[:16000])
    if kind == "cut off":
        return data[:-5], 15984
    if kind == "out of order":
        data[1600:1608], data[8000:8008] = data[8000:8008], data[1600:1608]
        return data, 1600
    if kind == "an illegal move":
        entry = Book().raw(chess.Board(), chess.E2 << 6 | chess.E5).line("d2d4").data()
        return entry, None
    return None


@pytest.mark.parametrize("kind", ["cut off", "out of order", "an illegal move"])
def test_check_names_each_damage_with_its_place(tabiya, tmp_path, gnu_book, kind):
    data, place = damaged(kind, gnu_book)
    path = tmp_path / "damaged.bin"
    path.write_bytes(data)
    done = tabiya("check", path)
    assert done.returncode == WANTING, done.stdout + done.stderr
    text = done.stdout.decode()
    assert "damaged.bin" in text and "byte" in text
    if place is not None:
        near = [number for number in map(str, range(place - 16, place + 17)) if number in text.replace(",", "")]
        assert near, text
    *lines, last = map(json.loads, tabiya("check", path, "--json").stdout.decode().splitlines())
    assert all(set(line) == {"book", "severity", "what", "count", "offset", "file"} for line in lines)
    count = {word: sum(line["count"] for line in lines if line["severity"] == word) for word in ("error", "warning")}
    assert last == {"book": str(path), "errors": count["error"], "warnings": count["warning"]} and count["error"]
    told = [line for line in text.splitlines() if ": error: " in line or ": warning: " in line]
    assert len(told) == len(lines)
    for line, one in zip(told, lines, strict=True):
        assert f"{one['severity']}: {one['what']}" in line and str(one["offset"]) in line


def test_check_survives_every_cut_and_every_flipped_byte(tabiya, tmp_path):
    data = Book().line("d2d4 d7d5 c2c4 e7e6").data()
    chance = random.Random(9)
    path = tmp_path / "hurt.bin"
    for number in range(40):
        hurt = bytearray(data)
        if number % 2:
            hurt = hurt[: chance.randrange(1, len(hurt))]
        else:
            hurt[chance.randrange(len(hurt))] ^= 1 << chance.randrange(8)
        path.write_bytes(hurt)
        for command in ("check", "show", "info"):
            assert tabiya(command, path).returncode in (DONE, WANTING, FILE), bytes(hurt)


def test_a_book_of_millions_of_empty_entries_is_told_in_few_words(tabiya, tmp_path):
    path = tmp_path / "sparse.bin"
    with path.open("wb") as file:
        file.truncate(64 << 20)
    done = tabiya("check", path)
    assert done.returncode in (DONE, WANTING)
    assert 0 < len(done.stdout) < 100_000, "not a line for each of four million entries"


def test_an_entry_too_many_is_not_a_crash(tabiya, tmp_path):
    data = ENTRY.pack(chess.polyglot.zobrist_hash(chess.Board()), 796, 1, 0) * 70_000
    path = tmp_path / "many.bin"
    path.write_bytes(data)
    assert tabiya("show", path, "--json").returncode == DONE
    assert tabiya("info", path).returncode == DONE
    tabiya("check", path)
