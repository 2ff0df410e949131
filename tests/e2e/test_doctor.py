"""`tabiya doctor`: what it shows of a good configuration, and what it says of a bad one."""

import json

import pytest

DONE, WANTING, FILE, ENGINE = 0, 1, 3, 4


def test_doctor_finds_a_good_configuration_good(tabiya, stockfish, gnu_book):
    done = tabiya("doctor", "--engine", stockfish, "--book", gnu_book, "--seed", "1")
    text = done.stdout.decode()
    assert done.returncode == DONE, text + done.stderr.decode()
    assert "Stockfish" in text
    assert "book.bin" in text
    assert "%" in text, "the chance of each book move"
    # The game itself can be played: its moves in SAN, from the book, then the engine's own.
    rows = [line for line in text.splitlines() if "%" in line]
    assert len(rows) >= 4
    assert "\x1b" not in text


def test_doctor_shows_a_game_that_can_be_played(tabiya, stockfish, small_book):
    done = tabiya("doctor", "--engine", stockfish, "--book", small_book)
    text = done.stdout.decode()
    assert done.returncode == DONE, text + done.stderr.decode()
    places = [text.find(san) for san in ("d4", "d5", "c4", "e6")]
    assert -1 not in places and places == sorted(places), "the moves of the book in SAN, as they are played"


def test_doctor_names_a_missing_engine(tabiya, gnu_book):
    done = tabiya("doctor", "--engine", "no-such-engine", "--book", gnu_book)
    assert done.returncode == ENGINE
    assert "no-such-engine" in (done.stdout + done.stderr).decode()


def test_doctor_names_a_missing_book(tabiya, stockfish):
    for more in ([], ["--book-optional"]):
        done = tabiya("doctor", "--engine", stockfish, "--book", "no-such-book.bin", *more)
        assert done.returncode == FILE, done.stdout
        assert done.stdout.decode().count("no-such-book.bin: no such book") == 1
        assert ("played by" in done.stdout.decode()) == bool(more), "without its book the adapter does not play"


def test_doctor_names_every_missing_book(tabiya, engine):
    done = tabiya("doctor", *engine.argv("--legal"), "--book", "one.bin", "--book", "two.bin")
    assert done.returncode == FILE
    text = done.stdout.decode()
    assert "one.bin: no such book" in text and "two.bin: no such book" in text


def test_doctor_is_content_without_a_book_where_none_is_wanted(tabiya, engine):
    done = tabiya("doctor", *engine.argv("--legal"), "--book", "<none>")
    assert done.returncode == DONE, done.stdout
    assert "books          none" in done.stdout.decode()


def test_doctor_names_an_option_that_nobody_has(tabiya, engine, small_book):
    done = tabiya("doctor", *engine.argv("--legal"), "--book", small_book, "--set", "Hahs=64")
    assert done.returncode == WANTING, done.stdout
    assert done.stdout.decode().count("Hahs: neither the engine nor tabiya has an option of this name") == 1


def test_doctor_refuses_what_the_adapter_refuses(tabiya, tmp_path):
    (tmp_path / "tabiya.toml").write_text("Engine = 'x'\n")
    done = tabiya("doctor")
    assert done.returncode == FILE
    assert "write 'engine'" in done.stderr.decode()


@pytest.mark.parametrize(
    "how",
    ["--exit-at-start=3", "--hang-uci", "--garbage-instead-of-uci", "--die-on-go", "--mute", "--close-stdout-on-go"],
)
def test_doctor_survives_a_sick_engine_and_says_so(tabiya, engine, small_book, how):
    args = how.split("=")
    done = tabiya("doctor", *engine.argv(*args), "--book", small_book, "--engine-timeout", "1")
    assert done.returncode == ENGINE, done.stdout
    text = (done.stdout + done.stderr).decode()
    assert "scripted-engine" in text
    assert "panicked" not in text
    assert "try it with" not in text, "doctor is running already"


def test_doctor_notices_an_engine_whose_moves_are_illegal(tabiya, engine, small_book):
    done = tabiya("doctor", *engine.argv("--bestmove", "a1a8"), "--book", small_book)
    assert done.returncode == ENGINE, done.stdout
    assert "a1a8" in (done.stdout + done.stderr).decode()


def test_doctor_reads_the_configuration_file(tabiya, tmp_path, engine, small_book):
    (tmp_path / "tabiya.toml").write_text(
        f"engine = '{engine.program}'\nengine-arg = ['--legal', '--name', 'From File']\nbook = 'small.bin'\nmotor = 1\n"
    )
    done = tabiya("doctor")
    text = (done.stdout + done.stderr).decode()
    assert "From File" in text
    assert "small.bin" in text
    assert "motor" in text, "the wrong key is told"
    assert done.returncode == WANTING


