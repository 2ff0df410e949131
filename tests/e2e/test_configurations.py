"""What doctor, the log, `show` and play say of a configuration: they agree.

A table of configurations: right ones, of which all say nothing; settings without effect, which all but the GUI name; wrong ones,
which every program names.
"""

import json
import re

import pytest

from polyglot_writer import Book

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3

LOSS = "has no effect: there are no evaluations beside the book (BOOK.evals), and Book Guard is 0"
GUARD = "has no effect: Book Max Loss is 0, which allows every loss"
VARIETY = "Book Fresh has no effect: Book Variety is 0: the best move is always played"

RULE = "[[book]]\nfile = 'b.bin'\n"


def of_options(*lines):
    return "book = 'b.bin'\n[set]\n" + "".join(f"{line}\n" for line in lines)


RIGHT = [
    "",
    "book = 'b.bin'\n",
    "book = ['b.bin']\nbook-white = 'b.bin'\n",
    "book = 'b.bin'\nlog-level = 'debug'\nseed = 7\nname = 'n'\n",
    of_options("'Book Max Loss' = 50", "'Book Guard' = 100"),
    of_options("'Book Fresh' = true"),
    of_options("'Book Fresh' = true", "'Book Fresh File' = 'x.lines'"),
    of_options("'Book Fresh' = true", "'Book Variety' = 100"),
    of_options("'Book Variety' = 0"),
    of_options("'Book Depth' = 3", "'Book Reserve' = 1"),
    of_options("'Book Tournament' = false"),
    of_options("'Book Factor' = false"),
    of_options("'Book Learn' = true", "'Book Learn Margin' = 300"),
    of_options("'Book Guard' = 0", "'Book Max Loss' = 0"),
    of_options("OwnBook = true"),
    "book = 'evaluated.bin'\n[set]\n'Book Max Loss' = 50\n",
    "book = ['b.bin', 'evaluated.bin']\n[set]\n'Book Max Loss' = 50\n",
    RULE + "variety = 0\n" + RULE + "color = 'black'\n",
    RULE + "max-loss = 40\nguard = 100\n",
    "[[book]]\nfile = 'evaluated.bin'\nmax-loss = 40\n",
    RULE + "guard = 100\n[set]\n'Book Max Loss' = 50\n",
    RULE + "variety = 50\n" + RULE + "[set]\n'Book Fresh' = true\n'Book Variety' = 0\n",
    RULE + "min-clock = 30\nmax-uses = 3\n",
]

USELESS = [
    (of_options("OwnBook = false"), ["OwnBook is false: the engine plays every move"]),
    (of_options("OwnBook = false", "'Book Guard' = 9"), ["OwnBook is false: the engine plays every move"]),
    (of_options("'Book Max Loss' = 50"), [f"Book Max Loss {LOSS}"]),
    (of_options("'Book Guard' = 50"), [f"Book Guard {GUARD}"]),
    ("book = 'evaluated.bin'\n[set]\n'Book Guard' = 50\n", [f"Book Guard {GUARD}"]),
    (of_options("'Book Fresh' = true", "'Book Variety' = 0"), [VARIETY]),
    (of_options("'Book Fresh File' = 'x.lines'"), ["Book Fresh File has no effect: Book Fresh is false"]),
    (
        of_options("'Book Fresh File' = 'x.lines'", "'Book Guard' = 50"),
        [f"Book Guard {GUARD}", "Book Fresh File has no effect: Book Fresh is false"],
    ),
    (of_options("'Book Factor' = false", "'Book Tournament' = false"), ["Book Factor has no effect: Book Tournament is false"]),
    (of_options("'Book Learn Margin' = 9"), ["Book Learn Margin has no effect: Book Learn is false"]),
    (RULE + "guard = 9\n", [f"rule 1 (b.bin): guard {GUARD}"]),
    (RULE + RULE + "max-loss = 9\n", [f"rule 2 (b.bin): max-loss {LOSS}"]),
    (RULE + "max-loss = 9\n[[book]]\nfile = 'evaluated.bin'\nmax-loss = 9\n", [f"rule 1 (b.bin): max-loss {LOSS}"]),
    (RULE + "[set]\n'Book Max Loss' = 9\n", [f"Book Max Loss {LOSS}"]),
    (RULE + "variety = 0\n[set]\n'Book Fresh' = true\n", [VARIETY]),
    (RULE + "depth = 3\n[set]\n'Book Depth' = 9\n", ["Book Depth has no effect: each [[book]] table has its own"]),
    (RULE + "tournament = false\nmax-loss = 0\n[set]\n'Book Max Loss' = 9\n", ["Book Max Loss has no effect: each [[book]] table has its own"]),
]

