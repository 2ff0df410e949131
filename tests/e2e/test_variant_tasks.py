"""`grow`, `report` and `suite` of variants of chess, against python-chess's rules and reckonings of our own.

The scripted engine plays every variant that tabiya knows, and fairy-stockfish those that Debian's has.
"""

import io
import json
import random
import struct

import chess
import chess.pgn
import chess.polyglot
import chess.variant
import pytest

from client import times
from test_variants import FAIRY, OFFERED
from variant_books import BOARDS, code_of

DONE, FINDINGS, USAGE, ENGINE = 0, 1, 2, 4

# Its own name for three-check, and for all others UCI's.
TYPE = "option name UCI_Variant type combo default chess var chess var " + " var ".join(BOARDS)

VARIANTS = ["atomic", "crazyhouse", *times([], ["antichess", "horde", "kingofthehill", "racingkings", "3check"])]


def engines(scripted_exe, variant):
    """Engines that play the variant: the arguments that name each, and how far it searches."""
    scripted = ["--engine", scripted_exe, *(f"--engine-arg={arg}" for arg in ("--option", TYPE, "--legal", "--any-score", 60))]
    both = [[*scripted, "--nodes", 20]]
    if FAIRY and variant in OFFERED:
        both.append(["--engine", FAIRY, "--nodes", 300])
    return both


def moves_of(board):
    return sorted(board.legal_moves, key=lambda move: move.uci())


def games_of(variant, number, seed=3):
    """Random games of few openings: (moves, result)."""
    chance, games = random.Random(seed), []
    for _ in range(number):
        board, moves = BOARDS[variant][0](), []
        for ply in range(chance.randrange(6, 18)):
            legal = moves_of(board)
            if not legal or board.is_variant_end():
                break
            captures = [move for move in legal if board.is_capture(move) or move.drop]
            few = random.Random(ply).sample(legal, min(len(legal), 2)) + captures[:2]
            moves.append(chance.choice(few))
            board.push(moves[-1])
        games.append((moves, chance.choice(["1-0", "0-1", "1/2-1/2"])))
    return games


def written(path, variant, games):
    """The games as PGN, by python-chess."""
    with path.open("w") as file:
        for number, (moves, result) in enumerate(games, 1):
            board = BOARDS[variant][0]()
            for move in moves:
                board.push(move)
            game = chess.pgn.Game.from_board(board)
            game.headers.update({"White": "A", "Black": "B", "Round": str(number), "Result": result})
            print(game, end="\n\n", file=file)
    return path


def entries(path):
    """All that a Polyglot book has: {key: {code: weight}}."""
    found = {}
    for key, code, weight, _ in struct.iter_unpack(">QHHI", path.read_bytes()):
        found.setdefault(key, {})[code] = weight
    return found


def code(board, move):
    """A move as books have it: castling as the king taking its rook."""
    if board.is_castling(move):
        rook = chess.H1 if chess.square_file(move.to_square) > chess.square_file(move.from_square) else chess.A1
        return move.from_square << 6 | chess.square(chess.square_file(rook), chess.square_rank(move.from_square))
    return code_of(move)


def known(book, board):
    """The legal moves that a book has in a position, with their weights."""
    found = book.get(chess.polyglot.zobrist_hash(board), {})
    return {move: found[code(board, move)] for move in moves_of(board) if code(board, move) in found}


def place(board):
    """All of a position but its counters."""
    fields = board.fen(en_passant="legal").split()
    return " ".join(fields[:4] + [field for field in fields[4:] if "+" in field])


@pytest.fixture(params=VARIANTS)
def variant(request):
    return request.param


@pytest.fixture
def games(variant, tmp_path):
    games = games_of(variant, times(120, 400))
    written(tmp_path / "games.pgn", variant, games)
    return games


@pytest.fixture
def seed(tabiya, variant, games, tmp_path):
    """The book of the games: its path, and what it has by python-chess's keys."""
    done = tabiya("build", "games.pgn", "--variant", variant, "-o", "seed.bin", "--min-games", 2)
    assert done.returncode == DONE, done.stderr
    return tmp_path / "seed.bin", entries(tmp_path / "seed.bin")


