"""Variants: each is played from its own books and no others, under Cute Chess and under a client made of python-chess.

It needs `cutechess-cli`, in the folder TABIYA_TOOLS or on the PATH, and `fairy-stockfish`. TABIYA_VARIANT_GAMES (2) says how
many games are played of each kind.
"""

import json
import os
import re
import struct
import subprocess

import chess
import chess.polyglot
import chess.variant
import pytest

from client import HANG, START, find_tool, problems, times
from polyglot_writer import Book
from test_learning import learn_the_rest
from variant_books import BOARDS, book_of, code_of

GAMES = int(os.environ.get("TABIYA_VARIANT_GAMES", "2"))

# The kinds of chess of the books.
CHESS = ("standard", "fischerandom")

# What Cute Chess reports of a side that breaks off or breaks the rules.
FAILURES = ("illegal move", "disconnects", "stalls", "abandoned", "terminated")

CUTECHESS = find_tool("cutechess-cli")
FAIRY = os.environ.get("FAIRY_STOCKFISH") or find_tool("fairy-stockfish", "/usr/games")


def output_of(*line, **more):
    """What a program prints; nothing if it cannot be run."""
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=HANG, check=False, **more)
    except OSError:
        return ""
    return done.stdout


def variants():
    """The kinds of chess that both know."""
    if not CUTECHESS or not FAIRY:
        return []
    known = re.findall(r"^\s+'(\S+)'\s*:", output_of(CUTECHESS, "-help"), re.MULTILINE)
    return [name for name in known if name in OFFERED and name not in CHESS]


def offered():
    """The kinds of chess that the engine plays: Debian's leaves some out."""
    lines = output_of(FAIRY, input="uci\nquit\n").splitlines() if FAIRY else []
    return next((line.split() for line in lines if line.startswith("option name UCI_Variant ")), [])


OFFERED = offered()
KINDS = variants()


def why_skipped():
    if not CUTECHESS:
        return "there is no cutechess-cli, neither in the folder that TABIYA_TOOLS names nor on PATH"
    if not FAIRY:
        return "no fairy-stockfish on the PATH"
    return "cutechess-cli and fairy-stockfish know no kind of chess in common: does cutechess-cli run?"


@pytest.fixture
def played(tabiya_exe, tmp_path):
    """Plays games of a kind of chess between two adapters; returns what Cute Chess says, and the log of each adapter."""

    def play(variant, book, engine=FAIRY):
        line = [CUTECHESS, "-variant", variant, "-games", str(GAMES), "-maxmoves", "100"]
        logs = []
        for name in ("first", "second"):
            logs.append(tmp_path / f"{name}.log")
            words = ["--engine", engine, "--book", book, "--log", logs[-1], "--log-level", "debug"]
            words += ["--set", "Book Learn=true", "--set", "Book Guard=20", "--set", "Book Max Loss=50"]
            line += ["-engine", f"name={name}", f"cmd={tabiya_exe}", f"dir={tmp_path}"]
            line += [f"arg={word}" for word in words]
        line += ["-each", "proto=uci", "tc=inf", "depth=2"]
        done = subprocess.run(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG, check=False, cwd=tmp_path
        )
        ended = [text for text in done.stdout.splitlines() if text.startswith("Finished game")]
        assert len(ended) == GAMES, done.stdout
        return ended, [log.read_text() for log in logs]

    return play


@pytest.fixture
def book(tmp_path):
    return Book().line("e2e4 e7e5 g1f3 b8c6", weight=10).line("d2d4 d7d5", weight=5).write(tmp_path / "book.bin")


@pytest.mark.skipif(not KINDS, reason=why_skipped())
@pytest.mark.parametrize("variant", KINDS[:: times(8, 1)])
def test_books_keep_out_of_other_kinds_of_chess(played, book, variant):
    before = book.read_bytes()
    ended, logs = played(variant, book)
    assert not [text for text in ended if any(failure in text for failure in FAILURES)]
    for log in logs:
        assert log.count(": no book is named for it") + log.count(": books do not know its rules") == 1
        assert "book move" not in log and "is learned" not in log
    assert book.read_bytes() == before and not book.with_name("book.bin.learn").exists()


