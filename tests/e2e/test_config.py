"""The configuration file and the command line of the adapter."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import chess.pgn
import pytest

from client import HANG, OUT_OF_BOOK, eventually, find_tool, match_of_the_guide, put_program
from conftest import linux_only, not_windows
from polyglot_writer import Book
from processes import children

START = "position startpos"


@pytest.fixture
def configured(run, tabiya_exe, engine, tmp_path):
    """Starts tabiya with a configuration file of these lines; the engine is the scripted one unless they say else."""

    def start(text, *args, name="tabiya.toml", with_engine=True, **more):
        if with_engine:
            arguments = ", ".join(f"'{word}'" for word in ("--record", engine.record, "--bestmove", "h2h3"))
            text = f"engine = '{engine.program}'\nengine-arg = [{arguments}]\n{text}"
        (tmp_path / name).write_text(text)
        return run(tabiya_exe, *args, **more)

    return start


def warnings(client):
    return [line for line in client.heard if line.startswith("info string tabiya:")]


def refused(client, *words):
    """Ended with a usage, file or format error in one line; returns the exit code."""
    assert client.rest() == [] or all(line.startswith("info string tabiya:") for line in client.heard)
    code = client.wait()
    messages = client.errors().splitlines()
    assert messages and messages[0].startswith("tabiya: "), client.errors()
    for word in words:
        assert word in messages[0], messages[0]
    assert "panicked" not in client.errors()
    return code


def test_the_file_in_the_working_folder_is_used(configured, tmp_path):
    Book().line("d2d4").write(tmp_path / "a.bin")
    client = configured("book = 'a.bin'\nseed = 5\n[set]\n'Book Variety' = 30\nHash = 4\n")
    lines = client.start()
    assert warnings(client) == []
    assert "option name Book Variety type spin default 30 min 0 max 100" in lines
    assert client.go("movetime 10", START).move == "d2d4"
    assert client.go("movetime 10", "position startpos moves a2a3").move == "h2h3"


def test_options_of_the_engine_in_the_file_reach_it(configured, engine):
    client = configured("set = ['Hash=8', 'Syzygy Path=/a;/b c']\n")
    client.start()
    assert {"setoption name Hash value 8", "setoption name Syzygy Path value /a;/b c"} <= set(engine.heard())


def test_a_file_by_any_name_may_be_given(configured, tmp_path):
    Book().line("d2d4").write(tmp_path / "a.bin")
    client = configured("book = ['a.bin']\n", "--config", "other.toml", name="other.toml")
    client.start()
    assert client.go("movetime 10", START).move == "d2d4"


def test_the_command_line_has_the_last_word(configured, tmp_path):
    Book().line("d2d4").write(tmp_path / "a.bin")
    Book().line("c2c4").write(tmp_path / "b.bin")
    client = configured(
        "book = 'a.bin'\nset = ['Book Variety=1', 'Book Depth=3']\n", "--book", "b.bin", "--set", "Book Variety=2"
    )
    lines = client.start()
    assert "option name Book Variety type spin default 2 min 0 max 100" in lines
    assert "option name Book Depth type spin default 3 min 0 max 1000" in lines
    assert client.go("movetime 10", START).move == "c2c4"


def test_books_for_both_colours_in_the_file(configured, tmp_path):
    Book().line("d2d4 d7d5").write(tmp_path / "w.bin")
    Book().line("d2d4 g8f6").write(tmp_path / "b.bin")
    client = configured("book-white = 'w.bin'\nbook-black = ['b.bin']\n")
    client.start()
    assert client.go("movetime 10", START).move == "d2d4"
    assert client.go("movetime 10", "position startpos moves d2d4").move == "g8f6"


@pytest.mark.parametrize(
    "line, words",
    [
        ("motor = 'a.bin'", ["motor", "[set]"]),
        ("seed = 'seven'", ["seed", "number"]),
        ("seed = -1", ["seed"]),
        ("seed = 1.5", ["seed"]),
        ("log = true", ["log"]),
        ("set = ['Book Variety=200']", ["Book Variety"]),
        ("[unknown]\nkey = 1", ["unknown"]),
    ],
)
def test_a_bad_key_is_told_with_the_file_and_play_goes_on(configured, line, words):
    client = configured(line + "\n")
    client.start()
    told = warnings(client)
    assert len(told) == 1, told
    for word in words:
        assert word in told[0]
    eventually("standard error has it too", lambda: told[0].removeprefix("info string ") in client.errors().splitlines())
    if "Book Variety" not in line:
        assert "tabiya.toml" in told[0], told[0]
    if not line.startswith("set"):
        assert re.search(r"line \d", told[0]), told[0]
    assert client.go("movetime 10", "position startpos moves a2a3 a7a6 h2h3 h7h6").move == "h2h3"


@pytest.mark.parametrize(
    "line, meant",
    [
        ("Engine = 'x'", "engine"),
        ("engine-args = ['x']", "engine-arg"),
        ("engine_arg = ['x']", "engine-arg"),
        ("books = 'a.bin'", "book"),
        ("Book-White = 'a.bin'", "book-white"),
        ("Seed = 3", "seed"),
        ("[Set]\nHash = 3", "set"),
        ("boook = 'a.bin'", "book"),
        ("enigne-dir = 'a'", "engine-dir"),
    ],
)
def test_a_key_that_is_nearly_one_ends_tabiya_and_names_it(configured, line, meant):
    client = configured(line + "\n")
    client.send("uci")
    written = re.match(r"\[?([\w-]+)", line)[1]
    assert refused(client, "tabiya.toml", "line 3", f"'{written}'", f"write '{meant}'") == 3


@pytest.mark.parametrize(
    "lines, args, words",
    [
        ("[set]\nHash = 16\nbook = 'a.bin'", [], ["line 5", "write 'book' before the first table"]),
        ('#[set]\n"Book Learn" = true', [], ["line 4", 'write "Book Learn" below the line [set], and remove the # before that']),
        ("depth = 10", [], ["line 3", 'write "Book Depth" below a line [set], or \'depth\' in a [[book]] table']),
        ('[set]\n"Book Learn" = true\n"Book Learn" = true', [], ["line 5", "remove it, or the line before that sets the same"]),
        ("[set]\n'Bok File' = 'a.bin'", [], ["line 4", 'write "Book File"']),
        ("[set]\nOwnBook = 'no'", [], ["line 4", "OwnBook", "write true or false"]),
        ("book = ''", [], ["line 3", "'book'"]),
        ("book = ['']", [], ["line 3", "'book'"]),
        ("book = 1", [], ["line 3", "'book'"]),
        ("book-white = []", [], ["line 3", "'book-white'"]),
        ("set = 'Hash'", [], ["line 3", "'set'", "NAME=VALUE"]),
        ("set = 7", [], ["line 3", "'set'", "NAME=VALUE"]),
        ("", ["--book", ""], ["--book", "empty"]),
        ("", ["--book-black="], ["--book-black", "empty"]),
        ("book = a.bin", [], ["line 3", "put text in 'single quotes': book = 'a.bin'"]),
        ("book = C:\\Books\\a.bin", [], ["line 3", "'single quotes': book = 'C:\\Books\\a.bin'"]),
        ("Book Variety = 30", [], ["line 3", 'write "Book Variety" = 30']),
        ("book-optional = True", [], ["line 3", "write true"]),
    ],
)
def test_a_slip_that_may_mean_another_book_ends_tabiya(configured, lines, args, words):
    client = configured(lines + "\n", *args)
    client.send("uci")
    assert refused(client, *words) == 3


@pytest.mark.parametrize(
    "argument, words",
    [
        ("Bok File=a.bin", ['write --set "Book File=a.bin"']),
        ("engine=stockfish", ["write --engine"]),
        ("Book File=", ["name a book"]),
        ("OwnBook=fasle", ["write true or false"]),
    ],
)
def test_an_option_that_may_mean_another_book_is_a_usage_error(configured, argument, words):
    client = configured("", "--set", argument)
    client.send("uci")
    assert refused(client, argument, *words) == 2


def test_an_option_that_is_nearly_one_of_tabiyas_is_reported_to_the_gui(configured, engine):
    client = configured("")
    client.start()
    client.set("Bok File", "a.bin")
    (told,) = [line for line in client.ready() if line.startswith("info string tabiya:")]
    assert "Bok File" in told and "write 'Book File'" in told
    assert "setoption name Bok File value a.bin" in engine.heard()


def test_a_value_that_the_engine_does_not_list_is_reported(configured, engine):
    client = configured("[set]\nHash = 4096\nhash = 2048\nPonder = true\n")
    client.start()
    told = warnings(client)
    assert len(told) == 3 and "'hash' is set twice" in told[0], told
    assert "Hash: the engine does not accept '4096'" in told[1] and "max 1024" in told[1]
    assert "hash: the engine does not accept '2048'" in told[2]


def special(path, what):
    """A folder, a link to nowhere, or a pipe."""
    if what == "folder":
        path.mkdir()
    elif what == "link":
        path.symlink_to(path.with_name("nowhere"))
    else:
        os.mkfifo(path)


@pytest.mark.skipif(sys.platform == "win32", reason="has neither such links nor pipes")
@pytest.mark.parametrize("what", ["folder", "link", "pipe"])
@pytest.mark.parametrize("where", ["own", "common"])
def test_a_configuration_that_is_no_file_is_not_passed_over(run, tabiya_exe, engine, tmp_path, what, where):
    (tmp_path / "program").mkdir()
    exe = tmp_path / "program" / "Solid"
    put_program(tabiya_exe, exe)
    config = tmp_path / "program" / "Solid.toml" if where == "own" else tmp_path / "tabiya.toml"
    special(config, what)
    client = run(exe, *engine.argv())
    client.send("uci")
    assert refused(client, str(config), "broken link" if what == "link" else "not a file") == 3


@pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
@pytest.mark.parametrize("what", ["folder", "sticky folder", "file"])
def test_a_file_that_everybody_may_write_is_not_found_by_chance(run, tabiya_exe, engine, tmp_path, what):
    folder = tmp_path / "everybodys"
    folder.mkdir()
    config = folder / "tabiya.toml"
    config.write_text(f"engine = '{engine.program}'\nname = 'Theirs'\n")
    if what == "file":
        config.chmod(0o666)
    else:
        folder.chmod(0o1777 if what == "sticky folder" else 0o777)
    client = run(tabiya_exe, *engine.argv(), cwd=folder)
    client.send("uci")
    assert refused(client, str(config), "anyone", "--config") == 3
    client = run(tabiya_exe, "--config", "tabiya.toml", cwd=folder)
    assert "id name Theirs" in client.start(), "who names it trusts it"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the administrator gives files away")
def test_a_file_of_another_user_is_not_found_by_chance(run, tabiya_exe, engine, tmp_path):
    config = tmp_path / "tabiya.toml"
    config.write_text("name = 'Theirs'\n")
    os.chown(config, 65534, 65534)
    client = run(tabiya_exe, *engine.argv())
    client.send("uci")
    assert refused(client, str(config), "another user", "--config") == 3


@pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
def test_in_a_temporary_folder_books_are_those_given_or_there_is_no_match(run, tabiya_exe, engine, tmp_path):
    """As Cute Chess starts engines: a relative book is nowhere, an absolute one is found."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    book = Book().line("d2d4").write(tmp_path / "a.bin")
    client = run(tabiya_exe, *engine.argv(), "--book=a.bin", cwd=folder)
    client.send("uci", "isready")
    # Books are opened while the engine lists its options.
    (told,) = [line for line in client.rest() if line.startswith("info string tabiya:")]
    assert str(folder / "a.bin") in told and "--book-optional" in told
    assert "readyok" not in client.heard
    assert client.wait() == 3
    assert client.errors() == told.removeprefix("info string ") + "\n"
    client = run(tabiya_exe, *engine.argv("--bestmove", "h2h3"), "--book=a.bin", "--book-optional", cwd=folder)
    client.start()
    (told,) = warnings(client)
    assert "a.bin" in told
    assert client.go("movetime 10", START).move == "h2h3"
    for argument, place in ((f"--book={book}", folder), ("--book=a.bin", tmp_path)):
        client = run(tabiya_exe, *engine.argv("--bestmove", "h2h3"), argument, cwd=place)
        client.start()
        assert client.go("movetime 10", START).move == "d2d4"