def test_a_book_of_a_variant_grows(tabiya, scripted_exe, variant, seed, tmp_path):
    path, book = seed
    for number, engine in enumerate(engines(scripted_exe, variant)):
        books, reports = set(), []
        for jobs in (1, 2):
            name = f"{number}-{jobs}"
            line = ["grow", path, "--variant", variant, "-o", f"{name}.bin", "--report", f"{name}.json", "--force", "--max-loss", 20]
            done = tabiya(*line, *engine, "--positions", times(150, 1000), "--jobs", jobs)
            assert done.returncode == DONE, done.stderr
            books.add((tmp_path / f"{name}.bin").read_bytes())
            reports.append(json.loads((tmp_path / f"{name}.json").read_bytes())["positions"])
        assert len(books) == 1 and reports[0] == reports[1]
        walk(variant, tmp_path / f"{name}.bin", book)
        reckoned(variant, reports[0], book)
        decided(variant, reports[0], entries(tmp_path / f"{name}.bin"))
        growth = json.loads((tmp_path / f"{name}.bin.growth").read_bytes())
        for following in growth["next"]:
            board = BOARDS[variant][0]()
            for uci in following["play"]:
                board.push(board.parse_uci(uci))
        # A plan names the variant, and its searches are those that the book needs next.
        done = tabiya("grow", path, "--variant", variant, "-o", f"{name}.bin", "--plan", "plan", "--positions", 20, "--force", *engine[-2:])
        assert done.returncode == DONE, done.stderr
        plan = [json.loads(text) for text in (tmp_path / "plan").read_text().splitlines()]
        assert len(plan) == 20 and all(search["variant"] == variant for search in plan)
        done = tabiya("grow", "-o", f"{name}.bin", "--plan", "plan", "--share", "1/1", "--store", f"{name}.bin.evals", *engine)
        assert done.returncode == DONE and b"20 positions" in done.stdout, done


def walk(variant, path, seed):
    """Every entry is a legal move of a position that the book reaches, or one of the seed."""
    book, levels, met = entries(path), [BOARDS[variant][0]()], set()
    unmet = {(key, code) for key, moves in book.items() for code in moves if code not in seed.get(key, {})}
    assert unmet
    while levels:
        board = levels.pop()
        if place(board) in met or board.is_variant_end():
            continue
        met.add(place(board))
        key = chess.polyglot.zobrist_hash(board)
        unmet -= {(key, code(board, move)) for move in known(book, board)}
        for move in moves_of(board):
            after = board.copy(stack=False)
            after.push(move)
            # Whatever the opponent plays may lead back into the book.
            if move in known(book, board) or chess.polyglot.zobrist_hash(after) in book:
                levels.append(after)
    assert not unmet


def reckoned(variant, positions, seed):
    """Chances are shares of weights, or of what the engine found, and reach follows from them along legal moves."""
    from_book = 0
    for side in ("white", "black"):
        reach = {place(BOARDS[variant][0]()): 1.0}
        mine = [position for position in positions if position["side"] == side]
        for position in mine:
            board = BOARDS[variant][0](position["fen"])
            chances = {board.parse_uci(move["uci"]): move["chance"] for move in position["moves"]}
            # What an engine's opponent plays may be a move that nobody has looked for yet.
            assert sum(chances.values()) < 1 + 1e-5
            if position["from_book"]:
                weights = known(seed, board)
                whole = sum(weights.values())
                # Less than five thousandths are not played.
                played = {move: weight for move, weight in weights.items() if weight * 1000 >= 5 * whole}
                assert {move for move, chance in chances.items() if chance > 0} == set(played)
                for move, weight in played.items():
                    assert chances[move] == pytest.approx(weight / sum(played.values()), abs=1e-5)
                from_book += 1
            for move, chance in chances.items():
                after = board.copy(stack=False)
                after.push(move)
                reach[place(after)] = reach.get(place(after), 0) + position["reach"] * chance
        for position in mine:
            board = BOARDS[variant][0](position["fen"])
            assert position["reach"] == pytest.approx(min(1, reach[place(board)]), abs=1e-4), position
    assert from_book > 5


def decided(variant, positions, book):
    """The book plays what the report says; of positions that share a key, in the most probable one."""
    probable, count = {}, 0
    for position in positions:
        board = BOARDS[variant][0](position["fen"])
        probable.setdefault(chess.polyglot.zobrist_hash(board), {}).setdefault(place(board), []).append(position)
    for group in probable.values():
        reaches = {where: sum(position["reach"] for position in all_of) for where, all_of in group.items()}
        most = max(reaches, key=reaches.get)
        if sum(reach == pytest.approx(reaches[most], rel=1e-3) for reach in reaches.values()) > 1:
            continue
        for position in group[most]:
            board = BOARDS[variant][0](position["fen"])
            played = {board.parse_uci(move["uci"]) for move in position["moves"] if move["chance"]}
            if (position["side"] == "white") == board.turn and position["reach"] > 0 and played:
                assert {move for move, weight in known(book, board).items() if weight} == played, position
                count += 1
    assert count, positions


