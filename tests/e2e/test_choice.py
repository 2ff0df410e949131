"""The moves that are chosen, counted: chances by weight, variety, thresholds, seeds."""

import math
import re
from collections import Counter

import chess
import chess.polyglot
import pytest

from polyglot_writer import Book, after


def critical(freedom, z=3.719):
    """The chi-square value that chance passes once in 10,000 times (Wilson and Hilferty's approximation)."""
    term = 2 / (9 * freedom)
    return freedom * (1 - term + z * math.sqrt(term)) ** 3


def fits(counts, chances):
    """Whether counted moves agree with their chances; cells too small for the test are taken together."""
    total = sum(counts.values())
    assert set(counts) <= set(chances), f"{set(counts) - set(chances)} ought never to be played"
    cells = []
    rest = [0, 0.0]
    for move, chance in chances.items():
        if chance * total >= 5:
            cells.append((counts[move], chance * total))
        else:
            rest[0] += counts[move]
            rest[1] += chance * total
    if rest[1] >= 5:
        cells.append(tuple(rest))
    elif rest[1] and cells:
        cells[-1] = (cells[-1][0] + rest[0], cells[-1][1] + rest[1])
    value = sum((seen - expected) ** 2 / expected for seen, expected in cells)
    return value <= critical(len(cells) - 1), f"chi-square {value:.1f} with {len(cells) - 1} degrees: {counts}"


def shares(weights):
    total = sum(weights.values())
    return {move: weight / total for move, weight in weights.items()}


def weights_of(path, board):
    with chess.polyglot.open_reader(path) as reader:
        return {entry.move.uci(): entry.weight for entry in reader.find_all(board, minimum_weight=1)}


def sample(client, number, position="position startpos"):
    """The moves of many answers; every one must be the book's."""
    moves = []
    for _ in range(number):
        answer = client.go("movetime 10", position)
        assert answer.book, answer.lines
        moves.append(answer.move)
    return moves


def test_the_measure_itself_tells_fair_from_loaded():
    assert critical(1) == pytest.approx(15.1, abs=1.5)
    assert critical(10) == pytest.approx(35.6, abs=0.5)
    fair = Counter({"a": 502, "b": 498})
    loaded = Counter({"a": 600, "b": 400})
    assert fits(fair, {"a": 0.5, "b": 0.5})[0]
    assert not fits(loaded, {"a": 0.5, "b": 0.5})[0]


def test_ten_thousand_answers_fit_the_weights_of_a_real_book(adapter, gnu_book):
    client = adapter("--book", gnu_book, "--seed", "20240607", "--set", "Book Threshold=0")
    client.start()
    weights = weights_of(gnu_book, chess.Board())
    assert len(weights) >= 5
    fit, why = fits(Counter(sample(client, 10_000)), shares(weights))
    assert fit, why


def test_a_threshold_takes_the_rare_moves_out_and_leaves_the_others_chances(adapter, gnu_book):
    client = adapter("--book", gnu_book, "--seed", "5", "--set", "Book Threshold=50")
    client.start()
    weights = weights_of(gnu_book, chess.Board())
    total = sum(weights.values())
    kept = {move: weight for move, weight in weights.items() if weight * 1000 >= 50 * total}
    assert 1 < len(kept) < len(weights)
    fit, why = fits(Counter(sample(client, 3_000)), shares(kept))
    assert fit, why


def test_the_default_threshold_is_five_per_mille(adapter, tmp_path):
    book = Book().at(e2e4=900, d2d4=96, c2c4=4).write(tmp_path / "rare.bin")
    client = adapter("--book", book, "--seed", "6")
    client.start()
    assert "c2c4" not in sample(client, 1_000)
    client.set("Book Threshold", "0")
    assert "c2c4" in sample(client, 5_000)


def test_the_highest_threshold_leaves_only_a_move_that_stands_alone(adapter, tmp_path):
    book = Book().at(e2e4=999, d2d4=1).at("e2e4", e7e5=1).write(tmp_path / "alone.bin")
    client = adapter("--book", book, "--set", "Book Threshold=1000")
    client.start()
    assert not client.go("movetime 10", "position startpos").book
    assert client.go("movetime 10", "position startpos moves e2e4").move == "e7e5"


def test_great_weights_do_not_overflow(adapter, tmp_path):
    book = Book().at(e2e4=60000, d2d4=60000, c2c4=65535).write(tmp_path / "great.bin")
    client = adapter("--book", book, "--seed", "7")
    client.start()
    counts = Counter(sample(client, 2_000))
    fit, why = fits(counts, shares({"e2e4": 60000, "d2d4": 60000, "c2c4": 65535}))
    assert fit, why