def engines_of(command):
    """The engines in a runner's command: for each its name, program, folder and arguments."""
    engines = []
    for word in shlex.split(command):
        if word == "-engine":
            engines.append({"args": [], "dir": None})
        elif word == "-each":
            break
        elif engines:
            key, value = word.split("=", 1)
            if key in ("arg", "args"):
                engines[-1]["args"] += [value] if key == "arg" else shlex.split(value)
            else:
                engines[-1][key] = value
    return engines


@linux_only
@pytest.mark.parametrize("runner, starts_in", [("cutechess-cli", "tmp"), ("fastchess", "match")])
def test_the_commands_of_the_guide_play_from_their_books(run, tabiya_exe, stockfish, tmp_path, runner, starts_in):
    """Cute Chess starts engines in the system's temporary folder unless it is given another, fastchess in its own."""
    command = match_of_the_guide(runner, "tabiya")
    for name in ("tmp", "match"):
        (tmp_path / name).mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    Book().line("d2d4").write(tmp_path / "match" / "a.bin")
    Book().line("c2c4").write(tmp_path / "match" / "b.bin")
    played = {}
    for engine in engines_of(command.replace("\\\n", " ")):
        folder = tmp_path / "match" / engine["dir"] if engine["dir"] else tmp_path / starts_in
        assert engine["cmd"] == "tabiya"
        path = {"PATH": f"{stockfish.parent}{os.pathsep}{os.environ['PATH']}"}
        client = run(tabiya_exe, *engine["args"], cwd=folder, env=os.environ | path)
        client.start()
        played[engine["name"]] = client.go("movetime 10", START).move
    assert played == {"A": "d2d4", "B": "c2c4"}


