"""`tabiya explore` over books of the variants of chess, against python-chess's rules and its own reckoning of the books."""

import json
import random

import chess
import chess.pgn
import chess.variant
import pytest

from client import eventually, times
from polyglot_writer import ENTRY, Book
from test_build_variants import VARIANTS, code, random_game
from variant_books import BOARDS, book_of

GAMES = times(12, 60)
# The names that clients of Lichess send.
LICHESS = {"kingofthehill": "kingOfTheHill", "racingkings": "racingKings", "3check": "threeCheck"}


def after(name, line=""):
    board = chess.variant.find_variant(name)()
    for uci in line.split():
        board.push_uci(uci)
    return board


@pytest.fixture(scope="module")
def played():
    rng = random.Random(5)
    return {name: [random_game(name, rng) for _ in range(GAMES)] for name in VARIANTS}


@pytest.fixture
def built(tabiya, tmp_path, played):
    """A tabiya.toml with a book of each variant, and one of standard chess."""
    text = f"book = '{Book().line('d2d4 d7d5', weight=7).write(tmp_path / 'chess.bin').name}'\n"
    for name in VARIANTS:
        games = tmp_path / f"{name}.pgn"
        games.write_text("".join(f"{game}\n\n" for game in played[name]))
        done = tabiya("build", games, "--variant", name, "--min-games", "1", "-o", f"{name}.bin")
        assert done.returncode == 0, done.stderr
        text += f"[variant.{name}]\nbook = '{name}.bin'\n"
    (tmp_path / "tabiya.toml").write_text(text)
    return tmp_path


@pytest.fixture
def drops(tabiya, tmp_path):
    """A crazyhouse book in which a pawn and a knight are dropped."""
    moves = "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qxd2+ 4. Bxd2 @b4 5. @e6 bxc3 6. Bxc3 N@e4"
    (tmp_path / "drops.pgn").write_text(f'[Event "A"]\n[White "A"]\n[Black "B"]\n[Variant "Crazyhouse"]\n[Result "1/2-1/2"]\n\n{moves} 1/2-1/2\n\n')
    done = tabiya("build", "drops.pgn", "--variant", "crazyhouse", "--min-games", "1", "-o", "drops.bin")
    assert done.returncode == 0, done.stderr
    return tmp_path / "drops.bin"


def held(path):
    """The weights of a book by key and code."""
    data = path.read_bytes()
    return {(key, move): weight for key, move, weight, _ in map(ENTRY.unpack, [data[at : at + 16] for at in range(0, len(data), 16)])}


def fields(board):
    """A position without its halfmove clock, which drops set back in python-chess alone."""
    *position, _, number = board.fen().split()
    return position, number


def takes_rook(board, mv):
    """A move as Lichess writes it."""
    if not board.is_castling(mv):
        return mv.uci()
    rook = chess.square(7 if board.is_kingside_castling(mv) else 0, chess.square_rank(mv.from_square))
    return chess.Move(mv.from_square, rook).uci()


def test_each_variant_is_answered_from_its_book_by_its_rules(explore, built, played):
    server = explore("--config", built / "tabiya.toml")
    books = server.get("/api/books")
    assert "variant" in books and [book["name"] for book in books["variants"]] == ["chess", *VARIANTS]
    rng = random.Random(3)
    for name in VARIANTS:
        weights = held(built / f"{name}.bin")
        for game in rng.sample(played[name], times(4, 30)):
            line = [mv.uci() for mv in game.mainline_moves()]
            for plies in sorted({0, 1, 2, 3, rng.randrange(len(line) + 1), len(line)}):
                board = after(name, " ".join(line[:plies]))
                view = server.get("/api/view", variant=name, play=",".join(line[:plies]))
                assert fields(type(board)(view["fen"])) == fields(board), (name, line[:plies])
                over = board.is_variant_end() or board.is_checkmate() or board.is_stalemate()
                assert {move["uci"] for move in view["legal"]} == (set() if over else {mv.uci() for mv in board.legal_moves})
                if board.is_variant_end():
                    winner = {"1-0": "white", "0-1": "black", "1/2-1/2": None}[board.result()]
                    assert view["end"] and view["winner"] == winner, (name, view["fen"], view["end"])
                known = {} if over else {mv: weights.get((chess.polyglot.zobrist_hash(board), code(board, mv)), 0) for mv in board.legal_moves}
                wanted = {takes_rook(board, mv): (board.san(mv), weight) for mv, weight in known.items() if weight}
                answer = server.get("/lichess", variant=LICHESS.get(name, name), play=",".join(line[:plies]), moves=500)
                assert {move["uci"]: (move["san"], move["white"] + move["draws"] + move["black"]) for move in answer["moves"]} == wanted, (name, line[:plies])
                [book] = view["books"]
                assert (book["name"], len(book["moves"])) == (f"{name}.bin", len(wanted))
                assert answer["opening"] is view["opening"] is None


