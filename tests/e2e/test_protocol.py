"""Who answers a question, and in which order."""

import pytest

from client import OUT_OF_BOOK, START, bestmoves
from polyglot_writer import Book, after


@pytest.mark.parametrize(
    "how",
    [
        "movetime 10",
        "depth 5",
        "nodes 100",
        "wtime 1000 btime 1000 winc 10 binc 10 movestogo 40",
        "wtime -5 btime 10",
        "movestogo 256 wtime 1 btime 1",
        "depth 300",
        "",
        " ",
        "depth",
        "foo bar",
    ],
)
def test_the_book_answers_under_every_limit(adapter, small_book, engine, how):
    client = adapter("--book", small_book)
    client.start()
    answer = client.go(how, START)
    assert answer.lines[-1] == "bestmove d2d4 ponder d7d5"
    assert answer.book and answer.book["file"].endswith("small.bin")
    assert (answer.book["playable"], answer.book["moves"]) == ("1", "1")
    assert answer.pv[:4] == ["d2d4", "d7d5", "c2c4", "e7e6"]
    client.ready()
    assert engine.commands("go") == []
    assert not any("\r" in line for line in answer.lines)


@pytest.mark.parametrize("how", ["infinite", "mate 3", "mate 256", "infinite depth 3", "wtime 1000 btime 1000 mate 2"])
def test_analysis_is_the_engines(adapter, small_book, engine, how):
    client = adapter("--book", small_book)
    client.start()
    client.send(START, f"go {how}")
    lines = client.ready()
    if "infinite" in how:
        assert bestmoves(lines) == []
        client.send("stop")
    elif bestmoves(lines):
        pass
    else:
        lines += client.answer().lines
    if "infinite" in how:
        lines += client.answer().lines
    assert bestmoves(lines) == ["bestmove h2h3"]
    assert not any(line.startswith("info depth 0 ") for line in lines)
    assert engine.commands("position", "go") == [START, f"go {how}"]


@pytest.mark.parametrize(
    "on, off",
    [
        ("setoption name MultiPV value 2", "setoption name MultiPV value 1"),
        ("setoption name multipv value 3", "setoption name MULTIPV value 1"),
        ("setoption name UCI_AnalyseMode value true", "setoption name UCI_AnalyseMode value false"),
        ("setoption name OwnBook value false", "setoption name OwnBook value true"),
    ],
)
def test_settings_that_silence_the_book_and_let_it_speak_again(adapter, small_book, on, off):
    client = adapter("--book", small_book)
    client.start()
    client.send(on)
    answer = client.go("movetime 10", START)
    assert not answer.book and answer.move == "h2h3"
    client.send(off)
    assert client.go("movetime 10", START).move == "d2d4"


def test_searchmoves_takes_a_book_move_only_from_its_list(adapter, tmp_path, engine):
    book = Book().at(e2e4=90, d2d4=10, c2c4=10).write(tmp_path / "three.bin")
    client = adapter("--book", book)
    client.start()
    for _ in range(20):
        assert client.go("movetime 10 searchmoves d2d4 a2a3", START).move == "d2d4"
    assert {client.go("searchmoves c2c4 d2d4 movetime 10", START).move for _ in range(60)} == {"c2c4", "d2d4"}
    answer = client.go("movetime 10 searchmoves a2a3 b2b3", START)
    assert not answer.book and answer.move == "h2h3"
    assert engine.commands("go") == ["go movetime 10 searchmoves a2a3 b2b3"]


def test_a_go_without_a_position_is_about_the_start(adapter, small_book):
    client = adapter("--book", small_book)
    client.start()
    assert client.go("movetime 10").move == "d2d4"


def test_a_gui_that_never_says_uci_or_ucinewgame_is_served(adapter, small_book):
    client = adapter("--book", small_book)
    assert client.go("movetime 10", START).move == "d2d4"
    assert client.go("movetime 10", OUT_OF_BOOK).move == "h2h3"
    assert client.go("movetime 10", "position startpos moves d2d4 d7d5").move == "c2c4"


def test_uci_may_be_said_again(adapter, small_book):
    client = adapter("--book", small_book)
    first = client.start()
    second = client.start()
    assert second == first
    assert client.go("movetime 10", START).move == "d2d4"


def test_a_position_in_fen_is_known_as_well(adapter, small_book):
    client = adapter("--book", small_book)
    client.start()
    board = after("d2d4 d7d5")
    assert client.go("movetime 10", f"position fen {board.fen()}").move == "c2c4"
    assert client.go("movetime 10", f"position fen {board.fen()} moves c2c4").move == "e7e6"
    short = " ".join(board.fen().split()[:4])
    assert client.go("movetime 10", f"position fen {short} moves c2c4").move == "e7e6"


