"""`tabiya gaps`: the rows, shares and percentages of a walk by python-chess over the same book and games."""

import gzip
import io
import json
import re
from collections import Counter, defaultdict

import chess
import chess.pgn
import chess.polyglot
import pytest

import cbh_writer
from client import complaints, times
from random_games import pgn, random_games

DONE, FINDINGS, USAGE, FILE = 0, 1, 2, 3

# Neither a share of few games nor a tenth of one: the order in which floats are added up does not matter.
SHARE = 0.00123457
PLIES = 14

key = chess.polyglot.zobrist_hash


def counted(boards_of_games):
    """How often each move was played: {key: {move: games}}."""
    found = defaultdict(Counter)
    for moves in boards_of_games:
        board = chess.Board()
        for move in moves:
            found[key(board)][move] += 1
            board.push(move)
    return found


def of_games(path, most):
    """The first plies of the games of a file: python-chess's own reader takes a quarter of an hour for all of them."""
    besides = re.compile(r"\{[^}]*\}|\([^)]*\)|;[^\n]*|\$\d+|\d+\.+|[!?]+")
    games = []
    for part in path.read_text(encoding="latin-1").split("\n\n"):
        if not part.strip() or part.lstrip().startswith("["):
            assert "FEN" not in part
            continue
        board, moves = chess.Board(), []
        for word in besides.sub(" ", part).split()[:most]:
            if word in ("1-0", "0-1", "1/2-1/2", "*"):
                break
            moves.append(board.push_san(word))
        games.append(moves)
    return games


def played(weights):
    """The chances of moves by their weights: those of less than half a percent are not played."""
    whole = sum(weights.values())
    kept = {move: weight for move, weight in weights.items() if weight > 0 and weight * 200 >= whole}
    return {move: weight / sum(kept.values()) for move, weight in kept.items()}


def of_polyglot(path):
    reader = chess.polyglot.open_reader(path)
    return lambda board: played({entry.move: entry.weight for entry in reader.find_all(board)})


def of_export(tabiya, path):
    """A book by what is written of it, whose moves a walk looks up by itself."""
    known = {}
    for line in map(json.loads, tabiya("export", path, "--format", "json").stdout.splitlines()):
        known[int(line["key"], 16)] = {chess.Move.from_uci(move["uci"]): move["weight"] for move in line["moves"]}
    return lambda board: played(known.get(key(board), {}))


def expected(board, sources):
    """What several sources expect: (chances, games of each move by the first that knows the position)."""
    chances, games = {}, {}
    for found in reversed([source[key(board)] for source in sources if key(board) in source]):
        behind = 3 if chances else 0
        whole = sum(found.values()) + behind
        moves = {*found, *chances}
        chances = {move: (found[move] + behind * chances.get(move, 0)) / whole for move in moves}
        games = {move: found[move] for move in moves}
    return chances, games


def walked(book, sources, side, plies=PLIES, least=SHARE):
    """What games reach of a book, by python-chess."""
    now = {key(chess.Board()): [chess.Board(), 1.0, None]}
    gaps, choices, answered, followed = {}, {}, {}, set()
    unknown = asked = 0
    for ply in range(plies + 1):
        after = {}
        for board, share, games in now.values():
            if board.is_game_over():
                continue
            if board.turn == side:
                moves, counts = book(board), defaultdict(lambda: None)
                whole = answered.setdefault(ply, [0, 0])
                whole[0] += share
                whole[1] += share if moves else 0
                lists = ([gaps] if not moves else []) + ([choices] if len(moves) > 1 else [])
                for found in lists:
                    row = found.setdefault(key(board), [board, 0, 0, moves])
                    row[1] += share
                    row[2] = None if games is None else row[2] + games
                if share >= least / 10 and moves:
                    followed.add(key(board))
            elif share >= least / 10 and ply < plies:
                moves, counts = expected(board, sources)
                asked += share
                unknown += share if not moves else 0
            if share < least / 10 or ply == plies:
                continue
            for move, chance in moves.items():
                board.push(move)
                known = after.setdefault(key(board), [board.copy(stack=False), 0, 0])
                known[1] += share * chance
                known[2] = None if counts[move] is None else known[2] + counts[move]
                board.pop()
        now = after
    return {"gaps": gaps, "choices": choices, "answered": answered, "unknown": unknown / asked if asked else 0, "followed": followed}


