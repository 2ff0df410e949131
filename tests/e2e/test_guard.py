"""Book Max Loss and Book Guard: book moves that lose too much, by the store beside the book and by a check of the engine."""

import os
import random
import shutil

import chess
import chess.engine
import pytest

from client import START, bestmoves, eventually, problems
from polyglot_writer import Book, after
from recording import popen

LOSS = ("--set", "Book Max Loss=50", "--set", "Book Variety=0", "--set", "Book Threshold=0")

# Longer than any check that is not ended otherwise: a minute.
LONG = ("--set", "Book Guard=60000")
GUARD = ("--set", "Book Guard=200")
CLOCK = "wtime 60000 btime 60000 winc 1000 binc 1000"
# With it a check may take two minutes.
SLOW_CLOCK = "wtime 6000000 btime 6000000"

# It thinks for an hour, and answers isready meanwhile.
THINKS = ("--think", "3600000", "--value", "d2d4=30", "--value", "e2e4=-100")
KNOWS = ("--value", "d2d4=30", "--value", "c2c4=20", "--value", "e2e4=-100", "--value", "a2a3=0")


@pytest.fixture
def book(tmp_path):
    """The blunder 1. e4 has the greatest weight."""
    return Book().at("", e2e4=90, d2d4=9, c2c4=1).at("d2d4", d7d5=1).write(tmp_path / "book.bin")


@pytest.fixture
def store(tabiya, tmp_path):
    """Puts values of positions, for the side to move, into the store beside a book."""

    def put(path, values):
        lines = []
        for moves, value in values.items():
            board = after(moves)
            lines.append(f"{board.epd()} ce {value}; acd 20;\n")
        (tmp_path / "values.epd").write_text("".join(lines))
        done = tabiya("import", f"{path}.evals", tmp_path / "values.epd", "--source", "test")
        assert done.returncode == 0, done.stderr

    return put


def passed_over(lines):
    return [line for line in lines if " is passed over: " in line]


def test_a_planted_blunder_is_not_played(adapter, book, store, engine):
    store(book, {"": 40, "e2e4": 70, "d2d4": -30})
    client = adapter("--book", book, *LOSS)
    client.start()
    answer = client.go(CLOCK, START)
    assert answer.book and answer.move == "d2d4"
    assert passed_over(answer.lines) == [
        "info string e2e4 is passed over: it loses 110 centipawns (-70 instead of 40)"
    ]
    # The option may be changed at any time.
    client.set("Book Max Loss", 110)
    answer = client.go(CLOCK)
    assert answer.move == "e2e4" and passed_over(answer.lines) == []
    client.set("Book Max Loss", 0)
    assert client.go(CLOCK).move == "e2e4"
    client.set("Book Max Loss", 109)
    assert client.go(CLOCK).move == "d2d4"
    client.ready()
    assert engine.commands("go") == []


def test_the_engine_answers_where_all_moves_lose(adapter, book, store):
    store(book, {"": 100, "e2e4": 0, "d2d4": 0, "c2c4": 0})
    client = adapter("--book", book, *LOSS)
    client.start()
    answer = client.go(CLOCK, START)
    assert answer.move == "h2h3" and not answer.book
    assert len(passed_over(answer.lines)) == 3


def test_each_book_has_its_own_store(adapter, book, store, tmp_path):
    other = Book().at("", e2e4=5).write(tmp_path / "other.bin")
    store(book, {"": 100, "e2e4": 0, "d2d4": 0, "c2c4": 0})
    client = adapter("--book", book, "--book", other, *LOSS)
    client.start()
    answer = client.go(CLOCK, START)
    assert answer.move == "e2e4" and answer.book["file"] == str(other)
    (tmp_path / "tabiya.toml").write_text(
        f"[[book]]\nfile = '{book}'\nmax-uses = 9\n[[book]]\nfile = '{other}'\n[set]\n'Book Max Loss' = 50\n"
    )
    client = adapter()
    client.start()
    assert client.go(CLOCK, START).book["rule"] == "2"


