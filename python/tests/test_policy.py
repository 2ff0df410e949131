"""Choosing moves: the adapter's own choice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import chess
import pytest

import tabiya

from conftest import HANG, STARTER, executable

# An engine that only knows the words of UCI.
ENGINE = """\
import sys
for line in sys.stdin:
    word = line.split()[:1]
    if word == ["uci"]:
        print("id name none", "uciok", sep="\\n", flush=True)
    elif word == ["isready"]:
        print("readyok", flush=True)
    elif word == ["go"]:
        print("bestmove 0000", flush=True)
    elif word == ["quit"]:
        break
"""


class Adapter:
    """tabiya as an engine."""

    def __init__(self, folder: Path, book: Path, **options: object) -> None:
        script = folder / "engine.py"
        script.write_text(ENGINE)
        words = [executable(), "--engine", sys.executable, "--engine-arg", str(script), "--book", str(book)]
        for name, value in options.items():
            words += ["--set", f"{name.replace('_', ' ')}={str(value).lower()}"]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder
        )
        self.say("uci")
        self.until("uciok")

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, word: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(word):
                return line
        raise AssertionError(f"tabiya ended before {word}")

    def game(self, plies: int) -> list[str]:
        """The book moves of a game from the start, both sides'."""
        self.say("ucinewgame")
        self.say("isready")
        self.until("readyok")
        moves: list[str] = []
        while len(moves) < plies:
            self.say(f"position startpos moves {' '.join(moves)}" if moves else "position startpos")
            self.say("go movetime 1")
            move = self.until("bestmove").split()[1]
            if move == "0000":
                break
            moves.append(move)
        return moves

    def end(self) -> None:
        self.say("quit")
        self.process.communicate(timeout=HANG)


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ({}, {}),
        ({"variety": 100}, {"Book_Variety": 100}),
        ({"variety": 20, "threshold": 5}, {"Book_Variety": 20, "Book_Threshold": 50}),
        ({"depth": 3, "reserve": 4}, {"Book_Depth": 3, "Book_Reserve": 4}),
    ],
)
def test_a_seed_gives_the_games_of_the_adapter(
    policy: dict[str, int], options: dict[str, int], tmp_path: Path
) -> None:
    played = 0
    for seed in (1, 2, 3, 12345):
        adapter = Adapter(tmp_path, STARTER, Book_Seed=seed, **options)
        expected = adapter.game(30)
        adapter.end()
        chooser = tabiya.Policy(STARTER, seed=seed, **policy)  # type: ignore[arg-type]
        board = chess.Board()
        moves: list[str] = []
        while len(moves) < 30:
            entry = chooser.choose(board)
            if entry is None:
                break
            moves.append(entry.uci)
            board.push(entry.move)
        assert moves == expected and len(moves) > 3, seed
        # The first move is that of the seed, wherever it is given.
        first = tabiya.Policy(STARTER, **policy).choose(chess.Board(), seed=seed)  # type: ignore[arg-type]
        assert first is not None and first.uci == expected[0]
        played += len(moves)
    assert played > 20


def test_without_a_book_the_starter_book_answers() -> None:
    board = chess.Board()
    ours, named = tabiya.Policy(), tabiya.Policy(STARTER)
    assert [(entry.uci, chance) for entry, chance in ours.chances(board)] == [
        (entry.uci, chance) for entry, chance in named.chances(board)
    ]
    assert sum(chance for _, chance in ours.chances(board)) == pytest.approx(1)


