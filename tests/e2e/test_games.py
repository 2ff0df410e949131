"""Whole games with tabiya on both sides and python-chess as the client."""

import os
import sys
from pathlib import Path

import chess
import chess.engine
import chess.polyglot
import pytest

from client import times

from recording import popen

GAMES = int(os.environ.get("TABIYA_E2E_GAMES", times(10, 100)))
PLIES = int(os.environ.get("TABIYA_E2E_PLIES", "60"))
RELAY = Path(__file__).with_name("relay.py")


def board_of(position):
    """The board that a `position` line describes; python-chess refuses an illegal move."""
    words = position.split()
    moves = words.index("moves") if "moves" in words else len(words)
    board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:moves]))
    for uci in words[moves + 1 :]:
        board.push_uci(uci)
    return board


def play(engines, games, plies, **how):
    """Plays games between two engines; returns the number of plies."""
    played = 0
    for number in range(games):
        board = chess.Board()
        while not board.is_game_over() and board.ply() < plies:
            result = engines[board.turn].play(board, game=number, **how)
            assert result.move in board.legal_moves, f"{result.move} in {board.fen()}"
            board.push(result.move)
            played += 1
    return played


class Side:
    """tabiya around Stockfish with a relay between the two, under python-chess."""

    def __init__(self, folder, name, tabiya_exe, stockfish, *args):
        self.from_engine = folder / f"{name}-from-engine"
        self.to_engine = folder / f"{name}-to-engine"
        relay = [sys.executable, RELAY, self.from_engine, self.to_engine, stockfish]
        argv = [tabiya_exe, "--engine", relay[0], *(f"--engine-arg={word}" for word in relay[1:]), *args]
        self.engine = popen(argv, folder)
        self.engine.configure({"Hash": 1})

    def lines(self, path, word):
        return [line for line in path.read_text("latin-1").splitlines() if line.split(" ", 1)[0] == word]


@pytest.fixture
def sides(tmp_path, tabiya_exe, stockfish, gnu_book):
    made = {}
    try:
        for colour, name, seed in ((chess.WHITE, "white", 11), (chess.BLACK, "black", 12)):
            made[colour] = Side(tmp_path, name, tabiya_exe, stockfish, "--book", gnu_book, "--seed", seed)
        yield made
    finally:
        for side in made.values():
            side.engine.close()


def check_book_answer(reader, position, answer):
    """A book answer is an entry of its position with a weight, told as clients expect it."""
    board = board_of(position)
    entries = {entry.move.uci(): entry.weight for entry in reader.find_all(board, minimum_weight=1)}
    assert answer.move in entries, f"{answer.move} is no entry of {board.fen()}: {entries}"
    assert answer.pv is not None and answer.pv[0] == answer.move, answer.lines
    assert answer.book["file"].endswith("book.bin"), answer.book["file"]
    told = {uci: weight for uci, _, weight in answer.candidates}
    assert told.items() <= entries.items(), f"{told} against {entries}"
    if answer.ponder:
        board.push_uci(answer.move)
        assert chess.Move.from_uci(answer.ponder) in board.legal_moves


def test_a_match_with_tabiya_on_both_sides(sides, gnu_book):
    engines = {colour: side.engine for colour, side in sides.items()}
    plies = play(engines, GAMES, PLIES, limit=chess.engine.Limit(time=0.01))
    for engine in engines.values():
        engine.quit()

    from_book = 0
    with chess.polyglot.open_reader(gnu_book) as reader:
        for side in sides.values():
            answers = side.engine.protocol.answers()
            plies -= len(answers)
            thought = []
            for position, _, answer in answers:
                if answer.book:
                    from_book += 1
                    check_book_answer(reader, position, answer)
                else:
                    assert answer.pv is None, f"a book's scored line without a book: {answer.lines}"
                    thought.append(answer.lines[-1])
            # What is not from the book is the engine's, word for word and in its order; and it was asked for no more.
            assert side.lines(side.from_engine, "bestmove") == thought
            assert len(side.lines(side.to_engine, "go")) == len(thought)
            assert thought, "the engine was never asked"
    assert plies == 0, "as many answers as plies"
    assert from_book >= GAMES * 2, f"only {from_book} answers from the book in {GAMES} games"


def check_pondered_answers(reader, transcript):
    """Every answer is legal where it was asked for, and an entry of the book where the book is named."""
    position = None
    lines = []
    for way, line in transcript:
        if way == ">" and line.startswith("position"):
            position = line
        elif way == ">" and line.startswith("go"):
            lines = []
        elif way == "<":
            lines.append(line)
        if way == "<" and line.startswith("bestmove"):
            board = board_of(position)
            move = chess.Move.from_uci(line.split()[1])
            assert move in board.legal_moves
            if any(heard.startswith("info string book ") for heard in lines):
                assert move in {entry.move for entry in reader.find_all(board, minimum_weight=1)}
            lines = []


def test_a_match_with_pondering_on_both_sides(sides, gnu_book):
    engines = {colour: side.engine for colour, side in sides.items()}
    games = max(1, GAMES // 10)
    limit = chess.engine.Limit(white_clock=10, black_clock=10, white_inc=0.01, black_inc=0.01, time=0.01)
    play(engines, games, 40, limit=limit, ponder=True)
    for engine in engines.values():
        engine.quit()

    with chess.polyglot.open_reader(gnu_book) as reader:
        pondered = 0
        for side in sides.values():
            protocol = side.engine.protocol
            asked = len(protocol.sent("go"))
            answered = len(protocol.heard("bestmove"))
            # The last game's end leaves one ponder search a side unanswered, which quit ends.
            assert asked - 1 <= answered <= asked
            pondered += sum(" ponder" in line for line in protocol.sent("go"))
            check_pondered_answers(reader, protocol.transcript)
        assert pondered > games, "the games pondered"


def test_a_child_sees_a_clean_protocol_in_pondering_games(tmp_path, tabiya_exe, engine, gnu_book):
    argv = [tabiya_exe, *engine.recorded("--legal", "--strict", "--think", "5"), "--book", gnu_book, "--seed", "3"]
    player = popen(argv, tmp_path)
    opponent = popen([tabiya_exe, *engine.argv("--legal"), "--book", gnu_book, "--seed", "4"], tmp_path)
    try:
        limit = chess.engine.Limit(white_clock=10, black_clock=10, white_inc=0.01, black_inc=0.01)
        play({chess.WHITE: player, chess.BLACK: opponent}, 10, 40, limit=limit, ponder=True)
        player.quit()
        opponent.quit()
    finally:
        player.close()
        opponent.close()
    assert engine.violations() == []
    assert engine.commands("go"), "the child was asked"
    assert any("ponder" in line for line in engine.commands("go")), "the child pondered"
