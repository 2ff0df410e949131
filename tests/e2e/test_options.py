"""The options: shown as promised, set in any order and letter case, the engine's passed on."""

import re
from pathlib import Path

import chess
import pytest

from client import START, eventually, problems
from polyglot_writer import Book

GUIDE = Path(__file__).parents[2] / "docs/guide/options.md"


def promised():
    """The `option` lines that the guide's table of UCI options stands for."""
    _, _, section = GUIDE.read_text(encoding="utf-8").partition("\n## UCI options\n")
    for row in section.partition("\n## ")[0].splitlines():
        if not row.startswith("| ") or row.startswith("| name "):
            continue
        names, kind, default, meaning = (cell.strip() for cell in row.strip("|").split("|", 3))
        kind, _, limits = kind.partition(" ")
        rest = " min {} max {}".format(*limits.split("-")) if limits else ""
        if kind == "combo":
            rest = "".join(f" var {value}" for value in re.findall("`([a-z]+)`", meaning.partition("(")[0]))
        for name in names.split(" / "):
            yield f"option name {name} type {kind} default {default}{rest}".rstrip()


LENT = ["option name UCI_AnalyseMode type check default false", "option name UCI_Opponent type string default"]
OWN_OPTIONS = [*LENT, *promised()]


def test_own_options_stand_after_the_engines_and_before_uciok(adapter):
    client = adapter(engine_args=("--option", "option name Last type string default x"))
    lines = client.uci()
    options = [line.removesuffix(" <empty>") for line in lines if line.startswith("option ")]
    assert options[-len(OWN_OPTIONS) :] == OWN_OPTIONS
    assert options[-len(OWN_OPTIONS) - 1] == "option name Last type string default x"
    assert lines[-1] == "uciok"
    assert lines[0].startswith("id name ")


def test_options_given_in_advance_are_shown_as_defaults(adapter, small_book):
    client = adapter("--set", "Book Variety=7", "--set", "book ponder=false", "--seed", "99", "--set", "OwnBook=true")
    lines = client.uci()
    assert "option name Book Variety type spin default 7 min 0 max 100" in lines
    assert "option name Book Ponder type check default false" in lines
    assert "option name Book Seed type spin default 99 min 0 max 2147483647" in lines


def test_files_given_in_advance_are_shown_as_empty_so_that_no_gui_keeps_them(adapter, small_book, tmp_path):
    log = tmp_path / "log.txt"
    client = adapter("--book", small_book, "--book-white", small_book, "--log", log)
    lines = client.uci()
    for name in ("Book File", "Book White", "Book Black", "Book Log"):
        assert f"option name {name} type string default <empty>" in lines
    # A GUI that sends back what it was shown changes nothing.
    for name in ("Book File", "Book White", "Book Black", "Book Log"):
        client.set(name, "<empty>")
    client.ready()
    assert client.go("movetime 10", START).move == "d2d4"
    # Another thread writes the log.
    eventually("the log goes on", lambda: "book move d2d4" in log.read_text())


def test_options_of_the_engine_given_in_advance_are_shown_as_defaults(adapter, engine, tmp_path):
    (tmp_path / "tabiya.toml").write_text("[set]\nHash = 256\nPonder = true\n")
    client = adapter("--set", "MultiPV=501")
    lines = client.start()
    assert "option name Hash type spin default 256 min 1 max 1024" in lines
    assert "option name Ponder type check default true" in lines
    assert "option name MultiPV type spin default 1 min 1 max 500" in lines, "no value that it cannot have"
    assert "setoption name Hash value 256" in engine.heard()


def test_an_option_that_nobody_has_is_reported(adapter):
    client = adapter("--set", "Hahs=256")
    (line,) = problems(client.start())
    assert "Hahs" in line
    eventually("standard error names the option", lambda: "Hahs" in client.errors())


def test_no_book_is_none_not_even_the_starter_book(adapter, small_book, tmp_path):
    client = adapter("--book", small_book)
    client.start()
    for value, move in (("<none>", "h2h3"), ("<empty>", "d2d4"), ("<NONE>", "h2h3")):
        client.set("Book File", value)
        assert client.go("movetime 10", START).move == move
    assert problems(client.ready()) == []
    for line in ("book = '<none>'\n", "[set]\n'Book File' = '<none>'\n"):
        (tmp_path / "tabiya.toml").write_text(line)
        client = adapter()
        client.start()
        answer = client.go("movetime 10", START)
        assert answer.move == "h2h3" and not answer.book


def test_an_engine_without_an_analyse_mode_is_asked_while_the_gui_analyses(adapter, engine, small_book):
    client = adapter("--book", small_book)
    assert "option name UCI_AnalyseMode type check default false" in client.start()
    client.set("UCI_AnalyseMode", "true")
    assert client.go("depth 5", START).move == "h2h3"
    client.set("UCI_AnalyseMode", "false")
    assert client.go("depth 5", START).move == "d2d4"
    client.ready()
    assert engine.commands("setoption") == []


def test_an_engines_own_analyse_mode_is_passed_on(adapter, engine, small_book):
    own = "option name UCI_AnalyseMode type check default false"
    client = adapter("--book", small_book, engine_args=("--bestmove", "h2h3", "--option", own))
    assert client.start().count(own) == 1
    client.set("UCI_AnalyseMode", "true")
    assert client.go("depth 5", START).move == "h2h3"
    assert engine.commands("setoption") == ["setoption name UCI_AnalyseMode value true"]