def test_a_store_that_is_missing_blank_or_none_changes_nothing(adapter, book, store):
    path = f"{book}.evals"
    for content in (None, b"", b"not a store, but long enough for the header of one, so that it is read"):
        if content is not None:
            open(path, "wb").write(content)
        client = adapter("--book", book, *LOSS)
        said = client.start()
        assert client.go(CLOCK, START).move == "e2e4"
        assert any("book.bin.evals" in line for line in problems(said)) is bool(content)
        assert client.quit() == 0


def test_a_store_that_changes_while_it_is_used_is_harmless(adapter, book, store, tmp_path):
    client = adapter("--book", book, *LOSS)
    client.start()
    assert client.go(CLOCK, START).move == "e2e4"
    # It appears, and grows; what is new counts once the books are opened again.
    store(book, {"": 40, "e2e4": 70})
    assert client.go(CLOCK).move == "e2e4"
    client.set("Book File", book)
    assert client.go(CLOCK).move == "d2d4"
    store(book, {"d2d4": 70})
    assert client.go(CLOCK).move == "d2d4"
    if os.name != "nt":
        # It is replaced, as by compaction, and then cut off.
        shutil.copy(f"{book}.evals", tmp_path / "new")
        os.replace(tmp_path / "new", f"{book}.evals")
        assert client.go(CLOCK).move == "d2d4"
        client.set("Book File", book)
        assert client.go(CLOCK).move == "c2c4"
        os.truncate(f"{book}.evals", 0)
        assert client.go(CLOCK).move in ("e2e4", "c2c4", "d2d4")
    assert client.quit() == 0


def test_show_says_that_the_move_is_not_played(tabiya, book, store, tmp_path):
    store(book, {"": 40, "e2e4": 70, "d2d4": -30})
    text = tabiya("show", book, "--set", "Book Max Loss=50").stdout.decode()
    assert "book.bin (polyglot): 2 of 3 moves" in text
    assert [line.split()[:5] for line in text.splitlines() if "e2e4" in line] == [["e4", "e2e4", "90", "-", "110"]]
    assert "3 of 3 moves" in tabiya("show", book).stdout.decode()
    (tmp_path / "tabiya.toml").write_text(f"book = ['{book}']\n[set]\n'Book Max Loss' = 50\n")
    assert "2 of 3 moves" in tabiya("show").stdout.decode()
    assert "3 of 3 moves" in tabiya("show", "--set", "Book Max Loss=0").stdout.decode()


@pytest.mark.parametrize(
    "go, search",
    [
        (CLOCK, 100),
        ("wtime 60000 btime 100", 100),
        ("wtime 60000 btime 60000 movestogo 40", 100),
        ("wtime 1000 btime 60000 winc 10000", 37),
        ("movetime 1000", 37),
        ("depth 3", 100),
        ("nodes 1000", 100),
    ],
)
def test_a_blunder_of_the_greatest_weight_is_passed_over(adapter, book, engine, go, search):
    client = adapter("--book", book, *LOSS, *GUARD, engine_args=KNOWS)
    client.start()
    answer = client.go(go, START)
    assert answer.book and answer.lines[-1] == "bestmove d2d4 ponder d7d5"
    assert passed_over(answer.lines) == [
        "info string e2e4 is passed over: it loses 130 centipawns (-100 instead of 30) in the engine's check"
    ]
    # Nothing of the searches is heard but that.
    assert not any(line.startswith("info") and " nodes 20 " in line for line in answer.lines)
    client.ready()
    assert engine.commands("go") == [f"go movetime {search}", f"go movetime {search} searchmoves e2e4"]
    assert engine.violations() == []


@pytest.mark.parametrize("go", ["wtime 100 btime 60000", "movetime 100", "searchmoves e2e4 c2c4", "wtime 0 btime 9"])
def test_without_time_nothing_is_checked(adapter, book, engine, go):
    client = adapter("--book", book, *LOSS, *GUARD, engine_args=KNOWS)
    client.start()
    assert client.go(go, START).move == "e2e4"
    client.ready()
    assert engine.commands("go") == []


