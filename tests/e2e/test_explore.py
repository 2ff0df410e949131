"""`tabiya explore`: the server of the page, and Lichess's interface, by the HTTP clients of Python's library."""

import contextlib
import gzip
import http.client
import io
import json
import os
import re
import resource
import signal
import socket
import threading
from pathlib import Path
from urllib.parse import quote, urlencode

import berserk
import chess
import chess.pgn
import pytest

from client import HANG, eventually, times
from conftest import linux_only, not_windows
from explorer import value_of
from polyglot_writer import Book
from processes import alive, children
from random_games import FORMATS, WEIGHTED, random_games

GAMES = random_games(60, seed=7, most_plies=20)
START = chess.STARTING_FEN


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


# Files alone, as when they are dropped on the executable


def test_files_that_are_named_alone_are_shown(tabiya, explore, small_book, tmp_path):
    (tmp_path / "games.pgn").write_text('[Event "?"]\n[White "A"]\n[Result "1-0"]\n\n1. d4 d5 1-0\n')
    counted = tabiya("build", "games.pgn", "-o", "all.parquet", cwd=tmp_path)
    assert counted.returncode == 0, counted.stderr
    # As a command is called: the command wins.
    (tmp_path / "show").write_bytes(Path(small_book).read_bytes())
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "more.pgn").write_bytes((tmp_path / "games.pgn").read_bytes())
    for alone, books, games in (
        ([small_book], [Path(small_book).name], False),
        (["all.parquet", small_book], ["all.parquet", Path(small_book).name], False),
        ([small_book, "games.pgn"], [Path(small_book).name], True),
        (["games.pgn"], [""], True),
        (["folder"], [""], True),
        (["./show"], ["show"], False),
    ):
        server = explore(alone=alone)
        shown = server.get("/api/books")
        assert [Path(book["path"] or "").name for book in shown["books"] if not book.get("games")] == books and shown["games"] == games, alone
        server.end()
    assert tabiya("show", cwd=tmp_path).returncode != 0
    (tmp_path / "notes.txt").write_text("not a book\n")
    (tmp_path / "games.pgn.gz").write_bytes(gzip.compress((tmp_path / "games.pgn").read_bytes()))
    for name, what, do in (("notes.txt", "this is text, not a book", "name a Polyglot"), ("games.pgn.gz", "games are read again", "name PGN files that are not compressed")):
        done = tabiya(name, "--no-open", cwd=tmp_path)
        said = done.stderr.decode()
        assert done.returncode in (2, 3) and name in said and what in said and do in said


# Who may ask


def test_other_sites_and_names_are_refused(explore, small_book):
    server = explore("--edit", small_book)
    own = f"127.0.0.1:{server.port}"
    for host, status in ((own, 200), (f"localhost:{server.port}", 200), ("evil.example", 403), (f"evil.example:{server.port}", 403), ("127.0.0.1", 403)):
        assert server.raw("GET", "/api/books", headers={"Host": host})[0] == status, host
    for name, value, status in (
        ("Origin", f"http://{own}", 200),
        ("Origin", "https://evil.example", 403),
        ("Origin", "null", 403),
        ("Sec-Fetch-Site", "cross-site", 403),
        ("Sec-Fetch-Site", "same-site", 403),
        ("Sec-Fetch-Site", "same-origin", 200),
    ):
        assert server.raw("GET", "/api/books", headers={name: value})[0] == status, (name, value)
    body = json.dumps({"book": 0, "play": [], "move": "d2d4", "op": "set", "value": 1, "expect": {"weight": 10}})
    for headers in ({"Content-Type": "text/plain"}, {"Content-Type": "application/json", "Origin": "https://evil.example"}, {}):
        assert server.raw("POST", "/api/edit", body, headers)[0] in (400, 403)
    assert server.moves()["d2d4"]["weight"] == 10


def test_what_is_too_long_or_elsewhere_is_refused(explore, small_book):
    server = explore("--edit", small_book)
    for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/../../x", "//etc/passwd", "/" + quote(str(small_book), safe="")):
        assert server.raw("GET", path)[0] == 404, path
    assert server.wrong("/api/view", books="../../etc/passwd") == (404, "not-found")
    assert server.wrong("/api/position", book="1") == (404, "not-found")
    assert server.raw("PUT", "/api/books")[0] == 405
    assert server.raw("GET", "/api/edit")[0] == 405
    assert server.raw("GET", "/api/view?play=" + "e2e4," * 3000)[0] == 414
    assert server.raw("POST", "/api/edit", b" " * 70000, {"Content-Type": "application/json"})[0] == 413
    assert server.raw("GET", "/api/books", headers={"X": "y" * 60000})[0] in (400, 431)
    for bad in (b"", b"{", b"[]", b"null", b'{"book":0}', b"\xff\xfe", b"[" * 30000):
        status, _, body = server.raw("POST", "/api/edit", bad, {"Content-Type": "application/json"})
        assert (status, json.loads(body)["code"]) == (400, "bad-request"), bad[:20]
    knights = ["g1f3", "g8f6", "f3g1", "f6g8"] * 250
    assert server.get("/api/view", play=",".join(knights))["fen"].startswith("rnbqkbnr/pppppppp")
    assert server.wrong("/api/view", play=",".join([*knights, "e2e4"])) == (400, "bad-request")
    assert server.wrong("/api/view", play="e2e4,e2e4") == (400, "illegal-move")
    assert server.wrong("/api/view", start="8/8/8/8/8/8/8/8 w - - 0 1") == (400, "bad-request")
    assert server.wrong("/api/view", variety="101") == (400, "bad-request")