def test_the_pair_has_another_name_than_the_engine(adapter, tmp_path):
    assert "id name Scripted Engine (tabiya)" in adapter().uci()
    assert "id name Mine" in adapter("--name", "Mine").uci()
    (tmp_path / "tabiya.toml").write_text("name = 'From the file'\n")
    assert "id name From the file" in adapter().uci()
    assert "id name Mine" in adapter("--name", "Mine").uci()


def test_a_book_move_has_the_score_of_its_results_where_that_is_wanted(adapter, tmp_path):
    # Four games, six half-points: three points of four.
    book = Book().add(chess.Board(), "e2e4", 1, 4 << 16 | 6)
    client = adapter("--book", book.write(tmp_path / "learned.bin"))
    client.start()
    for value, score in (("zero", 0), ("statistics", 191)):
        client.set("Book Score", value)
        answer = client.go("movetime 10", START)
        assert f"info depth 0 seldepth 0 multipv 1 score cp {score} nodes 0 nps 0 time 0 pv e2e4" in answer.lines


def test_options_of_the_engine_given_in_advance_reach_it(adapter, engine):
    client = adapter("--set", "Hash=64", "--set", "Syzygy Path=/a b/c;/d", "--set", "Clear Hash=")
    client.start()
    heard = engine.commands("setoption")
    assert "setoption name Hash value 64" in heard
    assert "setoption name Syzygy Path value /a b/c;/d" in heard
    assert "setoption name Clear Hash" in heard


@pytest.mark.parametrize("name", ["Book File", "book file", "BOOK FILE", "Book  File", "bOOK fiLE"])
def test_names_are_known_in_any_letter_case(adapter, small_book, name, engine):
    client = adapter()
    client.start()
    client.set(name, small_book)
    assert client.go("movetime 10", START).move == "d2d4"
    assert engine.commands("setoption") == []


def test_a_value_is_all_behind_the_first_word_value(adapter, tmp_path):
    odd = tmp_path / "a value of  name type.bin"
    Book().line("d2d4").write(odd)
    client = adapter()
    client.start()
    client.send(f"setoption name Book File value {odd}")
    answer = client.go("movetime 10", START)
    assert answer.book["file"].endswith("a value of  name type.bin")


def test_options_work_in_any_order(adapter, small_book):
    lines = [
        f"setoption name Book File value {small_book}",
        "setoption name OwnBook value true",
        "setoption name Book Variety value 0",
        "setoption name Book Threshold value 0",
    ]
    for order in (lines, lines[::-1], sorted(lines)):
        client = adapter("--set", "OwnBook=false")
        client.start()
        client.send(*order)
        assert client.go("movetime 10", START).move == "d2d4"


@pytest.mark.parametrize(
    "line",
    [
        "setoption name Book Variety value 101",
        "setoption name Book Variety value -1",
        "setoption name Book Variety value many",
        "setoption name Book Variety",
        "setoption name OwnBook value perhaps",
        "setoption name Book Seed value 99999999999999999999999",
    ],
)
def test_a_wrong_value_is_told_and_changes_nothing(adapter, small_book, line, engine):
    client = adapter("--book", small_book)
    client.start()
    client.send(line)
    told = [heard for heard in client.ready() if heard.startswith("info string tabiya:")]
    assert len(told) == 1
    assert line.split(" value ")[0].removeprefix("setoption name ") in told[0]
    assert client.go("movetime 10", START).move == "d2d4"
    assert engine.commands("setoption") == []


@pytest.mark.parametrize(
    "line",
    [
        "setoption name Hash value 32",
        "setoption name Clear Hash",
        "setoption name Piece Values value 3",
        "setoption  name  Odd   Name  value  x  y ",
        "setoption name Bookish value 1",
        "setoption name Book Files value 1",
        "setoption",
        "setoption name",
        "setoption value 3",
    ],
)
def test_options_of_others_pass_byte_for_byte(adapter, engine, line):
    client = adapter()
    client.start()
    client.send(line)
    client.ready()
    assert line in engine.heard()


@pytest.mark.parametrize(("option", "said"), [
    ("Book Depth=1", "{book}: 2 moves; 2 after Depth (move 1): the engine answers"),
    ("Book Threshold=1000", "{book}: 2 moves; 2 below Threshold (100 %): the engine answers"),
    ("Book Threshold=300", "book move g1f3 from {book}, chance 100.0%"),
    ("Book Reserve=50", "{book}: 2 moves; 2 with lines of 1 of 50 plies: the engine answers"),
    ("OwnBook=false", "OwnBook is off: the engine answers"),
    ("UCI_AnalyseMode=true", "analysis: the engine answers"),
    ("Book Fresh=true", ", 2 of 2 lines left here"),
])
def test_the_log_names_the_limit_that_silences_a_book(adapter, tabiya, tmp_path, option, said):
    book = Book().at(e2e4=5, d2d4=5).at("e2e4 e7e5", g1f3=5, b1c3=1).write(tmp_path / "some.bin")
    log = tmp_path / "some.log"
    client = adapter("--book", book, "--log", log, "--log-level", "debug", "--set", option)
    client.start()
    client.go("movetime 10", "position startpos moves e2e4 e7e5")
    assert client.quit() == 0
    lines = [line for line in log.read_text().splitlines() if "engine answers" in line or "book move" in line]
    assert len(lines) == 1 and lines[0].endswith(said.format(book=book)), lines
    # The command line says the same of limits.
    if any(limit in option for limit in ("Depth", "Threshold", "Reserve")):
        shown = tabiya("show", book, "--moves", "e4 e5", "--set", option).stdout.decode()
        why = said.format(book=book).removesuffix(": the engine answers").split("; ")
        assert (why[-1] if len(why) > 1 else "not played: 1 below Threshold (30 %)") in shown, shown
