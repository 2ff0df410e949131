"""The explorer's page in Chromium, against the real executable: playing, the address, policy, search, engine, reconnection."""

import pytest
from conftest import show
from parts import Held, address, click, drag, line, piece, square
from playwright.sync_api import expect

NAJDORF = "#e4,c5,Nf3,d6,d4,cxd4,Nxd4,Nf6,Nc3,a6"


def test_a_line_is_played_by_drag_by_clicks_by_keyboard_and_from_the_table(serve, look, books):
    page = look(serve(books / "main.bin"))
    drag(page, "e2", "e4")
    address(page, "#e4")
    piece(page, "e4", "white pawn")
    piece(page, "e2", None)
    expect(page.locator("#opening")).to_contain_text("King's Pawn")

    click(page, "c7")
    expect(square(page, "c5")).to_have_class("square dark target")
    click(page, "c5")
    address(page, "#e4,c5")

    # By keyboard: to g1, take it up, to f3, put it down.
    page.locator('#squares [tabindex="0"]').focus()
    here = page.locator('#squares [tabindex="0"]').get_attribute("data-square")
    for _ in range("abcdefgh".index(here[0]), 6):
        page.keyboard.press("ArrowRight")
    for _ in range(int(here[1]) - 1):
        page.keyboard.press("ArrowDown")
    expect(square(page, "g1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#live")).to_have_text("g1, white knight: e2, f3, h3")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    address(page, "#e4,c5,Nf3")

    # A digit plays that move of the table, a click on a row its move, Enter the move that has the focus.
    expect(page.locator("tr.move .san").first).to_have_text("d6")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("2")
    address(page, "#e4,c5,Nf3,Nc6")
    page.locator('tr.move[data-move="f1b5"] td.weight').click()
    address(page, "#e4,c5,Nf3,Nc6,Bb5")
    expect(page.locator("tr.move .san")).to_have_text(["g6"])
    page.locator("tr.move .san").focus()
    page.keyboard.press("Enter")
    address(page, "#e4,c5,Nf3,Nc6,Bb5,g6")

    # Castling, onto the rook's own square too.
    piece(page, "g6", "black pawn")
    drag(page, "e1", "h1")
    address(page, "#e4,c5,Nf3,Nc6,Bb5,g6,O-O")
    piece(page, "g1", "white king")
    piece(page, "f1", "white rook")
    expect(line(page)).to_have_text(["e4", "c5", "Nf3", "Nc6", "Bb5", "g6", "O-O"])


def test_no_move_is_made_that_is_not_legal(serve, look, books):
    page = look(serve(books / "main.bin"))
    drag(page, "e2", "e5")
    drag(page, "e7", "e5")
    piece(page, "e2", "white pawn")
    piece(page, "e7", "black pawn")
    drag(page, "d2", "d4")
    address(page, "#d4")
    expect(line(page)).to_have_text(["d4"])


def test_touch_plays_too(serve, look, books):
    page = look(serve(books / "main.bin"), width=360, height=740, has_touch=True, is_mobile=True)
    for name in ("e2", "e4"):
        box = square(page, name).bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    address(page, "#e4")
    # The columns that have no room are in a row of their own.
    page.locator('[data-focus="0 c7c5 more"]').tap()
    expect(page.locator("tr.details")).to_be_visible()
    page.locator('[data-focus="0 c7c5 san"]').tap()
    address(page, "#e4,c5")


def test_the_first_position_comes_with_the_page(serve, look, books, browser):
    # A name that would end the element with the data, and one that would hide the end.
    named = (books / "main.bin").rename(books / "<!--<script>{{nonce}}.bin")
    server = serve(named)
    context = browser.new_context()
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = look(server, context=context)
    expect(page.locator("#books")).to_have_text(named.name)
    expect(page.locator("section.book tbody tr").first).to_be_visible()
    piece(page, "e2", "white pawn")
    page.reload()
    expect(page.locator("section.book tbody tr").first).to_be_visible()
    assert not [url for url in asked if "/api/view" in url or "/api/books" in url]
    context.close()


