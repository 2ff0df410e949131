"""python-chess's SimpleEngine: everything that it does with Stockfish it does with tabiya around it."""

import logging

import chess
import chess.engine
import chess.polyglot
import pytest

from client import HANG
from polyglot_writer import Book, after
from recording import popen

OUT_OF_BOOK = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1PN2/PP3PPP/R2QKB1R w KQ - 0 8"
LIMIT = chess.engine.Limit(time=0.05)


@pytest.fixture(autouse=True)
def no_complaint(caplog):
    """python-chess warns of each line that the protocol does not allow: there must be none."""
    with caplog.at_level(logging.WARNING, logger="chess.engine"):
        yield
    records = caplog.get_records("setup") + caplog.get_records("call")
    complaints = [record.getMessage() for record in records if record.name == "chess.engine"]
    # What is said on standard error, once, when books are silent.
    said = [text for text in complaints if "that is analysis" in text]
    assert complaints == said and len(said) <= 1


@pytest.fixture
def simple(tabiya_exe, stockfish, gnu_book, tmp_path):
    engine = popen([tabiya_exe, "--engine", stockfish, "--book", gnu_book, "--seed", "17"], tmp_path)
    yield engine
    engine.close()


@pytest.fixture
def bare(stockfish, tmp_path):
    engine = popen([stockfish], tmp_path)
    yield engine
    engine.close()


def book_moves(path, board):
    with chess.polyglot.open_reader(path) as reader:
        return {entry.move for entry in reader.find_all(board, minimum_weight=1)}


def test_it_introduces_itself_with_all_of_the_engines_options(simple, bare):
    assert "Stockfish" in simple.id["name"]
    assert simple.id["author"] == bare.id["author"]
    for name, option in bare.options.items():
        assert simple.options[name] == option
    own = {name for name in simple.options if name not in bare.options}
    assert own == {
        "UCI_Opponent",
        "OwnBook",
        "Book File",
        "Book White",
        "Book Black",
        "Book Variety",
        "Book Depth",
        "Book Threshold",
        "Book Games",
        "Book Reserve",
        "Book Max Loss",
        "Book Guard",
        "Book Tournament",
        "Book Factor",
        "Book Threefold",
        "Book Weights",
        "Book Opening",
        "Book Fresh",
        "Book Fresh File",
        "Book Ponder",
        "Book Score",
        "Book Learn",
        "Book Learn Margin",
        "Book Seed",
        "Book Log",
    }
    assert simple.options["Book Variety"].type == "spin"
    assert simple.options["Book Variety"].min == 0 and simple.options["Book Variety"].max == 100
    assert simple.options["OwnBook"].default is True


def test_it_plays_from_the_book_and_with_the_engine(simple, gnu_book):
    result = simple.play(chess.Board(), LIMIT, info=chess.engine.INFO_ALL)
    assert result.move in book_moves(gnu_book, chess.Board())
    assert result.info["pv"][0] == result.move
    assert result.info["depth"] == 0
    board = chess.Board(OUT_OF_BOOK)
    assert not book_moves(gnu_book, board)
    result = simple.play(board, LIMIT, info=chess.engine.INFO_ALL)
    assert result.move in board.legal_moves
    assert result.info["depth"] > 0


@pytest.mark.parametrize(
    "limit",
    [
        chess.engine.Limit(depth=5),
        chess.engine.Limit(nodes=1000),
        chess.engine.Limit(time=0.05),
        chess.engine.Limit(white_clock=1, black_clock=1, white_inc=0.1, black_inc=0.1, remaining_moves=10),
    ],
)
def test_every_kind_of_limit(simple, limit, gnu_book):
    assert simple.play(chess.Board(), limit).move in book_moves(gnu_book, chess.Board())
    board = chess.Board(OUT_OF_BOOK)
    assert simple.play(board, limit).move in board.legal_moves


def test_analysis_is_the_engines_in_the_book_too(simple):
    info = simple.analyse(chess.Board(), chess.engine.Limit(depth=8))
    assert info["depth"] >= 8
    assert info["score"].relative.score() is not None
    lines = simple.analyse(chess.Board(), chess.engine.Limit(depth=8), multipv=3)
    assert len(lines) == 3
    assert len({line["pv"][0] for line in lines}) == 3


def test_endless_analysis_is_stopped(simple):
    with simple.analysis(chess.Board()) as analysis:
        for info in analysis:
            if info.get("depth", 0) >= 6:
                break
    # After leaving, the engine is free again.
    assert simple.play(chess.Board(OUT_OF_BOOK), LIMIT).move


def test_analysis_restricted_to_moves(simple):
    moves = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("h2h3")]
    info = simple.analyse(chess.Board(), chess.engine.Limit(depth=6), root_moves=moves)
    assert info["pv"][0] in moves
    assert simple.play(chess.Board(), LIMIT, root_moves=moves).move in moves


def test_playing_after_analysing_and_back(simple, gnu_book):
    for _ in range(3):
        assert simple.analyse(chess.Board(), chess.engine.Limit(depth=6))["depth"] >= 6
        assert simple.play(chess.Board(), LIMIT).move in book_moves(gnu_book, chess.Board())


