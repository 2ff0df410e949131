"""`tabiya explore --games`: the games of a position, on the page's interface and Lichess's, against python-chess."""

import functools
import gzip
import io
import json
import random
from collections import defaultdict
from urllib.parse import urlencode

import berserk
import chess
import chess.pgn
import pytest

import cbh_writer
import scid_writer
from counted_games import WHOLE, CountedGames, Facts
from conftest import not_windows
from polyglot_writer import Book, key
from random_games import pgn, random_games

START = chess.STARTING_FEN
PLIES, PAGE = 50, 30


@functools.cache
def made():
    return random_games(400, seed=23, most_plies=70, mixed=True)


def years(date):
    return tuple(int(part) if part.isdigit() else 0 for part in date.split("."))


class Known:
    """The games of each position by their keys: the number of the game, and its first move there."""

    def __init__(self, games):
        self.games = games
        self.of = defaultdict(dict)
        self.boards = {}
        for number, game in enumerate(games):
            board = chess.Board(game.fen, chess960=game.chess960)
            for move in game.moves[:PLIES]:
                at = key(board)
                self.boards.setdefault(at, board.copy(stack=False))
                self.of[at].setdefault(number, move)
                board.push(move)
            # The position after the last of them, with no move.
            at = key(board)
            self.boards.setdefault(at, board.copy(stack=False))
            self.of[at].setdefault(number, None)

    def strength(self, number):
        head = self.games[number].head
        return int(head.get("WhiteElo", 0)) + int(head.get("BlackElo", 0))

    def date(self, number):
        return years(self.games[number].head["Date"])

    def rank(self, number):
        return self.strength(number), self.date(number)


@pytest.fixture(scope="module")
def known():
    return Known(made())


@pytest.fixture
def files(tmp_path):
    """The games in two PGN files, and a book with a name of its own."""
    half = len(made()) // 2
    for name, some in (("one.pgn", made()[:half]), ("two.pgn", made()[half:])):
        (tmp_path / name).write_text(pgn(some), encoding="utf-8")
    return Book().line("e2e4 e7e5", weight=3).write(tmp_path / "book.bin"), tmp_path / "one.pgn", tmp_path / "two.pgn"


def number_of(line):
    return int(line["event"].removeprefix("Game "))


def test_the_games_of_each_position_are_found(explore, known, files):
    book, *games = files
    server = explore(book, "--games", *games)
    several = ended = 0
    for at, played in known.of.items():
        board = known.boards[at]
        if len(played) == 1 and at % 20:
            continue
        answer = server.get("/api/games", start=board.fen(), limit=500)
        assert answer["total"] == answer["listed"] == len(answer["games"]) == len(played)
        for line in answer["games"]:
            number = number_of(line)
            game, move = made()[number], played[number_of(line)]
            assert line["uci"] == (move and board.uci(move)) and line["san"] == (move and board.san(move))
            assert (line["white"]["name"], line["black"]["name"]) == (game.head["White"], game.head["Black"])
            for color, tag in (("white", "WhiteElo"), ("black", "BlackElo")):
                assert line[color]["rating"] == (int(game.head[tag]) if tag in game.head else None)
            assert (line["date"], line["result"]) == (game.head["Date"], game.result)
        numbers = [number_of(line) for line in answer["games"]]
        assert sorted(numbers) == sorted(played)
        assert [known.rank(number) for number in numbers] == sorted(map(known.rank, numbers), reverse=True)
        several += len(played) > 1
        ended += None in played.values()
        if len(played) <= PAGE:
            continue
        # Pages of them, and the latest.
        paged = [line for first in range(0, len(played), 20) for line in server.get("/api/games", start=board.fen(), **{"from": first}, limit=20)["games"]]
        assert paged == answer["games"] and server.get("/api/games", start=board.fen())["games"] == paged[:PAGE]
        latest = server.get("/api/games", start=board.fen(), order="latest", limit=40, **{"from": 10})["games"]
        by_date = sorted(numbers, key=lambda number: (known.date(number), known.strength(number)), reverse=True)[10:50]
        assert [known.date(number_of(line)) for line in latest] == [known.date(number) for number in by_date]
        # Filters choose among all of them.
        name = made()[numbers[-1]].head["White"]
        chosen = [number for number in numbers if name.lower() in made()[number].head["White"].lower() or name.lower() in made()[number].head["Black"].lower()]
        found = server.get("/api/games", start=board.fen(), player=name.upper(), limit=500)
        assert [number_of(line) for line in found["games"]] == chosen and (found["total"], found["listed"]) == (len(played), len(chosen))
        year = sorted(known.date(number) for number in numbers)[0][0]
        old = [number for number in numbers if 0 < known.date(number)[0] <= year]
        if year:
            assert [number_of(line) for line in server.get("/api/games", start=board.fen(), until=str(year), limit=500)["games"]] == old
    assert several > 50 and ended > 5
    assert server.get("/api/games", start="8/8/4k3/8/8/4K3/8/8 w - - 0 1") == {"total": 0, "listed": 0, "games": []}
    assert server.raw("GET", "/api/games?order=x")[0] == 400


