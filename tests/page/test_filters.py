"""The explorer's page: filters by speed and rating where a book counts games separately, and by period of listed games."""

from parts import address
from playwright.sync_api import expect

def rows(page):
    return page.locator("tr.move .san")


def test_filters_act_at_once_and_are_chips(serve, look, counted, shots):
    page = look(serve(counted[0]))
    expect(rows(page)).to_have_text(["e4", "d4", "c4"])
    page.get_by_role("button", name="Filter", exact=True).click()
    dialog = page.get_by_role("dialog", name="Games that count")
    expect(dialog.get_by_label("since")).to_be_hidden()
    dialog.get_by_label("blitz", exact=True).check()
    expect(rows(page)).to_have_text(["e4", "d4"])
    dialog.get_by_label("2000–2199").check()
    expect(rows(page)).to_have_text(["e4"])
    expect(page.locator("td.games")).to_have_attribute("title", "5 games")
    page.screenshot(path=shots / "filter.png")
    page.keyboard.press("Escape")
    # They hold in other positions.
    page.keyboard.press("1")
    address(page, "#e4&speeds=blitz&ratings=2000")
    expect(rows(page)).to_have_text(["c5"])
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Remove the filter 2000–2199").click()
    expect(rows(page)).to_have_text(["e4", "d4"])
    expect(page.get_by_role("button", name="Filter", exact=True)).to_be_focused()
    page.get_by_role("button", name="Remove the filter blitz").click()
    expect(rows(page)).to_have_text(["e4", "d4", "c4"])
    expect(page.locator("#filters .chip")).to_have_count(0)


def test_a_position_without_such_games_says_so(serve, look, counted):
    page = look(serve(counted[0]), "#c4")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_label("bullet", exact=True).check()
    page.keyboard.press("Escape")
    expect(page.locator("section.book")).to_contain_text("No games of these speeds and ratings have this position.")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("button", name="All games").click()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(rows(page)).to_have_text(["e5"])


def test_books_that_cannot_tell_are_shown_whole_and_need_no_filter(serve, look, counted, books):
    page = look(serve(books / "main.bin"))
    expect(page.locator("#filters")).to_be_hidden()
    page = look(serve(counted[0], books / "main.bin"))
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_label("rapid", exact=True).check()
    expect(page.locator("#filter-words")).to_have_text("Shown whole, because they do not tell games apart: main.bin.")
    page.keyboard.press("Escape")
    expect(page.locator('tr[data-move="e2e4"] td.absent')).to_have_count(1)
    expect(page.locator('tr[data-move="c2c4"] td.absent')).to_have_count(0)


def test_what_the_server_was_started_with_is_not_offered(serve, look, counted):
    page = look(serve(counted[0], "--speed", "blitz", "--rating", "2000-2500"))
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.locator("#filter-speeds label")).to_have_text(["blitz"])
    expect(page.locator("#filter-ratings label")).to_have_text(["2000–2199", "2200+"])


def test_listed_games_are_filtered_by_period(serve, look, books, counted):
    page = look(serve(books / "main.bin", "--games", counted[1]))
    expect(page.locator("#games-count")).to_have_text("10 games")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.get_by_label("blitz", exact=True)).to_be_visible()
    page.get_by_label("since").fill("20x")
    page.keyboard.press("Enter")
    expect(page.locator("#games-count")).to_have_text("10 games")
    page.get_by_label("since").fill("2021")
    page.get_by_label("until").fill("2022-12")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator("#games-count")).to_have_text("3 of 10 games")
    expect(page.locator("#games-list td.next")).to_have_text(["d4"] * 3)
    page.get_by_role("button", name="Remove the filter since 2021").click()
    expect(page.locator("#games-count")).to_have_text("8 of 10 games")


