"""`tabiya help`: the options of commands, and the guide in the browser."""

import os
import shutil
import subprocess
import sys

import pytest

from client import HANG, put_program

on_unix = pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="a program stands in for the browser by the name xdg-open")


@pytest.fixture
def place(tmp_path, tabiya_exe):
    """A folder as an archive leaves it, whose name needs quotes, and a browser that writes down what it is to open."""
    folder = tmp_path / "my chess & more" / "bin"
    folder.mkdir(parents=True)
    program = folder / tabiya_exe.name
    put_program(tabiya_exe, program)
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


@pytest.mark.parametrize(("command", "words"), [("convert", "another format"), ("merge", "several books"), ("trim", "smaller book")])
def test_each_of_three_commands_with_the_same_options_speaks_of_its_own_work(tabiya_exe, command, words):
    short, long = (run(tabiya_exe, command, option).stdout for option in ("-h", "--help"))
    for text in (short, long):
        first, _, rest = text.partition("\n")
        assert words in first and f"Usage: tabiya {command} " in rest and f"tabiya {command} " in rest.partition("Example")[2]
    assert "--max-ply" in long and ("--max-ply" in short) == (command == "trim")


# How each shell reads a script without running it.
SHELLS = {
    "bash": lambda script: ["bash", "-n", script],
    "zsh": lambda script: ["zsh", "-n", script],
    "fish": lambda script: ["fish", "--no-execute", script],
    "elvish": lambda script: ["elvish", "-compileonly", script],
    "powershell": lambda script: [
        "pwsh",
        "-NoProfile",
        "-Command",
        f"$e = $null; [void][System.Management.Automation.Language.Parser]::ParseFile('{script}', [ref]$null, [ref]$e); exit $e.Count",
    ],
}


def test_the_completions_of_each_shell_that_is_here_can_be_read(tabiya_exe, tmp_path):
    for shell, line in SHELLS.items():
        done = run(tabiya_exe, "completions", shell)
        assert done.returncode == 0 and "explore" in done.stdout and "max-ply" in done.stdout, shell
        script = tmp_path / f"{shell}.ps1"
        script.write_text(done.stdout)
        if shutil.which(line(script)[0]):
            read = subprocess.run(line(script), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG, check=False)
            # What completes is a part of elvish only where a person types.
            assert read.returncode == 0 or "cannot find variable $edit" in read.stderr, (shell, read.stderr)
    wrong = run(tabiya_exe, "completions", "tcsh")
    assert wrong.returncode == 2 and all(shell in wrong.stderr for shell in SHELLS)


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_bash_completes_commands_and_options(tabiya_exe, tmp_path):
    script = tmp_path / "tabiya.bash"
    script.write_text(run(tabiya_exe, "completions", "bash").stdout)

    def completed(*words):
        quoted = " ".join(words)
        line = f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _tabiya tabiya {words[-1]}; echo ${{COMPREPLY[*]}}"
        return run("bash", "-c", line).stdout.split()

    assert completed("tabiya", "me") == ["merge"]
    assert completed("tabiya", "trim", "--max-p") == ["--max-ply"]


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


def test_what_is_neither_a_command_nor_a_file_is_said_to_be_so(tabiya_exe):
    assert "there is no file book.bim, and no command of that name" in run(tabiya_exe, "book.bim").stderr
    assert "'shwo'" in run(tabiya_exe, "shwo").stderr


def test_a_program_that_names_a_file_alone_is_told_how_to_play_from_it(tabiya_exe, gnu_book):
    """It would wait for an engine's answers, while the explorer waits for a browser."""
    done = subprocess.run([tabiya_exe, gnu_book], input=b"uci\nquit\n", capture_output=True, timeout=HANG, check=False)
    assert done.returncode == 2 and f"`--book {gnu_book}` plays from it".encode() in done.stderr
    assert done.stdout.startswith(b"info string ") and f"--book {gnu_book}".encode() in done.stdout
