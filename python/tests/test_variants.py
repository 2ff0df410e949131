"""Books of variants: what a reader finds is what python-chess finds, and drops of pawns besides."""

import pickle
import random
import struct

import chess
import chess.pgn
import chess.polyglot
import chess.variant
import pytest

import tabiya
from conftest import samples, tabiya_says

BOARDS = {
    "antichess": chess.variant.AntichessBoard,
    "atomic": chess.variant.AtomicBoard,
    "crazyhouse": chess.variant.CrazyhouseBoard,
    "horde": chess.variant.HordeBoard,
    "kingOfTheHill": chess.variant.KingOfTheHillBoard,
    "racingKings": chess.variant.RacingKingsBoard,
    "threeCheck": chess.variant.ThreeCheckBoard,
}


def code_of(board, move):
    """The number of a move in a book; castling is the king taking its rook, a drop goes from its square to the same square."""
    if move.drop:
        return (move.drop - 1) << 12 | move.to_square << 6 | move.to_square
    to = move.to_square
    if board.is_castling(move):
        to = chess.square(7 if chess.square_file(to) == 6 else 0, chess.square_rank(to))
    return ((move.promotion or 1) - 1) << 12 | move.from_square << 6 | to


def games(board_class, count, seed):
    """Each position of random games with the move that is played there."""
    chance = random.Random(seed)
    for _ in range(count):
        board = board_class()
        while len(board.move_stack) < 60 and not board.is_variant_end():
            moves = list(board.legal_moves)
            if not moves:
                break
            rare = [move for move in moves if move.drop or move.promotion or board.is_castling(move)]
            move = chance.choice(rare if rare and chance.random() < 0.4 else moves)
            yield board.copy(), move
            board.push(move)


def book_of(played, path):
    entries = {(chess.polyglot.zobrist_hash(board), code_of(board, move)) for board, move in played}
    path.write_bytes(b"".join(struct.pack(">QHHI", key, code, 1, 0) for key, code in sorted(entries)))
    return path


def found(reader, board):
    return sorted(((entry.move, entry.weight, entry.raw_move) for entry in reader.find_all(board)), key=str)


@pytest.mark.parametrize("name", BOARDS)
def test_what_python_chess_finds_is_found(name, tmp_path):
    played = list(games(BOARDS[name], 30, seed=len(name)))
    path = book_of(played, tmp_path / "book.bin")
    pawns = 0
    with chess.polyglot.open_reader(path) as theirs, tabiya.open_reader(path) as ours:
        for board, move in played:
            # python-chess has no number for a pawn that is dropped.
            expected = found(theirs, board)
            all_of_them = found(ours, board)
            others = [entry for entry in all_of_them if entry[0].drop != chess.PAWN]
            assert others == expected, board.fen()
            assert move in [entry[0] for entry in all_of_them], (board.fen(), move)
            pawns += len(all_of_them) - len(others)
            entry = ours.find(board)
            again = pickle.loads(pickle.dumps(entry))
            assert (again.move, again.uci) == (entry.move, entry.move.uci()), board.fen()
        # The board of another variant has other moves, which are legal there, or none.
        assert all(entry.move in chess.Board().legal_moves for entry in ours.find_all(chess.Board()))
    assert (pawns > 0) == (name == "crazyhouse")


def pgn_of(board_class, count, seed, path):
    """Random games as python-chess writes them."""
    games_of = []
    for board, move in games(board_class, count, seed):
        if not board.move_stack:
            game = node = chess.pgn.Game({"Result": "1-0"})
            game.setup(board)
            games_of.append(game)
        node = node.add_variation(move)
    path.write_text("".join(f"{game}\n\n" for game in games_of))
    return path


