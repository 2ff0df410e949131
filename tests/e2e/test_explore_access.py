"""`tabiya explore`: who may ask for what, and requests that others do not wait for."""

import contextlib
import gzip
import hashlib
import http.client
import json
import queue
import re
import threading
import time

import pytest

from client import HANG, eventually
from conftest import linux_only, not_windows
from polyglot_writer import Book
from random_games import FORMATS, random_games

TOKEN = "0123456789abcdef0123456789abcdef"
GAMES = random_games(20, seed=11, most_plies=12)


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "kept-token"
    path.touch(0o600)
    path.write_text(TOKEN)
    return path


class Browser:
    """What a browser keeps of a server: its cookie, and the key that came with the page."""

    def __init__(self, server, path):
        self.server = server
        status, headers, page = server.raw("GET", path, token=False)
        assert (status, headers["Location"]) == (303, "/"), page
        self.cookie = re.fullmatch(r"(tabiya_(\d+)=[0-9a-f]{32}); HttpOnly; SameSite=Lax; Path=/", headers["Set-Cookie"])
        assert int(self.cookie[2]) == server.port
        self.headers = {"Cookie": self.cookie[1]}
        page = server.raw("GET", "/", headers=self.headers, token=False)[2]
        first = json.loads(re.search(rb'<script type="application/json" id="known">(.*?)</script>', page)[1])
        self.key = {"Tabiya-Key": first["key"]}
        assert "code" not in first and len(first["key"]) == 32

    def status(self, path, method="GET", body=None, **headers):
        return self.server.raw(method, path, body, self.headers | headers, token=False)[0]


def code_path(address):
    return "/" + re.fullmatch(r"http://127\.0\.0\.1:\d+/(\?code=[0-9a-f]{32})", address)[1]


def new_address(server):
    return server.process.stdout.readline().decode().strip().removeprefix("for another browser: ")


# The address


def test_the_address_opens_the_page_once_and_another_is_printed(explore, small_book):
    server = explore(small_book)
    path = code_path(server.address)
    assert server.token not in server.address
    browser = Browser(server, path)
    status, _, page = server.raw("GET", path, token=False)
    assert status == 401 and b"works once" in page and b"last line" in page, page
    # The same browser is led to the page; another has the next address.
    status, headers, _ = server.raw("GET", path, headers=browser.headers, token=False)
    assert (status, headers["Location"]) == (303, "/")
    address = new_address(server)
    other = Browser(server, code_path(address))
    assert other.cookie[1] != browser.cookie[1] and other.key != browser.key
    for one in (browser, other):
        assert one.status("/api/books", **one.key) == 200
    assert code_path(new_address(server)) not in (path, code_path(address))


def test_a_cookie_that_another_port_is_sent_shows_no_more_than_the_page(explore, small_book):
    server = explore(small_book, "--edit")
    browser = Browser(server, code_path(server.address))
    edit = json.dumps({"book": 0, "play": [], "move": "d2d4", "op": "set", "value": 1, "expect": {"weight": 10}})
    kind = {"Content-Type": "application/json"}
    # A browser sends its cookies for this machine to all of its ports.
    assert browser.status("/") == 200
    for path in ("/api/books", "/api/view", "/api/position", "/api/events", "/api/engine", "/lichess"):
        assert browser.status(path) == 401, path
    assert browser.status("/api/edit", "POST", edit, **kind) == 401
    assert browser.status("/api/edit", "POST", edit, **kind, **{"Tabiya-Key": "0" * 32}) == 401
    page = server.raw("GET", "/", headers=browser.headers, token=False)[2]
    assert browser.key["Tabiya-Key"].encode() not in page
    # A session is no token.
    secret = browser.cookie[1].split("=")[1]
    for word in (secret, browser.key["Tabiya-Key"]):
        assert server.raw("GET", "/api/books", headers={"Authorization": f"Bearer {word}"}, token=False)[0] == 401
        assert browser.status(f"/api/books?token={word}") == 401
    assert server.moves()["d2d4"]["weight"] == 10
    assert browser.status("/api/edit", "POST", edit, **kind, **browser.key) == 200
    # The token is no session.
    assert server.raw("GET", "/", headers={"Cookie": f"tabiya_{server.port}={server.token}"}, token=False)[0] == 401