@pytest.mark.skipif(not KINDS, reason=why_skipped())
@pytest.mark.parametrize("variant", CHESS)
def test_books_answer_in_their_own_kinds_of_chess(played, book, stockfish, variant):
    # Fairy-Stockfish does not castle as Cute Chess expects in Chess960.
    ended, logs = played(variant, book, stockfish)
    assert not [text for text in ended if any(failure in text for failure in FAILURES)]
    assert all("books answer and learn" not in log for log in logs)
    assert variant != "standard" or all("book move" in log for log in logs)


@pytest.fixture
def configured(tmp_path):
    """A tabiya.toml with a book of each variant that the engine plays, made with python-chess."""
    text = f"book = '{Book().line('d2d4 d7d5', weight=1).write(tmp_path / 'chess.bin')}'\n"
    for name, (board, line) in BOARDS.items():
        book = book_of(board(), line, tmp_path / f"{name}.bin")
        text += f"[variant.{name}]\nbook = '{book}'\n" * (name in OFFERED)
    (tmp_path / "tabiya.toml").write_text(text)
    return tmp_path / "tabiya.toml"


@pytest.mark.skipif(not FAIRY, reason="no fairy-stockfish on the PATH")
def test_one_process_plays_all_variants_by_turns(run, tabiya_exe, configured, tmp_path):
    """Each from its own book, to the end of its line, and then from the engine; then standard chess again."""
    client = run(tabiya_exe, "--engine", FAIRY, "--config", configured, "--log", tmp_path / "log")
    client.start()
    ours = [(name, *BOARDS[name]) for name in BOARDS if name in OFFERED] + [("chess", chess.Board, "d2d4 d7d5")]
    for name, board, line in ours * 2:
        client.send(f"setoption name UCI_Variant value {name}")
        client.send("ucinewgame")
        board, moves = board(), line.split()
        for ply in range(len(moves) + 1):
            if board.is_variant_end():
                break
            best = client.go("depth 1", "position startpos" + " moves " * (ply > 0) + " ".join(moves[:ply])).move
            if ply < len(moves):
                assert best == moves[ply], (name, ply)
            assert chess.Move.from_uci(best) in board.legal_moves, (name, best)
            board.push_uci(best)
    client.quit()
    text = (tmp_path / "log").read_text()
    for name, _, line in ours:
        played = re.findall(rf"book move (\S+) from \S*/{name}\.bin", text)
        assert played == line.split() * 2, name


@pytest.mark.skipif(not FAIRY, reason="no fairy-stockfish on the PATH")
def test_a_result_goes_into_the_book_of_its_variant(run, tabiya_exe, configured, tmp_path):
    others = [path for path in tmp_path.glob("*.bin") if path.name != "kingofthehill.bin"]
    before = [path.read_bytes() for path in others]
    argv = [tabiya_exe, "--engine", FAIRY, "--config", configured, "--set", "Book Learn=true"]
    client = run(*argv, "--log", tmp_path / "log")
    client.start()
    client.send("setoption name UCI_Variant value kingofthehill", "ucinewgame")
    # White's king goes to the hill, which wins there and nowhere else.
    moves = BOARDS["kingofthehill"][1].split()
    for ply in range(0, len(moves), 2):
        position = "position startpos" + " moves " * (ply > 0) + " ".join(moves[:ply])
        assert client.go("wtime 60000 btime 60000", position).move == moves[ply]
    client.send("setoption name UCI_Variant value chess", "ucinewgame", "quit")
    client.wait()
    learn_the_rest(run, argv, tmp_path / "log")
    assert [path.read_bytes() for path in others] == before
    data = (tmp_path / "kingofthehill.bin").read_bytes()
    learned = [struct.unpack(">QHHHH", data[at : at + 16])[3:] for at in range(0, len(data), 16)]
    assert sorted(learned) == [(0, 0)] * 4 + [(1, 2)] * 5, (learned, (tmp_path / "log").read_text())
    assert [path.name for path in tmp_path.glob("*.learn")] == ["kingofthehill.bin.learn"]


def test_the_book_of_another_variant_is_refused_where_it_is_to_be_played(adapter, tmp_path, configured):
    """The start does not wait for looking at books."""
    for wrong, likely in [("horde", "antichess"), ("atomic", "racingkings")]:
        (tmp_path / "tabiya.toml").write_text(f"[variant.{wrong}]\nbook = '{likely}.bin'\n")
        client = adapter("--config", tmp_path / "tabiya.toml")
        assert problems(client.start()) == []
        client.send(f"setoption name UCI_Variant value {wrong}")
        (told,) = problems(client.ready())
        assert f"{likely}.bin: its moves obey the rules of {likely}, not of {wrong}" in told, told
        assert client.go("movetime 10", START).book is None and client.quit() == 0