def test_the_line_is_stepped_through_and_the_history_is_the_browsers(serve, look, books):
    server = serve(books / "main.bin")
    page = look(server)
    for name, goal in (("e2", "e4"), ("e7", "e5")):
        click(page, name)
        click(page, goal)
        piece(page, goal, "white pawn" if goal == "e4" else "black pawn")
    page.keyboard.press("ArrowLeft")
    address(page, "#e4")
    piece(page, "e7", "black pawn")
    page.keyboard.press("ArrowRight")
    address(page, "#e4,e5")
    page.keyboard.press("Home")
    page.wait_for_function("() => location.hash === ''")
    page.keyboard.press("End")
    address(page, "#e4,e5")
    page.click("#first")
    piece(page, "e2", "white pawn")
    page.click("#forward")
    address(page, "#e4")
    page.click("#last")
    address(page, "#e4,e5")
    page.click("#back")
    address(page, "#e4")
    line(page).nth(1).click()
    address(page, "#e4,e5")
    page.go_back()
    address(page, "#e4")
    piece(page, "e7", "black pawn")
    page.go_forward()
    piece(page, "e5", "black pawn")
    page.reload()
    expect(line(page)).to_have_text(["e4", "e5"])

    # An address is a position for whoever opens it, and for whoever types it.
    other = look(server, NAJDORF)
    expect(line(other)).to_have_count(10)
    expect(other.locator("#opening")).to_contain_text("Najdorf")
    other.evaluate("location.hash = '#d4,Nf6'")
    expect(line(other)).to_have_text(["d4", "Nf6"])


def test_a_fen_in_the_address_and_promotion(serve, look, books):
    page = look(serve(books / "main.bin"), "#fen=8/P6k/8/8/8/8/7K/8_w_-_-_0_1")
    piece(page, "a7", "white pawn")
    drag(page, "a7", "a8")
    page.get_by_role("button", name="knight").click()
    address(page, "#fen=8/P6k/8/8/8/8/7K/8_w_-_-_0_1&moves=a8=N")
    piece(page, "a8", "white knight")
    page.go_back()
    piece(page, "a7", "white pawn")
    click(page, "a7")
    click(page, "a8")
    expect(page.get_by_role("button", name="queen")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#promotion")).to_have_count(0)
    # Tab stays in the choice, and a click beside it closes it.
    click(page, "a7")
    click(page, "a8")
    for name in ("knight", "rook", "bishop", "queen"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=name)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("button", name="bishop")).to_be_focused()
    page.locator(".brand").click()
    expect(page.locator("#promotion")).to_have_count(0)
    click(page, "a7")
    click(page, "a8")
    page.keyboard.press("r")
    piece(page, "a8", "white rook")
    page.reload()
    piece(page, "a8", "white rook")


def test_an_address_that_names_nothing_is_explained(serve, look, books):
    page = look(serve(books / "main.bin"), "#d4")
    piece(page, "d4", "white pawn")
    page.evaluate("location.hash = '#e4,Ke7'")
    expect(page.locator("#notice")).to_contain_text("The address names no position")
    piece(page, "d2", "white pawn")
    page.keyboard.press("1")
    piece(page, "e4", "white pawn")
    expect(page.locator("#notice")).to_be_hidden()


def test_the_board_is_turned(serve, look, books):
    page = look(serve(books / "main.bin"))
    expect(page.locator("#squares .square").first).to_have_attribute("data-square", "a8")
    page.keyboard.press("f")
    expect(page.locator("#squares .square").first).to_have_attribute("data-square", "h1")
    drag(page, "e2", "e4")
    address(page, "#e4")
    page.click("#flip")
    expect(page.locator("#squares .square").first).to_have_attribute("data-square", "a8")


def test_search_finds_names_moves_and_positions(serve, look, books):
    page = look(serve(books / "main.bin"))
    page.keyboard.press("/")
    page.keyboard.type("sicilian najdorf")
    expect(page.locator("#search-hits").get_by_role("option").first).to_contain_text("Najdorf")
    page.keyboard.press("Enter")
    expect(page.locator("#opening")).to_contain_text("Najdorf")
    page.keyboard.press("/")
    page.keyboard.type("1. d4 Nf6 2. c4")
    expect(page.locator("#search-hits").get_by_role("option").first).to_contain_text("these moves")
    page.keyboard.press("Enter")
    address(page, "#d4,Nf6,c4")
    page.keyboard.press("/")
    page.keyboard.type("8/P6k/8/8/8/8/7K/8 w - - 0 1")
    expect(page.locator("#search-hits").get_by_role("option").first).to_contain_text("this position")
    page.locator("#search-hits").get_by_role("option").first.click()
    piece(page, "a7", "white pawn")
    page.keyboard.press("/")
    page.keyboard.type("xyzzy")
    expect(page.locator("#search-words")).to_contain_text("No opening of that name")
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_be_hidden()


