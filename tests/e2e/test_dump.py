"""`tabiya export` of books and `tabiya tree` against what python-chess reads."""

import gzip
import io
import json
import re
import subprocess

import chess
import chess.pgn
import chess.polyglot
import pytest

from client import HANG, times
from polyglot_writer import Book, after
from random_games import pgn, random_games


@pytest.fixture
def run(tabiya_exe):
    def run(*args, says=""):
        done = subprocess.run([tabiya_exe, *map(str, args)], capture_output=True, text=True, timeout=HANG)
        assert says in done.stderr and bool(says) == bool(done.stderr), done.stderr
        return done

    return run


def entries(path):
    """(key, move in UCI with castling as the king taking its rook, weight) of each entry, in the order of the file."""
    with chess.polyglot.open_reader(path) as reader:
        for index in range(len(reader)):
            entry = reader[index]
            raw = entry.raw_move
            squares = chess.SQUARE_NAMES[raw >> 6 & 63] + chess.SQUARE_NAMES[raw & 63]
            yield f"{entry.key:016x}", squares + ["", "n", "b", "r", "q"][raw >> 12], entry.weight


def rows(text):
    lines = text.splitlines()
    heading = lines[0].split("\t")
    return [dict(zip(heading, line.split("\t"), strict=True)) for line in lines[1:]]


