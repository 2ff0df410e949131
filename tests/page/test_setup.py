"""The explorer's page: a position is set up with the mouse, a finger or the keyboard, and used if it is legal."""

import re

from parts import address, click, piece
from playwright.sync_api import expect

USE = "Use this position"


def cell(page, name):
    return page.locator(f'#setup-board [data-square="{name}"]')


def brush(page, name):
    page.get_by_role("radio", name=name, exact=True).click()


def fen(page, wanted):
    expect(page.get_by_role("textbox", name="FEN", exact=True)).to_have_value(wanted)


def drag(page, start, end):
    box, goal = cell(page, start).bounding_box(), (cell(page, end) if isinstance(end, str) else end).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(goal["x"] + goal["width"] / 2, goal["y"] + goal["height"] / 2, steps=4)
    page.mouse.up()


def test_a_position_is_set_up_by_clicks_and_used(serve, look, books):
    page = look(serve(books / "main.bin"), "#e4")
    page.click("#open-setup")
    # It begins with the position on the board.
    fen(page, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")
    expect(page.get_by_role("button", name=USE)).to_be_enabled()
    page.get_by_role("button", name="Empty board").click()
    expect(page.get_by_role("button", name=USE)).to_be_disabled()
    expect(page.locator("#setup-words")).not_to_be_empty()
    brush(page, "white king")
    cell(page, "g1").click()
    brush(page, "black king")
    cell(page, "g8").click()
    expect(page.get_by_role("button", name=USE)).to_be_enabled()
    expect(page.locator("#setup-words")).to_be_empty()
    brush(page, "white pawn")
    cell(page, "a7").click()
    cell(page, "b7").click()
    # Again on the same square takes it away.
    cell(page, "b7").click()
    fen(page, "6k1/P7/8/8/8/8/8/6K1 w - - 0 1")
    page.get_by_role("button", name=USE).click()
    expect(page.locator("#setup")).to_be_hidden()
    address(page, "#fen=6k1/P7/8/8/8/8/8/6K1_w_-_-_0_1")
    piece(page, "a7", "white pawn")


def test_pieces_are_moved_and_taken_away(serve, look, books):
    page = look(serve(books / "main.bin"))
    page.keyboard.press("s")
    drag(page, "e2", "e4")
    cell(page, "g1").click()
    cell(page, "f3").click()
    # Beside the board, and with the right button.
    drag(page, "d8", page.locator("#setup-title"))
    cell(page, "a7").click(button="right")
    fen(page, "rnb1kbnr/1ppppppp/8/8/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 1")
    brush(page, "take pieces away")
    cell(page, "h8").click()
    # The rook is gone, and with it the right to castle.
    fen(page, "rnb1kbn1/1ppppppp/8/8/4P3/5N2/PPPP1PPP/RNBQKB1R w KQq - 0 1")
    expect(page.get_by_label("Black O-O", exact=True)).to_be_disabled()
    page.get_by_label("White O-O", exact=True).uncheck()
    page.get_by_role("button", name="Black to move").click()
    fen(page, "rnb1kbn1/1ppppppp/8/8/4P3/5N2/PPPP1PPP/RNBQKB1R b Qq - 0 1")
    page.get_by_role("button", name="Start position").click()
    fen(page, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")


def test_what_is_not_legal_says_why(serve, look, books):
    page = look(serve(books / "main.bin"))
    page.keyboard.press("s")
    text, use = page.get_by_role("textbox", name="FEN", exact=True), page.get_by_role("button", name=USE)
    for wrong, why in (
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", "A king is missing."),
        ("4k3/8/8/8/8/8/8/P3K3 w - - 0 1", "A pawn is on the first or the last rank."),
        ("9x/8/8/8/8/8/8/4K3 w - - 0 1", "Invalid board part in fen."),
        ("e4", "These are moves and no FEN."),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "The side that is not to move is in check."),
    ):
        text.fill(wrong)
        expect(page.locator("#setup-words")).to_have_text(why)
        expect(use).to_be_disabled()
        page.keyboard.press("Enter")
        expect(page.locator("#setup")).to_be_visible()
    text.fill("4k3/4R3/8/8/8/8/8/4K3 b - - 3 40")
    expect(use).to_be_enabled()
    page.keyboard.press("Enter")
    address(page, "#fen=4k3/4R3/8/8/8/8/8/4K3_b_-_-_3_40")


def test_en_passant_is_offered_where_a_pawn_may_have_passed(serve, look, books):
    page = look(serve(books / "main.bin"))
    page.keyboard.press("s")
    expect(page.get_by_label("En passant")).to_be_disabled()
    page.get_by_role("textbox", name="FEN", exact=True).fill("4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1")
    page.get_by_label("En passant").select_option("d6")
    fen(page, "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1")
    page.get_by_role("button", name=USE).click()
    click(page, "e5")
    expect(page.locator('#squares [data-square="d6"]')).to_have_class(re.compile("target"))


def test_a_position_is_set_up_by_keyboard(serve, look, books):
    page = look(serve(books / "main.bin"))
    page.keyboard.press("s")
    cell(page, "e1").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Delete")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(cell(page, "e4")).to_be_focused()
    page.keyboard.press("Shift+P")
    expect(cell(page, "e4")).to_have_attribute("aria-label", "e4, white pawn")
    expect(cell(page, "e4")).to_be_focused()
    # Taken up and put down.
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    fen(page, "rnbqkbnr/pppppppp/8/4P3/8/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1")
    # The pieces to put are one group, which arrows go through.
    page.get_by_role("radio", name="move pieces").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="white king")).to_be_focused()
    expect(page.get_by_role("radio", name="white king")).to_be_checked()
    page.keyboard.press("Escape")
    expect(page.locator("#setup")).to_be_hidden()
    piece(page, "e2", "white pawn")


def test_a_position_is_set_up_on_a_phone(serve, look, books, shots):
    page = look(serve(books / "main.bin"), width=390, height=844, has_touch=True, is_mobile=True)
    page.locator("#open-setup").tap()
    cell(page, "e2").tap()
    cell(page, "e4").tap()
    fen(page, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.screenshot(path=shots / "setup-390.png")
    page.get_by_role("button", name=USE).tap()
    piece(page, "e4", "white pawn")