def test_keys_act_at_once_after_a_dialog(serve, look, books):
    page = look(serve(books / "main.bin"))
    page.keyboard.press("/")
    expect(page.locator("#search-text")).to_be_focused()
    # The browser takes the focus away from the field of a closed dialog when it draws next.
    page.evaluate("""() => {
        document.getElementById("search").close();
        document.getElementById("search-text").dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
    }""")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_enter_waits_for_the_answer_to_all_of_the_text(serve, look, books, context):
    answers = Held(context, "**/api/read**")
    page = look(serve(books / "main.bin"), context=context)
    page.keyboard.press("/")
    page.locator("#search-text").fill("e4")
    answers.wait(page)
    # More is typed and Enter is pressed before the answer to the first letters is there.
    page.locator("#search-text").fill("e4 c5")
    page.keyboard.press("Enter")
    answers.let_go()
    address(page, "#e4,c5")
    expect(line(page)).to_have_text(["e4", "c5"])


def test_the_policy_acts_at_once(serve, look, books):
    page = look(serve(books / "main.bin"))
    shares = page.locator("tr.move td.chance .share")
    most = f"{100 * show(books / 'main.bin')['e2e4']['chance']:.0f} %"
    expect(shares.first).to_have_text(most)
    page.locator("#variety").focus()
    page.keyboard.press("Home")
    expect(shares.first).to_have_text("100 %")
    page.keyboard.press("End")
    expect(shares.first).to_have_text("25 %")
    page.get_by_role("button", name="Reset").click()
    expect(shares.first).to_have_text(most)
    page.locator("#threshold-number").fill("20")
    expect(page.locator('tr[data-move="c2c4"]')).to_have_class("move idle")
    expect(page.locator('tr[data-move="c2c4"] td.chance')).to_have_attribute("title", "Not played: played too rarely (below 20 %)")


def test_rows_draw_arrows(serve, look, books):
    page = look(serve(books / "main.bin"))
    strong = page.locator("#arrows .strong")
    expect(page.locator("#arrows .faint")).to_have_count(2)
    expect(strong).to_have_count(0)
    page.locator('tr[data-move="d2d4"]').hover()
    expect(strong).to_have_attribute("data-move", "d2d4")
    page.locator("tr.move .san").first.focus()
    expect(strong).to_have_attribute("data-move", "e2e4")
    page.keyboard.press("ArrowDown")
    expect(strong).to_have_attribute("data-move", "d2d4")


def test_only_columns_with_data_are_shown(serve, look, books):
    page = look(serve(books / "main.bin"), width=1600)
    head = page.locator("#tables thead th")
    expect(head).to_have_text(["move", "chance", "weight", "eval", "loss", "leads to"])
    expect(page.locator('tr[data-move="d2d4"] td.loss')).to_have_text("10")
    # What is not known is blank.
    expect(page.locator('tr[data-move="g1f3"] td.eval')).to_have_text("")
    page = look(serve(books / "marks.ctg"), width=1600)
    expect(head).not_to_contain_text(["learned"])
    e4 = page.locator("section.book tr").filter(has=page.locator('[data-focus="0 e2e4 san"]'))
    expect(e4.locator(".mark")).to_contain_text("!")
    expect(e4.locator(".san")).to_have_class("san green")
    expect(e4.locator("td.games")).to_have_attribute("title", "130 games")


def test_several_books_and_their_facts(serve, look, books):
    page = look(serve(books / "marks.ctg", books / "main.bin", books / "arena.abk", books / "named.kob"), "#e4,c5,Nf3")
    page.get_by_role("button", name="Each", exact=True).click()
    expect(page.locator("section.book")).to_have_count(4)
    kvetka = page.locator('[data-book="3"]')
    expect(kvetka.locator(".comment")).to_contain_text("Sicilian")
    expect(kvetka.locator(".sums")).to_contain_text("96 games")
    kvetka.locator(".sample button").click()
    expect(page.locator("#text-body")).to_contain_text('[White "White')
    page.keyboard.press("Escape")
    page.get_by_role("button", name="main.bin", exact=True).click()
    expect(page.locator("section.book")).to_have_count(3)
    for name in ("marks.ctg", "arena.abk", "named.kob"):
        page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator("#notice")).to_have_text("No book is chosen: choose one above.")
    expect(page.locator("section.book")).to_have_count(0)


