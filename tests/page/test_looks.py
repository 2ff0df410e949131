"""What the page looks like: three widths, both themes; nothing is clipped, and axe-core finds nothing serious."""

import os
from pathlib import Path

import pytest
from conftest import tabiya
from parts import line
from playwright.sync_api import expect

NAJDORF = "#e4,c5,Nf3,d6,d4,cxd4,Nxd4,Nf6,Nc3,a6"
AXE = os.environ.get("TABIYA_AXE")
SIZES = {360: 740, 768: 1024, 1280: 800}

# What is wider than its place, apart from texts that end with an ellipsis on purpose.
CLIPPED = """[...document.querySelectorAll('th:not([scope=colgroup]), td:not(.opening, .player), .why, input.value, button:not(.game), .chip, .slider > *, .score, .results > span')].filter(node =>
    node.checkVisibility() && node.clientWidth > 1 && node.scrollWidth > node.clientWidth + 1).map(node => node.outerHTML.slice(0, 120))"""


# What scrolls within the page: only the board that is set up is too much for a small phone.
INNER = """[...document.querySelectorAll('body *:not(#setup)')].filter(node => node.checkVisibility() && /auto|scroll/.test(getComputedStyle(node).overflowY)
    && getComputedStyle(node).scrollbarWidth !== 'none' && node.scrollHeight > node.clientHeight + 1).map(node => node.outerHTML.slice(0, 120))"""


def check(page, shots, name, whole=True):
    # The window has another size for a moment after a screenshot of the whole page.
    page.wait_for_function("size => innerWidth === size.width && innerHeight === size.height", arg=page.viewport_size)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for found in (CLIPPED, INNER):
        assert page.evaluate(found) == []
    page.screenshot(path=shots / f"{name}.png", full_page=whole)
    if AXE:
        if not page.evaluate("'axe' in window"):
            page.evaluate(Path(AXE).read_text())
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        bad = [(one["id"], one["impact"], [node["html"] for node in one["nodes"]][:3]) for one in found["violations"] if one["impact"] in ("serious", "critical")]
        assert bad == []


def go(page, place):
    """To another address, without loading the page anew."""
    page.evaluate("place => (location.hash = place)", place)
    # An address that was typed has no state until it is read.
    page.wait_for_function("() => history.state?.line && document.querySelector('#tables').ariaBusy === 'false'")


def test_axe_looks_at_the_pages():
    """As every `check` does; elsewhere than in CI it is optional."""
    if not AXE:
        pytest.skip("TABIYA_AXE is unset: axe-core does not look at the pages")
    assert "axe.run" in Path(AXE).read_text()


@pytest.fixture(scope="module", params=["light", "dark"])
def theme(request):
    return request.param


@pytest.fixture(params=SIZES)
def size(request):
    return {"width": request.param, "height": SIZES[request.param]}


def test_reading(serve, look, books, shots, theme, size):
    server = serve(books / "marks.ctg", books / "main.bin", books / "arena.abk", books / "named.kob")
    page = look(server, theme=theme, **size)
    for name, place in (("start", ""), ("deep", NAJDORF), ("end", "#e4,e5,Nf3,Nc6,Bb5,a6,h4"), ("unknown", "#fen=8/P6k/8/8/8/8/7K/8_w_-_-_0_1")):
        if place:
            go(page, place)
        expect(page.locator("section.together .names th, section.together .aside")).not_to_have_count(0)
        check(page, shots, f"{name}-one-{size['width']}-{theme}")
        page.get_by_role("button", name="Each", exact=True).click()
        expect(page.locator("section.book")).to_have_count(4)
        check(page, shots, f"{name}-{size['width']}-{theme}")
        page.get_by_role("button", name="One table", exact=True).click()


def test_editing(serve, look, books, shots, theme, size):
    page = look(serve(books / "main.bin", books / "marks.ctg", "--edit"), "#e4", theme=theme, **size)
    page.locator('[data-focus="0 c7c5 value"]').click()
    page.locator('[data-focus="0 c7c5 value"]').fill("123")
    page.keyboard.press("Enter")
    expect(page.locator(".note")).to_contain_text("saved")
    page.locator(".adding summary").first.click()
    page.locator("details.adding summary", has_text="Add or delete a line").first.click()
    check(page, shots, f"line-{size['width']}-{theme}")
    page.locator("details.adding summary", has_text="Add or delete a line").first.click()
    check(page, shots, f"edit-{size['width']}-{theme}")
    page.locator('[data-focus="1 c7c5 looks"]').click()
    check(page, shots, f"looks-{size['width']}-{theme}")


def test_engine_search_and_keys(serve, look, books, shots, theme, size, engine):
    page = look(serve(books / "main.bin", "--engine", engine[0]), NAJDORF, theme=theme, **size)
    page.locator("#policy").evaluate("node => { node.open = true; }")
    page.keyboard.press("e")
    expect(page.locator("#engine-lines li")).to_have_count(3)
    check(page, shots, f"engine-{size['width']}-{theme}")
    page.keyboard.press("/")
    page.keyboard.type("dragon")
    expect(page.locator("#search-hits").get_by_role("option").first).to_be_visible()
    check(page, shots, f"search-{size['width']}-{theme}", whole=False)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Search")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    check(page, shots, f"keys-{size['width']}-{theme}", whole=False)


