"""Kvetka books: made of games, read by other eyes, played, shown, damaged."""

import collections
import gzip
import io
import json
import os
import random
import zipfile

import chess
import chess.engine
import chess.pgn
import pytest

from client import START
from kvetka_book import Kvetka, key, moves
from recording import popen

PLIES = int(os.environ.get("TABIYA_E2E_PLIES", "60"))
ECO = 'A40a "Queen\'s Pawn"  1.d4 *\nB00a "King\'s Pawn: Открытие"  1.e4 *\n'


@pytest.fixture(scope="module")
def games():
    """Random games with few choices, so that lines meet again and kings castle and wander."""
    chance = random.Random(5)
    games = []
    for number in range(60):
        game = chess.pgn.Game()
        game.headers.update(White=f"Weiß {number}", Black="Black", WhiteElo="2400", Result=chance.choice(["1-0", "0-1", "1/2-1/2"]))
        node, board = game, game.board()
        while board.ply() < 50 and not board.is_game_over():
            legal = sorted(board.legal_moves, key=lambda move: (not board.is_castling(move), move.uci()))
            node = node.add_variation(chance.choice(legal[: 3 if board.ply() < 16 else None]))
            board.push(node.move)
        games.append(game)
    return games


@pytest.fixture
def pgn(games, tmp_path):
    path = tmp_path / "games.pgn"
    path.write_text("".join(f"{game}\n\n" for game in games), encoding="utf-8")
    return path


def counted(games):
    """What should stand in a book: {key: [wins, draws, losses]}, and for each board its moves with their points."""
    results = collections.defaultdict(lambda: [0, 0, 0])
    boards = {}
    for game in games:
        board = game.board()
        for move in [*game.mainline_moves(), None]:
            name = key(board)
            points = {"1-0": 0, "1/2-1/2": 1, "0-1": 2}[game.headers["Result"]]
            results[name][points if board.turn else 2 - points] += 1
            known = boards.setdefault((name, board.epd()), (board.copy(stack=False), collections.Counter()))[1]
            if move is None:
                break
            known[move.uci()] += 2 - points if board.turn else points
            board.push(move)
    return results, boards


def build(tabiya, pgn, *more):
    done = tabiya("build", "-o", pgn.with_name("book.kob"), pgn, "--min-games", "1", *more)
    assert done.returncode == 0, done.stderr
    return pgn.with_name("book"), done.stdout.decode()


def test_a_build_is_read_by_other_eyes(tabiya, pgn, games):
    eco = pgn.with_name("names.eco")
    eco.write_text(ECO, encoding="utf-8")
    stem, _ = build(tabiya, pgn, "--eco", eco)
    book = Kvetka(stem)
    results, boards = counted(games)
    assert book.elements.keys() == results.keys()
    for name, (own, *_) in book.elements.items():
        assert list(own) == results[name]
    for (name, _), (board, played) in boards.items():
        written = set(moves(board, book.elements[name][1]))
        # No codes for other promotions and for third pieces; a move that never scored is kept like others.
        for uci in played.keys() - written:
            piece = board.piece_type_at(chess.Move.from_uci(uci).from_square)
            assert len(uci) == 5 or piece not in (chess.PAWN, chess.KING), uci
    comments = {key(chess.Board()): None}
    for uci, comment in (("d2d4", "A40|Queen's Pawn"), ("e2e4", "B00|King's Pawn|Открытие")):
        board = chess.Board()
        board.push_uci(uci)
        comments[key(board)] = comment
    for name, (*_, comment) in book.elements.items():
        assert comment == comments.get(name)


