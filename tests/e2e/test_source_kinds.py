"""What is at a path: each command that reads files says the same of a file that it does not read, and what to do."""

import gzip
import io
import shutil
import subprocess
import zipfile

import cbh_writer
import scid_writer
import chess.pgn
import pytest

DONE, WANTING, FILE = 0, 1, 3

GAME = '[Event "x"]\n[White "a, a"]\n[Black "b, b"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n'
EPD = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce -20; acd 20;\n"

BOOKS = {"info", "check", "export", "show", "convert"}
GAMES = {"learn", "report"}
ALL = BOOKS | GAMES | {"build", "suite", "merge", "import"}
# What is read for these is what another command reads.
ALIKE = {"gaps": "suite"}

COMMANDS = {
    "info": ["info", "SOURCE"],
    "check": ["check", "SOURCE"],
    "export": ["export", "SOURCE"],
    "show": ["show", "SOURCE"],
    "convert": ["convert", "SOURCE", "-o", "out.bin", "--force"],
    "learn": ["learn", "games", "learns.bin", "SOURCE", "--both"],
    "report": ["report", "SOURCE", "--book", "learns.bin"],
    "build": ["build", "SOURCE", "-o", "out.bin", "--force", "--min-games", "1"],
    "suite": ["suite", "SOURCE", "-o", "out.epd", "--force", "--ply", "2"],
    "gaps": ["gaps", "uniform.bin", "--against", "SOURCE", "--side", "black"],
    "merge": ["merge", "SOURCE", "-o", "out.parquet", "--force"],
    "import": ["import", "out.evals", "SOURCE"],
}

# What is said of each file, and the commands that read it.
KINDS = {
    "book.bin": ("a Polyglot book", BOOKS | {"suite"}),
    "book.ctg": ("a CTG book", BOOKS | {"suite"}),
    "book.abk": ("an Arena book", BOOKS | {"suite"}),
    "book.kob": ("a Kvetka book", BOOKS | {"suite"}),
    "book.pgn": ("a Polyglot book", BOOKS | {"suite"}),
    "counts.parquet": ("Parquet file", BOOKS | {"suite", "build", "merge"}),
    "counts": ("a folder of count files", ALL - GAMES),
    "base.cbh": ("a ChessBase database", GAMES | {"info", "check", "export", "build", "suite", "import"}),
    "packed.cbv": ("a ChessBase database", GAMES | {"info", "check", "export", "build", "suite", "import"}),
    "base.si4": ("a database of Scid", GAMES | {"info", "check", "export", "build", "suite", "import"}),
    "other.sg5": ("a database of Scid", GAMES | {"info", "check", "export", "build", "suite", "import"}),
    "book.evals": ("a store of evaluations", {"info", "export", "import"}),
    "games.pgn": ("text", GAMES | {"build", "suite", "import"}),
    "games.bin": ("text", GAMES | {"build", "suite", "import"}),
    "games.pgn.gz": (("a gzip archive", "text"), GAMES | {"build", "suite", "import"}),
    "games.zip": ("a zip archive", GAMES | {"build", "suite", "import"}),
    "folder": ("a folder", GAMES | {"build", "suite", "import"}),
    "a.7z": ("a 7z archive: unpack it first", set()),
    "archive": ("a rar archive: unpack it first", set()),
    "program": ("a program", set()),
    "a.si3": ("a database of an old Scid, which is not supported: open it in Scid", set()),
    "a.2cbh": ("the newer format of ChessBase 17 and later, which is not supported: save it as a CBH database", set()),
    "old.fbk": ("an old opening book of Fritz, which is not supported: export its lines as PGN", set()),
    "missing": ("cannot open the file", set()),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory, tabiya_exe):
    """A file of each kind."""
    folder = tmp_path_factory.mktemp("kinds")

    def run(*args):
        subprocess.run([tabiya_exe, *args], check=True, capture_output=True, cwd=folder)

    (folder / "games.pgn").write_text(GAME * 5)
    (folder / "games.bin").write_text(GAME * 5)
    (folder / "games.pgn.gz").write_bytes(gzip.compress(GAME.encode()))
    with zipfile.ZipFile(folder / "games.zip", "w") as archive:
        archive.writestr("a.pgn", GAME)
    (folder / "folder").mkdir()
    (folder / "folder" / "a.pgn").write_text(GAME)
    for name in ("book.bin", "book.ctg", "book.abk", "book.kob", "learns.bin"):
        run("build", "games.pgn", "-o", name, "--min-games", "1")
    # Black only lost.
    run("build", "games.pgn", "-o", "uniform.bin", "--min-games", "1", "--uniform")
    (folder / "book_0.kob").rename(folder / "book.kob")
    shutil.copy(folder / "book.bin", folder / "book.pgn")
    run("build", "games.pgn", "-o", "counts.parquet")
    (folder / "counts").mkdir()
    shutil.copy(folder / "counts.parquet", folder / "counts" / "a.parquet")
    (folder / "evals.epd").write_text(EPD)
    run("import", "book.evals", "evals.epd")
    games = [(0, chess.pgn.read_game(io.StringIO(GAME)))]
    cbh_writer.write(folder / "base.cbh", games)
    cbh_writer.write(folder / "moved.cbh", games)
    cbh_writer.pack(folder / "moved.cbh").rename(folder / "packed.cbv")
    for name in ("base.si4", "other.si5"):
        scid_writer.write(folder / name, [game for _, game in games])
    (folder / "a.7z").write_bytes(b"7z\xbc\xaf\x27\x1c\0\4" + bytes(40))
    (folder / "archive").write_bytes(b"Rar!\x1a\x07\0" + bytes(40))
    (folder / "program").write_bytes(b"\x7fELF\2\1\1" + bytes(60))
    for name in ("a.si3", "a.2cbh", "old.fbk"):
        (folder / name).write_bytes(bytes(64))
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_not_read_is_named_alike_by_every_command(command, files, tmp_path, tabiya):
    folder = tmp_path / "kinds"
    shutil.copytree(files, folder)
    for name, (what, read_by) in KINDS.items():
        args = [name if arg == "SOURCE" else arg for arg in COMMANDS[command]]
        done = tabiya(*args, cwd=folder)
        text = (done.stdout + done.stderr).decode(errors="replace")
        if ALIKE.get(command, command) in read_by:
            assert done.returncode in (DONE, WANTING), (name, text)
            assert "this is " not in done.stderr.decode(), (name, text)
        else:
            assert done.returncode == FILE, (name, text)
            phrases = (what,) if isinstance(what, str) else what
            assert any(phrase in text for phrase in phrases), (name, text)


def test_a_table_that_is_none_is_named_alike(tabiya, tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"<html>\0")
    for command in ("info", "check", "export", "show", "convert", "build", "suite", "merge", "import"):
        args = ["a.parquet" if arg == "SOURCE" else arg for arg in COMMANDS[command]]
        done = tabiya(*args, cwd=tmp_path)
        assert done.returncode == FILE
        assert b"a.parquet: this is not a Parquet file: write or download it again" in done.stderr, command
