"""PGN as a repertoire: every move of every variation, as python-chess reads them, and what glyphs and comments say of them."""

import json
import random
import re

import chess
import chess.pgn
import chess.polyglot
import pytest

from polyglot_writer import encode, key
from random_games import read_book

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3
MISTAKES = {chess.pgn.NAG_MISTAKE, chess.pgn.NAG_BLUNDER, chess.pgn.NAG_DUBIOUS_MOVE}
GLYPHS = [1, 2, 3, 4, 5, 6, 10, 13, 22, 36, 146]
TEXTS = ["the (main) line", "[%csl Ge4,Rd5]", "[%cal Ge2e4] [%eval 0.17]", "1. e4 is better (see above)", "a;b", "0-1"]


@pytest.fixture
def build(tabiya, tmp_path):
    def call(*args, out="book.bin", code=DONE):
        done = tabiya("build", "-o", tmp_path / out, "--force", *map(str, args))
        assert done.returncode == code, done.stderr
        return tmp_path / out, (done.stdout + done.stderr).decode()

    return call


def chapter(chance, number, fen=None):
    """A random tree with comments, arrows and glyphs."""
    game = chess.pgn.Game()
    game.headers.update(Event=f"Study: chapter {number}", Result=chance.choice(["*", "*", "1-0", "0-1"]))
    if fen:
        game.setup(chess.Board(fen))
        game.headers["Variant"] = "From Position"
    leaves = [game]
    for _ in range(chance.randint(10, 80)):
        node = chance.choice(leaves[-12:])
        taken = {child.move for child in node.variations}
        legal = [move for move in sorted(node.board().legal_moves, key=chess.Move.uci) if move not in taken]
        if not legal or len(taken) > 3:
            continue
        # Few moves of many, so that lines meet again.
        child = node.add_variation(chance.choice(legal[:6]))
        if chance.random() < 0.3:
            child.nags.add(chance.choice(GLYPHS))
        if chance.random() < 0.3:
            child.comment = chance.choice(TEXTS)
        if chance.random() < 0.1:
            child.starting_comment = "or"
        leaves.append(child)
    return game


def moves_of(game, skip_mistakes=False):
    """The positions and moves of a tree."""
    found, waiting = set(), [game]
    while waiting:
        node = waiting.pop()
        board = node.board()
        for child in node.variations:
            if skip_mistakes and child.nags & MISTAKES:
                continue
            found.add((key(board), encode(board, child.move.uci()), board.turn))
            waiting.append(child)
    return found


def study(seed, chapters=3):
    chance = random.Random(seed)
    fens = [None, None, "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"]
    games = [chapter(chance, number, chance.choice(fens)) for number in range(chapters)]
    columns = chance.choice([None, 60, 80])
    text = "\n\n".join(game.accept(chess.pgn.StringExporter(columns=columns)) for game in games) + "\n\n"
    if seed % 2:
        # Glyphs as suffixes.
        for nag, suffix in ((1, "!"), (2, "?"), (3, "!!"), (4, "??"), (5, "!?"), (6, "?!")):
            text = re.sub(rf" \${nag}(?=\s)", suffix, text)
    return games, text


def weights(games, **more):
    """What counts, with a weight for each game that has it."""
    book = {}
    for game in games:
        for position, move, _ in moves_of(game, **more):
            book.setdefault(position, {}).setdefault(move, 0)
            book[position][move] += 1
    return book


@pytest.mark.parametrize("seed", range(40))
def test_every_move_of_every_variation_counts(build, tmp_path, seed):
    games, text = study(seed)
    path = tmp_path / "study.pgn"
    # No result: each move weighs as often as it is in a game.
    path.write_text(re.sub(r"(1-0|0-1)(?=\"\]|\n)", "*", text), encoding="utf-8")
    # Comments may have what looks like a result.
    book, told = build(path, "--variations", "--min-games", "1")
    assert read_book(book) == weights(games), told
    assert "error" not in told, told
    book, _ = build(path, "--variations", "--min-games", "1", "--skip-mistakes")
    assert read_book(book) == weights(games, skip_mistakes=True)
    path.write_text(text, encoding="utf-8")
    for side in (chess.WHITE, chess.BLACK):
        repertoire = {}
        for game in games:
            for position, move, turn in moves_of(game):
                if turn == side:
                    repertoire.setdefault(position, {})[move] = 1
        book, _ = build(path, "--repertoire", chess.COLOR_NAMES[side])
        assert read_book(book) == repertoire


def all_nodes(game):
    waiting = [game]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.variations)


def test_a_position_with_several_own_moves_is_said(build, tmp_path):
    (tmp_path / "rep.pgn").write_text("1. e4 e5 2. Nf3 Nc6 3. Bb5 (3. Bc4) *\n\n1. Nf3 Nc6 2. e4 e5 3. d4 *\n")
    said = build("--repertoire", "white", tmp_path / "rep.pgn")[1]
    assert "\n2 positions with several moves of White, among which play chooses:\n" in said, said
    assert "5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3: Bc4, Bb5, d4\n" in said, said
    assert "several moves" not in build("--repertoire", "black", tmp_path / "rep.pgn")[1]