def test_what_the_store_knows_is_not_checked(adapter, book, store, engine):
    store(book, {"e2e4": 20})
    client = adapter("--book", book, *LOSS, *GUARD, engine_args=KNOWS)
    client.start()
    assert client.go(CLOCK, START).move == "e2e4"
    client.ready()
    assert engine.commands("go") == []


def test_an_engine_that_is_starting_checks_nothing(adapter, book, engine):
    client = adapter("--book", book, *LOSS, *LONG, engine_args=(*THINKS, "--ready-delay", "3600000"))
    client.uci()
    answer = client.go(SLOW_CLOCK, START)
    assert answer.move == "e2e4"
    assert engine.commands("go") == []


def test_at_last_the_engine_answers_with_the_rest_of_its_time(adapter, book, engine):
    worse = ("--value", "a2a3=200", "--value", "c2c4=1", *KNOWS)
    client = adapter("--book", book, *LOSS, *GUARD, engine_args=worse)
    client.start()
    answer = client.go(CLOCK, START)
    assert answer.move == "a2a3" and not answer.book and len(passed_over(answer.lines)) == 3
    client.ready()
    words = engine.commands("go")[-1].split()
    assert [word for word in words if not word.isdigit()] == ["go", "wtime", "btime", "winc", "binc"]
    assert 40_000 < int(words[2]) <= 60_000 and words[3:] == CLOCK.split()[2:]
    assert engine.violations() == []


def test_stop_is_answered_at_once_and_only_once(adapter, book, engine):
    client = adapter("--book", book, *LOSS, *LONG, engine_args=THINKS)
    client.start()
    for _ in range(3):
        client.send(START, f"go {SLOW_CLOCK}")
        assert bestmoves(client.ready()) == [], "isready is answered meanwhile"
        client.send("stop")
        assert client.answer().move == "e2e4"
        assert bestmoves(client.ready()) == [] and bestmoves(client.ready()) == []
    # The next question is answered by its own search.
    client.send("position startpos moves h2h3", "go infinite")
    client.ready()
    client.send("stop")
    assert client.answer().lines[-1] == "bestmove d2d4"
    assert engine.violations() == []


def test_quit_ends_everything_during_a_check(adapter, book, engine):
    client = adapter("--book", book, *LOSS, *LONG, engine_args=THINKS)
    client.start()
    client.send(START, f"go {SLOW_CLOCK}")
    eventually("the engine searches", lambda: engine.commands("go"))
    assert client.quit() == 0
    assert bestmoves(client.rest()) == []


def test_an_engine_that_dies_does_not_take_the_move_with_it(adapter, book):
    client = adapter("--book", book, *LOSS, *LONG, engine_args=("--die-on-go",))
    client.start()
    answer = client.go(SLOW_CLOCK, START)
    assert answer.move == "e2e4"
    assert len(problems(client.rest())) == 1 and client.wait() == 4


@pytest.mark.parametrize("hang", [("--ignore-stop", *THINKS), ("--no-newline-line", "10"), ("--flood", "1", *THINKS)])
def test_an_engine_that_hangs_does_not_delay_the_game(adapter, book, engine, hang):
    client = adapter("--book", book, *LOSS, *GUARD, engine_args=hang)
    client.start()
    answer = client.go(CLOCK, START)
    assert answer.book and answer.move == "e2e4"
    if "--flood" in hang:
        # Its bestmove comes before the readyok.
        client.ready()
    assert client.go(CLOCK).move == "e2e4"
    client.send("quit")
    assert bestmoves(client.rest()) == []
    # One that did not stop is not asked again.
    assert len(engine.commands("go")) == (2 if "--flood" in hang else 1)


@pytest.mark.parametrize("args", [("--ignore-searchmoves", *KNOWS), ("--bestmove", "a2a3"), ("--double-bestmove", *KNOWS)])
def test_engines_without_searchmoves_or_manners(adapter, book, args):
    client = adapter("--book", book, *LOSS, *GUARD, engine_args=args)
    client.start()
    answer = client.go(CLOCK, START)
    assert answer.book and len(bestmoves(answer.lines)) == 1
    assert answer.move == "e2e4" or "--double-bestmove" in args


