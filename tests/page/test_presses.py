"""What changes while it is looked at: lines of an engine, weights that are saved. What is pressed is what is clicked, and the focus stays."""

import os
import shutil
import sys

import pytest
from conftest import show
from parts import Held, address, line, note, saved, weight
from playwright.sync_api import expect

# An engine that says something new of each of three lines a hundred times a second, with those fields that it is given.
CHATTER = """
import sys, threading, time
import chess
board, go = chess.Board(), threading.Event()
def think():
    tick = 0
    while True:
        go.wait()
        tick += 1
        moves = list(board.legal_moves)
        for number in range(3):
            first = moves[(number + tick) % len(moves)]
            after = board.copy()
            after.push(first)
            then = list(after.legal_moves)
            fields = {"depth": f"depth {tick}", "score": f"score cp {tick % 90}", "nodes": f"nodes {1000 * tick}", "nps": "nps 5000", "time": f"time {10 * tick}",
                "pv": f"pv {first} {then[tick % len(then)]}"}
            print("info", "multipv", number + 1, *(fields[name] for name in sys.argv[1:]), flush=True)
        time.sleep(0.01)
threading.Thread(target=think, daemon=True).start()
for words in map(str.split, sys.stdin):
    if words == ["uci"]:
        print("id name Chatter\\nuciok", flush=True)
    elif words == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:
        board = chess.Board(" ".join(words[2:8]))
        for move in words[9:]:
            board.push_uci(move)
    elif words[:1] == ["go"]:
        go.set()
    elif words == ["stop"]:
        go.clear()
        print(f"bestmove {next(iter(board.legal_moves))}", flush=True)
    elif words == ["quit"]:
        break
"""
FIELDS = ["depth", "score", "nodes", "nps", "time", "pv"]


@pytest.fixture
def chatter(tmp_path):
    """A program that starts the engine with these fields."""
    script, program = tmp_path / "chatter.py", tmp_path / "chatter"
    script.write_text(CHATTER)

    def made(*fields):
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" {" ".join(fields)}\n')
        program.chmod(0o755)
        return program

    return made


def opened(look, server, place="#e4"):
    page = look(server, place)
    page.keyboard.press("e")
    return page


@pytest.mark.parametrize("missing", FIELDS)
def test_each_field_of_an_info_may_be_missing(serve, look, books, chatter, missing):
    page = opened(look, serve(books / "main.bin", "--engine", chatter(*(name for name in FIELDS if name != missing))))
    expect(page.locator("#engine-lines li")).to_have_count(3)
    expect(page.locator("#engine-text")).to_be_hidden()
    expect(page.locator("#engine-lines button").first).to_be_visible(visible=missing != "pv")
    depth = page.locator("#engine-depth")
    expect(depth).not_to_contain_text("NaN")
    (expect(depth).not_to_contain_text if missing == "depth" else expect(depth).to_contain_text)("depth")
    expect(page.locator("#engine-score")).to_have_text("") if missing == "score" else expect(page.locator("#engine-score")).not_to_have_text("")
    # While it thinks a click stops it, and then starts it.
    stop = page.locator("#engine-stop")
    expect(stop).to_have_text("Stop")
    stop.click()
    expect(stop).to_have_text("Start")


def test_a_click_stops_an_engine_that_has_not_said_anything_yet(serve, look, books, chatter):
    page = look(serve(books / "main.bin", "--engine", chatter("nodes")), "#e4")
    held = Held(page.context, "**/api/engine**")
    page.keyboard.press("e")
    expect(page.locator("#engine-text")).to_have_text("Thinking …")
    expect(page.locator("#engine-stop")).to_have_text("Stop")
    page.locator("#engine-stop").click()
    expect(page.locator("#engine-stop")).to_have_text("Start")
    held.let_go()


def press(page, target, milliseconds):
    """Presses what is there, without waiting for it to be at rest; returns what was written there when it was pressed."""
    page.evaluate("""() => addEventListener('pointerdown', ({ target }) => {
        window.pressed = { target, text: (target.closest('button') ?? target).textContent };
    }, { capture: true, once: true })""")
    box = target.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    if not target.evaluate("target => target.contains(window.pressed.target)"):
        # It has moved since its place was asked for: this press ends nowhere.
        page.mouse.move(0, 0)
        page.mouse.up()
        return press(page, target, milliseconds)
    page.wait_for_timeout(milliseconds)
    page.mouse.up()
    return page.evaluate("window.pressed.text")