def test_a_book_of_another_variant_is_never_asked(explore, built):
    """All of these have the key of the usual start."""
    server = explore("--config", built / "tabiya.toml")
    ids = {book.get("variant", "chess"): book["id"] for book in reversed(server.get("/api/books")["books"])}
    assert [move["uci"] for move in server.get("/api/view")["books"][0]["moves"]] == ["d2d4"]
    assert [move["uci"] for move in server.get("/lichess")["moves"]] == ["d2d4"]
    for name in ("standard", "chess960", "fromPosition", "Chess"):
        assert [move["uci"] for move in server.get("/lichess", variant=name)["moves"]] == ["d2d4"]
    assert server.get("/masters", variant="standard")["opening"] is None
    assert server.wrong("/masters", variant="atomic") == (400, "bad-request")
    assert server.wrong("/lichess", variant="shogi") == (400, "bad-request")
    assert server.wrong("/api/view", books=ids["atomic"]) == (400, "bad-request")
    assert server.wrong("/api/view", variant="horde", books=ids["atomic"]) == (400, "bad-request")
    assert server.wrong("/lichess", book=ids["atomic"]) == (400, "bad-request")
    assert server.get("/lichess", variant="atomic", book=ids["atomic"])["moves"]
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    atomic = server.get("/chessdb", action="queryall", json=1, board=fen, variant="atomic")["moves"]
    assert {move["uci"] for move in atomic} == {move["uci"] for move in server.get("/lichess", variant="atomic", moves=50)["moves"]}
    assert [move["uci"] for move in server.get("/chessdb", action="queryall", json=1, board=fen)["moves"]] == ["d2d4"]


def test_books_of_one_variant_need_no_name_on_the_page(explore, built, tabiya):
    server = explore(built / "horde.bin", "--variant", "horde")
    view = server.get("/api/view")
    assert type(after("horde"))(view["fen"]) == after("horde") and view["books"][0]["found"]
    assert server.get("/api/position")["fen"] == view["fen"]
    # Programs that name no variant mean standard chess.
    status, _, body = server.raw("GET", "/lichess")
    assert (status, json.loads(body)["error"]) == (400, "variant: no book is of chess: the books are of horde")
    # A count file says what it holds.
    assert tabiya("build", built / "horde.pgn", "--variant", "horde", "-o", "horde.parquet").returncode == 0
    counts = explore("horde.parquet", built / "chess.bin")
    assert [book.get("variant") for book in counts.get("/api/books")["books"]] == ["horde", None]
    assert counts.get("/lichess", variant="horde")["source"] == "games"
    assert counts.get("/api/view")["books"][0]["name"] == "chess.bin"


def test_books_of_other_rules_are_refused_or_named(explore, tabiya, tmp_path):
    (tmp_path / "games.pgn").write_text('[Result "1-0"]\n\n1. e4 e5 1-0\n')
    for name in ("a.ctg", "a.abk", "a.kob"):
        assert tabiya("build", "games.pgn", "--min-games", "1", "-o", name).returncode == 0
        done = tabiya("explore", "--no-open", "--variant", "atomic", name)
        assert done.returncode == 3 and b"books of this format hold chess, not atomic" in done.stderr, done.stderr
    # The moves of a `.bin` show whose rules they obey.
    (tmp_path / "chess.pgn").write_text('[Result "1/2-1/2"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. O-O d5 5. exd5 Nxd5 6. Nxe5 1/2-1/2\n')
    assert tabiya("build", "chess.pgn", "--min-games", "1", "-o", "chess.bin").returncode == 0
    server = explore("chess.bin", "--variant", "antichess")
    server.end()
    assert b"chess.bin: its moves obey the rules of chess, not of antichess" in server.process.stderr.peek()
    board, line = BOARDS["horde"]
    server = explore(book_of(board(), line, tmp_path / "horde.bin"))
    server.end()
    assert b"horde.bin: its moves obey the rules of horde, not of chess" in server.process.stderr.peek()
    assert b"write chess, or one of atomic" in tabiya("explore", "--variant", "shogi", "a.ctg").stderr


