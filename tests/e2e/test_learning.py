"""Learning under a real client: the verdicts against the match's own results; and PolyGlot, which reads what was learned."""

import json
import re
import struct
import subprocess
import time

import chess
import chess.engine
import chess.pgn
import pytest

from client import HANG, Client, eventually, times
from polyglot_writer import Book, key
from recording import popen
from test_config import runner_of

LEARNED = re.compile(r"^info string tabiya: game (\d+) as (White|Black), .*: learned: (\d+) entr")
VERDICT = re.compile(r"^info string tabiya: game (\d+) as (White|Black), (\d+) plies, is (won|drawn|lost|of unknown result): (.*)$")
ENTRY = struct.Struct(">QHHHH")
RESULTS = {"won": 1.0, "drawn": 0.5, "lost": 0.0}


def fields(path):
    """Learned games and half-points of each entry that has any, by key and move."""
    found = {}
    for at in range(0, path.stat().st_size - 15, 16):
        entry_key, move, _, games, points = ENTRY.unpack_from(path.read_bytes(), at)
        if games or points:
            found[entry_key, move] = (games, points)
    return found


# How games of a match end. Each returns the result, as PGN writes it, where the client ends the game; python-chess sends
# a final position to nobody, so that a side whose opponent moved last must do with its scores.


class Referee:
    """What a tournament's referee does beside the rules of chess."""

    def __init__(self, resign=None, draw=None, flag=None):
        self.resign = resign  # centipawns that the loser's own scores must show three times running
        self.draw = draw  # centipawns within which both sides' scores must lie ten times running, after move 40
        self.flag = flag  # the ply at which the side to move loses on time, whatever the board says
        self.scores = {chess.WHITE: [], chess.BLACK: []}

    def judge(self, board, mover, score):
        own = self.scores[mover]
        own.append(score)
        lost = "0-1" if mover == chess.WHITE else "1-0"
        if self.resign and len(own) >= 3 and all(value is not None and value <= -self.resign for value in own[-3:]):
            return lost, "resignation"
        both = [value for scores in self.scores.values() for value in scores[-10:]]
        level = self.draw and len(both) == 20 and all(value is not None and abs(value) <= self.draw for value in both)
        if level and board.fullmove_number > 41:
            return "1/2-1/2", "adjudication"
        return None


class Side:
    """One side's adapter, with what python-chess heard of it."""

    def __init__(self, argv, folder):
        self.engine = popen(argv, folder)
        self.protocol = self.engine.protocol

    def verdicts(self):
        return [match for match in map(VERDICT.match, self.protocol.heard("info")) if match]

    def learned(self):
        return [match for match in map(LEARNED.match, self.protocol.heard("info")) if match]


def move_of(side, board, number, limit):
    result = side.engine.play(board, limit, game=number, info=chess.engine.INFO_SCORE)
    score = result.info.get("score")
    # A move of the book's has a score of nothing at depth 0.
    value = None if score is None or result.info.get("depth") == 0 else score.relative.score(mate_score=100_000)
    return result.move, value


def play(sides, number, start, limit, referee, slow=None):
    """One game; returns it with its result and how it ended. `slow` are seconds that the flag's owner is waited for."""
    board = chess.Board() if start is None else chess.Board(start)
    while True:
        outcome = board.outcome(claim_draw=False)
        if outcome is None and (board.is_repetition(3) or board.halfmove_clock >= 100):
            return board, "1/2-1/2", "repetition" if board.is_repetition(3) else "fifty moves"
        if outcome is not None:
            return board, outcome.result(), outcome.termination.name.lower()
        if referee.flag == board.ply():
            # The side to move answers when its clock has run out, as the opponent sees by its own.
            sides[board.turn].engine.play(board, chess.engine.Limit(white_clock=0.05, black_clock=0.05), game=number)
            time.sleep(slow)
            return board, "0-1" if board.turn == chess.WHITE else "1-0", "time"
        mover = board.turn
        move, score = move_of(sides[mover], board, number, limit)
        board.push(move)
        ended = referee.judge(board, mover, score)
        if ended:
            return board, *ended


@pytest.fixture(autouse=True)
def no_complaint(caplog):
    """python-chess warns of each line at a moment at which it expects none."""
    yield
    records = caplog.get_records("setup") + caplog.get_records("call")
    assert [record.getMessage() for record in records if record.name == "chess.engine"] == []


