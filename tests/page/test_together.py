"""The explorer's page: one table of all books, sorting, whose evaluations, and the games of a position."""

import re

import pytest
from conftest import show, tabiya
from parts import address, line, piece
from playwright.sync_api import expect

BOOKS = ("marks.ctg", "main.bin", "arena.abk", "named.kob")


@pytest.fixture
def page(serve, look, books):
    return look(serve(*(books / name for name in BOOKS)), width=1440, height=900)


def cell(page, move, column, book=None):
    """The cell of a move: that of the nth book which has such a column."""
    return page.locator(f'.together tr[data-move="{move}"] td.{column}').nth(book or 0)


def sans(page, within="#tables"):
    return page.locator(f"{within} tr.move .san")


def test_several_books_are_one_table(page, books):
    expect(page.locator(".together .names th")).to_have_text(list(BOOKS))
    moves = {move["uci"]: move for name in BOOKS for move in [*show(books / name).values()]}
    expect(sans(page)).to_have_count(len(moves))
    for number, name in enumerate(BOOKS):
        known = show(books / name)
        # Each book has a chance for each of its moves; a move that is not played has none.
        for uci in moves:
            share = known[uci]["chance"]
            text = cell(page, uci, "chance", number)
            expect(text).to_contain_text(f"{100 * share:.0f} %" if share >= 0.0995 else "%" if share else "–")
    expect(cell(page, "e2e4", "bar").get_by_role("img")).to_have_attribute("aria-label", re.compile(r"^White 33 % \(\d+\), drawn"))
    # What a book says of its games is under its column, and the rest under its name.
    expect(page.locator(".together tfoot td.of")).to_have_count(4)
    expect(page.locator(".together tfoot td.of").first).to_contain_text("193 games")
    expect(page.locator('.aside[data-of="3"] .sample')).to_contain_text("A game:")
    page.locator('.together tr[data-move="d2d4"] td.bar').first.click()
    address(page, "#d4")


def test_what_differs_between_books_stands_out(page):
    # The CTG book has a green move, so it plays no other.
    expect(cell(page, "e2e4", "chance", 0)).to_have_class(re.compile("differs"))
    expect(cell(page, "e2e4", "chance", 1)).not_to_have_class(re.compile("differs"))
    expect(cell(page, "e2e4", "chance", 0).locator(".mark.green")).to_contain_text("!")
    expect(cell(page, "c2c4", "chance", 0).locator(".mark.red")).to_contain_text("?")


def test_a_mark_that_is_the_reason_is_said_once(serve, look, books):
    tabiya("edit", books / "marks.ctg", "--set", "d4=?!")
    page = look(serve(books / "marks.ctg", books / "main.bin"), width=1440, height=900)
    expect(cell(page, "d2d4", "chance").locator(".why")).to_have_text("marked ?!")
    expect(cell(page, "d2d4", "chance").locator(".mark")).to_have_count(0)


def test_a_book_without_the_move_or_the_position_says_so(serve, look, books, tmp_path):
    tabiya("edit", books / "main.bin", "--delete", "c4")
    tabiya("edit", books / "main.bin", "--moves", "c4", "--delete", "e5")
    page = look(serve(books / "main.bin", books / "marks.ctg"), width=1024, height=768)
    expect(page.locator('tr[data-move="c2c4"] td.absent')).to_have_attribute("title", "main.bin does not have c4")
    page.evaluate("location.hash = '#c4'")
    expect(page.locator('.aside[data-of="0"]')).to_contain_text("does not know the position")
    expect(sans(page)).to_have_text(["e5"])
    page.evaluate("location.hash = '#h4'")
    expect(page.locator(".together table")).to_have_count(0)
    expect(page.locator(".together .aside")).to_have_count(2)


