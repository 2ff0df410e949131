"""`tabiya init`: what it finds, what it asks, and what it writes."""

import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from client import HANG
from polyglot_writer import Book
from variant_books import BOARDS, book_of

DONE, USAGE, FILE, ENGINE, INTERRUPTED = 0, 2, 3, 4, 130


@pytest.fixture
def init(tabiya_exe, stockfish, tmp_path):
    """Runs `tabiya init` in an empty folder, for a user whose PATH has Stockfish and who has Cute Chess."""
    work, home, path = tmp_path / "my chess", tmp_path / "home", tmp_path / "path"
    for folder in (work, home / ".config" / "cutechess", path):
        folder.mkdir(parents=True)
    (path / "stockfish").symlink_to(stockfish)
    engines = home / ".config" / "cutechess" / "engines.json"
    environment = {"HOME": str(home), "PATH": str(path), "COLUMNS": "100"}

    def run(*args, answers=None, program=tabiya_exe):
        command = [program, "init", *map(str, args)]
        if answers is None:
            return subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG)
        ours, theirs = pty.openpty()
        os.write(ours, answers.encode())
        done = subprocess.run(command, cwd=work, env=environment, stdin=theirs, capture_output=True, text=True, timeout=HANG)
        os.close(ours)
        os.close(theirs)
        return done

    run.work, run.engines, run.path = work, engines, path
    return run


def test_everything_is_found_and_tried_without_a_question(init, gnu_book):
    shutil.copy(gnu_book, init.work / "own.bin")
    (init.work / "no-book.bin").write_text("something else")
    init.engines.write_text('[{"name": "Sjeng", "command": "sjeng", "protocol": "xboard", "unknown": {"b": 1, "a": 2}}]')
    done = init("--yes")
    assert done.returncode == DONE, done.stdout + done.stderr
    text = (init.work / "tabiya.toml").read_text()
    assert "own.bin" in text and "stockfish" in text and "#book-white" in text
    assert "All is well." in done.stdout and "own.bin" in done.stdout
    first, second = json.loads(init.engines.read_text())
    assert first == {"name": "Sjeng", "command": "sjeng", "protocol": "xboard", "unknown": {"b": 1, "a": 2}}
    assert second["workingDirectory"] == str(init.work) and second["protocol"] == "uci"
    assert os.access(second["command"], os.X_OK)
    assert second["variants"] == ["standard", "fischerandom"]
    # What to enter elsewhere.
    assert f"  program  {second['command']}\n  folder   {init.work}\n" in done.stdout


def test_the_book_of_a_variant_is_not_taken_for_one_of_standard_chess(init, gnu_book):
    board, line = BOARDS["antichess"]
    book_of(board(), line, init.work / "a.bin")
    shutil.copy(gnu_book, init.work / "z.bin")
    assert init("--yes").returncode == DONE
    text = (init.work / "tabiya.toml").read_text()
    assert "z.bin" in text and "a.bin" not in text
    done = init("--yes", "--force", "--book", "a.bin")
    assert done.returncode == USAGE and "its moves obey the rules of antichess, not of chess" in done.stderr, done.stderr
    assert (init.work / "tabiya.toml").read_text() == text


def test_a_book_that_lies_near_and_cannot_be_opened_is_named(init, tabiya):
    source = init.work / "z.bin"
    Book().line("e2e4 c7c5").write(source)
    assert tabiya("convert", source, "-o", init.work / "mine.ctg").returncode == DONE
    done = init("--yes")
    assert done.returncode == DONE and done.stderr == "" and "mine.ctg" in (init.work / "tabiya.toml").read_text()
    (init.work / "mine.cto").unlink()
    done = init("--yes", "--force")
    assert done.returncode == DONE and "z.bin" in (init.work / "tabiya.toml").read_text()
    assert "mine.cto" in done.stderr and "is missing" in done.stderr, done.stderr


def test_a_configuration_is_not_replaced_unless_told(init):
    (init.work / "tabiya.toml").write_text("engine = 'mine'\n")
    done = init("--yes")
    assert done.returncode == FILE and "--force" in done.stderr, done.stderr
    assert (init.work / "tabiya.toml").read_text() == "engine = 'mine'\n"
    assert init("--yes", "--force").returncode == DONE
    assert "stockfish" in (init.work / "tabiya.toml").read_text()


def test_without_a_terminal_the_engine_must_be_named(init, stockfish, small_book):
    done = init()
    assert done.returncode == USAGE and "--engine" in done.stderr and "--yes" in done.stderr, done.stderr
    assert not (init.work / "tabiya.toml").exists()
    done = init("--engine", stockfish, "--book", small_book)
    assert done.returncode == DONE, done.stdout + done.stderr
    assert str(small_book) in (init.work / "tabiya.toml").read_text()