def test_every_position_names_a_game_and_where_it_stands(tabiya, pgn, games):
    empty = pgn.with_name("empty.kob")
    assert tabiya("build", "-o", empty, pgn, "--min-elo", "2300").returncode == 1, "Black has no rating"
    assert not list(pgn.parent.glob("empty*"))
    rated = pgn.with_name("rated.pgn")
    text = pgn.read_text(encoding="utf-8").replace('[Black "Black"]', '[Black "Black"]\n[BlackElo "2350"]')
    rated.write_text(text, encoding="utf-8")
    stem, _ = build(tabiya, rated, "--min-elo", "2300", "--force")
    assert Kvetka(stem).least_elo == [0, 0, 0, 2300]
    for path in (rated, *pgn.parent.glob("book*")):
        path.unlink()
    stem, _ = build(tabiya, pgn, "--max-ply", "20")
    book = Kvetka(stem)
    assert (book.caption, book.plies, book.kind) == ("book", 20, 1)
    [(kind, gone, address, listed)] = book.sources
    assert (kind, gone, address, len(listed)) == (1, 0, str(pgn), len(games))
    data = pgn.read_bytes()
    boards = []
    for number, (offset, length, white, black, white_elo, black_elo, result) in enumerate(listed):
        game = chess.pgn.read_game(io.StringIO(data[offset : offset + length].decode()))
        assert game.headers["White"] == white == f"Weiß {number}" and (white_elo, black_elo) == (2400, 0)
        assert ["0-1", "1-0", "1/2-1/2"][result] == game.headers["Result"]
        names = set()
        board = game.board()
        for move in [*game.mainline_moves(), None][:21]:
            names.add(key(board))
            board.push(move) if move else None
        boards.append(names)
    for name, (_, _, link, _) in book.elements.items():
        assert link is not None and link[0] == 0 and name in boards[link[1]]
    shown = tabiya("show", stem.with_name("book.kob"), "--list-games").stdout.decode().splitlines()
    assert len(shown) == len(games) + 2 and "Weiß 7 (2400) - Black" in shown[8] and str(pgn) in shown[8]
    near = tabiya("show", stem, "--moves", "", "--list-games", "--json").stdout.decode().splitlines()
    assert 1 <= len(near) <= 4 and all(json.loads(line)["kind"] == "pgn" for line in near)


@pytest.mark.parametrize("kind", ["standard input", "gzip", "zip"])
def test_games_that_no_other_program_finds_are_not_linked(tabiya, pgn, games, tmp_path, kind):
    if kind == "gzip":
        names, more = [tmp_path / "games.pgn.gz"], {}
        names[0].write_bytes(gzip.compress(pgn.read_bytes()))
    elif kind == "zip":
        names, more = [tmp_path / "games.zip"], {}
        with zipfile.ZipFile(names[0], "w") as archive:
            archive.write(pgn, "games.pgn")
    else:
        names, more = ["-"], {"stdin": pgn.open("rb")}
    done = tabiya("build", *names, "-o", "links.kob", "--min-games", "1", **more)
    assert done.returncode == 0, done.stderr
    said = f"left out: {len(games)} links to games that other programs could not find"
    assert said in done.stdout.decode()
    assert not (tmp_path / "links.ksf").exists() or b"g\0a\0m\0e\0s\0.\0" not in (tmp_path / "links.ksf").read_bytes()
    # Games beside them keep their links.
    (tmp_path / "other.pgn").write_text('[White "W"]\n[Result "1-0"]\n\n1. a3 a6 1-0\n')
    if kind != "standard input":
        done = tabiya("build", *names, "other.pgn", "-o", "links.kob", "--min-games", "1", "--force")
        assert done.returncode == 0 and said in done.stdout.decode(), done
        sources = (tmp_path / "links.ksf").read_bytes().decode("utf-16-be", "ignore") + (
            tmp_path / "links.ksf"
        ).read_bytes()[1:].decode("utf-16-be", "ignore")
        assert "other.pgn" in sources and "games.pgn" not in sources and "games.zip" not in sources


def test_what_is_shown_is_what_the_games_say(tabiya, pgn, games):
    stem, _ = build(tabiya, pgn)
    results, boards = counted(games)
    fens = pgn.with_name("fens")
    fens.write_text("".join(f"{board.fen(en_passant='fen')}\n" for board, _ in boards.values()))
    lines = tabiya("show", "--json", stem.with_name("book_0.kob"), "--fen-file", fens).stdout.decode().splitlines()
    assert len(lines) == len(boards)
    for (board, _), line in zip(boards.values(), map(json.loads, lines), strict=True):
        assert line["format"] == "kvetka" and "Weiß" in line["game"]["white"]
        for move in line["moves"]:
            board.push_uci(move["uci"])
            assert [move["losses"], move["draws"], move["wins"]] == results[key(board)]
            board.pop()