@pytest.fixture
def match(tmp_path, tabiya_exe, stockfish, scripted_exe):
    """Two adapters around Stockfish of different strength, each with a book of its own, that learn."""
    made = []

    def start(scripts=None):
        sides = {}
        for colour, name in ((chess.WHITE, "white"), (chess.BLACK, "black")):
            line = "e2e4 e7e5 g1f3 b8c6" if scripts is None else " ".join(STALEMATE[:2])
            book = Book().line(line, weight=1).write(tmp_path / f"{name}.bin")
            argv = [tabiya_exe, "--book", book, "--set", "Book Learn=true", "--set", "Hash=1"]
            if scripts is None:
                argv += ["--engine", stockfish]
            else:
                argv += ["--engine", scripted_exe]
                argv += [f"--engine-arg={word}" for move in scripts[colour] + ["h1h2"] for word in ("--bestmove", move)]
            argv += ["--log", tmp_path / f"{name}.log", "--seed", "5"]
            side = Side(argv, tmp_path)
            side.book = book
            made.append(side)
            sides[colour] = side
        return sides

    yield start
    for side in made:
        side.engine.close()


def last_words(sides):
    """The next game ends the last one, and its question brings what was said of it; then both quit, and have learned."""
    for side in sides.values():
        board = chess.Board("4k3/8/8/8/8/8/8/4K2R w - - 0 1")
        side.engine.play(board, chess.engine.Limit(nodes=1), info=chess.engine.INFO_ALL, game="end")
        side.engine.quit()


def compare(sides, games, capsys):
    """The verdicts of each side against the games' results: learned, unknown, wrong."""
    learned, unknown, wrong = {}, {}, []
    for colour, side in sides.items():
        seen = {}
        for match in side.verdicts():
            seen[int(match[1])] = match
        assert all(match[2] == ("White" if colour == chess.WHITE else "Black") for match in seen.values())
        # A side that had no turn in a game knows nothing of it.
        turns = [game for game in games if len(game[0].move_stack) > (game[0].root().turn != colour)]
        for number, (board, result, how) in enumerate(turns, start=1):
            match = seen.get(number)
            if match is not None and match[4] != "of unknown result":
                assert int(match[3]) <= len(board.move_stack), match[0]
            kind = unknown if match is None or match[4] == "of unknown result" else learned
            kind[how] = kind.get(how, 0) + 1
            if kind is learned:
                points = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}[result]
                own = points if colour == chess.WHITE else 1 - points
                if RESULTS[match[4]] != own:
                    wrong.append((number, colour, how, result, match[0]))
    with capsys.disabled():
        ways = sorted(set(learned) | set(unknown))
        for how in ways:
            print(f"\n  {how:22} learned {learned.get(how, 0):3} unknown {unknown.get(how, 0):3}", end="")
        print(f"\n  {len(games)} games under two adapters: {sum(learned.values())} verdicts learned,", end=" ")
        print(f"{sum(unknown.values())} unknown, {len(wrong)} wrong")
    return learned, unknown, wrong


# The shortest known stalemate, by Sam Loyd.
STALEMATE = "e2e3 a7a5 d1h5 a8a6 h5a5 h7h5 h2h4 a6h6 a5c7 f7f6 c7d7 e8f7 d7b7 d8d3 b7b8 d3h7 b8c8 f7g6 c8e6".split()

# Positions from which games end soon in a way of their own.
WAYS = {
    "mate": [None, "4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "4k3/8/8/8/8/8/3Q1Q2/4K3 w - - 0 1", "r3k2r/8/8/8/8/8/8/4K3 b - - 0 1"],
    "pawns": ["8/8/8/8/4k3/8/4p3/4K3 b - - 0 1", "4k3/8/4P3/4K3/8/8/8/8 b - - 0 1", "7k/8/5KP1/8/8/8/8/8 b - - 0 1"],
    "dead": ["8/8/8/3k4/8/3K4/4p3/8 b - - 0 1", "8/8/8/3k4/4P3/8/8/6K1 b - - 0 1"],
    "fifty": ["4k3/8/8/8/8/8/8/R3K2r w - - 90 80", "4k3/1r6/8/8/8/8/1R6/4K3 b - - 92 80", "4k2b/8/8/8/8/8/8/B3K1N1 w - - 88 90"],
    "repetition": ["8/5k2/p1p1p1p1/P1P1P1P1/8/8/5K2/8 w - - 0 1", "8/5k2/p1p1p1p1/P1P1P1P1/8/8/5K2/8 b - - 0 1"],
}


def test_no_verdict_of_a_match_is_wrong(match, capsys):
    sides = match()
    games = []
    quick = chess.engine.Limit(nodes=2000)

    def game(start, limit, referee, slow=None):
        games.append(play(sides, len(games) + 1, start, limit, referee, slow))

    for starts in WAYS.values():
        for start in starts * times(1, 2):
            game(start, quick, Referee())
    # White gives odds, so that one side soon has enough of it.
    odds = ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1", "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]
    for start in odds * times(2, 4):
        game(start, quick, Referee(resign=700))
    for start in ["8/5k2/p1p1p1p1/P1P1P1P1/8/8/5K2/8 w - - 0 45"] * 4:
        game(start, quick, Referee(draw=15))
    # On time, in won, lost and level positions, whoever's flag falls: the client waits until the clock it told of is out.
    for ply in (4, 5, 8, 9)[: times(2, 4)]:
        for start in odds:
            game(start, chess.engine.Limit(white_clock=1.0, black_clock=1.0), Referee(flag=ply), slow=1.0)
    ended = {how for _, _, how in games}
    assert {"checkmate", "insufficient_material", "repetition", "fifty moves", "resignation", "adjudication", "time"} <= ended
    last_words(sides)
    learned, unknown, wrong = compare(sides, games, capsys)
    assert wrong == []
    assert "time" not in learned
    for how in ("checkmate", "insufficient_material", "repetition", "fifty moves", "resignation", "adjudication"):
        assert learned.get(how, 0) > 0, (how, learned, unknown)


