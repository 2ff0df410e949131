"""The commands that the README and the guide show do what they are shown for."""

import glob
import html
import io
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import urllib.request
from pathlib import Path

import chess
import chess.pgn
import pytest

import cbh_writer
import scid_writer
from client import HANG
from promises import Promise

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
FEN = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
# Anderssen against Kieseritzky, London 1851: longer than any --max-ply.
LONG = """1. e4 e5 2. f4 exf4 3. Bc4 Qh4+ 4. Kf1 b5 5. Bxb5 Nf6 6. Nf3 Qh6 7. d3 Nh5 8. Nh4 Qg5 9. Nf5 c6 10. g4 Nf6 11. Rg1 cxb5
12. h4 Qg6 13. h5 Qg5 14. Qf3 Ng8 15. Bxf4 Qf6 16. Nc3 Bc5 17. Nd5 Qxb2 18. Bd6 Bxg1 19. e5 Qxa1+ 20. Ke2 Na6 21. Nxg7+ Kd8
22. Qf6+ Nxf6 23. Be7#"""
LINES = ("1. e4 c5 2. Nf3 d6", "1. e4 e5 2. Nf3 Nc6", "1. d4 d5 2. c4 e6", LONG)
DATABASE_FILES = ("DB", "database")


def shown():
    """Each command in a code block, once."""
    commands = []
    for page in PAGES:
        for block in re.findall(r"^ *```\w*\n(.*?)^ *```", page.read_text(), re.DOTALL | re.MULTILINE):
            for line in block.replace("\\\n", " ").splitlines():
                line = line.strip().removeprefix("$ ")
                words = shlex.split(line, comments=True) if line.startswith("tabiya ") else []
                commands += [tuple(words[1:])] if words else []
    return list(dict.fromkeys(commands))


def games(count, event):
    text = ""
    for number in range(count):
        white, black = ("tabiya", "Carlsen, Magnus") if number % 2 else ("Carlsen, Magnus", "tabiya")
        line = LINES[number % len(LINES)]
        text += f'[Event "{event}"]\n[Round "{number}"]\n[White "{white}"]\n[Black "{black}"]\n[Result "1/2-1/2"]\n'
        text += f'[WhiteElo "2500"]\n[BlackElo "2400"]\n[TimeControl "300+{number}"]\n\n{line} 1/2-1/2\n\n'
    return text.encode()


def zstandard(content):
    """One frame of one raw block."""
    return b"\x28\xb5\x2f\xfd\xa0" + len(content).to_bytes(4, "little") + (len(content) << 3 | 1).to_bytes(3, "little") + content