def test_the_switch_is_remembered(page):
    page.get_by_role("button", name="Each", exact=True).click()
    expect(page.locator("section.book")).to_have_count(4)
    page.reload()
    expect(page.locator("section.book")).to_have_count(4)
    page.keyboard.press("t")
    expect(page.locator("section.together")).to_have_count(1)
    expect(page.get_by_role("button", name="One table")).to_have_attribute("aria-pressed", "true")
    # One book has its own table, and no switch.
    for name in BOOKS[1:]:
        page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator("section.book")).to_have_count(1)
    expect(page.locator("#view")).to_be_hidden()
    # Hidden books stay hidden.
    page.reload()
    expect(page.get_by_role("button", name="main.bin", exact=True)).to_have_attribute("aria-pressed", "false")
    expect(page.locator("section.book")).to_have_count(1)
    expect(page.locator("section.book caption")).to_contain_text("marks.ctg")


def test_the_keyboard_goes_through_the_rows_of_all_books(page):
    sans(page).first.focus()
    expect(page.locator("#arrows .strong")).to_have_attribute("data-move", "e2e4")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#arrows .strong")).to_have_attribute("data-move", "d2d4")
    page.keyboard.press("Enter")
    address(page, "#d4")
    page.keyboard.press("ArrowLeft")
    expect(sans(page)).to_have_count(4)
    second = sans(page).nth(1).text_content()
    page.keyboard.press("2")
    address(page, f"#{second}")


def test_rows_are_sorted_by_a_column(serve, look, books):
    page = look(serve(books / "named.kob"), width=1440, height=900)
    games = show(books / "named.kob")
    by_games = sorted(games, key=lambda uci: -games[uci]["games"])
    head = page.locator("#tables thead th.games")
    expect(sans(page).first).to_have_text("e4")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    expect(sans(page)).to_have_text([games[uci]["san"] for uci in by_games])
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(sans(page)).to_have_text([games[uci]["san"] for uci in reversed(by_games)])
    # The digits are those of the rows that are seen.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("1")
    address(page, f"#{games[by_games[-1]]['san']}")
    page.keyboard.press("ArrowLeft")
    head.get_by_role("button").click()
    expect(page.locator("#tables thead [aria-sort]")).to_have_count(0)


def test_evaluations_are_whites_unless_the_movers_are_wanted(serve, look, books, tmp_path):
    (tmp_path / "black.epd").write_text("rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - ce 30; acd 30;\n")
    tabiya("import", books / "main.bin.evals", tmp_path / "black.epd")
    page = look(serve(books / "main.bin"), "#e4", width=1440, height=900)
    value = page.locator('tr[data-move="c7c5"] td.eval')
    expect(value).to_have_text("+0.30")
    expect(value).to_have_attribute("title", "+0.30 for White")
    page.get_by_role("button", name="Evaluations: for White").click()
    expect(value).to_have_text("−0.30")
    page.reload()
    expect(value).to_have_text("−0.30")
    page.get_by_role("button", name="Evaluations: for the side to move").click()
    expect(value).to_have_text("+0.30")


def test_engine_lines_are_played_as_far_as_they_are_clicked(serve, look, books, engine):
    page = look(serve(books / "main.bin", "--engine", engine[0]), "#e4")
    page.keyboard.press("e")
    first = page.locator("#engine-lines li").first
    # For White, who is not to move.
    expect(page.locator("#engine-score")).to_have_text("−0.30")
    # A bar beside the board, and the arrow of its move.
    expect(page.locator("#balance")).to_be_visible()
    assert 40 < float(page.evaluate("document.getElementById('balance').style.getPropertyValue('--part')").rstrip("%")) < 50
    expect(page.locator("#arrows .engine")).to_have_count(1)
    moves = first.locator(".moves button")
    expect(moves).not_to_have_count(0)
    count = moves.count()
    moves.last.click()
    expect(line(page)).to_have_count(1 + count)
    with page.expect_response(lambda answer: "/api/engine" in answer.url and "lines=5" in answer.url):
        page.locator("#engine-count").select_option("5")
    # The engine of the tests counts its threads among its nodes a second.
    expect(first).to_be_visible()
    expect(page.locator("#engine-depth")).to_contain_text("100k/s")
    with page.expect_response(lambda answer: "/api/engine" in answer.url and "threads=1" in answer.url):
        page.locator("#engine-threads").select_option("1")
    expect(page.locator("#engine-depth")).to_contain_text("200k/s")