@pytest.mark.parametrize("milliseconds", [50, 100, 150])
def test_clicks_on_a_line_are_not_lost_while_it_changes(serve, look, books, chatter, milliseconds):
    page = opened(look, serve(books / "main.bin", "--engine", chatter(*FIELDS)))
    first = page.locator("#engine-lines li").first.locator("button").first
    for _ in range(5):
        expect(first).to_be_visible()
        seen = press(page, first, milliseconds)
        page.wait_for_function("seen => document.querySelector('#line [aria-current]').textContent === seen", arg=seen.split()[-1])
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("() => document.querySelector('#line [aria-current]').textContent === 'e4'")


# Engines of Debian: Toga and GNU Chess say no speed with a line, and GNU Chess and Glaurung say most when they have just begun.
ENGINES = {"toga2": "", "gnuchess": "--uci", "fairy-stockfish": "", "glaurung": ""}
CLICKS = 20 if os.environ.get("TABIYA_FULL_TESTS") else 4


@pytest.mark.parametrize("milliseconds", [50, 100, 150])
@pytest.mark.parametrize("name", ENGINES)
def test_each_click_on_a_line_of_a_real_engine_plays_it(serve, look, books, tmp_path, name, milliseconds):
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/games")
    if not found:
        pytest.skip(f"there is no {name}")
    program = tmp_path / name
    program.write_text(f'#!/bin/sh\nexec "{found}" {ENGINES[name]}\n')
    program.chmod(0o755)
    page = opened(look, serve(books / "main.bin", "--engine", program))
    for number in range(CLICKS):
        # The first move of the line, and the middle of the row, wherever its moves end.
        row = page.locator("#engine-lines li").first
        first = row.locator("button").first
        expect(first).to_be_visible()
        press(page, (row, first)[number % 2], milliseconds)
        page.wait_for_function("() => document.querySelectorAll('#line button:not(.way)').length > 1")
        expect(page.locator("#engine-depth")).not_to_contain_text("NaN")
        page.go_back()
        address(page, "#e4")


@pytest.mark.parametrize("width", [390, 1024, 1280, 1920])
def test_lines_stay_where_they_are_whatever_the_engine_says(serve, look, books, chatter, width):
    """Its rows are long and short, and its speed is known or not."""
    page = look(serve(books / "main.bin", "--engine", chatter(*FIELDS)), "#e4", width=width)
    page.keyboard.press("e")
    expect(page.locator("#engine-lines li")).to_have_count(3)
    page.locator("#engine-stop").click()
    expect(page.locator("#engine-stop")).to_have_text("Start")
    places = page.evaluate("""() => {
        const places = new Set();
        for (const [score, depth] of [['', ''], ['+0.31', 'depth 1'], ['−12.55', 'depth 24 · 930k nodes'], ['−#12', 'depth 128 · 12.3M/s']]) {
            document.querySelector('#engine-score').textContent = score;
            document.querySelector('#engine-depth').textContent = depth;
            for (const count of [1, 2, 40]) {
                for (const moves of document.querySelectorAll('#engine-lines .moves')) moves.textContent = Array(count).fill('1. Nf3').join(' ');
                places.add([...document.querySelectorAll('#engine-lines li')].map(row => JSON.stringify(row.getBoundingClientRect())).join());
            }
        }
        return places.size;
    }""")
    assert places == 1


def test_lines_of_a_place_that_is_left_are_gone_at_once(serve, look, books, chatter):
    page = opened(look, serve(books / "main.bin", "--engine", chatter(*FIELDS)))
    expect(page.locator("#engine-lines li")).to_have_count(3)
    held = Held(page.context, "**/api/view**")
    page.keyboard.press("ArrowLeft")
    held.wait(page)
    expect(page.locator("#engine-lines li")).to_have_count(0)
    expect(page.locator("#engine-text")).to_have_text("Thinking …")
    expect(page.locator("#engine-stop")).to_have_text("Stop")
    held.let_go()
    expect(page.locator("#engine-lines li")).to_have_count(3)


