"""tabiya for Windows, under Wine: what users of Arena and Cute Chess do with it, and the same books as on Linux.

scripts/windows builds what these tests need, and runs them.
"""

import hashlib
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import chess.polyglot
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from client import HANG, START, Client, eventually, problems, put_program  # noqa: E402
from polyglot_writer import Book  # noqa: E402

WINE = shutil.which("wine")
EXE, ENGINE, LINUX = (
    Path(os.environ[name]) for name in ("TABIYA_WINDOWS_EXE", "TABIYA_WINDOWS_ENGINE", "TABIYA_LINUX_EXE")
)
SCRIPTED = EXE.parent / "examples" / "scripted-engine.exe"
DONE, FINDINGS, USAGE, FILE, ENGINE_ERROR = 0, 1, 2, 3, 4


def drive(path):
    """A path of Linux as Windows has it."""
    return "Z:" + str(path).replace("/", "\\")


@pytest.fixture(scope="session", autouse=True)
def windows():
    """Keeps Wine's own processes, which would hold the output of the first tabiya open as long as any other runs."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["wineserver", "--persistent"], check=False, **quiet)
    subprocess.run([WINE, "wineboot"], check=True, timeout=HANG, **quiet)
    yield
    subprocess.run(["wineserver", "--kill"], check=False, **quiet)


@pytest.fixture
def folder(tmp_path):
    """A folder with a space and umlauts in its name, with tabiya and an engine in it."""
    folder = tmp_path / "Schach Bücher Größe"
    folder.mkdir()
    put_program(EXE, folder / "tabiya.exe")
    put_program(ENGINE, folder / "Mein Motor.exe")
    return folder


@pytest.fixture
def tabiya(folder):
    """Runs a command of the folder's own tabiya to its end."""

    def call(*args, cwd=folder):
        command = [WINE, str(folder / "tabiya.exe"), *map(str, args)]
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG, check=False)
        done.out, done.err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        assert "panicked" not in done.err, done.err
        return done

    return call


@pytest.fixture
def start(folder):
    """Starts the folder's own tabiya as a GUI does."""
    clients = []

    def start(*args, exe=None, cwd=folder):
        clients.append(Client([WINE, str(exe or folder / "tabiya.exe"), *map(str, args)], cwd=cwd))
        return clients[-1]

    yield start
    for client in clients:
        client.dispose()


def games(count, seed):
    """Random games as PGN, all from the first moves of a few openings."""
    choice, text = random.Random(seed), []
    for number in range(count):
        board = chess.Board()
        for word in choice.choice(["e4 e5 Nf3", "d4 d5 c4", "c4 e5", "e4 c5 Nf3 d6", "Nf3 d5 g3"]).split():
            board.push_san(word)
        while not board.is_game_over() and board.ply() < 40:
            board.push(choice.choice(sorted(board.legal_moves, key=chess.Move.uci)))
        game = chess.pgn.Game.from_board(board)
        game.headers.update(
            White=f"Weiß {number % 7}",
            Black=f"Чёрный {number % 5}",
            Date="2020.01.01",
            WhiteElo=str(2000 + number),
            BlackElo=str(2100 + number),
            Result=choice.choice(["1-0", "0-1", "1/2-1/2"]),
        )
        text.append(str(game))
    return "\n\n".join(text) + "\n"


