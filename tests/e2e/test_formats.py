"""Books of several formats: a game from each and from a set of them, and one book converted into the others."""

import json
import os
import random
from pathlib import Path

import chess
import chess.engine
import pytest

from recording import popen

PLIES = int(os.environ.get("TABIYA_E2E_PLIES", "60"))

SAMPLES = {
    "ctg": "ctg/perfect2021/Perfect2021.ctg",
    "abk": "abk/Perfect2021.abk",
    "bin": "polyglot/Perfect2021.bin",
}


@pytest.fixture(scope="session")
def books(sample):
    return {name: sample(path) for name, path in SAMPLES.items()}


def playable(tabiya, paths, board, *args):
    """For each book the moves that it would play."""
    done = tabiya("show", *paths, "--json", "--fen", board.fen(), *args)
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(shown) == len(paths)
    return [{move["uci"] for move in line["moves"] if move["playable"]} for line in shown]


@pytest.mark.parametrize("names", [["ctg"], ["abk"], ["abk", "ctg", "bin"], ["bin", "abk", "ctg"]], ids="-".join)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_game_leaves_the_book_where_it_ends(tmp_path, tabiya_exe, tabiya, stockfish, books, names, seed):
    paths = [books[name] for name in names]
    argv = [tabiya_exe, "--engine", stockfish, "--seed", seed, *(word for path in paths for word in ("--book", path))]
    player = popen(argv, tmp_path)
    used = []
    try:
        board = chess.Board()
        while board.ply() < PLIES and not board.is_game_over():
            result = player.play(board, chess.engine.Limit(nodes=500))
            assert result.move in board.legal_moves
            answer = player.protocol.answers()[-1][2]
            moves = playable(tabiya, paths, board)
            # The first book that has a playable move answers; a third time of a position is left to the engine.
            first = next((at for at, known in enumerate(moves) if known), None)
            if first is None or answer.book is None:
                assert answer.book is None and (first is None or board.can_claim_threefold_repetition()), board.fen()
            else:
                assert result.move.uci() in moves[first]
                assert Path(answer.book["file"]).name == paths[first].name
            used.append(answer.book and Path(answer.book["file"]).suffix)
            board.push(result.move)
            if len(used) > 4 and not any(used[-4:]):
                break
        player.quit()
    finally:
        player.close()
    assert all(used[:4]) and not used[-1], used


def test_a_converted_book_plays_the_same_moves(tabiya, books, real_ctg, tmp_path):
    """The .ctg as .bin, .abk and .ctg again: along random lines of the book each would play the same."""
    made = []
    for name in ("bin", "abk", "ctg"):
        done = tabiya("convert", real_ctg, "-o", f"made.{name}")
        assert done.returncode == 0, done.stderr
        assert tabiya("check", f"made.{name}").returncode == 0
        made.append(tmp_path / f"made.{name}")
    rng = random.Random(7)
    for _ in range(6):
        board = chess.Board()
        while True:
            theirs, *ours = playable(tabiya, [real_ctg, *made], board, "--set", "Book Threshold=0")
            assert ours == [theirs] * len(made), board.fen()
            if not theirs:
                break
            board.push_uci(rng.choice(sorted(theirs)))
        assert board.ply() > 4
    # A file that stands there stays.
    before = (tmp_path / "made.cto").read_bytes()
    done = tabiya("convert", books["abk"], "-o", "made.ctg")
    assert done.returncode == 3 and b"exists already" in done.stderr
    assert (tmp_path / "made.cto").read_bytes() == before


def test_colours_of_weights(tabiya, books, tmp_path):
    """An Arena book as .ctg: with --green the heavy moves are green, and no others are played."""
    done = tabiya("convert", books["abk"], "-o", "green.ctg", "--green", "30")
    assert done.returncode == 0, done.stderr
    done = tabiya("show", "green.ctg", books["abk"], "--json")
    green, plain = (json.loads(line)["moves"] for line in done.stdout.splitlines())
    total = sum(move["weight"] for move in plain)
    heavy = {move["uci"] for move in plain if move["weight"] * 1000 >= total * 300}
    assert heavy and heavy == {move["uci"] for move in green if move["recommended"]}
    assert heavy == {move["uci"] for move in green if move["playable"]}
    assert {move["uci"] for move in green} == {move["uci"] for move in plain}
    done = tabiya("convert", books["abk"], "-o", "plain.ctg")
    assert b"--green turns them into colors" in done.stdout
