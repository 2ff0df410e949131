"""Books of the variants of chess, built of games that python-chess plays, against its own reckoning."""

import json
import random
import re
import subprocess
from collections import defaultdict

import chess
import chess.pgn
import chess.polyglot
import chess.variant
import duckdb
import pytest

from client import times
from conftest import not_windows
from polyglot_writer import ENTRY
from test_resume import begun

VARIANTS = ["antichess", "atomic", "crazyhouse", "horde", "kingofthehill", "racingkings", "3check"]
GAMES = times(60, 1000)
RESULTS = ["1-0", "0-1", "1/2-1/2"]
# Spellings of the tag that python-chess does not write.
SPELLINGS = {
    "antichess": ["antichess", "Giveaway", "suicide"],
    "atomic": ["atomic", "ATOMIC"],
    "crazyhouse": ["crazyhouse", "Crazy-House"],
    "horde": ["horde"],
    "kingofthehill": ["kingOfTheHill", "Kingofthehill", "KOTH"],
    "racingkings": ["racingKings", "racing_kings"],
    "3check": ["threeCheck", "3-Check", "Three Check"],
}


def code(board, mv):
    """The move as books code it: castling takes the rook, and a drop stays on its square."""
    if mv.drop:
        return (mv.drop - 1) << 12 | mv.to_square << 6 | mv.to_square
    to = mv.to_square
    if board.is_castling(mv):
        to = chess.square(7 if board.is_kingside_castling(mv) else 0, chess.square_rank(mv.from_square))
    return ((mv.promotion or 1) - 1) << 12 | mv.from_square << 6 | to


def random_game(name, rng):
    """A game of few openings. It goes on until there is no move, so that drops, promotions and endings come up."""
    board = chess.variant.find_variant(name)()
    game = chess.pgn.Game()
    game.setup(board)
    game.headers["Variant"] = type(board).aliases[0]
    game.headers["Result"] = rng.choice(RESULTS)
    node = game
    while not board.is_game_over() and board.ply() < 120:
        moves = sorted(board.legal_moves, key=chess.Move.uci)
        rare = [mv for mv in moves if mv.promotion or mv.drop or board.is_castling(mv)]
        few = moves[: 3 if board.ply() < 4 else len(moves)]
        mv = rng.choice(rare if rare and rng.random() < 0.3 else few)
        board.push(mv)
        node = node.add_main_variation(mv)
    return game


def games_of(name, number=GAMES):
    rng = random.Random(f"games of {name}")
    return [random_game(name, rng) for _ in range(number)]


def counted(games):
    """Wins, draws and losses of each move of a position."""
    counts = defaultdict(lambda: [0, 0, 0])
    for game in games:
        board = game.board()
        for mv in game.mainline_moves():
            at = {"1-0": 0, "1/2-1/2": 1, "0-1": 2}[game.headers["Result"]]
            counts[chess.polyglot.zobrist_hash(board), code(board, mv)][at if board.turn else 2 - at] += 1
            board.push(mv)
    return {what: tuple(count) for what, count in counts.items()}


def weights(counts):
    """What a book of these counts has: two for a win, one for a draw, and no move that only lost."""
    all_weights = {what: 2 * wins + draws for what, (wins, draws, _) in counts.items()}
    return {what: weight for what, weight in all_weights.items() if weight}


def entries(path):
    found = [ENTRY.unpack(chunk) for chunk in re.findall(b"(?s).{16}", path.read_bytes())]
    assert found == sorted(found, key=lambda entry: entry[0])
    assert len({entry[:2] for entry in found}) == len(found) and not any(entry[3] for entry in found)
    return {(key, mv): weight for key, mv, weight, _ in found}


def rows(path):
    query = f"select key, move, wins, draws, losses from '{path}' where move > 0"
    return {(key, mv): tuple(counts) for key, mv, *counts in duckdb.sql(query).fetchall()}


def columns(path):
    return [name for (name,) in duckdb.sql(f"select name from parquet_schema('{path}')").fetchall()]


def text(games):
    return "".join(f"{game}\n\n" for game in games)


@pytest.fixture(scope="module")
def games():
    return {name: games_of(name) for name in VARIANTS}


@pytest.fixture
def run(tabiya_exe, tmp_path):
    """Runs a command in the folder of the test."""

    def run(*words, status=0):
        line = [str(word) for word in (tabiya_exe, *words)]
        done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == status, (words, done.stdout, done.stderr)
        return done.stdout + done.stderr

    return run


