"""What a format cannot hold is reported by every writer, and what it can hold is kept."""

import re
import struct
from pathlib import Path

from random_games import FORMATS, WEIGHTED

PAGE = Path(__file__).parents[2] / "docs/guide/formats.md"
GAMES = """[White "A"]
[Black "B"]
[WhiteElo "2500"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0

[White "A"]
[Result "1/2-1/2"]

1. d4 d5 1/2-1/2

"""
START = 0x463B961816 << 24 | 0x91FC9C
HEAD = 25_200


def ran(tabiya, *args):
    done = tabiya(*args)
    text = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, text
    return text


def rows():
    """Each line of the table: the writers, and what they print."""
    table = PAGE.read_text(encoding="utf-8").split("## What a format cannot hold")[1]
    for row in re.findall(r"^\| (.+?) \| .+? \| `(.+?)` \|$", table, re.MULTILINE):
        named = re.findall(r"`\.(\w+)`", row[0])
        ends = named if named and not row[0].startswith("all but ") else [end for end in FORMATS if end not in named]
        yield from ((end, row[1]) for end in ends)


def pattern(line):
    """Finds the line, whether one or several things are counted."""
    words = re.sub(r"s\b", "s?", re.escape(line)).replace(r"of\ ", r"of\ (?:a\ )?").replace(r"which\ act\ ", r"which\ acts?\ ")
    return words.replace(r"they\ say\ of\ (?:a\ )?themselves?", r"(?:they\ say\ of\ themselves|it\ says\ of\ itself)")


def test_each_line_of_the_table_is_printed(tabiya, tmp_path):
    (tmp_path / "g.pgn").write_text(GAMES)
    for end in ("kob", "ctg", "abk"):
        ran(tabiya, "build", "g.pgn", "-o", f"s.{end}", "--min-games", "1")
    # A caption that is only the name of the book says nothing.
    for part in tmp_path.glob("s*.k*"):
        part.rename(part.with_name("k" + part.name[1:]))
    ran(tabiya, "edit", "s.ctg", "--set", "e4=green,!")
    moves = ((796, 10, 2, 3), (731, 90, 0, 0), (405, 65535, 0, 0))
    (tmp_path / "s.bin").write_bytes(b"".join(struct.pack(">QHHHH", START, *move) for move in moves))
    printed = {}
    for new in FORMATS:
        said = [ran(tabiya, "convert", book, "-o", f"new.{new}", "--force") for book in ("s.bin", "s.ctg", "s.abk", "k.kob")]
        said.append(ran(tabiya, "merge", "s.bin", "s.bin", "k.kob", "-o", f"new.{new}", "--force"))
        printed[new] = "".join(said)
    table = list(rows())
    assert len(table) > 20
    for end, line in table:
        # Weights stay, or in 16 bits are never more than a rounding away, in this case.
        if end in WEIGHTED and line.startswith("moves whose chance"):
            continue
        assert re.search(rf"(left out|changed): .*{pattern(line)}", printed[end]), (end, line, printed[end])


def test_an_arena_book_keeps_its_header_and_priorities(tabiya, tmp_path):
    (tmp_path / "g.pgn").write_text(GAMES)
    ran(tabiya, "build", "g.pgn", "-o", "a.abk", "--min-games", "1")
    book = bytearray((tmp_path / "a.abk").read_bytes())
    book[0x0C:0x85] = b"\x04mine".ljust(121, b"\0")
    book[0x85:0xD6] = b"\x02me".ljust(81, b"\0")
    for at, number in ((0xE2, 1), (0xEE, 15), (0xF2, 7), (0xF6, 3), (0xFA, 16)):
        book[at : at + 4] = struct.pack("<i", number)
    book[HEAD + 3] = 8
    (tmp_path / "a.abk").write_bytes(book)
    for args in (["convert", "a.abk"], ["trim", "a.abk", "--max-ply", "20"], ["merge", "a.abk", "a.abk"]):
        text = ran(tabiya, *args, "-o", "b.abk", "--force")
        assert "left out" not in text, text
        new = (tmp_path / "b.abk").read_bytes()
        assert new[:HEAD] == book[:HEAD]
        assert sorted(new[HEAD + 3 :: 28]) == sorted(book[HEAD + 3 :: 28])
    other = bytearray(book)
    other[0x85:0xD6] = b"\x02he".ljust(81, b"\0")
    (tmp_path / "o.abk").write_bytes(other)
    text = ran(tabiya, "merge", "a.abk", "o.abk", "-o", "b.abk", "--force")
    assert "changed: 1 book with other texts or settings in its header: the new book has those of the first" in text
    text = ran(tabiya, "convert", "a.abk", "-o", "b.bin")
    assert "left out: 1 header of a book, with what it says of itself" in text


def test_chances_that_change_are_counted_with_the_largest(tabiya, tmp_path):
    weights = (65535, 30000, 5000, 1, 1)
    codes = (796, 731, 405, 666, 82)
    entries = zip(codes, weights, strict=True)
    (tmp_path / "a.bin").write_bytes(b"".join(struct.pack(">QHHI", START, *entry, 0) for entry in entries))
    text = ran(tabiya, "convert", "a.bin", "-o", "a.abk")
    assert re.search(r"changed: \d moves? whose chance changes by more than 0.1 %, largest: \w{4} from [\d.]+ % to ", text), text
    assert "chance" not in ran(tabiya, "convert", "a.bin", "-o", "b.bin")
    for end in ("kob", "ctg"):
        ran(tabiya, "convert", "a.bin", "-o", f"a.{end}")
    text = ran(tabiya, "merge", "a.bin", "a.bin", "-o", "c.bin")
    assert "changed: 1 position whose sums of weights exceed 65535 and are scaled: merge all books at once" in text
