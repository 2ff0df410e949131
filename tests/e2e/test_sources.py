"""What games are read of: packed files, archives, folders and texts in other notations; and what is said of them."""

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import struct
import zipfile
import zlib
from pathlib import Path

import chess.pgn
import pytest

if os.name == "posix":
    import resource

import cbh_writer
from client import times
from conftest import linux_only
from random_games import read_book

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3

START, E4 = 0x463B961816 << 24 | 0x91FC9C, 796
GAME = '[Event "x"]\n[White "me_user"]\n[Black "other"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n'


def told(done, code, *words):
    text = (done.stdout + done.stderr).decode()
    assert done.returncode == code, text
    for word in words:
        assert word in text, text
    return text


@pytest.fixture
def build(tabiya, tmp_path):
    """Builds a book of every move, and gives what was said."""

    def call(*args, code=DONE, words=()):
        done = tabiya("build", *args, "-o", "book.bin", "--force", "--min-games", "1")
        return told(done, code, *words)

    return call


def weight(tmp_path):
    return read_book(tmp_path / "book.bin")[START][E4]


def zipped(path, files, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_packed_texts_give_the_book_of_the_text(build, tmp_path):
    text = (GAME * 500).encode()
    (tmp_path / "a.pgn").write_bytes(text)
    build("a.pgn")
    whole = (tmp_path / "book.bin").read_bytes()
    packed = {
        "a.pgn.gz": gzip.compress(text),
        "a.pgn.bz2": bz2.compress(text),
        "two.pgn.bz2": bz2.compress(text[: len(GAME) * 200]) + bz2.compress(text[len(GAME) * 200 :]),
        "a.pgn.xz": lzma.compress(text),
        "nine.pgn.xz": lzma.compress(text, preset=9),
        "two.pgn.xz": lzma.compress(text[: len(GAME) * 200]) + lzma.compress(text[len(GAME) * 200 :]),
    }
    for name, content in packed.items():
        (tmp_path / name).write_bytes(content)
        assert "500 games read, 500 used" in build(name), name
        assert (tmp_path / "book.bin").read_bytes() == whole
        # A file that is cut is read as far as it goes, and a finding.
        (tmp_path / name).write_bytes(content[:-7])
        build(name, code=WANTING, words=["1 file not read to the end", name])
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        zipped(tmp_path / "a.zip", {"x/one.pgn": GAME * 200, "readme.txt": "no game", "two.PGN": GAME * 300}, method)
        assert "500 games read, 500 used" in build("a.zip")
        assert (tmp_path / "book.bin").read_bytes() == whole


def test_a_problem_in_an_archive_names_the_file_in_it(build, tmp_path):
    zipped(tmp_path / "a.zip", {"one.pgn": GAME, "two.pgn": GAME + '[Event "y"]\n\n1. e4 Ke4 *\n'})
    where = os.path.join("a.zip", "two.pgn")
    build("a.zip", words=[f'{where}: line 10: 1... "Ke4": the move is not legal (byte {len(GAME) + 19})'])


def test_what_cannot_be_unpacked_is_refused_with_what_to_do(build, tmp_path):
    zipped(tmp_path / "none.zip", {"readme.txt": "no"})
    build("none.zip", code=FILE, words=["none.zip: this archive holds no PGN files"])
    zipped(tmp_path / "bzip2.zip", {"a.pgn": GAME}, zipfile.ZIP_BZIP2)
    build("bzip2.zip", code=FILE, words=["compressed in an unsupported way: unpack it first"])
    whole = zipped(tmp_path / "cut.zip", {"a.pgn": GAME}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:-30])
    build("cut.zip", code=FILE, words=["this archive is damaged: unpack it first"])
    (tmp_path / "a.7z").write_bytes(b"7z\xbc\xaf\x27\x1c\0\4" + bytes(40))
    build("a.7z", code=FILE, words=["unpack it first"])
    # A dictionary of 1 GiB.
    header = bytearray(lzma.compress(b"1. e4 *", filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}]))
    assert header[12:16] == b"\x02\x00\x21\x01"
    header[16] = 36
    header[20:24] = struct.pack("<I", zlib.crc32(header[12:20]))
    (tmp_path / "huge.pgn.xz").write_bytes(header)
    build("huge.pgn.xz", code=WANTING, words=["takes more than 128 MiB to unpack"])