@pytest.mark.parametrize("checked", [True, False])
def test_positions_that_share_an_entry_are_searched_each(tabiya, scripted_exe, tmp_path, checked):
    """The queen comes back to its square, and has given a check on one of the ways."""
    found, ends = {}, set()
    for line, weight in {"e2e4 f7f6 d1h5 g7g6 h5d1": 1 + 8 * checked, "e2e4 f7f6 d1f3 g7g6 f3d1": 9 - 8 * checked}.items():
        board = chess.variant.ThreeCheckBoard()
        for move in map(chess.Move.from_uci, line.split()):
            found[chess.polyglot.zobrist_hash(board), code(board, move)] = weight
            board.push(move)
        ends.add(place(board))
    assert len(ends) == 2
    (tmp_path / "seed.bin").write_bytes(b"".join(struct.pack(">QHHI", *at, weight, 0) for at, weight in sorted(found.items())))
    line = ["grow", "seed.bin", "--variant", "3check", "--side", "black", "--max-loss", 9999, "-o", "out.bin", "--report", "out.json"]
    done = tabiya(*line, *engines(scripted_exe, "3check")[0], "--positions", 200)
    assert done.returncode == DONE, done.stderr
    positions = json.loads((tmp_path / "out.json").read_bytes())["positions"]
    here = [position for position in positions if place(chess.variant.ThreeCheckBoard(position["fen"])) in ends]
    assert len(here) == 2 and len({str([move["uci"] for move in position["moves"] if move["chance"]]) for position in here}) == 2
    assert all(position["reach"] > 0 for position in here)
    decided("3check", here, entries(tmp_path / "out.bin"))


def test_a_report_of_a_variant_counts_what_was_played(tabiya, variant, games, seed, tmp_path):
    path, book = seed
    # Also games that leave the book early.
    chance = random.Random(8)
    for moves, _ in games[::2]:
        moves[chance.randrange(1, 6) :] = []
        board = BOARDS[variant][0]()
        for move in moves:
            board.push(move)
        if not board.is_variant_end() and moves_of(board):
            moves.append(chance.choice(moves_of(board)))
    written(tmp_path / "games.pgn", variant, games)
    done = tabiya("report", "games.pgn", "--variant", variant, "--book", path, "--json", "--pgn", "out.pgn")
    assert done.returncode == DONE, done.stderr
    report = json.loads(done.stdout)
    assert len(report["games"]) == len(games)
    exits = {}
    for row, (moves, result) in zip(report["games"], games, strict=True):
        board, plies = BOARDS[variant][0](), 0
        for move in moves:
            after = board.copy()
            after.push(move)
            if move not in known(book, board) and not (not known(book, board) and known(book, after) and movers(book, moves[:plies], variant, board.turn) == 0):
                break
            board, plies = after, plies + 1
        weights = known(book, board) if plies < len(moves) else {}
        left = ("white" if board.turn else "black") if weights else None
        assert (row["book_plies"], row["left_by"], row["result"]) == (plies, left, result)
        assert place(BOARDS[variant][0](row["fen"])) == place(board)
        assert row["played"] == (moves[plies].uci() if plies < len(moves) else None)
        whole = sum(weights.values())
        played = {move.uci(): weight for move, weight in weights.items() if weight * 1000 >= 5 * whole and weight}
        shown = {move["uci"]: move["chance"] for move in row["book_moves"] if move["chance"]}
        assert shown == pytest.approx({uci: weight / sum(played.values()) for uci, weight in played.items()})
        assert row["opening"] is None
        exits.setdefault((place(board), row["played"]), []).append(result)
    rows = {(place(BOARDS[variant][0](row["fen"])), row["played"]): row for row in report["exits"]}
    assert {where: row["games"] for where, row in rows.items()} == {where: len(results) for where, results in exits.items()}
    for (where, _), row in rows.items():
        board = BOARDS[variant][0]()
        for uci in row["line"]:
            board.push(board.parse_uci(uci))
        assert place(board) == where
    # The games come back with the same tags and moves.
    text = io.StringIO((tmp_path / "out.pgn").read_text())
    for moves, result in games:
        game = chess.pgn.read_game(text)
        assert not game.errors and list(game.mainline_moves()) == moves
        assert type(game.board()) is BOARDS[variant][0] and game.headers["Result"] == result
    # For people.
    done = tabiya("report", "games.pgn", "--variant", variant, "--book", path)
    assert done.returncode == DONE and f"{len(games)} games".encode() in done.stdout, done
    if b"`tabiya vet" in done.stdout:
        assert f"--variant {variant}".encode() in done.stdout