def test_a_missing_book_of_a_variant_is_an_error_at_the_start(adapter, tmp_path):
    (tmp_path / "tabiya.toml").write_text("[variant.horde]\nbook = 'gone.bin'\n")
    client = adapter("--config", tmp_path / "tabiya.toml")
    client.send("uci")
    assert client.wait() == 3 and "gone.bin: no such book" in client.errors()


@pytest.mark.parametrize("name", ["made.ctg", "made.kob", "made.parquet"])
def test_a_file_that_holds_another_variant_is_an_error_at_the_start(adapter, tabiya, tmp_path, name):
    """A count file says its variant, and other formats have one only."""
    game = '[Event "?"]\n{}[Result "1-0"]\n\n1. Nf3 f6 2. Nc3 d5 1-0\n'
    (tmp_path / "games.pgn").write_text(game.format('[Variant "Atomic"]\n' if name == "made.parquet" else ""))
    words = ("--variant", "atomic") if name == "made.parquet" else ("--min-games", "1")
    assert tabiya("build", "games.pgn", "-o", name, *words).returncode == 0
    (tmp_path / "tabiya.toml").write_text(f"book = '{name}'\n" if name == "made.parquet" else f"[variant.horde]\nbook = '{name}'\n")
    client = adapter("--config", tmp_path / "tabiya.toml")
    client.send("uci")
    told = "the file holds atomic, not chess" if name == "made.parquet" else "books of this format hold chess, not horde"
    assert client.wait() == 3 and f"{name}: {told}" in client.errors(), client.errors()


def test_a_book_of_a_variant_that_is_named_as_one_of_chess_is_told_once(adapter, tmp_path, configured):
    """Beside play: nothing waits for it."""
    told = "atomic.bin: its moves obey the rules of atomic, not of chess: name it below [variant.atomic] in tabiya.toml"
    book, log = tmp_path / "atomic.bin", tmp_path / "log"
    client = adapter("--book", book, "--log", log, "--config", os.devnull)
    client.start()
    while not any(told in line for line in client.heard):
        client.line()
    for _ in range(2):
        client.send(f"setoption name Book File value {book}", "ucinewgame")
        client.ready()
        client.go("movetime 10", START)
    # Another book is looked at after those.
    client.send(f"setoption name Book File value {tmp_path / 'antichess.bin'}")
    client.ready()
    while not any("antichess.bin: its moves" in line for line in client.heard):
        client.line()
    client.quit()
    assert len([line for line in client.heard if told in line]) == 1
    assert log.read_text().count(told) == 1 and client.errors().count(told) == 1


def test_show_asks_what_play_would_ask(tabiya, configured, tmp_path):
    (tmp_path / "tabiya.toml").write_text("book = 'chess.bin'\n[variant.horde]\nbook = 'horde.bin'\n")
    for words, book in [((), "chess"), (("--variant", "horde"), "horde")]:
        done = tabiya("show", *words)
        assert done.returncode == 0 and f"{book}.bin answers.".encode() in done.stdout, done
    done = tabiya("show", "--variant", "atomic")
    assert done.returncode == 2 and b"below a line [variant.atomic]" in done.stderr, done.stderr
    with (tmp_path / "tabiya.toml").open("a") as file:
        file.write("[[variant.racingkings.book]]\nfile = 'racingkings.bin'\nmax-uses = 2\n")
    done = tabiya("show", "--variant", "racingkings")
    assert b"rule 1 (racingkings.bin) answers, if it has answered fewer than 2 moves" in done.stdout, done
    # An engine that is set to a variant plays it.
    (tmp_path / "tabiya.toml").write_text("set = ['UCI_Variant=horde']\n[variant.horde]\nbook = 'horde.bin'\n")
    assert b"horde.bin answers." in tabiya("show").stdout
    (tmp_path / "tabiya.toml").write_text("book = 'atomic.bin'\n")
    assert b"its moves obey the rules of atomic, not of chess" in tabiya("show").stderr


