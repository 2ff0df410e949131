"""A GUI that talks at random, sense and nonsense: one answer to each question, in order, and a child treated well."""

import os
import random

import chess
import pytest

from client import times

from polyglot_writer import Book, after

ROUNDS = int(os.environ.get("TABIYA_E2E_ROUNDS", times(100, 400)))

LINES = ["", "d2d4", "d2d4 d7d5", "d2d4 d7d5 c2c4", "d2d4 d7d5 c2c4 e7e6", "a2a3", "a2a3 a7a6", "d2d4 a7a6"]
LIMITS = [
    "movetime 5",
    "depth 3",
    "wtime 1000 btime 1000",
    "ponder wtime 1000 btime 1000",
    "infinite",
    "mate 2",
    "movetime 5 searchmoves c2c4 a2a4",
    "ponder infinite",
    "",
]
OPTIONS = [
    "OwnBook value false",
    "OwnBook value true",
    "OwnBook value true",
    "MultiPV value 2",
    "MultiPV value 1",
    "UCI_AnalyseMode value true",
    "UCI_AnalyseMode value false",
    "Book Ponder value false",
    "Book Ponder value true",
    "Book Variety value 100",
    "Book File value <empty>",
    "Hash value 1",
    "UCI_Chess960 value true",
    "UCI_Chess960 value false",
    "Book Depth value 1",
    "Book Depth value 0",
]
OTHERS = [
    "ucinewgame",
    "debug on",
    "debug off",
    "xyzzy",
    "stop",
    "stop",
    "ponderhit",
    "ponderhit",
    "position fen bad",
    "position startpos moves e2e5",
    "",
    "register later",
]


def talk(chance, count):
    """Lines of a GUI without manners."""
    lines = []
    for _ in range(count):
        kind = chance.random()
        if kind < 0.35:
            moves = chance.choice(LINES)
            lines.append(f"position startpos moves {moves}" if moves else "position startpos")
            if chance.random() < 0.9:
                lines.append(f"go {chance.choice(LIMITS)}".rstrip())
        elif kind < 0.5:
            lines.append("isready")
        elif kind < 0.62:
            lines.append(f"setoption name {chance.choice(OPTIONS)}")
        else:
            lines.append(chance.choice(OTHERS))
    return lines


@pytest.mark.parametrize("seed", range(8))
def test_random_talk(adapter, tmp_path, engine, seed):
    chance = random.Random(seed)
    book = Book().line("d2d4 d7d5 c2c4 e7e6").at("d2d4 d7d5", c2c4=1, g1f3=1).write(tmp_path / "a.bin")
    think = ("--think", str(chance.choice([1, 2, 20]))) if seed % 2 else ()
    client = adapter("--book", book, engine_args=("--legal", *think))
    client.start()
    asked = readies = 0
    extra = 1
    for _ in range(ROUNDS // 20):
        lines = talk(chance, 20)
        asked += sum(line.split(" ", 1)[0] == "go" for line in lines)
        readies += lines.count("isready")
        client.send(*lines)
        if chance.random() < 0.5:
            client.ready()
            extra += 1
    # Whatever still searches, or waits for a search, is ended by a stop.
    client.send("stop")
    while sum(line.startswith("bestmove ") for line in client.heard) < asked:
        client.line()
    client.send("isready", "isready")
    readies += extra + 2
    while client.heard.count("readyok") < readies:
        client.line()
    answers = [line for line in client.heard if line.startswith("bestmove ")]
    assert len(answers) == asked > ROUNDS // 5
    assert client.heard.count("readyok") == readies
    # A ponderhit that makes no sense is the GUI's own affair, and passes.
    assert [line for line in engine.violations() if "ponderhit" not in line] == []
    assert client.quit() == 0
    assert "panicked" not in client.errors()


@pytest.mark.parametrize("seed", range(4))
def test_answers_to_random_questions_are_legal_in_their_positions(adapter, tmp_path, engine, seed):
    """Questions that are all answered at once may be sent in heaps: the answers fit them one by one."""
    chance = random.Random(100 + seed)
    book = Book().line("d2d4 d7d5 c2c4 e7e6").at("d2d4 d7d5", c2c4=1, g1f3=1).write(tmp_path / "a.bin")
    client = adapter("--book", book, engine_args=("--legal", "--think", "1"))
    client.start()
    boards = []
    for _ in range(ROUNDS):
        moves = chance.choice(LINES)
        boards.append(after(moves))
        client.send(f"position startpos moves {moves}" if moves else "position startpos", "go movetime 5")
        if chance.random() < 0.2:
            client.send(chance.choice(["isready", "stop", "ucinewgame", "setoption name Book Variety value 70"]))
    for board in boards:
        assert chess.Move.from_uci(client.answer().move) in board.legal_moves
    assert engine.violations() == []