def test_a_damaged_zstandard_file_is_told_of_in_plain_words(build, tmp_path):
    head = b"\x28\xb5\x2f\xfd\x04\x58" + b"\x01\x00\x00"
    (tmp_path / "a.pgn.zst").write_bytes(head + b"\xff" * 4000)
    text = build("a.pgn.zst", code=WANTING, words=["a.pgn.zst"])
    assert "Error" not in text and "{" not in text and "::" not in text


def test_folders_read_databases_and_archives_and_name_what_they_cannot_read(build, sample, tmp_path):
    folder = tmp_path / "games"
    shutil.copytree(sample("cbh/WithVariations"), folder)
    for name in folder.glob("*.pgn"):
        name.chmod(0o644)
        name.unlink()
    folder.chmod(0o755)
    (folder / "a.pgn").write_text(GAME)
    zipped(folder / "b.zip", {"b.pgn": GAME})
    (folder / "old.cbv").write_bytes(b"archive")
    zipped(folder / "c.zip", {"readme.txt": "no"})
    packed = tmp_path / "packed.cbh"
    cbh_writer.write(packed, [(0, chess.pgn.read_game(io.StringIO(GAME.replace("me_user", "a, a").replace("other", "b, b"))))])
    cbh_writer.pack(packed).rename(folder / "d.CBV")
    text = build(folder, code=WANTING)
    assert "31 games read" in text
    assert "old.cbv: this is not a ChessBase archive" in text
    assert "c.zip: skipped: this archive holds no PGN files" in text


def spoiled(folder):
    """Files of every kind that hold games by their names, and cannot be read; with what is said of each."""
    whole = zipped(folder / "whole.zip", {"a.pgn": GAME}).read_bytes()
    (folder / "whole.zip").unlink()
    locked = bytearray(whole)
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(sign) + flags] |= 1
    (folder / "nul.pgn").write_bytes(b"\0\1\2")
    (folder / "alone.cbh").write_bytes(bytes(46))
    (folder / "rest.cbg").write_bytes(bytes(46))
    (folder / "locked.zip").write_bytes(locked)
    (folder / "cut.zip").write_bytes(whole[:-30])
    (folder / "blank.zip").write_bytes(bytes(100))
    (folder / "seven.pgn.xz").write_bytes(b"7z\xbc\xaf\x27\x1c\0\4" + bytes(40))
    said = {
        "nul.pgn": "not a text file of games",
        "alone.cbh": "the moves of the database",
        "rest.cbg": "there is no such database",
        "locked.zip": "is encrypted",
        "cut.zip": "this archive is damaged",
        "blank.zip": "this archive is damaged",
        "seven.pgn.xz": "unpack it first",
    }
    if os.name == "posix":
        (folder / "gone.pgn").symlink_to("nowhere")
        os.mkfifo(folder / "pipe.pgn")
        said |= {"gone.pgn": "cannot open the file", "pipe.pgn": "this is a pipe or a device"}
        if os.geteuid() != 0:
            for name in ("secret.pgn", "secret.cbh", "secret.zip"):
                (folder / name).write_text(GAME)
                (folder / name).chmod(0)
                said[name] = "cannot open the file"
            (folder / "secrets").mkdir(mode=0)
            said["secrets"] = "cannot read the folder"
    return said


def test_what_cannot_be_read_of_a_folder_is_reported_and_the_rest_is_used(build, tabiya, tmp_path):
    folder = tmp_path / "games"
    (folder / "more").mkdir(parents=True)
    (folder / "a.pgn").write_text(GAME)
    (folder / "z.pgn").write_text('[Event "x"]\n\n1. e4 { [%eval 0.3] } e5 1-0\n\n')
    build(folder)
    whole = (tmp_path / "book.bin").read_bytes()
    said = spoiled(folder / "more")
    shutil.copy(tmp_path / "book.bin", tmp_path / "learned.bin")
    commands = {
        "build": ["build", folder, "-o", "again.bin", "--min-games", "1"],
        "build --resume": ["build", folder, "-o", "resumed.bin", "--min-games", "1", "--resume"],
        "build a count file": ["build", folder, "-o", "a.parquet"],
        "report": ["report", "--book", "book.bin", folder],
        "suite": ["suite", folder, "-o", "a.epd", "--ply", "1-2", "--min-games", "1"],
        "gaps": ["gaps", "book.bin", "--against", folder],
        "suite --refine": ["suite", "book.bin", "--refine", folder, "--keep", "decisive", "-o", "b.epd", "--ply", "1-2"],
        "learn": ["learn", "games", "learned.bin", folder, "--both"],
        "import": ["import", "a.evals", folder],
    }
    for name, args in commands.items():
        done = tabiya(*args)
        lines = done.stderr.decode().splitlines()
        assert done.returncode == WANTING, (name, done.stdout, done.stderr)
        for file, what in said.items():
            assert sum(file in line and what in line for line in lines) == 1, (name, file, done.stderr.decode())
    assert (tmp_path / "again.bin").read_bytes() == whole == (tmp_path / "resumed.bin").read_bytes()
    # A file that is named itself is an error, and nothing is written.
    for file, what in said.items():
        text = told(tabiya("build", folder / "a.pgn", folder / "more" / file, "-o", "no.bin"), FILE) if file not in (
            "blank.zip", "pipe.pgn", "secrets") else what
        assert what in text, text
        assert not (tmp_path / "no.bin").exists()
    (folder / "a.pgn").unlink()
    (folder / "z.pgn").unlink()
    build(folder, code=WANTING, words=["book.bin: not written: there are no games in the sources"])
    assert (tmp_path / "book.bin").read_bytes() == whole