def test_pondering_ends_in_a_check(adapter, book, engine):
    client = adapter("--book", book, *LOSS, *GUARD, engine_args=KNOWS)
    client.start()
    for word, move in (("ponderhit", "d2d4"), ("stop", "e2e4")):
        client.send(START, f"go ponder {CLOCK}")
        assert bestmoves(client.ready()) == []
        client.send(word)
        assert client.answer().move == move
        assert bestmoves(client.ready()) == []
    assert engine.commands("go") == [
        f"go ponder {CLOCK}",
        "go movetime 100",
        "go movetime 100 searchmoves e2e4",
        f"go ponder {CLOCK}",
    ]
    assert engine.violations() == []


def test_castling_is_checked_in_the_notation_of_chess960(run, tabiya_exe, stockfish, tmp_path):
    fen = "1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w GBgb - 0 1"
    board = after(fen=fen, chess960=True)
    book = Book().add(board, "c1g1", 5).write(tmp_path / "shuffled.bin")
    client = run(
        tabiya_exe, "--engine", stockfish, "--book", book, "--set", "Book Max Loss=1000", *GUARD, "--log", "a.log",
        "--log-level", "trace",
    )
    client.start()
    client.set("UCI_Chess960", "true")
    client.ready()
    answer = client.go(CLOCK, f"position fen {fen}")
    assert answer.book and answer.move == "c1g1"
    client.quit()
    log = (tmp_path / "a.log").read_text()
    assert "bestmove c1g1" in log, "the engine has searched castling alone, or found it best"


def test_stockfish_passes_a_blunder_over_and_plays_on_with_python_chess(tabiya_exe, stockfish, tmp_path):
    # 1. e4 e5 2. Ba6 gives a bishop away.
    line = Book().at("", e2e4=1).at("e2e4 e7e5", f1a6=100, g1f3=1)
    book = line.write(tmp_path / "blunder.bin")
    words = ["--engine", stockfish, "--book", book, "--set", "Book Max Loss=150", "--set", "Book Guard=300"]
    engine = popen([tabiya_exe, *words, "--set", "Book Threshold=0", "--set", "Book Variety=0"], tmp_path)
    try:
        for limit in (
            chess.engine.Limit(white_clock=60, black_clock=60),
            chess.engine.Limit(white_clock=60, black_clock=60, white_inc=1, black_inc=1),
            chess.engine.Limit(white_clock=60, black_clock=60, remaining_moves=20),
            chess.engine.Limit(time=5),
        ):
            board = chess.Board()
            assert engine.play(board, limit).move == chess.Move.from_uci("e2e4")
            board = after("e2e4 e7e5")
            assert engine.play(board, limit).move == chess.Move.from_uci("g1f3")
            board.push_uci("g1f3")
            board.push_uci("b8c6")
            assert engine.play(board, chess.engine.Limit(nodes=2000)).move in board.legal_moves
    finally:
        engine.close()


def test_random_talk_during_checks(adapter, book, engine):
    """Whatever the GUI sends and however the engine's answers fall: one answer to each question."""
    chance = random.Random(5)
    client = adapter("--book", book, *LOSS, *GUARD, engine_args=("--think", "3", "--legal", "--score", "cp 40"))
    client.start()
    asked = 0
    for _ in range(150):
        moves = chance.choice(["", "d2d4", "a2a3", "e2e4"])
        client.send(f"position startpos moves {moves}" if moves else START)
        ponder = chance.random() < 0.3
        client.send(f"go ponder {CLOCK}" if ponder else f"go {CLOCK}")
        asked += 1
        heard = []
        for _ in range(chance.randint(0, 2)):
            heard += client.ready()
        if ponder:
            client.send("ponderhit")
        if chance.random() < 0.5:
            client.send("stop")
        if not bestmoves(heard):
            heard += client.until("bestmove")
        heard += client.ready()
        assert len(bestmoves(heard)) == 1
        board = after(moves)
        assert chess.Move.from_uci(bestmoves(heard)[0].split()[1]) in board.legal_moves
    assert engine.violations() == []
    assert client.quit() == 0