@pytest.mark.parametrize("name", VARIANTS)
def test_a_book_and_a_count_file_hold_what_python_chess_counts(games, run, tmp_path, name):
    (tmp_path / "games.pgn").write_text(text(games[name]))
    said = run("build", "games.pgn", "--variant", name, "--min-games", "1", "-o", "book.bin")
    assert f"{GAMES} games read, {GAMES} used" in said and "variant" not in said, said
    counts = counted(games[name])
    assert entries(tmp_path / "book.bin") == weights(counts)

    run("build", "games.pgn", "--variant", name, "-o", "counts.parquet")
    assert rows(tmp_path / "counts.parquet") == counts
    assert "position" not in columns(tmp_path / "counts.parquet")
    said = duckdb.sql(f"select key, value from parquet_kv_metadata('{tmp_path / 'counts.parquet'}')").fetchall()
    assert (b"tabiya.variant", name.encode()) in said

    # Count files say their variant, and the book of one is the same.
    run("build", "counts.parquet", "--min-games", "1", "-o", "same.bin")
    assert (tmp_path / "same.bin").read_bytes() == (tmp_path / "book.bin").read_bytes()
    run("build", "games.pgn", "counts.parquet", "-o", "double.parquet")
    double = {what: tuple(2 * count for count in each) for what, each in counts.items()}
    assert rows(tmp_path / "double.parquet") == double
    run("convert", "counts.parquet", "counts.parquet", "-o", "sum.parquet")
    assert rows(tmp_path / "sum.parquet") == double


def test_the_games_have_what_only_variants_have(games):
    codes = {name: {mv for _, mv in counted(games[name])} for name in VARIANTS}
    promotions = {name: {mv >> 12 for mv in codes[name] if mv >> 6 & 63 != mv & 63} for name in VARIANTS}
    assert 5 in promotions["antichess"] and all(5 not in promotions[name] for name in VARIANTS[1:])
    drops = {mv >> 12 for mv in codes["crazyhouse"] if mv >> 6 & 63 == mv & 63}
    assert drops == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("name", VARIANTS)
def test_games_of_other_variants_are_left_out_and_counted(games, run, tmp_path, name):
    few = {each: games[each][:10] for each in VARIANTS}
    standard = "".join(f'[Event "{number}"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n' for number in range(4))
    unknown = '[Event "?"]\n[Variant "Bughouse"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n\n'
    mixed = standard + unknown + "".join(text(some) for some in zip(*few.values()))
    # Windows writes its lines so.
    (tmp_path / "mixed.pgn").write_bytes(mixed.replace("\n", "\r\n").encode())
    said = run("build", "mixed.pgn", "--variant", name, "--min-games", "1", "-o", "book.bin", status=0)
    assert entries(tmp_path / "book.bin") == weights(counted(few[name]))
    assert "75 games read, 10 used" in said and "65 games" in said and "another chess variant" in said, said

    run("build", "mixed.pgn", "--min-games", "1", "-o", "standard.bin")
    board = chess.Board()
    assert entries(tmp_path / "standard.bin") == {
        (chess.polyglot.zobrist_hash(board), code(board, chess.Move.from_uci("e2e4"))): 8
    }


@pytest.mark.parametrize("name", VARIANTS)
def test_every_spelling_of_the_tag_is_read(games, run, tmp_path, name):
    some = games[name][:12]
    spellings = SPELLINGS[name]
    texts = []
    for number, game in enumerate(some):
        tag = f'[Variant "{game.headers["Variant"]}"]'
        assert tag in str(game)
        texts.append(str(game).replace(tag, f'[Variant "{spellings[number % len(spellings)]}"]') + "\n\n")
    (tmp_path / "games.pgn").write_text("".join(texts))
    run("build", "games.pgn", "--variant", spellings[-1], "--min-games", "1", "-o", "book.bin")
    assert entries(tmp_path / "book.bin") == weights(counted(some))


