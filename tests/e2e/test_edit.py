"""`tabiya edit`: moves changed by hand in books of all formats, against a model, under kill -9, and beside learning."""

import csv
import io
import json
import random
import signal
import subprocess
import time
from itertools import chain, repeat

import chess
import chess.polyglot
import pytest

from abk_book import ROOT, Abk
from client import HANG, kill_when_writing, stamps, times
from conftest import not_windows
from polyglot_writer import Book
from random_games import FORMATS, TEXTS, random_games
from readers import read_abk

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3
GAMES = random_games(80, seed=99, most_plies=24)
CHANCE = random.Random(15)


@pytest.fixture(scope="module")
def sources(books_of):
    return books_of(GAMES)


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def key(board):
    return chess.polyglot.zobrist_hash(board)


def forms(board):
    """The keys of a position and of those that CTG and Kvetka do not distinguish from it."""
    found = [board]
    if not board.castling_rights:
        found.append(board.transform(chess.flip_horizontal))
    return {key(form) for board in found for form in (board, board.mirror())}


def boards():
    """Every position of the games, by its key."""
    found = {}
    for game in GAMES:
        board = chess.Board(game.fen)
        for move in game.moves:
            found.setdefault(key(board), board.copy())
            board.push(move)
    return found


BOARDS = boards()


@pytest.fixture
def dumped(tabiya):
    """The weights of a book: {(key, UCI): weight}."""

    def dumped(path):
        done = tabiya("export", path)
        assert done.returncode == DONE, done.stderr
        rows = csv.DictReader(io.StringIO(done.stdout.decode()), delimiter="\t")
        return {(int(row["key"], 16), row["uci"]): int(row["weight"]) for row in rows}

    return dumped


@pytest.fixture
def shown(tabiya):
    """The moves that a book shows in a position: {UCI: the move's JSON}."""

    def shown(path, board):
        done = tabiya("show", path, "--fen", board.fen(), "--json")
        assert done.returncode in (DONE, WANTING), done.stderr
        return {move["uci"]: move for move in json.loads(done.stdout)["moves"]}

    return shown


def told(done, code, *words):
    text = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == code, text
    for word in words:
        assert word in text, text
    return text


# What is edited


def test_edits_of_a_polyglot_book_follow_a_model_and_are_taken_back_one_by_one(tabiya, copy_of, dumped):
    book = copy_of("bin")
    model, states = dumped(book), [book.read_bytes()]
    for _ in range(40):
        board = BOARDS[CHANCE.choice(sorted(BOARDS))]
        at, words = key(board), []
        legal = sorted(move.uci() for move in board.legal_moves)
        for uci in CHANCE.sample(legal, min(3, len(legal))):
            weight = CHANCE.randint(0, 65535)
            move = board.san(chess.Move.from_uci(uci)) if CHANCE.random() < 0.5 else uci
            if (at, uci) not in model:
                words += ["--add", f"{move}={weight}"]
                model[at, uci] = weight
            elif CHANCE.random() < 0.5:
                words += ["--set", f"{move}={weight}"]
                model[at, uci] = weight
            else:
                words += ["--delete", move]
                del model[at, uci]
        told(tabiya("edit", book, "--fen", board.fen(), *words), DONE)
        states.append(book.read_bytes())
        assert dumped(book) == model
    with chess.polyglot.open_reader(book) as reader:
        keys = [entry.key for entry in reader]
        assert keys == sorted(keys)
    told(tabiya("check", book), DONE)
    states = [state for state, before in zip(states, [None, *states]) if state != before]
    for state in reversed(states[:-1]):
        told(tabiya("edit", book, "--undo"), DONE, "undone")
        assert book.read_bytes() == state
    told(tabiya("edit", book, "--undo"), WANTING, "no edit to undo")
    for state in states[1:]:
        told(tabiya("edit", book, "--redo"), DONE, "redone")
        assert book.read_bytes() == state
    told(tabiya("edit", book, "--redo"), WANTING, "no edit to redo")


