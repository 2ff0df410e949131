"""Editing on the explorer's page: each change is on disk when the page says so, and can be taken back."""

import re

from conftest import show, tabiya
from parts import address, line, note, saved, shown, weight
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


def test_a_move_that_is_added_after_another_is_the_one_that_was_chosen(serve, look, books):
    book = books / "main.bin"
    page = look(serve(book, "--edit"), "#e4")
    page.get_by_text("Add a move").click()
    for uci, san, value in (("d7d5", "d5", 9), ("h7h6", "h6", 500), ("a7a6", "a6", 7)):
        page.get_by_label("Move to add").select_option(uci)
        page.get_by_label("weight of the new move").fill(str(value))
        page.get_by_role("button", name="Add", exact=True).click()
        expect(note(page)).to_contain_text(f"{san} added · saved")
        assert show(book, "e4")[uci]["weight"] == value
    # The form of another position, which is open too, adds what is chosen there.
    before = show(book, "d4")
    go_to(page, "d4")
    page.get_by_label("Move to add").select_option("h7h5")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(note(page)).to_contain_text("h5 added · saved")
    after = show(book, "d4")
    assert set(after) - set(before) == {"h7h5"}
    # Without a number, it is played about as often as the others.
    weights = sorted(move["weight"] for move in before.values() if move["weight"])
    assert after["h7h5"]["weight"] == weights[len(weights) // 2]


def go_to(page, fragment):
    page.evaluate("fragment => { location.hash = fragment; }", f"#{fragment}")
    # The board follows the address when the server has read it.
    expect(line(page)).to_have_text([fragment])
    shown(page)


def test_undo_takes_back_the_edit_beside_which_it_stands(serve, look, books):
    for name in ("main.bin", "marks.ctg"):
        server = serve(books / name, "--edit")
        one, two = look(server), look(server)
        change = set_weight if name == "main.bin" else set_red
        change(one, "e2e4")
        change(two, "d2d4")
        now = show(books / name)
        note(one).get_by_role("button", name="undo").click()
        expect(note(one)).to_contain_text("the last edit is another one, d4")
        assert show(books / name) == now
        note(one).get_by_role("button", name="undo that one").click()
        expect(note(one)).to_contain_text(re.compile("^d4 .*: undone"))
        page = look(server)
        page.keyboard.press("u")
        expect(note(page)).to_contain_text(re.compile("^e4 .*: undone"))
        note(page).get_by_role("button", name="redo").click()
        expect(note(page)).to_contain_text(re.compile("^e4 .*: redone"))
        again = show(books / name)
        said = ["weight", "recommended"]
        assert [again["e2e4"][key] for key in said] == [now["e2e4"][key] for key in said]
        assert [again["d2d4"][key] for key in said] != [now["d2d4"][key] for key in said]
        server.stop()


def set_weight(page, move):
    weight(page, move).click()
    weight(page, move).fill("123")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("→ 123 · saved")


def set_red(page, move):
    page.locator(f'[data-focus="0 {move} looks"]').click()
    page.get_by_role("menuitemradio", name="red: to be avoided").click()
    expect(note(page)).to_contain_text(re.compile("→ red.* · saved"))


def test_rows_stay_where_they_are_aimed_at_while_values_are_edited(serve, look, books):
    page = look(serve(books / "main.bin", "--edit"))

    def rows():
        return page.locator("#tables tr.move").evaluate_all("rows => rows.map(row => row.dataset.move)")

    before = rows()
    # The likeliest becomes the least likely.
    weight(page, before[0]).click()
    weight(page, before[0]).fill("1")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("→ 1 · saved")
    saved(page)
    assert rows() == before
    # Beside a value, the value is meant, and so is what is typed then.
    box = weight(page, before[1]).bounding_box()
    page.mouse.click(box["x"] - 6, box["y"] + box["height"] / 2)
    expect(weight(page, before[1])).to_be_focused()
    page.keyboard.type("1234")
    page.locator(f'#tables tr[data-move="{before[1]}"] td.chance').click()
    page.keyboard.type("5")
    assert page.evaluate("location.hash") == ""
    expect(weight(page, before[1])).to_have_value("12345")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("→ 12,345 · saved")
    # Elsewhere, and back here, the likeliest comes first again.
    go_to(page, "e4")
    page.go_back()
    address(page, "")
    expect(page.locator("#tables tr.move").last).to_have_attribute("data-move", before[0])


def test_a_move_that_leaves_the_book_is_added_where_it_did(serve, look, books):
    book = books / "main.bin"
    before = show(book, "e4")
    assert "a7a5" not in before
    page = look(serve(book, "--edit"), "#e4,a5")
    page.get_by_role("button", name="Add a5").click()
    expect(note(page)).to_contain_text("a5 added · saved")
    after = show(book, "e4")
    weights = sorted(move["weight"] for move in before.values() if move["weight"])
    assert set(after) - set(before) == {"a7a5"} and after["a7a5"]["weight"] == weights[len(weights) // 2]
    expect(page.get_by_role("button", name="Add a5")).to_have_count(0)
    # Where it was played from, it is chosen.
    note(page).get_by_role("button", name="undo").click()
    expect(note(page)).to_contain_text(re.compile("^a5 deleted .*: undone"))
    page.keyboard.press("ArrowLeft")
    address(page, "#e4")
    shown(page)
    page.get_by_text("Add a move").click()
    assert page.get_by_label("Move to add").input_value() == "a7a5"
