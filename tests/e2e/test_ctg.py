"""A ChessBase book under a real client, through the commands, and from files that do not fit together."""

import json
import shutil
from pathlib import Path

import chess
import chess.engine
import pytest

from recording import popen

PARTS = ("ctg", "cto", "ctb")


@pytest.fixture
def perfect_ctg(sample):
    return sample("ctg/perfect2021/Perfect2021.ctg")


def shown(tabiya, book, board, *args):
    done = tabiya("show", book, "--json", "--fen", board.fen(), *args)
    return {move["uci"]: move for move in json.loads(done.stdout)["moves"]}


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_game_is_played_from_the_book_until_it_ends(tmp_path, tabiya_exe, tabiya, engine, perfect_ctg, seed):
    player = popen([tabiya_exe, *engine.argv("--legal"), "--book", perfect_ctg, "--seed", seed], tmp_path)
    try:
        board = chess.Board()
        from_book = []
        while board.ply() < 60:
            result = player.play(board, chess.engine.Limit(time=0.01))
            assert result.move in board.legal_moves
            answer = player.protocol.answers()[-1][2]
            known = shown(tabiya, perfect_ctg, board)
            playable = {uci for uci, move in known.items() if move["playable"]}
            assert bool(answer.book) == bool(playable), board.fen()
            if answer.book:
                assert result.move.uci() in playable
                told = {uci: weight for uci, _, weight in answer.candidates}
                assert told.items() <= {uci: move["weight"] for uci, move in known.items()}.items()
                assert answer.book["file"].endswith("Perfect2021.ctg")
            from_book.append(bool(answer.book))
            board.push(result.move)
            if len(from_book) > 4 and not any(from_book[-4:]):
                break
        player.quit()
    finally:
        player.close()
    assert sum(from_book) >= 6, from_book
    assert not from_book[-1], "the book ended"


def test_verdicts_act_in_tournaments_only(tabiya, perfect_ctg):
    start = chess.Board()
    known = shown(tabiya, perfect_ctg, start)
    playable = {uci for uci, move in known.items() if move["playable"]}
    sound = {uci for uci, move in known.items() if move["recommended"] and move["annotation"] in (None, "!", "!!", "!?")}
    assert playable == sound and playable and playable != set(known)
    off = shown(tabiya, perfect_ctg, start, "--set", "Book Tournament=false", "--set", "Book Threshold=0")
    marked = {uci for uci, move in off.items() if move["annotation"] in ("?", "??", "?!")}
    assert {uci for uci, move in off.items() if move["playable"]} == {
        uci for uci, move in off.items() if move["weight"] and uci not in marked
    }
    for move in known.values():
        assert move["weight"] == 2 * move["wins"] + move["draws"]
        assert move["games"] >= move["wins"] + move["draws"] + move["losses"]


def test_any_name_in_any_case_opens_the_book(tabiya, run, tabiya_exe, engine, perfect_ctg, tmp_path):
    for part, name in zip(PARTS, ("Book.CTG", "book.cto", "BOOK.Ctb")):
        shutil.copyfile(perfect_ctg.with_suffix(f".{part}"), tmp_path / name)
    for name in ("Book.CTG", "book.cto", "BOOK.Ctb", "bOOK.ctg"):
        line = json.loads(tabiya("show", name, "--json").stdout)
        assert line["found"] and line["format"] == "ctg" and line["book"] == name
        client = run(tabiya_exe, *engine.argv("--bestmove", "h2h3"), "--book", name)
        client.start()
        assert client.go(position="position startpos").book, name
        assert client.quit() == 0


def test_the_commands_know_the_format(tabiya, perfect_ctg):
    line = json.loads(tabiya("info", perfect_ctg, "--json").stdout)
    assert (line["format"], line["entries"], line["games"], line["reachable"]) == ("ctg", 104224, 72827, 103969)
    assert [Path(file["path"]).suffix for file in line["files"]] == [".ctg", ".cto", ".ctb"]
    done = tabiya("check", perfect_ctg)
    assert done.returncode == 0 and done.stdout.decode().endswith("Perfect2021.ctg: sound\n")


def test_what_does_not_fit_together_is_told(tabiya, run, tabiya_exe, engine, perfect_ctg, tmp_path):
    simple = perfect_ctg.parents[1] / "simple" / "simple.ctg"
    for part in PARTS:
        shutil.copyfile(perfect_ctg.with_suffix(f".{part}"), tmp_path / f"a.{part}")
    shutil.copyfile(simple.with_suffix(".cto"), tmp_path / "a.cto")
    done = tabiya("show", "a.ctg")
    assert done.returncode == 3
    assert done.stderr.decode().startswith("tabiya: a.cto: ") and " it does not belong to a.ctb (byte " in done.stderr.decode()
    (tmp_path / "a.cto").unlink()
    done = tabiya("show", "a.ctg")
    assert done.returncode == 3
    assert done.stderr.decode().startswith("tabiya: a.cto: this part of the CTG book a.ctg is missing: put ")
    # Where the book may be missing, the engine plays on.
    client = run(tabiya_exe, *engine.argv("--bestmove", "h2h3"), "--book", "a.ctg", "--book-optional")
    assert any("this part of the CTG book" in line for line in client.start())
    assert client.go(position="position startpos").move == "h2h3"
    assert client.quit() == 0
