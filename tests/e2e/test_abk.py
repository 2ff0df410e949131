"""Arena books: games with a real one, book sets, limits, and the commands."""

import json
import os

import chess
import pytest

from abk_book import HEADER, ROOT, Abk
from client import START
from polyglot_writer import after, key, one_line
from readers import read_abk

PLIES = int(os.environ.get("TABIYA_E2E_PLIES", "60"))


@pytest.fixture(scope="session")
def perfect_abk(sample):
    return sample("abk/Perfect2021.abk")


def playable(known, board):
    """The moves that some record of the position gives a priority."""
    return {record.move.uci() for record in known.get(key(board), []) if record.priority}


def position(board):
    moves = " ".join(move.uci() for move in board.move_stack)
    return f"position startpos moves {moves}" if moves else START


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_game_with_a_real_book(run, tabiya_exe, stockfish, perfect_abk, seed):
    """The book answers as long as it knows the position, and where it ends Stockfish plays on."""
    known = read_abk.index(perfect_abk)
    client = run(tabiya_exe, "--engine", stockfish, "--book", perfect_abk, "--seed", seed, "--set", "Book Threshold=0")
    client.start()
    board = chess.Board()
    by_book = []
    while not board.is_game_over() and board.ply() < PLIES:
        expected = playable(known, board)
        answer = client.go("nodes 2000", position(board))
        move = chess.Move.from_uci(answer.move)
        assert move in board.legal_moves, board.fen()
        # A third repetition is left to the engine.
        assert bool(answer.book) is bool(expected) or board.can_claim_threefold_repetition(), board.fen()
        if answer.book:
            assert answer.move in expected
            assert answer.book["file"].endswith("Perfect2021.abk")
            assert int(answer.book["playable"]) == len(expected)
        by_book.append(bool(answer.book))
        board.push(move)
    assert by_book[:4] == [True] * 4 and not by_book[-1], by_book
    assert client.quit() == 0


def test_a_set_of_an_arena_and_a_polyglot_book(run, tabiya_exe, stockfish, perfect_abk, tmp_path):
    """The Arena book first, then a Polyglot book where it has nothing, then the engine."""
    known = read_abk.index(perfect_abk)
    board = chess.Board()
    while moves := playable(known, board):
        board.push_uci(min(moves))
    reply = min(move.uci() for move in board.legal_moves)
    line = " ".join(move.uci() for move in board.move_stack)
    second = one_line(tmp_path / "second.bin", f"{line} {reply}")
    client = run(tabiya_exe, "--engine", stockfish, "--book", perfect_abk, "--book", second, "--set", "Book Threshold=0")
    client.start()
    game = chess.Board()
    for move in board.move_stack:
        answer = client.go("nodes 500", position(game))
        assert answer.book["file"].endswith("Perfect2021.abk") and answer.move in playable(known, game)
        game.push(move)
    answer = client.go("nodes 500", position(game))
    assert answer.move == reply and answer.book["file"].endswith("second.bin")
    game.push_uci(reply)
    answer = client.go("nodes 500", position(game))
    assert answer.book is None and chess.Move.from_uci(answer.move) in game.legal_moves


def test_a_transposition_and_a_position_from_a_fen_are_found(adapter, tmp_path):
    book = Abk().line("g1f3 g8f6 c2c4 e7e6").line("c2c4 g8f6").write(tmp_path / "a.abk")
    client = adapter("--book", book)
    client.start()
    assert client.go("movetime 10", "position startpos moves c2c4 g8f6 g1f3").move == "e7e6"
    fen = after("g1f3 g8f6 c2c4").fen()
    assert client.go("movetime 10", f"position fen {fen}").move == "e7e6"
    assert client.go("movetime 10", "position startpos moves a2a3").book is None


def test_the_headers_limits_act_in_tournament_mode(adapter, tmp_path):
    book = Abk(min_games=5, last_ply=2).line("e2e4 e7e5 g1f3", games=9).line("e2e4", games=9)
    book = book.line("d2d4", games=4).line("c2c4", games=900, priority=0).write(tmp_path / "a.abk")
    client = adapter("--book", book, "--set", "Book Variety=100")
    client.start()
    assert {client.go("movetime 10", START).move for _ in range(20)} == {"e2e4"}
    assert client.go("movetime 10", "position startpos moves e2e4 e7e5").book is None
    client.set("Book Tournament", "false")
    assert {client.go("movetime 10", START).move for _ in range(60)} == {"e2e4", "d2d4"}
    assert client.go("movetime 10", "position startpos moves e2e4 e7e5").move == "g1f3"


def test_info_and_check_tell_what_the_file_says(tabiya, tmp_path):
    book = Abk("For tests", "Ada L.", min_games=2).line("e2e4 e7e5 g1f3", games=2).line("d2d4", games=3)
    path = book.write(tmp_path / "a.abk")
    text = tabiya("info", path).stdout.decode()
    for words in ("For tests", "Ada L.", "at least 2 games", "priority 1, games 1, score 0"):
        assert words in text
    line = json.loads(tabiya("info", "--json", path).stdout)
    assert list(line) == [
        *("book", "format", "files", "entries", "positions", "moves"),
        *("games", "deepest", "reachable", "learned", "rules", "oddities"),
    ]
    assert (line["format"], line["entries"], line["positions"], line["games"]) == ("abk", 4, 3, 5)
    assert tabiya("check", path).returncode == 0
    # A circle, and a reply outside of the file.
    book.records[2][8] = ROOT
    book.records[3][8] = 5000
    book.write(path)
    done = tabiya("check", path)
    assert done.returncode == 1
    for number in (2, 3):
        assert f"(byte {HEADER + 28 * number})" in done.stdout.decode()


def test_a_cut_header_is_refused_with_its_offset(tabiya, tmp_path):
    path = Abk().line("e2e4").write(tmp_path / "a.abk")
    path.write_bytes(path.read_bytes()[:20000])
    done = tabiya("show", path)
    assert done.returncode == 3
    assert "the file ends inside its header of 25200 bytes (byte 20000)" in done.stderr.decode()
