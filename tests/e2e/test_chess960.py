"""Castling, in both notations and both directions."""

import pytest

from polyglot_writer import Book, after

CASTLING = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize("own, king_takes_rook", [("e1g1", "e1h1"), ("e1c1", "e1a1")])
def test_castling_goes_out_in_the_notation_of_the_session(adapter, tmp_path, own, king_takes_rook):
    book = Book().add(after(fen=CASTLING), own).write(tmp_path / "castling.bin")
    client = adapter("--book", book)
    client.start()
    position = f"position fen {CASTLING}"
    assert client.go("movetime 10", position).move == own
    client.set("UCI_Chess960", "true")
    answer = client.go("movetime 10", position)
    assert answer.book and answer.move == king_takes_rook
    assert answer.pv[0] == king_takes_rook
    assert answer.candidates[0][0] == king_takes_rook
    client.set("UCI_Chess960", "false")
    assert client.go("movetime 10").move == own


def test_castling_comes_in_in_the_notation_of_the_session(adapter, tmp_path):
    castled = after("e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1")
    book = Book().add(castled, "g8f6").write(tmp_path / "castled.bin")
    client = adapter("--book", book)
    client.start()
    moves = "position startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"
    assert client.go("movetime 10", f"{moves} e1g1").move == "g8f6"
    client.set("UCI_Chess960", "true")
    assert client.go("movetime 10", f"{moves} e1h1").move == "g8f6"


def test_a_shuffled_position_castles_from_the_book(adapter, tmp_path, engine):
    fen = "1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w GBgb - 0 1"
    board = after(fen=fen, chess960=True)
    book = Book().add(board, "c1g1", 5)
    done = after("c1g1", fen=fen, chess960=True)
    book.add(done, "c8b8", 5)
    client = adapter("--book", book.write(tmp_path / "shuffled.bin"))
    client.start()
    client.set("UCI_Chess960", "true")
    answer = client.go("movetime 10", f"position fen {fen}")
    assert answer.book and answer.lines[-1] == "bestmove c1g1 ponder c8b8"
    assert client.go("movetime 10", f"position fen {fen} moves c1g1").move == "c8b8"
    client.ready()
    assert "setoption name UCI_Chess960 value true" in engine.heard()


def test_the_old_form_of_castling_in_a_book_is_understood(adapter, tmp_path):
    board = after(fen=CASTLING)
    old = board.parse_uci("e1g1")
    book = Book().raw(board, old.to_square | old.from_square << 6).write(tmp_path / "old.bin")
    client = adapter("--book", book)
    client.start()
    assert client.go("movetime 10", f"position fen {CASTLING}").move == "e1g1"
    client.set("UCI_Chess960", "true")
    assert client.go("movetime 10").move == "e1h1"
