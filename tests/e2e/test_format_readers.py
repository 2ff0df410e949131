"""The readers of docs/formats, written from its pages: they find in books and databases what tabiya finds."""

import collections
import json
import random
import re
import struct
from pathlib import Path

import chess
import chess.pgn
import chess.polyglot
import pytest

import cbh_writer
from branched_games import with_variations
from client import times
from compare_games import is_branched, tree
from random_games import random_games
from readers import cbh_moves, normal_form, read_abk, read_cbh, read_cbv, read_ctg, read_exp, read_kvetka, read_obk, read_polyglot

# Not among the others, because few tests have DuckDB.
import read_counts

ROOT = Path(__file__).parents[2]
POSITIONS = times(300, 3000)
TAGS = ("Event", "Site", "Date", "Round", "White", "Black", "Result", "WhiteElo", "BlackElo", "ECO")


@pytest.fixture(scope="module")
def sources(books_of):
    """Books of random games, whose kings wander."""
    return books_of(random_games(150, seed=11, most_plies=70))


def positions(tabiya, book, most):
    """Positions of a book: the first, some of all, some with a mirrored normal form, and some after a move from these."""
    done = tabiya("export", "--format", "json", "--reachable", book)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    chance = random.Random(5)
    some = lines[:20] + chance.sample(lines, min(len(lines), 4 * most))
    boards = [chess.Board(json.loads(line)["fen"]) for line in some]
    mirrored = [board for board in boards if normal_form.normal(board)[1]]
    boards = boards[:most] + mirrored[: most // 4]
    for board in boards[::4]:
        after = board.copy(stack=False)
        after.push(chance.choice(list(board.legal_moves)))
        boards.append(after)
    return boards


def walked(moves_of, most):
    """Positions that random lines of a book reach, for books that take too long to be written out."""
    chance = random.Random(5)
    boards = {}
    while len(boards) < most:
        board = chess.Board()
        while board:
            boards[board.epd()] = board
            moves = moves_of(board)
            after = board.copy(stack=False)
            after.push(chance.choice(moves or list(board.legal_moves)))
            boards[after.epd()] = after
            board = after if moves else None
    return list(boards.values())


def shown(tabiya, folder, book, boards):
    """What tabiya says of positions."""
    fens = folder / "fens"
    fens.write_text("".join(f"{board.fen(en_passant='fen')}\n" for board in boards))
    done = tabiya("show", "--json", book, "--fen-file", fens)
    assert done.returncode in (0, 1), done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(boards)
    return lines


@pytest.fixture
def compared(tabiya, tmp_path):
    """Compares what a reader finds in positions of a book, by move, with what tabiya says of the moves."""

    def compare(book, found_in, told_of, boards=None, least=40):
        boards = boards or positions(tabiya, book, POSITIONS)
        lines = shown(tabiya, tmp_path, book, boards)
        moves = 0
        for board, line in zip(boards, lines, strict=True):
            told = {move["uci"]: told_of(move) for move in line["moves"]}
            found = found_in(board, line)
            assert found == told, board.fen()
            moves += len(found)
        assert lines[0]["found"] and sum(line["found"] for line in lines) > least and moves > least
        mirrored = sum(normal_form.normal(board)[1] for board in boards)
        print(f"{Path(book).name}: {len(boards)} positions, {mirrored} of them mirrored, and {moves} moves compared")
        return mirrored

    return compare


def added(entries, values):
    """The sums of the values of entries, by move."""
    found = {}
    for entry in entries:
        found.setdefault(entry.move.uci(), []).append(values(entry))
    return {uci: tuple(map(sum, zip(*rows, strict=True))) for uci, rows in found.items()}


@pytest.fixture
def polyglot(compared):
    def compare(book):
        def found_in(board, _):
            assert read_polyglot.key(board) == chess.polyglot.zobrist_hash(board)
            return added(read_polyglot.moves(book, board), lambda entry: tuple(entry[1:]))

        def told_of(move):
            learned = move["learn"] or {"games": 0, "halfpoints": 0}
            return move["weight"], learned["games"], learned["halfpoints"]

        compared(book, found_in, told_of)

    return compare


def test_polyglot_books(polyglot, tabiya, sources, copy_of):
    polyglot(ROOT / "books/starter.bin")
    learned = copy_of("bin")
    assert tabiya("learn", "games", learned, sources["bin"].with_name("games.pgn"), "--both").returncode == 0
    polyglot(learned)


def test_a_real_polyglot_book(polyglot, perfect_book):
    polyglot(perfect_book)


@pytest.fixture
def ctg(compared):
    def compare(book, boards=None):
        def found_in(board, _):
            found = {}
            for entry in read_ctg.moves(book, board):
                after = entry.after or read_ctg.Facts(0, 0, 0, 0, 0, (0, 0), (0, 0), 0, 0, 0)
                colour = False if after.colours & 0x40 else True if after.colours & 0x80 else None
                counts = after.games, after.losses, after.draws, after.wins
                found[entry.move.uci()] = (*counts, entry.mark, colour, *read_ctg.ratings(after))
            return found

        def told_of(move):
            counts = [move[name] for name in ("games", "wins", "draws", "losses")]
            ratings = move.get("ratings") or {"average": None, "performance": None}
            return (*counts, move["annotation"], move["recommended"], ratings["average"], ratings["performance"])

        return compared(book, found_in, told_of, boards)

    return compare


def test_ctg_books(ctg, tabiya, sources, tmp_path):
    """One that was made of games, and one of weights, whose moves have colors and marks."""
    assert ctg(sources["ctg"]) > 10
    assert tabiya("convert", sources["bin"], "-o", "green.ctg").returncode == 0
    ctg(tmp_path / "green.ctg")


def test_a_real_ctg_book(ctg, sample):
    book = sample("ctg/perfect2021/Perfect2021.ctg")
    ctg(book, walked(lambda board: [entry.move for entry in read_ctg.moves(book, board)], POSITIONS))


def test_the_test_vectors_of_the_page_on_ctg():
    rows = re.findall(r"^\| (.+?) \| `((?:[0-9a-f]{2} ?)+)` \| `(\w{8})` \|$", read_ctg.SECTIONS["Test vectors"], re.MULTILINE)
    assert len(rows) == 4
    for words, signature, hash_ in rows:
        board = chess.Board(words.strip("`")) if "/" in words else chess.Board()
        for move in re.findall(r"[a-h][1-8]", words) if words.startswith("after") else ():
            board.push_san(move)
        assert (read_ctg.signature(board).hex(" "), f"{read_ctg.hash_of(read_ctg.signature(board)):08x}") == (signature, hash_)


def test_the_starting_position_is_where_the_page_on_ctg_says(sample):
    start = read_ctg.signature(chess.Board())
    rows = re.findall(r"^\| `(\w+)\.ctg` .* \| (\d+) \| \d+, (\d+) \|$", read_ctg.SECTIONS["Test vectors"], re.MULTILINE)
    assert len(rows) == 2
    for name, page, offset in rows:
        path = sample(f"ctg/{name.lower()}/{name}.ctg")
        assert read_ctg.page_of(path, read_ctg.hash_of(start)) == int(page)
        assert path.read_bytes()[int(offset) :].startswith(start)
        assert read_ctg.find(path, chess.Board())[1].games > 0


@pytest.fixture
def abk(compared):
    def compare(book):
        known = read_abk.index(book)
        header = read_abk.header(book.read_bytes())
        assert header["records"] > 0

        def found_in(board, line):
            entries = known.get(read_polyglot.key(board), [])
            for move in line["moves"] if header["by_priority"] == header["by_games"] > header["by_score"] == 0 else ():
                # Priority and games count alike.
                records = [entry for entry in entries if entry.move.uci() == move["uci"]]
                weight = 100 * sum(entry.priority * max(entry.games, 1) for entry in records)
                assert move["weight"] == weight or len(records) > 1 and not all(entry.games for entry in records)
            sides = ("white_wins", "white_losses") if board.turn else ("white_losses", "white_wins")
            return added(entries, lambda entry: (entry.games, *(getattr(entry, side) for side in sides)))

        def told_of(move):
            return move["games"], move["wins"], move["losses"]

        compared(book, found_in, told_of)
        board = chess.Board()
        assert read_abk.moves(book, board) == known[read_polyglot.key(board)]

    return compare


def test_arena_books(abk, sources):
    abk(sources["abk"])


def test_a_real_arena_book(abk, sample):
    abk(sample("abk/Perfect2021.abk"))


@pytest.mark.parametrize("name", ["brainlearn.exp", "sugar_made.exp"])
def test_real_experience_files(compared, tabiya, sample, tmp_path, name):
    path = sample(f"exp/{name}")
    book = read_exp.Experience(path)

    def found_in(board, _):
        entries = book.moves(board)
        below = [read_exp.rating(entries[0]) - read_exp.rating(entry) for entry in entries]
        weights = [max(1, round(10000 * 2 ** (-units / 100))) for units in below]
        return {board.uci(entry.move): weight for entry, weight in zip(entries, weights, strict=True)}

    reached = book.reached()
    boards = [chess.Board(f"{epd} 0 1") for epd in reached]
    # Without the clock some positions are not found by their keys.
    others = [board for board in map(replied, boards) if board]
    compared(path, found_in, lambda move: move["weight"], [*boards, *others], least=20)
    told = json.loads(tabiya("info", "--json", path).stdout)
    assert (told["entries"], told["positions"]) == (book.records, len(book.known))
    assert told["reachable"] == len(reached) and told["moves"] == sum(map(len, book.known.values()))
    done = tabiya("export", "--format", "json", path)
    missing = len(book.known) - len(reached)
    for form in ("json", "pgn"):
        said = tabiya("export", "--format", form, path).stderr.decode()
        assert f"{missing} position" in said and "no line from the starting position reaches them" in said
    converted = tabiya("convert", path, "-o", tmp_path / "a.abk")
    assert f"left out: {missing} position".encode() in converted.stderr + converted.stdout
    dumped = [json.loads(line)["fen"].split()[:4] for line in done.stdout.splitlines()]
    assert sorted(dumped) == sorted(board.fen(en_passant="fen").split()[:4] for board in boards)


def replied(board):
    """The position after the first legal move, which the book may not have."""
    after = board.copy(stack=False)
    for move in list(board.legal_moves)[:1]:
        after.push(move)
        return after


def obk(games, texts):
    """A Chessmaster book of the lines of games, with weights by chance."""
    chance, root = random.Random(7), {}
    for game in games:
        node = root
        for move in list(game.moves)[:24]:
            if move.promotion not in (None, chess.QUEEN):
                break
            node = node.setdefault(move, {})
    moves, left = bytearray(), [(chess.Board(), move, replies, number + 1 == len(root)) for number, (move, replies) in enumerate(root.items())][::-1]
    while left:
        board, move, replies, last = left.pop()
        target = move.to_square
        moves += bytes([move.from_square | last << 6 | (not replies) << 7, target | chance.randrange(4) << 6])
        after = board.copy(stack=False)
        after.push(move)
        left += [(after, reply, more, number + 1 == len(replies)) for number, (reply, more) in enumerate(replies.items())][::-1]
    head = b"UGWS" + struct.pack("<I", len(moves) // 2) if texts is None else b"BOO!" + struct.pack("<2I", len(moves) // 2, len(texts))
    return head + moves + (texts or b"")


@pytest.mark.parametrize("texts", [None, struct.pack("<IBB", 4, 3, 0x82) + b"C60"])
def test_chessmaster_books(compared, tabiya, tmp_path, texts):
    path = tmp_path / "book.obk"
    path.write_bytes(obk(random_games(150, seed=12, most_plies=40), texts))
    known = read_obk.index(path)
    assert all(move for _, move, _ in read_obk.tree(path.read_bytes()))

    def found_in(board, _):
        return {entry.move.uci(): entry.weight for entry in known.get(read_polyglot.key(board), [])}

    compared(path, found_in, lambda move: move["weight"])
    told = json.loads(tabiya("info", "--json", path).stdout)
    assert (told["positions"], told["moves"]) == (len(known), sum(map(len, known.values())))
    assert tabiya("check", path).returncode == 0


def test_a_real_archive(tabiya, sample, tmp_path):
    archive = sample("cbv/twic1134.cbv")
    data = archive.read_bytes()
    for member in read_cbv.directory(data):
        (tmp_path / member.name).write_bytes(read_cbv.unpack(data, member))
    done = tabiya("export", archive, "-o", tmp_path / "packed.pgn")
    assert done.returncode == 0, done.stderr
    assert tabiya("export", tmp_path / "twic1134.cbh", "-o", tmp_path / "unpacked.pgn").returncode == 0
    assert (tmp_path / "packed.pgn").read_bytes() == (tmp_path / "unpacked.pgn").read_bytes()
    for source in (archive, tmp_path / "twic1134.cbh"):
        assert tabiya("build", source, "-o", tmp_path / f"{source.suffix[1:]}.bin").returncode == 0
    assert (tmp_path / "cbv.bin").read_bytes() == (tmp_path / "cbh.bin").read_bytes()


def test_kvetka_books(compared, sources):
    book = sources["kob"]
    header, known = read_kvetka.read(book)
    sources = read_kvetka.sources(book)
    assert header.type == 1 and header.elements == 1 and [source.kind for source in sources] == [1]
    comments = 0

    def found_in(board, line):
        nonlocal comments
        element = known.get(read_kvetka.key(board))
        comment = line.get("comment")
        code, *names = (element and element.comment or "").split("|")
        assert comment == (f"{code} {': '.join(names)}" if code else None), board.fen()
        comments += bool(code)
        if element:
            source, number = element.link
            game = sources[source].games[number]
            told = line["game"]
            assert [told["source"], told["white"], told["black"]] == [sources[source].address, game.white, game.black]
            assert told["result"] == ["0-1", "1-0", "1/2-1/2", "*"][game.result]
            assert told["place"] == f"byte {game.offset}, {game.length} bytes"
        nothing = read_kvetka.Element(0, 0, 0, 0, b"", 0, None, None, b"")
        after = {entry.move.uci(): entry.after or nothing for entry in read_kvetka.entries(known, board)}
        return {uci: (e.losses, e.draws, e.wins) for uci, e in after.items()}

    compared(book, found_in, lambda move: (move["wins"], move["draws"], move["losses"]))
    assert comments > 0
    assert read_kvetka.moves(book, chess.Board()) == read_kvetka.entries(known, chess.Board())


def test_the_example_of_the_page_on_kvetka(tabiya, tmp_path):
    games = ("1. e4 e5 1-0", "1. d4 d5 1/2-1/2")
    text = [f'[Event "?"]\n[Result "{game.split()[-1]}"]\n\n{game}\n\n' for game in games]
    (tmp_path / "two.pgn").write_text("".join(text))
    assert tabiya("build", "two.pgn", "-o", "two.kob", "--min-games", "1").returncode == 0
    data = (tmp_path / "two_0.kob").read_bytes()
    page = (ROOT / "docs" / "formats" / "kvetka.md").read_text(encoding="utf-8").split("\n## Example\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    for number, block in enumerate(blocks):
        lines = [re.sub(r"^[0-9a-f]{2}  ", "", line) if number == 0 else line for line in block.splitlines()]
        found = [re.match(r"(?:[0-9a-f]{2} {1,2})*[0-9a-f]{2}(?= |$)", line).group() for line in lines]
        raw = bytes.fromhex("".join(found))
        assert raw in data and (number or data.startswith(raw)), block


@pytest.mark.parametrize("by", [(), ("--by", "speed,rating")], ids=["plain", "by"])
def test_count_files(tabiya, tmp_path, sources, by):
    done = tabiya("build", *by, "-o", "all.parquet", sources["bin"].with_name("games.pgn"))
    assert done.returncode == 0, done.stderr
    book = tmp_path / "all.parquet"
    # A look-up by DuckDB takes milliseconds: all rows at once.
    known = collections.defaultdict(list)
    rows = read_counts.rows(book)
    for key, code, *counts in rows:
        known[key].append((code, *counts))
    boards = {key: read_counts.position(entries[0][4]) for key, entries in known.items()}
    chance = random.Random(3)
    some = {key: boards[key] for key in chance.sample(sorted(boards), 400)}
    lines = shown(tabiya, tmp_path, book, list(some.values()))
    moves = 0
    for (key, board), line in zip(some.items(), lines, strict=True):
        assert read_polyglot.key(board) == key
        found = collections.Counter()
        for code, wins, draws, losses, *_ in known[key]:
            if code:
                uci = read_polyglot.decode(code, board).uci()
                found.update({(uci, "wins"): wins, (uci, "draws"): draws, (uci, "losses"): losses})
        told = {(move["uci"], name): move[name] for move in line["moves"] for name in ("wins", "draws", "losses")}
        assert dict(found) == told
        moves += len(told) // 3
    info = json.loads(tabiya("info", "--json", book).stdout)
    assert (info["entries"], info["positions"]) == (len(rows), len(boards)) and moves > 100
    start = read_counts.moves(book, chess.Board())
    assert [entry[1:4] for entry in start] == [entry[1:4] for entry in known[read_polyglot.key(chess.Board())]] and start


@pytest.fixture
def exported(tabiya, tmp_path):
    """Compares the first games of a database with those that tabiya exports; returns ours."""

    def compare(database, most):
        done = tabiya("export", database, "-o", "out.pgn", "--force", "--no-annotations", "--numbers", f"1-{most}")
        assert done.returncode == 0, done.stderr
        ours = []
        with open(tmp_path / "out.pgn", encoding="utf-8") as text:
            for number, game in read_cbh.games(database):
                if number > most:
                    break
                theirs = chess.pgn.read_game(text)
                assert not theirs.errors
                assert tree(game) == tree(theirs) and game.board() == theirs.board(), number
                for tag in TAGS:
                    assert game.headers.get(tag) == theirs.headers.get(tag), (number, tag)
                ours.append(game)
            assert chess.pgn.read_game(text) is None
        print(f"{database.name}: {len(ours)} games compared")
        return ours

    return compare


@pytest.mark.parametrize(
    "name, most, number",
    [
        ("WithVariations/WithVariations", 28, 28),
        ("Chess960Biel/Chess960Biel", 188, 188),
        ("UnusualStart/UnusualStartBytes", 9, 9),
        ("linares/linares", 100, 503),
        ("twic1134/twic1134", 100, 6117),
    ],
)
def test_real_databases(exported, sample, name, most, number):
    most = times(most, number)
    assert len(exported(sample(f"cbh/{name}.cbh"), most)) == most


def test_databases_in_each_mode(exported, tmp_path):
    """No file in some of the modes has been seen: what the page says of them is what tabiya reads."""
    chance = random.Random(7)
    games = []
    for number in range(60):
        mode = sorted(cbh_moves.TABLES)[number % len(cbh_moves.TABLES)]
        if mode in cbh_moves.CHESS960:
            board = chess.Board.from_chess960_pos(chance.randrange(960))
        elif number % 3:
            board = chess.Board("r3k2r/pP4p1/1n1q1b2/2p1p3/2P1P3/1N1Q1B2/Pp4P1/R3K2R w KQkq - 0 12")
        else:
            board = chess.Board()
        games.append((mode, with_variations(chance, number, board)))
    database = cbh_writer.write(tmp_path / "made.cbh", games)
    for game, (_, original) in zip(exported(database, len(games)), games, strict=True):
        assert tree(game) == tree(original)
    assert sum(is_branched(game) for _, game in games) > 10


def test_the_tables_of_the_pages_are_those_of_the_program():
    def words(path, pattern, start=""):
        text = (ROOT / "crates" / path).read_text(encoding="utf-8")
        return re.findall(pattern, text[text.index(start) :].split("\n];")[0] if start else text)

    table = bytes(int(byte, 16) for byte in words("games/src/cbh/mode.rs", r"\b0x([0-9a-f]{2}),", "static TABLES"))
    assert table == b"".join(cbh_moves.TABLES[mode] for mode in sorted(cbh_moves.TABLES)) and len(table) == 10 * 256
    assert [int(high + low, 16) for high, low in words("book/src/formats/ctg/layout.rs", r"0x(\w{4})_(\w{4}),")] == read_ctg.HASH
    page = (ROOT / "docs" / "formats" / "cbh.md").read_text(encoding="utf-8").split("The countries from number 1 on")[1]
    assert words("games/src/cbh/entities.rs", r'"(\w{3})"', "const NATIONS") == page.split("```")[1].split()
    assert read_polyglot.WORDS == list(chess.polyglot.POLYGLOT_RANDOM_ARRAY)
