"""Editing on the explorer's page: each change is on disk when the page says so, and can be taken back."""

from conftest import show, tabiya
from parts import note, weight
from playwright.sync_api import expect


def test_without_edit_nothing_can_be_changed(serve, look, books):
    page = look(serve(books / "main.bin"))
    expect(page.locator("button.value, .adding, [data-focus$=delete], section.editable")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator("#toast")).to_have_text("Start with --edit to change books")


def test_a_weight_is_written_stepped_and_taken_back(serve, look, books):
    book = books / "main.bin"
    before = show(book)["d2d4"]["weight"]
    page = look(serve(book, "--edit"))
    expect(page.locator("section.book.editable")).to_have_count(1)
    weight(page, "d2d4").click()
    weight(page, "d2d4").fill("77")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("→ 77 · saved")
    assert show(book)["d2d4"]["weight"] == 77
    expect(weight(page, "d2d4")).to_have_text("77")
    # The focus is where it was, and the arrow keys go on from there; nothing is saved before the field is left.
    expect(weight(page, "d2d4")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    expect(weight(page, "d2d4")).to_have_value("78")
    assert show(book)["d2d4"]["weight"] == 77
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("77 → 78 · saved")
    page.keyboard.press("Enter")
    page.keyboard.type("5")
    page.keyboard.press("Escape")
    expect(weight(page, "d2d4")).to_have_text("78")
    note(page).get_by_role("button", name="undo").click()
    expect(weight(page, "d2d4")).to_have_text("77")
    assert show(book)["d2d4"]["weight"] == 77
    page.keyboard.press("u")
    expect(weight(page, "d2d4")).to_have_text(str(before))
    assert show(book)["d2d4"]["weight"] == before
    page.keyboard.press("U")
    expect(weight(page, "d2d4")).to_have_text("77")
    assert show(book)["d2d4"]["weight"] == 77


def test_what_cannot_be_a_weight_is_not_written(serve, look, books):
    book = books / "main.bin"
    before = book.read_bytes()
    page = look(serve(book, "--edit"))
    weight(page, "d2d4").click()
    weight(page, "d2d4").fill("70000")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("write a whole number from 0 to 65,535")
    assert book.read_bytes() == before


def test_a_conflict_overwrites_nothing_silently(serve, look, books):
    book = books / "main.bin"
    server = serve(book, "--edit")
    before = show(book)["d2d4"]["weight"]
    page = look(server)

    def meanwhile(value, mine):
        weight(page, "d2d4").click()
        now = show(book)["d2d4"]["weight"]
        server.ask("/api/edit", {"book": 0, "start": None, "play": [], "move": "d2d4", "op": "set", "value": value, "expect": {"weight": now}})
        weight(page, "d2d4").fill(str(mine))
        page.keyboard.press("Enter")
        expect(note(page)).to_contain_text(f"changed elsewhere to {value}")
        assert show(book)["d2d4"]["weight"] == value

    assert before not in (60, 61)
    meanwhile(60, 55)
    note(page).get_by_role("button", name="Keep 60").click()
    expect(note(page)).to_have_count(0)
    expect(weight(page, "d2d4")).to_have_text("60")
    meanwhile(61, 56)
    note(page).get_by_role("button", name="Write 56 all the same").click()
    expect(note(page)).to_contain_text("61 → 56 · saved")
    assert show(book)["d2d4"]["weight"] == 56


def test_an_edit_of_another_page_is_seen(serve, look, books):
    server = serve(books / "main.bin", "--edit")
    one, two = look(server), look(server)
    weight(one, "e2e4").click()
    weight(one, "e2e4").fill("4321")
    one.keyboard.press("Enter")
    expect(weight(two, "e2e4")).to_have_text("4,321")


def test_a_move_is_added_and_deleted(serve, look, books):
    book = books / "main.bin"
    page = look(serve(book, "--edit"), "#e4")
    page.get_by_text("Add a move").click()
    page.get_by_label("Move to add").select_option("d7d5")
    page.get_by_label("weight of the new move").fill("9")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(note(page)).to_contain_text("d5 added · saved")
    assert show(book, "e4")["d7d5"]["weight"] == 9
    page.get_by_role("button", name="Delete d5 from main.bin").click()
    # It is said twice.
    expect(note(page)).to_contain_text("Delete d5 and what is known of it?")
    note(page).get_by_role("button", name="Keep").click()
    expect(note(page)).to_have_count(0)
    assert show(book, "e4")["d7d5"]["weight"] == 9
    page.get_by_role("button", name="Delete d5 from main.bin").click()
    note(page).get_by_role("button", name="Delete").click()
    expect(note(page)).to_contain_text("d5 deleted · saved")
    assert "d7d5" not in show(book, "e4")
    page.keyboard.press("u")
    expect(weight(page, "d7d5")).to_have_text("9")


def test_colours_and_marks_of_a_ctg_book(serve, look, books):
    book = books / "marks.ctg"
    page = look(serve(book, "--edit"))
    looks = page.locator('[data-focus="0 d2d4 looks"]')
    looks.click()
    page.get_by_role("menuitemradio", name="red: to be avoided").click()
    expect(note(page)).to_contain_text("→ red · saved")
    assert show(book)["d2d4"]["recommended"] is False
    expect(looks).to_be_focused()
    # By keyboard: from red, past the colours, to the first marks.
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitemradio", name="red: to be avoided")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitemradio", name="good move")).to_be_focused()
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("red → red, ! · saved")
    assert show(book)["d2d4"]["annotation"] == "!"
    looks.click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    page.keyboard.press("u")
    expect(looks).not_to_contain_text("!")