def test_variety_goes_from_the_best_move_over_the_weights_to_all_alike(adapter, tmp_path):
    weights = {"e2e4": 600, "d2d4": 250, "c2c4": 100, "g1f3": 50}
    book = Book().at(**weights).write(tmp_path / "variety.bin")
    client = adapter("--book", book, "--seed", "8")
    client.start()
    best = []
    for variety in (0, 25, 40, 50, 65, 80, 100):
        client.set("Book Variety", variety)
        counts = Counter(sample(client, 4_000))
        best.append(counts["e2e4"])
        if variety == 0:
            assert set(counts) == {"e2e4"}
        if variety == 50:
            fit, why = fits(counts, shares(weights))
            assert fit, why
        if variety == 100:
            fit, why = fits(counts, dict.fromkeys(weights, 0.25))
            assert fit, why
    assert best == sorted(best, reverse=True), f"smooth in between: {best}"
    assert len(set(best)) == len(best), f"each step changes something: {best}"


def test_the_chances_that_are_told_are_those_that_act(adapter, tmp_path):
    weights = {"e2e4": 600, "d2d4": 250, "c2c4": 100, "g1f3": 50}
    book = Book().at(**weights).write(tmp_path / "told.bin")
    client = adapter("--book", book, "--seed", "9")
    client.start()
    for variety in (25, 50, 80):
        client.set("Book Variety", variety)
        told = client.go("movetime 10", "position startpos").candidates
        assert [uci for uci, _, _ in told] == ["e2e4", "d2d4", "c2c4", "g1f3"]
        assert {uci: weight for uci, _, weight in told} == weights
        assert sum(percent for _, percent, _ in told) == pytest.approx(100, abs=0.3)
        fit, why = fits(Counter(sample(client, 4_000)), {uci: percent / 100 for uci, percent, _ in told})
        assert fit, why


def test_no_more_than_five_moves_are_told_in_falling_chance(adapter, gnu_book):
    client = adapter("--book", gnu_book)
    client.start()
    answer = client.go("movetime 10", "position startpos")
    told = answer.candidates
    assert len(told) == 5
    assert [percent for _, percent, _ in told] == sorted((percent for _, percent, _ in told), reverse=True)
    assert int(answer.book["moves"]) >= int(answer.book["playable"]) >= 5
    strings = [index for index, line in enumerate(answer.lines) if line.startswith("info string")]
    assert strings[-1] < len(answer.lines) - 2, "no info string between the scored line and the move"
    assert strings[-1] == answer.lines.index(answer.book.string)


@pytest.mark.parametrize("way", ["argument", "option"])
def test_a_seed_makes_the_moves_come_again(adapter, gnu_book, way):
    def moves(seed):
        args = ("--seed", seed) if way == "argument" else ()
        client = adapter("--book", gnu_book, *args)
        client.start()
        if way == "option":
            client.set("Book Seed", seed)
            client.ready()
        played = sample(client, 200)
        client.quit()
        return played

    first = moves("77")
    assert moves("77") == first
    assert moves("78") != first
    assert len(set(first)) > 1, "a seed does not freeze the choice"


def test_without_a_seed_no_two_runs_are_alike(adapter, gnu_book):
    def moves():
        client = adapter("--book", gnu_book)
        client.start()
        return sample(client, 200)

    assert moves() != moves()


def test_with_a_seed_whole_games_repeat(adapter, gnu_book):
    def games():
        client = adapter("--book", gnu_book, "--seed", "4711")
        client.start()
        played = []
        for _ in range(20):
            client.send("ucinewgame")
            client.ready()
            moves = []
            while True:
                suffix = f" moves {' '.join(moves)}" if moves else ""
                answer = client.go("movetime 10", f"position startpos{suffix}")
                if not answer.book:
                    break
                moves.append(answer.move)
            played.append(moves)
        return played

    first = games()
    assert games() == first
    assert all(first), "each game begins in the book"


def book_of_one_line(tmp_path):
    """1. d2d4 d7d5 2. c2c4 e7e6 3. b1c3 g8f6 4. c1g5 f8e7 5. e2e3 e8g8: ten plies with no choice."""
    return Book().line("d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7 e2e3 e8g8").write(tmp_path / "line.bin")


def answered_plies(client, line="d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7 e2e3 e8g8"):
    """For each ply of the line whether the book answers it."""
    moves = line.split()
    found = []
    for ply in range(len(moves)):
        suffix = f" moves {' '.join(moves[:ply])}" if ply else ""
        answer = client.go("movetime 10", f"position startpos{suffix}")
        if answer.book:
            assert answer.move == moves[ply]
        found.append(bool(answer.book))
    return found