@pytest.mark.parametrize(
    ("args", "code", "what"),
    [
        (["--engine", "no-such-engine"], ENGINE, "no-such-engine: no such engine"),
        (["--yes", "--book", "no-such-book.bin"], FILE, "no-such-book.bin"),
    ],
)
def test_what_does_not_exist_is_refused(init, args, code, what):
    done = init(*args)
    assert done.returncode == code and what in done.stderr, done.stderr
    assert list(init.work.iterdir()) == []


def test_engines_in_the_folders_of_games_are_found_too(init, stockfish):
    """Where Debian installs them, whatever PATH says. Without any it is an error, which the unit tests look at."""
    (init.path / "stockfish").unlink()
    done = init("--yes")
    if stockfish.parent in (Path("/usr/games"), Path("/usr/local/games")):
        assert done.returncode == DONE, done.stdout + done.stderr
        assert str(stockfish) in (init.work / "tabiya.toml").read_text()
    else:
        assert done.returncode == ENGINE and "--engine" in done.stderr, done.stderr
        assert "https://" in done.stderr, "it says where people get one"
        assert list(init.work.iterdir()) == []


def test_on_a_terminal_it_asks(init, small_book, stockfish):
    init.engines.write_text("[]")
    done = init(answers=f"no such engine\n{stockfish}\n{small_book}\nn\n")
    assert done.returncode == DONE, done.stdout + done.stderr
    assert "Engine (its number or path) [1]: " in done.stdout
    assert "no such engine" in done.stderr
    text = (init.work / "tabiya.toml").read_text()
    assert f"engine = \"{stockfish}\"" in text.replace("'", '"') and str(small_book) in text
    assert init.engines.read_text() == "[]"
    (init.work / "tabiya.toml").unlink()
    done = init(answers="\n0\n\n")
    assert done.returncode == DONE, done.stdout + done.stderr
    assert "\n#book = " in (init.work / "tabiya.toml").read_text()
    assert len(json.loads(init.engines.read_text())) == 1


def test_what_is_not_in_the_list_or_no_program_is_asked_for_again(init, stockfish):
    (init.work / "readme.txt").write_text("read me")
    (init.work / "script").write_text("#!/bin/sh\nexit 0\n")
    (init.work / "script").chmod(0o755)
    done = init(answers=f"77\nreadme.txt\nscript\n'{stockfish}' \n99\n0\n")
    assert done.returncode == DONE, done.stdout + done.stderr
    number, text, script, book = done.stderr.splitlines()
    assert "no number 77 in the list: type 1" in number and ", or a path" in number
    assert "readme.txt: this is not a program" in text and "script: this program ends without answering" in script
    assert "no number 99 in the list: type 0" in book
    assert str(stockfish) in (init.work / "tabiya.toml").read_text()


@pytest.mark.parametrize("answers", ["\x04", "\n\x04"])
def test_the_end_of_input_cancels(init, answers):
    done = init(answers=answers)
    assert done.returncode == INTERRUPTED, done.stdout + done.stderr
    assert done.stderr == "tabiya: cancelled; nothing was written\n"
    assert list(init.work.iterdir()) == []


def test_the_end_of_input_at_the_last_question_leaves_cute_chess_as_it_is(init):
    init.engines.write_text("[]")
    done = init(answers="\n0\n\x04")
    assert done.returncode == DONE, done.stdout + done.stderr
    assert init.engines.read_text() == "[]" and (init.work / "tabiya.toml").exists()


def test_a_file_that_is_no_program_is_refused_before_anything_is_written(init):
    (init.work / "readme.txt").write_text("read me")
    done = init("--engine", "./readme.txt")
    assert done.returncode == ENGINE and "not a program" in done.stderr, done.stderr
    assert not (init.work / "tabiya.toml").exists()


def test_a_renamed_copy_gets_a_configuration_of_its_own(init, tabiya_exe):
    init.engines.write_text("[]")
    exe = init.work / "Solid 2.0"
    shutil.copy(tabiya_exe, exe)
    done = init("--yes", program=exe)
    assert done.returncode == DONE, done.stdout + done.stderr
    assert (init.work / "Solid 2.0.toml").exists() and not (init.work / "tabiya.toml").exists()
    (engine,) = json.loads(init.engines.read_text())
    assert engine["name"] == "Solid 2.0"
    assert init("--yes", program=exe).returncode == FILE, "it is not replaced unless told"
    assert init("--yes").returncode == DONE, "that of tabiya is another"
