"""The explorer's page: moves branch and stay, as a tree with the line on the board in front."""

from parts import address, drag, line
from playwright.sync_api import expect

FORGET = "Forget the other lines"


def moves(page):
    """The moves in the order in which they are seen, those of other lines in brackets."""
    text = page.evaluate("""[...document.querySelectorAll('#line li')].map(node => node.querySelector('.forget') ? '' :
        [...node.childNodes].map(part => part.textContent).join(' ')).filter(Boolean).join(' ')""")
    return text.replace("( ", "(").replace(" )", ")")


def test_moves_branch_and_stay(serve, look, books):
    page = look(serve(books / "main.bin"))
    for start, end, place in (("e2", "e4", "#e4"), ("e7", "e5", "#e4,e5"), ("g1", "f3", "#e4,e5,Nf3")):
        drag(page, start, end)
        address(page, place)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    address(page, "#e4")
    drag(page, "c7", "c5")
    address(page, "#e4,c5")
    assert moves(page) == "1. e4 c5 (1… e5 2. Nf3)"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    drag(page, "d2", "d4")
    address(page, "#d4")
    assert moves(page) == "1. d4 (1. e4 c5 (1… e5 2. Nf3))"
    # A click goes to a move of another line, which goes on as it did.
    page.locator("#line").get_by_role("button", name="Nf3").click()
    address(page, "#e4,e5,Nf3")
    assert moves(page) == "1. e4 (1. d4) 1… e5 (1… c5) 2. Nf3"
    page.keyboard.press("Home")
    page.keyboard.press("End")
    address(page, "#e4,e5,Nf3")
    # A move that was played before leads into its line.
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    address(page, "#e4")
    page.locator('tr.move[data-move="e7e5"] .san').click()
    address(page, "#e4,e5")
    page.keyboard.press("ArrowRight")
    address(page, "#e4,e5,Nf3")
    page.get_by_role("button", name=FORGET).click()
    expect(line(page)).to_have_text(["e4", "e5", "Nf3"])
    expect(page.get_by_role("button", name=FORGET)).to_have_count(0)


def test_the_tree_is_copied_with_its_variations(serve, look, books):
    page = look(serve(books / "main.bin"), permissions=["clipboard-read", "clipboard-write"])
    drag(page, "e2", "e4")
    drag(page, "e7", "e5")
    address(page, "#e4,e5")
    page.keyboard.press("ArrowLeft")
    address(page, "#e4")
    drag(page, "c7", "c5")
    address(page, "#e4,c5")
    page.click("#copy-pgn")
    expect(page.locator("#toast")).to_have_text("PGN copied")
    assert "1. e4 c5 (1... e5) *" in page.evaluate("navigator.clipboard.readText()")


def test_the_browsers_history_goes_through_the_tree(serve, look, books):
    page = look(serve(books / "main.bin"))
    drag(page, "e2", "e4")
    address(page, "#e4")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("location.hash === ''")
    drag(page, "d2", "d4")
    address(page, "#d4")
    page.go_back()
    page.go_back()
    address(page, "#e4")
    assert "e4" in moves(page) and "d4" not in moves(page).split("(")[0]
    # Another start has no lines of this one.
    page.evaluate("location.hash = '#fen=8/P6k/8/8/8/8/7K/8_w_-_-_0_1'")
    expect(line(page)).to_have_count(0)
