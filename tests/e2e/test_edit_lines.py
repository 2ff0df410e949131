"""`tabiya edit --add-line` and `--delete-line`: lines and studies, against a model that python-chess makes."""

import csv
import io
import random
import re

import chess
import chess.polyglot
import pytest

from line_model import Walks, added, compared, in_text, key, line_of, moves_of, study
from random_games import FORMATS, random_games

DONE, WANTING, USAGE = 0, 1, 2
GAMES = random_games(60, seed=41, most_plies=24)
LINE = "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be2 e5 7. Nb3 Be7 8. O-O O-O 9. Be3 Be6 10. f4 exf4"


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


@pytest.fixture
def dumped(tabiya):
    """The weights of a book: {(key, UCI): weight}."""

    def dumped(path):
        done = tabiya("export", path)
        assert done.returncode == DONE, done.stderr
        rows = csv.DictReader(io.StringIO(done.stdout.decode()), delimiter="\t")
        return {(int(row["key"], 16), row["uci"]): int(row["weight"]) for row in rows}

    return dumped


def counted(done, code=DONE):
    """What an edit says that it did: moves added, changed, deleted."""
    text = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == code, text
    found = {word: int(count) for count, word in re.findall(r"(\d+)(?: moves?)? (added|changed|deleted)", text)}
    return tuple(found.get(word, 0) for word in ("added", "changed", "deleted"))


def test_lines_of_a_polyglot_book_follow_a_model_and_are_taken_back_one_by_one(tabiya, copy_of, dumped, tmp_path):
    book = copy_of("bin")
    model, states = dumped(book), [book.read_bytes()]
    chance = random.Random(3)
    for round, text in enumerate([LINE, *(in_text(study(200, seed)) for seed in range(3)), LINE]):
        moves = moves_of(line_of(text))
        side = chance.choice([None, "white", "black"]) if round else None
        weight = chance.choice([None, 77]) if round else None
        before, model = model, added(model, moves, side, weight)
        counts = compared(before, model)
        says = counts["adds"], counts["changes"], 0
        options = ["--side", side] if side else []
        file = tmp_path / "study.pgn"
        file.write_text(text)
        written = text if round % 2 == 0 else str(file)
        line = ["--add-line", f"{written}={weight}" if weight else written, *options]
        now = book.read_bytes()
        assert counted(tabiya("edit", book, *line, "--dry-run")) == says and book.read_bytes() == now
        assert counted(tabiya("edit", book, *line)) == says
        assert dumped(book) == model
        if model != before:
            states.append(book.read_bytes())
    # Lines leave, each with all that is not reached without its last move.
    walks = Walks()
    for _ in range(6):
        board, played = chess.Board(), []
        for _ in range(chance.randint(1, 4)):
            moves = sorted(move.uci() for move in board.legal_moves if (key(board), move.uci()) in model)
            if not moves:
                break
            played.append(chance.choice(moves))
            board.push_uci(played[-1])
        gone = walks.deleted(model, played)
        line = ["--delete-line", " ".join(played)]
        now = book.read_bytes()
        assert counted(tabiya("edit", book, *line, "--dry-run")) == (0, 0, len(gone)) and book.read_bytes() == now
        assert counted(tabiya("edit", book, *line)) == (0, 0, len(gone))
        for at in gone:
            del model[at]
        assert dumped(book) == model
        states.append(book.read_bytes())
    done = tabiya("check", book)
    assert done.returncode == DONE, done.stdout
    for state in reversed(states[:-1]):
        done = tabiya("edit", book, "--undo")
        assert done.returncode == DONE and b"undone: " in done.stdout, done.stdout
        assert book.read_bytes() == state
    assert tabiya("edit", book, "--undo").returncode == WANTING
    for state in states[1:]:
        assert tabiya("edit", book, "--redo").returncode == DONE
        assert book.read_bytes() == state


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "bin"])
def test_lines_come_into_books_of_other_formats_and_leave_them(tabiya, copy_of, dumped, tmp_path, name):
    book = copy_of(name)
    before = dumped(book)
    for text in (LINE, in_text(study(200, 5))):
        moves, had = moves_of(line_of(text)), dumped(book)
        with (tmp_path / "study.pgn").open("w+") as file:
            file.write(text)
            file.seek(0)
            done = tabiya("edit", book, "--add-line", "-", stdin=file)
        assert counted(done) == (sum(at not in had for at in moves), 0, 0)
        assert set(moves) <= set(dumped(book))
        assert tabiya("check", book).returncode == DONE
    # The moves that the book had weigh what they did, unless moves that are new lead to new places beside them.
    now = dumped(book)
    assert set(before) <= set(now)
    if name == "abk":
        assert all(now[at] == weight for at, weight in before.items())
    first, second = moves_of(line_of("1. e4 c5")).keys()
    *others, gone = counted(tabiya("edit", book, "--delete-line", "1. e4 c5"))
    assert others == [0, 0] and gone >= 18
    left = dumped(book)
    assert first in left and second not in left
    assert tabiya("check", book).returncode == DONE