def same_rows(rows, expected, least=SHARE):
    """Rows are those that were walked: positions, shares, games, in order, each with a line that leads there."""
    found = {}
    for row in rows:
        board = chess.Board()
        for word in row["moves"].split():
            if not word[0].isdigit():
                board.push_san(word)
        assert chess.Board(row["fen"]) == board
        assert key(board) not in found
        found[key(board)] = row
    listed = {at: row for at, row in expected.items() if row[1] >= least}
    assert set(found) == set(listed)
    for at, (_, share, games, _) in listed.items():
        assert found[at]["share"] == pytest.approx(min(share, 1), abs=1e-12) and found[at]["games"] == games, found[at]
    shares = [row["share"] for row in rows]
    assert shares == sorted(shares, reverse=True)
    return found


def asked(tabiya, book, sources, side, *more):
    against = [word for source in sources for word in ("--against", source)]
    done = tabiya("gaps", book, *against, "--side", side, "--json", "--max-ply", PLIES, "--min-share", SHARE * 100, *more)
    assert done.returncode == DONE, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(tabiya, book, reader, files, counts):
    """Both sides are as python-chess finds them; returns how many gaps, rare ones too, and choices there are."""
    sides = asked(tabiya, book, files, "both")
    assert [of["side"] for of in sides] == ["white", "black"]
    rows = [0, 0]
    for of, side in zip(sides, [chess.WHITE, chess.BLACK], strict=True):
        walk = walked(reader, counts, side)
        same_rows(of["gaps"], walk["gaps"])
        smaller = [share for _, share, *_ in walk["gaps"].values() if share < SHARE]
        assert of["smaller"] == {"count": len(smaller), "share": pytest.approx(sum(smaller), abs=1e-12)}
        by_ply = {row["ply"]: (row["reached"], row["percent"]) for row in of["answered"]}
        for ply, (reached, answers) in walk["answered"].items():
            assert by_ply.pop(ply) == pytest.approx((min(reached, 1), answers / reached * 100), abs=1e-9)
        assert not by_ply
        theirs = [whole for ply, whole in walk["answered"].items() if ply > 0]
        reached, answers = map(sum, zip(*theirs, strict=True))
        assert of["percent"] == pytest.approx(answers / reached * 100) and of["unknown"] == pytest.approx(walk["unknown"])
        choices = same_rows(of["choices"], walk["choices"])
        for at, row in choices.items():
            chances = {chess.Move.from_uci(move["uci"]): move["chance"] for move in row["plays"]}
            assert chances == pytest.approx(walk["choices"][at][3])
        rows = [rows[0] + len(walk["gaps"]), rows[1] + len(choices)]
    return rows


@pytest.fixture(scope="module")
def random_source(tmp_path_factory):
    games = random_games(900, seed=41, most_plies=16)
    path = tmp_path_factory.mktemp("gaps") / "games.pgn"
    path.write_text(pgn(games), encoding="utf-8")
    return path, [game.moves for game in games]


@pytest.fixture(scope="module")
def real_source(real_games, tmp_path_factory):
    """Real games: some, or before a release all, and what python-chess counts in them."""
    path = tmp_path_factory.mktemp("real") / "games.pgn"
    whole = real_games.read_bytes()
    size = times(600_000, len(whole))
    path.write_bytes(whole[: whole.rfind(b"\n[Event ", 0, size) + 1] if size < len(whole) else whole)
    return path, counted(of_games(path, PLIES))


def test_rows_of_a_polyglot_book_are_those_of_python_chess(tabiya, gnu_book, real_source):
    path, counts = real_source
    gaps, choices = same(tabiya, gnu_book, of_polyglot(gnu_book), [path], [counts])
    assert gaps > 100 and choices > 50, (gaps, choices)


def test_rows_of_an_arena_book_are_those_of_python_chess(tabiya, sample, real_source):
    path, counts = real_source
    book = sample("abk/Perfect2021.abk")
    gaps, choices = same(tabiya, book, of_export(tabiya, book), [path], [counts])
    assert gaps > 50 and choices > 10, (gaps, choices)


REPERTOIRE = """[Event "White"]

1. e4 e5 (1... c5 2. c3 (2. Nf3 d6 3. d4) 2... d5 3. exd5) (1... e6 2. d4 d5 3. Nc3) (1... c6 2. d4 d5 3. e5)
2. Nf3 Nc6 (2... Nf6 3. Nxe5 d6 4. Nf3) 3. Bc4 Bc5 (3... Nf6 4. d3) 4. c3 Nf6 5. d3 *
"""