@pytest.fixture(scope="module")
def files(tmp_path_factory, tabiya_exe, scripted_exe):
    """A folder with every file that the commands read, and an engine that answers at once."""
    folder = tmp_path_factory.mktemp("files")

    def tabiya(*args):
        subprocess.run([tabiya_exe, *args], cwd=folder, check=True, capture_output=True, stdin=subprocess.DEVNULL)

    for name in ("games.pgn", "my.pgn"):
        (folder / name).write_bytes(games(60, "book"))
    (folder / "lichess").mkdir()
    (folder / "lichess" / "2024-01.pgn.zst").write_bytes(zstandard(games(60, "January")))
    (folder / "match.pgn").write_bytes(games(30, "match"))
    (folder / "earlier.pgn").write_bytes(games(30, "earlier"))
    for name in ("games.pgn.zst", "lichess_db.pgn.zst", "games-01.pgn.zst"):
        (folder / name).write_bytes(zstandard(games(60, name)))
    for name in ("more", "shards"):
        (folder / name).mkdir()
    (folder / "more" / "games.pgn").write_bytes(games(9, "more"))
    (folder / "study.pgn").write_text('[Event "Study"]\n\n1. e4! (1. d4 d5 2. c4) 1... c5 (1... e5 2. Nf3) 2. Nf3 d6 3. Ng5? *\n')
    (folder / "openings.eco").write_text('B20 "Sicilian Defence" 1.e4 c5 *\n')
    (folder / "atomic.pgn").write_text('[Event "Atomic"]\n[Variant "Atomic"]\n[Result "1/2-1/2"]\n\n1. Nf3 f6 2. e3 d5 1/2-1/2\n\n' * 3)
    (folder / "positions.txt").write_text(f"# after 1. e4\n\n{FEN}\n")
    arguments = ["--legal", "--option", "option name UCI_ShowWDL type check default false", "--score", "cp 20 wdl 300 600 100"]
    (folder / "tabiya.toml").write_text(f"engine = '{scripted_exe}'\nengine-arg = {arguments}\nbook = ['book.bin']\n")
    tabiya("build", "games.pgn", "-o", "book.bin")
    tabiya("learn", "games", "book.bin", "earlier.pgn", "--both")
    tabiya("edit", "book.bin", "--moves", "e4 c5", "--add", "c3=5", "--add", "d4=5", "--add", "b3=1")
    tabiya("build", "atomic.pgn", "--variant", "atomic", "-o", "atomic.bin")
    for name in ("a.bin", "b.bin", "big.bin", "old.bin", "new.bin"):
        shutil.copy(folder / "book.bin", folder / name)
    tabiya("build", "games.pgn", "-o", "main.bin")
    tabiya("build", "study.pgn", "-o", "white.bin", "--repertoire", "white")
    with open(folder / "white.pgn", "wb") as text:
        subprocess.run([tabiya_exe, "export", "white.bin", "--format", "pgn"], cwd=folder, check=True, stdout=text)
    tabiya("build", "white.pgn", "-o", "again.bin", "--variations", "--uniform", "--min-games", "1")
    for name in ("book.ctg", "b.abk"):
        tabiya("convert", "book.bin", "-o", name)
    tabiya("build", "games.pgn", "-o", "mine.kob", "--eco", "openings.eco")
    for name in ("shards/01.parquet", "shards/02.parquet", "all.parquet"):
        tabiya("build", "-o", name, "games.pgn")
    evaluated = '{"fen":"%s","evals":[{"pvs":[{"cp":31,"line":"%s"}],"knodes":9,"depth":30}]}\n'
    lines = evaluated % (" ".join(FEN.split()[:4]), "c7c5 g1f3") + evaluated % (chess.Board().epd(), "e2e4")
    (folder / "lichess_db_eval.jsonl.zst").write_bytes(zstandard(lines.encode()))
    (folder / "analysis.epd").write_text(f"{chess.Board().epd()} ce 20; acd 18; pm e4;\n")
    (folder / "analysed.pgn").write_text('[Event "Analysed"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval 0.25] } *\n')
    tabiya("import", "book.bin.evals", "lichess_db_eval.jsonl.zst")
    shutil.copy(folder / "games.pgn", folder / "rival.pgn")
    for name in ("my.bin", "rival.bin"):
        shutil.copy(folder / "book.bin", folder / name)
    line = ("grow", "my.bin", "-o", "grown.bin", "--nodes", "100000", "--positions", "40")
    tabiya(*line, "--against", "rival.bin")
    tabiya(*line, "--against", "rival.bin", "--plan", "plan.jsonl")
    for number in (1, 2, 3):
        tabiya(*line, "--plan", "plan.jsonl", "--share", f"{number}/3", "--store", f"part{number}.evals")
    tabiya("build", "--by", "speed,rating", "-o", "by.parquet", "games.pgn")
    (folder / "counts").mkdir()
    (folder / "counts" / "_SUCCESS").write_bytes(b"")
    tabiya("build", "-o", "counts/part-00000.parquet", "games.pgn")
    # An experience file of one record: 1. d4 from the start.
    record = bytes.fromhex("2d43435ad10cd3b4") + struct.pack("<4I", 0x2DB, 143, 7, 3)
    (folder / "SugaR.exp").write_bytes(b"SugaR Experience version 2" + record)
    samples = os.environ.get("TABIYA_SAMPLES")
    if samples:
        shutil.copy(Path(samples, "cbv", "twic1134.cbv"), folder / "DB.cbv")
    for path in Path(samples, "cbh", "linares").glob("linares.*") if samples else ():
        for name in DATABASE_FILES:
            shutil.copy(path, folder / f"{name}{path.suffix}")
    return folder