def runner_of(name):
    """Where a match runner is, if it starts."""
    path = find_tool(name)
    if not path:
        pytest.skip(f"there is no {name}, neither in the folder that TABIYA_TOOLS names nor on PATH")
    probe = subprocess.run([path, "--version"], check=False, capture_output=True, text=True, timeout=HANG)
    if probe.returncode == 127:
        pytest.skip(f"there is no {name} that starts: {probe.stderr.strip()}")
    return Path(path)


@not_windows
@pytest.mark.parametrize("runner", ["cutechess-cli", "fastchess"])
def test_the_runners_play_the_match_of_the_guide(tabiya_exe, scripted_exe, tmp_path, runner):
    """The command as it is written, with another `stockfish` on PATH, which answers at once."""
    found = runner_of(runner)
    command = match_of_the_guide(runner, "tabiya")
    programs, folder = tmp_path / "programs", tmp_path / "match"
    programs.mkdir(), folder.mkdir()
    (programs / "tabiya").symlink_to(tabiya_exe)
    (programs / "stockfish").write_text(f"#!/bin/sh\nexec '{scripted_exe}' --legal\n")
    (programs / "stockfish").chmod(0o755)
    (programs / runner).symlink_to(found)
    for name, move in (("a", "d2d4"), ("b", "c2c4")):
        Book().line(move).write(folder / f"{name}.bin")
    path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, shell=True, cwd=folder, env=os.environ | path, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(folder / "match.pgn") as file:
        games = list(iter(lambda: chess.pgn.read_game(file), None))
    assert len(games) == 100, done.stdout
    opened = {(game.headers["White"], game.next().move.uci()) for game in games}
    assert opened == {("A", "d2d4"), ("B", "c2c4")}
    # Nobody lost for another reason than the position.
    assert {game.headers.get("Termination", "normal") for game in games} == {"normal"}