def test_a_position_that_the_book_reaches_by_another_order_is_known(adapter, tmp_path):
    book = Book().at("c2c4 e7e6 d2d4", d7d5=1).write(tmp_path / "order.bin")
    client = adapter("--book", book)
    client.start()
    assert client.go("movetime 10", "position startpos moves d2d4 e7e6 c2c4").move == "d7d5"


def test_blanks_do_not_matter(adapter, small_book):
    client = adapter("--book", small_book)
    client.start()
    assert client.go("movetime  10 ", "  position   startpos   moves  d2d4\td7d5  ").move == "c2c4"
    client.send_bytes(b"\tposition startpos\n \t go\tmovetime 10\n")
    assert client.answer().move == "d2d4"


def test_an_unknown_word_in_front_is_skipped(adapter, small_book):
    client = adapter("--book", small_book)
    client.start()
    client.send("joho position startpos", "joho go movetime 10")
    assert client.answer().move == "d2d4"


# Order


def test_a_book_move_waits_for_the_readyok_that_is_owed(adapter, small_book):
    client = adapter("--book", small_book, engine_args=("--ready-delay", "300"))
    client.start()
    client.send("isready", START, "go movetime 10")
    lines = client.until("bestmove")
    assert "readyok" in lines, "the book's answer overtook it"
    client.send("isready", "isready", START, "go movetime 10")
    assert client.until("bestmove").count("readyok") == 2


def test_a_go_while_a_search_runs_is_answered_in_its_turn(adapter, small_book, engine):
    client = adapter(
        "--book",
        small_book,
        engine_args=("--think", "300", "--bestmove", "h2h3", "--bestmove", "g2g3"),
    )
    client.start()
    client.send(OUT_OF_BOOK, "go movetime 1000", START, "go movetime 10", OUT_OF_BOOK, "go movetime 2000")
    answers = [client.answer() for _ in range(3)]
    assert [answer.move for answer in answers] == ["h2h3", "d2d4", "g2g3"]
    assert [bool(answer.book) for answer in answers] == [False, True, False]
    assert engine.violations() == []
    assert engine.commands("go") == ["go movetime 1000", "go movetime 2000"]


def test_many_questions_at_once_get_as_many_answers(adapter, small_book, engine):
    client = adapter("--book", small_book, engine_args=("--think", "1", "--bestmove", "h2h3"))
    client.start()
    asked = [START, OUT_OF_BOOK, "position startpos moves d2d4 d7d5", OUT_OF_BOOK, OUT_OF_BOOK] * 40
    for position in asked:
        client.send(position, "go movetime 10")
    expected = {START: "d2d4", OUT_OF_BOOK: "h2h3"}
    assert [client.answer().move for _ in asked] == [expected.get(position, "c2c4") for position in asked]
    assert bestmoves(client.ready()) == []
    assert engine.violations() == []


def test_stop_ends_a_search_and_the_questions_that_wait(adapter, engine):
    client = adapter(engine_args=("--think", "3600000", "--bestmove", "h2h3"))
    client.start()
    client.send(OUT_OF_BOOK, "go infinite", OUT_OF_BOOK, "go infinite")
    client.ready()
    client.send("stop", "stop")
    assert [client.answer().move for _ in range(2)] == ["h2h3", "h2h3"]
    assert engine.violations() == []


def test_a_stop_after_a_book_answer_does_not_reach_the_child(adapter, small_book, engine):
    client = adapter("--book", small_book, engine_args=("--strict", "--bestmove", "h2h3"))
    client.start()
    for _ in range(5):
        client.send(START, "go movetime 10", "stop")
        assert client.answer().move == "d2d4"
        client.send("stop")
    client.ready()
    assert engine.commands("stop", "go") == []
    assert engine.violations() == []


def test_a_stop_while_idle_does_not_reach_the_child(adapter, engine):
    client = adapter(engine_args=("--strict",))
    client.start()
    client.send("stop", "ponderhit", "stop")
    client.ready()
    assert engine.commands("stop") == []
    assert engine.violations() == []


def test_the_child_hears_the_position_before_anything_that_depends_on_it(adapter, engine):
    client = adapter()
    client.start()
    client.send(START, "d", OUT_OF_BOOK, "eval")
    client.ready()
    assert engine.commands("position", "d", "eval") == [START, "d", OUT_OF_BOOK, "eval"]