@pytest.mark.parametrize("end", ["bin", "ctg"])
def test_rows_of_a_repertoire_are_those_of_python_chess(tabiya, real_source, tmp_path, end):
    study, book = tmp_path / "study.pgn", tmp_path / f"white.{end}"
    study.write_text(REPERTOIRE)
    assert tabiya("build", study, "-o", book, "--repertoire", "white").returncode == DONE
    path, counts = real_source
    gaps, choices = same(tabiya, book, of_export(tabiya, book), [path], [counts])
    assert gaps > 20 and choices > 0, (gaps, choices)


@pytest.mark.parametrize("end", ["bin", "abk", "kob"])
def test_several_sources_are_those_of_python_chess(tabiya, books_of, random_source, tmp_path, end):
    """By everybody's games behind a few; books of random games transpose more than any other."""
    path, games = random_source
    few = random_games(60, seed=42, most_plies=16)
    (tmp_path / "few.pgn").write_text(pgn(few), encoding="utf-8")
    book = books_of(random_games(200, seed=43, most_plies=8))[end]
    files, counts = [tmp_path / "few.pgn", path], [counted(game.moves[:PLIES] for game in few), counted(moves[:PLIES] for moves in games)]
    gaps, choices = same(tabiya, book, of_export(tabiya, book), files, counts)
    assert gaps > 50 and choices > 5, (gaps, choices)


def games_text(lines, white="A, A", black="B, B"):
    """Games with these moves, so many of each."""
    head = f'[Event "?"]\n[White "{white}"]\n[Black "{black}"]\n[Result "0-1"]\n\n'
    return "".join(f"{head}{moves} 0-1\n\n" * count for moves, count in lines.items())


PLANTED = {
    "1. e4 c5 2. Nf3 e6 3. d4": 5,
    "1. e4 e6 2. Nf3 c5 3. d4": 2,
    "1. e4 e5 2. Nf3 Nc6": 9,
    "1. e4 e5 2. Nf3 f6": 1,
    "1. e4 a5": 3,
}


@pytest.fixture
def planted(tabiya, tmp_path):
    """A book for White that answers what is reached by another order, and games."""
    study, games, book = tmp_path / "study.pgn", tmp_path / "games.pgn", tmp_path / "white.bin"
    study.write_text("1. e4 c5 (1... e6 2. Nf3) (1... e5 2. Nf3 Nc6 3. Bb5) 2. Nf3 e6 3. d4 *")
    games.write_text(games_text(PLANTED))
    assert tabiya("build", study, "-o", book, "--repertoire", "white").returncode == DONE
    return book, games


def test_planted_gaps_come_in_order_and_another_order_of_moves_is_an_answer(tabiya, planted):
    book, games = planted
    (of,) = asked(tabiya, book, [games], "white")
    assert [(row["moves"], row["games"], round(row["share"] * 20, 9)) for row in of["gaps"]] == [
        ("1. e4 a5", 3, 3),
        ("1. e4 e5 2. Nf3 f6", 1, 1),
    ]
    # The French order leads to the same position, which has its answer from the Sicilian.
    assert of["answered"] == [
        {"ply": 0, "reached": 1, "percent": 100},
        {"ply": 2, "reached": 1, "percent": pytest.approx(85)},
        {"ply": 4, "reached": pytest.approx(0.85), "percent": pytest.approx(16 / 17 * 100)},
    ]
    text = tabiya("gaps", book, "--against", games, "--side", "white").stdout.decode()
    assert "    1 in 6.7 games (3): 1. e4 a5\n    1 in 20 games (1): 1. e4 e5 2. Nf3 f6\n" in text
    # A gap that two orders reach is one row.
    study = book.with_name("less.pgn")
    study.write_text("1. e4 c5 (1... e6 2. Nf3) (1... e5 2. Nf3 Nc6 3. Bb5) 2. Nf3 *")
    less = book.with_name("less.bin")
    assert tabiya("build", study, "-o", less, "--repertoire", "white").returncode == DONE
    (of,) = asked(tabiya, less, [games], "white")
    row = of["gaps"][0]
    assert (row["moves"], row["games"], round(row["share"] * 20, 9)) == ("1. e4 c5 2. Nf3 e6", 7, 7)