def test_a_book_may_be_optional_in_the_file(configured):
    client = configured("book = 'missing.bin'\nbook-optional = true\n")
    client.start()
    (told,) = warnings(client)
    assert "missing.bin" in told
    assert client.go("movetime 10", "position startpos moves a2a3 a7a6 h2h3 h7h6").move == "h2h3"


def test_a_path_may_hold_a_semicolon(configured, tmp_path):
    Book().line("d2d4").write(tmp_path / "a;b.bin")
    for text, args in (("book = 'a;b.bin'\n", ()), ("book = ['a;b.bin']\n", ()), ("", ("--book", "a;b.bin"))):
        client = configured(text, *args)
        client.start()
        assert warnings(client) == []
        assert client.go("movetime 10", START).move == "d2d4"


@pytest.mark.parametrize(
    "text", ["engine = \n", "engine = 'x\n", "= 1\n", "[set\n", "book = 'a'\nbook = 'b'\n", "\x00\n"]
)
def test_a_file_that_is_no_toml_is_an_error_with_its_line(configured, text):
    client = configured(text, with_engine=False)
    client.send("uci")
    assert refused(client, "tabiya.toml") in (2, 3)


def test_a_file_that_is_no_text_is_an_error(run, tabiya_exe, tmp_path):
    (tmp_path / "tabiya.toml").write_bytes(b"\xff\xfe\x00\x01" * 100)
    client = run(tabiya_exe)
    client.send("uci")
    assert refused(client, "tabiya.toml") == 3


