"""`go ponder` in the book and out of it."""

import pytest

from client import OUT_OF_BOOK, START, bestmoves


def test_go_ponder_is_never_answered_before_its_time(adapter, small_book, engine):
    client = adapter("--book", small_book)
    client.start()
    client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000")
    for _ in range(5):
        assert bestmoves(client.ready()) == []
    assert engine.commands("go") == ["go ponder wtime 1000 btime 1000"], "the child thinks meanwhile"
    client.send("ponderhit")
    answer = client.answer()
    assert answer.book and answer.lines[-1] == "bestmove c2c4 ponder e7e6"
    assert bestmoves(client.ready()) == [], "the child's own bestmove is swallowed"
    assert engine.commands("stop", "ponderhit") == ["stop"]
    assert engine.violations() == []
    assert client.go("movetime 10", OUT_OF_BOOK).move == "h2h3"


@pytest.mark.parametrize("word", ["ponderhit", "stop"])
def test_nothing_of_a_swallowed_search_is_heard_after_its_answer(adapter, small_book, word):
    client = adapter("--book", small_book, engine_args=("--flood", "50000", "--bestmove", "h2h3"))
    client.start()
    # Both in one piece: the child still talks when its search has become vain.
    client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000", word)
    answer = client.answer()
    assert answer.book and answer.move == "c2c4"
    assert client.ready() == ["readyok"]
    # What it says of the next search is heard again.
    assert len(client.go("movetime 10", OUT_OF_BOOK).lines) == 50_002


def test_go_ponder_ends_with_a_book_move_on_stop(adapter, small_book, engine):
    client = adapter("--book", small_book)
    client.start()
    client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000")
    client.ready()
    client.send("stop")
    assert bestmoves(client.until("bestmove")) == ["bestmove c2c4 ponder e7e6"]
    assert bestmoves(client.ready()) == []
    assert engine.violations() == []


def test_out_of_the_book_pondering_is_the_engines(adapter, small_book, engine):
    client = adapter("--book", small_book)
    client.start()
    client.send(OUT_OF_BOOK, "go ponder wtime 1000 btime 1000")
    for _ in range(3):
        assert bestmoves(client.ready()) == []
    client.send("ponderhit")
    assert client.answer().move == "h2h3"
    client.send(OUT_OF_BOOK, "go ponder wtime 1000 btime 1000")
    client.ready()
    client.send("stop")
    assert client.answer().move == "h2h3"
    assert engine.commands("position", "go", "ponderhit", "stop") == [
        OUT_OF_BOOK,
        "go ponder wtime 1000 btime 1000",
        "ponderhit",
        OUT_OF_BOOK,
        "go ponder wtime 1000 btime 1000",
        "stop",
    ]
    assert engine.violations() == []


def test_without_book_ponder_the_child_rests_while_the_book_answers(adapter, small_book, engine):
    client = adapter("--book", small_book, "--set", "Book Ponder=false")
    client.start()
    for word in ("ponderhit", "stop"):
        client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000")
        for _ in range(3):
            assert bestmoves(client.ready()) == []
        client.send(word)
        assert client.answer().move == "c2c4"
    client.ready()
    assert engine.commands("go", "stop", "ponderhit") == []
    client.send(OUT_OF_BOOK, "go ponder wtime 1000 btime 1000")
    client.ready()
    client.send("ponderhit")
    assert client.answer().move == "h2h3"


def test_ponder_misses_in_the_book_follow_each_other(adapter, small_book, engine):
    client = adapter("--book", small_book, engine_args=("--strict", "--bestmove", "h2h3", "--think", "1"))
    client.start()
    for _ in range(30):
        assert client.go("wtime 1000 btime 1000", START).move == "d2d4"
        client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000", "stop")
        assert client.answer().move == "c2c4"
        # A reply that nobody expected, out of the book, at once.
        answer = client.go("wtime 1000 btime 1000", "position startpos moves d2d4 a7a6")
        assert not answer.book and answer.move == "h2h3"
    assert engine.violations() == []


def test_the_clock_goes_on_in_a_book_move_right_after_ponderhit(adapter, small_book, engine):
    client = adapter("--book", small_book, engine_args=("--strict", "--ignore-stop", "--bestmove", "h2h3"))
    client.start()
    client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000", "ponderhit")
    assert client.answer().move == "c2c4"
    # The child does not stop, yet the book goes on without it.
    assert client.go("movetime 10", START).move == "d2d4"
    assert engine.violations() == []
