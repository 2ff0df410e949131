"""What calls return and raise: values that can be copied and sent to other processes, exceptions as Python's own, help."""

from __future__ import annotations

import ast
import copy
import errno
import inspect
import os
import pickle
from pathlib import Path
from typing import Any, Callable

import chess
import pytest

import tabiya
import tabiya._tabiya

from conftest import ROOT, STARTER, samples

ENTRY = [name for name in dir(tabiya.Entry) if not name.startswith("_")]

COPIES: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy]
COPIES += [lambda value, n=n: pickle.loads(pickle.dumps(value, n)) for n in range(pickle.HIGHEST_PROTOCOL + 1)]


def all_of(value: object, names: list[str]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def assert_copied(entries: list[tabiya.Entry]) -> None:
    for entry in entries:
        for copied in (make(entry) for make in COPIES):
            assert type(copied) is tabiya.Entry and copied == entry and hash(copied) == hash(entry)
            assert all_of(copied, ENTRY) == all_of(entry, ENTRY) and repr(copied) == repr(entry)


@pytest.mark.parametrize("end", ["bin", "ctg", "abk", "kob", "parquet"])
def test_entries_are_copied_and_pickled_with_all_they_know(end: str, books: dict[str, Path]) -> None:
    with tabiya.open_reader(books[end]) as reader:
        entries = [*reader, *reader.find_all(chess.Board(), minimum_weight=0)]
        entries += [entry for entry, _ in tabiya.Policy(reader).chances(chess.Board())]
    assert len(entries) > 5
    assert_copied(entries)


def test_entries_with_marks_ratings_and_castling_are_copied(tmp_path: Path) -> None:
    castling = tmp_path / "castling.pgn"
    fen = "r3k1r1/pppppppp/8/8/8/8/PPPPPPPP/R3K1R1 w GAga - 0 1"
    castling.write_text(f'[Variant "Chess960"]\n[SetUp "1"]\n[FEN "{fen}"]\n[Result "1-0"]\n\n1. O-O O-O 1-0\n')
    tabiya.build(castling, tmp_path / "castling.bin", min_games=1)
    with tabiya.open_reader(tmp_path / "castling.bin") as reader:
        found = list(reader.find_all(chess.Board(fen, chess960=True)))
        assert [entry.uci for entry in found] == ["e1g1"]
        assert_copied(found)
    for book in sorted(samples().glob("ctg/**/*.ctg"))[:3]:
        with tabiya.open_reader(book) as reader:
            assert_copied([entry for _, entry in zip(range(60), reader)])


def test_exceptions_have_what_those_of_python_have(tmp_path: Path, pgn: Path) -> None:
    none, book = tmp_path / "none.bin", tmp_path / "a.bin"
    book.write_bytes(STARTER.read_bytes())
    text = tmp_path / "text.ctg"
    text.write_text("no book")
    cases: list[tuple[Callable[[], object], type[Exception], Any, Path]] = [
        (lambda: open(none), FileNotFoundError, errno.ENOENT, none),
        (lambda: tabiya.open_reader(none), tabiya.NotFoundError, errno.ENOENT, none),
        (lambda: tabiya.open_games(none), tabiya.NotFoundError, errno.ENOENT, none),
        (lambda: tabiya.check(none), tabiya.NotFoundError, errno.ENOENT, none),
        (lambda: tabiya.Policy(none), tabiya.NotFoundError, errno.ENOENT, none),
        (lambda: tabiya.convert(none, tmp_path / "b.ctg"), tabiya.NotFoundError, errno.ENOENT, none),
        (lambda: tabiya.build(none, tmp_path / "b.ctg"), tabiya.NotFoundError, errno.ENOENT, none),
        (lambda: tabiya.build(pgn, book), tabiya.ExistsError, errno.EEXIST, book),
        (lambda: tabiya.merge([STARTER], book), tabiya.ExistsError, errno.EEXIST, book),
        (lambda: tabiya.open_reader(text), tabiya.FormatError, None, text),
        (lambda: tabiya.build(pgn, tmp_path / "none" / "b.bin", min_games=1), FileNotFoundError, errno.ENOENT, tmp_path / "none" / "b.bin"),
    ]
    for call, kind, code, path in cases:
        with pytest.raises(kind) as raised:
            call()
        error: Any = raised.value
        assert (error.errno, error.filename) == (code, str(path)), error
        assert error.strerror == (os.strerror(code) if code else None)
        for copied in (make(error) for make in COPIES):
            assert type(copied) is type(error) and str(copied) == str(error) and copied.args == error.args
            names = ["errno", "filename", "strerror"] + ["path", "offset"] * isinstance(error, tabiya.Error)
            assert all_of(copied, names) == all_of(error, names)


def test_paths_with_nul_are_refused_as_open_refuses_them() -> None:
    calls: list[Callable[[str], object]] = [tabiya.open_reader, tabiya.open_games, tabiya.check, tabiya.Policy]
    for call in [open, *calls]:
        with pytest.raises(ValueError, match="null"):
            call("a\0.bin")


def test_the_version_is_that_of_the_package() -> None:
    sources = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{tabiya.__version__}"\n' in sources


def test_the_stubs_say_what_help_says() -> None:
    stub = Path(tabiya.__file__).with_name("_tabiya.pyi")
    checked = 0

    def check(node: Any, value: Any) -> None:
        nonlocal checked
        ours, theirs = ast.get_docstring(node), inspect.getdoc(value)
        assert ours and ours == theirs, node.name
        checked += 1

    seen: set[str] = set()
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        name = getattr(node, "name", "_")
        if name.startswith("_"):
            continue
        value = getattr(tabiya._tabiya, name)
        if name not in seen:
            check(node, value)
        seen.add(name)
        methods: set[str] = set()
        for method in getattr(node, "body", []):
            named = getattr(method, "name", "_")
            # Of several forms the first has the text.
            if not named.startswith("_") and named not in methods:
                methods.add(named)
                check(method, inspect.getattr_static(value, named))
    assert checked > 50