def test_lichess_names_the_ordinary_start_and_others_set_positions_up(run, tmp_path):
    horde = chess.variant.HordeBoard()
    house = chess.variant.CrazyhouseBoard("rnb1kbnr/ppp1pppp/8/q7/8/2N5/PPPP1PPP/R1BQKBNR[Pp] w KQkq - 2 4")
    check = chess.variant.ThreeCheckBoard("rnbq1b1r/pppp1k1p/5np1/4p2Q/4P3/8/PPPP1PPP/RNB1K1NR w KQ - 1+3 0 5")
    for name, board, fen, san in [
        ("Horde", horde, horde.fen(), "e5"),
        ("Racing Kings", chess.variant.RacingKingsBoard(), chess.variant.RacingKingsBoard().fen(), "Bc5"),
        ("Crazyhouse", house, house.fen(), "@e4"),
        ("Crazyhouse", house, house.fen().replace("[Pp]", "/Pp"), "P@e4"),
        ("Three-check", check, check.fen(), "Qxe5"),
        ("Three-check", check, "rnbq1b1r/pppp1k1p/5np1/4p2Q/4P3/8/PPPP1PPP/RNB1K1NR w KQ - 0 5 +2+0", "Qxe5"),
    ]:
        head = f'[Event "?"]\n[Variant "{name}"]\n[FEN "{fen}"]\n[SetUp "1"]\n[Result "1-0"]\n\n'
        (tmp_path / "game.pgn").write_text(f"{head}1. {san} 1-0\n".replace("1. ", f"{board.fullmove_number}. "))
        said = run("build", "game.pgn", "--variant", name, "--min-games", "1", "-o", "book.bin", "--force")
        mv = board.parse_san(san.replace("P@", "@"))
        assert entries(tmp_path / "book.bin") == {(chess.polyglot.zobrist_hash(board), code(board, mv)): 2}, said


def test_what_holds_standard_chess_only_is_refused_before_any_work(games, run, tmp_path):
    (tmp_path / "games.pgn").write_text(text(games["atomic"][:5]))
    for end in ("ctg", "abk", "kob"):
        said = run("build", "games.pgn", "--variant", "atomic", "-o", f"book.{end}", status=2)
        assert f"book.{end}" in said and "standard chess only, not atomic" in said
    said = run("build", "games.pgn", "--variant", "atomic", "-o", "book.bin", "--store", "a.evals", status=2)
    assert "--store" in said and "atomic" in said
    said = run("build", "games.pgn", "--variant", "atomic", "-o", "book.bin", "--min-share", "5/1", status=2)
    assert "atomic" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.pgn"]
    # Without the option nothing of them is a book, and the reason is said.
    assert "another chess variant" in run("build", "games.pgn", "-o", "book.bin", status=1)


def test_commands_of_standard_chess_refuse_books_of_variants_or_warn(games, run, tabiya, tmp_path):
    (tmp_path / "a.pgn").write_text('[Result "1-0"]\n\n1. e4 e5 1-0\n')
    run("build", "a.pgn", "--min-games", "1", "-o", "chess.bin")
    for name in ("antichess", "atomic", "horde"):
        (tmp_path / "games.pgn").write_text(text(games[name]))
        run("build", "games.pgn", "--variant", name, "--min-games", "1", "-o", f"{name}.bin")
        book = f"{name}.bin"
        for words in (
            ("vet", book, "-o", "out.bin", "--engine", "none"),
            ("vet", book, "-o", "out.bin", "--variant", "racingkings", "--engine", "none"),
            ("grow", book, "-o", "out.bin", "--against", "chess.bin", "--side", "white", "--engine", "none"),
            ("grow", "chess.bin", "-o", "out.bin", "--against", book, "--side", "white", "--engine", "none"),
            ("report", "a.pgn", "--book", book),
        ):
            said = run(*words, status=2)
            assert f"{book}: its moves obey the rules of {name}" in said, (words, said)
        assert not list(tmp_path.glob("out*"))
        # Those that make what they can of any book warn.
        before = (tmp_path / book).read_bytes()
        for words in (
            ("convert", book, "-o", "w.abk"),
            ("trim", book, "-o", "w.bin", "--top", "1"),
            ("merge", book, "chess.bin", "-o", "w.bin", "--variant", "racingkings"),
            ("export", book, "-o", "w.pgn"),
            ("suite", book, "-o", "w.epd", "--ply", "2"),
            ("learn", "games", book, "a.pgn", "--both"),
        ):
            said = tabiya(*words, "--force" if "-o" in words else "--list").stderr.decode()
            assert f"tabiya: {book}: its moves obey the rules of {name}, not of " in said, (words, said)
        assert (tmp_path / book).read_bytes() == before


