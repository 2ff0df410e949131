"""Books of the variants of chess on the page: their boards, their rules, and what is theirs alone."""

import json
import shutil

import pytest
from conftest import GAMES, tabiya
from parts import address, click, drag, line, piece, shown, square
from playwright.sync_api import expect
from test_looks import SIZES, check

# Each line is a game of its variant.
LINES = {
    "atomic": ["Nf3 f6 e3 d5 Ng5 fxg5 Qh5+", "Nf3 f6 Nc3 d5 e4 d4 Ng5 fxg5"],
    "crazyhouse": ["e4 d5 exd5 Qxd5 Nc3 Qxd2+ Bxd2 @b4 @e6 bxc3"],
    "antichess": ["e3 b5 Bxb5 Ba6 Bxa6 Nxa6"],
    "3check": ["e4 e5 Qh5 Nc6 Qxf7+"],
}
TITLES = {"atomic": "Atomic", "crazyhouse": "Crazyhouse", "antichess": "Antichess", "3check": "Three-check"}


@pytest.fixture(scope="session")
def built(made, tmp_path_factory):
    """A tabiya.toml with books of variants and one of standard chess; and games of all of them."""
    folder = tmp_path_factory.mktemp("variants")
    shutil.copy(made / "main.bin", folder)
    text, games = "book = 'main.bin'\n", folder / "games.pgn"
    with games.open("w") as file:
        for name, lines in LINES.items():
            for moves in lines:
                file.write(f'[Event "A"]\n[White "{name}"]\n[Black "B"]\n[Variant "{TITLES[name]}"]\n[Result "1/2-1/2"]\n\n{moves} 1/2-1/2\n\n')
        file.write(f'[Event "A"]\n[White "standard"]\n[Black "B"]\n[Result "1-0"]\n\n{GAMES[0][1]} 1-0\n\n')
    for name in LINES:
        tabiya("build", games, "--variant", name, "--min-games", "1", "-o", folder / f"{name}.bin")
        text += f"[variant.{name}]\nbook = '{name}.bin'\n"
    (folder / "tabiya.toml").write_text(text)
    return folder


@pytest.fixture
def mine(built, tmp_path):
    return shutil.copytree(built, tmp_path / "variants")


def rows(page):
    return page.locator("tr.move .san")


def choose(page, name):
    page.get_by_label("Variant").select_option(name)


def hand(page, letter):
    return page.locator(f'[data-focus="hand {letter}"]')


def test_a_choice_in_the_header_switches_board_and_books(serve, look, mine):
    server = serve("--config", mine / "tabiya.toml")
    page = look(server)
    expect(page.get_by_label("Variant").locator("option")).to_have_text(["Standard", *TITLES.values()])
    expect(page.locator("#books .chip")).to_have_text(["main.bin", "starter book"])
    choose(page, "Atomic")
    address(page, "#variant=atomic")
    expect(page.locator("#books .chip")).to_have_text(["atomic.bin"])
    expect(rows(page)).to_have_text(["Nf3"])
    page.keyboard.press("1")
    address(page, "#variant=atomic&moves=Nf3")
    drag(page, "f7", "f6")
    address(page, "#variant=atomic&moves=Nf3,f6")
    # Names of openings belong to standard chess.
    expect(page.locator("#opening")).to_have_text("")
    page.reload()
    expect(line(page)).to_have_text(["Nf3", "f6"])
    expect(page.get_by_label("Variant")).to_have_value("atomic")
    page.go_back()
    page.go_back()
    expect(line(page)).to_have_count(0)
    page.go_back()
    address(page, "")
    expect(page.get_by_label("Variant")).to_have_value("chess")
    expect(page.locator("#books .chip")).to_have_text(["main.bin", "starter book"])
    page.evaluate("location.hash = '#variant=threeCheck&e4,e5'")
    expect(line(page)).to_have_text(["e4", "e5"])
    expect(page.get_by_label("Variant")).to_have_value("3check")
    # Explosions are seen.
    page.evaluate("location.hash = '#variant=atomic&moves=Nf3,f6,e3,d5,Ng5,fxg5'")
    expect(line(page)).to_have_count(6)
    for name in ("f6", "g5", "f7"):
        expect(square(page, name).locator(".piece")).to_have_count(0)


