"""The explorer's page: moves branch and stay, as a tree with the line on the board in front."""

from parts import Held, address, drag, line
from playwright.sync_api import expect

FORGET = "Forget the other lines"


def moves(page):
    """The moves in the order in which they are seen, those of other lines in brackets."""
    text = page.evaluate("""[...document.querySelectorAll('#line li')].map(node => node.querySelector('.forget, .way') ? '' :
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
    page.wait_for_function("() => location.hash === ''")
    drag(page, "d2", "d4")
    address(page, "#d4")
    page.go_back()
    page.go_back()
    address(page, "#e4")
    assert "e4" in moves(page) and "d4" not in moves(page).split("(")[0]
    # Another start has no lines of this one.
    page.evaluate("location.hash = '#fen=8/P6k/8/8/8/8/7K/8_w_-_-_0_1'")
    expect(line(page)).to_have_count(0)


def ways(page):
    return page.locator("#line .way")


def test_the_book_goes_on_after_the_line_and_the_arrows_play_it(serve, look, books):
    page = look(serve(books / "main.bin"), "#e4")
    expect(ways(page)).to_have_text(["c5", "e5", "e6"])
    expect(page.locator("#line .chosen")).to_have_count(0)
    page.evaluate("document.activeElement.blur()")
    # At the end the arrow offers, and only then plays.
    page.keyboard.press("ArrowRight")
    expect(page.locator("#line .chosen")).to_have_text("c5")
    expect(page.locator("#arrows .strong")).to_have_attribute("data-move", "c7c5")
    expect(page.locator("#live")).to_contain_text("1 of 3")
    address(page, "#e4")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#line .chosen")).to_have_text("e5")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#line .chosen")).to_have_text("e6")
    page.keyboard.press("Escape")
    expect(page.locator("#line .chosen")).to_have_count(0)
    expect(page.locator("#arrows .strong")).to_have_count(0)
    page.click("#forward")
    page.keyboard.press("ArrowRight")
    address(page, "#e4,c5")
    # A click plays it at once.
    expect(ways(page)).to_have_text(["Nf3"])
    ways(page).click()
    address(page, "#e4,c5,Nf3")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#line .chosen")).to_have_text("d6")
    page.keyboard.press("Enter")
    address(page, "#e4,c5,Nf3,d6")


def test_an_arrow_that_is_held_down_stops_at_the_end_of_the_line(serve, look, books):
    page = look(serve(books / "main.bin"), "#e4,c5")
    page.keyboard.press("Home")
    page.keyboard.down("ArrowRight")
    for _ in range(5):
        page.keyboard.down("ArrowRight")
    page.keyboard.up("ArrowRight")
    address(page, "#e4,c5")
    expect(ways(page)).to_have_text(["Nf3"])
    expect(page.locator("#line .chosen")).to_have_count(0)


def test_moves_of_other_lines_are_offered_anywhere(serve, look, books):
    page = look(serve(books / "main.bin"))
    drag(page, "e2", "e4")
    address(page, "#e4")
    drag(page, "a7", "a6")
    address(page, "#e4,a6")
    page.keyboard.press("ArrowLeft")
    address(page, "#e4")
    # Within a line nothing is offered by itself.
    expect(ways(page)).to_have_count(0)
    page.keyboard.press("Shift+ArrowRight")
    # The line's own move first, then those of the book.
    expect(ways(page)).to_have_text(["a6", "c5", "e5", "e6"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    address(page, "#e4,c5")
    assert moves(page).startswith("1. e4 c5 ")
    page.keyboard.press("Home")
    expect(ways(page)).to_have_count(0)
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#line .chosen")).to_have_text("e4")


def test_an_offer_stays_when_its_position_comes_again(serve, look, books):
    page = look(serve(books / "main.bin"), "#e4")
    views = Held(page.context, "**/api/view**")
    drag(page, "a7", "a6")
    address(page, "#e4,a6")
    page.keyboard.press("ArrowLeft")
    address(page, "#e4")
    # The position is known, and asked for again.
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(ways(page)).to_have_text(["a6", "c5", "e5", "e6"])
    with page.expect_response(lambda answer: "play=e2e4&" in answer.url) as answer:
        views.let_go()
    answer.value.finished()
    page.evaluate("() => new Promise(done => setTimeout(() => requestAnimationFrame(done)))")
    expect(page.locator("#line .chosen")).to_have_text("c5")
    page.keyboard.press("ArrowRight")
    address(page, "#e4,c5")


def test_where_the_book_ends_nothing_is_offered(serve, look, books):
    page = look(serve(books / "main.bin"), "#h4")
    expect(page.locator("#notice")).to_be_visible()
    expect(ways(page)).to_have_count(0)
    expect(page.locator("#forward")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#line .chosen")).to_have_count(0)


def test_variations_of_a_pasted_game_are_branches(serve, look, books):
    page = look(serve(books / "main.bin"), "#d4")
    paste = """text => {
        const data = new DataTransfer();
        data.setData("text/plain", text);
        document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }"""
    page.evaluate(paste, '[White "A"]\n\n1. e4 e5 (1... c5 2. Nf3 (2. Nc3 Nc6) 2... d6) (1... e6) 2. Nf3 *\n')
    page.wait_for_function("() => location.hash === ''")
    expect(line(page).first).to_have_text("e4")
    assert moves(page) == "1. e4 e5 (1… c5 2. Nf3 (2. Nc3 Nc6) 2… d6) (1… e6) 2. Nf3"
    page.locator("#line").get_by_role("button", name="Nc6").click()
    address(page, "#e4,c5,Nc3,Nc6")
    # A game that is set up keeps its variations, too.
    page.evaluate(paste, '[FEN "8/P6k/8/8/8/8/7K/8 w - - 0 1"]\n[SetUp "1"]\n\n1. a8=Q (1. a8=N Kg7) 1... Kg7 *\n')
    expect(line(page).first).to_have_text("a8=Q")
    assert moves(page) == "1. a8=Q (1. a8=N Kg7) 1… Kg7"
