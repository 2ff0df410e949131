"""A game that is over is never lost: it is in the spool before anything else happens, and in the book once."""

import hashlib
import json
import signal
import sys

import chess
import pytest

from client import eventually
from polyglot_writer import Book, key
from test_learning import LEARNED, fields

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="sends signals and locks files as Linux does")


def spool_line(book, number):
    """A finished game of White's, 1. e2e4 and won, as tabiya keeps it."""
    text = json.dumps(
        {
            "book": str(book),
            "id": f"{number:032x}",
            "fen": chess.STARTING_FEN,
            "chess960": False,
            "moves": "e2e4 e7e5",
            "sides": "w",
            "result": "1-0",
            "note": f"old game {number}",
        }
    )
    return f"+ {hashlib.sha256(text.encode()).hexdigest()[:16]} {text}\n"


def waiting(spool):
    """The games that wait."""
    lines = spool.read_text().split("\n")[:-1] if spool.exists() else []
    return [json.loads(line[19:]) for line in lines if line.startswith("+ ")]


def learned(book):
    """How often 1. e2e4 was learned."""
    start = key(chess.Board())
    return sum(games for (entry, _), (games, _) in fields(book).items() if entry == start)


def play(client, plies=5):
    """A game that the engine's scores show won, up to its end."""
    moves = []
    for _ in range(plies):
        answer = client.go("depth 1", f"position startpos moves {' '.join(moves)}")
        board = chess.Board()
        for move in [*moves, answer.move]:
            board.push_uci(move)
        moves += [answer.move, "e7e5" if not moves else next(iter(board.legal_moves)).uci()]
    assert moves[0] == "e2e4"


@pytest.fixture
def start(tmp_path, run, tabiya_exe, engine):
    """tabiya that learns into `a.bin`, with a log."""
    Book().line("e2e4 e7e5 g1f3", weight=1).write(tmp_path / "a.bin")

    def begin(*args, engine_args=(), log="log", learn=True, **more):
        argv = [tabiya_exe, *engine.argv("--score", "cp 900", "--legal", *engine_args)]
        argv += ["--book", tmp_path / "a.bin"] + (["--set", "Book Learn=true"] if learn else [])
        argv += ["--log", tmp_path / log] if log else []
        client = run(*argv, *args, **more)
        client.start()
        return client

    return begin


def learn_the_rest(start, spool):
    """Where the disk was slow, a game waits for the next process."""
    if waiting(spool):
        client = start()
        eventually("the spool is empty", lambda: not waiting(spool))
        end(client)


def end(client):
    client.send("quit")
    said = client.rest()
    assert client.wait() == 0
    return said


@linux_only
def test_a_game_is_kept_before_it_is_learned_and_learned_once_after_a_kill(tmp_path, start):
    import fcntl

    spool = tmp_path / "log.spool"
    with open(tmp_path / "a.bin.learn", "wb") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        client = start()
        play(client)
        client.send("ucinewgame")
        eventually("the game is in the spool", lambda: len(waiting(spool)) == 1)
        client.process.kill()
        client.wait()
    assert (len(waiting(spool)), learned(tmp_path / "a.bin")) == (1, 0)
    client = start()
    eventually("the spool is empty", lambda: not waiting(spool))
    end(client)
    assert learned(tmp_path / "a.bin") == 1


@linux_only
def test_a_signal_judges_the_game_before_the_engine_has_gone(tmp_path, start):
    client = start(engine_args=("--ignore-quit",))
    play(client)
    client.process.send_signal(signal.SIGTERM)
    client.rest()
    client.wait()
    log = (tmp_path / "log").read_text()
    assert log.index("will be kept and learned: game 1 ") < log.index("the engine did not exit after quit")
    assert learned(tmp_path / "a.bin") + len(waiting(tmp_path / "log.spool")) == 1


def test_a_long_spool_does_not_keep_a_new_game(tmp_path, start):
    """New games come first; what quit leaves of the old ones is learned by those who come next, each game once."""
    book, spool = tmp_path / "a.bin", tmp_path / "log.spool"
    games = 1000
    spool.write_text("".join(spool_line(book, number) for number in range(games)))
    client = start()
    play(client)
    said = end(client)
    mine = [game for game in waiting(spool) if not game["note"].startswith("old")]
    if mine:
        # The disk was so slow that not even the first came in time.
        assert learned(book) == 0, said
    else:
        assert any(LEARNED.match(line) for line in said), said
    assert learned(book) + len(waiting(spool)) == games + 1
    client, other = start(), start()
    eventually("the spool is empty", lambda: not waiting(spool))
    end(client)
    end(other)
    assert learned(book) == games + 1