def test_configuring(simple, gnu_book, tmp_path):
    simple.configure({"Hash": 2, "Book Variety": 0, "book depth": 1})
    first = simple.play(chess.Board(), LIMIT).move
    assert all(simple.play(chess.Board(), LIMIT, game=number).move == first for number in range(5))
    result = simple.play(after("e2e4 e7e5"), LIMIT, info=chess.engine.INFO_ALL)
    assert result.info["depth"] > 0, "beyond the book's depth"
    simple.configure({"Book File": str(Book().line("a2a3").write(tmp_path / "a.bin"))})
    assert simple.play(chess.Board(), LIMIT).move == chess.Move.from_uci("a2a3")
    simple.configure({"OwnBook": False})
    result = simple.play(chess.Board(), LIMIT, info=chess.engine.INFO_ALL)
    assert result.info["depth"] > 0


def test_options_for_one_move_only(simple, gnu_book):
    result = simple.play(chess.Board(), LIMIT, info=chess.engine.INFO_ALL, options={"OwnBook": False})
    assert result.info["depth"] > 0
    assert simple.play(chess.Board(), LIMIT).move in book_moves(gnu_book, chess.Board())


def test_a_wrong_option_is_refused_before_it_is_sent(simple):
    with pytest.raises(chess.engine.EngineError):
        simple.configure({"Book Variety": 101})
    with pytest.raises(chess.engine.EngineError):
        simple.configure({"No Such Option": 1})


def test_ping(simple):
    for _ in range(20):
        simple.ping()


def test_pondering_on_the_expected_reply_and_on_another(simple, gnu_book):
    """Hits and misses, in the book and beyond it: python-chess does not go on unless each search is answered."""
    limit = chess.engine.Limit(white_clock=1, black_clock=1, white_inc=0.01, black_inc=0.01)
    hits = misses = 0
    for game in range(4):
        board = chess.Board()
        while board.ply() < 40 and not board.is_game_over():
            result = simple.play(board, limit, game=game, ponder=True)
            assert result.move in board.legal_moves
            board.push(result.move)
            if board.is_game_over():
                break
            replies = list(board.legal_moves)
            if result.ponder and (board.ply() + game) % 3:
                board.push(result.ponder)
                hits += 1
            else:
                board.push(next((move for move in replies if move != result.ponder), replies[0]))
                misses += 1
    simple.ping()
    assert hits > 20 and misses > 10
    protocol = simple.protocol
    assert len(protocol.sent("ponderhit")) > 10
    assert len(protocol.heard("bestmove")) == len(protocol.sent("go"))


def test_chess960(simple, tmp_path):
    book = Book().add(chess.Board.from_chess960_pos(364), "e2e4")
    simple.configure({"Book File": str(book.write(tmp_path / "960.bin"))})
    assert simple.play(chess.Board.from_chess960_pos(364), LIMIT).move == chess.Move.from_uci("e2e4")
    castling = chess.Board("1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w GBgb - 0 1", chess960=True)
    book = Book().add(castling, "c1g1")
    simple.configure({"Book File": str(book.write(tmp_path / "castling.bin"))})
    move = simple.play(castling, LIMIT).move
    assert castling.is_castling(move) and castling.is_legal(move)
    # And back to ordinary chess.
    ordinary = chess.Board("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1")
    simple.configure({"Book File": str(Book().add(ordinary, "e1g1").write(tmp_path / "ordinary.bin"))})
    assert simple.play(ordinary, LIMIT).move == chess.Move.from_uci("e1g1")


def test_what_debug_tells_is_tolerated(tabiya_exe, engine, gnu_book, tmp_path):
    simple = popen([tabiya_exe, *engine.recorded("--legal"), "--book", gnu_book], tmp_path)
    try:
        simple.protocol.loop.call_soon_threadsafe(simple.protocol.debug, True)
        assert simple.play(chess.Board(), LIMIT).move in book_moves(gnu_book, chess.Board())
        assert simple.play(chess.Board(OUT_OF_BOOK), LIMIT).move
        assert any(line.startswith("info string tabiya:") for line in simple.protocol.heard("info"))
        simple.protocol.loop.call_soon_threadsafe(simple.protocol.debug, False)
        simple.ping()
        assert engine.commands("debug") == ["debug on", "debug off"]
    finally:
        simple.close()


def test_quitting_while_it_analyses(tabiya_exe, stockfish, tmp_path):
    engine = popen([tabiya_exe, "--engine", stockfish], tmp_path)
    try:
        analysis = engine.analysis(chess.Board(OUT_OF_BOOK))
        engine.protocol.loop.call_soon_threadsafe(engine.protocol.send_line, "quit")
        with pytest.raises(chess.engine.EngineTerminatedError):
            analysis.wait()
        assert engine.returncode.result(HANG) == 0
    finally:
        engine.close()


def test_an_engine_that_dies_is_an_error_at_once(tabiya_exe, engine, tmp_path, caplog):
    simple = popen([tabiya_exe, *engine.argv("--die-on-go"), "--set", "OwnBook=false"], tmp_path)
    try:
        with pytest.raises(chess.engine.EngineTerminatedError):
            simple.play(chess.Board(), LIMIT)
        assert simple.returncode.result(HANG) == 4
    finally:
        simple.close()
    said = [record.getMessage() for record in caplog.get_records("call") if record.name == "chess.engine"]
    assert said and all("stderr >> tabiya: " in message for message in said), said
    # This much is due: standard error is where it belongs.
    caplog.clear()