@pytest.mark.parametrize("out", ["book.ctg", "book.abk", "book.kob"])
def test_the_formats_that_hold_positions_have_the_same_moves(build, tabiya, tmp_path, out):
    chance = random.Random(out)
    games = [chapter(chance, number) for number in range(5)]
    text = "\n\n".join(str(game) for game in games)
    (tmp_path / "study.pgn").write_text(re.sub(r"(1-0|0-1)(?=\"\]|\n|$)", "*", text))
    expected = set()
    for game in games:
        for node in all_nodes(game):
            board = node.board()
            expected |= {(*board.fen().split()[:3], child.move.uci()) for child in node.variations}
    book, _ = build("study.pgn", "--variations", "--min-games", "1", out=out)
    done = tabiya("export", book, "--format", "json")
    assert done.returncode == DONE, done.stderr
    found = set()
    for line in done.stdout.splitlines():
        position = json.loads(line)
        found |= {(*position["fen"].split()[:3], move["uci"]) for move in position["moves"]}
    assert expected <= found
    # An entry of the other formats also stands for positions with the colours swapped, which a game may not have had.
    assert out != "book.abk" or found == expected


def test_the_sample_of_chessbase(build, sample, tmp_path):
    path = sample("cbh/WithVariations/GamesWithVariations.pgn")
    games = []
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        while game := chess.pgn.read_game(file):
            games.append(game)
    assert games
    # Lines go on after a null move in python-chess, and end there in tabiya.
    for game in games:
        for node in list(all_nodes(game)):
            for child in list(node.variations):
                if not child.move:
                    node.remove_variation(child)
    book, told = build(path, "--repertoire", "white")
    expected = {}
    for game in games:
        for position, move, turn in moves_of(game):
            if turn == chess.WHITE:
                expected.setdefault(position, {})[move] = 1
    assert read_book(book) == expected, told


def test_weights_of_comments_and_marks(build, tabiya, tmp_path):
    path = tmp_path / "r.pgn"
    path.write_text(
        "[Event \"r\"]\n\n1. e4! {[%prc 60]} (1. d4 {prc:40 solid}) (1. c4 $3) 1... e5 {[%prc 9]} 2. Nf3 {[%prc 0] never} (2. Bc4) *\n"
    )
    board = chess.Board()
    first = {encode(board, uci): weight for uci, weight in (("e2e4", 60), ("d2d4", 40), ("c2c4", 1))}
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    # A move of weight 0 is never played.
    third = {encode(board, "g1f3"): 0, encode(board, "f1c4"): 1}
    book, _ = build(path, "--repertoire", "white")
    assert read_book(book, least=0) == {key(chess.Board()): first, key(board): third}
    # Without --uniform, results weigh.
    book, _ = build(path, "--variations", "--min-games", "1")
    assert set(read_book(book)[key(chess.Board())].values()) == {1}
    book, _ = build(path, "--repertoire", "white", out="r.ctg")
    shown = tabiya("show", book, "--json")
    moves = {move["uci"]: move["annotation"] for move in json.loads(shown.stdout)["moves"]}
    assert moves == {"e2e4": "!", "d2d4": None, "c2c4": "!!"}


@pytest.mark.parametrize(
    ("text", "moves", "words"),
    [
        # A word in a variation that is no move ends the variation, and the main line goes on.
        ("1. e4 (1. d4 Sf6 2. c4) e5 2. Nf3 *", "e2e4 d2d4 e7e5 g1f3", "variations used up to an error"),
        ("1. e4 (1. d4 d5 2. Ke8 (2. c4) 2... c6) e5 *", "e2e4 d2d4 d7d5 e7e5", "variations used up to an error"),
        ("1. e4 (1. d4 -- 2. c4) e5 *", "e2e4 d2d4 e7e5", "null move"),
        ("1. e4 (1. d4 Z0) (1. c4) e5 *", "e2e4 d2d4 c2c4 e7e5", "null move"),
        # Notation of other programs, in variations too.
        ("1. e4 (1. d2-d4 d7d5 2. c2c4) 1... e7-e5 *", "e2e4 d2d4 d7d5 c2c4 e7e5", ""),
        # Results within variations mean nothing, and neither do empty lines.
        ("1. e4 (1. d4 d5 1-0) (1. c4 *) e5\n\n2. Nf3 (2. Bc4\n\nNc6) Nf6 *", "e2e4 d2d4 d7d5 c2c4 e7e5 g1f3 f1c4 b8c6 g8f6", ""),
        # Parentheses that do not match.
        ("1. e4 ) e5 ( ) *", "e2e4 e7e5", ""),
        ("1. e4 (1. d4 d5 (1... Nf6 (1... c5 e5 *", "e2e4 d2d4 d7d5 g8f6 c7c5", "a variation has no end"),
        # Before the first move it replaces that.
        ("(1. d4) 1. e4 *", "d2d4 e2e4", ""),
    ],
)  # fmt: skip
def test_strange_variations(build, tmp_path, text, moves, words):
    path = tmp_path / "s.pgn"
    path.write_text(f'[Event "s"]\n[Result "*"]\n\n{text}\n')
    book, told = build(path, "--variations", "--min-games", "1")
    found = sorted(move for moves in read_book(book).values() for move in moves)
    assert found == sorted(encode(chess.Board(), uci) for uci in moves.split()), told
    assert words in told and (words or "error" not in told), told


