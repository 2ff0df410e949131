"""The test's own client against a bare engine: what it asserts of tabiya must hold there too."""

import sys

import chess
import chess.polyglot
import pytest

from client import Ended, Hang, eventually
from polyglot_writer import Book, after


def test_a_bare_engine_is_understood(run, stockfish):
    client = run(stockfish)
    assert client.start()[-1] == "readyok"
    answer = client.go("depth 3", "position startpos moves e2e4")
    assert chess.Move.from_uci(answer.move) in after("e2e4").legal_moves
    assert answer.book is None
    assert answer.pv is None
    assert client.quit() == 0


def test_a_silent_program_is_a_hang_and_an_ended_one_an_end(run):
    client = run(sys.executable, "-c", "import sys; sys.stdin.readline(); print('bye')")
    with pytest.raises(Hang):
        client.line(timeout=0.2)
    client.send("go")
    assert client.line() == "bye"
    with pytest.raises(Ended):
        client.line()
    assert client.wait() == 0


def test_what_never_comes_is_named():
    assert eventually("it comes", iter([0, "", "here"]).__next__) == "here"
    with pytest.raises(AssertionError, match="waited 0.01 s in vain: it comes"):
        eventually("it comes", lambda: None, timeout=0.01)


def test_written_books_are_read_back_by_python_chess(tmp_path):
    castling = after("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5")
    promotion = chess.Board("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    book = Book().line("e2e4 e7e5", weight=7).add(castling, "e1g1", 3).add(promotion, "a7a8n", 2)
    path = book.write(tmp_path / "a.bin")
    with chess.polyglot.open_reader(path) as reader:
        assert [(entry.move.uci(), entry.weight) for entry in reader.find_all(chess.Board())] == [("e2e4", 7)]
        assert reader.find(castling).move == chess.Move.from_uci("e1g1")
        assert reader.find(promotion).move == chess.Move.from_uci("a7a8n")
    assert len(path.read_bytes()) == 4 * 16