def test_a_game_is_shown_and_played(explore, known, files):
    book, *games = files
    server = explore(book, "--games", *games)
    for at in list(known.of)[:40]:
        board = known.boards[at]
        line = server.get("/api/games", start=board.fen())["games"][0]
        game = made()[number_of(line)]
        for path in (f"/masters/pgn/{line['id']}", f"/master/pgn/{line['id']}", f"/api/game?id={line['id']}"):
            status, headers, text = server.raw("GET", path)
            assert (status, headers["Content-Type"]) == (200, "application/x-chess-pgn")
        read = chess.pgn.read_game(io.StringIO(text.decode()))
        assert read.headers["Event"] == game.head["Event"] and list(read.mainline_moves()) == game.moves
        status, answer = server.post("/api/read", {"text": text.decode(), "at": board.fen()})
        assert status == 200 and len(answer["games"]) == 1
        played = answer["games"][0]
        assert (played["white"], played["black"], played["result"]) == (game.head["White"], game.head["Black"], game.result)
        assert bool(played["error"]) == bool(game.broken)
        replayed = chess.Board(played["start"], chess960=game.chess960)
        for uci in played["play"][: played["ply"]]:
            replayed.push_uci(uci)
        assert key(replayed) == at and played["play"][played["ply"]] == line["uci"]
    for bad in ("00000001", "zzzzzzzz", "x", "../../etc/passwd", "%2e%2e", "é"):
        assert server.raw("GET", f"/masters/pgn/{bad.encode().hex() if bad == 'é' else bad}")[0] == 404, bad


def test_pasted_games_are_read(explore, small_book):
    server = explore(small_book)
    read = lambda text, **more: server.post("/api/read", {"text": text} | more)
    text = "1. e4 e5 {a comment} (1... c5 2. Nf3) 2. Nf3 $1 Nc6 *\n\n[Event \"x\"]\n[White \"A\"]\n\n1. d4 d5 1-0\n"
    status, answer = read(text, at=START)
    assert status == 200
    assert [(game["play"], game["result"], game["ply"]) for game in answer["games"]] == [(["e2e4", "e7e5", "g1f3", "b8c6"], "*", 0), (["d2d4", "d7d5"], "1-0", 0)]
    [variation] = answer["games"][0]["variations"]
    assert variation == {"of": None, "ply": 1, "play": ["c7c5", "g1f3"], "san": ["c5", "Nf3"]} and answer["games"][1]["variations"] == []
    assert read("1. e4 e5 2. Ke3")[1]["games"][0]["error"] and read("1. e4 e5 2. Ke3")[1]["games"][0]["play"] == ["e2e4", "e7e5"]
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    assert read(f'[SetUp "1"]\n[FEN "{fen}"]\n\n1. e4 Kd7 *')[1]["games"][0] | {"white": "", "black": "", "error": None} == {
        "white": "", "black": "", "event": "", "date": "????.??.??", "result": "*", "start": fen, "play": ["e2e4", "e8d7"], "san": ["e4", "Kd7"], "ply": None, "error": None, "cut": None, "left_out": 0, "variations": [],
    }  # fmt: skip
    assert len(read("1. e4 *\n\n[Event \"x\"]\n\n" * 500)[1]["games"]) == 501
    many = read("1. e4 *\n\n[Event \"x\"]\n\n" * 1300)[1]
    assert (len(many["games"]), many["total"]) == (1000, 1301)
    assert len(read("1. " + "Nf3 Nf6 Ng1 Ng8 " * 400)[1]["games"][0]["play"]) == 1000
    for bad in ({"text": "\0\1\2"}, {"text": "\0" * 1000}, {"text": "PK\3\4" + "x" * 50}, {}, {"text": "1. e4", "at": "x"}, {"text": "1. e4", "more": 1}):
        status, answer = server.post("/api/read", bad)
        assert status == 400 and answer["error"], (bad, answer)
    assert server.get("/api/read", text="najdorf", maybe=1) is None and server.get("/api/read", text="e4 c5", maybe=1)["play"] == ["e2e4", "c7c5"]
    assert server.raw("POST", "/api/read", b'"' + b"x" * (1 << 20) + b'"', {"Content-Type": "application/json"})[0] == 413


