"""What belongs to a position stays with it: edits, keys and answers that come when another position is on the board."""

import pytest
from conftest import show
from parts import Held, address, click, drag, line, note, piece, saved, shown, square, weight
from playwright.sync_api import expect

PROMOTION = "8/P6k/8/8/8/8/7K/8 w - - 0 1"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


def write(page, move, value):
    weight(page, move).click()
    weight(page, move).fill(str(value))
    page.keyboard.press("Enter")


@pytest.fixture
def edited(serve, look, books, context):
    """A book, what it saves, which is held back, and its page."""
    book, saves = books / "main.bin", Held(context, "**/api/edit")
    return book, saves, look(serve(book, "--edit"), context=context)


def test_back_closes_a_dialog(serve, look, books):
    page = look(serve(books / "main.bin"))
    keys = page.get_by_role("dialog", name="Keys")
    page.keyboard.press("1")
    address(page, "#e4")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.go_back()
    expect(keys).to_be_hidden()
    address(page, "#e4")
    # One that was closed is no step: Back goes to the position before, and a move takes its place.
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("1")
    address(page, "#e4,c5")
    page.go_back()
    address(page, "#e4")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.go_back()
    address(page, "")


def test_a_value_goes_to_the_position_in_which_it_was_set(edited):
    book, saves, page = edited
    write(page, "g1f3", 11)
    saves.wait(page)
    page.evaluate("location.hash = '#e4,e5'")
    expect(line(page)).to_have_text(["e4", "e5"])
    expect(page.locator("tr.move")).to_have_count(1)
    expect(weight(page, "g1f3")).not_to_have_text("11")
    write(page, "g1f3", 22)
    saves.let_go()
    expect(note(page)).to_contain_text("→ 22 · saved")
    expect(weight(page, "g1f3")).to_have_text("22")
    page.go_back()
    expect(page.locator("tr.move")).to_have_count(4)
    expect(weight(page, "g1f3")).to_have_text("11")
    saved(page)
    assert (show(book)["g1f3"]["weight"], show(book, "e4", "e5")["g1f3"]["weight"]) == (11, 22)


def test_an_answer_about_another_position_leaves_what_is_said_of_this_one(edited):
    _, saves, page = edited
    write(page, "g1f3", 11)
    saves.wait(page)
    page.evaluate("location.hash = '#e4,e5'")
    expect(page.locator("tr.move")).to_have_count(1)
    write(page, "g1f3", 22)
    saves.routes[0].continue_()
    # The later edit is sent when the one before is answered, of which nothing is said here.
    saves.wait(page, 2)
    expect(note(page)).to_have_count(0)
    saves.routes[1].continue_()
    saved(page)
    expect(weight(page, "g1f3")).to_have_text("22")
    expect(note(page)).to_contain_text("→ 22 · saved")


def test_a_value_that_is_being_saved_can_be_changed_again(edited):
    book, saves, page = edited
    write(page, "d2d4", 60)
    saves.wait(page)
    weight(page, "d2d4").click()
    expect(weight(page, "d2d4")).to_have_value("60")
    page.keyboard.press("ArrowUp")
    saves.let_go()
    expect(note(page)).to_contain_text("48 → 60 · saved")
    expect(weight(page, "d2d4")).to_have_value("61")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("60 → 61 · saved")
    assert show(book)["d2d4"]["weight"] == 61


def test_a_field_that_is_open_is_saved_where_it_was(serve, look, books):
    book = books / "main.bin"
    page = look(serve(book, "--edit"), "#e4")
    page.keyboard.press("1")
    address(page, "#e4,c5")
    expect(page.locator("tr.move")).to_have_count(1)
    weight(page, "g1f3").click()
    weight(page, "g1f3").fill("77")
    page.go_back()
    address(page, "#e4")
    expect(page.locator("input.value:not(.adding *)")).to_have_count(0)
    page.go_forward()
    expect(weight(page, "g1f3")).to_have_text("77")
    saved(page)
    assert show(book, "e4", "c5")["g1f3"]["weight"] == 77