@pytest.mark.parametrize("name", FORMATS)
def test_lines_come_by_requests_into_books_of_each_format_and_are_taken_back(explore, copy_of, dumped, name):
    book = copy_of(name)

    def files():
        return {path.name: path.read_bytes() for path in book.parent.iterdir() if path.suffix != ".learn" and not path.name.startswith(".")}

    server, text = explore("--edit", book), in_text(study(200, 8))
    states = [files()]
    adding = {"op": "add", "play": [move.uci() for move in line_of(LINE).mainline_moves()]}

    def asked(path, **body):
        status, answer = server.post(path, {"book": 0, **body})
        assert status == 200, answer
        return answer

    for body in (adding, {"op": "add", "text": text}, {"op": "delete", "text": "1. e4 c5"}, {"op": "delete", "play": adding["play"][:1]}):
        had = dumped(book)
        counts = asked("/api/line", **body)
        assert files() == states[-1]
        made = asked("/api/line", expect=counts, **body)
        now = dumped(book)
        says = compared(had, now)
        assert (counts["adds"], counts["deletes"]) == (says["adds"], says["deletes"]), (body, counts, says)
        assert counts["adds"] + counts["deletes"] > 0 and made["counts"]["adds"] == counts["adds"]
        states.append(files())
    for way, wanted in (("undo", reversed(states[:-1])), ("redo", states[1:]), ("undo", reversed(states[:-1]))):
        for state in wanted:
            asked(f"/api/{way}")
            assert files() == state, (name, way)


def test_what_is_no_line_changes_nothing(tabiya, copy_of):
    book = copy_of("bin")
    before = book.read_bytes()
    for words in (
        ["--add-line", "1. e4 e9"],
        ["--add-line", "1. e4 (1. d4 d5 2. Ke3) 1... e5"],
        ["--add-line", ""],
        ["--add-line", "1. e4=99999"],
        ["--add-line", "1. e4=green"],
        ["--add-line", "1. e4", "--set", "e4=1"],
        ["--delete-line", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Nxe4 6. d4"],
        ["--delete-line", "1. e4 (1. d4)"],
        ["--delete-line", "1. e4", "--side", "white"],
    ):
        done = tabiya("edit", book, *words)
        assert done.returncode == USAGE, (words, done.stdout, done.stderr)
        assert book.read_bytes() == before
    assert not book.with_name("book.bin.learn").exists()


def test_a_line_goes_on_from_a_place(tabiya, copy_of, dumped):
    book = copy_of("bin")
    fen = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"
    told = tabiya("edit", book, "--fen", fen, "--add-line", "1. Kd2 Kd4=5")
    assert counted(told) == (2, 0, 0)
    board = chess.Board(fen)
    after = board.copy()
    after.push_san("Kd2")
    # No move of the starting position leads there, so an export does not have it.
    with chess.polyglot.open_reader(book) as reader:
        assert [entry.weight for entry in reader.find_all(board)] == [5]
        assert [entry.weight for entry in reader.find_all(after)] == [5]
    assert counted(tabiya("edit", book, "--fen", fen, "--delete-line", "Kd2")) == (0, 0, 2)
    assert counted(tabiya("edit", book, "--moves", "1. e4 c5", "--add-line", "2. a3 a6=9"))[0] >= 1


def test_a_real_arena_book_keeps_what_other_lines_lead_to(tabiya, sample, tmp_path):
    """Its tree has positions more than once: what stays of a line that goes is told by another one."""
    book = tmp_path / "book.abk"
    book.write_bytes(sample("abk/Perfect2021.abk").read_bytes())

    def rows():
        done = tabiya("export", book)
        return {(int(row["key"], 16), row["uci"]): row["games"] for row in csv.DictReader(io.StringIO(done.stdout.decode()), delimiter="\t")}

    walks = Walks()
    for text in ("1. Nf3", "1. e4 c5", "1. d4 Nf6"):
        before, board = rows(), chess.Board()
        for san in text.split():
            if not san.endswith("."):
                board.push_san(san)
        gone = walks.deleted(before, [move.uci() for move in board.move_stack])
        assert len(gone) > 50 and counted(tabiya("edit", book, "--delete-line", text)) == (0, 0, len(gone))
        assert rows() == {at: games for at, games in before.items() if at not in gone}
        assert tabiya("check", book).returncode == DONE