def test_counts_of_different_variants_are_never_added_up(games, run, tmp_path):
    for name in ("atomic", "horde"):
        (tmp_path / f"{name}.pgn").write_text(text(games[name][:5]))
        run("build", f"{name}.pgn", "--variant", name, "-o", f"{name}.parquet")
    for words in (
        ("build", "atomic.parquet", "horde.parquet", "-o", "a.bin"),
        ("build", "atomic.pgn", "horde.parquet", "--variant", "atomic", "-o", "a.bin"),
        ("convert", "atomic.parquet", "horde.parquet", "-o", "a.parquet"),
    ):
        said = run(*words, status=2)
        assert "horde.parquet" in said and "horde" in said and "atomic" in said, said
    assert not list(tmp_path.glob("a.*"))


@pytest.mark.parametrize("name", VARIANTS)
def test_results_are_learned_from_games_of_the_variant(games, run, tmp_path, name):
    some, other = games[name][:12], games["horde" if name != "horde" else "atomic"][:3]
    (tmp_path / "games.pgn").write_text(text(some))
    (tmp_path / "mixed.pgn").write_text(text(some + other))
    run("build", "games.pgn", "--variant", name, "--uniform", "--min-games", "1", "-o", "book.bin")
    said = run("learn", "games", "book.bin", "mixed.pgn", "--variant", name, "--both")
    assert "15 games read, 12 learned" in said and "not learned: 3 of other variants" in said, said
    assert "0 learned" in run("learn", "games", "book.bin", "games.pgn", "--variant", name, "--both")
    book = [ENTRY.unpack(chunk) for chunk in re.findall(b"(?s).{16}", (tmp_path / "book.bin").read_bytes())]
    learned = {(key, mv): (results >> 16, results & 0xFFFF) for key, mv, _, results in book}
    # A position and move that a game has twice counts once.
    expected = defaultdict(lambda: [0, 0])
    for game in some:
        board, once = game.board(), set()
        for mv in game.mainline_moves():
            what = chess.polyglot.zobrist_hash(board), code(board, mv)
            points = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}[game.headers["Result"]]
            if what not in once:
                expected[what][0] += 1
                expected[what][1] += points if board.turn else 2 - points
            once.add(what)
            board.push(mv)
    assert learned == {what: tuple(sums) for what, sums in expected.items()}
    shown = json.loads(run("learn", "show", "book.bin", "--variant", name, "--json"))
    moves = [move for opening in shown["openings"] for move in opening["moves"]]
    assert len(moves) == len(expected) and all(move["line"] for move in moves)
    assert [opening["opening"] for opening in shown["openings"]] == [None]


@not_windows
def test_a_build_goes_on_with_its_own_variant_only(games, run, tabiya_exe, tmp_path):
    some = games["crazyhouse"][:20]
    (tmp_path / "small.pgn").write_text(text(some))
    (tmp_path / "more.pgn").write_text(text(some) * 20)
    words = ["build", "small.pgn", "more.pgn", "-o", "out.bin", "--min-games", "1"]
    child = begun(tabiya_exe, tmp_path, [*words, "--variant", "crazyhouse"])
    child.kill()
    child.wait()
    for other in ([], ["--variant", "atomic"]):
        said = run(*words, *other, "--resume", status=2)
        assert "cannot be continued" in said and "another variant" in said
    assert "had been counted before" in run(*words, "--variant", "crazyhouse", "--resume")
    once = counted(some)
    whole = {what: tuple(21 * count for count in counts) for what, counts in once.items()}
    assert entries(tmp_path / "out.bin") == weights(whole)


