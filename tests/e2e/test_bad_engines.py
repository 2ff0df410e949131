"""Engines that misbehave: a clear message, exit code 4 where it ends, the game goes on where it can; never a hang."""

import platform
import stat
import sys

import pytest

from polyglot_writer import Book

ENGINE_ERROR = 4

# A position that no book knows.
THINK = "position startpos moves a2a3 a7a6 h2h3 h7h6"


def ended(client, *words):
    """tabiya ended with an engine error that it told in one line, each of the words in it."""
    said = client.rest()
    code = client.wait()
    errors = client.errors()
    assert code == ENGINE_ERROR, f"exit code {code}: {errors!r}, {said}"
    messages = [line for line in errors.splitlines() if line.startswith("tabiya: ")]
    assert len(messages) == 1, f"one line on standard error: {errors!r}"
    for word in words:
        assert str(word) in messages[0], messages[0]
    assert "panicked" not in errors
    assert any(line.startswith("info string tabiya:") for line in client.heard), client.heard
    return said


# At the start


def test_an_engine_that_does_not_exist(run, tabiya_exe, tmp_path):
    client = run(tabiya_exe, "--engine", tmp_path / "no-such-engine")
    client.send("uci")
    ended(client, "no-such-engine")


def test_an_engine_that_is_not_on_the_path(run, tabiya_exe):
    client = run(tabiya_exe, "--engine", "no-such-engine-anywhere")
    client.send("uci")
    ended(client, "no-such-engine-anywhere")


def test_an_engine_that_is_a_folder(run, tabiya_exe, tmp_path):
    (tmp_path / "folder").mkdir()
    client = run(tabiya_exe, "--engine", tmp_path / "folder")
    client.send("uci")
    ended(client, "folder")