def test_rows_of_another_position_do_nothing(serve, look, books, context):
    before = [(books / name).read_bytes() for name in ("main.bin", "marks.ctg")]
    views = Held(context, "**/api/view**")
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = look(serve(books / "main.bin", books / "marks.ctg", "--edit"), context=context)
    page.set_viewport_size({"width": 2000, "height": 900})
    expect(page.locator('[data-focus="0 c2c4 delete"]')).to_be_visible()
    box = page.locator('[data-book="0"] tr[data-move="d2d4"] td.chance').bounding_box()
    page.locator('[data-focus="0 e2e4 san"]').click()
    views.wait(page)
    # The table of the start is still seen.
    expect(line(page)).to_have_text(["e4"])
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for focus in ("0 d2d4 san", "0 d2d4 value", "0 c2c4 delete", "1 d2d4 looks", "0 add"):
        page.evaluate("""focus => document.querySelector(`[data-focus="${focus}"]`).click()""", focus)
    assert page.locator("#looks, input.value:not(.adding *)").count() == 0
    drag(page, "d2", "d4", ahead=True)
    piece(page, "d2", "white pawn")
    views.let_go()
    expect(page.locator('[data-book="0"] tr.move .san').first).to_have_text("c5")
    expect(line(page)).to_have_text(["e4"])
    piece(page, "e4", "white pawn")
    assert not [url for url in asked if "/api/edit" in url]
    assert [(books / name).read_bytes() for name in ("main.bin", "marks.ctg")] == before
    # Now they act again.
    page.locator('[data-book="0"] tr[data-move="c7c5"] td.chance').click()
    address(page, "#e4,c5")


def test_a_key_waits_for_the_position_that_was_found(serve, look, books, context):
    views = Held(context, "**/api/view**")
    page = look(serve(books / "main.bin"), context=context)
    page.keyboard.press("/")
    page.keyboard.type(AFTER_E4)
    expect(page.get_by_role("option").first).to_contain_text("this position")
    page.keyboard.press("Enter")
    expect(page.locator("#search")).to_be_hidden()
    views.wait(page)
    page.keyboard.press("1")
    views.let_go()
    address(page, f"#fen={AFTER_E4.replace(' ', '_')}&moves=c5")
    piece(page, "c5", "black pawn")