def test_the_book_beyond_what_games_reach_is_found(tabiya, planted):
    book, games = planted
    (of,) = asked(tabiya, book, [games], "white", "--rare")
    assert of["rare"] == []
    study, more = book.with_name("more.pgn"), book.with_name("more.bin")
    study.write_text("1. e4 c5 (1... b6 2. d4 Bb7 (2... g6 3. Nf3) 3. Bd3) (1... Nf6 2. e5) (1... e6 2. Nf3) (1... e5 2. Nf3 Nc6 3. Bb5) 2. Nf3 e6 3. d4 *")
    assert tabiya("build", study, "-o", more, "--repertoire", "white").returncode == DONE
    (of,) = asked(tabiya, more, [games], "white", "--rare")
    assert [(row["moves"], row["positions"], row["share"]) for row in of["rare"]] == [("1. e4 b6", 3, 0), ("1. e4 Nf6", 1, 0)]
    text = tabiya("gaps", more, "--against", games, "--rare").stdout.decode()
    assert "    no game: 1. e4 b6 (3 positions)\n    no game: 1. e4 Nf6 (1 position)\n" in text
    # A book for White has nothing for Black to list.
    assert "white" not in text.partition("for Black")[2] and "the book has no move of Black" in text


def test_each_gap_is_a_game_that_a_viewer_shows(tabiya, planted, tmp_path):
    book, games = planted
    out = tmp_path / "gaps.pgn"
    done = tabiya("gaps", book, "--against", games, "--pgn", out)
    assert done.returncode == DONE and f"{out}: 2 games" in done.stdout.decode(), done.stderr
    text = io.StringIO(out.read_text())
    first, second = chess.pgn.read_game(text), chess.pgn.read_game(text)
    assert chess.pgn.read_game(text) is None and not first.errors and not second.errors
    assert (first.headers["Event"], first.headers["White"], first.headers["Result"]) == ("1 in 6.7 games", "white.bin", "*")
    assert [move.uci() for move in second.mainline_moves()] == ["e2e4", "e7e5", "g1f3", "f7f6"]
    assert " ".join(second.end().comment.split()) == "10.0%, 1 in 20 games (1): white.bin has no answer."
    assert second.next().next().comment == "50.0%" and not second.next().comment
    refused = tabiya("gaps", book, "--against", games, "--pgn", out)
    assert refused.returncode == FILE and b"--force" in refused.stderr
    assert tabiya("gaps", book, "--against", games, "--pgn", out, "--force").returncode == DONE
    over = tabiya("gaps", book, "--against", games, "--pgn", games, "--force")
    assert over.returncode == USAGE and "1-0" not in games.read_text() and games.read_text() == games_text(PLANTED)


def test_older_games_count_less(tabiya, planted):
    """Halved for every two years; a game without a date is four half-lives old. How many they are is said as it is."""
    book, games = planted
    lines = {"1. e4 a5": "2024.??.??", "1. e4 b5": "2022.??.??", "1. e4 f5": "2020.??.??", "1. e4 h5": "????.??.??"}
    games.write_text("".join(f'[Date "{date}"]\n' + games_text({moves: 2}).replace("\n\n[Event", f'\n\n[Date "{date}"]\n[Event') for moves, date in lines.items()))
    counts = games.with_suffix(".parquet")
    assert tabiya("build", games, "-o", counts).returncode == DONE

    def shares(*more):
        (of,) = asked(tabiya, book, [games], "white", *more)
        return {row["moves"][-2:]: (row["games"], row["share"]) for row in of["gaps"]}

    assert shares() == dict.fromkeys(["a5", "b5", "f5", "h5"], (2, 0.25))
    halves, whole = {"a5": 1, "b5": 1 / 2, "f5": 1 / 4, "h5": 1 / 16}, 1 + 1 / 2 + 1 / 4 + 1 / 16
    assert shares("--half-life", 2) == {move: (2, pytest.approx(part / whole)) for move, part in halves.items()}
    # Three games' worth of the count file behind them, which knows no dates.
    mixed = {move: (2, pytest.approx((2 * part + 3 / 4) / (2 * whole + 3))) for move, part in halves.items()}
    assert shares("--half-life", 2, "--against", counts) == mixed
    with games.open("rb") as pipe:
        piped = tabiya("gaps", book, "--against", "-", "--half-life", 2, stdin=pipe)
    assert piped.returncode == USAGE and b"reads the games twice" in piped.stderr, piped.stderr
    wrong = tabiya("gaps", book, "--against", games, "--half-life", 0)
    assert wrong.returncode == USAGE and b"must be years" in wrong.stderr, wrong.stderr