def test_a_bad_count_file_in_a_folder_is_reported_and_the_others_are_used(tabiya, tmp_path):
    (tmp_path / "a.pgn").write_text(GAME)
    folder = tmp_path / "counts"
    folder.mkdir()
    told(tabiya("build", "a.pgn", "-o", "counts/1.parquet"), DONE)
    whole = (folder / "1.parquet").read_bytes()
    (folder / "2.parquet").write_bytes(whole[:-9])
    (folder / "3.parquet").write_bytes(b"")
    shutil.copy(folder / "1.parquet", folder / "4.parquet")
    for args, words in (
        (["build", folder, "-o", "a.bin", "--min-games", "1"], ["from 2 count files"]),
        (["merge", folder, "-o", "all.parquet"], ["from 2 count files"]),
        (["convert", folder, "-o", "b.bin"], ["2 moves"]),
        (["check", folder], ["error"]),
        (["diff", folder, "a.bin"], []),
        (["export", folder], []),
        (["suite", folder, "-o", "a.epd", "--ply", "1", "--min-games", "1"], []),
    ):
        text = told(tabiya(*args), WANTING, *words)
        assert "2.parquet" in text and "3.parquet" in text, (args, text)
    assert read_book(tmp_path / "a.bin")[START][E4] == 4
    told(tabiya("info", folder), WANTING, "2 files that cannot be opened", "2.parquet")
    text = told(tabiya("show", folder), DONE)
    assert "2.parquet" in text and "3.parquet" in text
    for name in ("2.parquet", "3.parquet"):
        told(tabiya("build", folder / "1.parquet", folder / name, "-o", "no.bin"), FILE, name)
    assert not (tmp_path / "no.bin").exists()


@linux_only
def test_more_files_are_read_than_a_process_may_open(tabiya, tmp_path):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

    number = times(300, 2000)
    (tmp_path / "a.pgn").write_text(GAME)
    told(tabiya("build", "a.pgn", "-o", "1.parquet"), DONE)
    folder, games = tmp_path / "counts", tmp_path / "games"
    folder.mkdir()
    games.mkdir()
    for part in range(number):
        shutil.copy(tmp_path / "1.parquet", folder / f"{part}.parquet")
        (games / f"{part}.pgn").write_text(GAME)
    files = sorted(folder.iterdir())
    for args in (
        ["build", folder, "-o", "a.bin", "--memory", "16M"],
        ["build", *files, "-o", "b.bin"],
        ["build", games, "-o", "c.bin", "--threads", "8"],
        ["build", games, "-o", "d.bin", "--resume"],
        ["merge", folder, "-o", "all.parquet"],
        ["convert", folder, "-o", "e.bin"],
        ["info", folder],
        ["check", folder],
        ["show", folder],
        ["suite", folder, "-o", "a.epd", "--ply", "2"],
    ):
        told(tabiya(*args, preexec_fn=few), DONE)
    books = {(tmp_path / f"{name}.bin").read_bytes() for name in "abcde"}
    assert len(books) == 1 and read_book(tmp_path / "a.bin")[START][E4] == 2 * number