# The index


def test_an_index_is_made_once_and_again_when_games_change(explore, known, files, tmp_path):
    book, one, two = files
    index = tmp_path / "book.bin.games"
    server = explore(book, "--games", one, two)
    total = server.get("/api/games")["total"]
    before = index.stat()
    assert total == len(known.of[key(chess.Board())])
    server.end()
    server = explore(book, "--games", one, two)
    assert server.get("/api/games")["total"] == total and index.stat().st_mtime_ns == before.st_mtime_ns
    line = server.get("/api/games")["games"][0]
    # A file that has changed meanwhile is not read at the place of another game.
    with one.open("a") as file:
        file.write('[Event "Game 0"]\n[Date "2030.01.01"]\n\n1. e4 *\n')
    with two.open("a") as file:
        file.write("\n")
    status, _, body = server.raw("GET", f"/masters/pgn/{line['id']}")
    assert status == 500 and b"has changed" in body
    server.end()
    server = explore(book, "--games", one, two)
    assert server.get("/api/games")["total"] == total + 1
    assert server.raw("GET", f"/masters/pgn/{server.get('/api/games')['games'][0]['id']}")[0] == 200
    # A file that is named twice has its games once, and a folder has those of all its files.
    assert explore(book, "--games", one, one).get("/api/games")["total"] == explore(book, "--games", one).get("/api/games")["total"]
    (tmp_path / "folder" / "deeper").mkdir(parents=True)
    for number in range(40):
        (tmp_path / "folder" / ("deeper" if number % 2 else "") / f"{number}.pgn").write_text(f'[Event "Game {number}"]\n\n1. a4 {"a5 a6 b5 b6 c5"[3 * (number % 5):][:2]} *\n')
    server = explore(book, "--games", tmp_path / "folder")
    assert (server.get("/api/games")["total"], server.get("/api/games", play="a2a4,a7a5")["total"]) == (40, 8)
    for line in server.get("/api/games")["games"]:
        assert f'"Game {number_of(line)}"' in server.raw("GET", f"/masters/pgn/{line['id']}")[2].decode()
    # Other games are another index.
    assert explore(book, "--games", two).get("/api/games")["total"] < total