def test_lines_keep_their_elements_and_the_focus(serve, look, books, chatter):
    page = opened(look, serve(books / "main.bin", "--engine", chatter(*FIELDS)))
    first = page.locator("#engine-lines li").first.locator("button").first
    expect(first).to_be_visible()
    first.focus()
    page.evaluate("() => { window.seen = document.activeElement; window.said = seen.textContent; }")
    page.wait_for_function("() => window.seen.textContent !== window.said")
    assert page.evaluate("document.activeElement === window.seen && window.seen.isConnected")
    # A line that is played by keyboard is followed by the first of the next position.
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('#line button:not(.way)').length === 2")
    page.wait_for_function("() => document.activeElement.closest('#engine-lines')")


def test_clicks_on_weights_are_not_lost_while_another_is_saved(serve, look, books):
    book = books / "main.bin"
    page = look(serve(book, "--edit"))
    moves = ["e2e4", "d2d4", "c2c4", "g1f3"]
    for number in range(12):
        move = moves[number % 4]
        # Its press leaves the field of the last one, which is saved.
        press(page, weight(page, move), 100)
        expect(page.locator(f'input[data-focus="0 {move} value"]')).to_be_focused()
        page.keyboard.type(str(60000 - 10000 * (number % 4) + number))
    page.keyboard.press("Enter")
    saved(page)
    expect(note(page)).to_contain_text("· saved")
    assert [show(book)[move]["weight"] for move in moves] == [60000 - 10000 * (number % 4) + number for number in range(8, 12)]


def test_rows_stay_while_a_weight_is_saved(serve, look, books):
    page = look(serve(books / "main.bin", "--edit"))
    page.evaluate("() => { window.rows = [...document.querySelectorAll('tr.move')]; }")
    chance = page.locator('tr[data-move="c2c4"] td.chance')
    before = chance.text_content()
    weight(page, "c2c4").click()
    weight(page, "c2c4").fill("9999")
    page.keyboard.press("Enter")
    # It is the likeliest now, as the server says, and stays where it was.
    expect(chance).not_to_have_text(before)
    assert page.evaluate("window.rows.length > 2 && window.rows.every(row => row.isConnected)")
    assert page.evaluate("[...document.querySelectorAll('tr.move')].every((row, index) => row === window.rows[index])")
    expect(weight(page, "c2c4")).to_be_focused()


def test_neither_the_wheel_nor_a_drag_changes_a_book(serve, look, books):
    book = books / "main.bin"
    before = book.read_bytes()
    page = look(serve(book, "--edit"), height=400)
    weight(page, "d2d4").click()
    for delta in (100, -100, 300):
        page.mouse.wheel(0, delta)
    # What was meant for the page moves it.
    page.wait_for_function("() => scrollY > 0")
    value = weight(page, "d2d4").input_value()
    page.keyboard.press("Escape")
    expect(weight(page, "d2d4")).to_have_text(value)
    box = weight(page, "d2d4").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 5, steps=5)
    page.mouse.up()
    page.reload()
    expect(weight(page, "d2d4")).to_have_text(value)
    assert book.read_bytes() == before


@pytest.mark.parametrize("saving", [False, True])
def test_leaving_the_page_asks_while_a_weight_is_not_saved(serve, look, books, context, saving):
    page = look(serve(books / "main.bin", "--edit"), context=context)
    held = Held(context, "**/api/edit")
    weight(page, "d2d4").click()
    page.keyboard.type("77")
    if saving:
        page.keyboard.press("Enter")
        held.wait(page)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.close(run_before_unload=True)
    while not asked:
        page.wait_for_timeout(10)
    assert asked == ["beforeunload"]
    held.let_go()
    if saving:
        saved(page)
        expect(note(page)).to_contain_text("→ 77 · saved")
    else:
        page.keyboard.press("Escape")
    page.close(run_before_unload=True)
    page.wait_for_event("close") if not page.is_closed() else None
    assert asked == ["beforeunload"]
