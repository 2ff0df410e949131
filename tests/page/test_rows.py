"""The explorer's page: what stands in the rows of tables, one of all books or one for each, in every width; and steps on a slow line."""

import chess
import pytest
from conftest import show, tabiya
from parts import Held, address, click, drag, note, piece, saved, shown, square, weight
from playwright.sync_api import expect

BOOKS = ("marks.ctg", "main.bin", "arena.abk", "named.kob")


def thought(page, move):
    return page.locator(f'#tables tr[data-move="{move}"] .thought')


def together(page):
    page.get_by_role("button", name="One table", exact=True).click()
    expect(page.locator("section.together")).to_have_count(1)


# What the engine says


def test_what_the_engine_says_stands_in_the_rows_of_its_moves(serve, look, books, engine):
    page = look(serve(books / "main.bin", books / "marks.ctg", "--engine", engine[0]), width=1440, height=900)
    for view in ("One table", "Each"):
        page.get_by_role("button", name=view, exact=True).click()
        expect(page.locator("th.engine, td.engine")).to_have_count(0)
        page.keyboard.press("e")
        # Each move once in one table, and in each of both otherwise; a move that no line begins with has nothing.
        expect(thought(page, "g1f3")).to_have_text(["+0.20/9"] * (1 if view == "One table" else 2))
        expect(thought(page, "g1f3").first).to_have_attribute("title", "+0.20 for White, by the engine at depth 9")
        expect(thought(page, "e2e4").first).to_have_text("")
        page.get_by_role("button", name="Stop").click()
        expect(thought(page, "g1f3").first).to_have_text("+0.20/9")
        page.keyboard.press("e")
        expect(page.locator("th.engine, td.engine")).to_have_count(0)
    page.locator("#side").click()
    page.keyboard.press("e")
    expect(thought(page, "g1f3").first).to_have_attribute("title", "+0.20 for the side to move, by the engine at depth 9")


def test_a_store_keeps_its_values_beside_the_engines(serve, look, books, engine, tmp_path):
    (tmp_path / "nf3.epd").write_text("rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - ce -17; acd 30;\n")
    tabiya("import", books / "main.bin.evals", tmp_path / "nf3.epd")
    page = look(serve(books / "main.bin", "--engine", engine[0]), width=1440, height=900)
    page.keyboard.press("e")
    row = page.locator('#tables tr[data-move="g1f3"]')
    expect(row.locator("td.eval")).to_have_text("+0.17")
    expect(row.locator("td.engine")).to_have_text("+0.20/9")
    # Another position: nothing is said of it that belongs to this one.
    with_held = Held(page.context, "**/api/engine*")
    page.keyboard.press("1")
    address(page, "#e4")
    with_held.wait(page)
    shown(page)
    expect(page.locator("td.engine")).not_to_have_count(0)
    assert set(page.locator("#tables .thought").all_text_contents()) == {""}
    with_held.let_go()
    # The first moves of python-chess's list are the engine's.
    board = chess.Board()
    board.push_san("e4")
    first = next(iter(board.legal_moves))
    expect(page.locator("#engine-lines li").first).to_contain_text(board.san(first))


# One table


def test_one_table_of_many_books_is_moved_sideways_under_its_moves(serve, look, books, engine, shots):
    copies = []
    for number in range(9):
        copies.append(books / f"copy{number}.abk")
        copies[-1].write_bytes((books / "arena.abk").read_bytes())
    page = look(serve(*copies, "--engine", engine[0]), "#e4", width=1024, height=768)
    expect(page.locator(".together .names th")).to_have_count(9)
    expect(page.locator(".together tbody tr").first.locator(".results")).to_have_count(9)
    room = page.locator(".sideways")
    last = page.locator(".together tbody tr").first.locator(".results").last
    move = page.locator('.together tr[data-move="c7c5"] .san')
    before = move.bounding_box()
    room.evaluate("node => { node.scrollLeft = node.scrollWidth; }")
    box, place = last.bounding_box(), room.bounding_box()
    assert box["x"] > place["x"] and box["x"] + box["width"] <= place["x"] + place["width"]
    assert move.bounding_box() == before
    page.screenshot(path=shots / "sideways.png")
    # It stays there while the engine's column comes, and a move is still played by its name.
    page.keyboard.press("e")
    expect(page.locator("td.engine").first).to_be_attached()
    assert room.evaluate("node => node.scrollLeft") > 0
    move.click()
    address(page, "#e4,c5")