def test_keys_pressed_ahead_act_in_their_order(serve, look, books, context):
    views = Held(context, "**/api/view**")
    page = look(serve(books / "main.bin"), context=context)
    page.keyboard.press("1")
    views.wait(page)
    for key in ("1", "1", "2", "c"):
        page.keyboard.press(key)
    views.let_go()
    address(page, "#e4,c5,Nf3,Nc6")
    expect(page.locator("#toast")).to_have_text("FEN copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("r1bqkbnr/pp1ppppp/2n5/")


def test_a_move_made_ahead_by_keyboard_on_the_board_is_played(serve, look, books, context):
    views = Held(context, "**/api/view**")
    page = look(serve(books / "main.bin"), context=context)
    page.keyboard.press("1")
    views.wait(page)
    square(page, "e2").focus()
    for key in (*["ArrowUp"] * 5, "ArrowLeft", "ArrowLeft", "Enter", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    views.let_go()
    address(page, "#e4,c5")
    piece(page, "c5", "black pawn")


def test_what_is_said_of_a_position_goes_with_it(serve, look, books):
    page = look(serve(books / "main.bin", "--edit"))
    write(page, "d2d4", 77)
    expect(note(page)).to_contain_text("→ 77 · saved")
    page.keyboard.press("1")
    expect(page.locator("tr.move .san").first).to_have_text("c5")
    expect(note(page)).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    expect(weight(page, "d2d4")).to_have_text("77")
    expect(note(page)).to_have_count(0)
    # Taking back concerns the book, wherever the edit was.
    page.keyboard.press("1")
    expect(page.locator("tr.move .san").first).to_have_text("c5")
    page.keyboard.press("u")
    expect(note(page)).to_contain_text("undone")
    note(page).get_by_role("button", name="show where").click()
    expect(weight(page, "d2d4")).not_to_have_text("77")
    expect(note(page).get_by_role("button", name="show where")).to_have_count(0)
    note(page).get_by_role("button", name="redo").click()
    expect(weight(page, "d2d4")).to_have_text("77")


def test_a_conflict_in_a_position_that_was_left_names_it(serve, look, books, context):
    book = books / "main.bin"
    saves = Held(context, "**/api/edit")
    server = serve(book, "--edit")
    page = look(server, context=context)
    write(page, "d2d4", 55)
    saves.wait(page)
    now = show(book)["d2d4"]["weight"]
    server.ask("/api/edit", {"book": 0, "start": None, "play": [], "move": "d2d4", "op": "set", "value": 60, "expect": {"weight": now}})
    page.keyboard.press("1")
    expect(page.locator("tr.move .san").first).to_have_text("c5")
    saves.let_go()
    expect(note(page)).to_contain_text("d4: changed elsewhere to 60")
    note(page).get_by_role("button", name="show where").click()
    page.wait_for_function("() => location.hash === ''")
    note(page).get_by_role("button", name="Write 55 all the same").click()
    expect(note(page)).to_contain_text("60 → 55 · saved")
    assert show(book)["d2d4"]["weight"] == 55


def test_a_late_answer_changes_nothing_any_more(serve, look, books, context):
    choices, addresses, games = (Held(context, f"**/api/{name}?**") for name in ("next", "read", "game"))
    page = look(serve(books / "named.kob"), context=context)
    # The next choice after the start, which comes when another move was played.
    page.keyboard.press("n")
    choices.wait(page)
    drag(page, "d2", "d4")
    address(page, "#d4")
    with page.expect_response("**/api/next?**"):
        choices.let_go()
    # A sample game of a position that was left.
    shown(page)
    page.locator(".sample button").click()
    games.wait(page)
    page.keyboard.press("1")
    address(page, "#d4,Nf6")
    with page.expect_response("**/api/game?**"):
        games.let_go()
    # An address that is read while a move is played.
    page.evaluate("location.hash = '#c4,e5'")
    addresses.wait(page)
    drag(page, "c2", "c4")
    address(page, "#d4,Nf6,c4")
    with page.expect_response("**/api/read?**"):
        addresses.let_go()
    page.keyboard.press("1")
    address(page, "#d4,Nf6,c4,g6")
    expect(line(page)).to_have_text(["d4", "Nf6", "c4", "g6"])
    expect(page.locator("#text")).to_be_hidden()


def test_lines_of_a_stopped_engine_go_with_their_position(serve, look, books, engine):
    page = look(serve(books / "main.bin", "--engine", engine[0]))
    rows = page.locator("#engine-lines li")
    page.keyboard.press("e")
    expect(rows).to_have_count(3)
    page.click("#engine-stop")
    expect(page.locator("#engine-stop")).to_have_text("Start")
    page.keyboard.press("1")
    expect(page.locator("tr.move .san").first).to_have_text("c5")
    expect(rows).to_have_count(0)


def test_a_drag_over_a_value_changes_nothing_and_plays_no_move(serve, look, books):
    book = books / "main.bin"
    before = show(book)["d2d4"]["weight"]
    page = look(serve(book, "--edit"), width=1600)
    box = weight(page, "d2d4").bounding_box()
    y = box["y"] + box["height"] / 2
    for start, end in ((1, -2), (4, -40)):
        page.mouse.move(box["x"] + start, y)
        page.mouse.down()
        page.mouse.move(box["x"] + end, y, steps=5)
        page.mouse.up()
    # What would have been written is there by then.
    write(page, "e2e4", 77)
    expect(note(page)).to_contain_text("→ 77 · saved")
    assert show(book)["d2d4"]["weight"] == before
    expect(line(page)).to_have_count(0)
    # A click beside the value is one on the row.
    page.locator('tr[data-move="d2d4"] td.chance').click()
    address(page, "#d4")


def test_a_fresh_address_that_cannot_be_read_says_so(serve, look, books):
    server = serve(books / "main.bin")
    notice = "The address names no position: \"Ke7\", number 2, is not a legal move"
    page = look(server, "#e4,Ke7")
    expect(page.locator("#notice")).to_contain_text(notice)
    expect(page.locator("#notice")).to_contain_text("This is the start.")
    piece(page, "e2", "white pawn")
    drag(page, "d2", "d4")
    expect(page.locator("#notice")).to_be_hidden()
    page.go_back()
    expect(page.locator("#notice")).to_contain_text(notice)
    piece(page, "d2", "white pawn")
    page.reload()
    expect(page.locator("#notice")).to_contain_text(notice)
    page = look(server, f"#fen={PROMOTION.replace(' ', '_')}&moves=Kh1,Ka1")
    expect(page.locator("#notice")).to_contain_text("This is where its line begins.")
    piece(page, "a7", "white pawn")
    page = look(server, "#fen=8/8/8/8/8/8/8/8_w_-_-_0_1")
    expect(page.locator("#notice")).to_contain_text("This is the start.")
    piece(page, "e2", "white pawn")


def test_a_fen_with_a_stroke_between_1_and_2_is_a_fen(serve, look, books):
    fen = "6k1/2p5/8/8/8/8/5PPP/6K1 w - - 0 1"
    page = look(serve(books / "main.bin"), f"#fen={fen.replace(' ', '_')}")
    piece(page, "c7", "black pawn")
    page.keyboard.press("/")
    page.keyboard.type("Kh1 c5 1/2-1/2")
    expect(page.get_by_role("option").first).to_contain_text("these moves")
    page.keyboard.press("Enter")
    expect(line(page)).to_have_text(["Kh1", "c5"])
    page.keyboard.press("/")
    page.keyboard.type("6k1/2q5/8/8/8/8/5PPP/6K1 w - - 0 1")
    expect(page.get_by_role("option").first).to_contain_text("this position")
    page.keyboard.press("Enter")
    piece(page, "c7", "black queen")


def test_a_book_that_is_away_is_named_and_comes_back(serve, look, books):
    book, away = books / "main.bin", books / "away"
    page = look(serve(book))
    book.rename(away)
    expect(page.locator("#warnings")).to_contain_text("main.bin")
    expect(page.locator("section.book tr.move")).to_have_count(0)
    expect(page.locator("section.book")).to_contain_text("main.bin: cannot open the file")
    # Nothing is known of what such a book knows.
    for words in ("knows", "does not know"):
        expect(page.locator("main")).not_to_contain_text(words)
    away.rename(book)
    expect(page.locator("#warnings")).to_be_empty()
    expect(page.locator("section.book tr.move")).to_have_count(4)


def test_a_book_of_which_one_file_is_away_comes_back(serve, look, books):
    index, away = books / "marks.cto", books / "away"
    page = look(serve(books / "marks.ctg"))
    index.rename(away)
    expect(page.locator("section.book")).to_contain_text("marks.cto")
    expect(page.locator("section.book tr.move")).to_have_count(0)
    away.rename(index)
    expect(page.locator("section.book tr.move")).to_have_count(4)
    expect(page.locator("#warnings")).to_be_empty()


def test_a_promotion_that_is_open_goes_with_its_position(serve, look, books):
    page = look(serve(books / "main.bin"), f"#fen={PROMOTION.replace(' ', '_')}")
    piece(page, "a7", "white pawn")
    page.evaluate("location.hash = '#fen=8/P7/7k/8/8/8/7K/8_w_-_-_0_1'")
    piece(page, "h6", "black king")
    click(page, "a7")
    click(page, "a8")
    expect(page.locator("#promotion")).to_be_visible()
    page.go_back()
    expect(page.locator("#promotion")).to_have_count(0)
    expect(square(page, "h7")).to_have_attribute("aria-label", "h7, black king")


@pytest.mark.parametrize("name", ["main.bin", "marks.ctg", "marks.cto", "arena.abk", "named_0.kob"])
def test_a_book_that_is_cut_off_says_so(serve, look, books, name):
    cut = books / name
    cut.write_bytes(cut.read_bytes()[:-5])
    book = {"marks": "marks.ctg", "named_0": "named.kob"}.get(cut.stem, name)
    page = look(serve(books / book))
    expect(page.locator("#warnings li").first).to_contain_text(name)
    expect(page.locator("#warnings li").first).to_contain_text("cut off")