def test_depth_is_the_last_full_move_that_the_book_answers(adapter, tmp_path):
    client = adapter("--book", book_of_one_line(tmp_path))
    client.start()
    assert answered_plies(client) == [True] * 10
    for depth in (1, 3):
        client.set("Book Depth", depth)
        assert answered_plies(client) == [True] * (2 * depth) + [False] * (10 - 2 * depth)
    client.set("Book Depth", 0)
    assert answered_plies(client) == [True] * 10


def test_depth_counts_by_the_fen_where_the_game_begins_with_one(adapter, tmp_path):
    client = adapter("--book", book_of_one_line(tmp_path), "--set", "Book Depth=3")
    client.start()
    board = after("d2d4 d7d5 c2c4 e7e6 b1c3 g8f6")
    assert board.fullmove_number == 4
    assert not client.go("movetime 10", f"position fen {board.fen()}").book
    board = after("d2d4 d7d5 c2c4 e7e6 b1c3")
    assert client.go("movetime 10", f"position fen {board.fen()}").move == "g8f6"


def test_reserve_leaves_the_book_before_its_line_ends(adapter, tmp_path):
    client = adapter("--book", book_of_one_line(tmp_path))
    client.start()
    ends = []
    for reserve in (0, 1, 4, 7, 100):
        client.set("Book Reserve", reserve)
        answered = answered_plies(client)
        ends.append(answered.count(True))
        assert answered == [True] * ends[-1] + [False] * (10 - ends[-1]), "left once and for all"
    assert ends[0] == 10
    assert ends[2] - ends[3] == 3, f"each ply of reserve leaves a ply earlier: {ends}"
    assert ends[-1] == 0


def test_the_line_that_is_told_shortens_with_each_ply(adapter, tmp_path):
    client = adapter("--book", book_of_one_line(tmp_path))
    client.start()
    moves = "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 c1g5 f8e7 e2e3 e8g8".split()
    told = []
    for ply in range(10):
        suffix = f" moves {' '.join(moves[:ply])}" if ply else ""
        answer = client.go("movetime 10", f"position startpos{suffix}")
        told.append(int(answer.book["plies"]))
        assert answer.pv == moves[ply : ply + len(answer.pv)]
        assert answer.ponder == (moves[ply + 1] if ply < 9 else None)
    assert [first - second for first, second in zip(told, told[1:], strict=False)] == [1] * 9, told


def test_no_book_move_brings_a_position_for_the_third_time_unless_asked(adapter, tmp_path):
    book = Book().line("g1f3 g8f6 f3g1 f6g8").write(tmp_path / "dance.bin")
    client = adapter("--book", book)
    client.start()
    dance = "g1f3 g8f6 f3g1 "
    once = f"position startpos moves {dance}".rstrip()
    twice = f"position startpos moves {dance}f6g8 {dance}".rstrip()
    assert client.go("movetime 10", once).move == "f6g8"
    answer = client.go("movetime 10", twice)
    assert not answer.book and answer.move == "h2h3"
    client.set("Book Threefold", "true")
    assert client.go("movetime 10", twice).move == "f6g8"
    client.set("Book Threefold", "false")
    assert not client.go("movetime 10", twice).book


def test_bad_entries_are_never_played(adapter, tmp_path):
    board = chess.Board()
    illegal = chess.Move.from_uci("e2e5")
    book = Book().at(e2e4=1, d2d4=0)
    book.raw(board, illegal.to_square | illegal.from_square << 6, 60000)
    book.raw(board, 0, 60000)
    book.raw(board, 0xFFFF, 60000)
    # A promotion that is none, of the move that else is good.
    move = chess.Move.from_uci("c2c4")
    book.raw(board, move.to_square | move.from_square << 6 | 4 << 12, 60000)
    client = adapter("--book", book.write(tmp_path / "bad.bin"), "--set", "Book Threshold=0")
    client.start()
    assert set(sample(client, 500)) == {"e2e4"}
    client.set("Book Variety", "100")
    assert set(sample(client, 500)) == {"e2e4"}


def test_a_position_with_bad_entries_only_is_the_engines(adapter, tmp_path):
    board = chess.Board()
    book = Book().at(e2e4=0, d2d4=0).raw(board, 0, 10).raw(board, 0x0FFF, 10).write(tmp_path / "nothing.bin")
    client = adapter("--book", book)
    client.start()
    answer = client.go("movetime 10", "position startpos")
    assert not answer.book and answer.move == "h2h3"
    assert not any(re.match(r"info depth 0 ", line) for line in answer.lines)