@pytest.mark.parametrize(("width", "touch"), [(1024, False), (390, True)])
def test_results_stay_beside_chances(serve, look, books, engine, width, touch):
    page = look(serve(*(books / name for name in BOOKS), "--edit", "--engine", engine[0]), "#e4", width=width, height=800, has_touch=touch, is_mobile=touch)
    for view in ("One table", "Each"):
        page.get_by_role("button", name=view, exact=True).click()
        for _ in range(2):
            # The Polyglot book has no results.
            expect(page.locator('#tables tr[data-move="c7c5"] .results')).to_have_count(3)
            expect(page.locator('#tables tr[data-move="c7c5"] .share')).to_have_count(4)
            page.locator("#engine summary").click()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_one_table_edits_with_the_forms_of_the_books(serve, look, books, counted):
    tabiya("edit", books / "marks.ctg", "--moves", "e4", "--delete", "e6")
    page = look(serve(books / "main.bin", books / "marks.ctg", counted[0], "--edit"), "#e4", width=1440, height=900)
    # A form that was opened stays what it is in the other view.
    page.locator('[data-focus="0 adding"]').click()
    together(page)
    expect(page.locator('[data-focus="0 add move"]')).to_be_visible()
    expect(page.locator("details.adding")).to_have_count(4)
    expect(page.locator("tfoot td.of").nth(2)).to_contain_text("cannot be edited")
    # Beside a value, the value is meant; the row is not played.
    weight(page, "c7c5").locator("xpath=..").click(position={"x": 3, "y": 3})
    page.keyboard.type("123")
    page.keyboard.press("Enter")
    expect(note(page)).to_contain_text("89 → 123 · saved")
    address(page, "#e4")
    assert show(books / "main.bin", "e4")["c7c5"]["weight"] == 123
    note(page).get_by_role("button", name="undo").click()
    expect(weight(page, "c7c5")).to_have_text("89")
    # Colors and marks, and a move that this book does not have.
    page.locator('[data-focus="1 c7c5 looks"]').click()
    page.get_by_role("menuitemradio", name="green: recommended").click()
    expect(page.locator('.note[data-note="1"]')).to_contain_text("saved")
    assert show(books / "marks.ctg", "e4")["c7c5"]["recommended"] is True
    page.get_by_role("button", name="Add e6 to marks.ctg").click()
    expect(page.locator('[data-focus="1 add move"]')).to_have_value("e7e6")
    page.keyboard.press("Enter")
    expect(page.locator('.note[data-note="1"]')).to_contain_text("e6 added · saved")
    assert "e7e6" in show(books / "marks.ctg", "e4")
    saved(page)


# Steps on a slow line


def test_a_step_moves_the_piece_before_the_server_answers(serve, look, books):
    page = look(serve(books / "main.bin"))
    held = Held(page.context, "**/api/view*")
    page.locator('#tables tr[data-move="e2e4"] .san').click()
    piece(page, "e4", "white pawn")
    piece(page, "e2", "")
    expect(square(page, "e4")).to_have_class("square last")
    # Back, where all is known, and forward again.
    page.keyboard.press("ArrowLeft")
    piece(page, "e2", "white pawn")
    page.keyboard.press("ArrowRight")
    piece(page, "e4", "white pawn")
    held.wait(page)
    held.let_go()
    expect(page.locator("tr.move .san").first).to_have_text("c5")


@pytest.mark.parametrize(("start", "squares", "after"), [
    ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1 c1", {"c1": "white king", "d1": "white rook", "a1": "", "e1": ""}),
    ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8 g8", {"g8": "black king", "f8": "black rook", "h8": "", "e8": ""}),
    ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5 d6", {"d6": "white pawn", "d5": "", "e5": ""}),
    ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7 a8", {"a8": "white knight", "a7": ""}),
])
def test_what_else_a_move_does_is_seen_at_once(serve, look, books, start, squares, after):
    page = look(serve(books / "main.bin"), f"#fen={start.replace(' ', '_')}")
    origin, goal = squares.split()
    click(page, origin)
    held = Held(page.context, "**/api/view*")
    click(page, goal)
    if goal == "a8":
        page.locator("#promotion").get_by_role("button", name="knight").click()
    for name, what in after.items():
        piece(page, name, what)
    held.wait(page)
    held.let_go()
    shown(page)
    for name, what in after.items():
        piece(page, name, what)


def test_a_piece_slides_only_where_it_was_not_dropped(serve, look, books):
    page = look(serve(books / "main.bin"))
    page.evaluate("() => { window.slides = 0; Element.prototype.animate = () => { window.slides += 1; }; }")
    drag(page, "e2", "e4")
    address(page, "#e4")
    shown(page)
    assert page.evaluate("slides") == 0
    page.locator('#tables tr[data-move="c7c5"] .san').click()
    address(page, "#e4,c5")
    shown(page)
    assert page.evaluate("slides") == 1


# What says what it is


def test_icons_say_what_they_do(serve, look, books, engine):
    page = look(serve(books / "main.bin", books / "marks.ctg", "--edit", "--settings", "--engine", engine[0]), width=390, height=844, has_touch=True, is_mobile=True)
    for name in ("title", "aria-label"):
        assert page.evaluate("name => [...document.querySelectorAll('button.icon')].filter(node => node.checkVisibility() && !node.getAttribute(name)).map(node => node.outerHTML.slice(0, 120))", name) == []
    # A finger cannot rest on them: what is in the toolbar is also in words.
    page.locator("#open-keys").click()
    expect(page.locator("#icons-list dd")).to_have_text(page.locator("#controls .icon").evaluate_all("nodes => nodes.map(node => node.ariaLabel)"))


def test_a_broken_store_is_said_and_the_book_is_shown(serve, look, books):
    (books / "main.bin.evals").write_bytes(b"no store" * 20)
    page = look(serve(books / "main.bin"))
    expect(page.locator("#warnings li")).to_contain_text("main.bin.evals")
    expect(page.locator("tr.move")).to_have_count(4)
    expect(page.locator("td.eval")).to_have_count(0)
