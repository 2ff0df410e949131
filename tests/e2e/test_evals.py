"""`tabiya evals`: what is imported from each format comes out again, whatever is broken, killed or done at the same time."""

import collections
import gzip
import hashlib
import itertools
import json
import random
import signal
import struct
import subprocess
import time

import chess
import chess.pgn
import chess.polyglot
import duckdb
import pytest

from client import HANG, kill_when_writing, stamps, times
from random_games import pgn, random_games
from test_trim import dumped  # noqa: F401

RECORD = 48  # bytes

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3

# For the side to move. The best move is in UCI, or None.
Eval = collections.namedtuple("Eval", "cp mate depth nodes best")


def positions(count, seed, plies=60):
    """Boards of random games, each position once, those in which nobody can move left out."""
    chance, boards = random.Random(seed), {}
    while len(boards) < count:
        board = chess.Board()
        for _ in range(chance.randint(1, plies)):
            legal = list(board.legal_moves)
            if not legal:
                break
            board.push(chance.choice(legal))
            if board.legal_moves:
                boards[board.epd()] = board.copy(stack=False)
    return list(boards.values())[:count]


def evaluated(boards, seed, nodes=True):
    """A random evaluation of each position: {EPD: Eval}."""
    chance, found = random.Random(seed), {}
    for number, board in enumerate(boards):
        mate = chance.choice([-40, -7, -1, 1, 2, 33]) if chance.random() < 0.2 else None
        cp = None if mate else chance.randint(-3000, 3000)
        best = chance.choice(list(board.legal_moves)).uci()
        known = chance.randint(1, 10**6) * 1000 if nodes else 0
        found[board.epd()] = Eval(cp, mate, chance.randint(1, 60), known, best)
    return found


def white(board, value):
    """A score for the side to move as White's, or the other way round."""
    return None if value is None else value if board.turn else -value


def put_in_order(tabiya, store, *again):
    """Imports what a store has into it, once its first evaluation is damaged: that puts it in order."""
    if not again:
        assert tabiya("export", store, "-o", "same.epd", "--force").returncode == DONE
    slots = bytearray(store.read_bytes())
    first = next(at for at in range(RECORD, len(slots), RECORD) if any(slots[at : at + 8]))
    slots[first + RECORD - 1] ^= 1
    store.write_bytes(slots)
    done = tabiya("import", store, *(again or ["same.epd"]))
    assert (done.returncode, b"put in order, without 1 damaged record" in done.stdout) == (DONE, True), done
    assert json.loads(tabiya("info", store, "--json").stdout)["oddities"] == []


def json_line(board, evaluation, chance):
    """A line of Lichess's dump; shallower evaluations and worse variations are in it too."""
    def variation(cp, mate, move):
        score = {"cp": white(board, cp)} if mate is None else {"mate": white(board, mate)}
        return score | {"line": f"{board.uci(chess.Move.from_uci(move), chess960=True)} a1a1"}

    other = next(iter(board.legal_moves)).uci()
    deep = {
        "pvs": [variation(evaluation.cp, evaluation.mate, evaluation.best), variation(5000, None, other)],
        "knodes": evaluation.nodes // 1000,
        "depth": evaluation.depth,
    }
    shallow = {"pvs": [variation(9999, None, other)], "knodes": 10**7, "depth": evaluation.depth - 1}
    evals = [deep] + [shallow] * chance.randint(0, 2)
    chance.shuffle(evals)
    return json.dumps({"fen": board.epd(), "evals": evals}, separators=(",", ":"))


def json_text(boards, found, seed=1):
    chance = random.Random(seed)
    return "".join(json_line(board, found[board.epd()], chance) + "\n" for board in boards).encode()


def zstandard(content, block=100_000):
    """One frame of raw blocks."""
    parts = [content[at : at + block] for at in range(0, len(content), block)] or [b""]
    frame = b"\x28\xb5\x2f\xfd\xa0" + len(content).to_bytes(4, "little")
    for number, part in enumerate(parts):
        frame += (len(part) << 3 | (number + 1 == len(parts))).to_bytes(3, "little") + part
    return frame


def epd_text(boards, found):
    lines = []
    for board in boards:
        cp, mate, depth, nodes, best = found[board.epd()]
        if mate is None:
            score = {"ce": cp}
        else:
            score = {"ce": 32767 - (2 * mate - 1) if mate > 0 else -32767 - 2 * mate} | ({"dm": mate} if mate > 0 else {})
        lines.append(board.epd(**score, acd=depth, acn=nodes, pm=chess.Move.from_uci(best), id="a; b") + "\n")
    return "".join(lines).encode()


