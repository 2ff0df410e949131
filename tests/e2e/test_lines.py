"""Bad positions, odd bytes, lines of any length and in any pieces: what passes, passes byte for byte."""

import pytest

from client import OUT_OF_BOOK, START
from polyglot_writer import Book


@pytest.mark.parametrize(
    "bad",
    [
        "position fen this is no fen",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq - 0 1",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNRR w KQkq - 0 1",
        "position fen rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "position fen",
        "position",
        "position startpos moves e2e5",
        "position startpos moves e2e4 nonsense g1f3",
        "position startpos moves e2e4 e2e4",
        "position startpos moves e7e8q",
        "position startpos moves \xe9\xff",
        "position nowhere",
        "position startpos moves 0000",
    ],
)
def test_a_bad_position_passes_byte_for_byte_and_gets_no_book_move(adapter, tmp_path, engine, bad):
    book = Book().line("e2e4 e7e5 g1f3 b8c6").line("d2d4").write(tmp_path / "a.bin")
    client = adapter("--book", book)
    client.start()
    client.send(START)
    answer = client.go("movetime 10", bad)
    assert not answer.book and answer.move == "h2h3", answer.lines
    heard = engine.heard()
    assert heard[heard.index("go movetime 10") - 1] == bad
    assert client.go("movetime 10", "position startpos moves e2e4").book, "play goes on with the next good position"
    assert client.quit() == 0


def test_a_finished_game_is_no_book_position(adapter, small_book):
    client = adapter("--book", small_book, engine_args=("--bestmove", "(none)"))
    client.start()
    assert client.go("movetime 10", "position startpos moves f2f3 e7e5 g2g4 d8h4").lines[-1] == "bestmove (none)"


# Bytes


def test_lines_may_end_in_windows_fashion(adapter, small_book):
    client = adapter("--book", small_book)
    client.send_bytes(b"uci\r\n")
    assert client.until("uciok")[-1] == "uciok"
    client.send_bytes(b"isready\r\n")
    assert client.until("readyok")[-1] == "readyok"
    client.send_bytes(f"setoption name Book File value {small_book}\r\n".encode())
    client.send_bytes(b"setoption name Book Variety value 0\r\nposition startpos moves d2d4 d7d5\r\ngo movetime 10\r\n")
    answer = client.answer()
    assert answer.move == "c2c4"
    assert not any("\r" in line for line in answer.lines)
    client.send_bytes(b"position startpos moves a2a3\r\ngo movetime 10\r\n")
    assert client.answer().move == "h2h3"
    client.send_bytes(b"quit\r\n")
    assert client.wait() == 0


def test_a_line_of_ten_megabytes_passes_whole(adapter, small_book, engine):
    client = adapter("--book", small_book)
    client.start()
    line = "xyzzy " + "plugh " * 1_700_000
    client.send(line)
    client.ready()
    assert line in engine.heard()
    assert client.go("movetime 10", START).move == "d2d4"


def test_a_position_line_of_ten_megabytes_does_no_harm(adapter, small_book, engine):
    client = adapter("--book", small_book)
    client.start()
    line = "position startpos moves " + "g1f3 g8f6 f3g1 f6g8 " * 500_000
    answer = client.go("movetime 10", line)
    assert answer.lines[-1].startswith("bestmove ")
    assert client.go("movetime 10", START).move == "d2d4"
    assert engine.violations() == []


def test_nul_bytes_pass_and_do_no_harm(adapter, small_book, engine):
    client = adapter("--book", small_book)
    client.start()
    client.send("\x00\x00what\x00 is this\x00")
    client.send("\x00go movetime 10")
    client.send("position startpos\x00 moves e2e4\x00")
    client.send("setoption name Odd\x00 value \x00\x00")
    client.ready()
    heard = engine.heard()
    assert "\x00\x00what\x00 is this\x00" in heard
    assert "\x00go movetime 10" in heard
    assert "setoption name Odd\x00 value \x00\x00" in heard
    assert client.go("movetime 10", START).move == "d2d4"


def test_all_byte_values_pass(adapter, engine):
    client = adapter()
    client.start()
    line = "xyzzy " + "".join(chr(byte) for byte in range(256) if byte not in b"\r\n")
    client.send(line)
    client.ready()
    assert line in engine.heard()


@pytest.mark.parametrize(
    "line",
    [
        "register later",
        "register name A B code 12",
        "bench",
        "d",
        "flip",
        "",
        " ",
        "xyzzy  two  blanks ",
        "UCI",
        "eval x",
        "go perft 3",
        "debug on",
        "debug off",
    ],
)
def test_lines_that_are_not_for_the_adapter_pass_byte_for_byte(adapter, engine, line):
    client = adapter()
    client.start()
    client.send(line)
    client.ready()
    assert line in engine.heard()


def test_debug_lets_the_adapter_tell_what_it_does(adapter, small_book, engine):
    client = adapter("--book", small_book)
    client.start()
    quiet = client.go("movetime 10", OUT_OF_BOOK).lines
    assert not any(line.startswith("info string tabiya:") for line in quiet)
    client.send("debug on")
    traced = client.go("movetime 10", OUT_OF_BOOK).lines
    assert any(line.startswith("info string tabiya:") for line in traced)
    client.send("debug off")
    assert client.go("movetime 10", OUT_OF_BOOK).lines == quiet
    assert engine.commands("debug") == ["debug on", "debug off"]


def test_a_game_of_four_hundred_moves_passes_and_is_followed(adapter, tmp_path, engine):
    shuffle = ["g1f3", "g8f6", "b1c3", "b8c6", "f3g1", "f6g8", "c3b1", "c6b8"]
    moves = " ".join(shuffle * 100)
    book = Book().line("e2e4 e7e5").write(tmp_path / "a.bin")
    client = adapter("--book", book)
    client.start()
    position = f"position startpos moves {moves}"
    assert len(position) > 4_000
    assert client.go("movetime 10", position).move == "e2e4", "it is the starting position again"
    position += " a2a3 " + " ".join(["g8f6", "g1f3", "f6g8", "f3g1"] * 30)
    assert client.go("movetime 10", position).move == "h2h3"
    assert position in engine.heard()


def test_a_game_is_followed_move_by_move(adapter, small_book):
    """Each line extends the last one, takes moves back, or begins anew: the answer is the same as for a fresh line."""
    client = adapter("--book", small_book)
    client.start()
    for moves, expected in [
        ("", "d2d4"),
        ("d2d4", "d7d5"),
        ("d2d4 d7d5", "c2c4"),
        ("d2d4 d7d5 c2c4", "e7e6"),
        ("d2d4", "d7d5"),
        ("a2a3", "h2h3"),
        ("d2d4 d7d5", "c2c4"),
        ("d2d4 d7d6", "h2h3"),
        ("", "d2d4"),
    ]:
        position = f"{START} moves {moves}" if moves else START
        assert client.go("movetime 10", position).move == expected
        if moves:
            client.send("ucinewgame")


@pytest.mark.parametrize("size", [1, 3, 7, 64, 4096])
def test_the_pieces_in_which_input_comes_do_not_matter(adapter, small_book, size, engine):
    client = adapter("--book", small_book)
    data = (
        b"uci\nisready\nposition startpos moves d2d4 d7d5\ngo movetime 10\n"
        b"ucinewgame\nposition startpos moves a2a3\ngo depth 3\n"
    )
    for begin in range(0, len(data), size):
        client.send_bytes(data[begin : begin + size])
    client.until("readyok")
    assert [client.answer().move for _ in range(2)] == ["c2c4", "h2h3"]
    assert engine.violations() == []