def serves(tabiya_exe, words, folder):
    """A server is started, and ended once it has said where it is and what it shows."""
    # Tests may run at the same time: the port is the system's choice.
    words = [word if word != "127.0.0.1:8421" else "127.0.0.1:0" for word in words]
    line = [str(tabiya_exe), *words, *([] if "--no-open" in words else ["--no-open"])]
    if "--token-file" not in words:
        line += ["--token-file", "token"]
    with subprocess.Popen(line, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
        try:
            address = server.stdout.readline().decode().strip()
            assert address.startswith("http://127.0.0.1:"), address
            token = (folder / line[line.index("--token-file") + 1]).read_text().strip()
            with urllib.request.urlopen(f"{address.split('?')[0]}api/books?token={token}", timeout=HANG) as answer:
                shown = json.loads(answer.read())
            named = [word for word in words[1:] if word.endswith((".bin", ".ctg", ".parquet"))] or ["book.bin"]
            assert [Path(book["path"] or "").name for book in shown["books"]][: len(named)] == named
            assert all(book["edit"] for book in shown["books"]) or "--edit" not in words
            assert "stockfish" in (shown["engine"] or "") or "--engine" not in words
            assert shown["games"] == ("--games" in words)
            if "--open-api" in words:
                with urllib.request.urlopen(f"{address.split('?')[0]}lichess", timeout=HANG) as answer:
                    assert json.loads(answer.read())["moves"]
        finally:
            server.terminate()


@pytest.mark.parametrize("command", shown(), ids=" ".join)
def test_the_command_does_what_it_is_shown_for(tabiya, tabiya_exe, files, sample, tmp_path, command):
    folder = tmp_path / "work"
    shutil.copytree(files, folder)
    # Where its output goes is the shell's part.
    command = command[: command.index(">")] if ">" in command else command
    if any(word in (f"{name}.cbh" for name in DATABASE_FILES) for word in command) and not (folder / "DB.cbh").exists():
        sample("cbh/linares")
    if "DB.cbv" in command and not (folder / "DB.cbv").exists():
        sample("cbv/twic1134.cbv")
    words = []
    for word in command:
        words += sorted(glob.glob(word, root_dir=folder)) if "*" in word else [FEN if word == "FEN" else word]
    if "--force" not in command and ("-o" in command or "init" in command):
        # What one command writes another one reads: it is there already.
        words.append("--force")
    if words[0] == "grow" and "--positions" not in words:
        # Not hours.
        words += ["--positions", "60"]
    if words == ["init", "--force"]:
        # Nobody is there to answer its questions.
        words.append("--yes")
    # The players of match.pgn.
    words = [{"A=a.bin": "tabiya=a.bin", "B=b.bin": "Carlsen, Magnus=b.bin"}.get(word, word) for word in words]
    if words[0] == "explore":
        serves(tabiya_exe, words, folder)
        return
    done = tabiya(*words, cwd=folder)
    text = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0, text
    Promise(tabiya, folder, words, done).check()


@pytest.mark.parametrize("name", ["show", "tree", "gaps"])
def test_a_picture_of_a_terminal_has_the_words_that_the_program_prints(tabiya, tmp_path, gnu_book, name):
    shutil.copy(ROOT / "books" / "starter.bin", tmp_path / "starter.bin")
    shutil.copy(gnu_book, tmp_path / "book.bin")
    lines = {}
    for top, text in re.findall(r'<text x="[\d.]+" y="(\d+)"[^>]*>(.*?)</text>', (ROOT / f"docs/guide/pictures/{name}.svg").read_text()):
        # Chess pieces are told not to be coloured pictures.
        lines.setdefault(int(top), []).append(html.unescape(text).replace("\ufe0e", ""))
    command, *shown = [" ".join(words).split() for _, words in sorted(lines.items())]
    assert command[:2] == ["$", "tabiya"] and len(shown) > 5
    done = tabiya(*shlex.split(" ".join(command[2:])), cwd=tmp_path, env={**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8"})
    printed = [line.split() for line in done.stdout.decode().splitlines() if line.strip()]
    # A board is drawn where there is a terminal.
    boards = [line for line in shown if line not in printed]
    assert done.returncode == 0 and len(boards) == (9 if name == "show" else 0), boards
    words = [line for line in shown if line not in boards]
    # The end of a long output is cut off.
    assert words == printed[: len(words)]


def test_the_guide_shows_commands():
    assert len(shown()) >= 35


# A command, and what it prints.
CONSOLE = re.compile(r"^```console\n\$ (tabiya .*)\n((?:.*\n)*?)```", re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if CONSOLE.search(page.read_text())], ids=lambda page: page.stem)
def test_commands_print_what_the_page_shows(tabiya, files, tmp_path, page):
    """With TABIYA_WRITE_GUIDE set, the page gets what they print now."""
    text = page.read_text()

    def printed(found):
        folder = tmp_path / str(found.start())
        shutil.copytree(files, folder)
        line, comment, note = found[1].partition("  #")
        done = tabiya(*shlex.split(line)[1:], cwd=folder)
        return f"```console\n$ {line}{comment}{note}\n{done.stdout.decode()}{done.stderr.decode()}```"

    now = CONSOLE.sub(printed, text)
    if os.environ.get("TABIYA_WRITE_GUIDE"):
        page.write_text(now)
    assert now == text


# The sections on JSON, each with commands that together print every key, and the section whose keys it has too.
JSON_SECTIONS = {
    "`show --json`": [
        "show book.bin --json",
        "show mine.kob --json --moves 'e4 c5' --set 'Book Weights=games'",
        "show mine.kob --list-games --json",
        "show --config rules.toml --json",
        "show --config rules.toml --opponent 'none none computer X' --json",
    ],
    "`export`": ["export book.bin --format json --reachable", "export mine.kob --format json", "export mine.kob --format json --tree -o FILE"],
    "`diff --json`": ["diff book.bin white.bin --json", "diff book.bin lighter.bin --json"],
    "`check --json`": ["check cut.bin --json"],
    "`info --json`": ["info book.bin --json", "info all.parquet --json", "info made.cbh --json", "info made.si4 --json", "info book.bin.evals --json"],
    "`vet --report`": ["vet book.bin -o vetted.bin --no-engine --report FILE"],
    "`grow --report`": ["grow my.bin -o grown.bin --force --nodes 100000 --positions 60 --report FILE"],
    "`gaps --json`": ["gaps white.bin --against games.pgn --rare --json"],
    "`learn show --json`": ["learn show book.bin --json", "learn show book.bin --against earlier.pgn --json"],
    "`suite --report`": ["suite book.bin -o suite.epd --ply 2 --report FILE"],
    "`report --json`": ["report match.pgn --book book.bin --json"],
}
# Of books that ChessBase wrote: tabiya computes no ratings and no factors.
NOT_OURS = {"ratings", "factor"}
# The keys of these are not names but what is counted.
COUNTED = {"plies", "evaluations", "draw_rates", "wrong_by"}


def keys_of(value, found, counted):
    """The names of all keys, inner ones too."""
    for inner in value if isinstance(value, list) else ():
        keys_of(inner, found, counted)
    for name, inner in value.items() if isinstance(value, dict) else ():
        found.add(name)
        if name not in counted:
            keys_of(inner, found, counted)
    return found


def section(heading):
    page = (ROOT / "docs/guide/json-and-exit-codes.md").read_text()
    return page.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def rows_of(text):
    """The names in the first column of each table with keys."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


@pytest.mark.parametrize("heading", JSON_SECTIONS)
def test_the_page_has_each_key_of_the_json_and_no_other(tabiya, files, tmp_path, heading):
    folder = tmp_path / "work"
    shutil.copytree(files, folder)
    (folder / "cut.bin").write_bytes((folder / "book.bin").read_bytes()[:-7])
    (folder / "rules.toml").write_text((folder / "tabiya.toml").read_text().replace("book =", "# book =") + '[[book]]\nfile = "book.bin"\nopponent = "human"\n')
    assert tabiya("trim", "book.bin", "-o", "lighter.bin", "--max-ply", 3, cwd=folder).returncode == 0
    done = tabiya("edit", "lighter.bin", "--set", "e4=3", cwd=folder)
    assert done.returncode == 0, done.stderr
    game = chess.pgn.read_game(io.StringIO(games(1, "made").decode().replace('"tabiya"', '"Nn, N"')))
    cbh_writer.write(folder / "made.cbh", [(0, game)])
    scid_writer.write(folder / "made.si4", [game])
    found = set()
    for command in JSON_SECTIONS[heading]:
        words = ["report.json" if word == "FILE" else word for word in shlex.split(command)]
        done = tabiya(*words, cwd=folder)
        assert done.returncode in (0, 1), done.stderr
        text = (folder / "report.json").read_text() if "report.json" in words else done.stdout.decode()
        lines = [text] if "report.json" in words else text.splitlines()
        assert lines, command
        for line in lines:
            keys_of(json.loads(line), found, COUNTED | ({"openings"} if "suite" in heading else set()))
    text = section(heading)
    # What these say of a move is described there.
    more = section("`show --json`") if heading in ("`export`", "`diff --json`") else ""
    described = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", text + more))))
    assert found <= described, f"the page does not describe {found - described}"
    missing = rows_of(text.split("is a table")[0]) - found - NOT_OURS
    assert not missing, f"no command prints {missing}"


def test_the_page_has_each_column_of_a_dump(tabiya, files):
    done = tabiya("export", "book.bin", cwd=files)
    columns = done.stdout.decode().splitlines()[0].split("\t")
    table = section("`export`").split("is a table")[1]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == columns