# Games


def test_games_of_the_position_are_played_with_a_click(serve, look, books):
    page = look(serve(books / "main.bin", "--games", books / "games.pgn"), "#e4,c5", width=1440, height=900)
    rows = page.locator("#games-list tr")
    expect(page.locator("#games-count")).to_have_text("90 games")
    expect(rows).to_have_count(5)
    page.get_by_role("button", name="Show 30").click()
    expect(rows).to_have_count(30)
    strongest = rows.first.text_content()
    page.get_by_role("button", name="Latest", exact=True).click()
    expect(page.get_by_role("button", name="Latest", exact=True)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Strongest", exact=True).click()
    expect(rows.first).to_have_text(strongest)
    rows.first.locator("td.year").click()
    # The position stays, and the game goes on from it.
    address(page, "#e4,c5")
    players = page.locator("#players")
    expect(players).to_contain_text("White 0 – Black ")
    expect(players).to_contain_text("2021 · Test")
    expect(line(page)).not_to_have_count(2)
    expect(line(page).nth(2)).to_have_text("Nf3")
    page.keyboard.press("ArrowRight")
    address(page, "#e4,c5,Nf3")
    piece(page, "f3", "white knight")
    page.keyboard.press("End")
    expect(page.locator("#line [aria-current]")).to_have_text(line(page).last.text_content())
    # The position at its end is one of its positions.
    expect(page.locator("#games-list td.next").first).to_have_text("–")
    expect(players).to_be_visible()
    page.evaluate("location.hash = '#fen=8/P6k/8/8/8/8/7K/8_w_-_-_0_1'")
    expect(players).to_be_hidden()
    expect(page.locator("#games-note")).to_contain_text("No game has this position")


def test_a_game_of_a_kvetka_book_is_played_too(serve, look, books):
    page = look(serve(books / "named.kob"), "#e4,c5,Nf3")
    page.locator(".sample button").click()
    page.get_by_role("button", name="Play it").click()
    expect(page.locator("#text")).to_be_hidden()
    address(page, "#e4,c5,Nf3")
    expect(line(page)).not_to_have_count(3)


def test_without_games_there_is_no_list(serve, look, books):
    page = look(serve(books / "main.bin"))
    expect(page.locator("#games")).to_be_hidden()


def test_a_finger_has_room(serve, look, books, engine):
    page = look(serve(*(books / name for name in BOOKS), "--games", books / "games.pgn", "--engine", engine[0]), "#e4,c5", width=390, height=844, has_touch=True, is_mobile=True)
    expect(page.locator("#games-list tr")).to_have_count(5)
    for view in ("One table", "Each"):
        page.get_by_role("button", name=view, exact=True).click()
        small = page.evaluate("""[...document.querySelectorAll('button, summary, input, select')].filter(node => node.checkVisibility() && !node.closest('dialog, .unseen, #squares')
            && !(node.closest('#engine-lines')) && node.getBoundingClientRect().height < 43.5).map(node => node.outerHTML.slice(0, 100))""")
        assert small == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_the_table_and_the_board_are_seen_at_once(serve, look, books, engine, width, height):
    page = look(serve(*(books / name for name in BOOKS), "--engine", engine[0]), "#e4,c5,Nf3,d6,d4,cxd4,Nxd4,Nf6,Nc3", width=width, height=height)
    page.keyboard.press("e")
    expect(page.locator("#engine-lines li")).to_have_count(3)
    for part in ("#board", "#controls", "#engine-lines", ".together table"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= height, part
    assert page.locator("#board").bounding_box()["height"] > 0.5 * height


# What is pasted and dropped

PASTE = """text => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
DROP = """([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
GAME = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 {best} c5 (1... e5 2. Nf3) 2. Nf3 d6 1-0\n'


def test_lines_positions_and_games_are_pasted_and_dropped(serve, look, books):
    page = look(serve(books / "main.bin"))
    page.evaluate(PASTE, "1. e4 e5 2. ♘f3 Nc6 3. Bb5")
    address(page, "#e4,e5,Nf3,Nc6,Bb5")
    page.evaluate(PASTE, "https://lichess.org/analysis/8/P6k/8/8/8/8/7K/8_w_-_-_0_1")
    piece(page, "a7", "white pawn")
    # From there, to the start by its button, or by a line with its first number; remarks are branches.
    page.get_by_role("button", name="Start position").click()
    address(page, "")
    expect(page.get_by_role("button", name="Start position")).to_be_hidden()
    page.go_back()
    piece(page, "a7", "white pawn")
    page.evaluate(PASTE, "1. e4 e5")
    address(page, "#e4,e5")
    page.evaluate(PASTE, "1. d4 {solid} (1. c4 c5) d5")
    expect(line(page)).to_have_text(["d4", "c4", "c5", "d5", "×"])
    page.evaluate(PASTE, "position startpos moves g1f3 g8f6")
    address(page, "#Nf3,Nf6")
    page.evaluate(PASTE, "https://lichess.org/abcdefgh")
    expect(page.locator("#toast")).to_contain_text("paste the game itself, as PGN")
    page.evaluate(PASTE, GAME)
    # With its variation, and the button that forgets it.
    expect(line(page)).to_have_text(["e4", "c5", "e5", "Nf3", "Nf3", "d6", "×"])
    page.wait_for_function("() => location.hash === ''")
    page.keyboard.press("ArrowRight")
    address(page, "#e4")
    page.evaluate(DROP, ["games.pgn", GAME + "\n[Event \"x\"]\n[White \"C\"]\n[Black \"D\"]\n\n1. d4 d5 *\n"])
    expect(page.get_by_role("dialog", name="2 games")).to_be_visible()
    page.get_by_role("button", name="C – D, *").click()
    expect(line(page)).to_have_text(["d4", "d5"])
    page.evaluate(PASTE, "no such thing")
    expect(page.locator("#toast")).to_contain_text("not a legal move")
    expect(line(page)).to_have_text(["d4", "d5"])


def test_what_the_page_remembers_outlives_a_restart_on_another_port(serve, look, books):
    line = (books / "main.bin", books / "marks.ctg")
    server = serve(*line)
    page = look(server)
    with page.expect_response("**/api/kept"):
        page.get_by_role("button", name="Colours: as the system").click()
    with page.expect_response("**/api/kept"):
        page.locator("#books").get_by_role("button", name="marks.ctg").click()
    server.stop()
    page.close()
    other = serve(*line)
    assert other.port != server.port
    page = look(other)
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.locator("#books").get_by_role("button", name="marks.ctg")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("section.book")).to_have_count(1)


def test_more_games_than_are_read_are_said(serve, look, books):
    page = look(serve(books / "main.bin"))
    page.evaluate("""text => { const data = new DataTransfer(); data.setData('text/plain', text);
        document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true })); }""", '[White "A"]\n\n1. e4 *\n\n' * 1300)
    expect(page.locator("#pasted-title")).to_have_text("The first 1,000 of 1,300 games")
    expect(page.locator("#pasted-list button")).to_have_count(1000)


def test_the_search_asks_nothing_that_fails(serve, look, books):
    page = look(serve(books / "main.bin"))
    failed = []
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    page.keyboard.press("/")
    page.keyboard.type("najdorf")
    expect(page.locator("#search-hits").get_by_role("option").first).to_contain_text("Najdorf")
    page.keyboard.press("Control+a")
    page.keyboard.type("e4 c5")
    expect(page.locator("#search-hits").get_by_role("option").first).to_contain_text("these moves")
    assert failed == []