def test_other_orders_of_moves_and_great_numbers(serve, look, books, browser):
    def more(route):
        answer = route.fetch()
        view = answer.json()
        view["books"][0] |= {"games": 31300, "here": 27100, "elsewhere": 4200}
        route.fulfill(response=answer, json=view)

    # Before the page is there: a route that is made later may miss the first request after it.
    context = browser.new_context()
    context.route("**/api/view**", more)
    page = look(serve(books / "marks.ctg"), context=context)
    page.keyboard.press("1")
    expect(page.locator(".sums")).to_contain_text("31.3k games · reached by other orders 4.2k")
    expect(page.locator(".sums span").first).to_have_attribute("title", "31,300 games")
    context.close()


def test_the_end_of_the_book_and_unknown_positions(serve, look, books, engine):
    program, _ = engine
    page = look(serve(books / "main.bin", "--engine", program), "#e4,e5,Nf3,Nc6,Bb5,a6,h4")
    expect(page.locator("#notice")).to_contain_text("The book ends here after 3 moves.")
    # The engine goes on where the book does not.
    expect(page.locator("#engine-lines li")).to_have_count(3)
    page.get_by_role("button", name="Back to the last choice").click()
    address(page, "#e4")
    page.evaluate("location.hash = '#e4,c5,h4,h5'")
    expect(page.locator("#notice")).to_contain_text("No book knows this position. The last known position is after 1. e4 c5.")
    page.get_by_role("button", name="after 1. e4 c5").click()
    address(page, "#e4,c5")
    expect(page.locator("#notice")).to_be_hidden()


def test_the_next_choice_and_the_last(serve, look, books):
    page = look(serve(books / "main.bin"), "#e4,c5,Nf3,d6")
    page.keyboard.press("n")
    address(page, NAJDORF)
    page.keyboard.press("b")
    address(page, "#e4,c5,Nf3")


def test_the_engine_thinks_stops_and_may_go(serve, look, books, engine):
    program, life = engine
    page = look(serve(books / "main.bin", "--engine", program))
    rows = page.locator("#engine-lines li")
    page.keyboard.press("e")
    expect(rows).to_have_count(3)
    expect(page.locator("#engine-score")).to_have_text("+0.30")
    expect(page.locator("#engine-stop")).to_have_text("Stop")
    page.click("#engine-stop")
    expect(page.locator("#engine-stop")).to_have_text("Start")
    page.click("#engine-stop")
    expect(page.locator("#engine-stop")).to_have_text("Stop")
    rows.first.get_by_role("button").click()
    expect(line(page)).to_have_count(1)
    expect(rows.first).to_contain_text("1... ")
    # It dies in the middle of a search: the page says so, goes on, and can ask again.
    life.unlink()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#engine-text")).to_contain_text("ended")
    expect(page.locator("#engine-stop")).to_have_text("Start")
    with page.expect_response(lambda answer: "/api/engine" in answer.url and "d2d4" in answer.url):
        drag(page, "d2", "d4")
    address(page, "#d4")
    expect(page.locator("#engine-text")).to_contain_text("ended")
    expect(page.locator("#engine-stop")).to_have_text("Start")
    life.touch()
    page.click("#engine-stop")
    expect(rows).to_have_count(3)
    expect(page.locator("#engine-stop")).to_have_text("Stop")


def test_the_page_survives_a_restart_of_the_server(serve, look, books):
    server = serve(books / "main.bin")
    page = look(server, "#e4")
    server.stop()
    expect(page.locator("#banner")).to_contain_text("does not answer")
    server.start()
    expect(page.locator("#banner")).to_contain_text("does not know this page any more")
    # The browser has a session as soon as an address of the new server is opened.
    look(server, context=page.context)
    expect(page.locator("#banner")).to_be_hidden()
    page.keyboard.press("1")
    address(page, "#e4,c5")


