"""`tabiya help`: the options of commands, and the guide in the browser."""

import os
import shutil
import subprocess
import sys

import pytest

from client import HANG

on_unix = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="a program stands in for the browser by the name xdg-open")


@pytest.fixture
def place(tmp_path, tabiya_exe):
    """A folder as an archive leaves it, whose name needs quotes, and a browser that writes down what it is to open."""
    folder = tmp_path / "my chess & more" / "bin"
    folder.mkdir(parents=True)
    program = folder / tabiya_exe.name
    shutil.copy(tabiya_exe, program)
    browsers = tmp_path / "browsers"
    browsers.mkdir()
    opened = tmp_path / "opened"
    os.mkfifo(opened)
    browser = browsers / "xdg-open"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" >"{opened}"\n')
    browser.chmod(0o755)
    return program, opened, {**os.environ, "PATH": f"{browsers}:{os.environ['PATH']}"}


def run(program, *words, env=None):
    return subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG, check=False, env=env)


@on_unix
@pytest.mark.parametrize("at", ["guide", "../share/doc/tabiya/guide"], ids=["beside the executable", "as packages install it"])
def test_the_guide_is_opened_where_it_is(place, at):
    program, opened, env = place
    page = (program.parent / at / "index.html").resolve()
    page.parent.mkdir(parents=True)
    page.write_text("<h1>The guide</h1>")
    done = run(program, "help", "--guide", env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{page}\n"
    # Waits for the browser.
    assert opened.read_text() == str(page)


@on_unix
def test_a_guide_that_is_not_there(place):
    program, _, env = place
    done = run(program, "help", "--guide", env=env)
    assert done.returncode == 3 and done.stdout == ""
    assert str(program.parent / "guide" / "index.html") in done.stderr
    assert str(program.parent.parent / "share/doc/tabiya/guide/index.html") in done.stderr
    assert "docs/guide/README.md" in done.stderr


@pytest.mark.parametrize("words", [[], ["show"], ["learn", "games"], ["merge"]], ids=" ".join)
def test_help_is_what_the_option_prints(tabiya_exe, words):
    by_option = run(tabiya_exe, *words, "--help")
    done = run(tabiya_exe, "help", *words)
    assert by_option.returncode == done.returncode == 0, done.stderr
    assert done.stdout == by_option.stdout and "--" in done.stdout


def test_help_for_what_is_no_command(tabiya_exe):
    done = run(tabiya_exe, "help", "shwo")
    assert done.returncode == 2 and "tabiya has no command 'shwo'" in done.stderr and "`tabiya --help`" in done.stderr
    done = run(tabiya_exe, "help", "learn", "gmes")
    assert done.returncode == 2 and "tabiya learn has no command 'gmes'" in done.stderr
    assert run(tabiya_exe, "help", "show", "--guide").returncode == 2


SHARED = ("--force", "--json", "--store", "--memory", "--threads", "--temp", "--engine", "--set", "--nodes", "--jobs", "--time")


def test_shared_options_are_described_once_and_named_by_each_command(tabiya_exe):
    page = run(tabiya_exe, "help", "shared").stdout
    assert all(f"      {option}" in page for option in SHARED)
    for command in ("vet", "suite"):
        own, _, named = run(tabiya_exe, command, "--help").stdout.rpartition("\nAlso: ")
        assert "`tabiya help" in named
        for option in SHARED:
            described = f"      {option} " in own or f"      {option}\n" in own
            assert not described and (option in named or option == "--json"), option


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
def test_on_a_terminal_the_adapter_says_in_one_line_what_it_waits_for(tabiya_exe, stockfish, tmp_path):
    import pty

    ours, theirs = pty.openpty()
    line = [tabiya_exe, "--engine", stockfish]
    with subprocess.Popen(line, cwd=tmp_path, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        os.write(ours, b"quit\n")
        said = process.communicate(timeout=HANG)[1].splitlines()
    assert process.returncode == 0
    assert len(said) == 1 and "tabiya init" in said[0] and "quit" in said[0], said


def test_a_file_in_place_of_a_command_is_answered_with_what_to_type(tabiya_exe, gnu_book):
    done = run(tabiya_exe, gnu_book)
    assert done.returncode == 2 and f"`tabiya show {gnu_book}`" in done.stderr and f"`tabiya --book {gnu_book}`" in done.stderr
    assert "is a file" not in run(tabiya_exe, "no-such-command").stderr