def test_doctor_notices_a_bad_option(tabiya, engine, small_book):
    done = tabiya("doctor", *engine.argv("--legal"), "--book", small_book, "--set", "Book Variety=1000")
    assert done.returncode == WANTING and "Book Variety" in done.stdout.decode(), done


def test_doctor_tries_standard_chess_where_another_kind_is_set(tabiya, engine, small_book):
    line = ("doctor", *engine.argv("--legal"), "--book", small_book, "--set", "UCI_Variant=horde")
    variants = "option name UCI_Variant type combo default chess var atomic var horde"
    done = tabiya(*line, "--engine-arg=--option", f"--engine-arg={variants} var chess")
    text = done.stdout.decode()
    assert done.returncode == DONE and "doctor tries standard chess only" in text and "small.bin" in text, text
    done = tabiya(*line, "--engine-arg=--option", f"--engine-arg={variants}".replace("default chess", "default horde"))
    text = done.stdout.decode()
    assert done.returncode == DONE and "which the engine does not offer: no game" in text, text


def test_doctor_says_that_no_book_can_learn(tabiya, engine, small_book):
    done = tabiya("doctor", *engine.argv("--legal"), "--set", "Book Learn=true")
    assert done.returncode == WANTING
    assert done.stdout.count(b"Book Learn is on, but the starter book cannot learn") == 1, done.stdout
    done = tabiya("doctor", *engine.argv("--legal"), "--set", "Book Learn=true", "--book", small_book)
    assert done.returncode == DONE, done.stdout


@pytest.mark.parametrize("option", ["MultiPV=3", "UCI_AnalyseMode=true"])
def test_doctor_says_that_the_engine_makes_every_move_in_analysis(tabiya, explore, engine, small_book, tmp_path, option):
    done = tabiya("doctor", *engine.argv("--legal"), "--book", small_book, "--set", option)
    text = done.stdout.decode()
    name, value = option.split("=")
    assert done.returncode == WANTING, text
    assert "No move from a book" in text and "small.bin" not in text.split("shown as")[1], text
    assert text.count(f"{name} is {value}: that is analysis, in which the engine plays every move") == 1, text
    # The explorer's check says the same.
    (tmp_path / "tabiya.toml").write_text(
        f"engine = '{engine.program}'\nengine-arg = ['--legal']\nbook = ['{small_book}']\n[set]\n{name} = {value}\n"
    )
    verdicts = explore("--settings", small_book).post("/api/doctor", {})[1]["doctor"]
    assert [verdict["level"] for verdict in verdicts] == ["warning"] and name in verdicts[0]["text"], verdicts


def test_doctor_says_that_books_are_switched_off(tabiya, engine, small_book):
    done = tabiya("doctor", *engine.argv("--legal"), "--book", small_book, "--set", "OwnBook=false")
    assert done.returncode == WANTING and b"OwnBook is false: the engine plays every move" in done.stdout, done.stdout


def test_the_adapter_says_once_that_books_are_silent_in_analysis(adapter, small_book, tmp_path):
    client = adapter("--book", small_book, "--log", tmp_path / "log")
    client.start()
    # Not a value of the option: the engine goes on with one line of play, and the book too.
    client.set("MultiPV", "501")
    assert client.go("wtime 1000 btime 1000", "position startpos").book
    for _ in range(2):
        client.set("MultiPV", "3")
        assert not client.go("wtime 1000 btime 1000", "position startpos").pv
    client.quit()
    said = "MultiPV is 3: that is analysis, in which the engine plays every move and books are silent"
    assert sum(said in line for line in client.heard) == 1
    assert client.errors().count(said) == 1 and (tmp_path / "log").read_text().count(said) == 1


def test_doctor_prints_what_is_wrong_as_json(tabiya, engine, small_book):
    done = tabiya("doctor", "--json", *engine.argv("--legal"), "--book", small_book)
    found = json.loads(done.stdout)
    assert done.returncode == DONE and found["problems"] == [] and "4 moves from books" in found["summary"]
    done = tabiya("doctor", "--json", *engine.argv("--legal"), "--book", small_book, "--set", "Hahs=64")
    (problem,) = json.loads(done.stdout)["problems"]
    assert done.returncode == WANTING and problem["level"] == "warning" and problem["text"].startswith("Hahs: ")
    done = tabiya("doctor", "--json", *engine.argv("--legal"), "--book", "no-such-book.bin")
    (problem,) = json.loads(done.stdout)["problems"]
    assert done.returncode == FILE and problem["level"] == "error" and "no-such-book.bin" in problem["text"]