def test_converting_to_other_formats_and_back(tabiya, pgn):
    stem, _ = build(tabiya, pgn)
    first = Kvetka(stem)
    folder = pgn.parent
    again = tabiya("convert", stem, "-o", folder / "again.kob")
    assert again.returncode == 0 and b"left out" not in again.stdout, again.stdout
    copy = Kvetka(folder / "again")
    assert copy.elements.keys() == first.elements.keys()
    assert copy.sources == first.sources
    for name, (results, codes, link, comment) in first.elements.items():
        assert copy.elements[name] == (results, copy.elements[name][1], link, comment)
        assert set(copy.elements[name][1]) == set(codes)
    for end in ("ctg", "bin", "abk"):
        there = folder / f"there.{end}"
        assert tabiya("convert", stem, "-o", there).returncode == 0
        done = tabiya("convert", there, "-o", folder / f"{end}.kob")
        assert done.returncode == 0, done.stderr
        back = Kvetka(folder / end)
        assert back.elements.keys() <= first.elements.keys()
        for name, (results, codes, *_) in back.elements.items():
            assert set(codes) <= set(first.elements[name][1])
            if end == "ctg":
                assert results == first.elements[name][0]
        # Only a .bin has weights alone, and it is said.
        assert (b"written as games won and drawn" in done.stdout) == (end == "bin")
        assert tabiya("check", folder / end).returncode == 0


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_game_with_a_book_of_many_positions(run, tabiya, tabiya_exe, stockfish, real_book, tmp_path, seed):
    """The book answers as long as it knows the position, and where it ends Stockfish plays on."""
    done = tabiya("convert", real_book, "-o", tmp_path / "gnu.kob")
    assert done.returncode == 0, done.stderr
    book = Kvetka(tmp_path / "gnu")
    if seed == 2:
        (tmp_path / "gnu.kin").unlink()
    client = run(tabiya_exe, "--engine", stockfish, "--book", tmp_path / "gnu.kob", "--seed", seed, "--set", "Book Threshold=0")
    client.start()
    board = chess.Board()
    by_book = []
    while not board.is_game_over() and board.ply() < PLIES:
        known = book.elements.get(key(board))
        expected = set(moves(board, known[1])) if known else set()
        text = " ".join(move.uci() for move in board.move_stack)
        answer = client.go("nodes 2000", f"position startpos moves {text}" if text else START)
        assert chess.Move.from_uci(answer.move) in board.legal_moves
        if answer.book:
            assert answer.move in expected and answer.book["file"].endswith("gnu.kob")
        else:
            # Moves of weight 0 and third repetitions are left to the engine.
            assert not expected or by_book[-1:] == [False] or all(weight(book, board, uci) == 0 for uci in expected)
        by_book.append(bool(answer.book))
        board.push_uci(answer.move)
    assert by_book[:4] == [True] * 4 and not by_book[-1], by_book
    assert client.quit() == 0


def weight(book, board, uci):
    board = board.copy(stack=False)
    board.push_uci(uci)
    (_, draws, losses), *_ = book.elements.get(key(board), ((0, 0, 0),))
    return 2 * losses + draws


def playable(book, board):
    """The moves that may be played: one that only lost weighs nothing."""
    known = book.elements.get(key(board))
    return [uci for uci in moves(board, known[1]) if weight(book, board, uci)] if known else []


def test_the_game_under_python_chess(tabiya, tabiya_exe, stockfish, pgn, tmp_path):
    stem, _ = build(tabiya, pgn)
    book = Kvetka(stem)
    engine = popen([tabiya_exe, "--engine", stockfish, "--book", stem, "--seed", "7"], tmp_path)
    try:
        board = chess.Board()
        while known := playable(book, board):
            result = engine.play(board, chess.engine.Limit(time=0.02))
            assert result.move.uci() in known
            board.push(result.move)
        assert board.ply() >= 3
    finally:
        engine.close()


def test_damage_is_told_and_the_rest_is_played(adapter, tabiya, pgn):
    stem, _ = build(tabiya, pgn)
    path = stem.with_name("book_0.kob")
    assert tabiya("check", stem).returncode == 0
    info = json.loads(tabiya("info", "--json", path).stdout)
    assert (info["format"], info["games"], info["entries"]) == ("kvetka", 60, len(Kvetka(stem).elements))
    data = bytearray(path.read_bytes())
    # The header's number of blocks, and the index of another book.
    at = 1 + 4 + 2 * len("book") + 11
    assert int.from_bytes(data[at : at + 4], "big") * 2048 == len(data) - at - 4
    data[at + 3] ^= 1
    path.write_bytes(data)
    stem.with_name("book.kin").write_bytes(b"\0" * 22)
    done = tabiya("check", path)
    assert done.returncode == 1
    assert f"(byte {at} of book_0.kob)" in done.stdout.decode() and "book.kin" in done.stdout.decode()
    shown = tabiya("show", path)
    assert shown.returncode == 0 and b"the index has 22 bytes" in shown.stderr
    client = adapter("--book", path)
    client.start()
    assert client.go("movetime 10", START).book
    data[0] = 3
    path.write_bytes(data)
    done = tabiya("show", path)
    assert done.returncode == 3
    assert "this kind of Kvetka book, 3, is not supported" in done.stderr.decode()