def test_each_kind_of_source_says_the_same(tabiya, planted, tmp_path):
    book, games = planted
    wanted = asked(tabiya, book, [games], "both")
    packed, counts, folder = tmp_path / "games.pgn.gz", tmp_path / "games.parquet", tmp_path / "folder"
    packed.write_bytes(gzip.compress(games.read_bytes()))
    assert tabiya("build", games, "-o", counts).returncode == DONE
    folder.mkdir()
    lines = list(PLANTED.items())
    (folder / "a.pgn").write_text(games_text(dict(lines[:2])))
    (folder / "b.pgn").write_text(games_text(dict(lines[2:4])))
    (tmp_path / "rest.pgn").write_text(games_text(dict(lines[4:])))
    assert tabiya("build", tmp_path / "rest.pgn", "-o", folder / "c.parquet").returncode == DONE
    file = io.StringIO(games.read_text())
    base = cbh_writer.write(tmp_path / "base.cbh", [(0, game) for game in iter(lambda: chess.pgn.read_game(file), None)])
    for source in (packed, counts, folder, base):
        assert asked(tabiya, book, [source], "both") == wanted, source
    with games.open("rb") as stdin:
        piped = tabiya("gaps", book, "--against", "-", "--json", "--max-ply", PLIES, "--min-share", SHARE * 100, stdin=stdin)
    assert [json.loads(line) for line in piped.stdout.splitlines()] == wanted


def test_a_walk_may_begin_anywhere(tabiya, planted):
    book, games = planted
    (of,) = asked(tabiya, book, [games], "white", "--moves", "1. e4 e5")
    assert [(row["moves"], round(row["share"], 9)) for row in of["gaps"]] == [("1. e4 e5 2. Nf3 f6", 0.1)]
    assert of["percent"] == pytest.approx(90) and [row["ply"] for row in of["answered"]] == [2, 4]
    board = chess.Board()
    board.push_san("e4")
    (of,) = asked(tabiya, book, [games], "white", "--fen", board.fen())
    assert [row["moves"] for row in of["gaps"]] == ["1... a5", "1... e5 2. Nf3 f6"] and of["from"] == board.fen()
    positions = book.with_name("positions.txt")
    positions.write_text(f"{board.fen()}\n{chess.STARTING_FEN}\n")
    several = asked(tabiya, book, [games], "white", "--fen-file", positions)
    assert several[0] == of and several[1]["from"] == chess.STARTING_FEN
    text = tabiya("gaps", book, "--against", games, "--side", "white", "--fen-file", positions).stdout.decode()
    assert f"white.bin for White, from {board.fen()} on\n" in text and "white.bin for White\n" in text


def test_moves_that_go_back_and_forth_come_to_an_end(tabiya, tmp_path):
    there = "1. Nf3 Nf6 2. Ng1 Ng8"
    study, games, book = tmp_path / "study.pgn", tmp_path / "games.pgn", tmp_path / "white.bin"
    study.write_text(f"{there} *")
    games.write_text(games_text({there: 3, "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 d5": 1}))
    assert tabiya("build", study, "-o", book, "--repertoire", "white").returncode == DONE
    done = tabiya("gaps", book, "--against", games, "--side", "white", "--max-ply", 300, "--rare", "--json")
    assert done.returncode == DONE, done.stderr
    of = json.loads(done.stdout)
    # One in five times that the knight goes out, d5 is the answer; what is left when it becomes too little is not followed.
    assert [row["moves"] for row in of["gaps"]] == ["1. Nf3 d5"] and of["gaps"][0]["share"] == pytest.approx(1, abs=0.001)
    assert of["choices"] == of["rare"] == [] and len(of["answered"]) > 20