def test_an_engine_of_the_wrong_type_is_an_error_since_another_would_play(configured):
    client = configured("engine = 5\n", with_engine=False)
    client.send("uci")
    assert refused(client, "tabiya.toml", "engine") in (2, 3)


def test_a_named_file_that_does_not_exist_is_an_error_with_every_path_tried(run, tabiya_exe, tmp_path):
    client = run(tabiya_exe, "--config", "no-such.toml")
    client.send("uci")
    assert refused(client, str(tmp_path / "no-such.toml"), str(tabiya_exe.parent / "no-such.toml")) == 3


@pytest.mark.parametrize(
    "args",
    [
        ["--no-such-option"],
        ["--seed", "many"],
        ["--seed", "-3"],
        ["--engine-timeout", "soon"],
        ["--set", "Hash"],
        ["--set", "=3"],
        ["--book"],
        ["no-such-command"],
    ],
)
def test_a_wrong_command_line_is_a_usage_error(run, tabiya_exe, stockfish, args):
    client = run(tabiya_exe, "--engine", stockfish, *args)
    client.send("uci", "quit")
    assert client.wait() == 2
    (line,) = client.rest()
    assert line.startswith("info string tabiya: ")
    assert client.errors().strip()
    assert "panicked" not in client.errors()


@pytest.mark.parametrize("where", ["working folder", "configuration's folder", "executable's folder"])
def test_relative_books_are_looked_for_in_three_places(run, tabiya_exe, engine, tmp_path, where):
    folders = {
        name: tmp_path / str(number)
        for number, name in enumerate(("working folder", "configuration's folder", "executable's folder"))
    }
    for folder in folders.values():
        folder.mkdir()
    exe = folders["executable's folder"] / tabiya_exe.name
    put_program(tabiya_exe, exe)
    config = folders["configuration's folder"] / "my.toml"
    config.write_text("book = 'near.bin'\n")
    Book().line("d2d4").write(folders[where] / "near.bin")
    client = run(exe, *engine.recorded("--bestmove", "h2h3"), "--config", config, cwd=folders["working folder"])
    client.start()
    assert warnings(client) == []
    assert client.go("movetime 10", START).move == "d2d4"


def test_the_working_folder_comes_first_and_the_executables_last(run, tabiya_exe, engine, tmp_path):
    names = ("working", "config", "exe")
    for name, move in zip(names, ("d2d4", "e2e4", "c2c4"), strict=True):
        (tmp_path / name).mkdir()
        Book().line(move).write(tmp_path / name / "near.bin")
    exe = tmp_path / "exe" / tabiya_exe.name
    put_program(tabiya_exe, exe)
    (tmp_path / "config" / "my.toml").write_text("book = 'near.bin'\n")
    for name, move in zip(names, ("d2d4", "e2e4", "c2c4"), strict=True):
        client = run(
            exe,
            *engine.recorded("--bestmove", "h2h3"),
            "--config",
            tmp_path / "config" / "my.toml",
            cwd=tmp_path / "working",
        )
        client.start()
        assert client.go("movetime 10", START).move == move
        (tmp_path / name / "near.bin").unlink()


def test_the_default_file_may_lie_beside_the_executable(run, tabiya_exe, engine, tmp_path):
    (tmp_path / "program").mkdir()
    (tmp_path / "work").mkdir()
    exe = tmp_path / "program" / tabiya_exe.name
    put_program(tabiya_exe, exe)
    Book().line("d2d4").write(tmp_path / "program" / "beside.bin")
    (tmp_path / "program" / "tabiya.toml").write_text(f"engine = '{engine.program}'\nbook = 'beside.bin'\n")
    client = run(exe, cwd=tmp_path / "work")
    client.start()
    assert warnings(client) == []
    assert client.go("movetime 10", START).move == "d2d4"


