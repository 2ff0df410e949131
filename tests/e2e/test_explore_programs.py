"""`tabiya explore --open-api` and `--playable`: what programs written for Lichess's explorer and for chessdb.cn get with the
address alone changed. Their requests are written after those of lichess-bot, BookBuilder, En Croissant and ShashChess."""

import json
import random
from urllib.parse import quote, urlencode

import berserk
import chess
import pytest
import requests

from client import HANG
from polyglot_writer import Book
from random_games import FORMATS, WEIGHTED, random_games

GAMES = random_games(60, seed=7, most_plies=20)
START = chess.STARTING_FEN
SITE = {"Origin": "https://lichess.org", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
OPEN = ("/lichess", "/masters", "/master", "/chessdb?action=queryall&board=startpos", "/cdb.php?action=querypv&board=startpos")


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


def boards(count=40, plies=8):
    """Positions of the games, the usual start first."""
    draw = random.Random(5)
    found = [chess.Board()]
    while len(found) < count:
        game = draw.choice([game for game in GAMES if game.fen == START])
        board = chess.Board()
        for move in game.moves[: draw.randrange(plies)]:
            board.push(move)
        found.append(board)
    return found


def address(server):
    return f"http://{server.host}:{server.port}"


# Who may ask


def test_open_answers_need_no_token_and_any_site_may_read_them(explore, small_book):
    server = explore("--open-api", "--edit", small_book)
    for path in OPEN:
        for headers in ({}, SITE, {"Origin": "tauri://localhost"}, {"Origin": "null"}):
            status, answered, body = server.raw("GET", path, headers=headers, token=False)
            assert status == 200 and body, path
            assert (answered["Access-Control-Allow-Origin"], answered["Cross-Origin-Resource-Policy"]) == ("*", "cross-origin")
        # A browser asks first whether it may ask, of a page on the network also whether it may ask this machine.
        asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization", "Access-Control-Request-Private-Network": "true"}
        status, answered, body = server.raw("OPTIONS", path, headers=SITE | asked, token=False)
        assert (status, body, answered["Access-Control-Allow-Origin"], answered["Access-Control-Allow-Private-Network"]) == (204, b"", "*", "true")
        assert "authorization" in answered["Access-Control-Allow-Headers"].lower()
        # Errors are read too.
        wrong = "/lichess?play=e2e5"
        assert server.raw("GET", wrong, headers=SITE, token=False)[0] == 400
        assert server.raw("GET", wrong, headers=SITE, token=False)[1]["Access-Control-Allow-Origin"] == "*"
        # Whatever changes something is refused, and names that were made to lead here.
        assert server.raw("POST", path, b"{}", SITE | {"Content-Type": "application/json"}, token=False)[0] == 403
        assert server.raw("GET", path, headers={"Host": f"evil.example:{server.port}"}, token=False)[0] == 403
    edit = json.dumps({"book": 0, "play": [], "move": "d2d4", "op": "set", "value": 1, "expect": {"weight": 10}})
    for path in ("/", "/api/books", "/api/view", "/api/position", "/api/engine", "/api/events", "/api/game", "/api/settings", "/masters/x"):
        status, answered, _ = server.raw("GET", path, token=False)
        assert status == 401 and "Access-Control-Allow-Origin" not in answered, path
        status, answered, _ = server.raw("GET", path, headers=SITE, token=False)
        assert status == 403 and "Access-Control-Allow-Origin" not in answered, path
    assert server.raw("POST", "/api/edit", edit, {"Content-Type": "application/json"}, token=False)[0] == 401
    assert server.moves()["d2d4"]["weight"] == 10


def test_without_the_flag_and_for_other_machines_nothing_is_open(explore, tabiya, small_book):
    server = explore(small_book)
    for path in OPEN:
        assert server.raw("GET", path, token=False)[0] == 401
        status, answered, _ = server.raw("GET", path)
        assert status == 200 and "Access-Control-Allow-Origin" not in answered
        assert server.raw("GET", path, headers=SITE)[0] == 403
    for listen in ("0.0.0.0:0", "[::]:0"):
        done = tabiya("explore", "--no-open", "--open-api", "--listen", listen, small_book)
        assert done.returncode == 2 and b"--open-api" in done.stderr and not done.stdout, done


def test_a_player_needs_a_name_and_a_colour_as_on_lichess(explore, small_book):
    server = explore(small_book)
    for query in ("", "?player=x", "?color=white", "?player=&color=white", "?player=x&color=red"):
        status, _, body = server.raw("GET", f"/player{query}")
        assert (status, json.loads(body)["code"]) == (400, "bad-request"), query
    # Books know no players: nobody gets everybody's games.
    assert server.wrong("/player", player="x", color="black") == (400, "bad-request")


def test_lists_are_read_in_all_their_forms(explore, tabiya, tmp_path):
    head = '[Event "x"]\n[Result "1-0"]\n[TimeControl "{0}"]\n[WhiteElo "{1}"]\n[BlackElo "{1}"]\n\n1. {2} 1-0\n\n'
    played = [("180+2", 1900, "e4"), ("60", 2300, "d4"), ("600", 2600, "c4"), ("-", 1100, "f4")]
    (tmp_path / "games.pgn").write_text("".join(head.format(*game) for game in played))
    assert tabiya("build", "--by", "speed,rating", "-o", "by.parquet", "games.pgn").returncode == 0
    server = explore("by.parquet")
    sans = lambda query: {move["san"] for move in json.loads(server.raw("GET", f"/lichess?{query}")[2])["moves"]}
    for name, values, expected in (("speeds", ("blitz", "bullet"), {"e4", "d4"}), ("ratings", ("1800", "2500"), {"e4", "c4"})):
        for query in (f"{name}={','.join(values)}", *("&".join(f"{key}={value}" for value in values) for key in (name, f"{name}[]", f"{name}%5B%5D"))):
            assert sans(query) == expected, query
    assert server.wrong("/lichess?speeds[]=blitz&speeds[]=fast") == (400, "bad-request")


# Only what the adapter would play


@pytest.mark.parametrize("name", FORMATS)
def test_only_moves_that_the_adapter_would_play_are_answered(explore, sources, name):
    server = explore("--playable", sources[name])
    whole = explore(sources[name])
    left_out = 0
    for board in boards():
        play = ",".join(move.uci() for move in board.move_stack)
        shown = server.get("/api/view", play=play)["books"][0]["moves"]
        board.chess960 = True
        playable = {board.uci(chess.Move.from_uci(move["uci"])) for move in shown if move["chance"] > 0}
        all_of_it = whole.get("/lichess", play=play, moves=100)
        answer = server.get("/lichess", play=play, moves=100)
        assert {move["uci"] for move in answer["moves"]} <= playable
        assert [move for move in all_of_it["moves"] if move["uci"] in playable] == answer["moves"]
        # The games of the position stay those of the position.
        assert all(answer[key] == all_of_it[key] for key in ("white", "draws", "black"))
        left_out += len(all_of_it["moves"]) - len(answer["moves"])
        board.chess960 = False
        played = {move["uci"] for move in shown if move["chance"] > 0}
        for action in ("query", "querybest"):
            said = server.get("/chessdb", action=action, board=board.fen(), json=1)
            assert said == {"status": "nobestmove"} if not played else said["move"] in played
        known = server.get("/chessdb", action="queryall", board=board.fen(), json=1, showall=1).get("moves", [])
        assert {move["uci"] for move in known} == played and all(move["rank"] > 0 for move in known)
    assert name in ("abk", "kob", *WEIGHTED) or left_out > 0


def test_marks_and_colours_of_a_book_keep_its_moves_from_programs(explore, tabiya, sources, tmp_path):
    for file in sources["ctg"].parent.glob("*.ct?"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    book = tmp_path / sources["ctg"].name
    first = explore(book).get("/lichess")["moves"]
    bad, worse = first[0]["san"], first[1]["san"]
    assert tabiya("edit", book, "--set", f"{bad}=red", "--set", f"{worse}=??").returncode == 0
    answer = explore("--playable", book).get("/masters")
    assert not {bad, worse} & {move["san"] for move in answer["moves"]} and answer["moves"]
    assert {bad, worse} <= {move["san"] for move in explore(book).get("/masters")["moves"]}


def test_books_of_a_colour_answer_for_that_colour(explore, tmp_path):
    Book().line("e2e4 e7e5", weight=10).write(tmp_path / "white.bin")
    Book().line("e2e4 c7c5", weight=10).line("d2d4", weight=1).write(tmp_path / "black.bin")
    Book().line("e2e4 e7e6", weight=10).line("c2c4", weight=1).write(tmp_path / "both.bin")
    (tmp_path / "tabiya.toml").write_text("book = 'both.bin'\nbook-white = 'white.bin'\nbook-black = 'black.bin'\n")
    sans = lambda server, **query: [move["san"] for move in server.get("/lichess", **query)["moves"]]
    server = explore("--playable")
    assert (sans(server), sans(server, play="e2e4")) == (["e4"], ["c5"])
    (tmp_path / "tabiya.toml").write_text("".join(f"[[book]]\nfile = '{color}.bin'\ncolor = '{color}'\n" for color in ("white", "black")))
    server = explore("--playable")
    assert (sans(server), sans(server, play="e2e4")) == (["e4"], ["c5"])
    # The starter book is asked only if there is no other.
    assert sans(server, play="d2d4") == []
    (tmp_path / "tabiya.toml").unlink()
    assert sans(explore("--playable"), play="d2d4")


# lichess-bot, with `https://explorer.lichess.ovh` and `https://www.chessdb.cn/cdb.php` replaced


class Bot:
    def __init__(self, server):
        self.site, self.session = address(server), requests.Session()

    def get(self, path, params, stream=False):
        return self.session.get(path, timeout=2, params=params, stream=stream).json()

    def explorer_move(self, board, source, sort="winrate", min_games=1):
        params = {"fen": board.fen(), "moves": 100}
        if source == "player":
            color = "white" if board.turn else "black"
            response = self.get(f"{self.site}/player", params | {"player": "bot", "variant": "standard", "recentGames": 0, "color": color}, True)
        elif source == "masters":
            response = self.get(f"{self.site}/masters", params)
        else:
            response = self.get(f"{self.site}/lichess", params | {"variant": "standard", "topGames": 0, "recentGames": 0})
        moves = []
        for move in response["moves"]:
            games = move["white"] + move["black"] + move["draws"]
            winrate = (move["white"] + move["draws"] * 0.5) / games
            winrate = winrate if board.turn else 1 - winrate
            if games >= min_games:
                moves.append((winrate, games, move["uci"]) if sort == "winrate" else (games, winrate, move["uci"]))
        return max(moves)[2] if moves else None

    def chessdb_move(self, board, quality, min_depth=1):
        action = {"best": "querypv", "good": "querybest", "all": "query"}[quality]
        data = self.get(f"{self.site}/chessdb", {"action": action, "board": board.fen(), "json": 1})
        if data["status"] != "ok":
            return None
        if quality != "best":
            return data["move"]
        return data["pv"][0] if data["depth"] >= min_depth else None


@pytest.mark.parametrize("name", [*FORMATS, "parquet"])
def test_lichess_bot_plays_what_the_adapter_would(explore, tabiya, sources, name, tmp_path):
    path = sources.get(name, tmp_path / "a.parquet")
    if name == "parquet":
        assert tabiya("build", sources["bin"].parent / "games.pgn", "-o", path).returncode == 0
    server = explore("--open-api", "--playable", path)
    bot = Bot(server)
    met = 0
    for board in boards(25):
        shown = server.get("/api/view", start=board.fen())["books"][0]["moves"]
        played = {move["uci"] for move in shown if move["chance"] > 0}
        found = [bot.explorer_move(board, source, sort) for source in ("masters", "lichess") for sort in ("winrate", "games_played")]
        found += [bot.chessdb_move(board, quality) for quality in ("good", "all")]
        assert bot.chessdb_move(board, "best") is None
        for uci in filter(None, found):
            # Castling is the king taking its rook there.
            move = board.parse_uci(uci)
            assert move.uci() in played, (uci, board.fen())
            met += 1
        assert found[-1] is not None or not played
    assert met > 50


def test_lichess_bot_gets_the_games_of_its_player(explore, small_book, tmp_path):
    game = '[White "{}"]\n[Black "x"]\n[Result "1-0"]\n\n1. {} 1-0\n\n'
    (tmp_path / "games.pgn").write_text("".join(game.format(*one) for one in [("bot", "d4"), ("another bot", "e4"), ("another bot", "e4")]))
    bot = Bot(explore("--open-api", small_book, "--games", "games.pgn"))
    assert [bot.explorer_move(chess.Board(), source, "games_played") for source in ("player", "lichess", "masters")] == ["d2d4", "e2e4", "e2e4"]


# BookBuilder


def test_bookbuilder_gets_shares_of_all_games(explore, sources):
    server = explore("--open-api", sources["ctg"])
    for board in boards(10, plies=3):
        url = f"{address(server)}/lichess?variant=standard&speeds=blitz,rapid,classical,correspondence&ratings=1600,1800,2000,2200,2500&"
        url += f"recentGames=0&topGames=0&moves=50&play=&fen={board.fen()}"
        stats = requests.get(url, timeout=HANG).json()
        total = stats["white"] + stats["draws"] + stats["black"]
        shares = [(move["white"] + move["draws"] + move["black"]) / total for move in stats["moves"]]
        assert abs(sum(shares) - 1) < 1e-9 and all(board.parse_san(move["san"]) for move in stats["moves"])


# En Croissant


def test_en_croissant_asks_by_fetch(explore, sources):
    server = explore("--open-api", sources["kob"])
    headers = {"Origin": "http://tauri.localhost"}
    board = chess.Board()
    for options in (
        {"fen": START, "variant": "standard", "speeds": "bullet,blitz,rapid,classical,correspondence", "ratings": "1000,1200,1400,1600,1800,2000,2200,2500", "moves": "12", "topGames": "4", "recentGames": "4"},
        {"fen": START},
    ):
        status, _, body = server.raw("GET", f"/lichess?{urlencode(options)}", headers=headers, token=False)
        data = json.loads(body)
        assert status == 200 and {"white", "black", "draws", "moves"} <= set(data)
        for move in data["moves"]:
            assert board.parse_san(move["san"]) and all(isinstance(move[key], int) for key in ("white", "draws", "black"))
    # The masters' address is put together without any escapes but those of the browser.
    masters = f"/masters?fen={START}&moves=12&topGames=15".replace(" ", "%20")
    assert json.loads(server.raw("GET", masters, headers=headers, token=False)[2])["moves"]


def test_en_croissant_reads_chessdb(explore, tabiya, tmp_path):
    """With evaluations beside the book: scores for the side to move, and the best line."""
    path = Book().line("e2e4 e7e5 g1f3 b8c6", weight=10).line("e2e4 c7c5", weight=5).line("d2d4", weight=20).line("f2f3", weight=0).write(tmp_path / "a.bin")
    lines = []
    for moves, score in (("e2e4", -30), ("d2d4", -10), ("e2e4 e7e5", 25), ("e2e4 c7c5", 40), ("e2e4 e7e5 g1f3", -25)):
        board = chess.Board()
        for move in moves.split():
            board.push_uci(move)
        lines.append(f"{board.epd()} ce {score}; acd 20;\n")
    (tmp_path / "a.epd").write_text("".join(lines))
    assert tabiya("import", f"{path}.evals", tmp_path / "a.epd").returncode == 0
    server = explore("--open-api", path)

    def ask(action, board, **more):
        query = urlencode({"action": action, "json": "1", "board": board.fen()} | more)
        status, headers, body = server.raw("GET", f"/chessdb?{query}", headers={"Origin": "tauri://localhost"}, token=False)
        assert status == 200 and headers["Content-Type"] == "application/json"
        return json.loads(body)

    board = chess.Board()
    answer = ask("queryall", board)
    assert answer["status"] == "ok"
    assert [(move["san"], move["score"], move["rank"], move["note"]) for move in answer["moves"]] == [
        ("e4", 30, 2, "! (02-02)"), ("d4", 10, 1, "* (00-00)"), ("f3", "??", 0, "? (00-00)"),
    ]  # fmt: skip
    assert [move.get("winrate") for move in answer["moves"]] == ["52.27", "50.76", None]
    best = ask("querypv", board)
    assert best == {"status": "ok", "score": 30, "depth": 4, "pv": ["e2e4", "e7e5", "g1f3", "b8c6"], "pvSAN": ["e4", "e5", "Nf3", "Nc6"]}
    assert best["pv"][0] == answer["moves"][0]["uci"]
    board.push_san("e4")
    assert [(move["uci"], move["score"]) for move in ask("queryall", board)["moves"]] == [("e7e5", -25), ("c7c5", -40)]
    assert ask("queryscore", board) == {"status": "ok", "eval": -25}
    whole = ask("queryall", board, showall=1)["moves"]
    assert {move["uci"] for move in whole} == {move.uci() for move in board.legal_moves}
    assert all((move["score"], move["note"]) == ("??", "? (??-??)") for move in whole[2:])
    board.push_san("a6")
    assert ask("queryall", board) == ask("querypv", board) == ask("queryscore", board) == {"status": "unknown"}
    assert ask("querybest", board) == {"status": "nobestmove"}
    assert ask("queryall", chess.Board("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")) == {"status": "checkmate"}
    assert ask("queryall", chess.Board("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")) == {"status": "stalemate"}
    for query, word in (("action=queryall&board=x", "invalid board"), ("action=queryall", "invalid parameters"), ("action=store&board=startpos", "invalid parameters"), ("", "invalid parameters")):
        assert server.raw("GET", f"/chessdb?{query}", token=False)[2].decode() == word
        assert json.loads(server.raw("GET", f"/chessdb?{query}&json=1", token=False)[2]) == {"status": word}


def test_chessdb_scores_mates_by_their_plies(explore, tabiya, tmp_path):
    line = "f2f3 e7e5 g2g4 d8h4"
    path = Book().line(line, weight=10).write(tmp_path / "a.bin")
    board = chess.Board()
    for move in line.split()[:3]:
        board.push_uci(move)
    (tmp_path / "a.epd").write_text(f"{board.epd()} dm 1; acd 20;\n")
    assert tabiya("import", f"{path}.evals", tmp_path / "a.epd").returncode == 0
    board.pop()
    answer = explore("--open-api", path).get("/chessdb", action="queryall", board=board.fen(), json=1)
    assert [(move["uci"], move["score"]) for move in answer["moves"]] == [("g2g4", -29998)] and "winrate" not in answer["moves"][0]


# ShashChess


def shash_moves(text, min_rank=0):
    moves = {}
    for item in text.strip("\0").split("|"):
        fields = dict(field.split(":", 1) for field in item.split(",")) if ":" in item else {}
        if "move" not in fields or int(fields["rank"]) < min_rank:
            continue
        moves[fields["move"]] = (int(fields["score"]) if "score" in fields else None, round(float(fields["winrate"]) * 10) if "winrate" in fields else None)
    return moves


@pytest.mark.parametrize("name", FORMATS)
def test_shashchess_reads_text(explore, sources, name):
    server = explore("--open-api", sources[name])
    for board in boards(10):
        fen = board.fen().replace(" ", "_")
        text = server.raw("GET", f"/cdb.php?action=queryall&board={quote(fen)}", token=False)[2].decode()
        shown = {move["uci"]: move for move in server.get("/api/view", start=board.fen())["books"][0]["moves"]}
        found = shash_moves(text)
        assert set(found) == set(shown)
        assert set(shash_moves(text, 1)) == {uci for uci, move in shown.items() if move["chance"] > 0}
        for uci, (score, winrate) in found.items():
            expected = shown[uci]["score"]
            assert score is None and (winrate is None if expected is None else abs(winrate - 1000 * expected) < 1)
        data = requests.get(f"{address(server)}/lichess?fen={fen}", timeout=HANG).json()
        assert {move["san"] for move in data["moves"]} <= {board.san(chess.Move.from_uci(uci)) for uci in shown}


# berserk


def test_berserk_needs_no_token(explore, sources):
    server = explore("--open-api", sources["ctg"])
    ask = berserk.Client(explorer_url=address(server)).opening_explorer
    board = chess.Board()
    for answer in (ask.get_lichess_games(), ask.get_masters_games()):
        assert answer["moves"] and all(board.parse_san(move["san"]) for move in answer["moves"])
    assert ask.get_lichess_games(speeds=["blitz", "rapid"], ratings=["2000", "2200"])["moves"]
