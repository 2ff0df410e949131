"""The explorer's page: arrows and circles of one's own, drawn with the right button."""

import pytest
from parts import address, click, square
from playwright.sync_api import expect


def right(page, start, end=None, *keys):
    box, goal = square(page, start).bounding_box(), square(page, end or start).bounding_box()
    for key in keys:
        page.keyboard.down(key)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down(button="right")
    page.mouse.move(goal["x"] + goal["width"] / 2, goal["y"] + goal["height"] / 2, steps=4)
    page.mouse.up(button="right")
    for key in keys:
        page.keyboard.up(key)


def marks(page):
    return page.locator("#marks > *")


def test_arrows_and_circles_are_drawn_and_drawn_away(serve, look, books):
    page = look(serve(books / "main.bin"))
    right(page, "e2", "e4")
    right(page, "d5")
    expect(page.locator("#marks polygon")).to_have_attribute("data-move", "e2e4")
    expect(page.locator("#marks circle")).to_have_attribute("data-move", "d5")
    # No move was made, and no menu came up.
    assert page.evaluate("location.hash") == ""
    assert page.evaluate("!document.querySelector('#squares').dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true }))")
    # Another colour changes the colour, the same once more takes it away.
    right(page, "e2", "e4", "Shift")
    expect(page.locator("#marks polygon")).to_have_class("arrow own red")
    expect(marks(page)).to_have_count(2)
    right(page, "e2", "e4", "Shift")
    expect(page.locator("#marks polygon")).to_have_count(0)
    expect(marks(page)).to_have_count(1)
    # A click on the board takes all of them away.
    click(page, "a5")
    expect(marks(page)).to_have_count(0)


@pytest.mark.parametrize(("keys", "colour"), [((), "green"), (("Control",), "red"), (("Alt",), "blue"), (("Shift", "Alt"), "yellow")])
def test_keys_choose_the_colour(serve, look, books, keys, colour):
    page = look(serve(books / "main.bin"))
    right(page, "g1", "f3", *keys)
    expect(marks(page)).to_have_class(f"arrow own {colour}")


def test_each_position_keeps_its_marks(serve, look, books):
    page = look(serve(books / "main.bin"), "#e4")
    right(page, "c7", "c5")
    page.keyboard.press("ArrowLeft")
    expect(square(page, "e2")).to_have_attribute("aria-label", "e2, white pawn")
    expect(marks(page)).to_have_count(0)
    page.keyboard.press("ArrowRight")
    address(page, "#e4")
    expect(marks(page)).to_have_attribute("data-move", "c7c5")
    # They turn with the board.
    before = marks(page).get_attribute("points")
    page.keyboard.press("f")
    expect(marks(page)).not_to_have_attribute("points", before)
    # An arrow that leaves the board is none.
    box = square(page, "e2").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down(button="right")
    page.mouse.move(page.viewport_size["width"] - 5, 5)
    page.mouse.up(button="right")
    expect(marks(page)).to_have_count(1)