@pytest.mark.parametrize("name", ["abk", "kob"])
def test_weights_of_other_formats_are_edited_and_all_else_stays(tabiya, copy_of, dumped, shown, name):
    book = copy_of(name)
    inner = [board for board in BOARDS.values() if board.ply() in (2, 3, 4)]
    for board in CHANCE.sample(inner, 6):
        before, moves = dumped(book), shown(book, board)
        held = sorted(moves, key=lambda uci: -moves[uci]["weight"])
        free = sorted(move.uci() for move in board.legal_moves if move.uci() not in moves)
        added = CHANCE.choice(free)
        told(tabiya("edit", book, "--fen", board.fen(), "--set", f"{held[0]}=0", "--add", f"{added}=7"), DONE, "added")
        now = shown(book, board)
        assert set(now) == {*moves, added}
        assert now[held[0]]["weight"] == 0
        assert now[added]["weight"] > 0
        # Moves to the positions after the edited moves share their results in a Kvetka book.
        shared = set()
        for uci in (held[0], added):
            after = board.copy()
            after.push_uci(uci)
            shared |= forms(after)
        after = dumped(book)
        for row in before.keys() | after.keys():
            at, uci = row
            if at in forms(board) or before.get(row) == after.get(row):
                continue
            there = BOARDS[at].copy()
            there.push_uci(uci)
            assert key(there) in shared, (row, before.get(row), after.get(row))
        told(tabiya("edit", book, "--fen", board.fen(), "--delete", added), DONE, "deleted")
        assert set(shown(book, board)) == set(moves)
        told(tabiya("check", book), DONE)


def test_moves_of_a_kvetka_book_get_the_weight_that_is_asked_where_no_move_leads(tabiya, copy_of, shown):
    book = copy_of("kob")
    start = chess.Board()

    def weights(board):
        return {uci: facts["weight"] for uci, facts in shown(book, board).items()}

    for uci, weight in list(weights(start).items())[1:]:
        told(tabiya("edit", book, "--delete", uci), DONE, "deleted")
        # Neither the position after it nor those after its replies are reached now.
        after = start.copy()
        after.push_uci(uci)
        replies, others = weights(after), weights(start)
        reply = min(replies)
        told(tabiya("edit", book, "--moves", uci, "--set", f"{reply}=9"), DONE)
        assert weights(after) == {**replies, reply: 9}
        for wanted in (1, weight + 9):
            told(tabiya("edit", book, "--add", f"{uci}={wanted}"), DONE, "added")
            assert weights(start) == {**others, uci: wanted}
            told(tabiya("edit", book, "--delete", uci), DONE, "deleted")
    told(tabiya("check", book), DONE)


def test_colours_and_marks_of_ctg_books_are_edited_and_all_else_stays(tabiya, copy_of, dumped, shown):
    book = copy_of("ctg")
    start = chess.Board()
    before, moves = dumped(book), shown(book, start)
    one, two, *_ = sorted(moves)
    free = next(move.uci() for move in start.legal_moves if move.uci() not in moves)
    words = ["--set", f"{one}=red", "--set", f"{two}=green,!", "--add", f"{free}=!?"]
    told(tabiya("edit", book, *words), DONE, "red", "green, !", "!?")
    now = shown(book, start)
    assert (now[one]["recommended"], now[one]["annotation"]) == (False, moves[one]["annotation"])
    assert (now[two]["recommended"], now[two]["annotation"]) == (True, "!")
    assert (now[free]["games"], now[free]["annotation"]) == (0, "!?")
    for uci in (one, two):
        assert {name: now[uci][name] for name in ("games", "wins", "draws", "losses")} == {
            name: moves[uci][name] for name in ("games", "wins", "draws", "losses")
        }
    words = ["--set", f"{one}=none", "--set", f"{two}=none", "--delete", free]
    told(tabiya("edit", book, *words), DONE)
    assert dumped(book) == before
    told(tabiya("check", book), DONE)
    told(tabiya("edit", book, "--delete", one), DONE, "deleted")
    assert set(shown(book, start)) == set(moves) - {one}