@pytest.mark.skipif(not FAIRY, reason="no fairy-stockfish on the PATH")
def test_the_book_of_another_variant_that_is_named_during_play_is_told(run, tabiya_exe, configured, tmp_path):
    """The engine plays on; the right book answers once it is named."""
    client = run(tabiya_exe, "--engine", FAIRY, "--config", configured)
    client.start()
    client.send("setoption name UCI_Variant value horde", "ucinewgame")
    for name, told in [("racingkings", "racingkings"), ("antichess", "antichess"), ("horde", None)]:
        client.send(f"setoption name Book File value {tmp_path / name}.bin")
        said = problems(client.ready())
        assert [f"the rules of {told}, not of horde" in line for line in said] == [True] * bool(told), (name, said)
        best = client.go("depth 1", "position startpos")
        assert (best.book is None) == bool(told) and (told or best.move == "e4e5"), (name, best)
    client.quit()


@pytest.mark.skipif(not FAIRY, reason="no fairy-stockfish on the PATH")
def test_books_are_vetted_by_the_rules_of_their_variant(tabiya, tmp_path):
    """The king's step to the hill wins there, and is a blunder in standard chess."""
    board = chess.variant.KingOfTheHillBoard()
    book_of(board, "e2e4 a7a6 e1e2 a6a5 e2e3 a5a4", tmp_path / "book.bin")
    key = chess.polyglot.zobrist_hash(board)
    moves = {uci: code_of(chess.Move.from_uci(uci)) for uci in ("a2a3", "e3d4")}
    entries = re.findall(b"(?s).{16}", (tmp_path / "book.bin").read_bytes())
    entries += [struct.pack(">QHHI", key, moves["a2a3"], 100, 0), struct.pack(">QHHI", key, moves["e3d4"], 1, 0)]
    (tmp_path / "book.bin").write_bytes(b"".join(sorted(entries)))

    def left(out):
        found = re.findall(b"(?s).{16}", (tmp_path / out).read_bytes())
        return {uci for uci, code in moves.items() if any(entry[:10] == struct.pack(">QH", key, code) for entry in found)}

    words = ("vet", tmp_path / "book.bin", "--side", "white", "--exit-loss", "9999")
    searched = ("--engine", FAIRY, "--nodes", "3000", "--report", tmp_path / "report.json")
    done = tabiya(*words, "--variant", "koth", "-o", tmp_path / "koth.bin", *searched)
    assert done.returncode == 0, done.stderr
    assert left("koth.bin") == {"e3d4"}
    shown = json.loads((tmp_path / "report.json").read_text())["moves"]
    assert next(move["value"] for move in shown if move["uci"] == "e3d4") > 30_000
    # The same store serves standard chess, which knows nothing of it, and then both without an engine.
    done = tabiya(*words, "-o", tmp_path / "chess.bin", *searched, "--force")
    assert done.returncode == 0 and b"; 0 were known already" in done.stdout, done.stdout
    assert left("chess.bin") == {"a2a3"}
    for options, left_there in ((["--variant", "koth"], {"e3d4"}), ([], {"a2a3"})):
        assert tabiya(*words, *options, "-o", tmp_path / "again.bin", "--no-engine", "--force").returncode == 0
        assert left("again.bin") == left_there
    done = tabiya("export", f"{words[1]}.evals", "-o", "stored.epd")
    assert done.returncode == 0 and b" of variants of chess" in done.stderr and b"damaged" not in done.stderr, done.stderr
    if "atomic" not in OFFERED:
        book_of(BOARDS["atomic"][0](), BOARDS["atomic"][1], tmp_path / "atomic.bin")
        done = tabiya("vet", tmp_path / "atomic.bin", "-o", tmp_path / "a.bin", "--variant", "atomic", "--engine", FAIRY)
        assert done.returncode and b"does not offer atomic" in done.stderr, done.stderr


@pytest.mark.skipif(not FAIRY, reason="no fairy-stockfish on the PATH")
def test_doctor_says_whose_rules_the_books_of_standard_chess_obey(tabiya, configured, tmp_path):
    for book, told in [("antichess.bin", "antichess"), ("atomic.bin", "atomic"), ("chess.bin", None)]:
        done = tabiya("doctor", "--engine", FAIRY, "--book", tmp_path / book, "--config", os.devnull, "--engine-moves", "1")
        text = done.stdout.decode()
        says = f"{book}: its moves obey the rules of {told}, not of chess: name it below [variant.{told}]"
        assert (says in text, done.returncode) == (told is not None, int(told is not None)), text