def test_games_kept_beside_a_log_are_learned_when_the_log_is_named_last(tmp_path, start):
    """Cute Chess sets the options in the order of their names."""
    book, spool = tmp_path / "a.bin", tmp_path / "other.spool"
    spool.write_text(spool_line(book, 1))
    client = start(log=None, learn=False)
    client.send(f"setoption name Book File value {book}")
    client.send("setoption name Book Learn value true")
    client.send(f"setoption name Book Log value {tmp_path / 'other'}")
    eventually("the spool is empty", lambda: not waiting(spool))
    end(client)
    assert learned(book) == 1


def test_games_kept_without_a_log_are_learned_by_one_with_a_log(tmp_path, start):
    book, spool = tmp_path / "a.bin", tmp_path / "state" / "tabiya" / "games.spool"
    if sys.platform == "darwin":
        pytest.skip("the folder cannot be set from outside")
    spool.parent.mkdir(parents=True)
    spool.write_text(spool_line(book, 1))
    client = start()
    eventually("the spool is empty", lambda: not waiting(spool))
    end(client)
    assert learned(book) == 1


def test_a_game_goes_to_the_book_it_was_played_from(tmp_path, start):
    """Whatever Book File names when it is over."""
    other = Book().line("e2e4 e7e5 g1f3", weight=1).write(tmp_path / "other.bin")
    client = start()
    play(client)
    client.send(f"setoption name Book File value {other}", "ucinewgame")
    end(client)
    learn_the_rest(start, tmp_path / "log.spool")
    assert (learned(tmp_path / "a.bin"), learned(other)) == (1, 0)


def test_a_book_that_was_replaced_by_another_does_not_learn_the_game(tmp_path, start):
    book, spool = tmp_path / "a.bin", tmp_path / "log.spool"
    client = start()
    play(client)
    Book().line("e2e4 e7e5 g1f3", weight=2).write(tmp_path / "new.bin")
    (tmp_path / "old.bin").write_bytes(book.read_bytes())
    (tmp_path / "new.bin").replace(book)
    said = end(client)
    assert any("not the book that the game was played from" in line for line in said), said
    assert (learned(book), len(waiting(spool))) == (0, 1)
    (tmp_path / "old.bin").replace(book)
    client = start()
    eventually("the spool is empty", lambda: not waiting(spool))
    end(client)
    assert learned(book) == 1


def test_a_full_or_missing_spool_does_not_lose_a_game(tmp_path, start):
    (tmp_path / "log.spool").mkdir()
    client = start()
    play(client)
    said = end(client)
    assert learned(tmp_path / "a.bin") == 1
    assert any("learned, but could not be kept on disk first: " in line for line in said), said


def test_games_that_wait_for_a_book_that_is_gone_are_dropped_on_request(tmp_path, start, tabiya):
    """And only those: what can be learned, now or later, is not dropped."""
    book, spool = tmp_path / "a.bin", tmp_path / "log.spool"
    client = start()
    play(client)
    Book().line("e2e4 e7e5 g1f3", weight=2).write(tmp_path / "new.bin")
    (tmp_path / "new.bin").replace(book)
    said = end(client)
    assert any("`tabiya learn spool --drop BOOK` drops" in line for line in said), said
    other, damaged, gone = tmp_path / "other.bin", tmp_path / "damaged.bin", tmp_path / "gone.bin"
    for path in (other, damaged):
        Book().line("e2e4 e7e5", weight=1).write(path)
    (tmp_path / "damaged.bin.learn").write_bytes(b"no journal")
    games = [spool_line(path, number) for number, path in enumerate([other, damaged, gone])]
    spool.write_text(spool.read_text() + "".join(games))

    def learn(*words):
        done = tabiya("learn", "spool", "--log", tmp_path / "log", *words)
        return done.returncode, done.stdout.decode()

    code, out = learn("--drop", book)
    assert "dropped" in out and "4 games were kept, 1 learned now, 1 dropped" in out, out
    assert [game["book"] for game in waiting(spool)] == [str(damaged), str(gone)]
    assert learned(other) == 1
    assert learn("--drop", "damaged.bin")[1].count("still kept, because it can be learned later") == 1
    assert "1 dropped" in learn("--drop", "gone.bin")[1]
    assert [game["book"] for game in waiting(spool)] == [str(damaged)]
    code, out = learn("--drop", "gone.bin")
    assert "no game waits for this book" in out, out
    assert (learned(book), code != 0) == (0, True)