def test_a_variant_without_books_is_said_in_words(serve, look, mine):
    page = look(serve("--config", mine / "tabiya.toml"))
    page.evaluate("location.hash = '#variant=horde'")
    expect(page.locator("#notice")).to_contain_text("no book is of horde: the books are of chess, atomic, crazyhouse, antichess, 3check")
    page.get_by_role("button", name="Go to the start").click()
    address(page, "")
    expect(rows(page).first).to_have_text("e4")


def test_books_of_one_variant_are_seen_at_once(serve, look, mine):
    page = look(serve(mine / "atomic.bin", "--variant", "atomic"))
    expect(rows(page)).to_have_text(["Nf3"])
    expect(page.get_by_label("Variant")).to_have_value("atomic")
    expect(page.get_by_label("Variant")).to_be_disabled()
    page.keyboard.press("1")
    address(page, "#variant=atomic&moves=Nf3")


def test_books_of_standard_chess_need_no_choice(serve, look, books):
    page = look(serve(books / "main.bin"))
    expect(page.get_by_label("Variant")).to_be_hidden()
    expect(page.locator("#hands")).to_be_hidden()


def test_pieces_in_hand_are_put_on_the_board(serve, look, mine, shots):
    page = look(serve(mine / "crazyhouse.bin", "--variant", "crazyhouse"), "#variant=crazyhouse&moves=e4,d5,exd5,Qxd5,Nc3,Qxd2+,Bxd2")
    expect(rows(page)).to_have_text(["@b4"])
    expect(hand(page, "p")).to_have_attribute("aria-label", "black pawn, 2 in hand")
    expect(hand(page, "Q")).to_be_disabled()
    expect(page.locator("#arrows circle[data-move='P@b4']")).to_have_count(1)
    shown(page)
    hand(page, "p").click()
    expect(hand(page, "p")).to_have_attribute("aria-pressed", "true")
    expect(square(page, "e4")).to_have_class("square target")
    expect(square(page, "e8")).not_to_have_class("square target")
    page.screenshot(path=shots / "crazyhouse.png")
    click(page, "b4")
    address(page, "#variant=crazyhouse&moves=e4,d5,exd5,Qxd5,Nc3,Qxd2+,Bxd2,@b4")
    piece(page, "b4", "black pawn")
    expect(hand(page, "p")).to_have_attribute("aria-label", "black pawn, 1 in hand")
    # By keyboard.
    shown(page)
    hand(page, "P").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#squares [data-square]:focus")).to_have_attribute("data-square", "b4")
    for key in ["ArrowUp"] * 2 + ["ArrowRight"] * 3 + ["Enter"]:
        page.keyboard.press(key)
    address(page, "#variant=crazyhouse&moves=e4,d5,exd5,Qxd5,Nc3,Qxd2+,Bxd2,@b4,@e6")
    piece(page, "e6", "white pawn")
    expect(rows(page)).to_have_text(["bxc3"])
    # By a drag, of which only what ends on a square that may be taken is a move.
    page.go_back()
    address(page, "#variant=crazyhouse&moves=e4,d5,exd5,Qxd5,Nc3,Qxd2+,Bxd2,@b4")
    for goal, then in (("e1", ""), ("f6", ",@f6")):
        shown(page)
        start, end = hand(page, "P").bounding_box(), square(page, goal).bounding_box()
        page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
        page.mouse.down()
        page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=4)
        expect(hand(page, "P")).to_have_attribute("aria-pressed", "true")
        page.mouse.up()
        address(page, f"#variant=crazyhouse&moves=e4,d5,exd5,Qxd5,Nc3,Qxd2+,Bxd2,@b4{then}")
    piece(page, "f6", "white pawn")
    # Escape lets go of what was chosen, and a click on it too.
    shown(page)
    hand(page, "p").focus()
    page.keyboard.press("Enter")
    expect(hand(page, "p")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(hand(page, "p")).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize("width", SIZES)
def test_pieces_in_hand_have_their_place_at_every_width(serve, look, mine, shots, width):
    """Axe-core finds nothing, nothing is clipped, and the page is not wider than the window."""
    server = serve("--config", mine / "tabiya.toml")
    for name, place in (("crazyhouse", "e4,d5,exd5,Qxd5,Nc3,Qxd2+,Bxd2"), ("3check", "e4,e5,Qh5,Nc6,Qxf7+")):
        page = look(server, f"#variant={name}&moves={place}", width=width, height=SIZES[width])
        expect(page.locator("#hands")).to_be_visible()
        shown(page)
        check(page, shots, f"{name}-{width}", width < 1280)


def test_pockets_and_promoted_pieces_of_a_fen(serve, look, mine):
    fen = "r3k3/8/8/8/8/8/8/4KQ~2[Npn] w - - 0 1"
    page = look(serve(mine / "crazyhouse.bin", "--variant", "crazyhouse"), f"#variant=crazyhouse&fen={fen.replace(' ', '_')}")
    piece(page, "f1", "white queen, once a pawn")
    expect(page.locator("#squares .piece")).to_have_count(4)
    expect(square(page, "f1").locator(".promoted")).to_have_count(1)
    expect(page.locator(".hand")).to_have_count(3)
    # It is set up again as it is.
    page.keyboard.press("s")
    expect(page.locator("#setup-fen")).to_have_value(fen)
    expect(page.locator("#setup-use")).to_be_enabled()
    page.locator("#setup-clear").click()
    expect(page.locator("#setup-fen")).to_have_value("8/8/8/8/8/8/8/8[] w - - 0 1")


def test_checks_are_counted(serve, look, mine):
    page = look(serve(mine / "3check.bin", "--variant", "3check"), "#variant=3check&moves=e4,e5,Qh5,Nc6,Qxf7+")
    expect(page.locator("#hands span")).to_have_text(["Black: 0 of 3 checks", "White: 1 of 3 checks"])
    expect(page.locator("#line")).to_contain_text("1.")
    page.evaluate("location.hash = '#variant=3check&fen=4k3/8/8/8/8/8/8/R3K3_w_-_-_1+3_0_9&moves=Ra8'")
    expect(page.locator("#notice")).to_contain_text("White wins: the third check.")
    expect(page.locator("#line")).to_contain_text("9.")
    expect(page.locator("#hands span")).to_have_text(["Black: 0 of 3 checks", "White: 3 of 3 checks"])


def test_the_rule_that_ends_a_game_is_said(serve, look, mine):
    page = look(serve("--config", mine / "tabiya.toml"), "#variant=atomic&moves=Nf3,a6,Ng5,b6,Nxf7")
    expect(page.locator("#notice")).to_contain_text("White wins: a king has exploded.")
    expect(page.locator("#live")).to_contain_text("a king has exploded, white wins")
    page.evaluate("location.hash = '#e4,e5,Qh5,Nc6,Bc4,Nf6,Qxf7'")
    expect(page.locator("#notice")).to_have_text("Checkmate.")


def test_a_pawn_becomes_a_king_in_antichess(serve, look, mine):
    fen = "8/P6k/8/8/8/8/8/8 w - - 0 1"
    page = look(serve(mine / "antichess.bin", "--variant", "antichess"), f"#variant=antichess&fen={fen.replace(' ', '_')}")
    drag(page, "a7", "a8")
    expect(page.locator("#promotion button")).to_have_count(5)
    page.keyboard.press("k")
    address(page, f"#variant=antichess&fen={fen.replace(' ', '_')}&moves=a8=K")
    piece(page, "a8", "white king")


def test_a_drop_is_edited_and_taken_back(serve, look, mine):
    book = mine / "crazyhouse.bin"
    page = look(serve("--config", mine / "tabiya.toml", "--edit"), "#variant=crazyhouse&moves=e4,d5,exd5,Qxd5,Nc3,Qxd2+,Bxd2")
    number = next(index for index, name in enumerate(["main", *LINES]) if name == "crazyhouse")

    def value():
        moves = "e4 d5 exd5 Qxd5 Nc3 Qxd2+ Bxd2"
        return {move["uci"]: move["weight"] for move in json.loads(tabiya("show", book, "--variant", "crazyhouse", "--moves", moves, "--json"))["moves"]}

    field = page.locator(f'[data-focus="{number} P@b4 value"]')
    before = value()["P@b4"]
    field.click()
    field.fill("44")
    page.keyboard.press("Enter")
    said = page.locator(f'.note[data-note="{number}"]')
    expect(said).to_contain_text("→ 44 · saved")
    assert value() == {"P@b4": 44}
    # Elsewhere, also in another variant, the note leads back.
    choose(page, "Atomic")
    expect(rows(page)).to_have_text(["Nf3"])
    choose(page, "Crazyhouse")
    expect(rows(page)).to_have_text(["e4"])
    page.keyboard.press("u")
    expect(said).to_contain_text("after 1. e4 d5 2. exd5 Qxd5 3. Nc3 Qxd2+ 4. Bxd2: undone")
    assert value() == {"P@b4": before}
    said.get_by_role("button", name="show where").click()
    address(page, "#variant=crazyhouse&moves=e4,d5,exd5,Qxd5,Nc3,Qxd2+,Bxd2")
    expect(field).to_have_text(str(before))


def paste(page, text):
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")


def test_games_are_pasted_under_the_rules_of_the_board(serve, look, mine, context):
    page = look(serve("--config", mine / "tabiya.toml"), "#variant=crazyhouse", context=context)
    paste(page, '[White "A"]\n[Black "B"]\n[Variant "Atomic"]\n\n1. Nf3 f6 *')
    expect(page.locator("#toast")).to_have_text('the game is "Atomic", not Crazyhouse')
    paste(page, '[White "A"]\n[Black "B"]\n[Variant "crazyhouse"]\n\n1. e4 d5 2. exd5 Qxd5 3. @e4 *')
    expect(line(page)).to_have_text(["e4", "d5", "exd5", "Qxd5", "@e4"])
    page.keyboard.press("End")
    address(page, "#variant=crazyhouse&moves=e4,d5,exd5,Qxd5,@e4")
    page.keyboard.press("p")
    expect(page.locator("#toast")).to_have_text("PGN copied")
    assert '[Variant "Crazyhouse"]' in page.evaluate("navigator.clipboard.readText()")
    # No opening has its name here.
    page.keyboard.press("/")
    page.locator("#search-text").fill("najdorf")
    expect(page.locator("#search-words")).to_contain_text("No opening of that name")


def test_listed_games_are_of_one_variant(serve, look, mine):
    page = look(serve("--config", mine / "tabiya.toml", "--games", mine / "games.pgn"))
    expect(page.locator("#games-list tr")).to_have_count(1)
    choose(page, "Atomic")
    expect(page.locator("#games-note")).to_have_text("The games are of Standard only.")
    expect(page.locator("#games-list tr")).to_have_count(0)
    choose(page, "Standard")
    page.locator("#games-list button").click()
    expect(page.locator("#players")).to_contain_text("standard")


def test_an_engine_that_does_not_play_the_variant_says_so(serve, look, mine, engine):
    program, _ = engine
    page = look(serve("--config", mine / "tabiya.toml", "--engine", program))
    page.locator("#engine summary").click()
    expect(page.locator("#engine-lines li")).to_have_count(3)
    choose(page, "Atomic")
    expect(page.locator("#engine-text")).to_contain_text("the engine does not offer atomic")
    choose(page, "Standard")
    expect(page.locator("#engine-lines li")).to_have_count(3)