def test_setting_up_filters_and_ways_on(serve, look, books, counted, shots, theme, size):
    page = look(serve(books / "main.bin", counted[0], "--games", counted[1]), "#e4", theme=theme, **size)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#line .chosen")).to_have_text("c5")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_label("blitz", exact=True).check()
    page.get_by_label("2000–2199").check()
    page.get_by_label("since").fill("2019")
    check(page, shots, f"filter-{size['width']}-{theme}", whole=False)
    page.keyboard.press("Escape")
    expect(page.locator("#filters .chip")).to_have_count(3)
    check(page, shots, f"filtered-{size['width']}-{theme}")
    page.locator("#open-setup").click()
    expect(page.locator("#setup-use")).to_be_enabled()
    check(page, shots, f"setup-{size['width']}-{theme}", whole=False)


def test_the_theme_can_be_chosen(serve, look, books):
    page = look(serve(books / "main.bin"), theme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Colours: as the system").click()
    page.get_by_role("button", name="Colours: light").wait_for()
    assert page.evaluate(ground) != dark
    page.reload()
    page.get_by_role("button", name="Colours: light").click()
    assert page.evaluate(ground) == dark


def test_pieces_do_not_move_for_those_who_want_no_motion(serve, look, books):
    page = look(serve(books / "main.bin"), reduced_motion="reduce")
    page.evaluate("() => { Element.prototype.animate = () => { throw new Error('it moves'); }; }")
    page.keyboard.press("1")
    expect(line(page)).to_have_text(["e4"])


def test_a_page_at_200_percent(serve, look, books, shots, theme):
    page = look(serve(books / "main.bin"), NAJDORF, theme=theme, width=640, height=400, device_scale_factor=2)
    check(page, shots, f"zoom-{theme}")


def test_long_names_do_not_widen_the_page(serve, look, books, shots):
    long = "a" * 49
    for name in ("main.bin", "marks.ctg", "marks.ctb", "marks.cto"):
        (books / name).rename(books / f"{long}{name[-4:]}")
    # A name without a place to break, in a warning.
    broken = books / f"{'b' * 49}.bin"
    broken.write_bytes(b"x" * 17)
    for files, width in (((f"{long}.bin",), 360), ((f"{long}.bin", f"{long}.ctg", broken.name), 768)):
        page = look(serve(*(books / file for file in files), "--edit"), width=width, height=740)
        for name, place in (("start", ""), ("unknown", "#fen=8/P6k/8/8/8/8/7K/8_w_-_-_0_1"), ("unread", "#e4,Ke7")):
            if place:
                go(page, place)
            expect(page.locator("section.book")).to_have_count(len(files))
            check(page, shots, f"long-{name}-{width}")


# Moves as long as they get, and the greatest weights.
LONG = ["e4 d5 exd5 c6 dxc6 Nf6 cxb7 Bd7 bxa8=Q Bc6", "e4 d5 exd5 c6 dxc6 Nf6 cxb7 Bd7 bxc8=Q", "e4 d5 exd5 c6 dxc6 Nf6 cxb7 Bd7 Bb5 Qc7", "e4 c5 Nf3 d6 Bb5+ Bd7"]


@pytest.mark.parametrize("width", [1920, 1440, 1024, 390])
def test_nothing_is_cut_off_where_books_are_edited(serve, look, books, shots, theme, width):
    games = books / "long.pgn"
    games.write_text("".join(f'[White "A"]\n\n{text} {result}\n\n' for text in LONG for result in ("1-0", "1/2-1/2", "0-1")))
    for name in ("long.bin", "long.ctg"):
        tabiya("build", "-o", books / name, games)
    tabiya("edit", books / "long.ctg", "--moves", "e4 c5 Nf3 d6", "--set", "Bb5+=green,!")
    page = look(serve(books / "long.bin", books / "long.ctg", "--edit"), width=width, height=900, theme=theme)
    for place in ("#e4,c5,Nf3,d6", "#e4,d5,exd5,c6,dxc6,Nf6,cxb7,Bd7"):
        go(page, place)
        move = page.locator("button.value").first
        move.click()
        expect(page.get_by_role("spinbutton").first).to_be_focused()
        page.keyboard.type("65535")
        check(page, shots, f"field-{width}-{theme}")
        page.keyboard.press("Enter")
        expect(page.locator(".note")).to_contain_text("saved")
        check(page, shots, f"edited-{len(place)}-{width}-{theme}")
        if width > 400:
            page.get_by_role("button", name="One table", exact=True).click()
            expect(page.locator("section.together")).to_have_count(1)
            check(page, shots, f"edited-one-{len(place)}-{width}-{theme}")
            page.get_by_role("button", name="Each", exact=True).click()


def test_one_table_says_why_a_move_is_not_played_and_what_its_bars_mean(serve, look, books, shots):
    page = look(serve(books / "main.bin", books / "marks.ctg"), width=1440, height=900)
    row = page.locator('section.together tr[data-move="c2c4"]')
    expect(row.locator(".why")).to_have_text(["red"])
    expect(page.locator(".legend")).to_have_text("WhitedrawBlack")
    expect(page.locator("tfoot")).to_contain_text("games · the line goes on for")
    page.emulate_media(media="print")
    for shown in ("#board", "#tables"):
        expect(page.locator(shown)).to_be_visible()
    for hidden in ("#controls", ".tools", "#policy", "#filters"):
        expect(page.locator(hidden)).to_be_hidden()
    page.screenshot(path=shots / "print.png")


def test_gaps(serve, look, books, shots, theme, size):
    page = look(serve(books / "main.bin", books / "marks.ctg", "--games", books / "games.pgn"), theme=theme, **size)
    page.locator("#gaps summary").click()
    page.get_by_label("also what is almost never reached").check()
    page.get_by_role("button", name="Find from here on").click()
    expect(page.locator("#gaps-lists h2")).to_have_count(4)
    check(page, shots, f"gaps-{size['width']}-{theme}")