def test_what_was_written_is_in_the_table_before_the_server_is_asked_again(serve, look, books, browser):
    context = browser.new_context(viewport={"width": 2000, "height": 900})
    # The server's next answer never comes.
    context.route("**/api/view**", lambda route: None)
    page = look(serve(books / "main.bin", books / "marks.ctg", "--edit"), context=context)
    weight(page, "d2d4").click()
    weight(page, "d2d4").fill("77")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("→ 77 · saved")
    expect(weight(page, "d2d4")).to_have_text("77")
    page.get_by_role("button", name="Delete c4 from main.bin").click()
    note(page).get_by_role("button", name="Delete").click()
    expect(note(page)).to_contain_text("c4 deleted · saved")
    expect(weight(page, "c2c4")).to_have_count(0)
    # The next edit builds on the last, and is no conflict.
    looks = page.locator('[data-focus="1 d2d4 looks"]')
    for name, said in (("red: to be avoided", "→ red · saved"), ("good move", "red → red, ! · saved")):
        looks.click()
        page.get_by_role("menuitemradio", name=name).click()
        expect(page.locator('.note[data-note="1"]')).to_contain_text(said)
    move = show(books / "marks.ctg")["d2d4"]
    assert (move["recommended"], move["annotation"]) == (False, "!")
    context.close()


def test_a_priority_of_an_arena_book_and_half_points_of_a_kvetka_book(serve, look, books):
    page = look(serve(books / "arena.abk", "--edit"))
    weight(page, "d2d4").click()
    weight(page, "d2d4").fill("3")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("→ 3 · saved")
    expect(weight(page, "d2d4")).to_have_text("3")
    page = look(serve(books / "named.kob", "--edit"))
    weight(page, "d2d4").click()
    weight(page, "d2d4").fill("50")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("→ 50 · saved")
    assert show(books / "named.kob")["d2d4"]["weight"] == 50


def test_an_open_field_keeps_the_focus_where_its_column_has_no_room(serve, look, books):
    book = books / "main.bin"
    page = look(serve(book, "--edit"), width=1440)
    weight(page, "d2d4").click()
    expect(page.get_by_role("spinbutton", name="weight of d4")).to_be_focused()
    page.keyboard.type("7")
    # A phone that is turned: at this width the weight is folded away.
    page.set_viewport_size({"width": 200, "height": 800})
    page.wait_for_function("() => innerWidth === 200 && new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("→ 77 · saved")
    assert show(book)["d2d4"]["weight"] == 77
    expect(page.locator("#line button:not(.way)")).to_have_count(0)
    expect(weight(page, "d2d4")).to_have_count(0)


def test_a_field_whose_move_is_deleted_elsewhere_hands_its_keys_to_no_button(serve, look, books):
    book = books / "main.bin"
    page = look(serve(book, "--edit"))
    weight(page, "d2d4").click()
    expect(page.get_by_role("spinbutton", name="weight of d4")).to_be_focused()
    tabiya("edit", book, "--delete", "d4")
    expect(page.locator('tr[data-move="d2d4"]')).to_have_count(0)
    page.keyboard.type("77")
    page.keyboard.press("Enter")
    expect(page.locator("#line button:not(.way)")).to_have_count(0)