def test_moves_in_other_notations_make_the_same_book(build, tmp_path):
    games = [
        "1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. O-O Nxe4 5. Re1",
        "1. e2e4 e7e5 2. g1f3 b8c6 3. f1c4 g8f6 4. e1g1 f6e4 5. f1e1",
        "1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6 3. Bf1-c4 Ng8-f6 4. 0-0 Nf6xe4 5. Rf1-e1",
        "1. e4 e5 2. ♘f3+- ♞c6 3. ♗c4 ♘f6 4. o-o ♘:e4 5. ♖e1±",
    ]
    books = set()
    for number, moves in enumerate(games):
        (tmp_path / f"{number}.pgn").write_text(f'[Event "x"]\n[Result "1:0"]\n\n{moves} 1:0\n\n', encoding="utf-8")
        assert "1 game read, 1 used, 9 plies" in build(f"{number}.pgn")
        books.add((tmp_path / "book.bin").read_bytes())
    assert len(books) == 1


def test_a_game_that_was_not_used_is_not_said_to_be(build, tmp_path):
    (tmp_path / "a.pgn").write_text(GAME + '[Event "y"]\n[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n1. e4 *\n')
    text = build("a.pgn", words=["1 game not used: no legal starting position"])
    assert "used up to" not in text
    (tmp_path / "a.pgn").write_text(GAME + '[Event "y"]\n\n1. e4 e5 2. Sf3 *\n')
    build("a.pgn", words=["1 game used up to the error: unreadable move, first a.pgn: line 10: 2. \"Sf3\""])
    text = build("a.pgn", "--strict", words=["1 game not used: unreadable move"])
    assert "used up to" not in text


def test_a_few_zero_bytes_lose_no_game(build, tmp_path):
    for game in (GAME.replace("1. e4", "1. e4 {x\0y}"), GAME.replace('[White "', '[White "\0')):
        assert "\0" in game
        (tmp_path / "a.pgn").write_text(game + GAME * 9)
        text = build("a.pgn", words=["10 games read, 10 used", "1 file with zero bytes, first a.pgn: line"])
        assert "not read to the end" not in text


def test_a_file_that_ends_in_a_head_is_a_finding(build, tmp_path):
    (tmp_path / "a.pgn").write_text(GAME + '[Event "y"]\n[White "Kas')
    text = build("a.pgn", code=WANTING, words=["1 game read, 1 used", "1 file not read to the end", "a.pgn: line 8"])
    assert "used up to" not in text


def test_a_player_is_named_in_whole(build, tmp_path):
    (tmp_path / "a.pgn").write_text(GAME + GAME.replace("me_user", "me_user2").replace("e4 e5", "d4 e5").replace("2. Nf3 Nc6", "2. Nc3 Nc6"))
    assert "2 used" in build("a.pgn", "--player", "ME_USER")
    text = build("a.pgn", "--player", "=Me_User", "--only", "player", "--player-side", "white")
    assert "1 used" in text and "1 game left out by --player" in text
    assert list(read_book(tmp_path / "book.bin")[START]) == [E4]
    build("a.pgn", "--player", "=", code=USAGE)


def test_no_message_names_a_temporary_file(tabiya, tmp_path):
    (tmp_path / "a.pgn").write_text(GAME)
    for output in ("none/book.bin", "none/a.parquet"):
        text = told(tabiya("build", "a.pgn", "-o", output), FILE)
        assert ".part" not in text and "unchanged" not in text, text


def test_a_folder_of_count_files_is_one_to_info_and_check(tabiya, tmp_path):
    folder = tmp_path / "counts"
    folder.mkdir()
    (tmp_path / "a.pgn").write_text(GAME * 2)
    (tmp_path / "b.pgn").write_text(GAME.replace("e4", "d4"))
    for name in ("a", "b"):
        told(tabiya("build", f"{name}.pgn", "-o", folder / f"part-{name}.parquet"), DONE)
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / ".part-a.parquet.crc").write_bytes(b"x")
    line = json.loads(told(tabiya("info", "--json", folder), DONE))
    assert (line["book"], line["format"], line["games"], line["wins"] + line["losses"]) == (str(folder), "counts", 3, 12)
    assert [Path(file["path"]).name for file in line["files"]] == ["part-a.parquet", "part-b.parquet"]
    told(tabiya("info", folder), DONE, "part-b.parquet", "3 from the starting position")
    told(tabiya("check", folder), DONE, "counts: sound")
    content = (folder / "part-b.parquet").read_bytes()
    (folder / "part-b.parquet").write_bytes(content[:4] + bytes(len(content[4:-200])) + content[-200:])
    assert tabiya("check", folder).returncode in (WANTING, FILE)