def test_a_stalemate_is_learned_as_a_draw(match, capsys):
    sides = match({chess.WHITE: STALEMATE[2::2], chess.BLACK: STALEMATE[3::2]})
    game = play(sides, 1, None, chess.engine.Limit(depth=1), Referee())
    assert game[1:] == ("1/2-1/2", "stalemate")
    last_words(sides)
    learned, _, wrong = compare(sides, [game], capsys)
    assert wrong == [] and learned == {"stalemate": 1}
    assert list(fields(sides[chess.WHITE].book).values()) == [(1, 1)] and fields(sides[chess.BLACK].book) == {}


def won_at_a_limit(client, number, plies):
    """A game as White that the scores show won and that a limit of moves ends; as PGN, drawn."""
    board = chess.Board()
    while len(board.move_stack) < plies:
        answer = client.go("depth 1", f"position startpos moves {' '.join(move.uci() for move in board.move_stack)}")
        board.push_uci(answer.move)
        replies = list(board.legal_moves)
        board.push(chess.Move.from_uci("e7e5") if len(board.move_stack) == 1 else replies[number % len(replies)])
    client.send("ucinewgame")
    client.ready()
    game = chess.pgn.Game.from_board(board)
    game.headers.update(White="tabiya", Round=str(number), Result="1/2-1/2")
    return str(game)


def test_a_game_cut_at_a_limit_is_not_learned_and_a_guess_is_corrected(tmp_path, run, tabiya_exe, engine, tabiya):
    book = Book().line("e2e4 e7e5 g1f3", weight=1).write(tmp_path / "a.bin")
    argv = [tabiya_exe, *engine.argv("--score", "cp 900", "--legal"), "--book", book, "--set", "Book Learn=true"]
    client = run(*argv, "--log", tmp_path / "log")
    client.start()
    games = [won_at_a_limit(client, number, 22) for number in range(4)]
    client.send("quit")
    said = client.rest()
    assert client.wait() == 0
    learn_the_rest(run, argv, tmp_path / "log")
    log = (tmp_path / "log").read_text()
    # Of the first one nothing shows that there is a limit.
    assert len(re.findall(r"plies, is won: by the engine's last scores", log)) == 1, said
    assert len(re.findall(r"of unknown result: a limit of moves may have ended it", log)) == 3, said
    assert sorted(fields(book).values()) == [(1, 2), (1, 2)]
    (tmp_path / "match.pgn").write_text("\n\n".join(games) + "\n")

    def compared():
        done = tabiya("learn", "show", book, "--against", "match.pgn", "--player", "=tabiya", "--json")
        line = json.loads(done.stdout)
        return done.returncode, [line[name] for name in ("games", "right", "guesses", "wrong", "wrong_by", "missing", "dropped", "others")]

    assert compared() == (1, [4, 0, 0, 1, {"by the engine's last scores": 1}, 3, 0, 0])
    shown = tabiya("learn", "show", book).stdout.decode()
    assert "the journal knows 1 game, 1 of them by a guess" in shown
    shown = tabiya("learn", "show", book, "--against", "match.pgn")
    assert b"wrong: 1\n    1 by the engine's last scores\n" in shown.stdout and shown.returncode == 1, shown.stdout
    text = tabiya("learn", "games", book, "match.pgn", "--player", "=tabiya").stdout.decode()
    assert "4 games read, 3 learned into 2 entries" in text and "0 with this result, 1 with another: corrected" in text, text
    assert sorted(fields(book).values()) == [(4, 4), (4, 4)]
    assert compared() == (0, [4, 4, 0, 0, {}, 0, 0, 0])
    # Once is enough.
    assert b"learned before" in tabiya("learn", "games", book, "match.pgn", "--player", "=tabiya").stdout
    assert sorted(fields(book).values()) == [(4, 4), (4, 4)]
    assert tabiya("learn", "undo", book, 4).returncode == 0 and fields(book) == {}