@pytest.mark.skipif(sys.platform == "win32", reason="has no permission to execute")
def test_an_engine_that_may_not_be_executed(run, tabiya_exe, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("no engine")
    client = run(tabiya_exe, "--engine", text)
    client.send("uci")
    ended(client, "text.txt")


@pytest.mark.skipif(sys.platform == "win32", reason="has no permission to execute")
def test_an_engine_that_is_no_program_at_all(run, tabiya_exe, tmp_path):
    text = tmp_path / "fake"
    text.write_bytes(b"\x7fELF but not really\n")
    text.chmod(text.stat().st_mode | stat.S_IXUSR)
    client = run(tabiya_exe, "--engine", text)
    client.send("uci")
    ended(client, "fake")


ELF = b"\x7fELF\x02\x01\x01" + bytes(11)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no shell that would run it, or other programs")
@pytest.mark.parametrize(
    "start, reason",
    [
        (ELF + b"\xb7\0" + bytes(100), "it is built for aarch64, this is "),
        (b"MZ" + bytes(300), "it is built for Windows, this is Linux"),
        (b"\xcf\xfa\xed\xfe\x0c\0\0\x01" + bytes(100), "it is built for macOS, this is Linux"),
        (b"#!/no-such-interpreter\n", "the interpreter that it names is missing"),
    ],
    ids=["processor", "Windows", "macOS", "interpreter"],
)
def test_a_program_for_another_machine_is_no_script(run, tabiya_exe, tmp_path, start, reason):
    """A shell would run the line in it."""
    if platform.machine() == "aarch64" and "aarch64" in reason:
        pytest.skip("runs here")
    done = tmp_path / "done"
    program = tmp_path / "engine"
    program.write_bytes(start + f"\ntouch {done}\n".encode())
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    client = run(tabiya_exe, "--engine", program)
    client.send("uci")
    ended(client, "cannot start the engine: " + reason)
    assert not done.exists()


def test_an_engine_in_a_folder_that_does_not_exist(run, tabiya_exe, engine, tmp_path):
    client = run(tabiya_exe, *engine.argv(), "--engine-dir", tmp_path / "nowhere")
    client.send("uci")
    ended(client, "nowhere")


@pytest.mark.parametrize("code", [0, 3])
def test_an_engine_that_exits_at_once(adapter, code):
    client = adapter(engine_args=("--exit-at-start", code))
    client.send("uci")
    said = ended(client, "scripted-engine")
    assert "uciok" not in said


def test_an_engine_that_exits_at_once_under_a_silent_gui(adapter):
    client = adapter(engine_args=("--exit-at-start", "3"))
    assert client.wait() == ENGINE_ERROR
    assert "tabiya: " in client.errors()


@pytest.mark.parametrize("way", ["crash", "stderr"])
def test_the_last_words_of_an_engine_are_its_reason(run, tabiya_exe, adapter, way):
    if way == "crash":
        client = adapter(engine_args=("--fail", "uci=crash"))
    else:
        code = "import sys\nsys.exit('cannot open weights')"
        client = run(tabiya_exe, "--engine", sys.executable, "--engine-arg=-c", f"--engine-arg={code}")
    client.send("uci")
    ended(client, "it wrote: cannot open weights")
    assert any("it wrote: cannot open weights" in line for line in client.heard), client.heard


@pytest.mark.parametrize("how", ["--hang-uci", "--mute", "--garbage-instead-of-uci"])
def test_an_engine_that_never_says_uciok(adapter, how):
    client = adapter("--engine-timeout", "1", engine_args=(how,))
    client.send("uci")
    ended(client, "scripted-engine", "uci")


def test_a_program_that_is_no_uci_engine(run, tabiya_exe):
    echo = "import sys\nfor line in sys.stdin: print('what is', line, flush=True)"
    client = run(
        tabiya_exe, "--engine", sys.executable, "--engine-arg=-c", f"--engine-arg={echo}", "--engine-timeout=1"
    )
    client.send("uci", "isready")
    ended(client, "uci")


def test_the_engines_arguments_may_stand_apart_and_its_folder_is_its_own(run, tabiya_exe, scripted_exe, tmp_path):
    folder = tmp_path / "engine folder"
    folder.mkdir()
    client = run(
        tabiya_exe,
        *("--engine", scripted_exe, "--engine-arg", "--name", "--engine-arg", "Two Words"),
        *("--engine-arg", "--pid-file", "--engine-arg", "here.pid", "--engine-dir", folder),
    )
    assert "id name Two Words" in client.start() or any("Two Words" in line for line in client.heard)
    assert (folder / "here.pid").exists()
    assert client.quit() == 0


# While searching


@pytest.mark.parametrize("how", ["exit", "signal", "abort"])
def test_an_engine_that_dies_while_it_searches(adapter, how):
    client = adapter(engine_args=("--die-on-go", how))
    client.start()
    client.send(THINK, "go movetime 1000")
    said = ended(client, "scripted-engine")
    assert said[0].startswith("info depth 1 "), "what it said before it died is not lost"
    assert not any(line.startswith("bestmove") for line in said)


def test_an_engine_that_dies_while_it_ponders_in_the_book(adapter, small_book):
    client = adapter("--book", small_book, engine_args=("--die-on-go",))
    client.start()
    client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000")
    said = ended(client, "scripted-engine")
    assert not any(line.startswith("bestmove") for line in said)


def test_an_engine_that_closes_its_output(adapter):
    client = adapter(engine_args=("--close-stdout-on-go",))
    client.start()
    client.send(THINK, "go movetime 1000")
    said = ended(client, "scripted-engine")
    assert not any(line.startswith("bestmove") for line in said)


def test_an_engine_that_stops_in_the_middle_of_a_line_and_then_dies_on_quit(adapter):
    client = adapter(engine_args=("--no-newline-line", "100000"))
    client.start()
    client.send(THINK, "go movetime 10")
    # The engine sleeps now: only quit ends it, by force.
    assert client.quit() == 0
    assert sum(line.count("x") for line in client.rest()) == 100_000, "what it said is not lost"


def rubbish(count):
    """The lines that the scripted engine prints for `--rubbish`: NUL, 0xff, then its next pseudo-random bytes."""
    state = 1
    while True:
        line = bytearray(b"\x00\xff")
        while len(line) < count:
            state ^= state << 13 & 0xFFFF_FFFF_FFFF_FFFF
            state ^= state >> 7
            state ^= state << 17 & 0xFFFF_FFFF_FFFF_FFFF
            byte = state >> 32 & 0xFF
            if byte not in b"\r\n":
                line.append(byte)
        yield line.decode("latin-1")


def test_binary_rubbish_passes_byte_for_byte_and_the_game_goes_on(adapter):
    client = adapter(engine_args=("--rubbish", "5000", "--bestmove", "h2h3"))
    client.start()
    expected = rubbish(5000)
    for _ in range(3):
        answer = client.go("movetime 10", THINK)
        assert answer.move == "h2h3"
        assert answer.lines[-2] == next(expected)
    assert client.quit() == 0


@pytest.mark.parametrize("size", [1_000_000, 20_000_000])
def test_a_line_of_megabytes_passes_whole(adapter, size):
    client = adapter(engine_args=("--long-line", size, "--bestmove", "h2h3"))
    client.start()
    answer = client.go("movetime 10", THINK)
    assert answer.move == "h2h3"
    assert answer.lines[-2] == "info string " + "x" * (size - len("info string "))
    assert client.quit() == 0


def test_an_engine_with_windows_line_ends(adapter, small_book):
    client = adapter("--book", small_book, engine_args=("--crlf", "--bestmove", "h2h3", "--name", "Dos"))
    lines = client.uci()
    assert "id name Dos (tabiya)\r" in lines, "the engine's own line ends stay as they are"
    assert "option name Book Variety type spin default 50 min 0 max 100" in lines
    client.send("isready")
    client.until("readyok")
    answer = client.go("movetime 10", "position startpos")
    assert answer.book and answer.lines[-1] == "bestmove d2d4 ponder d7d5"
    answer = client.go("movetime 10", "position startpos moves a2a3")
    assert answer.lines[-1] == "bestmove h2h3\r"
    assert client.quit() == 0


def test_a_flood_on_standard_error_goes_to_the_log_and_blocks_nothing(adapter, tmp_path):
    log = tmp_path / "log.txt"
    client = adapter("--log", log, engine_args=("--stderr", "1000000", "--bestmove", "h2h3"))
    client.start()
    assert client.go("movetime 10", THINK).move == "h2h3"
    assert client.quit() == 0
    assert log.read_bytes().count(b"e") >= 900_000
    assert len(client.errors()) < 1000, "the GUI's error channel is not the engine's"


def test_a_flood_on_standard_error_without_a_log_blocks_nothing(adapter):
    client = adapter(engine_args=("--stderr", "1000000", "--bestmove", "h2h3"))
    client.start()
    assert client.go("movetime 10", THINK).move == "h2h3"
    assert client.quit() == 0


def test_a_flood_of_info_lines_passes_in_order(adapter):
    count = 100_000
    client = adapter(engine_args=("--flood", count, "--bestmove", "h2h3"))
    client.start()
    answer = client.go("movetime 10", THINK)
    numbers = [int(line.split(" nodes ")[1].split()[0]) for line in answer.lines[1:-1]]
    assert numbers == list(range(1, count + 1))


# Too many answers, or too early


def test_a_second_bestmove_is_swallowed(adapter, small_book):
    client = adapter(
        "--book", small_book, engine_args=("--double-bestmove", "--bestmove", "h2h3", "--bestmove", "g2g3")
    )
    client.start()
    for expected in ("h2h3", "g2g3", "h2h3"):
        assert client.go("movetime 10", "position startpos moves a2a3").move == expected
        assert not any(line.startswith("bestmove") for line in client.ready())
    assert client.go("movetime 10", "position startpos").book
    assert not any(line.startswith("bestmove") for line in client.ready())


@pytest.mark.parametrize("how", ["infinite", "ponder wtime 1000 btime 1000"])
def test_an_early_bestmove_waits_for_the_word(adapter, engine, how):
    client = adapter(engine_args=("--early-bestmove", "--bestmove", "h2h3"))
    client.start()
    client.send("position startpos moves a2a3", f"go {how}")
    for _ in range(3):
        assert not any(line.startswith("bestmove") for line in client.ready())
    client.send("stop" if how == "infinite" else "ponderhit")
    assert client.answer().move == "h2h3"
    assert not any(line.startswith("bestmove") for line in client.ready())
    assert engine.violations() == []


def test_a_ponder_search_that_ends_early_is_answered_on_stop(adapter, engine):
    client = adapter(engine_args=("--early-bestmove", "--bestmove", "h2h3"))
    client.start()
    client.send("position startpos moves a2a3", "go ponder wtime 1000 btime 1000")
    client.ready()
    client.send("stop")
    assert client.answer().move == "h2h3"
    assert engine.violations() == []
    assert client.go("movetime 10", "position startpos moves a2a3 a7a6").move == "h2h3"


def test_an_early_bestmove_while_the_book_ponders_costs_nothing(adapter, small_book, engine):
    client = adapter("--book", small_book, engine_args=("--early-bestmove", "--bestmove", "h2h3"))
    client.start()
    client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000")
    for _ in range(3):
        assert not any(line.startswith("bestmove") for line in client.ready())
    client.send("ponderhit")
    answer = client.answer()
    assert answer.book and answer.move == "c2c4"
    assert not any(line.startswith("bestmove") for line in client.ready())
    assert client.go("movetime 10", "position startpos moves a2a3").move == "h2h3"
    assert engine.violations() == []


def test_an_engine_that_ignores_stop_can_still_be_left(adapter):
    client = adapter(engine_args=("--ignore-stop",))
    client.start()
    client.send(THINK, "go infinite")
    client.ready()
    client.send("stop")
    assert not any(line.startswith("bestmove") for line in client.ready())
    assert client.quit() == 0


def test_an_engine_that_ignores_stop_does_not_hold_up_a_book_move(adapter, small_book):
    client = adapter("--book", small_book, engine_args=("--ignore-stop",))
    client.start()
    client.send("position startpos moves d2d4 d7d5", "go ponder wtime 1000 btime 1000")
    client.ready()
    client.send("ponderhit")
    answer = client.answer()
    assert answer.book and answer.move == "c2c4"
    assert client.quit() == 0


@pytest.mark.parametrize("answer", ["(none)", "0000", "a1a1", "nonsense", "e9e9 ponder x"])
def test_whatever_stands_behind_bestmove_passes(adapter, answer):
    client = adapter(engine_args=("--bestmove", answer))
    client.start()
    assert client.go("movetime 10", "position startpos moves a2a3").lines[-1] == f"bestmove {answer}"


# The engine's lines


@pytest.mark.parametrize(
    "line",
    [
        "copyprotection checking",
        "registration ok",
        "unknown words  with   odd blanks ",
        "\tindented",
        "option",
        "option name",
        "option name X type",
        "info depth 300 score cp 1 wdl 1 2 3 pv",
        "Bestmove a2a3",
        "id",
        "caf\u00e9 \u2654",
    ],
)
def test_odd_lines_of_the_engine_pass_byte_for_byte(adapter, line):
    client = adapter(engine_args=("--option", line))
    assert line.encode().decode("latin-1") in client.uci()
    assert client.ready()[-1] == "readyok"


def test_an_engine_with_a_book_of_its_own(adapter, engine, small_book):
    client = adapter(
        "--book",
        small_book,
        engine_args=("--option", "option name OwnBook type check default true", "--bestmove", "h2h3"),
    )
    lines = client.start()
    assert [line for line in lines if "OwnBook" in line] == ["option name OwnBook type check default true"]
    own = lines.index("option name OwnBook type check default true")
    assert own > lines.index("option name Hash type spin default 16 min 1 max 1024"), "it is the adapter's"
    assert "setoption name OwnBook value false" in engine.heard()
    client.set("OwnBook", "false")
    client.ready()
    assert not client.go("movetime 10", "position startpos").book
    assert "setoption name OwnBook value true" not in engine.heard(), "only the adapter's book is switched"
    client.set("OwnBook", "true")
    assert client.go("movetime 10", "position startpos").book
    heard = [line for line in engine.heard() if "OwnBook" in line]
    assert heard and set(heard) == {"setoption name OwnBook value false"}


def test_books_are_played_even_while_the_engine_is_slow_to_think(adapter, tmp_path):
    book = Book().line("e2e4 e7e5").write(tmp_path / "slow.bin")
    client = adapter("--book", book, engine_args=("--think", "3600000"))
    client.start()
    assert client.go("movetime 10", "position startpos").move == "e2e4"
    client.send("position startpos moves a2a3", "go wtime 1000 btime 1000")
    client.ready()
    client.send("stop")
    assert client.answer().move == "a2a3"


def test_the_message_reaches_a_gui_that_is_in_the_middle_of_a_search(adapter):
    client = adapter(engine_args=("--die-on-go",))
    client.start()
    client.send("position startpos", "go infinite")
    said = client.rest()
    assert any(line.startswith("info string tabiya:") and "scripted-engine" in line for line in said), said