def test_weights_of_drops_are_edited_and_edits_taken_back(explore, tabiya, drops):
    server = explore("--edit", "--variant", "crazyhouse", drops)
    play = "e2e4 d7d5 e4d5 d8d5 b1c3 d5d2 c1d2".split()

    def weights():
        return {move["uci"]: move["weight"] for move in json.loads(tabiya("show", drops, "--variant", "crazyhouse", "--moves", " ".join(play), "--json").stdout)["moves"]}

    assert weights() == {"P@b4": 1}
    status, answer = server.edit(play=play, move="P@b4", op="set", value=9, expect={"weight": 1})
    assert (status, answer["before"], answer["after"]) == (200, {"weight": 1}, {"weight": 9})
    assert answer["play"] == play and answer["note"] == "after 1. e4 d5 2. exd5 Qxd5 3. Nc3 Qxd2+ 4. Bxd2"
    assert server.edit(play=play, move="P@b4", op="set", value=5, expect={"weight": 1})[0] == 409
    assert server.edit(play=play, move="P@b8", op="add", value=5, expect=None)[1]["code"] == "illegal-move"
    assert server.edit(play=play, move="N@e4", op="add", value=5, expect=None)[1]["code"] == "illegal-move"
    assert server.edit(play=play, move="P@g3", op="add", value=5, expect=None)[0] == 200
    assert weights() == {"P@b4": 9, "P@g3": 5}
    assert {move["uci"] for move in server.get("/lichess", variant="crazyhouse", play=",".join(play))["moves"]} == {"P@b4", "P@g3"}
    for left in ({"P@b4": 9}, {"P@b4": 1}):
        status, answer = server.post("/api/undo", {"book": 0})
        assert status == 200 and answer["play"] == play and weights() == left
    done = tabiya("edit", drops, "--variant", "crazyhouse", "--redo")
    assert done.returncode == 0 and b"4. Bxd2, redone" in done.stdout and b"@b4" in done.stdout, done


def test_a_king_by_promotion_is_added(explore, tmp_path):
    fen = "8/P6k/8/8/8/8/8/8 w - - 0 1"
    board = chess.variant.AntichessBoard(fen)
    entry = ENTRY.pack(chess.polyglot.zobrist_hash(board), code(board, chess.Move.from_uci("a7a8q")), 3, 0)
    (tmp_path / "anti.bin").write_bytes(entry)
    server = explore("--edit", "--variant", "antichess", "anti.bin")
    assert {move["promotion"] for move in server.get("/api/view", start=fen)["legal"]} == set("qrbnk")
    assert server.edit(start=fen, move="a7a8k", op="add", value=4, expect=None)[0] == 200
    assert held(tmp_path / "anti.bin")[chess.polyglot.zobrist_hash(board), 5 << 12 | chess.A7 << 6 | chess.A8] == 4
    status, answer = server.post("/api/undo", {"book": 0})
    assert status == 200 and answer["start"] == fen and (tmp_path / "anti.bin").read_bytes() == entry


