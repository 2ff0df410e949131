"""A folder in place of a book: its books by their names, what is ignored, and who answers."""

import shutil

import chess
import chess.engine
import pytest

from client import START, Client
from polyglot_writer import Book
from random_games import random_games
from recording import popen

DONE, WANTING, FILE = 0, 1, 3
E4, E5 = chess.Move.from_uci("e2e4"), chess.Move.from_uci("e7e5")


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(random_games(20, seed=8, most_plies=12))


@pytest.fixture
def folder(tmp_path, sources):
    """Three books that answer one after the other, a CTG book of three files, and what is no book."""
    folder = tmp_path / "my books"
    folder.mkdir()
    after_e4 = chess.Board()
    after_e4.push(E4)
    after_e5 = after_e4.copy()
    after_e5.push(E5)
    book = Book()
    book.add(chess.Board(), "e2e4", 1)
    book.write(folder / "1 first.bin")
    (folder / "2 second.epd").write_text(f"{chess.Board().epd()} bm d4;\n{after_e4.epd()} bm e5;\n")
    (folder / "B third.fen").write_text(f"{after_e4.epd()}; c5\n{after_e5.epd()}; Nf3\n")
    (folder / "a cut.bin").write_bytes(b"\1" * 7)
    for part in ("ctg", "cto", "ctb"):
        shutil.copy(sources["ctg"].with_suffix(f".{part}"), folder / f"C last.{part}")
    (folder / "notes.txt").write_text("no book")
    (folder / "games.pgn").write_text("1. f4 *")
    (folder / "1 first.bin.learn").write_bytes(b"")
    (folder / ".hidden.bin").write_bytes((folder / "1 first.bin").read_bytes())
    return folder


BOOKS = ["1 first.bin", "2 second.epd", "a cut.bin", "B third.fen", "C last.ctg"]


@pytest.fixture(params=["book", "rule", "option"])
def line(request, folder, tabiya_exe, scripted_exe, tmp_path):
    """How tabiya is started so that it plays from the folder: named as a relative path."""
    text = f'engine = "{scripted_exe.as_posix()}"\n'
    text += '[[book]]\nfile = "my books"\n' if request.param == "rule" else '[set]\n"Book File" = "my books"\n' if request.param == "option" else ""
    (tmp_path / "tabiya.toml").write_text(text)
    named = ["--book", "my books"] if request.param == "book" else []
    return [tabiya_exe, *named, "--log", tmp_path / "log"]


def test_the_first_book_by_name_that_knows_a_position_answers(line, folder, tmp_path):
    with popen(line, tmp_path) as engine:
        board = chess.Board()
        for uci in ("e2e4", "e7e5", "g1f3"):
            played = engine.play(board, chess.engine.Limit(time=0.1))
            assert played.move.uci() == uci
            board.push(played.move)
    log = (tmp_path / "log").read_text()
    opened = [line.split("book: ", 1)[1] for line in log.splitlines() if f" book: {folder}" in line]
    assert [name.rsplit(" (", 1)[0] for name in opened] == [str(folder / name) for name in BOOKS if name != "a cut.bin"]
    assert f"books in {folder}: {', '.join(BOOKS)}; ignored: games.pgn, notes.txt" in log
    # The broken one is reported, and the others play on.
    assert "a cut.bin: the file is too short for a book" in log


def test_show_and_doctor_say_which_file_answers(tabiya, line, folder, tmp_path):
    if "--book" in line:
        (tmp_path / "tabiya.toml").write_text((tmp_path / "tabiya.toml").read_text() + 'book = "my books"\n')
    done = tabiya("show", "--moves", "e4", cwd=tmp_path)
    assert done.returncode == DONE, done
    # The first book does not know the position, so the next one does.
    assert b"2 second.epd" in [part for part in done.stdout.splitlines() if part.endswith(b"answers.")][0]
    assert b"a cut.bin: the file is too short" in done.stderr
    done = tabiya("doctor", cwd=tmp_path)
    text = (done.stdout + done.stderr).decode()
    assert f"{folder}: {', '.join(BOOKS)}; ignored: games.pgn, notes.txt" in text
    assert "1 first.bin" in text and "a cut.bin: the file is too short" in text


def test_the_explorer_shows_each_book_of_the_folder(explore, folder, tmp_path):
    (tmp_path / "tabiya.toml").write_text('book = "my books"\n')
    server = explore(cwd=tmp_path)
    books = server.get("/api/books")["books"]
    assert [book.get("name") or book.get("file") for book in books][:5] and len(books) >= 5
    said = str(books)
    assert all(name in said for name in BOOKS)


def test_a_folder_without_a_book_is_an_error(tabiya_exe, scripted_exe, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "a.txt").write_text("x")
    line = [tabiya_exe, "--engine", scripted_exe, "--book", "empty"]
    client = Client(line, cwd=tmp_path)
    client.send("uci", "isready")
    assert client.wait() == FILE
    assert f"{tmp_path / 'empty'}: this folder has no book" in client.errors()
    (tmp_path / "empty" / "a.bin").write_bytes(b"\1" * 7)
    client = Client(line, cwd=tmp_path)
    client.send("uci", "isready")
    assert client.wait() == FILE
    errors = client.errors()
    assert "this folder has no book that can be opened" in errors


def test_a_book_that_is_added_is_seen_when_the_books_are_opened_again(tabiya_exe, scripted_exe, folder, tmp_path):
    client = Client([tabiya_exe, "--engine", scripted_exe, "--book", folder], cwd=tmp_path)
    client.start()
    assert client.go(position=START).move == "e2e4"
    (folder / "0 new.epd").write_text(f"{chess.Board().epd()} bm c4;\n")
    assert client.go(position=START).move == "e2e4"
    client.set("Book File", str(folder))
    client.ready()
    assert client.go(position=START).move == "c2c4"
    client.quit()


def test_init_takes_a_folder(tabiya, stockfish, folder, tmp_path):
    (tmp_path / "work").mkdir()
    done = tabiya("init", "--engine", stockfish, "--book", folder, cwd=tmp_path / "work")
    text = (done.stdout + done.stderr).decode()
    assert str(folder) in (tmp_path / "work" / "tabiya.toml").read_text(), text
    assert f"{folder}: {', '.join(BOOKS)}" in text and "1 first.bin" in text
    (tmp_path / "none").mkdir()
    done = tabiya("init", "--engine", stockfish, "--book", tmp_path / "none", cwd=tmp_path / "none")
    assert done.returncode == FILE and b"this folder has no book" in done.stderr
