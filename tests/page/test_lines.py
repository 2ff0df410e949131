"""Lines on the explorer's page: what they do to a book is said first, is one edit, and is taken back by its own button."""

import json
import re
import subprocess

import pytest
from conftest import EXE, show
from parts import note
from playwright.sync_api import expect

STUDY = """[Event "study"]

1. e4 {best} c5 (1... c6 2. d4 d5 (2... g6) 3. e5) 2. c3 d5 $1 3. exd5 Qxd5 *
"""


def files(books, name):
    stem = name.split(".")[0]
    return {path.name: path.read_bytes() for path in books.iterdir() if path.stem == stem and path.suffix != ".learn"}


def moves(book, line):
    """The moves of a book after a line, which the book need not have."""
    done = subprocess.run([EXE, "show", book, "--json", "--moves", line], check=False, capture_output=True, text=True)
    return {move["uci"] for move in json.loads(done.stdout)["moves"]}


def form(page):
    return page.locator("details.adding", has=page.locator("textarea"))


def opened(page):
    form(page).locator("summary").click()
    return form(page)


@pytest.mark.parametrize("name", ["main.bin", "marks.ctg", "arena.abk", "named.kob"])
def test_a_study_comes_in_as_one_edit_and_goes_out_again(serve, look, books, name):
    book = books / name
    before = files(books, name)
    page = look(serve(book, "--edit"))
    opened(page).get_by_label("Moves, a game or a study").fill(STUDY)
    form(page).get_by_role("button", name="Add the line").click()
    # Nothing is written before it is wanted.
    expect(note(page)).to_contain_text(re.compile(r"The line adds \d+ moves; \d+ moves of it are in the book\. Add it · Leave it"))
    said = int(re.search(r"adds (\d+)", note(page).text_content()).group(1))
    assert said == 11 - sum(uci in moves(book, line) for line, uci in MOVES) > 0
    assert files(books, name) == before
    note(page).get_by_role("button", name="Leave it").click()
    expect(note(page)).to_have_count(0)
    form(page).get_by_role("button", name="Add the line").click()
    note(page).get_by_role("button", name="Add it").click()
    expect(note(page)).to_contain_text(f"{said} moves added · saved")
    assert all(uci in moves(book, line) for line, uci in MOVES)
    note(page).get_by_role("button", name="undo").click()
    expect(note(page)).to_contain_text("undone")
    assert files(books, name) == before
    note(page).get_by_role("button", name="redo").click()
    expect(note(page)).to_contain_text("redone")
    assert all(uci in moves(book, line) for line, uci in MOVES)


# The moves of the study.
MOVES = [
    ("", "e2e4"), ("e4", "c7c5"), ("e4", "c7c6"), ("e4 c6", "d2d4"), ("e4 c6 d4", "d7d5"), ("e4 c6 d4", "g7g6"), ("e4 c6 d4 d5", "e4e5"),
    ("e4 c5", "c2c3"), ("e4 c5 c3", "d7d5"), ("e4 c5 c3 d5", "e4d5"), ("e4 c5 c3 d5 exd5", "d8d5"),
]


def test_the_moves_on_the_board_go_in_for_one_side_with_one_weight(serve, look, books):
    book = books / "main.bin"
    before = files(books, "main.bin")
    page = look(serve(book, "--edit"), "#e4,c5,c3,d5,exd5,Qxd5")
    opened(page)
    form(page).get_by_label("Moves to add").select_option("white")
    form(page).get_by_label("weight of all moves").fill("77")
    form(page).get_by_role("button", name="Add the line").click()
    expect(note(page)).to_contain_text("The line adds 2 moves, changes 1.")
    note(page).get_by_role("button", name="Add it").click()
    expect(note(page)).to_contain_text("2 moves added, 1 changed · saved")
    assert (show(book)["e2e4"]["weight"], show(book, "e4", "c5")["c2c3"]["weight"]) == (77, 77)
    assert "d7d5" not in moves(book, "e4 c5 c3")
    assert show(book, "e4", "c5", "c3", "d5")["e4d5"]["weight"] == 77
    page.keyboard.press("Escape")
    note(page).get_by_role("button", name="undo").click()
    expect(note(page)).to_contain_text("undone")
    assert files(books, "main.bin") == before


def test_a_move_goes_with_all_that_only_it_leads_to(serve, look, books):
    book = books / "main.bin"
    before = files(books, "main.bin")
    page = look(serve(book, "--edit"), "#e4,c5,Nf3")
    page.get_by_role("button", name="Delete d6 from main.bin").click()
    note(page).get_by_role("button", name="With all that only it leads to").click()
    expect(note(page)).to_contain_text("The line deletes")
    deletes = int(re.search(r"deletes (\d+)", note(page).text_content()).group(1))
    note(page).get_by_role("button", name="Delete", exact=True).click()
    expect(note(page)).to_contain_text(f"{deletes} move")
    assert moves(book, "e4 c5 Nf3") == {"b8c6"}
    assert not moves(book, "e4 c5 Nf3 d6") and not moves(book, "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6")
    note(page).get_by_role("button", name="undo").click()
    expect(note(page)).to_contain_text("undone")
    assert files(books, "main.bin") == before


def test_another_edit_is_neither_overwritten_nor_taken_back(serve, look, books):
    book = books / "main.bin"
    server = serve(book, "--edit")
    page = look(server)
    opened(page).get_by_label("Moves, a game or a study").fill("1. b4 e5 2. Bb2")
    form(page).get_by_role("button", name="Add the line").click()
    expect(note(page)).to_contain_text("adds 3 moves")
    server.ask("/api/edit", {"book": 0, "play": [], "move": "b2b4", "op": "add", "value": 7, "expect": None})
    note(page).get_by_role("button", name="Add it").click()
    expect(note(page)).to_contain_text("The book has changed since, and nothing was written. The line adds 2 moves; 1 move of it is in the book.")
    assert not moves(book, "b4")
    note(page).get_by_role("button", name="Add it").click()
    expect(note(page)).to_contain_text("2 moves added · saved")
    now = show(book)["d2d4"]["weight"]
    server.ask("/api/edit", {"book": 0, "play": [], "move": "d2d4", "op": "set", "value": 61, "expect": {"weight": now}})
    note(page).get_by_role("button", name="undo").click()
    expect(note(page)).to_contain_text("Nothing was changed: the last edit is another one, d4")
    assert (show(book)["d2d4"]["weight"], "e7e5" in moves(book, "b4")) == (61, True)
    # What is no line is said.
    form(page).get_by_label("Moves, a game or a study").fill("1. e4 e9")
    form(page).get_by_role("button", name="Add the line").click()
    expect(note(page)).to_contain_text("not a legal move")


def test_typing_into_the_form_plays_nothing_and_outlives_what_is_drawn(serve, look, books):
    page = look(serve(books / "main.bin", "--edit"))
    opened(page).get_by_label("Moves, a game or a study").click()
    page.keyboard.type("1. f4 e5")
    # Typing plays nothing, and another position leaves the text.
    assert page.evaluate("location.hash") in ("", "#")
    page.locator("#board").click(position={"x": 5, "y": 5})
    page.keyboard.press("f")
    expect(form(page).get_by_label("Moves, a game or a study")).to_have_value("1. f4 e5")