def test_lines_and_games_are_read_under_the_rules_of_the_variant(explore, built):
    server = explore("--config", built / "tabiya.toml")
    read = server.get("/api/read", variant="crazyhouse", text="1. e4 d5 2. exd5 Qxd5 3. @e4")
    assert read["play"] == "e2e4 d7d5 e4d5 d8d5 P@e4".split()
    assert server.wrong("/api/read", text="1. e4 d5 2. exd5 Qxd5 3. @e4") == (400, "illegal-move")
    for fen, is_fen in [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/Qn w KQkq - 0 1", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Qn] w KQkq - 0 1"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[-] w KQkq - 0 1", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"),
    ]:
        assert server.get("/api/read", variant="crazyhouse", text=fen)["start"] == is_fen
    given = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 +2+0"
    assert " 1+3 " in server.get("/api/read", variant="3check", text=given)["start"]
    assert server.get("/api/openings", q="najdorf", variant="atomic") == {"openings": []}
    assert server.get("/api/openings", q="najdorf")["openings"]

    def games(text, **more):
        return server.post("/api/read", {"text": text, **more})

    atomic = '[White "A"]\n[Variant "Atomic"]\n\n1. Nf3 f6 2. e3 d5 3. Ng5 fxg5 4. Qh5+ *\n'
    status, answer = games(atomic, variant="atomic")
    assert status == 200 and answer["games"][0]["san"][-1] == "Qh5+" and answer["games"][0]["error"] is None
    assert games(atomic, variant="threeCheck")[1]["error"] == 'the game is "Atomic", not Three-check'
    assert games(atomic)[1]["error"] == 'the game is "Atomic"'
    # What does not say its variant is of that of the page.
    assert games("1. d4 d5 2. e4 dxe4 *\n", variant="antichess")[1]["games"][0]["san"] == ["d4", "d5", "e4", "dxe4"]
    line = "e2e4,d7d5,e4d5,d8d5,P@e4"
    _, _, pgn = server.raw("GET", f"/api/pgn?variant=crazyhouse&play={line.replace('@', '%40')}")
    assert b'[Variant "Crazyhouse"]' in pgn and games(pgn.decode(), variant="crazyhouse")[1]["games"][0]["play"] == line.split(",")


def test_listed_games_are_of_one_variant(explore, built, tmp_path):
    mixed = tmp_path / "mixed.pgn"
    mixed.write_text((built / "atomic.pgn").read_text() + '[Event "S"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n')
    server = explore(built / "atomic.bin", "--variant", "atomic", "--games", mixed)
    assert server.get("/api/games")["total"] == GAMES
    assert len(server.get("/lichess", variant="atomic", topGames=15)["topGames"]) == min(GAMES, 15)
    server.end()
    # The start of standard chess has the same key.
    server = explore("--config", built / "tabiya.toml", "--games", mixed)
    assert server.get("/api/games")["total"] == 1
    assert server.wrong("/api/games", variant="atomic") == (400, "bad-request")
    assert server.get("/lichess", variant="atomic")["topGames"] == []
    server.end()
    assert f"{GAMES} of {GAMES + 1} games are not of chess: they are left out" in server.process.stderr.peek().decode()


def test_the_engine_is_told_the_variant(explore, scripted_exe, built, tmp_path):
    offer = "option name UCI_Variant type combo default chess var chess var atomic"
    words = json.dumps(["--record", str(tmp_path / "heard"), "--option", offer, "--bestmove", "g1f3", "--pid-file", str(tmp_path / "pid")])
    config = tmp_path / "engine.toml"
    config.write_text(f"engine = {json.dumps(str(scripted_exe))}\nengine-arg = {words}\n" + (built / "tabiya.toml").read_text())
    server = explore("--config", config)
    connection, events = server.listen("/api/engine", variant="atomic", play="g1f3,f7f6")
    assert events.get(timeout=60)[0] in ("info", "done")
    connection.close()
    heard = (tmp_path / "heard").read_text()
    assert "setoption name UCI_Variant value atomic\n" in heard
    assert "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves g1f3 f7f6\n" in heard
    connection, events = server.listen("/api/engine", variant="horde")
    name, data = events.get(timeout=60)
    assert (name, data["error"]) == ("error", "the engine does not offer horde: name one that plays it with --engine")
    connection.close()
    (tmp_path / "heard").unlink()
    connection, events = server.listen("/api/engine")
    eventually("the engine searches", lambda: "go " in (tmp_path / "heard").read_text() if (tmp_path / "heard").exists() else False)
    assert "UCI_Variant" not in (tmp_path / "heard").read_text()
    connection.close()