def test_info_names_books_counts_and_databases_alike(tabiya, sample):
    paths = [sample("cbh/linares/linares.cbh"), sample("ctg/simple/simple.ctg")]
    lines = [json.loads(line) for line in told(tabiya("info", "--json", *paths), DONE).splitlines()]
    assert [line["book"] for line in lines] == [str(path) for path in paths]
    assert lines[0]["database"] == str(paths[0])


def test_ratings_are_shown_where_the_format_has_them(tabiya, sample):
    book = sample("ctg/perfect2021/Perfect2021.ctg")
    line = json.loads(told(tabiya("show", "--json", book), DONE))
    ratings = [move["ratings"] for move in line["moves"] if "ratings" in move]
    assert any(rating["average"] for rating in ratings)
    assert all(set(rating) == {"average", "performance"} for rating in ratings)
    line = json.loads(told(tabiya("show", "--json", sample("polyglot/Perfect2021.bin")), DONE))
    assert not any("ratings" in move for move in line["moves"])


def text_record(version, titles, contents):
    """A guiding text as .cbg holds it."""
    body = struct.pack("<HH", version, len(titles))
    for language, title in titles:
        body += struct.pack("<HH", language, len(title)) + title
    body += b"\1" + struct.pack("<H", len(contents))
    for language, text in contents:
        body += struct.pack("<HI", language, len(text)) + text + bytes(4)
    return struct.pack(">I", 0x80000000 | (len(body) + 4)) + body


@pytest.fixture
def with_texts(sample, tmp_path):
    """A database of the samples with two texts behind its games."""
    folder = tmp_path / "base"
    folder.mkdir()
    for path in sample("cbh/linares").glob("*.cb[a-z]"):
        (folder / path.name).write_bytes(path.read_bytes())
    records, moves = folder / "linares.cbh", folder / "linares.cbg"
    cbh, cbg = bytearray(records.read_bytes()), bytearray(moves.read_bytes())
    texts = [
        text_record(3, [(0, b"Opening: the 1/2 rest"), (1, b"Er\xf6ffnung")], [(0, b"<p>e4 \xfc</p>"), (1, b"<p>e4</p>")]),
        text_record(2, [(0, b"../../../plain")], [(7, b"e4 < d4 & more")]),
    ]
    for text in texts:
        record = bytearray(46)
        record[0] = 3
        record[1:5] = struct.pack(">I", len(cbg))
        cbg += text
        cbh += record
    cbh[6:10] = struct.pack(">I", len(cbh) // 46)
    records.write_bytes(cbh)
    moves.write_bytes(cbg)
    return records


def test_guiding_texts_become_html_files(tabiya, tmp_path, with_texts):
    told(tabiya("info", with_texts), DONE, "texts            2")
    done = tabiya("export", with_texts, "--texts", "texts")
    told(done, DONE, "2 texts written as 3 files")
    assert done.stdout == b"", "without -o the games are not written"
    names = set(os.listdir(tmp_path / "texts"))
    assert names == {"00504-Opening-the-1-2-rest-en.html", "00504-Eröffnung-de.html", "00505-plain.html"}
    pages = {name: (tmp_path / "texts" / name).read_text(encoding="utf-8-sig") for name in names}
    assert pages["00504-Opening-the-1-2-rest-en.html"] == "<p>e4 ü</p>"
    assert "e4 &lt; d4 &amp; more" in pages["00505-plain.html"]
    # Nothing is overwritten unless that is asked for.
    (tmp_path / "texts/00505-plain.html").write_text("mine")
    told(tabiya("export", with_texts, "--texts", "texts"), FILE, "exists already", "--force")
    assert (tmp_path / "texts/00505-plain.html").read_text() == "mine"
    told(tabiya("export", with_texts, "--texts", "texts", "--force", "-o", "games.pgn"), DONE, "503 games written")
    assert "mine" not in (tmp_path / "texts/00505-plain.html").read_text(encoding="utf-8")
    assert (tmp_path / "games.pgn").read_text(encoding="utf-8").count("[Event ") == 503


def test_a_cut_guiding_text_is_a_finding(tabiya, tmp_path, with_texts):
    moves = with_texts.with_suffix(".cbg")
    moves.write_bytes(moves.read_bytes()[:-12])
    told(tabiya("export", with_texts, "--texts", "texts"), WANTING, "game 505: the text is cut off", "1 text damaged")
    assert len(os.listdir(tmp_path / "texts")) == 3
