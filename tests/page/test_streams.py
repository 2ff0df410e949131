"""Pages side by side in one browser, which has six connections to a server."""

import json

from conftest import show
from parts import address, drag, weight
from playwright.sync_api import expect

# The browsers of the tests take every page for one that is seen.
SEEN = """seen => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => seen ? 'visible' : 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
}"""


def change(server, book, value):
    """An edit by another program."""
    now = show(book)["d2d4"]["weight"]
    server.ask("/api/edit", {"book": 0, "start": None, "play": [], "move": "d2d4", "op": "set", "value": value, "expect": {"weight": now}})


def test_more_pages_than_connections_hear_of_changes(serve, look, books, context):
    book = books / "main.bin"
    server = serve(book, "--edit")
    pages = [look(server, context=context) for _ in range(8)]
    change(server, book, 71)
    for page in pages:
        expect(weight(page, "d2d4")).to_have_text("71")
    # The first page has the stream; another takes it over.
    pages.pop(0).close()
    change(server, book, 72)
    for page in pages:
        expect(weight(page, "d2d4")).to_have_text("72")
    drag(pages[-1], "d2", "d4")
    address(pages[-1], "#d4")


def test_pages_with_engines_leave_a_connection(serve, look, books, context, engine):
    server = serve(books / "main.bin", "--engine", engine[0])
    for number in range(6):
        page = look(server, context=context)
        page.keyboard.press("e")
        if number < 4:
            expect(page.locator("#engine-lines li")).to_have_count(3)
        else:
            expect(page.locator("#engine-text")).to_have_text("too many engines run: close another page")
    page = look(server, context=context)
    drag(page, "d2", "d4")
    address(page, "#d4")
    expect(page.locator("tr.move .san").first).to_have_text("Nf6")


def test_a_growing_book_says_what_is_next(serve, look, books):
    book = books / "main.bin"
    beside = book.with_name("main.bin.growth")

    def grown(searches, value, line, **more):
        side = {"side": "white", "value": value, "plies": 7.2, "covered": 0.5, "positions": 1234}
        start = {"key": 0x463B96181691FC9C, "side": "white", "value": value, "reach": 1}
        after = {"key": 0x823C9B50FD114196, "side": "white", "value": 32764, "reach": 0.625}
        state = {"searches": searches, "sides": [side], "next": [line], "positions": [start, after], **more}
        beside.with_suffix(".new").write_text(json.dumps(state))
        beside.with_suffix(".new").replace(beside)

    grown(400, 31, {"play": ["e2e4", "c7c5"], "line": "1. e4 c5"})
    page = look(serve(book))
    growth = page.locator("#growth")
    growth.locator("summary").click()
    expect(growth.locator("tbody tr")).to_have_text(["White+0.317.250 %1,234+0.31100 %"])
    expect(growth.locator("#growth-errors-title")).to_be_hidden()
    # While it grows, the page follows.
    errors = [
        {"play": ["e2e4", "f7f6"], "line": "1. e4 f6", "chance": 0.0712, "loss": 92, "games": [2, 11]},
        {"play": ["e2e4", "g7g5"], "line": "1. e4 g5", "chance": 0.04, "loss": 130, "games": None},
    ]
    grown(500, 45, {"play": ["d2d4"], "line": "1. d4"}, errors=errors)
    expect(growth.locator("#growth-name")).to_have_text("500 searches")
    expect(growth.locator("tbody tr")).to_have_text(["White+0.457.250 %1,234+0.45100 %"])
    expect(growth.locator("#growth-errors li")).to_have_text(["1. e4 f6 7.1 %, loses 0.92, 2 of 11 games", "1. e4 g5 4.0 %, loses 1.30"])
    growth.get_by_role("button", name="1. e4 f6").click()
    address(page, "#e4,f6")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    growth.get_by_role("button", name="1. d4").click()
    address(page, "#d4")
    expect(growth.locator("tbody td").nth(4)).to_have_text("")
    page.keyboard.press("ArrowLeft")
    drag(page, "e2", "e4")
    expect(growth.locator("tbody td").nth(4)).to_have_text("#3")
    expect(growth.locator("tbody td").nth(5)).to_have_text("63 %")


def test_a_page_goes_on_while_another_one_is_opened(serve, look, books, context):
    server = serve(books / "main.bin")
    page = look(server, context=context)
    # The browser has the cookie of the new session, and no page has its key yet.
    assert context.request.get(server.address).ok
    page.keyboard.press("1")
    expect(page.locator("tr.move .san").first).to_have_text("c5")
    expect(page.locator("#banner")).to_be_hidden()


def test_a_page_that_is_not_seen_has_no_stream_and_catches_up(serve, look, books, context):
    book = books / "main.bin"
    server = serve(book, "--edit")
    with context.expect_event("request", lambda request: "/api/events" in request.url):
        one = look(server, context=context)
    two = look(server, context=context)
    with one.expect_event("requestfailed", lambda request: "/api/events" in request.url):
        one.evaluate(SEEN, False)
    change(server, book, 71)
    expect(weight(two, "d2d4")).to_have_text("71")
    assert weight(one, "d2d4").inner_text() != "71"
    one.evaluate(SEEN, True)
    expect(weight(one, "d2d4")).to_have_text("71")
    # Nobody listens while the book changes.
    with two.expect_event("requestfailed", lambda request: "/api/events" in request.url):
        one.evaluate(SEEN, False)
        two.evaluate(SEEN, False)
    change(server, book, 72)
    two.evaluate(SEEN, True)
    expect(weight(two, "d2d4")).to_have_text("72")


def test_a_server_without_streams_says_so_and_the_page_works(serve, look, books, context):
    body = '{"error": "too many pages listen to this server", "code": "busy"}'
    context.route("**/api/events", lambda route: route.fulfill(status=503, content_type="application/json", body=body))
    page = look(serve(books / "main.bin"), context=context)
    expect(page.locator("#banner")).to_have_text("too many pages listen to this server: what changes is not seen here.")
    page.keyboard.press("1")
    address(page, "#e4")
    expect(page.locator("tr.move .san").first).to_have_text("c5")


def test_pages_survive_a_restart_of_the_server_together(serve, look, books, context):
    server = serve(books / "main.bin")
    pages = [look(server, context=context) for _ in range(3)]
    server.stop()
    for page in pages:
        expect(page.locator("#banner")).to_contain_text("The server does not answer.")
    server.start()
    for page in pages:
        expect(page.locator("#banner")).to_contain_text("open the address in the last line that it printed")
    pages.append(look(server, context=context))
    for page in pages:
        expect(page.locator("#banner")).to_be_hidden()
        page.keyboard.press("1")
        address(page, "#e4")