@pytest.mark.parametrize("name", ["abk", "ctg", "kob"])
def test_an_edit_and_its_opposite_give_the_same_book(tabiya, copy_of, sources, name):
    book = copy_of(name)
    weight = {"ctg": "green"}.get(name, "5")
    free = next(
        move.uci()
        for move in chess.Board().legal_moves
        if b"added" in tabiya("edit", book, "--add", f"{move.uci()}={weight}").stdout
    )
    told(tabiya("edit", book, "--delete", free), DONE)
    told(tabiya("diff", sources[name], book), DONE, "no difference")


# What is refused


@pytest.mark.parametrize("name", FORMATS)
def test_what_cannot_be_edited_is_refused_and_nothing_changes(tabiya, copy_of, name):
    book = copy_of(name)
    before = files(book.parent)
    known = GAMES[0].moves[0].uci()
    value = "green" if name == "ctg" else "1"
    for words, code, what in [
        (["--set", "e4"], USAGE, "has no weight"),
        (["--set", "e4=much"], USAGE, "is not a weight"),
        (["--set", "e5=1"], USAGE, "is not a legal move"),
        (["--add", f"{known}={value}"], USAGE, "already has the move"),
        (["--delete", known, "--set", f"{known}={value}"], USAGE, "edited twice"),
        (["--moves", "e4 e4", "--delete", "e5"], USAGE, "--moves"),
        (["--fen", "nonsense", "--delete", "e4"], USAGE, "--fen"),
        (["--undo", "--delete", "e4"], USAGE, "cannot be used with"),
        ([], USAGE, "required"),
        (["--set", f"{known}=70000" if name != "ctg" else f"{known}=5"], USAGE, None),
        (["--set", f"{known}=!" if name != "ctg" else f"{known}=7"], USAGE, None),
        *([(["--set", f"{known}=4294967296"], USAGE, None)] if name in TEXTS else []),
        (["--moves", "h2h4 h7h5 h1h3 h8h6", "--set", f"Ra3={value}"], USAGE, "does not have the move"),
    ]:
        if name in ("kob", *TEXTS) and f"{known}=70000" in words:
            continue
        told(tabiya("edit", book, *words), code, *([what] if what else []))
        assert files(book.parent) == before
    if name != "bin":
        told(tabiya("edit", book, "--undo"), USAGE, "edits can be undone only in Polyglot books")


@pytest.mark.parametrize("name", FORMATS)
def test_the_last_move_of_a_book_is_not_deleted(tabiya, tmp_path, name):
    (tmp_path / "one.pgn").write_text('[Result "1-0"]\n\n1. e4 1-0\n')
    folder = tmp_path / "book"
    folder.mkdir()
    book = folder / f"one.{name}"
    told(tabiya("build", tmp_path / "one.pgn", "-o", book, "--min-games", 1), DONE)
    before = files(folder)
    told(tabiya("edit", book, "--delete", "e4"), USAGE, "the book would have no moves left: delete the file instead")
    assert files(folder) == before


def test_an_arena_book_keeps_the_line_after_a_move_that_is_deleted(tabiya, copy_of):
    book = copy_of("abk")
    known = GAMES[0].moves[0].uci()
    text = told(tabiya("edit", book, "--delete", known), USAGE, "goes on after the move")
    assert "priority 0" in text
    far = "h2h4 h7h5 h1h3 h8h6 h3a3 h6a6 a3a4 a6a5 a4b4 a5b5 b4c4 b5c5"
    told(tabiya("edit", book, "--moves", far, "--add", "b3=1"), USAGE, "no line of the book leads")


def test_a_book_that_may_only_be_read_stays(tabiya, copy_of):
    for name in FORMATS:
        book = copy_of(name)
        for file in book.parent.iterdir():
            file.chmod(0o444)
        before = files(book.parent)
        value = "green" if name == "ctg" else "1"
        told(tabiya("edit", book, "--set", f"{GAMES[0].moves[0].uci()}={value}"), FILE, "make it writable")
        assert files(book.parent) == before


