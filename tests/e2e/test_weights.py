"""*Book Weights*, and the options `--weights`: moves by how often they were played, against games that are counted here."""

import json
from collections import Counter, defaultdict

import chess
import pytest

from client import times
from random_games import pgn, random_games, read_book

DONE, USAGE = 0, 2

# The formats that count the games of each move.
COUNTING = ["parquet", "ctg", "kob", "abk"]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    games = random_games(600, seed=11, most_plies=12)
    path = tmp_path_factory.mktemp("weights") / "games.pgn"
    path.write_text(pgn(games), encoding="utf-8")
    return path, games


def played(games):
    """How often each move was played, by the moves before it: {moves: {move: games}}; the first games of positions alone."""
    found = defaultdict(Counter)
    for game in games:
        board = chess.Board()
        for move in game.moves:
            found[board.epd()][move.uci()] += 1
            board.push(move)
    return found


def lines(games, number):
    """The beginnings of some games: (moves, position)."""
    seen = {}
    for game in games[:number]:
        board = chess.Board()
        for move in [*game.moves[:4], None]:
            seen.setdefault(board.epd(), " ".join(move.uci() for move in board.move_stack))
            if move:
                board.push(move)
    return [(moves, position) for position, moves in seen.items()]


@pytest.fixture
def book(tabiya, source, tmp_path):
    def build(end, *more):
        path = tmp_path / f"book.{end}"
        least = [] if end == "parquet" else ["--min-games", "1"]
        done = tabiya("build", source[0], "-o", path, "--force", *least, *more)
        assert done.returncode == DONE, done.stderr
        return path

    return build


def shown(tabiya, book, moves, *more):
    said = json.loads(tabiya("show", book, "--json", "--moves", moves, "--set", "Book Threshold=0", *more).stdout)
    return said, {move["uci"]: move["chance"] for move in said["moves"]}


@pytest.mark.parametrize("end", COUNTING)
def test_moves_are_played_as_often_as_they_were(tabiya, source, book, end):
    path, games = book(end), played(source[1])
    checked = lost = 0
    for moves, position in lines(source[1], times(60, 400)):
        expected = games[position]
        said, chances = shown(tabiya, path, moves, "--set", "Book Weights=games")
        if not expected:
            continue
        of_book = {move["uci"]: move["games"] for move in said["moves"]}
        # Books of ChessBase and Kvetka have the games of the position after each move, by whatever way they came there.
        weights = of_book if end in ("ctg", "kob") else dict(expected)
        assert weights == of_book, (moves, said)
        whole = sum(weights.values())
        assert chances == pytest.approx({uci: count / whole for uci, count in weights.items()}), moves
        assert said["weights"] == "games" and "weights" not in shown(tabiya, path, moves)[0]
        checked += 1
        lost += any(move["weight"] == 0 < move["chance"] for move in said["moves"])
    assert checked > 30 and lost > 5, (checked, lost)
    text = tabiya("show", path, "--set", "Book Weights=games").stdout.decode()
    assert "moves, by games, line ends in" in text
    assert b"by games" not in tabiya("show", path).stdout


def test_the_adapter_draws_by_games(adapter, source, book):
    path, games = book("parquet"), played(source[1])[chess.Board().epd()]
    client = adapter("--book", path, "--seed", "12", "--set", "Book Threshold=0", "--set", "Book Weights=games")
    assert any("name Book Weights type combo default games var points var games" in line for line in client.start())
    draws = times(2_000, 10_000)
    drawn = Counter(client.go("movetime 10", "position startpos").move for _ in range(draws))
    whole = sum(games.values())
    for uci, count in games.items():
        share = count / whole
        # Five standard deviations.
        assert abs(drawn[uci] / draws - share) < 5 * (share * (1 - share) / draws) ** 0.5, (uci, drawn, games)
    client.set("Book Weights", "points")
    assert client.go("movetime 10", "position startpos").book
    assert client.quit() == 0


def test_each_book_of_the_configuration_has_weights_of_its_own(tabiya, source, book, tmp_path):
    path, plain = book("parquet"), book("bin")
    rule = "[[book]]\nfile = '{}'\n{}"
    (tmp_path / "tabiya.toml").write_text(rule.format(path, "weights = 'games'\nthreshold = 0\n") + rule.format(plain, ""))
    games = played(source[1])[chess.Board().epd()]
    first, second = (json.loads(line) for line in tabiya("show", "--json").stdout.splitlines())
    assert {move["uci"]: round(move["chance"] * sum(games.values())) for move in first["moves"]} == games
    assert first["weights"] == "games" and "weights" not in second
    # A book that counts no games has nothing to make them of.
    (tmp_path / "tabiya.toml").write_text(rule.format(plain, "weights = 'games'\n"))
    done = tabiya("doctor", "--engine", "stockfish")
    assert b"rule 1 (book.bin): weights has no effect: no book counts games" in done.stdout, done.stdout
    wrong = tabiya("show", plain, "--set", "Book Weights=often")
    assert wrong.returncode == USAGE and b"one of points, games" in wrong.stderr


def test_weights_by_games_are_written(tabiya, source, book, tmp_path):
    direct = read_book(book("bin", "--weights", "games"))
    games = played(source[1])
    board = chess.Board()
    assert shown_weights(tabiya, tmp_path / "book.bin", "") == games[board.epd()]
    for end in ("parquet", "abk"):
        path = book(end)
        out = tmp_path / f"of-{end}.bin"
        assert tabiya("convert", path, "-o", out, "--weights", "games").returncode == DONE
        assert read_book(out) == direct, end
    kob = book("kob")
    assert tabiya("convert", kob, "-o", tmp_path / "of-kob.bin", "--weights", "games").returncode == DONE
    counts = {move["uci"]: move["games"] for move in shown(tabiya, kob, "")[0]["moves"]}
    assert shown_weights(tabiya, tmp_path / "of-kob.bin", "") == counts
    # By points everything is as before.
    assert book("bin").read_bytes() == book("bin", "--weights", "points").read_bytes() != out.read_bytes()
    assert tabiya("trim", path, "-o", tmp_path / "two.bin", "--weights", "games", "--max-ply", "2").returncode == DONE
    assert shown_weights(tabiya, tmp_path / "two.bin", "") == games[board.epd()]


def shown_weights(tabiya, book, moves):
    return {move["uci"]: move["weight"] for move in shown(tabiya, book, moves)[0]["moves"]}


@pytest.mark.parametrize("end", COUNTING)
def test_a_format_that_counts_games_has_no_weights_by_games(tabiya, source, book, tmp_path, end):
    out = tmp_path / f"new.{end}"
    for command in (("build", source[0]), ("convert", book("kob"))):
        done = tabiya(*command, "-o", out, "--weights", "games")
        assert done.returncode == USAGE and not out.exists(), done.stderr
        assert b"--weights" in done.stderr or b"no place for weights by games: write a .bin" in done.stderr
    assert tabiya("build", source[0], "-o", out, "--weights", "games", "--uniform").returncode == USAGE