def test_filters_are_in_the_address_and_said_beside_what_they_change(serve, look, books, counted):
    page = look(serve(books / "main.bin", counted[0], "--games", counted[1]), "#e4&speeds=blitz&since=2019-05&until=2020&player=a&color=white", width=1440)
    chips = page.locator("#filters .chip span:first-child")
    set_ = ["blitz", "since 2019-05", "until 2020", "a as White"]
    feet = page.locator(".together tfoot td.of")
    for _ in range(2):
        expect(chips).to_have_text(set_)
        expect(page.locator("#games-only")).to_have_text("only blitz, since 2019-05, until 2020, a as White")
        expect(feet.nth(0)).not_to_contain_text("only")
        expect(feet.nth(1)).to_contain_text("only blitz")
        expect(feet.nth(2)).to_contain_text("5 games · only blitz, since 2019-05, until 2020, a as White")
        page.reload()
    page.get_by_role("button", name="Remove the filter until 2020").click()
    address(page, "#e4&speeds=blitz&since=2019-05&player=a&color=white")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.locator("#filter-color").select_option("black")
    expect(page.locator("#games-count")).to_have_text("0 of 5 games")
    page.keyboard.press("Escape")
    expect(page.locator('.aside[data-of="2"]')).to_contain_text("No game passes the filters here: only blitz, since 2019-05, a as Black.")
    # They hold in other positions, also in those that were seen without them.
    page.keyboard.press("ArrowLeft")
    address(page, "#speeds=blitz&since=2019-05&player=a&color=black")
    page.go_back()
    address(page, "#e4&speeds=blitz&since=2019-05&player=a&color=black")
    expect(chips).to_have_count(3)
    # An address that is typed says all; what is no filter is none.
    page.evaluate("location.hash = '#d4&since=soon&speeds=hourly&player=A%26B'")
    expect(chips).to_have_text(["A&B"])
    expect(page.locator("#line button:not(.way)")).to_have_text(["d4"])


def test_the_table_tells_what_was_played(serve, look, books):
    page = look(serve(books / "main.bin", "--games", books / "games.pgn"), width=1440, height=900)
    expect(page.locator(".together .names th")).to_have_text(["main.bin", "games.pgn"])
    e4 = page.locator('.together tr[data-move="e2e4"] td')
    for column, text in (("games", "130"), ("last", "2021"), ("average", "2414"), ("performance", "2503")):
        expect(page.locator(f'.together tr[data-move="e2e4"] td.{column}')).to_have_text(text)
    expect(e4.locator(".results")).to_have_attribute("aria-label", "White 33 % (43), drawn 35 % (45), Black 32 % (42)")
    # Games are sorted by, as books are; they have no chance, and do not say that the book ends.
    page.get_by_role("button", name="last", exact=True).click()
    expect(page.locator(".together td.chance")).to_have_count(4)
    page.get_by_role("button", name="games.pgn", exact=True).click()
    expect(page.locator("section.together")).to_have_count(0)
    page.get_by_role("button", name="games.pgn", exact=True).click()
    page.get_by_role("button", name="Each", exact=True).click()
    expect(page.locator('section.book[data-book="1"] caption')).to_contain_text("games.pgn")
    expect(page.locator('section.book[data-book="1"] tr[data-move="d2d4"] td.games')).to_have_text("48")


def test_games_are_filtered_by_player_and_all_of_them_are_reached(serve, look, books):
    page = look(serve(books / "main.bin", "--games", books / "games.pgn"), "#e4")
    rows = page.locator("#games-list tr")
    expect(page.locator("#games-count")).to_have_text("130 games")
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_label("player").fill("WHITE 4")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator("#games-count")).to_have_text("15 of 130 games")
    expect(page.locator("#games-list td.next")).to_have_text(["e6"] * 5)
    page.get_by_role("button", name="Show 15").click()
    expect(rows).to_have_count(15)
    page.get_by_role("button", name="Remove the filter WHITE 4").click()
    expect(rows).to_have_count(30)
    for count in (60, 90, 120):
        page.get_by_role("button", name="Show 30 more").click()
        expect(rows).to_have_count(count)
    page.get_by_role("button", name="Show 10 more").click()
    expect(rows).to_have_count(130)
    expect(page.locator("#games-more")).to_be_hidden()


def test_all_speeds_and_ratings_are_no_filter(serve, look, counted, tmp_path):
    more = tmp_path / "more.pgn"
    more.write_text('[White "C"]\n[Black "D"]\n\n1. e4 e5 *\n')
    page = look(serve(counted[0], "--games", counted[1], more))
    expect(page.locator("#games-count")).to_have_text("11 games")
    page.get_by_role("button", name="Filter", exact=True).click()
    for box in page.locator("#filter-speeds input, #filter-ratings input").all()[:-1]:
        box.check()
    expect(page.locator("#games-count")).not_to_have_text("11 games")
    page.locator("#filter-ratings input").last.check()
    expect(page.locator("#games-count")).to_have_text("11 games")