def test_a_renamed_copy_reads_the_file_with_its_own_name_first(run, tabiya_exe, engine, tmp_path):
    (tmp_path / "program").mkdir()
    (tmp_path / "work").mkdir()
    for name in ("Quiet", "Sharp 2.0"):
        exe = tmp_path / "program" / (name + tabiya_exe.suffix)
        put_program(tabiya_exe, exe)
        (tmp_path / "program" / f"{name}.toml").write_text(f"engine = '{engine.program}'\nname = 'I am {name}'\n")
        (tmp_path / "work" / "tabiya.toml").write_text(f"engine = '{engine.program}'\nname = 'common'\n")
        client = run(exe, cwd=tmp_path / "work")
        assert f"id name I am {name}" in client.start()
        (tmp_path / "program" / f"{name}.toml").unlink()
        client = run(exe, cwd=tmp_path / "work")
        assert "id name common" in client.start()


def test_a_relative_engine_is_looked_for_beside_the_file(run, tabiya_exe, engine, tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "work").mkdir()
    put_program(engine.program, tmp_path / "config" / "my-engine")
    (tmp_path / "config" / "my.toml").write_text("engine = 'my-engine'\nengine-arg = ['--name', 'Beside']\n")
    client = run(tabiya_exe, "--config", tmp_path / "config" / "my.toml", cwd=tmp_path / "work")
    assert any("Beside" in line for line in client.start())


def test_an_engine_that_is_nowhere_names_every_path_tried(run, tabiya_exe, tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "my.toml").write_text("engine = 'sub/no-engine'\n")
    client = run(tabiya_exe, "--config", tmp_path / "config" / "my.toml")
    client.send("uci")
    client.rest()
    assert client.wait() == 4
    for place in (tmp_path, tmp_path / "config", tabiya_exe.parent):
        assert str(place / "sub" / "no-engine") in client.errors()


@linux_only
def test_without_a_word_about_the_engine_it_is_stockfish(run, tabiya_exe, stockfish):
    client = run(tabiya_exe)
    assert any(line.startswith("id name Stockfish") for line in client.start())
    assert len(children(client.pid)) == 1


def test_the_log_tells_what_happened(run, tabiya_exe, engine, tmp_path, small_book):
    log = tmp_path / "log.txt"
    client = run(
        tabiya_exe, *engine.recorded("--bestmove", "h2h3", "--name", "Logged One"), "--book", small_book, "--log", log
    )
    client.start()
    client.set("Book File", "missing.bin")
    client.go("movetime 10", START)
    client.set("Book File", small_book)
    client.go("movetime 10", START)
    client.quit()
    text = log.read_text()
    assert "Logged One" in text
    assert "missing.bin" in text
    assert "d2d4" in text and "small.bin" in text


def test_the_log_may_be_set_and_ended_by_the_gui(adapter, tmp_path, small_book):
    client = adapter("--book", small_book)
    client.start()
    log = tmp_path / "later.txt"
    client.set("Book Log", log)
    client.ready()
    client.go("movetime 10", START)
    client.set("Book Log", "<empty>")
    client.ready()
    assert client.go("movetime 10", "position startpos moves d2d4 d7d5").move == "c2c4"
    assert client.quit() == 0
    text = log.read_text()
    assert "d2d4" in text and "c2c4" not in text


@pytest.mark.parametrize("way", ["argument", "key"])
@pytest.mark.parametrize(
    ("level", "logged"),
    [
        ("error", []),
        (None, ["book move"]),
        ("info", ["book move"]),
        ("debug", ["book move", "gui: go movetime"]),
        ("trace", ["book move", "gui: go movetime", "engine: bestmove h2h3"]),
    ],
)
def test_the_log_takes_what_its_level_says(adapter, tmp_path, small_book, level, logged, way):
    log = tmp_path / "log.txt"
    if way == "key":
        chosen = f"log-level = '{level}'" if level else ""
        (tmp_path / "tabiya.toml").write_text(f"log = '{log}'\n{chosen}\n")
        client = adapter("--book", small_book)
    else:
        client = adapter("--book", small_book, "--log", log, *(["--log-level", level] if level else []))
    client.start()
    client.go("movetime 10", START)
    client.go("movetime 10", OUT_OF_BOOK)
    assert client.quit() == 0
    text = log.read_text()
    assert [what for what in ("book move", "gui: go movetime", "engine: bestmove h2h3") if what in text] == logged