@linux_only
def test_ten_thousand_half_open_connections_hinder_nobody(explore, small_book):
    """As many as this process may open: nothing at all, half a request, or the head of a body that never comes."""
    server = explore("--edit", small_book)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 10_000
    most = wanted + 500 if hard == resource.RLIM_INFINITY else min(hard, wanted + 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    begun = (
        b"",
        b"G",
        b"GET / HTTP/1.1\r\nHost: ",
        b"GET /api/books HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"X: y\r\n" * 20,
        b"POST /api/edit HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{",
    )
    idle = []
    try:
        for number in range(min(wanted, max(soft, most) - 300)):
            idle.append(socket.create_connection((server.host, server.port), HANG))
            # One that the server has closed to make room for others cannot be written to.
            with contextlib.suppress(ConnectionError):
                idle[-1].sendall(begun[number % len(begun)])
            if number % 1000 == 999:
                assert len(server.get("/api/books")["books"]) == 1
                # What the server holds does not grow with those who connect.
                process = Path("/proc", str(server.process.pid))
                assert len(list((process / "fd").iterdir())) < 1200
                memory = re.search(r"VmHWM:\s+(\d+) kB", (process / "status").read_text())
                assert int(memory[1]) < 150_000, memory
        assert len(idle) >= min(wanted, hard if hard != resource.RLIM_INFINITY else wanted) // 2
    finally:
        for connection in idle:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert server.edit(move="d2d4", op="set", value=11, expect={"weight": 10})[0] == 200
    assert server.moves()["d2d4"]["weight"] == 11


@linux_only
@pytest.mark.parametrize("handles, is_later", [(None, False), (200, False), (100, True)], ids=["usual", "few", "fewer-than-at-first"])
def test_idle_connections_shut_nobody_out(explore, small_book, handles, is_later):
    """1,100 of one who has the token, and who uses each again before it has been idle for long."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        if handles and not is_later:
            resource.setrlimit(resource.RLIMIT_NOFILE, (handles, hard))
        server = explore("--edit", small_book)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
        if is_later:
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (handles, hard))
        _, events = server.listen("/api/events")
        idle, done = [], threading.Event()

        def use(connection):
            try:
                connection.request("GET", "/api/books", headers={"Authorization": f"Bearer {server.token}"})
                return connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                # Closed, to make room for others.
                connection.close()
                idle.remove(connection)

        def use_all():
            while not done.is_set():
                for connection in list(idle):
                    use(connection)

        restless = threading.Thread(target=use_all, daemon=True)
        try:
            restless.start()
            for _ in range(1100):
                connection = server.connection()
                connection.request("GET", "/api/books", headers={"Authorization": f"Bearer {server.token}"})
                assert b"books" in connection.getresponse().read()
                idle.append(connection)
            assert server.raw("GET", "/")[0] == 200
            # There are handles left for what is written, and who listened at first still does.
            assert server.edit(move="d2d4", op="set", value=11, expect={"weight": 10})[0] == 200
            while events.get(timeout=HANG)[0] != "changed":
                pass
        finally:
            done.set()
            restless.join()
            for connection in idle:
                connection.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_addresses_that_cannot_be_listened_on_and_books_that_cannot_be_opened(explore, tabiya, small_book, tmp_path):
    server = explore(small_book)
    done = tabiya("explore", "--no-open", "--listen", f"127.0.0.1:{server.port}", small_book)
    assert done.returncode == 3 and b"cannot listen on 127.0.0.1:" in done.stderr
    done = tabiya("explore", "--no-open", tmp_path / "none.bin")
    assert done.returncode == 3 and b"none.bin" in done.stderr
    assert tabiya("explore", "--no-open", "--engine", "no-such-engine", small_book).returncode == 4
    # One of several that cannot be opened is reported, and the others are shown.
    server = explore(small_book, tmp_path / "none.bin")
    books = server.get("/api/books")["books"]
    assert books[0]["error"] is None and "none.bin" in books[1]["error"]
    assert [book["found"] for book in server.get("/api/view")["books"]] == [True, False]


@not_windows
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_it_ends_when_it_is_asked(explore, small_book, how):
    server = explore(small_book)
    connection, events = server.listen("/api/events")
    assert events.get(timeout=HANG)[0] == "hello"
    assert server.end(getattr(signal, how)) == 0
    assert events.get(timeout=HANG) is None
    connection.close()


# What books say


def test_a_view_is_what_show_says(explore, tabiya, sources):
    paths = [sources[name] for name in FORMATS]
    server = explore(*paths)
    known = server.get("/api/books")
    assert [book["format"] for book in known["books"]] == [{"bin": "polyglot", "kob": "kvetka"}.get(name, name) for name in FORMATS]
    assert known["edit"] is False and all(book["edit"] is None for book in known["books"])
    for game in [game for game in GAMES if game.fen == START and len(game.moves) > 3][:5]:
        board = chess.Board()
        for move in [*game.moves[:6], None]:
            play = [other.uci() for other in board.move_stack]
            view = server.get("/api/view", play=",".join(play))
            assert chess.Board(view["fen"]).epd() == board.epd()
            assert {move["uci"] for move in view["legal"]} == {move.uci() for move in board.legal_moves}
            for number, path in enumerate(paths):
                line = tabiya("show", path, "--json", "--moves", " ".join(play)).stdout
                assert server.raw("GET", f"/api/position?book={number}&play={','.join(play)}")[2] == line
                shown = json.loads(line)
                moves = view["books"][number]["moves"]
                assert view["books"][number]["found"] == shown["found"]
                assert [{key: row[key] for key in own} for row, own in zip(moves, shown["moves"], strict=True)] == shown["moves"]
                for row in moves:
                    assert "probability" not in row and (row["why"] is None) == row["playable"]
                    if row["white"] is not None:
                        won, lost = (row["wins"], row["losses"]) if board.turn else (row["losses"], row["wins"])
                        assert (row["white"], row["black"]) == (won, lost)
            if move is None:
                break
            board.push(move)


def test_a_view_knows_the_line_its_end_and_its_choices(explore, tmp_path):
    path = Book().line("e2e4 e7e5 g1f3", weight=10).line("e2e4 c7c5", weight=5).write(tmp_path / "a.bin")
    server = explore(path)
    view = server.get("/api/view", play="e2e4,c7c5,g1f3")
    assert [step["san"] for step in view["line"]] == ["e4", "c5", "Nf3"]
    assert view["line"][1]["opening"] == {"eco": "B20", "name": "Sicilian Defense"}
    assert view["opening"]["eco"] == "B27" and view["turn"] == "black"
    assert (view["books"][0]["found"], view["ancestor"], view["choice"]) == (False, {"ply": 1}, {"ply": 1})
    assert server.get("/api/view", play="e2e4,c7c5")["book_end"] == 2
    assert server.get("/api/view", play="e2e4")["book_end"] is None
    assert server.get("/api/view", play="e2e4")["books"][0]["reserve"] == 2
    assert server.get("/api/view", play="e2e4,e7e5,g1f3,a7a6")["book_end"] is None
    mate = server.get("/api/view", play="f2f3,e7e5,g2g4,d8h4")
    assert (mate["end"], mate["check"], mate["legal"]) == ("checkmate", True, [])
    castling = server.get("/api/view", play="e2e4,e7e5,g1f3,b8c6,f1c4,f8c5")["legal"]
    assert {"uci": "e1g1", "san": "O-O", "from": "e1", "to": "g1", "promotion": None} in castling
    assert server.get("/api/view", play="e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,e1h1")["line"][-1]["uci"] == "e1g1"
    policy = {move["uci"]: move for move in server.get("/api/view", play="e2e4", variety=0)["books"][0]["moves"]}
    assert (policy["e7e5"]["chance"], policy["c7c5"]["why"]["text"]) == (1.0, "not the best move")
    policy = {move["uci"]: move for move in server.get("/api/view", play="e2e4", threshold=500)["books"][0]["moves"]}
    assert policy["c7c5"]["why"]["text"] == "played too rarely (below 50 %)"
    assert server.get("/api/next")["play"] == ["e2e4"]
    assert server.get("/api/next", play="e2e4")["play"] == []


def test_rules_of_the_configuration_act(explore, tmp_path):
    Book().line("e2e4", weight=10).line("d2d4", weight=5).write(tmp_path / "a.bin")
    (tmp_path / "tabiya.toml").write_text("[[book]]\nfile = 'a.bin'\nvariety = 0\n")
    server = explore()
    books = server.get("/api/books")["books"]
    assert [book["name"] for book in books] == ["a.bin", "starter book"]
    view = server.get("/api/view")["books"][0]
    assert view["rule"] == "rule 1: a.bin, variety 0" and view["moves"][0]["chance"] == 1.0
    assert view["moves"][1]["why"] == {"code": "not-best", "text": "not the best move"}


def test_the_rule_that_acts_is_shown_with_its_own_policy(explore, tmp_path):
    Book().line("e2e4", weight=10).line("d2d4", weight=5).write(tmp_path / "a.bin")
    # No line has 60 plies, so the first rule plays nothing, and what the second one sets is not for the first.
    rules = "[[book]]\nfile = 'a.bin'\nvariety = 100\n[[book]]\nfile = 'a.bin'\nvariety = 0\nreserve = 0\n"
    (tmp_path / "tabiya.toml").write_text("[set]\n\"Book Reserve\" = 60\n" + rules)
    view = explore().get("/api/view")["books"][0]
    assert view["rule"] == "rule 2: a.bin, variety 0, reserve 0"
    assert [move["chance"] for move in view["moves"]] == [1.0, 0.0]


def test_settings_are_a_form_that_leaves_comments(explore, scripted_exe, small_book, tmp_path):
    config = tmp_path / "tabiya.toml"
    text = f"# mine\r\nengine = '{scripted_exe}'  # fast\r\nbook = '{small_book.name}'\r\n[set]\r\n'Book Variety' = 60\r\n"
    config.write_bytes(text.encode())
    server = explore("--settings")
    assert server.get("/api/books")["settings"] is True
    shown = server.get("/api/settings")
    rows = {row["key"]: row for row in shown["rows"]}
    assert shown["exists"] and Path(shown["file"]).samefile(config)
    assert (rows["engine"]["value"], rows["book-variety"]["value"]) == (str(scripted_exe), "60")
    assert rows["book-variety"] | {"help": "", "value": ""} == {
        "key": "book-variety", "name": "Book Variety", "kind": "spin", "min": 0, "max": 100,
        "default": "50", "value": "", "help": "",
    }  # fmt: skip
    groups = {group["name"]: group["keys"] for group in shown["groups"]}
    assert groups["Books"] == ["book", "book-white", "book-black", "book-optional", "ownbook"]
    assert [key for keys in groups.values() for key in keys] == list(rows)
    status, answer = server.post("/api/settings", {"set": {"book-variety": "70", "book-learn": "true", "log": None}})
    assert status == 200, answer
    assert {row["key"]: row["value"] for row in answer["rows"] if row["value"]}["book-learn"] == "true"
    assert config.read_bytes().decode() == text.replace("60", "70") + '"Book Learn" = true\r\n'
    for wrong in ({"book-variety": "101"}, {"nothing": "1"}, {"engine": "a\nb"}):
        status, answer = server.post("/api/settings", {"set": wrong})
        assert (status, answer["code"]) == (400, "bad-request"), answer
    assert server.post("/api/settings", {"file": "/etc/passwd", "set": {}})[0] == 400
    assert config.read_bytes().decode().count("70") == 1
    status, answer = server.post("/api/doctor", {})
    assert status == 200 and answer["doctor"] and all(verdict["text"] for verdict in answer["doctor"])
    status, answer = server.post("/api/settings", {"set": {"engine": "no-such-engine"}})
    assert status == 200, answer
    doctor = server.post("/api/doctor", {})[1]["doctor"]
    assert [verdict["level"] for verdict in doctor] == ["error"] and "no such engine" in doctor[0]["text"]


def test_settings_of_a_file_with_tables_of_books(explore, small_book, tmp_path):
    text = f"[[book]]\nfile = '{small_book.name}'\n[set]\n'Book White' = 'old.bin'\n"
    (tmp_path / "tabiya.toml").write_text(text)
    server = explore(small_book, "--settings")
    rows = {row["key"]: row for row in server.get("/api/settings")["rows"]}
    assert (rows["book"]["value"], rows["book-white"]["value"]) == (small_book.name, "old.bin")
    assert "[[book]]" in rows["book"]["fixed"] and "fixed" not in rows["book-white"]
    status, answer = server.post("/api/settings", {"set": {"book": "new.bin"}})
    assert (status, answer["code"]) == (400, "bad-request") and "by hand" in answer["error"]
    status, answer = server.post("/api/settings", {"set": {"book-white": small_book.name}})
    assert status == 200, answer
    assert (tmp_path / "tabiya.toml").read_text() == text.replace("'old.bin'", f'"{small_book.name}"')


def test_settings_begin_with_a_template(explore, small_book, tmp_path):
    server = explore(small_book, "--settings")
    shown = server.get("/api/settings")
    assert not shown["exists"] and not any(row["value"] for row in shown["rows"])
    status, answer = server.post("/api/settings", {"set": {"book-variety": "70"}})
    assert status == 200 and answer["exists"]
    text = (tmp_path / "tabiya.toml").read_text()
    assert '\n"Book Variety" = 70\n' in text and "#engine = 'stockfish'" in text
    (tmp_path / "tabiya.toml").write_text("engine = [")
    assert server.raw("GET", "/api/settings")[0] == 500
    server = explore(small_book, "--settings")
    assert server.get("/api/books")["settings"] is False and server.wrong("/api/settings") == (404, "not-found")


def test_evaluations_beside_a_book_are_shown(explore, tabiya, tmp_path):
    path = Book().line("e2e4", weight=10).line("d2d4", weight=5).line("f2f3", weight=1).write(tmp_path / "a.bin")
    lines = []
    for move, score in (("e2e4", -30), ("d2d4", -10)):
        board = chess.Board()
        board.push_uci(move)
        lines.append(f"{board.epd()} ce {score}; acd 20;\n")
    (tmp_path / "a.epd").write_text("".join(lines))
    done = tabiya("import", f"{path}.evals", tmp_path / "a.epd")
    assert done.returncode == 0, done.stderr
    server = explore(path)
    assert server.get("/api/books")["books"][0]["evals"] is True
    moves = server.moves()
    assert (moves["e2e4"]["eval"], moves["e2e4"]["loss"]) == ({"cp": 30}, 0)
    assert (moves["d2d4"]["eval"], moves["d2d4"]["loss"]) == ({"cp": 10}, 20)
    assert (moves["f2f3"]["eval"], moves["f2f3"]["loss"]) == (None, None)
    line = server.raw("GET", "/api/position")[2]
    assert line == tabiya("show", path, "--json").stdout and b'"eval":30,"loss":0' in line


def test_lines_are_read_found_and_written(explore, small_book):
    server = explore(small_book)
    assert server.get("/api/read", text="1. e4 c5 2.Nf3!?") == {"start": START, "play": ["e2e4", "c7c5", "g1f3"]}
    assert server.get("/api/read", text="c5", play="e2e4")["play"] == ["e2e4", "c7c5"]
    assert server.get("/api/read", text="d4", play="e2e4")["play"] == ["d2d4"]
    assert server.get("/api/read", text="1. e4 e5 2. ♘f3 ♞c6 3. ♗c4 ♝c5 4. 0-0")["play"][-1] == "e1g1"
    link = f"https://lichess.org/analysis/{START.replace(' ', '_')}"
    assert server.get("/api/read", text=link, play="e2e4") == {"start": START, "play": []}
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    assert server.get("/api/read", text=fen) == {"start": fen, "play": []}
    # A line with its first number is meant from where games start, if it cannot be played in what was set up.
    assert server.get("/api/read", text="1. e4 e5", start="8/8/8/8/8/8/4K3/7k w - - 0 1") == {"start": START, "play": ["e2e4", "e7e5"]}
    assert server.get("/api/read", text="1. e4 Kd7", start=fen) == {"start": fen, "play": ["e2e4", "e8d7"]}
    assert server.get("/api/read", text="1. e4 {best (so)} (1. d4 d5) 1... e5 $1 2. Nf3") == {"start": START, "play": ["e2e4", "e7e5", "g1f3"]}
    assert server.wrong("/api/read", text="1. e4 {x} e4") == (400, "illegal-move")
    for text, play in (("position startpos moves e2e4 e7e5", ["e2e4", "e7e5"]), ("position startpos", [])):
        assert server.get("/api/read", text=text, start=fen) == {"start": START, "play": play}
    assert server.get("/api/read", text=f"position fen {fen} moves e2e4") == {"start": fen, "play": ["e2e4"]}
    status, _, body = server.raw("GET", "/api/read?text=https://lichess.org/abcdefgh")
    assert status == 400 and b"paste the game itself, as PGN" in body
    assert server.wrong("/api/read", text="Qh9") == (400, "illegal-move")
    assert server.wrong("/api/read") == (400, "bad-request")
    found = server.get("/api/openings", q="najdorf", limit=5)["openings"]
    assert len(found) == 5 and all("Najdorf" in opening["name"] for opening in found)
    assert found[0]["name"] == "Sicilian Defense: Najdorf Variation"
    board = chess.Board()
    for move in found[0]["play"]:
        board.push_uci(move)
    assert server.get("/api/openings", q="b90 english attack")["openings"][0]["eco"] == "B90"
    assert server.get("/api/openings", q="no such opening")["openings"] == []
    for start, play in ((None, ["e2e4", "c7c5"]), (fen, ["e2e4", "e8e7"])):
        parameters = urlencode({"play": ",".join(play)} | ({"start": start} if start else {}))
        status, headers, text = server.raw("GET", f"/api/pgn?{parameters}")
        assert status == 200 and headers["Content-Type"].startswith("text/plain")
        game = chess.pgn.read_game(io.StringIO(text.decode()))
        assert [move.uci() for move in game.mainline_moves()] == play and not game.errors
        assert game.headers["Result"] == "*"
    assert server.wrong("/api/game") == (404, "not-found")


def test_a_sample_game_is_shown_only_from_beside_the_book(explore, tabiya, tmp_path):
    pgn = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n'
    (tmp_path / "games.pgn").write_text(pgn)
    done = tabiya("build", tmp_path / "games.pgn", "-o", tmp_path / "a.kob", "--min-games", "1")
    assert done.returncode == 0, done.stderr
    server = explore(tmp_path / "a.kob")
    assert server.get("/api/view", play="e2e4,e7e5")["books"][0]["game"] is not None
    status, _, body = server.raw("GET", "/api/game?book=0&play=e2e4,e7e5")
    assert (status, body.decode().strip()) == (200, pgn.strip())
    (tmp_path / "games.pgn").unlink()
    assert server.raw("GET", "/api/game?book=0&play=e2e4,e7e5")[0] == 404


# Lichess's interface


def test_lichess_interface(explore, sources):
    server = explore(sources["bin"], sources["ctg"])
    board = chess.Board()
    for path, keys in (
        ("/lichess", {"white", "draws", "black", "moves", "opening", "topGames", "recentGames"}),
        ("/masters", {"white", "draws", "black", "moves", "opening", "topGames"}),
    ):
        parameters = {"fen": START, "play": "", "player": "x", "color": "white", "speeds": "blitz,rapid", "ratings": "1600,1800"}
        parameters |= {"topGames": 2, "recentGames": 2, "variant": "standard", "moves": 3}
        status, headers, body = server.raw("GET", f"{path}?{urlencode(parameters)}")
        assert status == 200 and body.count(b"\n") == 1
        assert headers["Content-Type"] == "application/json"
        answer = json.loads(body)
        assert keys <= set(answer) and answer["source"] == "games" and 0 < len(answer["moves"]) <= 3
        sums = [move["white"] + move["draws"] + move["black"] for move in answer["moves"]]
        assert sums == sorted(sums, reverse=True) and min(sums) > 0
        for move in answer["moves"]:
            assert board.san(chess.Move.from_uci(move["uci"])) == move["san"]
    known = server.moves(book=1)
    first = server.get("/lichess", moves=1)["moves"][0]
    assert (first["white"], first["draws"], first["black"]) == tuple(known[first["uci"]][key] for key in ("white", "draws", "black"))
    weights = server.get("/lichess", book=0)
    assert weights["source"] == "weights"
    book = server.moves(book=0)
    for move in weights["moves"]:
        assert move["white"] + move["draws"] + move["black"] == book[move["uci"]]["weight"] and move["white"] == move["black"]
    assert server.wrong("/lichess", variant="atomic") == (400, "bad-request")
    assert server.wrong("/lichess", play="e2e5") == (400, "illegal-move")


def test_count_files_tell_speeds_and_ratings_apart(explore, tabiya, tmp_path):
    """Lichess's filters, and those of the command, count the games that they name."""
    played = [("180+2", 1900, "e4"), ("180+2", 2300, "e4"), ("60", 2300, "d4"), ("600", 2600, "d4"), ("-", 1100, "c4")]
    head = '[Event "x"]\n[Result "1-0"]\n[TimeControl "{0}"]\n[WhiteElo "{1}"]\n[BlackElo "{1}"]\n\n1. {2} 1-0\n\n'
    (tmp_path / "games.pgn").write_text("".join(head.format(*game) for game in played))
    done = tabiya("build", "--by", "speed,rating", "-o", "by.parquet", "games.pgn")
    assert done.returncode == 0, done.stderr

    def games(server, path="/lichess", **query):
        return {move["san"]: move["white"] + move["draws"] + move["black"] for move in server.get(path, **query)["moves"]}

    server = explore("by.parquet")
    assert games(server) == {"e4": 2, "d4": 2, "c4": 1}
    assert games(server, speeds="blitz") == {"e4": 2}
    assert games(server, speeds="bullet,ultraBullet,rapid") == {"d4": 2}
    assert games(server, ratings="2200,2500") == {"e4": 1, "d4": 2}
    assert games(server, speeds="blitz", ratings="2200") == {"e4": 1}
    assert games(server, ratings="0,1000") == {"c4": 1}
    assert games(server, "/masters", speeds="blitz", ratings="x") == {"e4": 2, "d4": 2, "c4": 1}
    assert server.wrong("/lichess", speeds="fast") == (400, "bad-request")
    assert server.wrong("/lichess", ratings="strong") == (400, "bad-request")
    server = explore("by.parquet", "--rating", "2200+")
    assert games(server) == {"e4": 1, "d4": 2} and games(server, speeds="blitz") == {"e4": 1}
    assert {uci: move["games"] for uci, move in server.moves().items()} == {"e2e4": 1, "d2d4": 2}

    done = tabiya("build", "-o", "plain.parquet", "games.pgn")
    assert done.returncode == 0, done.stderr
    assert games(explore("plain.parquet"), speeds="blitz") == {"e4": 2, "d4": 2, "c4": 1}
    for sources in (["plain.parquet"], []):
        done = tabiya("explore", "--no-open", *sources, "--speed", "blitz")
        assert done.returncode in (2, 3) and b"count games separately" in done.stderr, done.stderr


def test_lichess_interface_writes_castling_as_lichess_does(explore, tmp_path):
    line = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1"
    server = explore(Book().line(line, weight=7).write(tmp_path / "a.bin"))
    play = line.rsplit(" ", 1)[0].replace(" ", ",")
    assert server.get("/lichess", play=play)["moves"][0]["uci"] == "e1h1"
    for castling in ("e1g1", "e1h1"):
        assert server.get("/lichess", play=f"{play},{castling}")["moves"] == []


def results_of_position(board):
    """Games that White won, drawn games, and games that Black won, of each move in a position, whatever the way to it."""
    found = {}
    for game in GAMES:
        other = chess.Board(game.fen)
        for move in game.moves:
            if other.epd() == board.epd():
                found.setdefault(move, [0, 0, 0])[["1-0", "1/2-1/2", "0-1"].index(game.result)] += 1
            other.push(move)
    return found


# berserk 0.14.0 has no parameter for the book, so each is a server of its own.
@pytest.mark.parametrize("name", [*FORMATS, "parquet"])
def test_berserk_reads_every_field(explore, tabiya, sources, name, tmp_path):
    """What berserk makes of the answers, against the games by python-chess and against what the page shows."""
    path = sources.get(name, tmp_path / "a.parquet")
    if name == "parquet":
        assert tabiya("build", sources["bin"].parent / "games.pgn", "-o", path).returncode == 0
    server = explore(path)
    client = berserk.Client(session=berserk.TokenSession(server.token), explorer_url=f"http://{server.host}:{server.port}")
    ask = client.opening_explorer
    named = 0
    for game in [game for game in GAMES if game.fen == START][: times(2, 4)]:
        for length in range(min(len(game.moves), 6)):
            before, board = game.moves[:length], chess.Board()
            for move in before:
                board.push(move)
            play = [move.uci() for move in before]
            view = server.get("/api/view", play=",".join(play))
            shown = view["books"][0]["moves"]
            expected = []
            for row in shown:
                move = chess.Move.from_uci(row["uci"])
                if name in WEIGHTED:
                    counts = (row["weight"] // 2, row["weight"] % 2, row["weight"] // 2)
                else:
                    counts = tuple(row[key] for key in ("white", "draws", "black"))
                if name == "parquet":
                    assert list(counts) == results_of_position(board)[move]
                if sum(counts) == 0:
                    continue
                board.chess960 = True
                uci = board.uci(move)
                board.chess960 = False
                after = server.get("/api/view", play=",".join([*play, row["uci"]]))["opening"]
                opening = row["opening"]
                assert opening is None or after == opening
                named += opening is not None
                line = {"uci": uci, "san": board.san(move), "game": None, "opening": opening}
                line |= dict(zip(("white", "draws", "black"), counts, strict=True))
                expected.append((line, row))
            if name == "parquet":
                assert len(shown) == len(results_of_position(board))
            totals = {key: sum(line[key] for line, _ in expected) for key in ("white", "draws", "black")}
            common = totals | {"opening": view["opening"], "source": "weights" if name in WEIGHTED else "games"}

            def listed(answer, ratings):
                """Takes the moves out of an answer and compares them: those with most games first."""
                moves = answer.pop("moves")
                games = [move["white"] + move["draws"] + move["black"] for move in moves]
                assert games == sorted(games, reverse=True)
                wanted = [line | ratings(row) for line, row in expected]
                assert sorted(moves, key=lambda move: move["uci"]) == sorted(wanted, key=lambda move: move["uci"])
                return answer

            average = lambda row: {"averageRating": row["average"] or 0}
            answer = ask.get_lichess_games(position=START, play=play, moves=50, top_games=2, recent_games=1, history=True)
            assert listed(answer, average) == common | {"topGames": [], "recentGames": [], "history": []}
            answer = ask.get_lichess_games(position=board.fen(), moves=50)
            # Alone the position has its own name, if it has one, and not the one of the way to it.
            alone = server.get("/api/view", start=board.fen())["opening"]
            assert listed(answer, average) == common | {"topGames": [], "recentGames": [], "opening": alone}
            answer = ask.get_masters_games(play=play, moves=50, top_games=2)
            assert listed(answer, average) == common | {"topGames": []}
            few = ask.get_lichess_games(position=START, play=play, moves=1)
            assert len(few["moves"]) == min(1, len(expected)) and {key: few[key] for key in totals} == totals
    assert named > 0
    with pytest.raises(berserk.exceptions.ResponseError) as error:
        ask.get_lichess_games(play=["e2e5"])
    assert error.value.status_code == 400 and error.value.cause["code"] == "illegal-move"
    stranger = berserk.Client(session=berserk.TokenSession("x"), explorer_url=f"http://{server.host}:{server.port}")
    with pytest.raises(berserk.exceptions.ResponseError) as error:
        stranger.opening_explorer.get_lichess_games()
    assert error.value.status_code == 401


# Editing


@pytest.mark.parametrize("name", FORMATS)
def test_edits_are_made_taken_back_and_made_again(explore, tabiya, copy_of, name):
    path = copy_of(name)
    server = explore("--edit", path)
    how = server.get("/api/books")["books"][0]["edit"]
    assert [key for key in ("weight", "priority", "looks") if how[key]] == [{"abk": "priority", "ctg": "looks"}.get(name, "weight")]
    assert how["undo"] is True and how["whole"] == (name != "bin")
    play = []
    moves = server.moves()
    uci = next(iter(moves))
    before = value_of(name, moves[uci])
    wanted = {"color": "red", "mark": "?!"} if name == "ctg" else 3
    status, answer = server.edit(move=uci, op="set", value=wanted, expect=before)
    assert status == 200 and answer["before"] == before, answer
    after = value_of(name, server.moves()[uci])
    assert answer["after"] == after != before
    # Another page that still shows the old value changes nothing.
    status, conflict = server.edit(move=uci, op="set", value="none" if name == "ctg" else 5, expect=before)
    assert (status, conflict["code"], conflict["now"]) == (409, "conflict", after)
    assert value_of(name, server.moves()[uci]) == after
    # Adding and deleting, deeper.
    play = [uci]
    board = chess.Board()
    board.push_uci(uci)
    known = server.moves(play=play)
    new = next(move.uci() for move in board.legal_moves if move.uci() not in known)
    status, answer = server.edit(play=play, move=new, op="add", value={"color": "green", "mark": None} if name == "ctg" else 4, expect=None)
    if name == "ctg" and status != 200:
        assert answer["error"]
    else:
        assert (status, answer["before"]) == (200, None), answer
    if status == 200 and new in server.moves(play=play):
        now = value_of(name, server.moves(play=play)[new])
        assert server.edit(play=play, move=new, op="add", value=4, expect=None)[0] in (400, 409)
        status, answer = server.edit(play=play, move=new, op="delete", expect=now)
        assert (status, answer["after"]) == (200, None), answer
        status, answer = server.post("/api/undo", {"book": 0})
        assert (status, answer["after"], answer["play"]) == (200, now, play), answer
        assert value_of(name, server.moves(play=play)[new]) == now
        status, answer = server.post("/api/redo", {"book": 0})
        assert (status, answer["after"]) == (200, None), answer
        status, answer = server.post("/api/undo", {"book": 0})
        assert status == 200
        status, answer = server.post("/api/undo", {"book": 0})
        assert (status, answer["after"]) == (200, None), answer
        assert new not in server.moves(play=play)
    elif status == 200:
        server.post("/api/undo", {"book": 0})
    status, answer = server.post("/api/undo", {"book": 0})
    assert (status, answer["before"], answer["after"]) == (200, after, before), answer
    assert answer["play"] == [] and "start" in answer["note"]
    assert value_of(name, server.moves()[uci]) == before
    assert server.post("/api/undo", {"book": 0})[0] == 404
    status, answer = server.post("/api/redo", {"book": 0})
    assert (status, answer["after"]) == (200, after), answer
    assert tabiya("check", path).returncode == 0
    # The command line says the same.
    shown = {move["uci"]: move for move in json.loads(tabiya("show", path, "--json").stdout)["moves"]}
    server_says = server.moves()
    assert {key: server_says[uci][key] for key in shown[uci]} == shown[uci]


def test_nothing_is_edited_that_may_not_be(explore, small_book, tmp_path):
    server = explore(small_book)
    body = {"move": "d2d4", "op": "set", "value": 1, "expect": {"weight": 10}}
    assert server.edit(**body)[1]["code"] == "read-only"
    assert server.post("/api/undo", {"book": 0})[1]["code"] == "read-only"
    (tmp_path / "elsewhere").mkdir()
    server = explore("--edit", cwd=tmp_path / "elsewhere")
    assert server.edit(**body)[1]["code"] == "read-only"
    server = explore("--edit", small_book)
    for wrong, status in (
        ({"value": 65536}, 400),
        ({"value": -1}, 400),
        ({"value": "x"}, 400),
        ({"value": {"color": "green"}}, 400),
        ({"expect": None}, 400),
        ({"expect": {"priority": 3}}, 400),
        ({"move": "d2d5"}, 400),
        ({"op": "replace"}, 400),
        ({"book": 1}, 404),
        ({"move": "e2e4"}, 409),
        ({"extra": 1}, 400),
    ):
        assert server.edit(**(body | wrong))[0] == status, wrong
    assert server.edit(move="d2d4", op="add", value=1, expect=None)[0] == 409
    assert server.edit(move="d2d4", op="add", value=1, expect={"weight": 10})[0] == 400
    before = small_book.read_bytes()
    assert not small_book.with_name(small_book.name + ".learn").exists() and before == small_book.read_bytes()


@not_windows
def test_a_file_that_may_only_be_read_is_not_edited(explore, small_book):
    small_book.chmod(0o444)
    server = explore("--edit", small_book)
    status, answer = server.edit(move="d2d4", op="set", value=1, expect={"weight": 10})
    assert (status, answer["code"]) == (403, "read-only")


def test_two_pages_never_lose_each_others_edits(explore, small_book):
    server = explore("--edit", small_book)
    other = explore("--edit", small_book)
    made = []

    def count(page, times):
        done = 0
        while done < times:
            weight = page.moves()["d2d4"]["weight"]
            status, answer = page.edit(move="d2d4", op="set", value=weight + 1, expect={"weight": weight})
            assert status in (200, 409), answer
            done += status == 200
        made.append(done)

    threads = [threading.Thread(target=count, args=(page, 15)) for page in (server, server, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    assert made == [15, 15, 15]
    eventually("every edit is in the book", lambda: server.moves()["d2d4"]["weight"] == 10 + 45)


@not_windows
def test_pages_hear_of_edits_and_of_replaced_books(explore, small_book, tmp_path):
    server = explore("--edit", small_book)
    connection, events = server.listen("/api/events")
    assert events.get(timeout=HANG) == ("hello", {"changes": 0})
    assert server.edit(move="d2d4", op="set", value=11, expect={"weight": 10})[0] == 200
    assert events.get(timeout=HANG) == ("changed", {"book": 0, "changes": 1})
    new = Book().line("e2e4", weight=3).line("c2c4", weight=1).write(tmp_path / "new.bin")
    os.replace(new, small_book)
    assert events.get(timeout=HANG) == ("changed", {"book": 0, "changes": 2})
    assert set(server.moves()) == {"e2e4", "c2c4"}
    connection.close()
    # Who comes later learns how many changes there were.
    connection, events = server.listen("/api/events")
    assert events.get(timeout=HANG) == ("hello", {"changes": 2})
    connection.close()


# The engine


@pytest.fixture
def engine_script(scripted_exe, tmp_path):
    """A configuration with the scripted engine."""

    def write(*args):
        words = ", ".join(json.dumps(str(word)) for word in ("--pid-file", tmp_path / "pid", "--record", tmp_path / "heard", *args))
        (tmp_path / "tabiya.toml").write_text(f"engine = {json.dumps(str(scripted_exe))}\nengine-arg = [{words}]\n")

    return write


@linux_only
def test_an_engine_thinks_for_as_long_as_somebody_listens(explore, engine_script, small_book, tmp_path):
    engine_script("--think", "600000", "--score", "cp 31")
    server = explore(small_book)
    assert server.get("/api/books")["engine"].startswith("scripted-engine")
    connection, events = server.listen("/api/engine", play="e2e4,e7e5", lines=2, threads=1)
    eventually("the engine searches", lambda: (tmp_path / "heard").exists() and "go " in (tmp_path / "heard").read_text())
    heard = (tmp_path / "heard").read_text()
    # It has no threads to choose.
    assert "setoption name MultiPV value 2" in heard and "Threads" not in heard and "moves e2e4 e7e5" in heard
    pid = int((tmp_path / "pid").read_text())
    assert alive(pid)
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    eventually("the engine has ended", lambda: not alive(pid))


def test_another_kind_of_chess_is_set_aside_for_the_engine(explore, engine_script, small_book, tmp_path):
    engine_script("--bestmove", "g1f3")
    with open(tmp_path / "tabiya.toml", "a") as file:
        file.write('\n[set]\nUCI_Variant = "horde"\n')
    server = explore(small_book)
    _, events = server.listen("/api/engine", play="e2e4,e7e5")
    while (event := events.get(timeout=HANG)) is not None:
        assert event[0] != "error", event
    sent = [line.rstrip() for line in (tmp_path / "heard").read_text().splitlines() if "ariant" in line]
    assert sent and all(line == "setoption name UCI_Variant value chess" for line in sent), sent
    server.process.terminate()
    said = server.process.stderr.read().decode()
    assert said.count("UCI_Variant is horde: this command searches standard chess only") == 1, said


@pytest.mark.parametrize("name", ["OwnBook", "Use Book", "Own_book"])
def test_an_engine_thinks_and_plays_no_book_of_its_own(explore, engine_script, small_book, tmp_path, name):
    engine_script("--option", f"option name {name} type check default true", "--option", "option name Book File type string default x", "--bestmove", "g1f3")
    _, events = explore(small_book).listen("/api/engine", play="e2e4,e7e5")
    while events.get(timeout=HANG) is not None:
        pass
    heard = (tmp_path / "heard").read_text().splitlines()
    assert [line for line in heard if "ook" in line] == [f"setoption name {name} value false"]


def test_an_engine_that_answers_or_dies_is_reported(explore, engine_script, small_book):
    engine_script("--bestmove", "g1f3")
    server = explore(small_book)
    connection, events = server.listen("/api/engine", play="e2e4,e7e5")
    seen = [events.get(timeout=HANG)]
    while seen[-1] is not None:
        seen.append(events.get(timeout=HANG))
    assert ("done", {"bestmove": "g1f3"}) in seen
    assert server.wrong("/api/engine", play="f2f3,e7e5,g2g4,d8h4") == (400, "bad-request")
    assert server.wrong("/api/engine", threads=100_000) == (400, "bad-request")
    engine_script("--die-on-go", "exit")
    server = explore(small_book)
    connection, events = server.listen("/api/engine")
    while (event := events.get(timeout=HANG)) is not None and event[0] != "error":
        pass
    assert event is not None and event[1]["code"] == "no-engine"


def test_without_an_engine_there_is_none(explore, small_book):
    server = explore(small_book)
    assert server.get("/api/books")["engine"] is None
    assert server.wrong("/api/engine") == (404, "no-engine")


@linux_only
@pytest.mark.parametrize("how", ["SIGTERM", "SIGKILL"])
def test_no_engine_outlives_the_server(explore, engine_script, small_book, tmp_path, how):
    engine_script("--think", "600000", "--ignore-quit", "--ignore-stop")
    server = explore(small_book)
    server.listen("/api/engine", play="e2e4")
    eventually("the engine searches", lambda: (tmp_path / "heard").exists() and "go " in (tmp_path / "heard").read_text())
    found = children(server.process.pid)
    assert found
    server.end(getattr(signal, how))
    eventually("the engine has ended", lambda: not any(alive(pid) for pid in found))


@linux_only
def test_few_engines_run_at_once(explore, scripted_exe, small_book, tmp_path):
    # Without the files of `engine_script`, which several engines cannot share.
    words = "engine-arg = ['--think', '600000']"
    (tmp_path / "tabiya.toml").write_text(f"engine = {json.dumps(str(scripted_exe))}\n{words}\n")
    server = explore(small_book)
    connections = [server.listen("/api/engine", play="e2e4") for _ in range(4)]
    # All of them run: an engine that had ended would make room for another.
    assert len(children(server.process.pid)) == 4
    connection = server.connection()
    connection.request("GET", "/api/engine?play=e2e4", headers={"Authorization": f"Bearer {server.token}"})
    answer = connection.getresponse()
    ended = [events.get_nowait() for _, events in connections if not events.empty()]
    assert answer.status == 503 and json.loads(answer.read())["code"] == "busy", ended
    connection.close()
    for connection, _ in connections:
        connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()
    eventually("all engines have ended", lambda: not children(server.process.pid))
    first, _ = server.listen("/api/engine", play="e2e4", page="a")
    second, _ = server.listen("/api/engine", play="d2d4", page="a")
    eventually("one engine of the page is left", lambda: len(children(server.process.pid)) == 1)
    first.close()
    second.close()


@linux_only
def test_a_search_of_a_page_that_comes_late_does_not_end_the_one_after_it(explore, scripted_exe, small_book, tmp_path):
    words = "engine-arg = ['--think', '600000']"
    (tmp_path / "tabiya.toml").write_text(f"engine = {json.dumps(str(scripted_exe))}\n{words}\n")
    server = explore(small_book)
    second, events = server.listen("/api/engine", play="d2d4", page="a", search=2)
    (engine,) = children(server.process.pid)
    assert server.wrong("/api/engine", play="e2e4", page="a", search=1) == (503, "busy")
    # That of another page counts for itself.
    other, _ = server.listen("/api/engine", play="e2e4", page="b", search=1)
    assert engine in children(server.process.pid) and events.empty()
    third, _ = server.listen("/api/engine", play="e2e4", page="a", search=3)
    eventually("the second search has ended", lambda: not alive(engine))
    assert len(children(server.process.pid)) == 2
    for connection in (second, other, third):
        connection.close()


def test_real_engine(explore, stockfish, small_book):
    server = explore(small_book, "--engine", stockfish)
    connection, events = server.listen("/api/engine", play="e2e4,c7c5", lines=3)
    while True:
        name, data = events.get(timeout=HANG)
        if name == "info" and data["depth"] >= 6 and len(data["lines"]) == 3:
            break
    for line in data["lines"]:
        board = chess.Board()
        board.push_uci("e2e4")
        board.push_uci("c7c5")
        for uci, san in zip(line["uci"], line["san"], strict=True):
            assert board.san(chess.Move.from_uci(uci)) == san
            board.push_uci(uci)
        assert "cp" in line or "mate" in line
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
