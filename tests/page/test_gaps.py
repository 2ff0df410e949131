"""What games reach and a book has no answer to, on the page: the rows of `tabiya gaps`."""

import json
import re

from conftest import tabiya
from parts import address
from playwright.sync_api import expect

STUDY = '[Event "White"]\n\n1. e4 c5 (1... e5 2. Nf3 (2. Bc4)) 2. Nf3 d6 3. d4 *\n'


def rows(page, title):
    """The rows of a list: what they say of a position, without how many games, and what follows."""
    items = page.locator("#gaps-lists h2", has_text=title).locator("xpath=following-sibling::ul[1]/li")
    return [(item.get_by_role("button").text_content(), item.locator(".quiet").text_content().strip()) for item in items.all()]


def find(page):
    page.get_by_role("button", name="Find from here on").click()
    # What was found before is there until then.
    expect(page.locator("#gaps-words")).to_have_text(re.compile(r"answered\.$"))


def test_the_rows_are_those_of_the_command(serve, look, books):
    (books / "study.pgn").write_text(STUDY)
    games = books / "games.pgn"
    tabiya("build", books / "study.pgn", "-o", books / "white.bin", "--repertoire", "white")
    page = look(serve(books / "white.bin", books / "named.kob", "--games", games))
    panel = page.locator("#gaps")
    panel.locator("summary").click()
    assert panel.locator("#gaps-against option").all_text_contents() == ["the games", "named.kob", "the games, then named.kob"]
    page.get_by_label("also what is almost never reached").check()
    find(page)
    (of,) = [json.loads(line) for line in tabiya("gaps", books / "white.bin", "--against", games, "--side", "white", "--rare", "--json").splitlines()]
    shown = rows(page, "No answer")
    assert [(line.split(": ", 1)[1], said) for line, said in shown] == [(row["moves"], f"{row['games']} game{'s' if row['games'] > 1 else ''}") for row in of["gaps"]]
    assert len(shown) > 2
    choices = [(line.split(": ", 1)[1], said) for line, said in rows(page, "More than one move of White")]
    assert choices == [(row["moves"], ", ".join(f"{move['san']} {move['chance'] * 100:.0f} %" for move in row["plays"])) for row in of["choices"]]
    assert of["rare"] == [] and page.locator("#gaps-lists h2", has_text="Almost never reached").count() == 1
    percent = f"{of['percent']:.0f} %"
    expect(page.locator("#gaps-words")).to_have_text(f"white.bin for White, {percent} of the opponent's moves answered.")
    # A row leads to its position.
    line = of["gaps"][0]["moves"]
    panel.get_by_role("button", name=line).first.click()
    address(page, "#" + ",".join(word for word in line.split() if not word[0].isdigit()))


def test_it_begins_where_the_board_is_and_follows_the_filters(serve, look, books):
    games = books / "games.pgn"
    page = look(serve(books / "main.bin", "--games", games), "#e4,c5")
    page.locator("#gaps summary").click()
    find(page)
    expect(page.locator("#gaps-words")).to_contain_text("main.bin from 1. e4 c5 on for White")
    before = len(rows(page, "No answer"))
    # A player is the opponent: only in the first line a game has a "Black 39".
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_label("player").fill("Black 39")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    find(page)
    expect(page.locator("#gaps-lists ul").first.get_by_role("listitem")).to_have_count(1)
    ((line, games),) = rows(page, "No answer")
    assert before > 1 and line.endswith("6. Bg5 e6 7. f4 Be7") and games == "1 game"


def test_without_games_and_other_books_nothing_is_asked(serve, look, books):
    page = look(serve(books / "main.bin"))
    expect(page.locator("#gaps")).to_be_hidden()
