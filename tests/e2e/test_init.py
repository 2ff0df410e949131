"""`tabiya init`: what it finds, what it asks, and what it writes."""

import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from client import HANG

DONE, USAGE, FILE, ENGINE = 0, 2, 3, 4


@pytest.fixture
def init(tabiya_exe, stockfish, tmp_path):
    """Runs `tabiya init` in an empty folder, for a user whose PATH has Stockfish and who has Cute Chess."""
    work, home, path = tmp_path / "my chess", tmp_path / "home", tmp_path / "path"
    for folder in (work, home / ".config" / "cutechess", path):
        folder.mkdir(parents=True)
    (path / "stockfish").symlink_to(stockfish)
    engines = home / ".config" / "cutechess" / "engines.json"
    environment = {"HOME": str(home), "PATH": str(path), "COLUMNS": "100"}

    def run(*args, answers=None):
        command = [tabiya_exe, "init", *map(str, args)]
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
