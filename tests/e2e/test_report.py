"""`tabiya report`: where games left the books, as python-chess finds it, and who scored what, as fastchess counts it."""

import io
import json
import random
import re
import shlex
import subprocess
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot
import pytest

from client import HANG, complaints, times
from conftest import not_windows
from polyglot_writer import Book
from test_config import runner_of

STARTER = Path(__file__).parents[2] / "books/starter.bin"
DONE, FINDINGS, USAGE, FILE = 0, 1, 2, 3


def written(path, games):
    """Games of (white, black, round, result, moves in SAN with comments)."""
    text = ""
    for white, black, number, result, moves in games:
        text += f'[Event "?"]\n[Round "{number}"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{moves} {result}\n\n'
    path.write_text(text)
    return path


def reported(tabiya, *args, code=DONE):
    done = tabiya("report", *args, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def played(real_book):
    """Games that follow a book for some plies: (result, moves, plies in the book, who left it)."""
    chance, games = random.Random(30), []
    with chess.polyglot.open_reader(real_book) as reader:
        for _ in range(times(30, 400)):
            board, moves, leaves = chess.Board(), [], chance.randrange(12)
            plies, left = None, None
            for ply in range(24):
                known = [entry.move for entry in reader.find_all(board)]
                others = [move for move in board.legal_moves if move not in known]
                choices = known if known and ply < leaves else others or known
                move = chance.choice(sorted(choices, key=str))
                if plies is None and move not in known:
                    plies, left = ply, ("white" if board.turn else "black") if known else None
                moves.append(board.san(move))
                board.push(move)
                if board.is_game_over():
                    break
            games.append((chance.choice(["1-0", "0-1", "1/2-1/2"]), moves, plies if plies is not None else len(moves), left))
    return games


def test_every_exit_is_the_one_that_python_chess_finds(tabiya, real_book, played, tmp_path):
    games = [("A", "B", number, result, " ".join(moves)) for number, (result, moves, *_) in enumerate(played)]
    report = reported(tabiya, written(tmp_path / "games.pgn", games), "--book", real_book)
    assert len(report["games"]) == len(played)
    with chess.polyglot.open_reader(real_book) as reader:
        for number, (game, (result, moves, plies, left)) in enumerate(zip(report["games"], played, strict=True), 1):
            assert (game["number"], game["result"]) == (number, result)
            assert (game["book_plies"], game["left_by"]) == (plies, left)
            board = chess.Board()
            for san in moves[:plies]:
                board.push_san(san)
            assert game["fen"].split()[:4] == board.fen(en_passant="legal").split()[:4]
            assert game["played"] == (board.parse_san(moves[plies]).uci() if plies < len(moves) else None)
            known = {entry.move.uci() for entry in reader.find_all(board)}
            assert {move["uci"] for move in game["book_moves"]} == (known if plies < len(moves) else set())
            chances = [move["chance"] for move in game["book_moves"]]
            assert chances == sorted(chances, reverse=True) and (not chances or abs(sum(chances) - 1) < 1e-6)
    exits = {}
    for result, _, plies, left in played:
        exits.setdefault((plies, left), []).append(result)
    assert sum(exit["games"] for exit in report["exits"]) == len(played)
    assert sum(opening["games"] for opening in report["openings"]) == len(played)
    ((one, other),) = [(player["player"], player["opponent"]) for player in report["players"]]
    assert (one, other) == ("A", "B")
    assert report["players"][0]["score"] == {
        "wins": sum(result == "1-0" for result, *_ in played),
        "draws": sum(result == "1/2-1/2" for result, *_ in played),
        "losses": sum(result == "0-1" for result, *_ in played),
    }


def test_a_book_for_both_sides_ends_where_it_has_no_move(tabiya, tmp_path):
    """Though another order of moves comes back to one of its positions."""
    book = Book().line("d2d4 g8f6 c1f4 g7g6 g1f3 c7c5").line("d2d4 g8f6 g1f3 b7b6").write(tmp_path / "both.bin")
    # After 2. Nf3 g6 the book has no move; 3. Bf4 leads to a position of its first line.
    games = [("A", "B", 1, "1-0", "1. d4 Nf6 2. Nf3 b6 3. Bf4 g6"), ("A", "B", 2, "1-0", "1. d4 Nf6 2. Nf3 g6 3. Bf4 c5")]
    report = reported(tabiya, written(tmp_path / "games.pgn", games), "--book", book)
    assert [(game["book_plies"], game["left_by"]) for game in report["games"]] == [(4, None), (3, "black")]
    own = Book().at(d2d4=1)
    for moves in ("d2d4 g8f6", "d2d4 d7d5", "d2d4 g8f6 g1f3 g7g6"):
        own.at(moves, c1f4=1) if len(moves.split()) == 4 else own.at(moves, g1f3=1)
    report = reported(tabiya, tmp_path / "games.pgn", "--book", own.write(tmp_path / "own.bin"))
    assert [(game["book_plies"], game["left_by"]) for game in report["games"]] == [(3, None), (5, None)]


@not_windows
def test_the_figures_are_those_of_fastchess(tabiya, stockfish, tmp_path):
    runner = runner_of("fastchess")
    done = tabiya("suite", STARTER, "-o", "suite.epd", "--ply", 6, "--count", 30)
    assert done.returncode == DONE
    line = [runner, *(word for name in ("one", "two") for word in ("-engine", f"name={name}", f"cmd={stockfish}"))]
    line[5:5] = ["option.Skill Level=3"]
    line += ["-each", "tc=inf", "nodes=60", "-openings", "file=suite.epd", "format=epd", "order=sequential"]
    line += ["-rounds", "30", "-repeat", "-concurrency", "2", "-pgnout", "file=match.pgn", "-ratinginterval", "0"]
    done = subprocess.run([str(word) for word in line], cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout[done.stdout.rindex("Results of") :]
    elo, error = map(float, re.search(r"Elo: (\S+) \+/- (\S+),", last).groups())
    los = float(re.search(r"LOS: (\S+) %", last).group(1))
    pairs = [int(number) for number in re.search(r"Ptnml\(0-2\): \[([^]]*)\]", last).group(1).split(",")]
    (found,) = reported(tabiya, "match.pgn", "--book", STARTER)["players"]
    assert (found["player"], found["opponent"]) == ("one", "two")
    assert found["pairs"] == pairs and sum(pairs) == 30
    assert found["elo"] == pytest.approx(elo, abs=0.006)
    assert found["error"] == pytest.approx(error, abs=0.006)
    assert found["los"] * 100 == pytest.approx(los, abs=0.006)


def test_comments_and_stores_say_what_the_exit_is_worth(tabiya, tmp_path):
    book = Book().line("e2e4 e7e5 g1f3").write(tmp_path / "book.bin")
    games = written(tmp_path / "games.pgn", [
        ("A", "B", 1, "1-0", "1. e4 {0.00/0 0.100s} e5 {0.00/0 0.100s} 2. Nf3 {0.00/0 0.100s} Nc6 {+0.31/20 2.100s} 3. Bb5 {+0.40/20 4.1s}"),
        ("A", "B", 2, "1-0", "1. e4 e5 2. Nf3 Nc6 {[%eval 0.25]}"),
        ("A", "B", 3, "1-0", "1. e4 c5 {-M4/12 1s}"),
        ("A", "B", 4, "*", "1. d4 d5"),
        ("A", "B", 5, "0-1", "1. e4 e5 2. Nf3"),
    ])
    report = reported(tabiya, games, "--book", book)
    assert [game["eval"] for game in report["games"]] == [-31, 25, 10000, None, None]
    assert [game["left_by"] for game in report["games"]] == [None, None, "black", "white", None]
    assert [game["book_plies"] for game in report["games"]] == [3, 3, 1, 0, 3]
    # Two moves of the book that took 0.1 s each, in place of 4.1 s each; one in place of 2.1 s.
    assert report["games"][0]["saved"] == {"white": pytest.approx(8.0), "black": pytest.approx(2.0)}
    board = chess.Board()
    (tmp_path / "analysis.epd").write_text(f"{board.epd()} ce 33; acd 20;\n")
    assert tabiya("import", "book.bin.evals", "analysis.epd").returncode == DONE
    assert [game["eval"] for game in reported(tabiya, games, "--book", book)["games"]] == [-31, 25, 10000, 33, None]
    text = tabiya("report", games, "--book", book).stdout.decode()
    assert "5 games: White won 3, Black won 1, 0 drawn" in text and "left by White 1, by Black 1" in text
    assert "1. e4, then 1... c5" in text and "the book: e5 100%" in text


def test_a_player_is_told_what_was_forgotten(tabiya, tmp_path):
    # A repertoire has the moves of one side alone.
    games = [("Me, Myself", "x", 1, "1-0", "1. e4 e5 2. Nf3 Nc6 3. Bb5"), ("Me, Myself", "x", 2, "1-0", "1. e4 c5 2. Nf3 d6 3. d4")]
    written(tmp_path / "study.pgn", games)
    assert tabiya("build", "study.pgn", "-o", "white.bin", "--repertoire", "white").returncode == DONE
    written(tmp_path / "mine.pgn", [
        ("Me, Myself", "x", 1, "0-1", "1. e4 e5 2. Nc3 Nf6"),
        ("Me, Myself", "y", 2, "0-1", "1. e4 e5 2. Nc3 Nc6"),
        ("Me, Myself", "y", 3, "1-0", "1. e4 c6 2. d4 d5"),
        ("Me, Myself", "y", 4, "1/2-1/2", "1. e4 c5 2. Nf3 d6 3. d4 cxd4"),
        ("other", "another", 5, "1-0", "1. d4 d5"),
    ])
    text = tabiya("report", "mine.pgn", "--book", "white.bin", "--player", "myself").stdout.decode()
    assert "4 games of myself: 1 won, 1 drawn, 2 lost" in text
    assert "You left the book in 2 games" in text
    assert "2 times: after 1. e4 e5 you played Nc3; the book plays Nf3  (+0 =0 -2)" in text
    # After 1... c6 the book has no move, so the reply is what it does not cover.
    assert "1 game: after 1. e4, they played c6 (you scored 100.0%)" in text
    for nobody in ("nobody", "=myself", "@names.txt"):
        (tmp_path / "names.txt").write_text("Myself\n")
        done = tabiya("report", "mine.pgn", "--book", "white.bin", "--player", nobody)
        assert done.returncode == USAGE and b"no game has " in done.stderr, nobody
        assert b'; a name that comes near is "Me, Myself"\n' in done.stderr or nobody == "nobody", done.stderr
    (tmp_path / "names.txt").write_text("Me, Myself\n")
    for named in ("=me, MYSELF", "@names.txt"):
        assert b": 1 won, 1 drawn, 2 lost" in tabiya("report", "mine.pgn", "--book", "white.bin", "--player", named).stdout


def test_games_are_written_with_the_moves_of_the_book(tabiya, real_book, played, tmp_path):
    games = [("A", "B", number, result, " ".join(moves)) for number, (result, moves, *_) in enumerate(played)]
    written(tmp_path / "games.pgn", games)
    assert tabiya("report", "games.pgn", "--book", real_book, "--pgn", "out.pgn").returncode == DONE
    text = (tmp_path / "out.pgn").read_text()
    found = list(iter(lambda file=io.StringIO(text): chess.pgn.read_game(file), None))
    assert len(found) == len(played) and not any(game.errors for game in found)
    with chess.polyglot.open_reader(real_book) as reader:
        for game, (result, moves, plies, _) in zip(found, played, strict=True):
            assert [node.san() for node in game.mainline()] == moves and game.headers["Result"] == result
            nodes = [game, *game.mainline()]
            known = {entry.move for entry in reader.find_all(nodes[plies].board())}
            variations = {child.move for child in nodes[plies].variations[1:]}
            assert variations <= known and len(variations) == (min(5, len(known)) if plies < len(moves) else 0)
            assert plies == len(moves) or "left the book" in nodes[plies + 1].comment
    done = tabiya("report", "games.pgn", "--book", real_book, "--pgn", "out.pgn")
    assert done.returncode == FILE and b"--force" in done.stderr


def test_what_cannot_be_read_is_said(tabiya, small_book, tmp_path):
    def refused(*args, code, says):
        done = tabiya("report", *args)
        assert done.returncode == code and says in b"\n".join(complaints(done)).decode(), done.stderr

    written(tmp_path / "games.pgn", [("A", "B", 1, "1-0", "1. d4 d5 2. Ke5")])
    refused("games.pgn", "--book", "none.bin", code=FILE, says="none.bin")
    refused("none.pgn", "--book", small_book, code=FILE, says="none.pgn")
    refused("games.pgn", code=USAGE, says="--book")
    refused("games.pgn", "--book", small_book, code=FINDINGS, says="Ke5")
    refused("games.pgn", "--book", small_book, "--pgn", "games.pgn", "--force", code=USAGE, says="replace an input of the command")
    (tmp_path / "empty.pgn").write_text("")
    refused("empty.pgn", "--book", small_book, code=FILE, says="no games")
    assert reported(tabiya, "empty.pgn", "--book", small_book) == {
        "games": [], "openings": [], "exits": [], "players": [], "books": [], "repeated": 0, "unattributed": 0,
    }


CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("runner", ["fastchess", "cutechess"])
def test_the_clock_saved_is_the_same_whichever_runner_wrote_the_games(tabiya, real_book, runner):
    (game,) = reported(tabiya, CASES / f"clock-{runner}.pgn", "--book", real_book)["games"]
    assert game["saved"] == {"white": pytest.approx(50.0), "black": pytest.approx(50.0)}


def test_what_the_runner_plays_is_of_no_players_book(tabiya, tmp_path):
    """Neither the moves nor the time, and no command changes a book for it."""
    book = Book().line("e2e4 c7c5 g1f3 d7d6 d2d4").write(tmp_path / "my book.bin")
    opening, rest = "1. e4 {book} c5 {book} 2. Nf3 {book}", "3. a3 {+0.10/20 10.0s} h6 {-0.10/20 10.0s}"
    games = [("A", "B", 1, "0-1", f"{opening} d6 {{book}} {rest}")] * 6
    report = reported(tabiya, written(tmp_path / "games.pgn", games), "--book", book)
    for game in report["games"]:
        assert (game["book_plies"], game["left_by"], game["played"]) == (0, "white", "a2a3")
        assert game["saved"] == {"white": None, "black": None}
    assert [entry["book"] for entry in report["books"]] == [None, None]
    text = tabiya("report", "games.pgn", "--book", book).stdout.decode()
    assert "in the book for 0.0 plies a game" in text and "clock saved" not in text and "lost most" not in text
    # What the players' books go on with is theirs: the command for it can be typed.
    games = [("A", "B", 1, "0-1", f"{opening} d6 {{0.00/0 0.0s}} 3. d4 {{0.00/0 0.0s}} h6 {{-0.10/20 10.0s}} 4. h4 {{+0.10/20 8.0s}}")] * 6
    report = reported(tabiya, written(tmp_path / "games.pgn", games), "--book", book)
    assert [(game["book_plies"], game["saved"]) for game in report["games"]] == [(2, {"white": 8.0, "black": 10.0})] * 6
    text = tabiya("report", "games.pgn", "--book", "my book.bin").stdout.decode()
    (command,) = re.findall(r"^ +tabiya (edit .*)$", text, re.MULTILINE)
    assert shlex.split(command) == ["edit", "my book.bin", "--moves", "1. e4 c5 2. Nf3 d6", "--set", "d4=0"]
    assert tabiya(*shlex.split(command)).returncode == DONE
    # Books that cannot be edited are written as others first.
    assert tabiya("build", "games.pgn", "-o", "its counts.parquet").returncode == DONE
    text = tabiya("report", "games.pgn", "--book", "its counts.parquet").stdout.decode()
    command, *_ = re.findall(r"^ +tabiya (build .*) makes a book that can be edited$", text, re.MULTILINE)
    assert tabiya(*shlex.split(command)).returncode == DONE


def test_moves_of_a_player_without_books_are_no_moves_of_books(tabiya, tmp_path):
    Book().line("e2e4 c7c5 g1f3 d7d6 d2d4").write(tmp_path / "a.bin")
    games = [("B", "A", 1, "0-1", "1. e4 c5 2. Nf3 d6 3. d4 h6")] * 6 + [("A", "B", 1, "0-1", "1. e4 c5 2. h4 h6")] * 6
    written(tmp_path / "games.pgn", games)
    text = tabiya("report", "games.pgn", "--book", "A=a.bin").stdout.decode()
    worst = text[text.index("lost most"):]
    assert "+0 =0 -6" in worst and "1. e4" in worst and "d4" not in worst, text
    both = tabiya("report", "games.pgn", "--book", "A=a.bin", "--book", "B=a.bin").stdout.decode()
    assert "3. d4" in both[both.index("lost most"):], both


@pytest.mark.parametrize("books", [
    ["a.bin", "b.bin"],  # comments name them
    ["A=a.bin", "b=b.bin"],
    ["b.bin", "A=a.bin"],
])
def test_a_player_is_never_in_the_book_of_the_other(tabiya, tmp_path, books):
    folder = CASES / "two-books"
    text = (folder / "match.pgn").read_text()
    if books != ["a.bin", "b.bin"]:
        text = re.sub(r', line="[^"]*"', "", text)
    (tmp_path / "match.pgn").write_text(text)
    # The book of both players is in the third case none that A has played from.
    given = [word for book in books for word in ("--book", re.sub(r"(?=[ab]\.bin)", f"{folder}/", book))]
    if books[0] == "b.bin":
        given[1] = f"B={given[1]}"
    report = reported(tabiya, "match.pgn", *given)
    (game,) = report["games"]
    assert (game["book_plies"], game["left_by"], game["played"], game["book_moves"]) == (2, None, "g1f3", [])
    names = {entry["player"]: Path(entry["book"]).name for entry in report["books"]}
    assert names == {"A": "a.bin", "B": "b.bin"}
    # A's one move took no time in place of 9 s; B's three in place of 5 s each, though A had left its book.
    assert game["saved"] == {"white": pytest.approx(9.0), "black": pytest.approx(15.0)}
    text = tabiya("report", "match.pgn", *given).stdout.decode()
    assert "in the book for 2.0 plies a game; left by White 0, by Black 0, at the end of a line 1" in text
    table = text[text.index("Books that had") :].split("\n\n")[0]
    rows = [line.split()[:2] for line in table.splitlines() if ".bin" in line]
    assert sorted(rows) == [["A", "a.bin"], ["B", "b.bin"]]


def test_a_player_without_a_book_is_in_none(tabiya, tmp_path):
    book = Book().line("e2e4 e7e5 g1f3 b8c6 f1b5").write(tmp_path / "b.bin")
    moves = "1. e4 {+0.3/9 2s} e5 {0.00/0 0s, line=\"info string book /there/b.bin: 1 of 1 moves\"} 2. Nf3 {+0.3/9 2s} d6 {0.1/9 4s}"
    games = written(tmp_path / "games.pgn", [("A", "B", 1, "1-0", moves)])
    for given in (book, f"B={book}"):
        report = reported(tabiya, games, "--book", given)
        assert [(entry["player"], entry["book"]) for entry in report["books"]] == [("A", None), ("B", str(book))]
        (game,) = report["games"]
        # B has searched where its book has a move: a limit of its own has silenced the book.
        assert (game["book_plies"], game["left_by"], game["saved"]) == (3, None, {"white": None, "black": 4.0})
    done = tabiya("report", games, "--book", f"Someone={book}")
    assert done.returncode == FINDINGS and b'no game has the player "Someone"' in done.stderr
    assert b': the players are "A" and "B"' in done.stderr
    (tmp_path / "x=y.bin").write_bytes(book.read_bytes())
    assert reported(tabiya, games, "--book", "x=y.bin")["books"][1]["book"] == "x=y.bin"
    refused = tabiya("report", games, "--book", "A=")
    assert refused.returncode == USAGE and b"A=FILE" in refused.stderr


@pytest.mark.parametrize(("runner", "names_books"), [("fastchess", True), ("fastchess", False), ("cutechess-cli", False)])
def test_a_match_of_two_books_is_reported_by_player(tabiya, tabiya_exe, stockfish, tmp_path, runner, names_books):
    """Whether its comments name the books, or only show which moves were searched."""
    runner = runner_of(runner)
    is_fastchess = names_books or "fastchess" in str(runner)
    for name, line in (("a.bin", "e2e4 e7e5 g1f3"), ("b.bin", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6")):
        Book().line(line).write(tmp_path / name)
    line = [runner]
    for name, book in (("A", "a.bin"), ("B", "b.bin")):
        given = ["--engine", stockfish, "--book", tmp_path / book]
        words = [f"args={' '.join(map(str, given))}"] if is_fastchess else [f"arg={word}" for word in given]
        line += ["-engine", f"name={name}", f"cmd={tabiya_exe}", *words]
    line += ["-each", "tc=inf", "nodes=60", *([] if is_fastchess else ["proto=uci"]), "-rounds", "2", "-repeat", "-games", "2"]
    line += ["-pgnout", "file=match.pgn" if is_fastchess else "match.pgn", *(["match_line=info string book"] if names_books else [])]
    done = subprocess.run([str(word) for word in line], cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr
    report = reported(tabiya, "match.pgn", "--book", "a.bin", "--book", "b.bin")
    assert [(entry["player"], entry["book"], entry["one_of"]) for entry in report["books"]] == [
        ("A", "a.bin", ["a.bin"]), ("B", "b.bin", ["b.bin"]),
    ]
    assert [game["book_plies"] for game in report["games"]] == [4 if game["white"] == "A" else 3 for game in report["games"]]
    assert {game["left_by"] for game in report["games"]} == {None} and report["unattributed"] == 0


def test_books_that_no_game_attributes_are_nobodys(tabiya, tmp_path):
    Book().line("e2e4 e7e5 g1f3").write(tmp_path / "a.bin")
    Book().line("e2e4 e7e5 g1f3 b8c6").write(tmp_path / "b.bin")
    games = written(tmp_path / "games.pgn", [("A", "B", 1, "1-0", "1. e4 {1s} e5 {1s} 2. Nf3 {1s} d6 {1s} 3. d4 {1s}")])
    both = ("--book", "a.bin", "--book", "b.bin")
    report = reported(tabiya, games, *both)
    (game,) = report["games"]
    assert (report["unattributed"], game["book_plies"], game["left_by"]) == (1, 3, None)
    assert game["saved"] == {"white": None, "black": None} and game["played"] == "d7d6"
    assert [(entry["player"], entry["book"], entry["one_of"]) for entry in report["books"]] == [
        ("A", None, ["a.bin", "b.bin"]), ("B", None, ["a.bin", "b.bin"]),
    ]
    text = tabiya("report", games, *both).stdout.decode()
    assert "which player had which book is not known in 1 game: name them with --book NAME=FILE" in text
    assert "left by White 0, by Black 0, by one of them 1, at the end of a line 0" in text and "a.bin or b.bin" in text
    for known in (["a.bin"], ["A=a.bin", "B=b.bin"], ["A=a.bin", "A=b.bin", "B=a.bin", "B=b.bin"], ["A=a.bin", "b.bin"]):
        given = [word for book in known for word in ("--book", book)]
        assert reported(tabiya, games, *given)["unattributed"] == 0
        assert "--book NAME=FILE" not in tabiya("report", games, *given).stdout.decode()
    # The books of one player are what that player should know.
    report = reported(tabiya, games, *both, "--player", "B")
    assert (report["unattributed"], report["games"][0]["left_by"]) == (0, "black")


def test_moves_without_a_search_show_whose_book_it_was(tabiya, tmp_path):
    """As far as books differ: of two that have the same moves on the way it is one or the other, until a game shows which."""
    Book().line("e2e4 e7e5 g1f3").line("d2d4").write(tmp_path / "a.bin")
    Book().line("e2e4 e7e5 g1f3").line("d2d4 d7d5 c2c4").write(tmp_path / "b.bin")
    both = ("--book", "a.bin", "--book", "b.bin")
    alike = ("A", "B", 1, "1-0", "1. e4 {0s} e5 {+0.1/9 1s} 2. Nf3 {0s} d6 {-0.1/9 1s} 3. d4 {+0.1/9 1s}")
    games = written(tmp_path / "games.pgn", [alike])
    report = reported(tabiya, games, *both)
    assert [(entry["player"], entry["book"], len(entry["one_of"])) for entry in report["books"]] == [("A", None, 2), ("B", None, 0)]
    assert report["unattributed"] == 0 and report["games"][0]["saved"]["white"] == pytest.approx(2.0)
    shown = ("A", "B", 2, "1-0", "1. d4 {0s} d5 {+0.1/9 1s} 2. c4 {0s} e6 {-0.1/9 1s} 3. Nc3 {+0.1/9 1s}")
    report = reported(tabiya, written(games, [alike, shown]), *both)
    assert [(entry["player"], entry["book"], entry["score"]["wins"]) for entry in report["books"]] == [("A", "b.bin", 2), ("B", None, 0)]
    # The runner's own opening is no move of an engine; moves that no book has explain nothing.
    report = reported(tabiya, written(games, [("A", "B", 1, "1-0", "1. d4 {book} d5 {book} 2. c4 {0s} e6 {-0.1/9 1s}")]), *both)
    assert [(entry["player"], entry["book"]) for entry in report["books"]] == [("A", "b.bin"), ("B", None)]
    assert reported(tabiya, written(games, [("A", "B", 1, "1-0", "1. b3 {0s} d6 {-0.1/9 1s}")]), *both)["unattributed"] == 1


@pytest.mark.parametrize("number", [1, 2, 10, 200])
@pytest.mark.parametrize("points", ["=", "+", "-", "+=-=", "++++++++="])
@pytest.mark.parametrize("paired", [False, True])
def test_the_number_of_games_says_whether_there_are_limits(tabiya, tmp_path, number, points, paired):
    book = Book().line("e2e4 e7e5").write(tmp_path / "book.bin")
    games, results = [], []
    for game in range(number):
        result, swapped = points[game % len(points)], paired and game % 2 == 1
        results.append(result)
        text = {"+": "1-0", "-": "0-1", "=": "1/2-1/2"}[result]
        if swapped:
            text = "-".join(reversed(text.split("-")))
        games.append(("B" if swapped else "A", "A" if swapped else "B", game // 2 + 1 if paired else "?", text, "1. e4 e5 2. Nf3"))
    written(tmp_path / "games.pgn", games)
    (players,) = reported(tabiya, "games.pgn", "--book", book)["players"]
    text = tabiya("report", "games.pgn", "--book", book).stdout.decode()
    assert not re.search(r"\binf|NaN|± 0\.0\b", text), text
    row = next(line for line in text.splitlines() if re.match(r" A +B ", line))
    elo, error, low, high, los = (players[key] for key in ("elo", "error", "low", "high", "los"))
    share = (results.count("+") + results.count("=") / 2) / number
    assert (elo is None) == (share in (0, 1))
    if number < 5:
        assert (error, low, high, los) == (None, None, None, None) and "too few games" in row
        return
    assert "too few games" not in row and los is not None
    if share == 1:
        assert (high, error) == (None, None) and low > 0 and f"above {low:+.1f}" in row
    elif share == 0:
        assert (low, error) == (None, None) and high < 0 and f"below {high:+.1f}" in row
    else:
        assert low < elo < high and (f"± {error:.1f}" if error else f"({low:+.1f} to {high:+.1f})") in row
    if share == 0.5:
        assert (elo, los) == (0, pytest.approx(0.5)) and low == pytest.approx(-high) and error == pytest.approx(high)


def test_a_report_keeps_the_tags_of_the_games(tabiya, tmp_path):
    folder = tmp_path
    game = (CASES / "chess960-report.pgn").read_text()
    tags = '[Site "Biel"]\n[Date "2026.01.??"]\n[TimeControl "60+1"]\n[WhiteElo "2800"]\n[Annotator "C \\"x\\""]\n'
    tagged = game.replace('[Event "e"]\n', f'[Event "e"]\n{tags}')
    (folder / "games.pgn").write_text(tagged + game.replace('"Chess960"', '"fischerandom"'))
    Book().at(e2e4=1).write(folder / "book.bin")
    report = reported(tabiya, "games.pgn", "--book", "book.bin", "--pgn", "out.pgn")
    assert [game["played"] for game in report["games"]] == ["f1g1", "f1g1"]
    text = (folder / "out.pgn").read_text()
    for tag in tags.splitlines():
        assert text.count(tag) == 1
    assert text.count('[Event "e"]') == 2 and text.count("[FEN ") == 2
    assert text.count('[Variant "Chess960"]') == 1 and text.count('[Variant "fischerandom"]') == 1
    for name in ("games", "out"):
        assert tabiya("build", f"{name}.pgn", "-o", f"{name}.bin", "--min-games", 1, "--uniform").returncode == DONE
    assert (folder / "out.bin").read_bytes() == (folder / "games.bin").read_bytes()
    assert reported(tabiya, "out.pgn", "--book", "book.bin", "--pgn", "again.pgn")["games"][0]["book_plies"] == 0
    head = [line for line in text.splitlines() if line.startswith("[")]
    assert head == [line for line in (folder / "again.pgn").read_text().splitlines() if line.startswith("[")]