# The exit code of the adapter and of doctor, and what they say; `show` says it too unless it only concerns the engine.
WRONG = [
    ("engine: sf\n", FILE, "line 1: key with no value, expected `=`: write engine = 'sf'"),
    ("book = ['b.bin'\n", FILE, "write book = ['b.bin']"),
    ("book = 'a.bin', 'b.bin'\n", FILE, "write book = ['a.bin', 'b.bin']"),
    ("book = 'a.bin';'b.bin'\n", FILE, "write book = ['a.bin', 'b.bin']"),
    ("// mine\n", FILE, "begin remarks with #"),
    ("book = 'b.bin' // mine\n", FILE, "write book = 'b.bin'"),
    ("[engine]\npath = 'sf'\n", FILE, "write engine = 'sf' before the first table, in place of [engine]"),
    ("[tabiya]\nbook = 'b.bin'\n", FILE, "remove the line [tabiya]: 'book' belongs before the first table"),
    ("[book]\nfile = 'b.bin'\n", FILE, "write [[book]] before the keys of each book"),
    ("book = 'a.bin;b.bin'\n", FILE, "for several books write book = ['a.bin', 'b.bin'] in tabiya.toml"),
    ("book = 'none.bin'\n", FILE, "none.bin: no such book; looked for it at"),
    ("book = 'b.bin'\nvariety = 3\n", FILE, "write \"Book Variety\" below a line [set], or 'variety' in a [[book]] table"),
    (RULE + "varieti = 3\n", FILE, "write 'variety'"),
    (RULE + "seed = 3\n", FILE, "write 'seed' before the first table"),
    ("[set]\nbook = 'b.bin'\n", FILE, "write 'book' before the first table"),
    ("[set]\n'Book Varity' = 3\n", FILE, 'write "Book Variety"'),
    ("[set]\n'Book File' = ''\n", FILE, "name a book, or <none> for no book"),
    ("[variant.xiangqi]\nbook = 'b.bin'\n", FILE, "unknown variant: write one of"),
    ("motor = 1\nbook = 'b.bin'\n", WANTING, "unknown key 'motor'"),
    (of_options("'Book Variety' = 101"), WANTING, "'101' is not a number from 0 to 100"),
]

# What only the adapter can find.
OF_PLAY = [
    (of_options("'Book Fresh' = true", "'Book Fresh File' = 'no-such-folder/x.lines'"), FILE, "cannot share the played lines"),
    (of_options("variety = 30"), WANTING, "has an option of this name: write 'Book Variety'"),
    (of_options("'Max Loss' = 30"), WANTING, "has an option of this name: write 'Book Max Loss'"),
]


@pytest.fixture
def folder(tmp_path):
    book = Book()
    book.at("", e2e4=3, d2d4=2, g1f3=1)
    book.at("e2e4", e7e5=2, c7c5=1)
    for name in ("b.bin", "evaluated.bin"):
        book.write(tmp_path / name)
    # An empty store.
    (tmp_path / "evaluated.bin.evals").write_bytes(b"")
    return tmp_path


@pytest.fixture
def told(tabiya, run, tabiya_exe, engine, folder):
    """What each says of a configuration: doctor, the log, `show` and the GUI, and the exit codes of doctor and `show`."""

    def call(text):
        config = folder / "tabiya.toml"
        if not re.search("^(engine|.engine)", text):
            text = f"engine = '{engine.program}'\nengine-arg = ['--legal']\n{text}"
        config.write_text(text)
        done = tabiya("doctor", "--config", config, "--json", "--movetime", "5", "--engine-moves", "1")
        doctor = [problem["text"] for problem in json.loads(done.stdout)["problems"]] if done.stdout else []
        doctor += [line.removeprefix("tabiya: ") for line in done.stderr.decode().splitlines()]
        shown = tabiya("show", "--config", config, "--json")
        show = [line.removeprefix("tabiya: ") for line in shown.stderr.decode().splitlines()]
        client = run(tabiya_exe, "--config", config, "--log", folder / "log")
        client.send("uci", "isready", "position startpos moves a2a3", "go movetime 5", "quit")
        play = [line.removeprefix("info string tabiya: ") for line in client.rest() if "string tabiya: " in line]
        # Each process must find the same file: no complaint.
        play = [line for line in play if not line.startswith("Book Fresh File is ")]
        client.wait()
        logged = re.findall(r"(?m)^\S+ \d+ \[(?:WARN|ERROR)\] (.*)$", log_text(folder / "log"))
        return doctor, logged, show, play, (done.returncode, shown.returncode)

    return call


def log_text(path):
    return path.read_text() if path.exists() else ""


def test_the_table_has_sixty_rows():
    assert len(RIGHT) + len(USELESS) + len(WRONG) + len(OF_PLAY) >= 60


@pytest.mark.parametrize("text", RIGHT)
def test_of_what_is_right_nothing_is_said(told, text):
    doctor, logged, show, play, codes = told(text)
    assert (doctor, logged, show, play) == ([], [], [], []) and codes == (DONE, DONE)


@pytest.mark.parametrize("text, says", USELESS)
def test_what_has_no_effect_is_said_alike_and_the_game_goes_on(told, text, says):
    doctor, logged, show, play, codes = told(text)
    assert (doctor, logged, show) == (says, says, says) and play == []
    assert codes == (WANTING, DONE)


@pytest.mark.parametrize("text, code, says", WRONG)
def test_what_is_wrong_is_said_by_all(told, text, code, says):
    doctor, _, show, play, codes = told(text)
    for said in (doctor, show, play):
        assert sum(says in line for line in said) == 1, (doctor, show, play)
    assert codes[0] == code and (codes[1] == code or code == WANTING), codes


@pytest.mark.parametrize("text, code, says", OF_PLAY)
def test_what_fails_in_play_is_said_by_doctor(told, text, code, says):
    doctor, logged, _, play, codes = told(text)
    for said in (doctor, logged, play):
        assert sum(says in line for line in said) == 1, (doctor, logged, play)
    assert codes[0] == code, codes


def test_a_configuration_with_another_ending_is_told(tabiya, engine, folder):
    (folder / "tabiya.toml.txt").write_text("book = 'b.bin'\n")
    done = tabiya("doctor", *engine.argv("--legal"), "--movetime", "5", "--engine-moves", "1")
    says = b"tabiya.toml.txt: this is not read: rename it to tabiya.toml, without the .txt"
    assert says in done.stdout and done.returncode == WANTING, done
    assert says in tabiya("show").stderr
    (folder / "tabiya.toml").write_text("book = 'b.bin'\n")
    assert b"not read" not in tabiya("show").stderr