@pytest.mark.skipif(not FAIRY, reason="no fairy-stockfish on the PATH")
@pytest.mark.parametrize("variant", ["chess", "horde"])
def test_doctor_finds_a_variant_that_is_set_sound(tabiya, configured, variant):
    text = f"book = 'chess.bin'\n[variant.horde]\nbook = 'horde.bin'\n[set]\nUCI_Variant = '{variant}'\n"
    (configured.parent / "tabiya.toml").write_text(text)
    done = tabiya("doctor", "--engine", FAIRY, "--config", configured, "--engine-moves", "1")
    text = done.stdout.decode()
    assert done.returncode == 0 and text.endswith("\nAll is well.\n"), text
    chess_game, horde_game = text.split("shown as")[1].split("\nHorde\n")
    assert "chess.bin" in chess_game and "horde.bin" in horde_game, text
    assert ("doctor tries standard chess first" in chess_game) == (variant == "horde"), text


def test_check_counts_what_it_says_of_the_variant(tabiya, tmp_path):
    """In JSON and in the exit code; a count file says itself which variant it is of."""
    book_of(BOARDS["atomic"][0](), BOARDS["atomic"][1], tmp_path / "atomic.bin")
    (tmp_path / "g.pgn").write_text('[Variant "Atomic"]\n[Result "1-0"]\n\n1. Nf3 f6 2. Nd4 1-0\n')
    assert tabiya("build", "g.pgn", "-o", "atomic.parquet", "--variant", "atomic").returncode == 0
    for book in ("atomic.bin", "atomic.parquet"):
        done = tabiya("check", book, "--json")
        first, *_, last = [json.loads(line) for line in done.stdout.splitlines()]
        says = "its moves obey the rules of atomic, not of chess; `--variant atomic` reads it as such a book"
        assert (first["severity"], first["what"]) == ("error", says), done
        assert last["errors"] >= 1 and done.returncode == 1 and not done.stderr, done
        assert b": error: its moves obey" in tabiya("check", book).stdout
        done = tabiya("check", book, "--variant", "atomic")
        assert (done.returncode, done.stdout.decode()) == (0, f"{book}: sound\n"), done


def test_check_words_drops_and_takes_both_forms_of_castling(tabiya, tmp_path):
    """python-chess, by which bots of variants read their books, takes the king's step for castling too."""
    board = chess.variant.CrazyhouseBoard()
    start = chess.polyglot.zobrist_hash(board)
    entry = struct.pack(">QHHI", start, code_of(chess.Move.from_uci("P@h3")), 0, 0)
    (tmp_path / "drop.bin").write_bytes(entry)
    done = tabiya("check", "drop.bin", "--variant", "crazyhouse")
    assert b"the move P@h3 has weight 0" in done.stdout and b"the move P@h3 is not legal in" in done.stdout, done.stdout
    moves = "g1f3 a7a6 e2e3 b7b6 f1e2 c7c6".split()
    book = b""
    for move in [*moves, "e1g1"]:
        code = code_of(chess.Move.from_uci(move))
        book += struct.pack(">QHHI", chess.polyglot.zobrist_hash(board), code, 1, 0)
        board.push_uci(move)
    entries = sorted(book[at : at + 16] for at in range(0, len(book), 16))
    (tmp_path / "castling.bin").write_bytes(b"".join(entries))
    assert tabiya("check", "castling.bin", "--variant", "crazyhouse").stdout == b"castling.bin: sound\n"
    assert b"castling.bin: sound, 1 warning\n" in tabiya("check", "castling.bin").stdout


@pytest.mark.skipif(not FAIRY, reason="no fairy-stockfish on the PATH")
def test_doctor_tries_each_variant_that_has_a_book(tabiya, configured):
    done = tabiya("doctor", "--engine", FAIRY, "--config", configured, "--engine-moves", "1")
    text = done.stdout.decode()
    assert done.returncode == 0 and "All is well" in text, text
    shown = text.split("shown as")[1]
    assert all(f"{name}.bin" in shown for name in BOARDS if name in OFFERED), text
    (configured.parent / "tabiya.toml").write_text("[variant.atomic]\nbook = 'atomic.bin'\n")
    done = tabiya("doctor", "--engine", FAIRY, "--config", configured, "--engine-moves", "1")
    says = b"the engine does not offer atomic" in done.stdout
    assert says == ("atomic" not in OFFERED) and done.returncode == says, done