@pytest.mark.parametrize("name", VARIANTS)
def test_books_are_exported_and_python_chess_reads_them_back(games, run, tmp_path, name):
    (tmp_path / "games.pgn").write_text(text(games[name][:8]))
    run("build", "games.pgn", "--variant", name, "--uniform", "--min-games", "1", "-o", "book.bin")
    whole = entries(tmp_path / "book.bin")
    for form in ("--lines", None):
        run("export", "book.bin", "--variant", name, "-o", "book.pgn", "--force", *[form] if form else [])
        found = set()
        with open(tmp_path / "book.pgn") as file:
            while game := chess.pgn.read_game(file):
                assert not game.errors
                assert type(game.board()) is chess.variant.find_variant(name)
                walk = [game]
                while walk:
                    node = walk.pop()
                    walk.extend(node.variations)
                    if node.parent and node.comment != "not in the book":
                        board = node.parent.board()
                        found.add((chess.polyglot.zobrist_hash(board), code(board, node.move)))
        assert found == set(whole)
    run("export", "book.bin", "--variant", name, "--reachable", "-o", "book.json")
    board_type, seen = chess.variant.find_variant(name), set()
    for line in (tmp_path / "book.json").read_text().splitlines():
        known = json.loads(line)
        board = board_type(known["fen"])
        assert int(known["key"], 16) == chess.polyglot.zobrist_hash(board) and known["opening"] is None
        for mv in known["moves"]:
            move = board.parse_uci(mv["uci"])
            seen.add((chess.polyglot.zobrist_hash(board), code(board, move)))
    assert seen == set(whole)
    table = run("export", "book.bin", "--variant", name).splitlines()
    assert len(table) == 1 + len(whole)


@pytest.mark.parametrize("name", VARIANTS)
def test_books_are_merged_trimmed_and_compared(games, run, tmp_path, name):
    halves = games[name][:6], games[name][6:12]
    for half, some in zip("ab", halves):
        (tmp_path / f"{half}.pgn").write_text(text(some))
        run("build", f"{half}.pgn", "--variant", name, "--min-games", "1", "-o", f"{half}.bin")
    run("merge", "a.bin", "b.bin", "--variant", name, "-o", "both.bin")
    a, b = weights(counted(halves[0])), weights(counted(halves[1]))
    both = entries(tmp_path / "both.bin")
    assert both == {what: a.get(what, 0) + b.get(what, 0) for what in a.keys() | b.keys()}
    assert run("diff", "both.bin", "both.bin", "--variant", name) == "no difference\n"
    said = run("diff", "a.bin", "both.bin", "--variant", name, "--json", status=1)
    lines = [json.loads(line) for line in said.splitlines()]
    assert lines
    # The first position is known with its line, as that is reached from the variant's own start.
    assert any(line.get("fen") == chess.variant.find_variant(name)().fen() for line in lines), lines[0]

    board = chess.variant.find_variant(name)()
    first = {mv for key, mv in both if key == chess.polyglot.zobrist_hash(board)}
    assert first
    move = next(mv for mv in board.legal_moves if code(board, mv) in first)
    reached = reach(both, board, set())
    run("trim", "both.bin", "--variant", name, "--reachable", "-o", "reached.bin")
    assert set(entries(tmp_path / "reached.bin")) >= reached
    run("trim", "both.bin", "--variant", name, "--max-ply", "1", "-o", "short.bin")
    assert {key for key, _ in entries(tmp_path / "short.bin")} == {chess.polyglot.zobrist_hash(board)}
    run("trim", "both.bin", "--variant", name, "--below", board.san(move), "--max-ply", "2", "-o", "below.bin")
    kept = entries(tmp_path / "below.bin")
    assert {mv for key, mv in kept if key == chess.polyglot.zobrist_hash(board)} == {code(board, move)}
    if len(first) > 1:
        run("trim", "both.bin", "--variant", name, "--without", board.uci(move), "-o", "without.bin")
        left = entries(tmp_path / "without.bin")
        assert (chess.polyglot.zobrist_hash(board), code(board, move)) not in left and left
    run("trim", "both.bin", "--variant", name, "--only", "white", "-o", "white.bin")
    assert entries(tmp_path / "white.bin")


def reach(book, board, seen):
    """The entries that the book's own moves reach. Positions are the same if all but their counters of moves is."""
    waiting, found = [board.copy(stack=False)], set()
    while waiting:
        board = waiting.pop()
        key, whole = chess.polyglot.zobrist_hash(board), board.fen().rsplit(" ", 2)[0]
        if whole in seen:
            continue
        seen.add(whole)
        for mv in board.legal_moves:
            if (key, code(board, mv)) in book:
                found.add((key, code(board, mv)))
                after = board.copy(stack=False)
                after.push(mv)
                waiting.append(after)
    return found