def test_every_entry_stands_in_the_table(run, real_book):
    done = run("export", real_book)
    table = [(row["key"], row["uci"], int(row["weight"])) for row in rows(done.stdout)]
    ours, theirs = zip(*table), zip(*entries(real_book))
    (keys, moves, weights), (their_keys, their_moves, their_weights) = ours, theirs
    assert (keys, weights) == (their_keys, their_weights) and len(table) > times(10_000, 100_000)
    # Castling is written as two steps of the king, where play reaches its position.
    castling = {"e1h1": "e1g1", "e1a1": "e1c1", "e8h8": "e8g8", "e8a8": "e8c8"}
    other = {(mine, castling.get(his)) for mine, his in zip(moves, their_moves) if mine != his}
    assert other and all(mine == his for mine, his in other)
    reachable = rows(run("export", real_book, "--reachable").stdout)
    assert 0 < len(reachable) <= len(table)
    for row in reachable[:: len(reachable) // 500]:
        board = chess.Board(row["fen"])
        assert f"{chess.polyglot.zobrist_hash(board):016x}" == row["key"]
        assert board.parse_uci(row["uci"]) in board.legal_moves


def test_json_says_the_same_as_the_table(run, real_book):
    table = [(row["key"], row["uci"], int(row["weight"])) for row in rows(run("export", real_book).stdout)]
    positions = [json.loads(line) for line in run("export", real_book, "--format", "json").stdout.splitlines()]
    assert len(table) > 10_000 and [(p["key"], m["uci"], m["weight"]) for p in positions for m in p["moves"]] == table


def lines_of(node, board, found):
    """Every move of the tree by the key of its position; deep lines need no deep calls."""
    waiting = [(node, board)]
    while waiting:
        node, board = waiting.pop()
        for child in node.variations:
            found.setdefault(chess.polyglot.zobrist_hash(board), set()).add(child.move)
            next_board = board.copy(stack=False)
            next_board.push(child.move)
            waiting.append((child, next_board))


def test_pgn_is_a_tree_that_has_every_reachable_move_once(run, real_book):
    text = run("export", real_book, "--format", "pgn", says=times("", "moves are left out: no line from")).stdout
    assert max(map(len, text.splitlines())) <= 80
    game = chess.pgn.read_game(io.StringIO(text))
    assert not game.errors
    found = {}
    lines_of(game, chess.Board(), found)
    expected = {}
    for row in rows(run("export", real_book, "--reachable").stdout):
        board = chess.Board(row["fen"])
        expected.setdefault(int(row["key"], 16), set()).add(board.parse_uci(row["uci"]))
    # Besides, replies that the book does not have where they lead back into it.
    for key, moves in expected.items():
        assert moves <= found[key]
    assert len(expected) > times(10_000, 100_000) and found != expected


def test_a_book_for_one_side_is_seen_whole(run, tmp_path):
    lines = ("e2e4 e7e5 g1f3 b8c6 f1b5", "e2e4 c7c5 g1f3 d7d6 d2d4", "d2d4 d7d5 c2c4")
    for side in (0, 1):
        book, moves = Book(), {}
        for line in lines:
            words = line.split()
            for ply in range(side, len(words), 2):
                moves.setdefault(" ".join(words[:ply]), set()).add(words[ply])
        for line, played in moves.items():
            book.at(line, **{move: 1 for move in played})
        path = book.write(tmp_path / f"{side}.bin")
        found = {}
        game = chess.pgn.read_game(io.StringIO(run("export", path, "--format", "pgn").stdout))
        lines_of(game, chess.Board(), found)
        for row in rows(run("export", path, "--reachable").stdout):
            assert chess.Move.from_uci(row["uci"]) in found[int(row["key"], 16)]
        assert len(rows(run("export", path, "--reachable").stdout)) == len(list(entries(path)))
        tree = run("tree", path).stdout
        assert "c5 (reply)" in tree if side == 0 else "1. e4 (reply)" in tree


def test_marks_of_a_ctg_become_glyphs(run, real_ctg, tmp_path):
    book = real_ctg
    # For the whole tree python-chess takes a minute.
    if times(True, False):
        book = tmp_path / "small.ctg"
        run("trim", real_ctg, "-o", book, "--max-ply", 8)
    text = run("export", book, "--format", "pgn", says=times("", "moves are left out")).stdout
    known = {1, 2, 3, 4, 5, 6, 8, 22}
    assert {1, 3} <= set(map(int, re.findall(r"(?<=\s)\$(\d+)(?=\s)", text))) <= known
    game = chess.pgn.read_game(io.StringIO(text))
    assert not game.errors
    nags = set()
    waiting = [game]
    while waiting:
        node = waiting.pop()
        nags |= node.nags
        waiting += node.variations
    assert {1, 3} <= nags <= known


def test_the_tree_shows_lines_shares_and_transpositions(run, tmp_path):
    book = Book()
    book.at(e2e4=3, g1f3=1)
    book.at("e2e4", e7e5=1)
    book.at("e2e4 e7e5", g1f3=1)
    book.at("g1f3", e7e5=1)
    book.at("g1f3 e7e5", e2e4=1)
    book.at("e2e4 e7e5 g1f3", b8c6=1, g8f6=1)
    path = book.write(tmp_path / "a.bin")
    done = run("tree", path)
    assert done.returncode == 0
    text = done.stdout.replace("├─ ", "|- ").replace("└─ ", "`- ").replace("│  ", "|  ")
    assert text.splitlines()[1:] == [
        "|- 1. e4 75.0 %  e5  2. Nf3  (C40 King's Knight Opening)",
        "|  |- 2... Nc6 50.0 %  (C44 King's Knight Opening: Normal Variation)",
        "|  `- 2... Nf6 50.0 %  (C42 Petrov's Defense)",
        "`- 1. Nf3 25.0 %  e5  2. e4  (see above)  (C40 King's Knight Opening)",
    ]
    assert run("tree", path, "--plies", "1").stdout.count("\n") == 3
    assert run("tree", path, "--moves", "e2e4 e7e5 g1f3").stdout.splitlines()[1] == "C40 King's Knight Opening"
    assert run("tree", path, "--moves", "a2a3").returncode == 1


def test_old_castling_is_dumped_in_todays_form_where_play_reaches_it(run, tmp_path):
    line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5"
    book = Book()
    moves = line.split()
    for count, move in enumerate(moves):
        book.at(" ".join(moves[:count]), **{move: 1})
    castling = chess.Move.from_uci("e1g1")
    book.raw(after(line), castling.from_square << 6 | castling.to_square, 1)
    path = book.write(tmp_path / "a.bin")
    assert "e1g1" in {row["uci"] for row in rows(run("export", path).stdout)}


def games_in(text):
    stream = io.StringIO(text)
    while game := chess.pgn.read_game(stream):
        assert not game.errors
        yield game


def words_of(node):
    """The comments of a move, however the lines are broken."""
    return " ".join(node.comment.split())


def small_games_book(run, tmp_path, name):
    (tmp_path / "games.pgn").write_text(pgn(random_games(60, seed=12, most_plies=20)))
    path = tmp_path / f"book.{name}"
    run("build", tmp_path / "games.pgn", "-o", path, "--min-games", 1)
    return path


@pytest.mark.parametrize("name", ["bin", "abk", "ctg", "kob"])
def test_each_line_is_a_game_with_what_the_book_knows(run, tmp_path, name):
    path = small_games_book(run, tmp_path, name)
    text = run("export", path, "--format", "pgn", "--lines").stdout
    assert max(map(len, text.splitlines())) <= 80
    table, found, expanded = {}, {}, {}
    for row in rows(run("export", path, "--reachable").stdout):
        counts = f", games {row['games']} +{row['wins']} ={row['draws']} -{row['losses']}" if row["games"] else ""
        table[row["key"], row["uci"]] = f"weight {row['weight']}{counts}"
    games = list(games_in(text))
    lines = [tuple(game.mainline_moves()) for game in games]
    assert len(set(lines)) == len(lines)
    for game in games:
        assert game.headers["Event"] == path.name and all(not node.variations[1:] for node in game.mainline())
        for node in game.mainline():
            at = f"{chess.polyglot.zobrist_hash(node.parent.board()):016x}"
            known = words_of(node).removesuffix(" transposes")
            if known != "not in the book":
                found[at, node.move.uci()] = known
            # A position has its moves after one line only.
            assert expanded.setdefault(at, tuple(node.parent.board().move_stack)) == tuple(node.parent.board().move_stack)
    assert table.items() <= found.items()
    whole = {(row["key"], row["uci"]) for row in rows(run("export", path).stdout)}
    assert found.keys() <= whole


def test_lines_of_a_real_book_are_read_back(run, perfect_book, tmp_path):
    short = tmp_path / "short.bin"
    run("trim", perfect_book, "-o", short, "--max-ply", 14)
    found = {
        (f"{chess.polyglot.zobrist_hash(node.parent.board()):016x}", node.move)
        for game in games_in(run("export", short, "--format", "pgn", "--lines").stdout)
        for node in game.mainline()
        if not words_of(node).startswith("not in the book")
    }
    expected = {
        (row["key"], chess.Board(row["fen"]).parse_uci(row["uci"])) for row in rows(run("export", short, "--reachable").stdout)
    }
    assert found == expected and len(found) > 500


def rebuilt(run, book, tmp_path, *form):
    """A Polyglot book of what `export` writes of a book, and how many differences there are."""
    (tmp_path / "dumped.pgn").write_text(run("export", book, "--format", "pgn", *form).stdout)
    new = tmp_path / "rebuilt.bin"
    built = run("build", tmp_path / "dumped.pgn", "--variations", "--uniform", "--min-games", 1, "-o", new, "--force")
    assert built.returncode == 0 and "error" not in built.stdout, built.stdout
    return run("diff", book, new)


@pytest.mark.parametrize("form", [(), ("--lines",)], ids=["tree", "lines"])
@pytest.mark.parametrize("name", ["bin", "abk", "ctg", "kob"])
def test_a_dumped_book_built_again_is_the_same(run, tmp_path, name, form):
    book = small_games_book(run, tmp_path, name)
    diff = rebuilt(run, book, tmp_path, *form)
    assert (diff.stdout, diff.returncode) == ("no difference\n", 0)
    # A book for one side, with moves that are never played, moves that only lead on, and what no line reaches.
    one_side = Book()
    one_side.at(e2e4=3, d2d4=0)
    one_side.at("e2e4 e7e5", g1f3=1)
    one_side.at("e2e4 c7c5", g1f3=70, b1c3=0)
    one_side.at("e2e4 c7c5 g1f3 d7d6", d2d4=1)
    one_side.write(tmp_path / "side.bin")
    run("convert", tmp_path / "side.bin", "-o", tmp_path / f"one.{name}")
    diff = rebuilt(run, tmp_path / f"one.{name}", tmp_path, *form)
    assert (diff.stdout, diff.returncode) == ("no difference\n", 0)


@pytest.mark.parametrize("form", [(), ("--lines",)], ids=["tree", "lines"])
def test_what_no_line_reaches_follows_from_its_position(run, tmp_path, form):
    (tmp_path / "g.pgn").write_text('[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 Kd7 *\n\n1. e4 *\n')
    run("build", tmp_path / "g.pgn", "-o", tmp_path / "g.ctg", "--min-games", 1)
    diff = rebuilt(run, tmp_path / "g.ctg", tmp_path, *form)
    assert (diff.stdout, diff.returncode) == ("no difference\n", 0)
    reached = list(games_in(run("export", tmp_path / "g.ctg", "--format", "pgn", "--reachable", *form, says="are left out").stdout))
    assert [game.board().fen() for game in reached] == [chess.STARTING_FEN]


def test_a_real_book_built_again_is_the_same(run, perfect_book, tmp_path):
    diff = rebuilt(run, perfect_book, tmp_path)
    assert (diff.stdout, diff.returncode) == ("no difference\n", 0)


def test_games_are_a_form_of_pgn(run, small_book):
    assert run("export", small_book, "--lines", says="--format pgn --lines").returncode == 2



@pytest.mark.parametrize("name", ["book.bin", "book.ctg"])
def test_a_file_has_what_standard_output_has(tabiya, small_book, tmp_path, name):
    book = tmp_path / name
    assert tabiya("convert", small_book, "-o", book).returncode == 0
    for form, more in [("tsv", ()), ("json", ()), ("pgn", ()), ("pgn", ["--lines"]), ("tsv", ["--reachable"])]:
        printed = tabiya("export", book, "--format", form, *more)
        assert printed.returncode == 0 and printed.stdout
        for end, opened in [("", open), (".gz", gzip.open)]:
            out = tmp_path / f"out.{form}{end}"
            done = tabiya("export", book, "-o", out, "--force", *more)
            assert (done.returncode, done.stderr) == (0, printed.stderr)
            # What was written is named.
            assert done.stdout.startswith(f"{out}: ".encode()) and done.stdout.count(b"\n") == 1, done.stdout
            with opened(out, "rb") as file:
                assert file.read() == printed.stdout
        # Whatever the name.
        assert tabiya("export", book, "-o", tmp_path / "named", "--force", "--format", form, *more).returncode == 0
        assert (tmp_path / "named").read_bytes() == printed.stdout
    assert tabiya("export", book, "-o", "-").stdout == tabiya("export", book).stdout


def test_what_a_source_is_not_written_as_is_refused(tabiya, small_book, tmp_path):
    book, store = tmp_path / "book.bin", tmp_path / "book.bin.evals"
    book.write_bytes(small_book.read_bytes())
    (tmp_path / "one.epd").write_text(f"{chess.Board().epd()} ce 20; acd 9;\n")
    assert tabiya("import", store, tmp_path / "one.epd").returncode == 0
    before = book.read_bytes(), store.read_bytes()
    for source, words, says in [
        (book, ["-o", "a.epd"], "tabiya suite"),
        (book, ["-o", "a.txt"], "end the name with .pgn, .tsv or .json"),
        (book, ["-o", "a.tsv", "--lines"], "--lines writes games"),
        (book, ["-o", "a.pgn", "--numbers", "1-2"], "--numbers is for a database"),
        (book, ["--texts", "folder"], "--texts is for a database"),
        (store, ["-o", "a.pgn"], "written as EPD"),
        (store, ["--reachable"], "--reachable is for a book"),
        (store, ["--format", "json"], "written as EPD"),
        (book, ["-o", book, "--format", "tsv", "--force"], "book.bin"),
        (store, ["-o", store, "--format", "epd", "--force"], "book.bin.evals"),
    ]:
        done = tabiya("export", source, *words)
        assert done.returncode == 2 and says in done.stderr.decode(), (words, done)
    assert (book.read_bytes(), store.read_bytes()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.bin", "book.bin.evals", "one.epd", "small.bin"]
    assert tabiya("export", store, "-o", "one.epd").returncode == 3
    # What is not there is no book that is written as something else.
    done = tabiya("export", tmp_path / "none.evals", "-o", "a.epd")
    assert done.returncode == 3 and b"none.evals: cannot open the file" in done.stderr, done