def test_the_first_book_with_a_move_answers_and_sides_have_their_own(tmp_path: Path, books: dict[str, Path]) -> None:
    games = tmp_path / "one.pgn"
    games.write_text('[Result "1-0"]\n\n1. b3 e5 1-0\n')
    own = tmp_path / "own.bin"
    tabiya.build(games, own, min_games=1)
    start, after = chess.Board(), chess.Board()
    after.push_san("b3")
    with tabiya.open_reader(books["ctg"]) as reader:
        policy = tabiya.Policy(own, reader)
        assert [entry.uci for entry, _ in policy.chances(start)] == ["b2b3"]
        after_e4 = chess.Board()
        after_e4.push_san("e4")
        assert {entry.uci for entry, _ in policy.chances(after_e4)} == {"e7e5", "c7c5"}
        black = tabiya.Policy(reader, black=[own])
        assert {entry.uci for entry, _ in black.chances(start)} == {"e2e4", "d2d4"}
        assert [entry.uci for entry, _ in black.chances(after)] == []
        assert tabiya.Policy(white=[own]).choose(after) is None
        # One book need not be in a list.
        for one in (own, str(own), os.fsencode(own), tabiya.open_reader(own)):
            assert [entry.uci for entry, _ in tabiya.Policy(reader, white=one).chances(start)] == ["b2b3"]
            alone = tabiya.Policy(reader, black=one)
            assert alone.chances(after) == [] and {entry.uci for entry, _ in alone.chances(start)} == {"e2e4", "d2d4"}
        both = tabiya.Policy(white=(book for book in (own, reader)))
        assert [entry.uci for entry, _ in both.chances(start)] == ["b2b3"]


def test_moves_weigh_by_games_where_the_policy_says_so(tmp_path: Path) -> None:
    games = tmp_path / "games.pgn"
    games.write_text('[Result "1-0"]\n\n1. e4 1-0\n\n' + '[Result "0-1"]\n\n1. d4 0-1\n\n' * 3)
    book = tmp_path / "games.kob"
    tabiya.build(games, book, min_games=1)
    chances = {weights: {entry.uci: chance for entry, chance in tabiya.Policy(book, weights=weights).chances(chess.Board())} for weights in ("points", "games")}  # type: ignore[arg-type]
    assert chances == {"points": {"e2e4": 1, "d2d4": 0}, "games": {"e2e4": 0.25, "d2d4": 0.75}}
    with pytest.raises(ValueError, match="weights"):
        tabiya.Policy(book, weights="often")  # type: ignore[arg-type]


def test_moves_that_would_repeat_a_position_are_left_out(tmp_path: Path) -> None:
    games = tmp_path / "cycle.pgn"
    games.write_text('[Result "1/2-1/2"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2\n' * 3)
    book = tmp_path / "cycle.bin"
    tabiya.build(games, book, min_games=1)
    board = chess.Board()
    for san in "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1".split():
        board.push_san(san)
    assert tabiya.Policy(book).choose(board) is None
    assert tabiya.Policy(book, threefold=True).choose(board) is not None
    # A FEN has no past.
    assert tabiya.Policy(book).choose(board.fen()) is not None


def test_other_boards_and_keys_have_no_choice() -> None:
    import chess.variant

    policy = tabiya.Policy()
    assert policy.choose(chess.variant.AtomicBoard()) is None
    assert policy.choose(chess.Board(None)) is None and policy.chances(chess.Board(None)) == []
    with pytest.raises(TypeError):
        policy.choose(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong", [{"variety": 101}, {"variety": -1}, {"threshold": 100.1}, {"max_loss": 10_001}, {"games": -1}, {"seed": -1}, {"seed": 1 << 64}, {"depth": 1 << 70}]
)
def test_values_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        tabiya.Policy(**wrong)  # type: ignore[arg-type]


def test_a_book_that_is_missing_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tabiya.Policy(tmp_path / "none.ctg")
    with pytest.raises(TypeError):
        tabiya.Policy(7)  # type: ignore[arg-type]


def test_an_opening_leaves_only_the_moves_that_lead_there() -> None:
    policy = tabiya.Policy(STARTER, opening="Sicilian Defense; C6*", threshold=0)
    board = chess.Board()
    for move in ("e2e4", "c7c5"):
        assert [entry.uci for entry, chance in policy.chances(board) if chance > 0] in ([move], [move, "e7e5"], ["e7e5", move])
        board.push_uci(move)
    board = chess.Board()
    board.push_uci("d2d4")
    assert {entry.uci for entry, chance in policy.chances(board) if chance > 0} == {"c7c5", "b8c6"}
    chosen = policy.choose(board)
    assert chosen is not None and chosen.uci in ("c7c5", "b8c6")
    with pytest.raises(ValueError, match="no opening is called 'Sicilean'"):
        tabiya.Policy(STARTER, opening="Sicilean")