def test_a_damaged_or_cut_index_is_made_again(explore, files, tmp_path):
    book, one, _ = files
    index = tmp_path / "book.bin.games"
    explore(book, "--games", one).end()
    whole = index.read_bytes()
    for content in (whole[:100], whole[:-1], whole[:8] + b"\xff" * 60, whole[:16] + b"\xff" * 80 + whole[96:], whole[:104] + bytes(len(whole) - 104)):
        index.write_bytes(content)
        server = explore(book, "--games", one)
        assert server.get("/api/games")["games"] and index.read_bytes() == whole
        server.end()
    # Any byte that is another, wherever: of the head, of positions, of games, of names.
    for at in range(16, len(whole), len(whole) // 40):
        index.write_bytes(whole[:at] + bytes([255 - whole[at]]) + whole[at + 1 :])
        server = explore(book, "--games", one)
        assert index.read_bytes() == whole, at
        server.end()


def test_no_other_file_is_replaced(explore, tabiya, files, tmp_path):
    book, one, _ = files
    index = tmp_path / "book.bin.games"
    index.write_bytes(b"my games, by hand")
    done = tabiya("explore", "--no-open", book, "--games", one)
    assert done.returncode == 3 and b"book.bin.games" in done.stderr and b"not an index" in done.stderr
    assert index.read_bytes() == b"my games, by hand"
    (tmp_path / "c.pgn.gz").write_bytes(gzip.compress(one.read_bytes()))
    for bad, code in (("c.pgn.gz", 2), ("none.pgn", 3), ("book.bin", 3)):
        done = tabiya("explore", "--no-open", book, "--games", bad)
        assert done.returncode == code and bad.encode() in done.stderr, done


@not_windows
def test_where_the_index_cannot_be_kept_it_is_made_for_the_time(explore, files, tmp_path):
    book, one, _ = files
    # Where the index would be is a folder.
    (tmp_path / "books").mkdir()
    link = tmp_path / "books" / "a.bin"
    link.write_bytes(book.read_bytes())
    (tmp_path / "books" / "a.bin.games").symlink_to(tmp_path / "nowhere" / "index")
    server = explore(link, "--games", one)
    assert server.get("/api/games")["games"]
    server.end()
    assert b"the index of the games cannot be kept" in server.process.stderr.read()


def test_games_without_a_book_of_ones_own(explore, files, tmp_path):
    _, one, _ = files
    server = explore("--games", one)
    assert server.get("/api/books")["books"][0]["name"] == "starter book" and server.get("/api/games")["games"]
    assert (tmp_path / "one.pgn.games").exists()
    assert explore("book.bin").wrong("/api/games") == (404, "not-found")


# Databases


@pytest.mark.parametrize("end", ["cbh", "cbv", "si4", "si5"])
def test_games_of_a_database(explore, tabiya, tmp_path, end):
    games = random_games(60, seed=4, most_plies=30)
    games = [chess.pgn.read_game(io.StringIO(pgn([game]).replace('"Nn"', '"Nn, N"'))) for game in games]
    if end.startswith("si"):
        path = scid_writer.write(tmp_path / f"base.{end}", games)
    else:
        path = cbh_writer.write(tmp_path / "base.cbh", [(0, game) for game in games])
    if end == "cbv":
        archive = cbh_writer.pack(path)
        exported = tabiya("export", path).stdout
        for file in tmp_path.glob("base.cb[!v]"):
            file.unlink()
        path = archive
        assert tabiya("export", path).stdout == exported
    book = Book().line("e2e4", weight=3).write(tmp_path / "book.bin")
    text = tabiya("export", path).stdout.decode()
    exported = list(iter(lambda file=io.StringIO(text): chess.pgn.read_game(file), None))
    of = defaultdict(dict)
    for number, game in enumerate(exported):
        board = game.board()
        for move in game.mainline_moves():
            of[key(board)].setdefault(number, (board.copy(stack=False), move))
            board.push(move)
        of[key(board)].setdefault(number, (board.copy(stack=False), None))
    server = explore(book, "--games", path)
    shown = 0
    for played in of.values():
        board = next(iter(played.values()))[0]
        answer = server.get("/api/games", start=board.fen())
        assert answer["total"] == len(played)
        if len(played) > 3:
            continue
        assert sorted(line["uci"] or "" for line in answer["games"]) == sorted(move.uci() if move else "" for _, move in played.values())
        text = server.raw("GET", f"/masters/pgn/{answer['games'][0]['id']}")[2].decode()
        read = chess.pgn.read_game(io.StringIO(text))
        assert str(read) in {str(exported[number]) for number in played}
        shown += 1
    assert shown > 100


# Lichess's interface


def test_lichess_games(explore, tabiya, tmp_path):
    head = '[Event "{0}"]\n[Date "{1}"]\n[White "{2}"]\n[Black "B {0}"]\n[WhiteElo "{3}"]\n[BlackElo "2000"]\n[TimeControl "{4}"]\n[Result "{5}"]\n\n1. {6} {5}\n\n'
    played = [
        ("a", "2020.03.01", "Müller", 2400, "180+2", "1-0", "e4 e5"),
        ("b", "2021.??.??", "X", 2600, "15", "0-1", "e4 c5"),
        ("c", "2022.07.09", "Y", 2200, "600+5", "1/2-1/2", "d4 d5"),
        ("d", "????.??.??", "Z", 2500, "-", "*", "e4 e5"),
    ]
    (tmp_path / "games.pgn").write_text("".join(head.format(*game) for game in played), encoding="utf-8")
    assert tabiya("build", "games.pgn", "-o", "book.kob", "--min-games", "1").returncode == 0
    server = explore("--open-api", "book.kob", "--games", "games.pgn")
    client = berserk.Client(explorer_url=f"http://{server.host}:{server.port}").opening_explorer
    answer = client.get_lichess_games(top_games=2, recent_games=3)
    names = lambda games: [game["black"]["name"][2:] for game in games]
    assert (names(answer["topGames"]), names(answer["recentGames"])) == (["b", "d"], ["c", "b", "a"])
    first = answer["topGames"][0]
    assert first | {"id": ""} == {
        "uci": "e2e4", "id": "", "winner": "black", "speed": "ultraBullet", "white": {"name": "X", "rating": 2600},
        "black": {"name": "B b", "rating": 2000}, "year": 2021,
    }  # fmt: skip
    third = answer["recentGames"][2]
    assert (third["month"], third["year"], third["winner"], third["white"]["name"]) == ("2020-03", 2020, "white", "Müller")
    # A move that was played once names its game.
    moves = {move["san"]: move for move in answer["moves"]}
    assert moves["e4"]["game"] is None and moves["d4"]["game"]["id"] == next(game["id"] for game in answer["recentGames"] if game["uci"] == "d2d4")
    get = lambda path, **query: server.get(path, **query)
    assert len(get("/lichess", topGames=0, recentGames=0)["topGames"]) == 0
    assert names(get("/lichess", speeds="blitz,rapid")["topGames"]) == ["a", "c"]
    assert names(get("/lichess", ratings="2200")["topGames"]) == ["b", "d", "a"]
    assert names(get("/lichess", since="2021", until="2022-06")["recentGames"]) == ["b"]
    masters = client.get_masters_games()
    assert names(masters["topGames"]) == ["b", "d", "a", "c"] and "speed" not in masters["topGames"][0] and "recentGames" not in masters
    assert names(get("/masters", since="2020", until="2020")["topGames"]) == ["a"]
    assert names(get("/player", player="x", color="white")["recentGames"]) == ["b"]
    assert names(get("/player", player="B c", color="black")["recentGames"]) == ["c"] and names(get("/player", player="x", color="black")["recentGames"]) == []
    game = chess.pgn.read_game(io.StringIO(client.get_otb_master_game(first["id"])))
    assert (game.headers["White"], game.headers["Result"]) == ("X", "0-1")
    status, headers, _ = server.raw("GET", f"/masters/pgn/{first['id']}", headers={"Origin": "https://lichess.org"}, token=False)
    assert (status, headers["Access-Control-Allow-Origin"]) == (200, "*")
    assert server.wrong("/lichess", since="soon") == (400, "bad-request")


FILTERS = [
    {}, {"speeds": "blitz,rapid"}, {"ratings": "2200,2500"}, {"since": "2005"}, {"until": "2010-06"},
    {"since": "2000-03", "until": "2015", "ratings": "2000,2200"}, {"player": "karsten müll"}, {"player": "carl", "color": "black", "speeds": "bullet"},
]  # fmt: skip
PLAYERS = [{WHOLE: "Magnus Carlsen", "color": "white"}, {WHOLE: "müller, karsten", "color": "black", "since": "2005"}, {WHOLE: "Carlsen", "color": "white"}]


def test_moves_are_counted_under_filters(explore, tmp_path):
    """The games in the table, and the answers with Lichess's names, against python-chess's own count."""
    games, chance = random_games(1200, seed=5, most_plies=14, mixed=True), random.Random(6)
    counted = CountedGames()
    for game in games:
        game.head["TimeControl"] = chance.choice(["60", "180+2", "600+5", "15", "3600", "?"])
        counted.add(Facts.of(game.head, game.result), chess.Board(game.fen, chess960=game.chess960), game.moves)
    (tmp_path / "games.pgn").write_text(pgn(games), encoding="utf-8")
    server = explore(Book().line("e2e4 e7e5", weight=3).write(tmp_path / "book.bin"), "--games", tmp_path / "games.pgn")
    known = server.get("/api/books")["books"][1]
    assert (known["name"], known["games"], known["edit"]) == ("games.pgn", True, None)
    assert known["speeds"] == ["ultrabullet", "bullet", "blitz", "rapid", "classical"] and known["ratings"] == [1800, 2000, 2200, 2500]
    # Those of more games than are counted when they are asked for, and others.
    keys = sorted(counted.of, key=lambda at: (-len(counted.of[at]), at))
    assert len(counted.of[keys[1]]) > 256
    met = 0
    for at in keys[:12] + keys[12 : 12 + 24 * 60 : 60]:
        for filters in FILTERS:
            met += 0 < counted.check_table(server, at, filters, 1) < len(counted.of[at])
            if "player" not in filters:
                counted.check_lichess(server, at, filters)
            if not {"player", "speeds", "ratings"} & set(filters):
                counted.check_lichess(server, at, filters, "/masters")
        for filters in PLAYERS:
            found = counted.check_lichess(server, at, filters, "/player")
            assert found == 0 or filters[WHOLE] != "Carlsen"
    assert met > 100


def test_only_games_know_players_and_years(explore, tabiya, small_book, tmp_path):
    server = explore(small_book)
    for path, query, word in (("/player", {"player": "x", "color": "white"}, "player"), ("/lichess", {"since": "2020"}, "since"), ("/masters", {"until": "2020"}, "until")):
        status, _, body = server.raw("GET", f"{path}?{urlencode(query)}")
        assert status == 400 and json.loads(body)["error"].startswith(f"{word}: books do not know it"), body
    (tmp_path / "games.pgn").write_text('[White "Zoe"]\n[Date "????.??.??"]\n[Result "1-0"]\n\n1. e4 1-0\n\n[White "Ann"]\n[Date "2020.??.??"]\n[Result "0-1"]\n\n1. d4 0-1\n')
    assert tabiya("build", "games.pgn", "-o", "book.kob", "--min-games", "1").returncode == 0
    server = explore("book.kob", small_book, "--games", "games.pgn")
    moves = lambda path, **query: [(move["uci"], move["white"], move["black"]) for move in server.get(path, **query)["moves"]]
    assert moves("/lichess") == moves("/lichess", book=2) == moves("/masters") == [("d2d4", 0, 1), ("e2e4", 1, 0)]
    assert moves("/player", player="zoe", color="white") == [("e2e4", 1, 0)] and moves("/player", player="zoe", color="black") == []
    # A game without a date is in no period; one of a year may be of any of its months.
    for query in ({"since": "1900"}, {"until": "2100"}, {"since": "2020-05"}, {"until": "2020-05", "since": "2020-05"}):
        assert moves("/lichess", **query) == moves("/masters", **query) == [("d2d4", 0, 1)]
    assert moves("/lichess", since="2021") == []
    # Another book that is named has its own numbers, and knows no years.
    assert server.get("/lichess", book=1)["source"] == "weights" and server.wrong("/lichess", book=1, since="2020") == (400, "bad-request")
    assert server.wrong("/player", player="x", color="white", variant="atomic") == (400, "bad-request")
    assert server.wrong("/api/view", books=3) == (404, "not-found")
    # Without a speed in any game, none is asked for.
    assert moves("/lichess", book=2, speeds="blitz") == moves("/lichess")
    playable = explore(Book().line("e2e4", weight=1).write(tmp_path / "e4.bin"), "--playable", "--games", "games.pgn")
    assert [move["uci"] for move in playable.get("/player", player="Ann", color="white")["moves"]] == []
    assert [move["uci"] for move in playable.get("/player", player="Zoe", color="white")["moves"]] == ["e2e4"]


def test_without_games_there_are_none(explore, small_book):
    server = explore(small_book)
    assert server.wrong("/api/games") == (404, "not-found")
    assert json.loads(server.raw("GET", "/masters/pgn/00000000")[2])["code"] == "not-found"