# Games that meet on the same squares, with other pieces in hand or other checks given, and go on with moves that are legal for one only.
MEETING = {
    "crazyhouse": [
        "1. e4 d5 2. exd5 Qxd5 3. d3 a5 4. Bd2 Ra6 5. Be3 Nc6 6. Bf4 Nb8 7. @a4 @b6",
        "1. e4 d5 2. exd5 Qxd5 3. d3 a6 4. Bf4 a5 5. Bxc7 Ra6 6. Bf4 @c7 7. @a4 Qd8 8. @h3 e6",
    ],
    "3check": [
        "1. e4 f6 2. Qh5+ g6 3. Qd1 a6",
        "1. e4 g6 2. Qf3 f6 3. Qd1 a6 4. Bc4 e6 5. Bxe6 Nh6 6. Bxd7+ Nxd7 7. Qh5 a5 8. Qxg6+ hxg6",
    ],
}
CENTER = {chess.parse_square(name) for name in "b4 b5 c3 c6 d4 d5 f3 f6 h4 h5".split()}


def capturing_game(name, rng):
    """A short game of many captures and checks, whose pieces go home, so that games meet."""
    board, home, moves = chess.variant.find_variant(name)(), chess.Board(), []
    for _ in range(rng.randrange(8, 31)):
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if not legal:
            break
        captures = [mv for mv in legal if board.is_capture(mv)]
        quiet = [mv for mv in legal if not board.is_capture(mv)]
        of = {mv: chess.Piece(mv.drop, board.turn) if mv.drop else board.piece_at(mv.from_square) for mv in quiet}
        homewards = [mv for mv in quiet if home.piece_at(mv.to_square) == of[mv]]
        pieces = [mv for mv in quiet if of[mv].piece_type > chess.PAWN and mv.to_square in CENTER]
        pawns = [mv for mv in quiet if mv.uci() in {"e2e4", "d2d4", "e7e5", "d7d5"}]
        drops = [mv for mv in quiet if mv.drop]
        checks = [mv for mv in legal if board.gives_check(mv)] if name == "3check" else []
        of_kind = [captures[:3], homewards, checks[:3], drops[:3], pieces[:4], pawns or legal[:3]]
        mv = rng.choice(rng.choices(of_kind, [40, 20, 10, 8, 10, 12])[0] or legal[:3])
        moves.append(mv)
        board.push(mv)
    game = chess.pgn.Game()
    game.setup(chess.variant.find_variant(name)())
    game.headers["Variant"] = type(board).aliases[0]
    game.headers["Result"] = rng.choice(RESULTS)
    game.add_line(moves)
    return game


@pytest.mark.parametrize("name", MEETING)
def test_nothing_is_lost_where_games_meet_in_one_key(run, tmp_path, name):
    heading = f'[Variant "{name}"]\n[Result "1-0"]\n\n'
    (tmp_path / "meeting.pgn").write_text("".join(f"{heading}{moves} 1-0\n\n" for moves in MEETING[name]))
    rng = random.Random(f"captures of {name}")
    (tmp_path / "random.pgn").write_text(text(capturing_game(name, rng) for _ in range(times(30, 2000))))
    board = chess.variant.find_variant(name)()
    every = ("--variant", name, "--uniform", "--min-games", "1")
    for games in ("meeting", "random"):
        run("build", f"{games}.pgn", "-o", "book.bin", *every, "--force")
        whole = entries(tmp_path / "book.bin")
        assert reach(whole, board, set()) == set(whole)
        assert "sound" in run("check", "book.bin", "--variant", name)
        said = run("trim", "book.bin", "-o", "trimmed.bin", "--reachable", "--variant", name, "--force")
        assert "left out" not in said and entries(tmp_path / "trimmed.bin") == whole, said
        said = run("convert", "book.bin", "-o", "converted.bin", "--reachable", "--variant", name, "--force")
        assert "left out" not in said and entries(tmp_path / "converted.bin") == whole, said
        assert run("diff", "book.bin", "trimmed.bin", "--variant", name) == "no difference\n"
        for form in ([], ["--lines"]):
            said = run("export", "book.bin", "-o", "lines.pgn", *form, "--variant", name, "--force")
            assert "left out" not in said and "damaged" not in said, said
            run("build", "lines.pgn", "--variations", "-o", "again.bin", *every, "--force")
            assert entries(tmp_path / "again.bin") == whole, form
        table = run("export", "book.bin", "--reachable", "--variant", name).splitlines()[1:]
        moves = [line.split("\t")[:3] for line in table]
        assert len(moves) == len(whole)
        for _, fen, uci in moves:
            assert chess.variant.find_variant(name)(fen).is_legal(chess.Move.from_uci(uci)), (fen, uci)
        # A book for one side reaches its positions by the other's replies.
        for side in ("white", "black"):
            run("trim", "book.bin", "-o", "side.bin", "--only", side, "--variant", name, "--force")
            assert "sound" in run("check", "side.bin", "--variant", name)
            run("trim", "side.bin", "-o", "reached.bin", "--reachable", "--variant", name, "--force")
            assert entries(tmp_path / "reached.bin") == entries(tmp_path / "side.bin")