@pytest.mark.parametrize("name", BOARDS)
def test_games_become_books_that_are_read_and_played(name, tmp_path):
    board = BOARDS[name]()
    variant = board.uci_variant
    pgn, book, counts = pgn_of(BOARDS[name], 20, 1, tmp_path / "games.pgn"), tmp_path / "a.bin", tmp_path / "a.parquet"
    theirs = []
    with pgn.open() as file:
        while (game := chess.pgn.read_game(file)) is not None:
            theirs.append(list(game.mainline_moves()))
    assert [list(game.mainline_moves()) for game in tabiya.open_games(pgn, variant=variant)] == theirs
    lines = list(tabiya.open_games(pgn, moves_only=True, variant=variant))
    assert [line.moves for line in lines] == theirs
    assert [line.uci for line in lines] == [[move.uci() for move in moves] for moves in theirs]
    assert {line.variant for line in lines} == {variant}
    assert all(type(chess.pgn.Headers(line.headers).board()) is BOARDS[name] for line in lines)
    chess_alone = tabiya.open_games(pgn)
    assert not list(chess_alone) and chess_alone.unreadable == len(theirs)

    report = tabiya.build(pgn, book, variant=variant, min_games=1)
    assert (report.games, report.used) == (20, 20)
    assert tabiya.check(book, variant=variant) == []
    whose = {name: board.uci_variant for name, board in {**BOARDS, "chess": chess.Board}.items()}
    wrong = [found.what for found in tabiya.check(book) if "rules" in found.what]
    assert all(any(f'pass variant="{name}"' in what for name in whose.values()) for what in wrong), wrong
    # Games of these obey the rules of standard chess until the last move.
    assert len(wrong) == (name not in ("kingOfTheHill", "threeCheck")), wrong
    merged = tabiya.merge([book, book], tmp_path / "b.bin", variant=variant)
    converted = tabiya.convert(book, tmp_path / "c.bin", variant=variant)
    assert (merged.moves, converted.moves, merged.damage) == (report.moves, report.moves, [])
    tabiya_says("build", pgn, "-o", counts, "--variant", variant)
    assert tabiya.check(counts) == []
    first = {moves[0] for moves in theirs}
    for path in (book, counts):
        with tabiya.open_reader(path) as reader:
            assert {entry.move for entry in reader.find_all(board)} == first
        policy = tabiya.Policy(path, variety=100)
        assert {policy.choose(board, seed=seed).move for seed in range(1, 200)} <= first
        assert {entry.move for entry, _ in policy.chances(board)} == first
    with tabiya.open_reader(counts) as reader:
        assert not list(reader.find_all(chess.Board()))
    # The starter book is one of standard chess.
    assert tabiya.Policy().choose(board) is None
    with pytest.raises(ValueError, match="variant must be chess, or one of .*atomic"):
        tabiya.check(book, variant="shogi")
    with pytest.raises(tabiya.UsageError, match=f"counts games of {variant}"):
        tabiya.build([counts, counts], tmp_path / "d.bin", variant="horde" if variant == "atomic" else "atomic")


@pytest.mark.parametrize(("name", "file"), [("antichess", "antichess"), ("atomic", "atomic"), ("horde", "horde")])
def test_real_books_are_those_of_python_chess(name, file):
    path = samples() / f"variants/{file}.bin"
    with chess.polyglot.open_reader(path) as theirs, tabiya.open_reader(path) as ours:
        seen, line = set(), [BOARDS[name]()]
        while line and len(seen) < 1500:
            board = line.pop()
            key = chess.polyglot.zobrist_hash(board)
            if key in seen:
                continue
            seen.add(key)
            expected = found(theirs, board)
            assert found(ours, board) == expected, board.fen()
            for move, *_ in expected:
                line.append(board.copy())
                line[-1].push(move)
        assert len(seen) == 1500


def test_boards_with_other_rules_find_nothing(tmp_path):
    path = book_of(games(chess.variant.AntichessBoard, 3, seed=1), tmp_path / "book.bin")
    with tabiya.open_reader(path) as ours:
        assert not list(ours.find_all(chess.variant.GiveawayBoard()))
        assert list(ours.find_all(chess.variant.AntichessBoard()))