def test_nothing_opens_without_a_session_or_the_token(explore, small_book):
    server = explore(small_book)
    browser = Browser(server, code_path(server.address))
    status, headers, page = server.raw("GET", "/", headers=browser.headers, token=False)
    policy = headers["Content-Security-Policy"]
    nonce = re.search(r"script-src 'nonce-([0-9a-f]+)'", policy)[1]
    assert status == 200 and page.count(f'nonce="{nonce}"'.encode()) == 2 and b"{{nonce}}" not in page
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    # What it is made of holds nothing of anybody's, is compressed once, and is kept by browsers.
    whole = 0
    for name in re.findall(rb'(?:href|src)="(/page/[0-9a-f]{16}\.(?:css|js))"', page):
        path = name.decode()
        status, part, content = server.raw("GET", path, headers={"Accept-Encoding": "gzip"}, token=False)
        assert (status, part["Content-Encoding"], part["X-Content-Type-Options"]) == (200, "gzip", "nosniff") and "immutable" in part["Cache-Control"]
        assert gzip.decompress(content) == server.raw("GET", path, token=False)[2]
        status, again, nothing = server.raw("GET", path, headers={"If-None-Match": part["ETag"]}, token=False)
        assert (status, nothing, again["ETag"]) == (304, b"", part["ETag"])
        assert server.raw("GET", path, headers={"Sec-Fetch-Site": "cross-site"}, token=False)[0] == 403
        assert server.raw("POST", path, token=False)[0] in (400, 401)
        whole += len(content)
    assert 0 < whole + len(gzip.compress(page)) < 100_000
    assert server.raw("GET", "/page/0000000000000000.js", token=False)[0] == 404
    other = server.raw("GET", "/")[1]["Content-Security-Policy"]
    assert other != policy
    for path in ("/", "/api/books", "/api/view", "/lichess", "/none", "/api/edit", "/api/events"):
        for bad in ({}, {"Authorization": "Bearer x"}, {"Cookie": f"tabiya_{server.port}=x"}):
            status, headers, body = server.raw("GET", path, headers=bad, token=False)
            assert status == 401, path
            assert path == "/" or json.loads(body)["code"] == "unauthorized"
    for name, value in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store")):
        assert headers[name] == value
    assert server.raw("GET", f"/api/books?token={server.token}", token=False)[0] == 200
    # The address of the page with the token can be kept: it opens the page as often as it is wanted.
    for _ in range(2):
        assert Browser(server, f"/?token={server.token}").status("/") == 200


def test_a_link_of_another_site_leads_to_the_page(explore, small_book):
    server = explore(small_book)
    browser = Browser(server, code_path(server.address))
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-User": "?1"}
    assert browser.status("/", **link) == 200
    # Not without the cookie, in a frame, as an image, or elsewhere.
    assert server.raw("GET", "/", headers=link, token=False)[0] == 401
    for other in ({"Sec-Fetch-Dest": "iframe"}, {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}):
        assert browser.status("/", **link | other) == 403
    assert browser.status("/api/books", **link, **browser.key) == 403


def test_a_refusal_is_a_page_that_says_what_to_do(explore, small_book):
    server = explore(small_book)
    for headers, status, words in (({}, 401, b"open the address in the last line"), ({"Sec-Fetch-Site": "cross-site"}, 403, b"another site")):
        answer, headers, page = server.raw("GET", "/", headers=headers, token=False)
        assert (answer, headers["Content-Type"]) == (status, "text/html; charset=utf-8")
        nonce = re.search(r"style-src 'nonce-([0-9a-f]+)'", headers["Content-Security-Policy"])[1]
        assert words in page and f'nonce="{nonce}"'.encode() in page and b"<script" not in page and b"{{" not in page
        assert b"`" not in page


def test_a_token_is_kept_in_a_file(explore, small_book, tmp_path):
    kept = tmp_path / "token"
    tokens = [explore(small_book, "--token-file", kept).token for _ in range(2)]
    assert tokens == [kept.read_text().strip()] * 2 and re.fullmatch(r"[0-9a-f]{32}", tokens[0])
    kept.write_text("x\n")
    with pytest.raises(AssertionError, match="token: this is not a token"):
        explore(small_book, "--token-file", kept)


@not_windows
def test_a_token_that_others_can_read_is_reported(explore, small_book, kept):
    others = ((0o640, b"anyone in its group"), (0o604, b"anyone"), (0o644, b"anyone"))
    for mode, who in ((0o600, None), (0o400, None), *others):
        kept.chmod(mode)
        server = explore(small_book, "--token-file", kept)
        assert len(server.get("/api/books")["books"]) == 1
        server.end()
        errors = server.process.stderr.read()
        assert (who is None and b"token" not in errors) or b"kept-token: " + who + b" on this machine can read the token" in errors, errors


# The settings


def test_settings_and_doctor_need_a_flag_of_their_own(explore, tabiya, scripted_exe, small_book, tmp_path):
    started = tmp_path / "started"
    config = tmp_path / "tabiya.toml"
    config.write_text(f"engine = {json.dumps(str(scripted_exe))}\nengine-arg = ['--pid-file', {json.dumps(str(started))}]\nbook = 'small.bin'\n")
    before = config.read_bytes()
    for flags in ((), ("--edit",)):
        server = explore(*flags)
        books = server.get("/api/books")
        # The engine that was configured before the start still thinks.
        assert books["settings"] is False and books["engine"].startswith("scripted-engine")
        assert server.wrong("/api/settings") == (403, "forbidden")
        for path, body in (("/api/settings", {"set": {"engine": "evil"}}), ("/api/settings", {"set": {"log": str(tmp_path / "log")}}), ("/api/doctor", {})):
            status, answer = server.post(path, body)
            assert (status, answer["code"]) == (403, "forbidden") and "--settings" in answer["error"]
        assert config.read_bytes() == before and not started.exists()
    server = explore("--settings")
    assert server.get("/api/books")["settings"] is True and not server.get("/api/books")["edit"]
    assert server.post("/api/doctor", {})[0] == 200 and started.exists()