def test_copies(serve, look, books):
    page = look(serve(books / "main.bin"), "#e4,c5", permissions=["clipboard-read", "clipboard-write"])
    expect(line(page)).to_have_count(2)
    page.click("#copy-fen")
    expect(page.locator("#toast")).to_have_text("FEN copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("rnbqkbnr/pp1ppppp/8/2p5/4P3/8/")
    page.click("#copy-pgn")
    expect(page.locator("#toast")).to_have_text("PGN copied")
    assert "1. e4 c5" in page.evaluate("navigator.clipboard.readText()")


def test_what_a_screen_reader_says_and_the_order_of_tab(serve, look, books, engine):
    page = look(serve(books / "main.bin", "--engine", engine[0]), "#e4,c5,Nf3,d6,d4,cxd4,Nxd4,Nf6,Nc3")
    page.keyboard.press("1")
    expect(page.locator("#live")).to_have_text("a6. White to move, Sicilian Defense: Najdorf Variation, 3 moves in the book.")
    places = []
    for _ in range(40):
        page.keyboard.press("Tab")
        place = page.evaluate("document.activeElement.closest('#squares, #controls, #line, #tables, #policy, #engine, header')?.id || document.activeElement.tagName")
        if place not in places:
            places.append(place)
    wanted = ["squares", "controls", "line", "engine", "tables", "policy"]
    assert [place for place in places if place in wanted] == wanted
    unnamed = page.evaluate("""[...document.querySelectorAll('button, input, select')].filter(node => node.checkVisibility()
        && !node.textContent.trim() && !node.getAttribute('aria-label') && !node.labels?.length).map(node => node.outerHTML)""")
    assert unnamed == []


def test_the_focus_goes_as_the_eye_does_and_arrows_through_the_toolbar(serve, look, books):
    page = look(serve(books / "main.bin", books / "marks.ctg"), "#e4,c5")
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("""(node => { const box = node.getBoundingClientRect(); return [node.closest('header, #play, #facts')?.id || node.closest('header')?.tagName, Math.round(box.y)]; })(document.activeElement)"""))
    # First the head of the page, then the board and what is under it, then the tables.
    places = [place for place, _ in seen]
    assert places.index("HEADER") < places.index("play") < places.index("facts"), seen
    heights = [height for place, height in seen if place == "play"]
    assert heights == sorted(heights)
    buttons = page.locator("#controls button")
    assert page.locator('#controls button[tabindex="0"]').count() == 1
    buttons.first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#back")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#copy-pgn")).to_be_focused()
    page.keyboard.press("Home")
    expect(page.locator("#first")).to_be_focused()
    # The line has not moved; a button does what it says, and keeps the focus.
    address(page, "#e4,c5")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    address(page, "#e4")
    expect(page.locator("#back")).to_be_focused()
    # A click leaves the arrows to the line.
    page.evaluate("document.activeElement.blur()")
    page.click("#forward")
    address(page, "#e4,c5")
    page.keyboard.press("ArrowLeft")
    address(page, "#e4")


def test_the_script_is_modules_and_leaves_nothing_global(serve, look, books, context):
    asked = []
    context.on("response", lambda answer: asked.append((answer.request.url, answer.headers)))
    server = serve(books / "main.bin")
    page = look(server, context=context)
    empty = context.new_page()
    empty.goto(f"http://127.0.0.1:{server.port}/nothing")
    own = set(page.evaluate("Object.keys(window)")) - set(empty.evaluate("Object.keys(window)"))
    # The browser makes some of its own for elements with an id; these are not enumerable.
    assert own == set()
    script = [(url, headers) for url, headers in asked if url.endswith(".js")]
    # They come as one, so that none waits for another to be read first.
    [(url, headers)] = script
    assert "immutable" in headers["cache-control"] and headers["content-encoding"] == "gzip"
    assert page.evaluate("[...document.querySelectorAll('script[src]')].map(node => [node.type, node.src])") == [["module", url]]


def test_settings_are_shown_and_saved(serve, look, books, engine, tmp_path):
    config = tmp_path / "tabiya.toml"
    config.write_text(f"# mine\nengine = '{engine[0]}'\nbook = '{books / 'main.bin'}'\n[set]\n'Book Variety' = 60\n")
    server = serve("--settings")
    page = look(server)
    page.click("#open-settings")
    field = page.get_by_label("Book Variety")
    expect(field).to_have_value("60")
    expect(page.locator("#settings .group")).to_have_text(["Engine", "Books", "Choosing moves", "Learning", "Log and name"])
    # Save is seen wherever the form is scrolled to.
    save = page.get_by_role("button", name="Save").bounding_box()
    assert save["y"] + save["height"] <= page.viewport_size["height"]
    field.fill("70")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#settings-words")).to_have_text("Saved.")
    text = config.read_text()
    assert "'Book Variety' = 70\n" in text and text.startswith("# mine")


def test_the_interface_that_other_programs_use_is_that_of_the_page(serve, look, books):
    server = serve(books / "main.bin")
    page = look(server, "#e4")
    expect(page.locator("tr.move .san").first).to_have_text("c5")
    assert [move["san"] for move in server.ask("/api/position?play=e2e4")["moves"]][:1] == ["c5"]
    with page.expect_response(lambda answer: "/api/view" in answer.url) as answered:
        page.keyboard.press("1")
    assert server.ask("/api/view?play=e2e4,c7c5") == answered.value.json()
    expect(page.locator("tr.move .san").first).to_have_text(answered.value.json()["books"][0]["moves"][0]["san"])