def test_a_book_of_giveaway_is_played_as_antichess(run, tmp_path):
    """GiveawayBoard has castling rights in its keys, which antichess does not have."""
    rng, book = random.Random("giveaway"), set()
    for _ in range(20):
        board, antichess = chess.variant.GiveawayBoard(), chess.variant.AntichessBoard()
        while board.ply() < 30 and not board.is_game_over():
            mv = rng.choice(sorted((mv for mv in board.legal_moves if mv in antichess.legal_moves), key=chess.Move.uci))
            book.add((chess.polyglot.zobrist_hash(board), code(board, mv)))
            board.push(mv)
            antichess.push(mv)
    (tmp_path / "book.bin").write_bytes(b"".join(ENTRY.pack(*entry, 1, 0) for entry in sorted(book)))
    assert "sound" in run("check", "book.bin", "--variant", "antichess")
    run("trim", "book.bin", "-o", "trimmed.bin", "--reachable", "--variant", "antichess")
    # The trimmed book has the keys of antichess, and the same moves.
    for name in ("book.bin", "trimmed.bin"):
        moves = " ".join(mv.uci() for mv in board.move_stack[:8])
        shown = json.loads(run("show", name, "--variant", "antichess", "--moves", moves, "--json"))
        assert board.move_stack[8].uci() in [known["uci"] for known in shown["moves"]]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_suite_is_drawn_from_games_and_books(games, run, tmp_path, name):
    (tmp_path / "games.pgn").write_text(text(games[name]))
    run("build", "games.pgn", "--variant", name, "--min-games", "1", "-o", "book.bin")
    board_type = chess.variant.find_variant(name)
    for source, less in (("games.pgn", ["--min-games", "1"]), ("book.bin", [])):
        words = ("suite", source, "--variant", name, "--ply", "3", *less, "--force")
        run(*words, "-o", "suite.epd")
        positions = (tmp_path / "suite.epd").read_text().splitlines()
        assert positions
        for line in positions:
            board = board_type()
            for word in re.search('c0 "(.*)"', line).group(1).split():
                if not re.fullmatch(r"\d+\.+", word):
                    board.push_san(word)
            assert board.ply() == 3 and line.startswith(board.epd(en_passant="legal")), (line, board.epd())
        run(*words, "-o", "suite.pgn")
        with open(tmp_path / "suite.pgn") as file:
            suite = []
            while game := chess.pgn.read_game(file):
                assert type(game.board()) is board_type and not game.errors
                assert len(list(game.mainline_moves())) == 3
                suite.append(game)
        assert len(suite) == len(positions)
    # Games of the suite show its first opening to be drawn, and the others to be won by the better player.
    match = ""
    for number, opening in enumerate(suite):
        end = opening.end()
        opening.end().add_main_variation(min(end.board().legal_moves, key=chess.Move.uci))
        for white, black, result in (("A", "B", "1-0"), ("B", "A", "0-1")):
            result = result if number else "1/2-1/2"
            opening.headers.update(White=white, Black=black, Result=result)
            match += f"{opening}\n\n"
    (tmp_path / "match.pgn").write_text(match)
    said = run(*words, "--refine", "match.pgn", "-o", "suite.epd")
    assert f"played: {len(suite)} of {len(suite)} positions" in said, said
    board = board_type()
    for mv in list(suite[0].mainline_moves())[:3]:
        board.push(mv)
    left = (tmp_path / "suite.epd").read_text().splitlines()
    assert sorted(left) == sorted(line for line in positions if not line.startswith(board.epd(en_passant="legal")))
    assert len(left) == len(positions) - 1
    said = run("suite", "book.bin", "--variant", name, "--eval", "0..50", "-o", "none.epd", status=1)
    assert "no store has an evaluation" in said