def test_the_log_says_how_likely_each_move_was(adapter, tmp_path):
    book, log = Book().at("", e2e4=3, d2d4=1).write(tmp_path / "a.bin"), tmp_path / "log.txt"
    client = adapter("--book", book, "--log", log, "--set", "Book Variety=50", "--set", "Book Threshold=0")
    client.start()
    moves = {client.go("movetime 10", START).move for _ in range(60)}
    assert client.quit() == 0 and moves == {"e2e4", "d2d4"}
    # At this variety weights count as they are.
    noted = set(re.findall(rf"book move (\S+) from {book}, chance ([\d.]+)%$", log.read_text(), re.MULTILINE))
    assert noted == {("e2e4", "75.0"), ("d2d4", "25.0")}


def test_several_processes_share_a_log_line_by_line(adapter, tmp_path, small_book):
    log = tmp_path / "log.txt"
    clients = [adapter("--book", small_book, "--log", log, "--log-level", "debug") for _ in range(4)]
    for client in clients:
        client.start()
    for _ in range(50):
        for client in clients:
            client.send(START, "go movetime 10")
    for client in clients:
        assert [client.answer().move for _ in range(50)] == ["d2d4"] * 50
        assert client.quit() == 0
    line = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*Z (\d+) \[(?:ERROR|WARN|INFO|DEBUG)\] (\S.*)")
    lines = [line.fullmatch(text).groups() for text in log.read_text().splitlines()]
    for client in clients:
        assert lines.count((str(client.pid), "gui: go movetime 10")) == 50


def test_the_name_of_a_log_may_hold_the_process_and_the_day(adapter, tmp_path):
    client = adapter("--log", tmp_path / "of-%p-%d.log")
    client.start()
    assert client.quit() == 0
    (log,) = tmp_path.glob("of-*.log")
    assert re.fullmatch(rf"of-{client.pid}-\d{{4}}-\d\d-\d\d\.log", log.name)
    assert log.read_text()


def test_a_relative_log_is_looked_up_like_other_files(adapter, tmp_path):
    """An existing one in the configuration's folder is gone on with; a new one is made where that is possible first."""
    home, work = tmp_path / "home", tmp_path / "work"
    (home / "logs").mkdir(parents=True)
    work.mkdir()
    config = home / "tabiya.toml"
    (home / "old.log").write_text("what was there\n")
    for name, place in [("old.log", home), ("logs/new.log", home), ("new.log", work)]:
        config.write_text(f"log = '{name}'\n")
        client = adapter("--config", config, cwd=work)
        client.start()
        assert client.quit() == 0
        assert "tabiya" in (place / name).read_text()
    assert (home / "old.log").read_text().startswith("what was there\n")
    assert [file.name for file in work.iterdir()] == ["new.log"]


def test_a_log_that_cannot_be_written_is_told_and_play_goes_on(adapter, tmp_path, small_book):
    client = adapter("--book", small_book, "--log", tmp_path / "no-folder" / "log.txt")
    lines = client.start()
    assert any("log.txt" in line for line in lines if line.startswith("info string tabiya:"))
    client.set("Book Log", tmp_path)
    assert any(str(tmp_path) in line for line in client.ready() if line.startswith("info string tabiya:"))
    assert client.go("movetime 10", START).move == "d2d4"


def test_the_log_is_never_on_standard_output(adapter, tmp_path, small_book):
    client = adapter("--book", small_book, "--log", tmp_path / "log.txt")
    lines = client.start()
    lines += client.go("movetime 10", START).lines
    client.send("quit")
    lines += client.rest()
    allowed = ("id ", "option ", "info ", "uciok", "readyok", "bestmove ")
    assert [line for line in lines if not line.startswith(allowed)] == []


def test_help_and_version(run, tabiya_exe):
    client = run(tabiya_exe, "--help")
    assert any("--engine" in line for line in client.rest())
    assert client.wait() == 0
    client = run(tabiya_exe, "--version")
    assert re.fullmatch(r"tabiya \d+\.\d+\.\d+.*", client.line())
    assert client.wait() == 0