def running(name):
    """The processes whose program has this name."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            program = (entry / "cmdline").read_bytes().split(b"\0")[0]
        except OSError:
            continue
        if program.replace(b"\\", b"/").rpartition(b"/")[2] == name.encode():
            found.append(int(entry.name))
    return found


def test_doctor_plays_an_opening_with_an_engine_for_windows(tabiya, folder):
    Book().line("d2d4 d7d5 c2c4 e7e6").write(folder / "Bücher.bin")
    (folder / "tabiya.toml").write_text("engine = 'Mein Motor.exe'\nbook = 'Bücher.bin'\n", encoding="utf-16")
    done = tabiya("doctor")
    assert done.returncode == DONE, done.out + done.err
    assert "Fairy-Stockfish" in done.out and "All is well." in done.out and "\\\\?\\" not in done.out
    assert all(move in done.out for move in ("d4", "d5", "c4", "e6"))


def sums(folder):
    """The SHA-256 of each file of the books, but for the list of sources of Kvetka's books, which has their whole paths."""
    files = [path for path in sorted(folder.iterdir()) if path.suffix != ".ksf"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_twelve_books_are_the_same_as_on_linux(tabiya, tmp_path):
    for number, count in enumerate([40, 300, 1500]):
        (tmp_path / f"{number}.pgn").write_text(games(count, number), encoding="utf-8")
    books, options = [], [[], ["--max-ply", "30", "--min-games", "2"], ["--memory", "16M", "--threads", "2"]]
    for number, more in enumerate(options):
        books += [(f"{number}.{end}", [f"{number}.pgn", *more]) for end in ("bin", "ctg", "abk", "kob")]
    assert len(books) == 12
    places = {}
    for system in ("linux", "windows"):
        places[system] = tmp_path / system
        places[system].mkdir()
        for name, arguments in books:
            arguments = ["build", "-o", f"{system}/{name}", *arguments]
            if system == "linux":
                done = subprocess.run([LINUX, *arguments], cwd=tmp_path, capture_output=True, check=False)
            else:
                done = tabiya(*arguments, cwd=tmp_path)
            assert done.returncode == DONE, (name, done.stderr)
    assert len(list(places["linux"].iterdir())) >= 12
    assert sums(places["linux"]) == sums(places["windows"])


def test_names_of_many_files_are_expanded(tabiya, folder):
    (folder / "Spiele").mkdir()
    for number in range(3):
        (folder / "Spiele" / f"teil {number}.pgn").write_text(games(5, number), encoding="utf-8")
    done = tabiya("build", "-o", "alle.bin", "Spiele\\*.pgn")
    assert done.returncode == DONE, done.err
    assert "15 games" in done.out + done.err, done.out + done.err


def test_force_replaces_a_book_that_is_being_played_from(tabiya, start, folder):
    Book().line("d2d4").write(folder / "buch.bin")
    (folder / "e.pgn").write_text('[Result "1-0"]\n\n1. e4 1-0\n' * 3)
    client = start("--engine", "Mein Motor.exe", "--book", "buch.bin")
    client.start()
    assert client.go("movetime 10", START).move == "d2d4"
    done = tabiya("build", "-o", "buch.bin", "e.pgn", "--force")
    assert done.returncode == DONE, done.err
    assert client.go("movetime 10", START).move == "d2d4", "it keeps the book that it opened"
    other = start("--engine", "Mein Motor.exe", "--book", "buch.bin")
    other.start()
    assert other.go("movetime 10", START).move == "e2e4"
    for one in (client, other):
        one.send("quit")
        assert one.wait() == DONE
    assert tabiya("check", "buch.bin").returncode == DONE
    assert sorted(path.name for path in folder.glob("*.bin")) == ["buch.bin"]


def test_a_book_in_bytes_of_the_system_s_code_page_is_opened(start, folder):
    Book().line("c2c4").write(folder / "Bücher.bin")
    client = start("--engine", "Mein Motor.exe", "--book", "<none>")
    client.start()
    client.send_bytes("setoption name Book File value Bücher.bin\n".encode("cp1252"))
    assert problems(client.ready()) == []
    assert client.go("movetime 10", START).move == "c2c4"


def test_a_configuration_with_quotes_says_how_to_write_paths(tabiya, folder):
    for text in ('engine = "C:\\Engines\\x.exe"\n', 'engine = "C:\\new\\tabs.exe"\n'):
        (folder / "tabiya.toml").write_text(text)
        done = tabiya("doctor")
        assert done.returncode == FILE and "line 1" in done.err and "'single quotes'" in done.err, done.err
        assert "\t" not in done.err and "\x1b" not in done.err


def test_a_renamed_copy_has_a_configuration_of_its_own(start, folder):
    put_program(EXE, folder / "Scharf.exe")
    (folder / "Scharf.toml").write_text("engine = 'Mein Motor.exe'\nname = 'Scharf'\n")
    (folder / "tabiya.toml").write_text("engine = 'Mein Motor.exe'\nname = 'Still'\n")
    for client, name in ((start(exe=folder / "Scharf.exe"), "Scharf"), (start(), "Still")):
        assert f"id name {name}" in [line.rstrip("\r") for line in client.start()]


def test_init_finds_the_engine_beside_it(tabiya, folder):
    (folder / "Mein Motor.exe").rename(folder / "stockfish.exe")
    Book().line("d2d4 d7d5").write(folder / "eigenes.bin")
    done = tabiya("init", "--yes")
    assert done.returncode == DONE, done.out + done.err
    text = (folder / "tabiya.toml").read_text(encoding="utf-8")
    assert "stockfish.exe" in text and "eigenes.bin" in text and "All is well." in done.out


def test_init_of_a_renamed_copy_writes_its_own_configuration(folder):
    (folder / "Mein Motor.exe").rename(folder / "stockfish.exe")
    Book().line("d2d4 d7d5").write(folder / "eigenes.bin")
    shutil.copy(EXE, folder / "Solid.exe")
    command = [WINE, str(folder / "Solid.exe"), "init", "--yes"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG, check=False)
    assert done.returncode == DONE, done.stdout + done.stderr
    assert (folder / "Solid.toml").exists() and not (folder / "tabiya.toml").exists()


@pytest.fixture
def searching(start, folder):
    """Starts tabiya with an engine that searches, and returns both: a client and the name of the engine's program."""

    def search(how):
        name = f"motor-{how}-{os.getpid()}.exe"
        put_program(ENGINE, folder / name)
        client = start("--engine", name)
        client.start()
        client.send("position startpos moves a2a3 a7a6", "go infinite")
        eventually("the engine runs", lambda: running(name))
        return client, name

    return search


@pytest.mark.parametrize("how", ["kill", "terminate", "input", "quit"])
def test_no_engine_is_left(searching, how):
    client, name = searching(how)
    if how == "kill":
        client.process.kill()
    elif how == "terminate":
        subprocess.run([WINE, "taskkill", "/F", "/IM", "tabiya.exe"], capture_output=True, check=True, timeout=HANG)
    elif how == "input":
        client.process.stdin.close()
    else:
        client.send("quit")
    client.process.wait(HANG)
    eventually("the engine has ended", lambda: not running(name))


def test_the_end_of_the_engine_ends_tabiya(searching):
    client, name = searching("end")
    subprocess.run([WINE, "taskkill", "/F", "/IM", name], capture_output=True, check=True, timeout=HANG)
    client.rest()
    assert client.wait() == ENGINE_ERROR
    assert not running(name)


def test_two_adapters_learn_at_once(folder):
    """Each plays Black in games that end with mate by a move of the book."""
    book = Book().line("f2f3 e7e5 g2g4 d8h4").write(folder / "lernt.bin")
    command = [WINE, str(folder / "tabiya.exe"), "--engine", str(SCRIPTED), "--engine-arg=--legal", "--book", "lernt.bin"]
    command += ["--set", "Book Learn=true"]
    engines = [chess.engine.SimpleEngine.popen_uci(command, cwd=folder, timeout=HANG) for _ in range(2)]
    for number in range(5):
        for engine in engines:
            board = chess.Board()
            for white in ("f2f3", "g2g4"):
                board.push_uci(white)
                board.push(engine.play(board, chess.engine.Limit(time=0.01), game=number).move)
            assert board.is_checkmate()
    for engine in engines:
        engine.quit()
    with chess.polyglot.open_reader(book) as reader:
        learned = {entry.move.uci(): entry.learn >> 16 for entry in reader}
    assert learned == {"f2f3": 0, "e7e5": 10, "g2g4": 0, "d8h4": 10}


def test_commands_that_learn_at_once_lose_nothing(tabiya, folder, tmp_path):
    (folder / "alle.pgn").write_text(games(200, 7), encoding="utf-8")
    assert tabiya("build", "-o", "lernt.bin", "alle.pgn").returncode == DONE
    one_by_one = shutil.copy(folder / "lernt.bin", tmp_path / "one by one.bin")
    for number in range(3):
        (folder / f"{number}.pgn").write_text(games(150, number), encoding="utf-8")
    learn = ["--both"]
    learning = [
        subprocess.Popen(
            [WINE, str(folder / "tabiya.exe"), "learn", "games", "lernt.bin", *learn, f"{number}.pgn"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(3)
    ]
    for process in learning:
        out, err = process.communicate(timeout=HANG)
        assert process.returncode == DONE, (out, err)
    for number in range(3):
        subprocess.run([LINUX, "learn", "games", one_by_one, *learn, folder / f"{number}.pgn"], check=True, capture_output=True)
    assert Path(one_by_one).read_bytes() == (folder / "lernt.bin").read_bytes()