@pytest.fixture
def exported(tabiya, tmp_path):
    """The evaluations of a store, as python-chess reads them."""

    def exported(store):
        done = tabiya("export", store)
        assert done.returncode == DONE, done.stderr
        found = {}
        for line in done.stdout.decode().splitlines():
            board, operations = chess.Board.from_epd(line)
            ce, best = operations["ce"], operations.get("pm")
            mate = (32768 - ce) // 2 if ce > 32000 else -((32767 + ce) // 2) if ce < -32000 else None
            assert operations.get("dm") == (mate if mate and mate > 0 else None)
            cp = ce if mate is None else None
            assert board.epd() not in found
            found[board.epd()] = Eval(cp, mate, operations.get("acd", 0), operations.get("acn", 0), best and best.uci())
        return found

    return exported


def imported(tabiya, *args, code=DONE):
    done = tabiya("import", *args)
    assert done.returncode == code, done.stdout + done.stderr
    return done


BOARDS = positions(600, seed=3)
FOUND = evaluated(BOARDS, seed=4)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.epd", "a.epd.gz", "a.parquet"])
def test_what_is_imported_is_exported(tabiya, tmp_path, exported, name):
    file, store = tmp_path / name, tmp_path / "a.evals"
    if name.endswith(".parquet"):
        rows = []
        for board in BOARDS:
            cp, mate, depth, nodes, best = FOUND[board.epd()]
            line = board.uci(chess.Move.from_uci(best), chess960=True) + " e2e4"
            other = next(iter(board.legal_moves)).uci()
            rows.append((board.epd(), line, depth, nodes // 1000, white(board, cp), white(board, mate)))
            # A worse variation of the same evaluation, and a shallower one.
            if mate is None:
                rows.append((board.epd(), other, depth, nodes // 1000, white(board, cp - 1), None))
            rows.append((board.epd(), other, depth - 1, 10**6, None, white(board, 1)))
        random.Random(1).shuffle(rows)
        base = duckdb.connect()
        base.execute("CREATE TABLE t (fen TEXT, line TEXT, depth UTINYINT, knodes UINTEGER, cp SMALLINT, mate TINYINT)")
        base.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows)
        base.execute(f"COPY t TO '{file}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)")
    else:
        text = epd_text(BOARDS, FOUND) if ".epd" in name else json_text(BOARDS, FOUND)
        pack = {"gz": gzip.compress, "zst": zstandard}.get(name.rsplit(".")[-1], lambda text: text)
        file.write_bytes(pack(text))
    imported(tabiya, store, file)
    assert {board.turn for board in BOARDS} == {chess.WHITE, chess.BLACK}
    assert exported(store) == FOUND
    # Once more changes nothing.
    bytes_before = store.read_bytes()
    assert b": 0 new positions, 0 positions" in imported(tabiya, store, file).stdout
    assert store.read_bytes() == bytes_before
    # What is exported can be imported.
    assert tabiya("export", store, "-o", tmp_path / "out.epd").returncode == DONE
    imported(tabiya, tmp_path / "b.evals", tmp_path / "out.epd")
    assert exported(tmp_path / "b.evals") == FOUND
    assert tabiya("export", store, "-o", tmp_path / "out.epd").returncode == FILE
    info = json.loads(tabiya("info", store, "--json").stdout)
    assert (info["positions"], info["oddities"], info["format"]) == (len(FOUND), [], "evals")
    depths = sorted(found.depth for found in FOUND.values())
    source = {"name": "EPD" if ".epd" in name else "Lichess", "positions": len(FOUND)}
    assert info["sources"] == [source | {"depths": [depths[0], depths[len(depths) // 2], depths[-1]]}]
    put_in_order(tabiya, store)
    assert exported(store) == FOUND
    compacted = store.read_bytes()
    put_in_order(tabiya, store)
    assert store.read_bytes() == compacted


def test_games_give_the_evaluations_in_their_comments(tabiya, tmp_path, exported):
    chance, expected, text = random.Random(6), {}, ""
    for number, game in enumerate(random_games(40, seed=9, most_plies=40)):
        root = chess.pgn.Game()
        node = root
        for ply, move in enumerate(game.moves):
            node = node.add_main_variation(move)
            board = node.board()
            if chance.random() < 0.2 or not board.legal_moves:
                continue
            depth = number * 200 + ply + 1
            mate = chance.choice([-9, -1, 1, 12]) if chance.random() < 0.2 else None
            cp = None if mate else chance.randint(-900, 900)
            score = chess.engine.Mate(mate) if mate else chess.engine.Cp(cp)
            node.set_eval(chess.engine.PovScore(score, board.turn), depth)
            node.comment = f"a {node.comment} [%clk 0:01:02]"
            expected[board.epd()] = Eval(cp, mate, depth, 0, None)
            if chance.random() < 0.3 and ply:
                other = next(iter(node.parent.board().legal_moves))
                if other != move:
                    side = node.parent.add_variation(other)
                    if side.board().legal_moves:
                        # As deep as no other, so that it counts.
                        side.set_eval(chess.engine.PovScore(chess.engine.Cp(ply), side.board().turn), depth + 100)
                        expected[side.board().epd()] = Eval(ply, None, depth + 100, 0, None)
        text += f"{root}\n\n"
    (tmp_path / "a.pgn").write_text(text)
    imported(tabiya, "a.evals", "a.pgn", "--source", "fishnet")
    recomputed = {}
    stream = tmp_path / "a.pgn"
    with stream.open() as games:
        while game := chess.pgn.read_game(games):
            nodes = [game]
            while nodes:
                node = nodes.pop()
                nodes += node.variations
                if (score := node.eval()) is not None:
                    board = node.board()
                    pov = score.pov(board.turn)
                    found = Eval(pov.score(), pov.mate(), node.eval_depth() or 0, 0, None)
                    if recomputed.setdefault(board.epd(), found).depth < found.depth:
                        recomputed[board.epd()] = found
    assert recomputed and set(recomputed) == set(expected)
    assert exported("a.evals") == recomputed
    info = json.loads(tabiya("info", "a.evals", "--json").stdout)
    assert [source["name"] for source in info["sources"]] == ["fishnet"]


def test_a_deeper_evaluation_replaces_a_shallower_one(tabiya, tmp_path, exported):
    boards, chance = BOARDS[:200], random.Random(8)
    versions = []
    for seed in range(6):
        found = evaluated(chance.sample(boards, 120), seed=20 + seed)
        versions.append({fen: value._replace(depth=1 + hash((fen, seed)) % 5) for fen, value in found.items()})
    expected = {}
    for number, found in enumerate(versions):
        chosen = [board for board in boards if board.epd() in found]
        (tmp_path / f"{number}.epd").write_bytes(epd_text(chosen, found))
        for fen, value in found.items():
            old = expected.get(fen)
            if old is None or (value.depth, value.nodes) > (old.depth, old.nodes):
                expected[fen] = value
    names = [f"{number}.epd" for number in range(6)]
    imported(tabiya, "all.evals", *names)
    assert exported("all.evals") == expected
    chance.shuffle(names)
    for name in names:
        imported(tabiya, "each.evals", name)
    assert exported("each.evals") == expected
    put_in_order(tabiya, tmp_path / "each.evals")
    put_in_order(tabiya, tmp_path / "all.evals")
    assert (tmp_path / "each.evals").read_bytes() == (tmp_path / "all.evals").read_bytes()


def reached(entries):
    """The positions that the entries of a book reach, and those after their moves, by python-chess: {EPD: board}."""
    wanted, waiting, seen = {}, [chess.Board()], set()
    while waiting:
        board = waiting.pop()
        at = chess.polyglot.zobrist_hash(board)
        if at in seen:
            continue
        seen.add(at)
        own = entries.get(f"{at:016x}", {})
        if own:
            wanted[board.epd()] = board
        for move in board.legal_moves:
            board.push(move)
            if board.peek().uci() in own:
                wanted[board.epd()] = board.copy(stack=False)
                waiting.append(wanted[board.epd()])
            elif f"{chess.polyglot.zobrist_hash(board):016x}" in entries:
                # A reply that leads back into the book.
                waiting.append(board.copy(stack=False))
            board.pop()
    return wanted


@pytest.mark.parametrize("only", [None, "white", "black"])
def test_only_what_a_book_reaches(tabiya, tmp_path, exported, dumped, only):  # noqa: F811
    (tmp_path / "games.pgn").write_text(pgn(random_games(60, seed=5, most_plies=20)))
    sides = ["--only", only] if only else []
    assert tabiya("build", "games.pgn", "-o", "book.bin", "--min-games", "1", *sides).returncode == DONE
    wanted = reached(dumped("book.bin"))
    neighbours = {}
    for board in list(wanted.values())[:150]:
        for move in list(board.legal_moves)[:3]:
            after = board.copy(stack=False)
            after.push(move)
            neighbours[after.epd()] = after
    pool = {fen: board for fen, board in (neighbours | wanted).items() if board.legal_moves}
    pool |= {board.epd(): board for board in BOARDS}
    found = evaluated(pool.values(), seed=2)
    (tmp_path / "all.jsonl").write_bytes(json_text(pool.values(), found))
    (tmp_path / "all.epd").write_bytes(epd_text(pool.values(), found))
    expected = {fen: value for fen, value in found.items() if fen in wanted}
    assert 100 < len(expected) < len(found)
    for name in ("all.jsonl", "all.epd"):
        done = imported(tabiya, f"{name}.evals", name, "--for", "book.bin")
        assert exported(f"{name}.evals") == expected
        assert f"{len(found) - len(expected)} evaluations of other positions left out".encode() in done.stdout


def test_what_is_wrong_is_reported_and_the_rest_is_imported(tabiya, tmp_path, exported):
    start, mated = chess.Board(), chess.Board("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
    good = [{"fen": mated.epd(), "evals": [{"pvs": [{"mate": 0, "line": ""}], "knodes": 1, "depth": 5}]}]
    wrong = [
        ("cannot be read", "junk"),
        ("cannot be read", '{"fen": 5, "evals": []}'),
        ("cannot be read", '{"fen":"' + start.epd()),
        ("illegal", json.dumps({"fen": "8/8/8/8/8/8/8/8 w - -", "evals": []})),
        ("illegal", json.dumps({"fen": "x", "evals": []})),
        ("missing", json.dumps({"fen": start.epd(), "evals": []})),
        ("missing", json.dumps({"fen": start.epd(), "evals": [{"pvs": [{"line": "e2e4"}], "knodes": 1, "depth": 5}]})),
        ("missing", json.dumps({"fen": start.epd(), "evals": [{"pvs": [{"mate": 0, "line": ""}], "knodes": 1, "depth": 5}]})),
        ("not legal", json.dumps({"fen": start.epd(), "evals": [{"pvs": [{"cp": 0, "line": "e2e5"}], "knodes": 1, "depth": 5}]})),
    ]
    lines = [line for _, line in wrong] * 5 + [json.dumps(line) for line in good]
    random.Random(1).shuffle(lines)
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    done = imported(tabiya, "a.evals", "a.jsonl", code=WANTING)
    assert exported("a.evals") == {mated.epd(): Eval(None, 0, 5, 1000, None)}
    assert done.stderr.count(b"a.jsonl: error: ") == len(wrong) * 5
    (tmp_path / "many.jsonl").write_text("\n".join([json.dumps(good[0])] + ["junk"] * 5000))
    done = imported(tabiya, "b.evals", "many.jsonl", code=WANTING)
    assert done.stderr.count(b"\n") == 21 and b"4980 more lines that cannot be read" in done.stderr
    # Nothing at all.
    (tmp_path / "none.epd").write_text("")
    assert b"no evaluations" in imported(tabiya, "c.evals", "none.epd", code=WANTING).stderr
    assert not (tmp_path / "c.evals").exists()
    # A compressed file that is cut off is used up to there.
    text = json_text(BOARDS, FOUND)
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(text)[:-2000])
    assert b"cannot read the rest of the file" in imported(tabiya, "d.evals", "cut.jsonl.gz", code=WANTING).stderr
    found = exported("d.evals")
    assert 0 < len(found) < len(FOUND) and found.items() <= FOUND.items()


def test_files_that_are_none_of_these_are_refused(tabiya, tmp_path):
    (tmp_path / "a.epd").write_bytes(epd_text(BOARDS[:5], FOUND))
    (tmp_path / "book.bin").write_bytes(bytes(160))
    assert imported(tabiya, "a.epd", "a.epd", code=USAGE)
    (tmp_path / "b.epd").write_bytes(epd_text(BOARDS[:5], FOUND))
    assert b"not a store" in imported(tabiya, "a.epd", "b.epd", code=FILE).stderr
    assert (tmp_path / "a.epd").read_bytes() == (tmp_path / "b.epd").read_bytes()
    assert imported(tabiya, "a.evals", "missing.epd", code=FILE)
    assert imported(tabiya, "a.evals", "book.bin", code=FILE)
    assert imported(tabiya, "a.evals", "b.epd", "--source", " ", code=USAGE)
    assert not (tmp_path / "a.evals").exists()
    for command in (["export"], ["info"]):
        assert tabiya(*command, "missing.evals").returncode == FILE
        assert tabiya(*command, "b.epd").returncode == FILE
    imported(tabiya, "c.evals", "b.epd")
    for command in ("check", "show"):
        done = tabiya(command, "c.evals")
        assert done.returncode == FILE and b"this is a store of evaluations, not a book" in done.stderr
    duckdb.connect().execute(f"COPY (SELECT 1 AS fen) TO '{tmp_path / 'a.parquet'}' (FORMAT parquet)")
    assert b"fen" in imported(tabiya, "a.evals", "a.parquet", code=FILE).stderr


def test_standard_input(tabiya, tmp_path, exported):
    with (tmp_path / "a.zst").open("wb") as file:
        file.write(zstandard(json_text(BOARDS, FOUND)))
    with (tmp_path / "a.zst").open("rb") as file:
        done = tabiya("import", "a.evals", "-", stdin=file)
    assert done.returncode == DONE, done.stderr
    assert exported("a.evals") == FOUND


def test_several_imports_at_once(tabiya_exe, tabiya, tmp_path, exported):
    parts = [BOARDS[number::4] for number in range(4)]
    for number, part in enumerate(parts):
        (tmp_path / f"{number}.jsonl").write_bytes(json_text(part, FOUND))
    lines = [["import", "a.evals", f"{number}.jsonl"] for number in range(4)]
    running = [subprocess.Popen([tabiya_exe, *line], cwd=tmp_path, stdout=subprocess.DEVNULL) for line in lines]
    imported(tabiya, "a.evals", "0.jsonl")
    for _ in range(5):
        assert tabiya("import", "a.evals", "0.jsonl").returncode == DONE
    assert [process.wait() for process in running] == [DONE] * 4
    assert exported("a.evals") == FOUND


@pytest.mark.parametrize("copies", [20, 140])
def test_a_killed_import_leaves_a_store_that_is_right(tabiya_exe, tabiya, tmp_path, exported, copies):
    """Few evaluations are appended, and many put the store in order."""
    chance = random.Random(copies)
    boards = BOARDS[:500]
    before = {fen: value._replace(depth=1) for fen, value in evaluated(boards[:300], seed=30).items()}
    (tmp_path / "before.epd").write_bytes(epd_text(boards[:300], before))
    found = {board.epd(): FOUND[board.epd()]._replace(depth=30) for board in boards}
    (tmp_path / "new.jsonl").write_bytes(json_text(boards, found) * copies)
    command = [tabiya_exe, "import", "a.evals", "new.jsonl"]
    begun = time.monotonic()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    took = time.monotonic() - begun
    killed, until = 0, time.monotonic() + HANG
    for attempt in itertools.takewhile(lambda attempt: attempt < times(4, 20) or killed < times(3, 10), itertools.count()):
        assert time.monotonic() < until, "imports end before they are killed"
        store = tmp_path / "a.evals"
        store.unlink(missing_ok=True)
        if attempt % 2:
            imported(tabiya, "a.evals", "before.epd")
        files, begun = stamps(tmp_path), time.monotonic()
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        if attempt // 2 % 2:
            kill_when_writing(process, tmp_path, files)
        else:
            # Any moment will do, also one after the end.
            time.sleep(took * chance.uniform(0.0, 1.05))
            process.kill()
        if process.wait() == -signal.SIGKILL:
            killed += 1
        else:
            took = min(took, time.monotonic() - begun)
        # Before its first bytes are written, a store is an empty file, which the next import takes for a new one.
        held = exported("a.evals") if store.exists() and store.stat().st_size > 0 else {}
        for fen, value in held.items():
            assert value in (before.get(fen), found[fen])
        if attempt % 2:
            assert before.keys() <= held.keys()
        if copies > 100 and attempt % 4 != 3:
            continue
        imported(tabiya, "a.evals", "new.jsonl")
        assert exported("a.evals") == found
        assert json.loads(tabiya("info", "a.evals", "--json").stdout)["oddities"] == []
    # What they leave says whose it is, and is removed. The last may have been killed before there was a store.
    imported(tabiya, "a.evals", "new.jsonl")
    put_in_order(tabiya, tmp_path / "a.evals")
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".part") == []


def test_a_build_keeps_the_evaluations_of_the_games_that_it_uses(tabiya, tmp_path, exported):
    games = [
        '[Event "good"]\n[Result "1-0"]\n\n{[%eval 0.2]} 1. e4 {[%eval 0.3,18]} e5 (1... c5 {[%eval 0.4,9]}) 2. Nf3 1-0\n\n',
        '[Event "bad"]\n[Result "1-0"]\n\n1. d4 {[%eval -0.3,18]} d5 1-0\n\n',
    ]
    (tmp_path / "games.pgn").write_text("".join(games) * 3)
    args = ["build", "games.pgn", "-o", "a.bin", "--tag", "Event=good"]
    assert tabiya(*args).returncode == DONE
    alone = (tmp_path / "a.bin").read_bytes()
    done = tabiya(*args, "--force", "--store", "a.bin.evals")
    assert done.returncode == DONE and b"a.bin.evals: 9 evaluations in comments: 3 new positions" in done.stdout
    assert (tmp_path / "a.bin").read_bytes() == alone
    expected = {}
    for moves, cp, depth in [("", 20, 0), ("e4", -30, 18), ("e4 c5", 40, 9)]:
        board = chess.Board()
        for move in moves.split():
            board.push_san(move)
        expected[board.epd()] = Eval(cp, None, depth, 0, None)
    assert exported("a.bin.evals") == expected
    with (tmp_path / "games.pgn").open("rb") as file:
        done = tabiya("build", "-", "-o", "b.bin", "--store", "b.evals", stdin=file)
    assert done.returncode == USAGE and b"read only once" in done.stderr
    assert tabiya("build", "games.pgn", "-o", "b.bin", "--store", "games.pgn").returncode == USAGE


def packed(board):
    """A position in 24 bytes, as docs/formats/evals.md describes it."""
    bits, codes = 0, []
    passed = board.ep_square if board.has_legal_en_passant() else None
    for square, piece in sorted(board.piece_map().items()):
        bits |= 1 << square
        code = piece.piece_type - 1 + (0 if piece.color else 6)
        if passed is not None and square == passed + (-8 if board.turn else 8):
            code = 12
        elif board.castling_rights >> square & 1:
            code = 13 if piece.color else 14
        elif piece == chess.Piece(chess.KING, chess.BLACK) and not board.turn:
            code = 15
        codes.append(code)
    codes += [0] * (32 - len(codes))
    return bits.to_bytes(8, "little") + bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2], strict=True))


def test_the_file_is_as_the_page_describes_it(tabiya, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(json_text(BOARDS, FOUND))
    imported(tabiya, "a.evals", "a.jsonl", "--source", "An engine with a name longer than a part")
    engine = hashlib.sha256(b"An engine with a name longer than a part").digest()[:4]

    def number(found):
        return found.cp if found.mate is None else 2**30 - found.mate if found.mate > 0 else -(2**30) - found.mate

    def records(path):
        parts = [path.read_bytes()[at : at + 48] for at in range(0, path.stat().st_size, 48)]
        assert all(part[44:] == hashlib.sha256(part[:44]).digest()[:4] for part in parts)
        return parts[0], parts[1:3], parts[3:]

    expected = []
    for board in BOARDS:
        found = FOUND[board.epd()]
        best = chess.Move.from_uci(found.best)
        to = best.to_square
        if board.is_castling(best):
            to = chess.Move.from_uci(board.uci(best, chess960=True)).to_square
        move = ((best.promotion or 1) - 1) << 12 | best.from_square << 6 | to
        expected.append(packed(board) + struct.pack(">HQiH", found.depth, found.nodes, number(found), move) + engine)
    for in_order in (0, len(BOARDS) + 2):
        header, names, found = records(tmp_path / "a.evals")
        assert header[:24] == b"TabEvals" + struct.pack(">QQ", 1, in_order) and header[24:44] == bytes(20)
        assert [name[:13] for name in names] == [bytes(8) + engine + bytes([part]) for part in (0, 1)]
        assert b"".join(name[13:44] for name in names).rstrip(b"\0") == b"An engine with a name longer than a part"
        assert sorted(record[:44] for record in found) == sorted(expected)
        assert not in_order or found == sorted(found)
        put_in_order(tabiya, tmp_path / "a.evals", "a.jsonl", "--source", "An engine with a name longer than a part")