def test_gaps_of_a_variant_are_where_its_games_go(tabiya, variant, games, seed, tmp_path):
    path, book = seed
    written(tmp_path / "games.pgn", variant, games)
    done = tabiya("gaps", path, "--variant", variant, "--against", "games.pgn", "--json", "--side", "white", "--pgn", "out.pgn")
    assert done.returncode == DONE, done.stderr
    gaps = json.loads(done.stdout)["gaps"]
    text = io.StringIO((tmp_path / "out.pgn").read_text())
    for row in gaps:
        game = chess.pgn.read_game(text)
        board = game.end().board()
        assert not game.errors and place(board) == place(BOARDS[variant][0](row["fen"]))
        weights = known(book, board)
        assert board.turn == chess.WHITE and not any(weights.values()) and 0 < row["share"] <= 1
        # Another order of moves may lead there, but games do.
        assert row["games"] > 0
    assert chess.pgn.read_game(text) is None
    other = "atomic" if variant != "atomic" else "antichess"
    done = tabiya("gaps", path, "--variant", variant, "--against", written(tmp_path / "other.pgn", other, games[:1]))
    assert done.returncode in (USAGE, 3) and len(done.stderr.splitlines()) == 1


def movers(book, moves, variant, turn):
    """How many of these moves of a side the book has."""
    board, count = BOARDS[variant][0](), 0
    for move in moves:
        count += board.turn == turn and move in known(book, board)
        board.push(move)
    return count


def test_a_suite_of_a_variant_is_evaluated(tabiya, scripted_exe, variant, games, tmp_path):
    for number, engine in enumerate(engines(scripted_exe, variant)):
        line = ["suite", "games.pgn", "--variant", variant, "--ply", "2-6", "--min-games", 1, "--seed", 5]
        named = ["--eval=-30..40", "--side", "white", "--store", f"{number}.evals"]
        done = tabiya(*line, *named, *engine, "-o", f"{number}.epd")
        assert done.returncode == DONE, done.stderr
        suite = (tmp_path / f"{number}.epd").read_text()
        for text in suite.splitlines():
            board, replayed = BOARDS[variant][0](), BOARDS[variant][0]()
            operations = board.set_epd(text)
            for word in operations["c0"].split():
                if not word.endswith("."):
                    replayed.push_san(word)
            assert board.epd(en_passant="legal") == replayed.epd(en_passant="legal")
            assert 2 <= len(replayed.move_stack) <= 6 and board.is_valid() and not board.is_game_over()
            assert -30 <= (1 if board.turn else -1) * operations["ce"] <= 40
        # The window leaves some out, and the store knows all that was asked for.
        done = tabiya(*line, "-o", "all.epd", "--force")
        assert done.returncode == DONE and 3 < len(suite.splitlines()) < len((tmp_path / "all.epd").read_text().splitlines())
        done = tabiya(*line, *named, "-o", "again.epd", "--force")
        assert done.returncode == DONE and (tmp_path / "again.epd").read_text() == suite, done


def test_an_engine_that_does_not_play_the_variant_is_refused(tabiya, scripted_exe, tmp_path):
    written(tmp_path / "games.pgn", "atomic", games_of("atomic", 60))
    assert tabiya("build", "games.pgn", "--variant", "atomic", "-o", "seed.bin", "--min-games", 1).returncode == DONE
    lines = [["grow", "seed.bin"], ["suite", "games.pgn", "--ply", "2", "--min-games", "1", "--eval=-900..900"]]
    for name, line in zip(("out.bin", "out.epd"), lines, strict=True):
        done = tabiya(*line, "--variant", "atomic", "-o", name, "--engine", scripted_exe, "--nodes", "20")
        assert done.returncode == ENGINE and b"Scripted Engine does not offer atomic in its option UCI_Variant" in done.stderr, done
    # What obeys other rules is refused, and what to write is said.
    for words in (["grow", "seed.bin", "-o", "out.bin", "--no-engine"], ["report", "games.pgn", "--book", "seed.bin"]):
        done = tabiya(*words)
        assert done.returncode == USAGE and b"--variant atomic" in done.stderr, done
    # Only standard chess has mirrored positions.
    done = tabiya(*lines[1], "--variant", "atomic", "-o", "out.epd", "--require", "unique-colors")
    assert done.returncode == USAGE and b"--require unique-colors is for standard chess" in done.stderr, done