@pytest.mark.parametrize("runner", ["fastchess", "cutechess-cli"])
def test_no_false_result_of_a_match_with_a_limit_stays(tmp_path, tabiya_exe, stockfish, tabiya, runner):
    """What is learned during a match and then from its games is what the games alone give; nothing is learned of a game at its limit."""
    found, is_fastchess = runner_of(runner), runner == "fastchess"
    for name in ("a.bin", "alone.bin"):
        Book().line("e2e4 e7e5 g1f3 b8c6").line("d2d4 d7d5 c2c4 e7e6").line("g1f3 d7d5").write(tmp_path / name)
    given = ["--engine", stockfish, "--book", tmp_path / "a.bin", "--log", tmp_path / "log", "--seed", "3"]
    words = [f"args={' '.join(map(str, given))}"] if is_fastchess else [f"arg={word}" for word in given]
    line = [found, "-engine", "name=A", f"cmd={tabiya_exe}", f"dir={tmp_path}", *words, "option.Book Learn=true", "nodes=400"]
    line += ["-engine", "name=B", f"cmd={stockfish}", "nodes=40", "-each", "tc=inf", *([] if is_fastchess else ["proto=uci"])]
    line += ["-rounds", times("6", "60"), "-games", "2", "-repeat", "-concurrency", "1", "-maxmoves", "30", "-resign", "movecount=6", "score=1500"]
    line += ["-pgnout", "file=match.pgn" if is_fastchess else "match.pgn"]
    done = subprocess.run([str(word) for word in line], cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr

    def compared():
        return json.loads(tabiya("learn", "show", "a.bin", "--against", "match.pgn", "--player", "=A", "--json").stdout)

    # What a slow disk has left.
    assert tabiya("learn", "spool", "--log", "log").returncode == 0
    before = compared()
    assert before["wrong"] == 0 and before["games"] == times(12, 120), before
    for name in ("a.bin", "alone.bin"):
        assert tabiya("learn", "games", name, "match.pgn", "--player", "=A").returncode == 0
    after = compared()
    assert after["right"] == before["games"] and after["guesses"] == 0, after
    assert fields(tmp_path / "a.bin") == fields(tmp_path / "alone.bin")


def spooled(log):
    """The games that wait in the spool of a log: whole lines that are not crossed out."""
    spool = log.with_name(f"{log.name}.spool")
    lines = spool.read_bytes().split(b"\n") if spool.exists() else []
    return [line for line in lines if line.startswith(b"+ ") and line.endswith(b"}")]


def learn_the_rest(run, argv, log):
    """Where the disk was slow, games wait in the spool: they are learned by the adapters that come next."""

    def one_more():
        if spooled(log):
            client = run(*argv, "--log", log)
            client.start()
            assert client.quit() == 0
        return not spooled(log)

    eventually("the games in the spool are learned", one_more)


def test_the_last_game_is_learned_before_the_end(tmp_path, run, tabiya_exe, engine):
    book = Book().line("e2e4 e7e5 g1f3", weight=1).write(tmp_path / "a.bin")
    for end in ("quit", "close"):
        before = fields(book)
        argv = [tabiya_exe, *engine.argv("--score", "cp 900", "--legal"), "--book", book, "--set", "Book Learn=true"]
        client = run(*argv, "--log", tmp_path / "log")
        client.start()
        moves = []
        for _ in range(5):
            answer = client.go("depth 1", f"position startpos moves {' '.join(moves)}")
            board = chess.Board()
            for move in [*moves, answer.move]:
                board.push_uci(move)
            moves.append(answer.move)
            moves.append("e7e5" if len(moves) == 1 else next(iter(board.legal_moves)).uci())
        assert moves[:3] == ["e2e4", "e7e5", "g1f3"]
        if end == "quit":
            client.send("quit")
        else:
            client.close_input()
        said = client.rest()
        assert client.wait() == 0
        # On a slow disk the game may only be kept when the time to wait for it is over.
        assert any(LEARNED.match(line) for line in said) or spooled(tmp_path / "log"), said
        learn_the_rest(run, argv, tmp_path / "log")
        after = fields(book)
        start = key(chess.Board())
        games = [value for (entry, _), value in after.items() if entry == start]
        was = [value for (entry, _), value in before.items() if entry == start] or [(0, 0)]
        assert games == [(was[0][0] + 1, was[0][1] + 2)]


def test_learning_never_waits_in_front_of_a_readyok(tmp_path, run, tabiya_exe, engine, tabiya):
    """While another process keeps the book for ever, lines pass as ever, and the game is kept for later."""
    fcntl = pytest.importorskip("fcntl")
    book = Book().line("e2e4 e7e5 g1f3", weight=1).write(tmp_path / "a.bin")
    with open(tmp_path / "a.bin.learn", "wb") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        argv = [tabiya_exe, *engine.argv("--score", "cp 900", "--legal"), "--book", book, "--set", "Book Learn=true"]
        client = run(*argv, "--log", tmp_path / "log")
        client.start()
        moves = []
        for _ in range(5):
            answer = client.go("depth 1", f"position startpos moves {' '.join(moves)}")
            board = chess.Board()
            for move in [*moves, answer.move]:
                board.push_uci(move)
            moves += [answer.move, "e7e5" if not moves else next(iter(board.legal_moves)).uci()]
        client.send("ucinewgame")
        for _ in range(100):
            client.ready()
        client.send("quit")
        said = client.rest()
        assert client.wait() == 0
        assert any("not learned yet, kept in" in line for line in said), said
    assert fields(book) == {}
    assert len(spooled(tmp_path / "log")) == 1
    learn_the_rest(run, argv, tmp_path / "log")
    assert sorted(fields(book).values()) == [(1, 2), (1, 2)]
    assert (tmp_path / "log.spool").stat().st_size == 0


def polyglot_moves(polyglot_exe, scripted_exe, book, folder, learn, games):
    """The first moves that PolyGlot plays under the xboard protocol."""
    (folder / "polyglot.ini").write_text(
        f"[PolyGlot]\nEngineCommand = {scripted_exe}\nLogFile = polyglot.log\nLog = false\n"
        f"Book = true\nBookLearn = {'true' if learn else 'false'}\nBookFile = {book}\n[Engine]\n"
    )
    argv = [polyglot_exe, folder / "polyglot.ini"]
    client = Client(argv, cwd=folder)
    try:
        client.send("xboard", "protover 2")
        client.until("feature")
        moves = []
        for _ in range(games):
            client.send("new", "level 40 5 0", "go")
            moves.append(client.until("move")[-1].split()[1])
            client.send("force")
        client.send("quit")
        return moves
    finally:
        client.dispose()


def test_polyglot_reads_the_learned_book_and_chooses_by_it(tmp_path, polyglot_exe, scripted_exe, tabiya, capsys):
    book = Book().at(e2e4=10, d2d4=10).write(tmp_path / "a.bin")
    text = []
    for number in range(4):
        text.append(f'[White "Us"]\n[Round "{number}"]\n[Result "1-0"]\n\n1. e4 1-0\n')
        text.append(f'[White "Us"]\n[Round "{number}"]\n[Result "0-1"]\n\n1. d4 0-1\n')
    (tmp_path / "games.pgn").write_text("\n".join(text))
    done = tabiya("learn", "games", book, "games.pgn", "--player", "Us")
    assert done.returncode == 0, done.stderr
    assert sorted(fields(book).values()) == [(4, 0), (4, 8)]
    # 10 * (8 + 4) / (0 + 4) against 10 * (0 + 4) / (8 + 4): nine to one.
    shown = tabiya("show", book, "--set", "Book Learn=true").stdout.decode()
    assert re.search(r"e2e4 +10 +90\.0% +4/4", shown) and re.search(r"d2d4 +10 +10\.0% +0/4", shown), shown
    before = book.read_bytes()
    games = 400
    with_learning = polyglot_moves(polyglot_exe, scripted_exe, book, tmp_path, True, games).count("e2e4")
    without = polyglot_moves(polyglot_exe, scripted_exe, book, tmp_path, False, games).count("e2e4")
    with capsys.disabled():
        print(f"\n  PolyGlot plays e2e4 in {with_learning} of {games} games with BookLearn, {without} without;", end=" ")
        print("90 % and 50 % are expected")
    # Six standard deviations of that many draws, on either side.
    assert abs(with_learning / games - 0.9) < 0.09 and abs(without / games - 0.5) < 0.15
    assert book.read_bytes() == before