# Beside learning and playing


def test_what_a_move_had_is_reported_so_that_it_can_be_set_again(tabiya, copy_of):
    book, known = copy_of("abk"), GAMES[0].moves[0].uci()
    told(tabiya("edit", book, "--set", f"{known}=3"), DONE)
    before = book.read_bytes()
    told(tabiya("edit", book, "--set", f"{known}=4"), DONE, ": priority 3 -> 4\n")
    told(tabiya("edit", book, "--undo"), USAGE, "set the old value again")
    told(tabiya("edit", book, "--set", f"{known}=3"), DONE, ": priority 4 -> 3\n")
    assert book.read_bytes() == before


def test_an_adapter_that_is_running_plays_by_new_weights(tabiya, adapter, tmp_path):
    book = Book().at("", e2e4=10, d2d4=5).write(tmp_path / "a.bin")
    client = adapter("--book", book, "--set", "Book Variety=0")
    client.start()
    assert client.go(position="position startpos").move == "e2e4"
    told(tabiya("edit", book, "--set", "d4=50"), DONE, "weight 5 -> 50")
    client.send("ucinewgame")
    assert client.go(position="position startpos").move == "d2d4"


# kill -9


def killed(argv, folder, delay):
    """Starts an edit and kills it after so many seconds, or without a number when it begins to write; returns whether it
    was killed before it ended."""
    before = stamps(folder)
    process = subprocess.Popen([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if delay is None:
        kill_when_writing(process, folder, before)
    else:
        # Any moment will do: what must hold, holds at all of them.
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
    out, errors = process.communicate(timeout=HANG)
    assert process.returncode in (DONE, -signal.SIGKILL), errors
    return process.returncode != DONE


@not_windows
def test_edits_that_are_killed_at_any_moment_are_made_whole_or_not_at_all(tabiya, tabiya_exe, tmp_path):
    # Large enough that writing it anew takes a while.
    rows = sorted(CHANCE.randbytes(8) + bytes([0x03, 0x1C, 0, 5, 0, 0, 0, 0]) for _ in range(400_000))
    book = tmp_path / "large.bin"
    start = Book().at("", e2e4=10, d2d4=5, c2c4=1).data()
    rows = sorted([*rows, *(start[at : at + 16] for at in range(0, len(start), 16))], key=lambda row: row[:8])
    book.write_bytes(b"".join(rows))
    kinds = [
        ["--set", "e4=60", "--set", "d4=61", "--set", "c4=62"],
        ["--add", "h3=1", "--delete", "c4", "--set", "e4=70"],
        ["--undo"],
        ["--undo"],
    ]
    states, longest = [book.read_bytes()], 0
    for words in kinds:
        began = time.monotonic()
        told(tabiya("edit", book, *words), DONE)
        longest = max(longest, time.monotonic() - began)
        states.append(book.read_bytes())
    assert states[0] == states[4] and states[1] == states[3] and len(set(states)) == 3
    kills, moment = 0, 0
    rounds = times(4, 13)
    while moment < 4 * rounds or kills < times(4, 10) and moment < 100 * rounds:
        kind, part = moment % 4, moment // 4 % rounds
        delay = longest * (part + 0.5) / rounds if part % 2 else None
        stopped = killed([tabiya_exe, "edit", book, *kinds[kind]], tmp_path, delay)
        moment += 1
        kills += stopped
        # The machine may have been busier before.
        longest *= 1 if stopped else 0.8
        # The next process finishes what was begun.
        told(tabiya("show", book), DONE)
        made = book.read_bytes() == states[kind + 1]
        assert made or book.read_bytes() == states[kind]
        assert made or stopped, "an edit was reported and is not there"
        if not made:
            told(tabiya("edit", book, *kinds[kind]), DONE)
            assert book.read_bytes() == states[kind + 1]
    assert kills >= times(4, 10), "edits ended before they were killed"
    told(tabiya("check", book), DONE)


@not_windows
@pytest.mark.parametrize("name", ["abk", "ctg", "kob"])
def test_other_formats_that_are_killed_are_as_before_or_after(tabiya, tabiya_exe, copy_of, dumped, name):
    book = copy_of(name)
    free = next(
        move.uci()
        for move in chess.Board().legal_moves
        if b"added" in tabiya("edit", book, "--add", f"{move.uci()}={'green' if name == 'ctg' else 5}").stdout
    )
    kinds = [["--delete", free], ["--add", f"{free}={'green' if name == 'ctg' else 5}"]]
    states, longest = [dumped(book)], 0
    for words in kinds:
        began = time.monotonic()
        told(tabiya("edit", book, *words), DONE)
        longest = max(longest, time.monotonic() - began)
        states.append(dumped(book))
    kind, kills = 0, 0
    # Where the machine was busy only while the time was taken, edits end before they are killed: so at least three at once.
    for attempt, moment in enumerate(chain(range(0, 20, times(3, 1)), repeat(0))):
        if kills >= 3 and moment == 0:
            break
        delay = None if attempt % 2 else longest * (moment + 0.5) / 20
        stopped = killed([tabiya_exe, "edit", book, *kinds[kind]], book.parent, delay)
        kills += stopped
        made = dumped(book) == states[kind + 1]
        assert made or dumped(book) == states[kind]
        assert made or stopped
        kind = 1 - kind if made else kind
    told(tabiya("check", book), DONE)


def list_of_siblings(path, count):
    """An Arena book of one list: the same 16 first moves again and again."""
    book = Abk()
    for number in range(count):
        square, next_one = 8 + number % 8, ROOT + number + 1 if number + 1 < count else -1
        book.records.append([square, square + 8 + number // 8 % 2 * 8, 0, 5, 1, 0, 0, 0, -1, next_one])
    return book.write(path)


def test_a_list_of_any_length_is_edited_in_one_pass(tabiya, tmp_path):
    # With a pass over the rest of the list for each record, this would take hours.
    book = list_of_siblings(tmp_path / "long.abk", 200_000)
    done = tabiya("edit", book, "--set", "e4=7", "--delete", "d4", "--add", "Nf3=3")
    assert done.returncode == DONE, done.stderr
    assert b"Nf3: added" in done.stdout and b"d4: deleted" in done.stdout
    records = read_abk.moves(book, chess.Board())
    assert {tuple(record[1:5]) for record in records if record.move.uci() == "e2e4"} == {(7, 1, 0, 0)}
    told(tabiya("check", book), DONE)


@not_windows
def test_an_edit_of_an_arena_book_is_interrupted_with_nothing_written(tabiya_exe, tmp_path):
    book = list_of_siblings(tmp_path / "long.abk", 300_000)
    old, stopped, wait = book.read_bytes(), 0, 0.4
    until = time.monotonic() + HANG
    while stopped < 4:
        assert time.monotonic() < until, "edits end before they are stopped"
        argv = [tabiya_exe, "edit", book, "--set", "e4=7"]
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # Any moment will do: what must hold, holds at all of them.
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=HANG)
        wait *= 0.8
        if process.returncode == DONE or b"after the edit was made" in errors:
            assert book.read_bytes() != old
            book.write_bytes(old)
            continue
        stopped += 1
        # Before the handler is installed, the signal ends the process as it would any other.
        assert process.returncode in (130, -signal.SIGINT), errors
        assert process.returncode != 130 or b"nothing was written" in errors
        assert files(tmp_path) == {"long.abk": old}


# What fails, and what others replace


@not_windows
def test_an_edit_that_fails_on_a_full_disk_is_not_made_later(tabiya, tabiya_exe, tmp_path):
    """The journal has room, and the new book has not: as large a file as the limit allows is written, and no larger one."""
    resource = pytest.importorskip("resource")
    rows = [CHANCE.randbytes(8) + bytes([0x03, 0x1C, 0, 1, 0, 0, 0, 0]) for _ in range(9000)]
    (tmp_path / "b.bin").write_bytes(b"".join(sorted([*rows, Book().at("", e2e4=9).data()], key=lambda row: row[:8])))
    before = (tmp_path / "b.bin").read_bytes()

    def limited():
        # Python ignores the signal, so that the write fails.
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    argv = [tabiya_exe, "edit", "b.bin", "--add", "h3=7"]
    done = subprocess.run(argv, cwd=tmp_path, preexec_fn=limited, restore_signals=False, capture_output=True, check=False)
    told(done, FILE, "the old file is unchanged")
    assert (tmp_path / "b.bin").read_bytes() == before
    told(tabiya("edit", "b.bin", "--set", "e4=5"), DONE, "e4: weight 9 -> 5")
    assert "h3" not in told(tabiya("show", "b.bin"), DONE)
    told(tabiya("edit", "b.bin", "--undo"), DONE)
    assert (tmp_path / "b.bin").read_bytes() == before


def test_a_book_that_replaces_another_is_edited_and_the_old_journal_kept(tabiya, tmp_path):
    book = Book().at("", e2e4=9, d2d4=1).write(tmp_path / "a.bin")
    Book().at("", c2c4=4, d2d4=3).write(tmp_path / "other.bin")
    (tmp_path / "game.pgn").write_text("1. e4 1-0\n")
    told(tabiya("edit", book, "--set", "e4=5"), DONE)
    told(tabiya("learn", "games", book, "game.pgn", "--both"), DONE, "1 learned into 1 entry")
    for name, knows in [("a.bin.learn.old", "1 learned game and 1 edit"), ("a.bin.learn.old2", "0 learned games and 1 edit")]:
        journal = (tmp_path / "a.bin.learn").read_bytes()
        told(tabiya("convert", "other.bin", "-o", book, "--force"), DONE, f"{name}: the journal", knows)
        assert (tmp_path / name).read_bytes() == journal
        assert not (tmp_path / "a.bin.learn").exists()
        told(tabiya("edit", book, "--set", "c4=7"), DONE, "c4: weight 4 -> 7")
    told(tabiya("edit", book, "--undo"), DONE)
    # A book that another program has replaced: its journal is of use only with the old one.
    told(tabiya("edit", book, "--set", "c4=8"), DONE)
    Book().at("", e2e4=9).write(book)
    told(tabiya("edit", book, "--set", "e4=5"), FILE, "belongs to another book", "move the journal away")


def test_a_hard_link_has_the_journal_of_the_book(tabiya, tmp_path):
    book = Book().at("", e2e4=9, d2d4=1).write(tmp_path / "a.bin")
    told(tabiya("edit", book, "--set", "e4=5"), DONE)
    (tmp_path / "link.bin").hardlink_to(book)
    told(tabiya("edit", "link.bin", "--set", "e4=6"), DONE)
    before = book.read_bytes()
    told(tabiya("edit", "link.bin", "--add", "c4=6"), USAGE, "which has its journal")
    assert book.read_bytes() == before and book.samefile(tmp_path / "link.bin")
    told(tabiya("edit", book, "--undo"), DONE, "6 -> 5")
    assert sorted(file.name for file in tmp_path.iterdir() if "learn" in file.name) == ["a.bin.learn"]


def test_a_drop_is_named_as_one_whatever_the_variant(tabiya, tmp_path):
    book = Book().at("", e2e4=9).write(tmp_path / "a.bin")
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[QP] w KQkq - 0 1"
    words = ["--add", "Q@e4=5", "--add", "P@h3=6"]
    told(tabiya("edit", book, "--variant", "crazyhouse", "--fen", fen, *words), DONE, "Q@e4: added", "@h3: added")
    told(tabiya("edit", book, "--undo"), DONE, "Q@e4: deleted", "P@h3: deleted")