def test_settings_are_for_this_machine_only(explore, tabiya, small_book):
    for listen in ("0.0.0.0:0", "[::]:0"):
        done = tabiya("explore", "--no-open", "--settings", "--listen", listen, small_book)
        assert done.returncode == 2 and b"--settings" in done.stderr and not done.stdout, done
    assert explore(small_book, "--settings", "--listen", "127.0.0.1:0").get("/api/settings")["rows"]


# Requests that others do not wait for


def answers_of(server, requests):
    """The answers to requests, which are put all at once, as they come."""
    answers = queue.Queue()

    def ask(path, body):
        with contextlib.suppress(OSError, http.client.HTTPException):
            answers.put((path, *server.post(path, body)))

    threads = [threading.Thread(target=ask, args=request, daemon=True) for request in requests]
    for thread in threads:
        thread.start()
    return answers, threads


def look_ups(server):
    for _ in range(20):
        assert server.get("/api/view")["books"][0]["found"]
        time.sleep(0.05)


@linux_only
def test_saves_that_wait_hold_up_no_look_up(explore, small_book):
    import fcntl

    server = explore("--edit", small_book)
    # As another process that edits the book would.
    name = hashlib.sha256(small_book.stem.encode()).hexdigest()[:16]
    with small_book.with_name(f".tabiya-lock-{name}.part").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        edits = [("/api/edit", {"book": 0, "start": None, "play": [], "move": "d2d4", "op": "set", "value": 10, "expect": {"weight": 10}})] * 16
        answers, threads = answers_of(server, edits)
        look_ups(server)
        # Those that have had a turn may have given up by now; one gives up after a minute.
        assert answers.qsize() < 8, answers.get()
    for thread in threads:
        thread.join(HANG)
    assert 200 in {answers.get_nowait()[1] for _ in edits}


@linux_only
def test_an_engine_that_hangs_under_doctor_holds_up_nobody(explore, scripted_exe, small_book, tmp_path):
    started = tmp_path / "started"
    words = json.dumps(["--mute", "--pid-file", str(started)])
    (tmp_path / "tabiya.toml").write_text(f"engine = {json.dumps(str(scripted_exe))}\nengine-arg = {words}\nengine-timeout = 3600\nbook = 'small.bin'\n")
    server = explore("--settings")
    doctor, _ = answers_of(server, [("/api/doctor", {})])
    eventually("the doctor has started the engine", started.exists)
    assert server.post("/api/doctor", {})[1]["code"] == "busy"
    changes, _ = answers_of(server, [("/api/settings", {"set": {"book-variety": str(number)}}) for number in range(10)])
    look_ups(server)
    assert [changes.get(timeout=HANG)[1] for _ in range(10)] == [200] * 10
    assert doctor.empty(), doctor.get()
    server.end()


# Books that cannot be read


def said_of(server):
    """What the server says of its book: why it cannot be read, or how many moves the start has."""
    view = server.get("/api/view")["books"][0]
    if "error" in view:
        assert view["found"] is False and view["moves"] == []
    return view.get("error") or len(view["moves"])


@not_windows
@pytest.mark.parametrize("name", FORMATS)
def test_a_book_that_cannot_be_read_says_so_and_comes_back(explore, copy_of, name):
    path = copy_of(name)
    server = explore(path)
    moves = said_of(server)
    assert moves > 0
    endings = {".cto", ".ctb"} if name == "ctg" else set()
    files = [file for file in path.parent.iterdir() if file.suffix in endings | {f".{name}"}]
    for file in files:
        content = file.read_bytes()
        aside = file.with_suffix(".aside")
        # Removed.
        file.rename(aside)
        words = eventually(f"{file.name} is missed", lambda: isinstance(said := said_of(server), str) and said)
        assert "book" in words and server.get("/api/books")["books"][0]["error"] == words
        assert server.raw("GET", "/api/position")[0] == 500 and server.raw("GET", "/lichess")[0] == 500
        aside.rename(file)
        eventually(f"{file.name} is back", lambda: said_of(server) == moves)
        # Cut short in its place, and written again.
        with file.open("r+b") as cut:
            cut.truncate(5)
        words = eventually(f"{file.name} is cut short", lambda: isinstance(said := said_of(server), str) and said)
        assert "book" in words
        file.write_bytes(content)
        eventually(f"{file.name} is whole", lambda: said_of(server) == moves)
    assert server.end() == 0


def test_a_book_that_was_not_there_at_first_comes(explore, small_book, tmp_path):
    server = explore(small_book, tmp_path / "later.bin")
    books = server.get("/api/view")["books"]
    assert [book["found"] for book in books] == [True, False] and "later.bin" in books[1]["error"]
    Book().line("e2e4").write(tmp_path / "later.bin")
    eventually("the book is read", lambda: server.get("/api/view")["books"][1]["found"])