def test_an_opponent_is_one_player(tabiya, planted, tmp_path):
    book, games = planted
    both = tmp_path / "both.pgn"
    both.write_text(games.read_text() + games_text({"1. e4 d5": 4}, black="Rival, R") + games_text({"1. d4 d5": 2}, white="Rival, R"))
    (of,) = asked(tabiya, book, [both], "white", "--player", "rival")
    assert [(row["moves"], row["games"], row["share"]) for row in of["gaps"]] == [("1. e4 d5", 4, 1)]
    # His moves before those of everybody, who played 24 games of 1. e4, four of them his.
    counts = tmp_path / "all.parquet"
    assert tabiya("build", both, "-o", counts).returncode == DONE
    (of,) = asked(tabiya, book, [both, counts], "white", "--player", "rival")
    shares = {row["moves"]: row["share"] for row in of["gaps"]}
    assert shares == pytest.approx({"1. e4 d5": (4 + 3 * 4 / 24) / 7, "1. e4 a5": 3 * 3 / 24 / 7, "1. e4 e5 2. Nf3 f6": 3 * 10 / 24 / 7 * 0.1})
    misspelt = tabiya("gaps", book, "--against", both, "--player", "Rifal")
    assert misspelt.returncode == FILE and b'a name that comes near is "Rival, R"' in misspelt.stderr


def test_what_cannot_be_answered_is_said(tabiya, planted, tmp_path):
    book, games = planted

    def refused(code, *line):
        done = tabiya("gaps", *line)
        assert done.returncode == code, done.stderr
        assert len(complaints(done)) == 1
        return done.stderr.decode()

    other = tmp_path / "d4.pgn"
    other.write_text(games_text({"1. d4 d5": 2}))
    assert "the sources have no move of the opponent where white.bin leads" in refused(USAGE, book, "--against", other)
    # Who had White alone says nothing of what Black plays.
    other.write_text(games_text({"1. e4 c5": 2}, white="Rival, R"))
    said = refused(USAGE, book, "--against", other, "--player", "Rival", "--side", "white")
    assert "the sources have no move of Black where white.bin leads" in said
    variant = tmp_path / "atomic.pgn"
    variant.write_text('[Variant "Atomic"]\n\n1. e4 e5 *\n')
    said = refused(FILE, book, "--against", variant)
    assert "--variant" in said, said
    assert "not games of a player" in refused(FILE, book, "--against", book, "--player", "Rival")
    assert "cannot open the file" in refused(FILE, book, "--against", tmp_path / "none.pgn")
    assert "cannot open" in refused(FILE, tmp_path / "none.bin", "--against", games)
    for part in ("0", "1/0", "2/1", "x", "1/1000000"):
        done = tabiya("gaps", book, "--against", games, "--min-share", part)
        assert done.returncode == USAGE and b"write a part of all games" in done.stderr


def test_the_explorer_has_the_same_rows(explore, tabiya, planted):
    book, games = planted
    study, more = book.with_name("more.pgn"), book.with_name("more.bin")
    study.write_text("1. e4 c5 (1... b6 2. d4 (2. c4)) (1... e6 2. Nf3) (1... e5 2. Nf3) 2. Nf3 (2. c3) *")
    assert tabiya("build", study, "-o", more, "--repertoire", "white").returncode == DONE
    server = explore(more, book, "--games", games)
    done = tabiya("gaps", more, "--against", games, "--side", "white", "--rare", "--json")
    of, found = json.loads(done.stdout), server.get("/api/gaps", book=0, side="white", rare=1)
    for rows in ("gaps", "choices", "rare"):
        assert [(row["line"], row["share"], row["games"]) for row in found[rows]] == [(row["moves"], row["share"], row["games"]) for row in of[rows]]
        assert found[rows]
    assert found["answered"] * 100 == pytest.approx(of["percent"])
    assert {row["ply"]: row["answered"] * 100 for row in found["plies"]} == pytest.approx({row["ply"]: row["percent"] for row in of["answered"]})
    # Against the other book.
    (other,) = [json.loads(line) for line in tabiya("gaps", more, "--against", book, "--side", "white", "--json").stdout.splitlines()]
    against = server.get("/api/gaps", book=0, side="white", against=1)
    assert [row["line"] for row in against["gaps"]] == [row["moves"] for row in other["gaps"]]
    after = server.get("/api/gaps", book=0, side="white", against="games,1", play="e2e4,c7c5")
    assert all(row["play"][:2] == ["e2e4", "c7c5"] for row in after["gaps"])
    for wrong in ({"side": "grey"}, {"against": "x"}, {"against": 9}, {"book": 9}, {"play": "e2e5"}):
        assert server.wrong("/api/gaps", **{"book": 0, "side": "white"} | wrong)[0] in (400, 404), wrong
    assert explore(more).wrong("/api/gaps", book=0, side="white")[0] == 404
