"""What a CTG book holds besides moves and results stays as it is, byte by byte, through every path that ends in one."""

import json
import random
import shutil

import chess
import pytest

import ctg_book
from readers import read_ctg

PARTS = ("ctg", "cto", "ctb")


@pytest.fixture
def perfect(sample, tmp_path):
    """A copy of Perfect 2021."""
    original = sample("ctg/perfect2021/Perfect2021.ctg")
    for part in PARTS:
        shutil.copyfile(original.with_suffix(f".{part}"), tmp_path / f"perfect.{part}")
    return tmp_path / "perfect.ctg"


def small(tabiya, tmp_path, seed, name):
    """A book of few games with bytes of any value."""
    chance = random.Random(seed)
    lines = []
    for _ in range(60):
        board = chess.Board()
        for _ in range(12):
            board.push(chance.choice(sorted(board.legal_moves, key=chess.Move.uci)[:5]))
        lines.append(f'[Result "1-0"]\n\n{chess.Board().variation_san(board.move_stack)} 1-0\n')
    (tmp_path / f"{name}.pgn").write_text("\n".join(lines))
    done = tabiya("build", f"{name}.pgn", "--min-games", "1", "-o", f"{name}.ctg")
    assert done.returncode == 0, done.stderr
    ctg_book.spoil(tmp_path / f"{name}.ctg", seed)
    return tmp_path / f"{name}.ctg"


def test_one_edit_leaves_a_thousand_other_positions_as_they_are(tabiya, perfect):
    before = ctg_book.entries(perfect)
    done = tabiya("edit", perfect.name, "--set", "e4=red,?")
    assert done.returncode == 0, done.stderr
    after = ctg_book.entries(perfect)
    start = chess.Board()
    own = read_ctg.signature(start)
    start.push_san("e4")
    child = read_ctg.signature(start)
    near = set()
    for move in chess.Board().legal_moves:
        board = chess.Board()
        board.push(move)
        for reply in board.legal_moves:
            board.push(reply)
            near.add(read_ctg.signature(board))
            board.pop()
    others = sorted(set(before) - {own, child})
    wanted = sorted(near & set(before)) + random.Random(3).sample(others, 1000)
    assert len(near) >= 200 and all(before[name] == after[name] for name in wanted)
    assert {name for name in before if before[name] != after[name]} == {own, child} and before.keys() == after.keys()
    changed = [at for at in range(33) if before[child][1][at] != after[child][1][at]]
    assert changed == [30] and before[own][1] == after[own][1]
    assert before[child][1][30] ^ after[child][1][30] == 0xC0
    assert sum(one != other for one, other in zip(before[own][0], after[own][0])) == 1


@pytest.mark.parametrize("command", ["convert", "merge", "trim"])
def test_all_bytes_of_one_source_are_kept(tabiya, tmp_path, command):
    book = small(tabiya, tmp_path, 5, "a")
    before = ctg_book.entries(book)
    args = {"convert": ["convert", "a.ctg"], "merge": ["merge", "a.ctg"], "trim": ["trim", "a.ctg", "--without", "a3"]}[command]
    if command == "merge":
        # A book of other positions has none of these entries.
        (tmp_path / "b.pgn").write_text('[FEN "k7/8/8/8/8/8/7P/K7 w - - 0 1"]\n[SetUp "1"]\n\n1. h4 Kb8 1-0\n')
        assert tabiya("build", "b.pgn", "--min-games", "1", "-o", "b.ctg").returncode == 0
        args.append("b.ctg")
    done = tabiya(*args, "-o", "out.ctg")
    assert done.returncode == 0 and b"several books" not in done.stdout + done.stderr, done
    assert command == "trim" or b"left out" not in done.stdout + done.stderr, done
    after = ctg_book.entries(tmp_path / "out.ctg")
    left = before.keys() & after.keys()
    assert len(left) > len(before) / 2 and (command == "trim" or left == before.keys())
    for name in left:
        assert after[name][1] == before[name][1]
        assert after[name][0] == [move for move in before[name][0] if move in after[name][0]]
    assert command == "trim" or all(after[name] == before[name] for name in left)


def test_what_books_say_differently_is_counted(tabiya, tmp_path):
    small(tabiya, tmp_path, 5, "a")
    book = small(tabiya, tmp_path, 5, "b")
    ctg_book.spoil(book, 6)
    done = tabiya("merge", "a.ctg", "b.ctg", "-o", "out.ctg")
    text = (done.stdout + done.stderr).decode()
    assert done.returncode == 0
    assert "moves with different marks in several books, of which the first counts" in text
    assert "positions with different factors, flags or comments in several books, of which the first counts" in text
    first, both = ctg_book.entries(tmp_path / "a.ctg"), ctg_book.entries(tmp_path / "out.ctg")
    for name, (_, facts) in first.items():
        if facts[31]:
            assert both[name][1][31] == facts[31]
    done = tabiya("convert", "a.ctg", "-o", "out.bin")
    text = (done.stdout + done.stderr).decode()
    assert "factors of " in text and "comments, flags and ratings of " in text


def test_the_factor_is_shown_compared_and_acts(tabiya, perfect):
    shutil.copyfile(perfect, perfect.with_name("other.ctg"))
    for part in PARTS[1:]:
        shutil.copyfile(perfect.with_suffix(f".{part}"), perfect.with_name(f"other.{part}"))
    board = chess.Board()
    board.push_san("d4")
    name = read_ctg.signature(board)
    pages = bytearray(perfect.read_bytes())
    at = pages.index(name)
    facts = at + len(name) + pages[at + len(name)]
    pages[facts + 30] |= 0x24
    pages[facts + 31] = 256 - 125
    perfect.write_bytes(pages)

    def moves(*args):
        return {move["san"]: move for move in json.loads(tabiya("show", "perfect.ctg", "--json", *args).stdout)["moves"]}

    assert moves()["d4"]["factor"] == -125 and "factor" not in moves()["e4"]
    assert not moves()["d4"]["playable"] and moves("--set", "Book Factor=false")["d4"]["playable"]
    assert "factor" in tabiya("show", "perfect.ctg").stdout.decode().split("weight")[1].splitlines()[0]
    assert "factor" not in tabiya("show", "other.ctg").stdout.decode()
