"""`export --tree`: the tree of a book as JSON, against the book's positions, by python-chess."""

import json

import chess
import pytest

from random_games import FORMATS, random_games

DONE, USAGE = 0, 2
# What readers of JSON in other languages take unless they are told otherwise.
DEEPEST = 128
GAMES = random_games(60, seed=13, most_plies=40)


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


def tree(tabiya, book, *more):
    done = tabiya("export", "--format", "json", "--tree", book, *more)
    assert done.returncode == DONE, done.stderr
    return json.loads(done.stdout), len(done.stdout)


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner), default=0)


def nodes(said):
    """Each node with its board, by python-chess's rules from the first position of its tree."""
    waiting = [(root, chess.Board(root["fen"])) for root in said["trees"]]
    while waiting:
        node, board = waiting.pop()
        assert chess.Board(node["fen"]).epd() == board.epd()
        yield node, board
        for child in node["moves"]:
            after = board.copy(stack=False)
            move = board.parse_san(child["san"])
            assert move.uci() == child["uci"]
            after.push(move)
            waiting.append((child, after))


@pytest.mark.parametrize("name", FORMATS)
def test_the_tree_has_each_move_of_the_book_once(tabiya, sources, name):
    done = tabiya("export", "--format", "json", "--reachable", sources[name])
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    expected = {(line["key"], move["uci"]): (move["weight"], move["games"]) for line in lines for move in line["moves"]}
    said, size = tree(tabiya, sources[name], "--reachable")
    assert said["trees"][0]["fen"] == chess.STARTING_FEN and len(said["trees"]) == 1
    found, told, referred = {}, set(), set()
    for node, board in nodes(said):
        if node["transposes"]:
            assert node["moves"] == []
            referred.add(node["key"])
        elif node["moves"]:
            assert node["key"] not in told
            told.add(node["key"])
        for child in node["moves"]:
            if child["in_book"]:
                found[node["key"], child["uci"]] = (child["weight"], child["games"])
            else:
                assert child["weight"] is None and child["share"] is None
        shares = [child["share"] for child in node["moves"] if child["in_book"]]
        assert not shares or sum(shares) == pytest.approx(1) or sum(shares) == 0
    # What CTG and Kvetka books do not distinguish has the same moves, and is not listed twice.
    assert found == expected or name in ("ctg", "kob") and expected.items() <= found.items()
    assert referred <= told
    assert depth(said) <= DEEPEST and size < 900 * (len(found) + 1)


def test_comments_and_openings_are_those_of_the_positions(tabiya, sources, tmp_path):
    assert tabiya("convert", sources["bin"], "-o", tmp_path / "a.epd").returncode == DONE
    said, _ = tree(tabiya, tmp_path / "a.epd")
    told = [node for node, _ in nodes(said) if node["comment"]]
    assert told and all(node["opening"]["eco"] in node["comment"] for node in told)
    assert said["format"] == "epd" and said["book"] == "a.epd" and said["variant"] == "chess"


def test_long_lines_go_on_in_a_tree_of_their_own_and_other_positions_have_theirs(tabiya, tmp_path):
    # A line that never comes to a position again.
    text, board, seen = "", chess.Board(), set()

    def leads_on(move):
        after = board.copy()
        after.push(move)
        return after.epd() not in seen and any(after.legal_moves)

    for _ in range(130):
        seen.add(board.epd())
        move = next(filter(leads_on, sorted(board.legal_moves, key=lambda move: (board.is_zeroing(move), move.uci()))))
        text += board.fen() + f"; {move.uci()} 5\n"
        board.push(move)
    text += "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1; e4 3, Kd2 1\n"
    book = tmp_path / "long.fen"
    book.write_text(text)
    said, _ = tree(tabiya, book)
    assert [chess.Board(root["fen"]).ply() for root in said["trees"]][:3] == [0, 50, 100]
    assert depth(said) <= DEEPEST
    assert said["trees"][-1]["fen"].startswith("4k3/8") and [move["san"] for move in said["trees"][-1]["moves"]] == ["e4", "Kd2"]
    assert sum(child["in_book"] for node, _ in nodes(said) for child in node["moves"]) == 132
    assert len(tree(tabiya, book, "--reachable")[0]["trees"]) == 3


def test_a_tree_is_json(tabiya, sources, tmp_path):
    done = tabiya("export", "--format", "tsv", "--tree", sources["bin"])
    assert done.returncode == USAGE and b"--tree writes JSON" in done.stderr
    done = tabiya("export", "--tree", sources["bin"], "-o", tmp_path / "a.json")
    assert done.returncode == DONE and json.loads((tmp_path / "a.json").read_text())["trees"]
