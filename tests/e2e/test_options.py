"""The options: shown as promised, set in any order and letter case, the engine's passed on."""

import pytest

from client import START
from polyglot_writer import Book

OWN_OPTIONS = [
    "option name OwnBook type check default true",
    "option name Book File type string default",
    "option name Book White type string default",
    "option name Book Black type string default",
    "option name Book Variety type spin default 50 min 0 max 100",
    "option name Book Depth type spin default 0 min 0 max 1000",
    "option name Book Threshold type spin default 5 min 0 max 1000",
    "option name Book Games type spin default 0 min 0 max 1000000",
    "option name Book Reserve type spin default 0 min 0 max 100",
    "option name Book Tournament type check default true",
    "option name Book Repeats type check default false",
    "option name Book Ponder type check default true",
    "option name Book Learn type check default false",
    "option name Book Learn Margin type spin default 600 min 0 max 10000",
    "option name Book Seed type spin default 0 min 0 max 2147483647",
    "option name Book Log type string default",
]


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


def test_a_book_given_in_advance_is_shown(adapter, small_book):
    client = adapter("--book", small_book)
    (line,) = [line for line in client.uci() if line.startswith("option name Book File ")]
    assert line.endswith("small.bin")


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