def test_deep_parentheses_do_no_harm(build, tmp_path):
    path = tmp_path / "deep.pgn"
    path.write_text('[Event "s"]\n\n1. e4 ' + "(1. d4 " * 200_000 + ")" * 200_000 + ' e5 *\n\n[Event "t"]\n\n1. c4 *\n')
    book, _ = build(path, "--variations", "--min-games", "1")
    assert len(read_book(book)) == 2


@pytest.mark.parametrize("out", ["lines.bin", "lines.ctg"])
def test_lines_of_a_book_for_one_side_give_its_moves_alone(build, tabiya, tmp_path, out):
    (tmp_path / "games.pgn").write_text("1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n\n1. Nf3 Nc6 2. e4 e5 3. Bc4 *\n\n1. e4 c5 2. Nf3 *\n\n")
    whole, _ = build("games.pgn", "--only", "white", "--uniform", "--min-games", "1", out="white.bin")
    lines = tabiya("export", whole, "--lines", "--format", "pgn").stdout
    assert b"{not in the book}" in lines
    (tmp_path / "lines.pgn").write_bytes(lines)
    again, told = build("lines.pgn", "--uniform", "--min-games", "1", out=out)
    assert 'left out that comments call "not in the book"' in told
    moves = []
    for book in (again, whole):
        done = tabiya("export", book, *(["--reachable"] if book.suffix == ".bin" else []), "--format", "json")
        positions = [position for position in map(json.loads, done.stdout.splitlines()) if " w " in position["fen"]]
        moves.append({(position["key"], move["uci"]) for position in positions for move in position["moves"]})
    assert moves[0] == moves[1] and len(moves[0]) == 7


def test_a_repertoire_that_is_dumped_gives_the_same_book(build, tabiya, tmp_path):
    for seed in range(5):
        _, text = study(seed, chapters=4)
        # Positions that no line reaches are not in a tree.
        text = "\n\n".join(part for part in re.split(r"\n\n(?=\[Event)", text) if "FEN" not in part)
        (tmp_path / "study.pgn").write_text(text)
        for side in ("white", "black"):
            chance = random.Random(seed)
            weighted = re.sub(r"\{ the \(main\) line \}", lambda _: f"{{ [%prc {chance.randint(2, 9)}] }}", text)
            assert weighted != text
            (tmp_path / "study.pgn").write_text(weighted)
            book, _ = build("study.pgn", "--repertoire", side)
            before = read_book(book)
            dumped = tabiya("export", book, "--format", "pgn")
            assert dumped.returncode == DONE, dumped.stderr
            (tmp_path / "dumped.pgn").write_bytes(dumped.stdout)
            again, told = build("dumped.pgn", "--repertoire", side, out="again.bin")
            assert read_book(again) == before, told


def test_repertoires_exclude_other_sides(build, tmp_path):
    (tmp_path / "s.pgn").write_text("1. e4 e5 *\n")
    _, told = build("s.pgn", "--repertoire", "white", "--only", "black", code=USAGE)
    assert "--only" in told
    _, told = build("s.pgn", "--repertoire", "green", code=USAGE)
    assert "green" in told


def variations(board, widths, found):
    """All lines of the first moves, as text with variations, and their positions and moves."""
    if not widths or not (moves := sorted(board.legal_moves, key=chess.Move.uci)[: widths[0]]):
        return ""
    here = chess.polyglot.zobrist_hash(board)
    found.update((here, move.uci()) for move in moves)
    lines = []
    for move in moves:
        san = board.san(move)
        board.push(move)
        lines.append((san, variations(board, widths[1:], found)))
        board.pop()
    (first, rest), *others = lines
    return " ".join([first, *(f"({san} {more})" for san, more in others), rest])


def test_a_game_of_many_variations_counts_whole(build, tmp_path):
    found = set()
    text = variations(chess.Board(), [20, 20, 20, 9], found)
    assert len(found) > 30_000
    (tmp_path / "one.pgn").write_text(f'[Event "?"]\n\n{text} *\n')
    book, said = build(tmp_path / "one.pgn", "--variations", "--uniform", "--min-games", 1)
    assert book.stat().st_size == 16 * len(found), said
    assert "--max-ply" not in said
