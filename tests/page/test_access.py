"""Who sees the page: the address that works once, the session that it begins, and what needs a flag."""

import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from parts import address, line


def next_address(server):
    """The address that the server prints once the one before has been used."""
    return server.process.stdout.readline().strip().removeprefix("for another browser: ")


def test_the_address_works_once_and_the_browser_keeps_its_session(serve, look, books, browser):
    server = serve(books / "main.bin", "--edit")
    page = look(server, "#e4", address=server.once)
    # The code is gone from the address, and the place is not.
    expect(page).to_have_url(f"http://127.0.0.1:{server.port}/#e4")
    page.keyboard.press("1")
    address(page, "#e4,c5")
    page.reload()
    expect(line(page)).to_have_text(["e4", "c5"])
    # Another page of this browser, without a code and with the one that was used.
    for again in (f"http://127.0.0.1:{server.port}/", server.once):
        other = look(server, address=again, context=page.context)
        other.keyboard.press("1")
        address(other, "#e4")
    # Another browser.
    stranger = browser.new_context()
    page = stranger.new_page()
    assert page.goto(server.once).status == 401
    expect(page.locator("body")).to_contain_text("open the one in the last line that tabiya explore printed")
    stranger.close()
    page = look(server, address=next_address(server))
    page.keyboard.press("1")
    address(page, "#e4")


def test_another_port_of_this_machine_gets_no_more_than_the_cookie(serve, look, books):
    server = serve(books / "main.bin", "--edit")
    page = look(server, address=server.once)
    sent = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            sent.append(self.headers["Cookie"] or "")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        elsewhere = page.context.new_page()
        elsewhere.goto(f"http://127.0.0.1:{other.server_port}/")
        assert elsewhere.evaluate("localStorage.length") == 0
        other.shutdown()
    assert f"tabiya_{server.port}=" in sent[0], "browsers do not distinguish ports"
    assert page.evaluate("document.cookie") == "" and page.evaluate("localStorage.length") == 1
    for path in ("/api/books", "/api/view", "/api/events"):
        request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", headers={"Cookie": sent[0]})
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request)
    page.keyboard.press("1")
    address(page, "#e4")


def test_a_browser_that_keeps_nothing_still_has_the_page(serve, look, books, context):
    server = serve(books / "main.bin")
    context.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } })")
    page = look(server, address=server.once, context=context)
    page.keyboard.press("1")
    address(page, "#e4")
    expect(page.locator("#banner")).to_be_hidden()


def test_settings_are_offered_only_with_their_flag(serve, look, books):
    for flag, offered in (("--edit", False), ("--settings", True)):
        page = look(serve(books / "main.bin", flag))
        assert page.locator("#open-settings").is_visible() == offered
    page.click("#open-settings")
    expect(page.get_by_label("Book Variety")).to_be_enabled()
    expect(page.locator("#settings-save")).to_be_visible()


@pytest.fixture
def other_site():
    """A page of another site; what it says is set on it."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(self.server.says.encode())

        def log_message(self, *_):
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    site.says = "<p>another site</p>"
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield site
    site.shutdown()
    site.server_close()


def test_a_link_of_another_site_leads_to_its_position(serve, look, books, other_site):
    server = serve(books / "main.bin")
    page = look(server)
    other_site.says = f'<a href="http://127.0.0.1:{server.port}/#e4,c5">the Sicilian</a>'
    other = page.context.new_page()
    other.goto(f"http://localhost:{other_site.server_port}/")
    other.get_by_role("link").click()
    expect(line(other)).to_have_text(["e4", "c5"])
    expect(other.locator("#opening")).to_contain_text("Sicilian")


def test_pages_of_other_sites_read_what_is_open_and_nothing_else(serve, look, books, other_site):
    ask = """async ([port, path, headers]) => {
        try {
            const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
            return [answer.status, (await answer.json()).moves?.length ?? 0];
        } catch (error) {
            return [0, 0];
        }
    }"""
    server, closed = serve(books / "main.bin", "--open-api"), serve(books / "main.bin")
    page = look(server)
    page.goto(f"http://localhost:{other_site.server_port}/")
    for path in ("/lichess?play=e2e4", "/masters", "/chessdb?action=queryall&json=1&board=startpos"):
        status, moves = page.evaluate(ask, [server.port, path, {}])
        assert (status, moves > 0) == (200, True), path
        # With a header of its own the browser asks first.
        assert page.evaluate(ask, [server.port, path, {"Authorization": "Bearer x"}])[0] == 200
        assert page.evaluate(ask, [closed.port, path, {}]) == [0, 0]
    for path in ("/api/books", "/api/position", "/api/view"):
        assert page.evaluate(ask, [server.port, path, {}]) == [0, 0]
