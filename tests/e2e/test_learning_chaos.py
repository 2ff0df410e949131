"""Nothing of what is learned is lost, whatever happens: games by python-chess's client, with processes killed, options
and books changed, and disks full between the games and in the middle of them.

TABIYA_CHAOS_GAMES (60) says how many games; TABIYA_CHAOS_SEED repeats a run that failed. Processes run side by side, so
that a seed repeats what is done, not the order in which the disk hears of it.
"""

import contextlib
import itertools
import json
import os
import random
import signal
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import chess
import chess.engine
import pytest

import chaos
from chaos import POINTS, VERDICT, Books, Disks, Played
from client import HANG, Client, eventually, times
from polyglot_writer import key
from recording import GuardedEngine, RecordingUci

pytestmark = pytest.mark.skipif(os.name == "nt", reason="ends processes by Unix signals")

GAMES = int(os.environ.get("TABIYA_CHAOS_GAMES", times(20, 60)))
SEED = os.environ.get("TABIYA_CHAOS_SEED") or str(random.SystemRandom().randrange(1 << 32))

# Adapters at once.
WORKERS = 3

# From this number of games on, what chance deals is near its mean.
ENOUGH = 200

ENDS = ["kill", "kill", "kill", "term", "quit", "close"]


class Life:
    """One adapter from its start to its end, by what a seed says."""

    def __init__(self, world, chance, worker, number):
        self.world, self.chance = world, chance
        self.where = f"worker {worker}, life {number}"
        self.logs = [None, *(world.disks.logs.path / f"{worker}-{name}.log" for name in "ab")]
        self.ends, self.ended, self.at_once = next(world.ends), False, False
        self.engine, self.code, self.kept = None, None, 0
        self.played = []
        # What was done, for the report of a failure.
        self.done = []
        self.starts = {log: log.stat().st_size if log.exists() else 0 for log in self.logs[1:]}
        self.room = world.disks.logs_were_full()

    def begin(self):
        """Options by the command line, or as Cute Chess sends them: each in a write of its own."""
        log, book = self.chance.choice(self.logs), self.chance.choice(self.world.names)
        score = self.chance.choice(["cp 900", "cp -900"])
        argv = [self.world.exe, "--engine", self.world.scripted, "--set", "Book Threshold=0"]
        argv += [f"--engine-arg={word}" for word in ("--legal", "--score", score)]
        options = {"Book File": str(book), "Book Learn": True, "Book Log": str(log or "")}
        given = self.chance.random() < 0.5
        if given:
            argv += ["--book", book, "--set", "Book Learn=true", *(["--log", log] if log else [])]
        self.engine = GuardedEngine.popen(
            RecordingUci, [str(word) for word in argv], timeout=HANG, cwd=str(self.world.folder), env=self.world.env
        )
        self.done.append(" ".join(["start", *(f"{name}={value}" for name, value in options.items()), "args" if given else "set"]))
        if not given:
            for name, value in options.items():
                self.engine.configure({name: value})

    def note(self, what):
        self.done.append(what)

    def send(self, line):
        self.note(line)
        self.engine.protocol.loop.call_soon_threadsafe(self.engine.protocol.send_line, line)

    def set(self, **options):
        options = {name.replace("_", " "): value for name, value in options.items()}
        self.note(f"set {options}")
        self.engine.configure(options)

    def disturb(self, within):
        """Perhaps changes something; in a game learning may also be switched off."""
        chance = self.chance
        kind = chance.choice([None] * 6 + ["fill books"] * 4 + ["file"] * 3 + ["link"] * 2 + ["fill logs", "free", "log", "off", "own"])
        disks = self.world.disks
        if kind == "file":
            self.set(Book_File=str(chance.choice(self.world.names)))
        elif kind == "log":
            self.set(Book_Log=str(chance.choice(self.logs) or ""))
        elif kind == "link":
            self.note("link")
            self.world.point_link(chance)
        elif kind in ("fill books", "fill logs"):
            self.note(kind)
            disks.fill(disks.books if kind == "fill books" else disks.logs)
        elif kind == "free":
            self.note(kind)
            disks.free()
        elif kind == "off" and within:
            self.set(Book_Learn=False)
        elif kind == "own" and within:
            self.set(OwnBook=False)

    def play(self, plan, doomed=False):
        """One game; in a doomed one the adapter's end comes at a random moment."""
        chance = self.chance
        board = plan.board()
        played = Played(plan, f"{self.where}, game {len(self.played) + 1} ({plan.kind})")
        turns = len(plan.ours) if plan.kind != "scores" else chance.randint(3, 6)
        end_at = chance.randrange(turns + 1) if doomed else None
        self.note(f"game {len(self.played) + 1}: {plan}")
        self.played.append(played)
        for turn in range(turns):
            if turn == end_at:
                return self.end()
            if turn > 0 and chance.random() < 0.4:
                self.disturb(within=True)
            heard = len(self.engine.protocol.transcript)
            answer = self.engine.play(board, chess.engine.Limit(depth=1), game=plan).move
            if turn == 0:
                played.book = self.which_book(heard, plan, answer)
            if turn < len(plan.ours) and answer.uci() == plan.ours[turn] and played.answered == turn:
                played.answered += 1
            # From its second move on a game is one, and has a verdict.
            played.due = turn > 0
            board.push(answer)
            if board.is_game_over():
                break
            theirs = plan.theirs[turn] if turn < len(plan.theirs) else None
            legal = sorted(move.uci() for move in board.legal_moves)
            board.push_uci(theirs if theirs in legal else chance.choice(legal))
            if board.is_game_over():
                break
        if end_at is not None:
            self.end()

    def which_book(self, heard, plan, answer):
        """The book that gave the answer, by the weight in the line that tells of it."""
        for way, line in self.engine.protocol.transcript[heard:]:
            words = line.split()
            if way == "<" and words[:3] == ["info", "string", answer.uci()] and "weight" in words:
                return int(words[words.index("weight") + 1]) - 1
        return None

    def end(self):
        """Ends the adapter: at this moment, or within the next few milliseconds, whatever it does then."""
        self.note(self.ends)
        self.ended = True
        if self.ends == "quit":
            self.send("quit")
        elif self.ends == "close":
            self.engine.protocol.loop.call_soon_threadsafe(self.engine.protocol.transport.get_pipe_transport(0).close)
        else:
            number = signal.SIGKILL if self.ends == "kill" else signal.SIGTERM
            delay = self.chance.choice([0, 0, self.chance.uniform(0, 0.02)])
            if delay == 0:
                self.at_once = True
                self.signal(number)
            else:
                threading.Timer(delay, self.signal, (number,)).start()
                if word := self.chance.choice(["ucinewgame", "quit", None]):
                    self.send(word)

    def signal(self, number):
        # It may have ended by itself.
        with contextlib.suppress(ProcessLookupError):
            if not self.engine.returncode.done():
                os.kill(self.engine.transport.get_pid(), number)

    def run(self, queue):
        """Plays some games and ends."""
        chance = self.chance
        self.begin()
        count = chance.randint(1, 6)
        try:
            for game in range(count):
                if not queue:
                    break
                if chance.random() < 0.5:
                    self.disturb(within=False)
                if game == count - 1 and chance.random() < 0.1:
                    # From here on nothing is to be learned.
                    self.send("ucinewgame")
                    self.set(Book_Learn=False)
                    self.play(queue.popleft())
                    self.played[-1].off = True
                    break
                if self.played and chance.random() < 0.3:
                    self.send("ucinewgame")
                if not all(self.engine.protocol.config.get(name) for name in ("Book Learn", "OwnBook")):
                    self.set(Book_Learn=True, OwnBook=True)
                self.play(queue.popleft(), doomed=game == count - 1)
            if not self.ended:
                self.end()
        except chess.engine.EngineTerminatedError:
            pass
        self.code = self.engine.returncode.result(HANG)
        self.note(f"ended with {self.code}")
        self.hear()

    def hear(self):
        """What was reported of the games; a log belongs to one adapter at a time."""
        lines = [line for way, line in self.engine.protocol.transcript if way == "<"]
        self.engine.close()
        for log, start in self.starts.items():
            if log.exists():
                data = log.read_bytes()
                # A last line without an end was not written whole.
                lines += data[start:].decode("utf-8", "replace").split("\n")[:-1]
        said = [line for line in lines if "tabiya" in line or " game " in line]
        self.kept = sum("kept in" in line for line in said)
        verdicts = {int(match[1]): match for match in map(VERDICT.search, said) if match}
        counted = [played for played in self.played if not played.off]
        assert max(verdicts, default=0) <= len(counted), f"{self.where}: more games than were played: {verdicts}"
        spool_trouble = self.room != self.world.disks.logs_were_full() or self.room[1]
        lost = self.code < 0 or any(chaos.LOST.search(line) for line in said)
        for number, played in enumerate(counted, start=1):
            played.due = played.due and self.code >= 0
            played.excused = spool_trouble and lost
            if number in verdicts:
                match = verdicts[number]
                assert match[2] == ("White" if played.plan.board().turn else "Black"), (self.where, match[0])
                # Without a book that learns nothing is promised.
                played.verdict = match[4] if "there is no Polyglot book" not in match[5] else None


class World:
    """What all adapters have in common."""

    def __init__(self, folder, exe, scripted):
        self.folder, self.exe, self.scripted = folder, exe, scripted
        self.chance = random.Random(SEED)
        # Dealt in turn, so that a short run has each, too.
        self.ends = itertools.cycle(self.chance.sample(ENDS, len(ENDS)))
        self.plans = chaos.plans(self.chance, GAMES)
        self.disks = Disks(folder, GAMES)
        self.books = Books.write(self.disks.books.path, self.plans)
        self.link = folder / "link.bin"
        self.link.symlink_to(self.books.paths[0])
        self.names = [*self.books.paths, self.link]
        home = self.disks.logs.path / "home"
        home.mkdir()
        self.env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home)}
        self.lives = []

    def point_link(self, chance):
        new = self.folder / f"link-{threading.get_ident()}.new"
        new.unlink(missing_ok=True)
        new.symlink_to(chance.choice(self.books.paths))
        new.replace(self.link)

    def work(self, worker):
        """Plays a share of the games, one adapter after another."""
        chance = random.Random(f"{SEED} {worker}")
        queue = deque(self.plans[worker::WORKERS])
        for number in itertools.count(1):
            if not queue:
                return
            life = Life(self, chance, worker, number)
            self.lives.append(life)
            life.run(queue)

    def waiting(self):
        """(plan, book's number) of each game in a spool."""
        by_key = {key(plan.board()): plan for plan in self.plans}
        found = []
        for path, text in chaos.spooled(self.disks.logs.path):
            line = json.loads(text)
            board = chess.Board(line["fen"])
            plan = by_key.get(key(board))
            for uci in line["moves"].split():
                if plan is None:
                    board.push_uci(uci)
                    plan = by_key.get(key(board))
            assert plan, f"{path} keeps a game that nobody played: {text}"
            found.append((plan, [os.path.realpath(book) for book in self.books.paths].index(os.path.realpath(line["book"]))))
        return found

    def learn_the_rest(self):
        """Lets adapters learn what waits in spools, one after another, until nothing waits."""

        def one_more():
            spools = {path for path, _ in chaos.spooled(self.disks.logs.path)}
            for spool in spools:
                log = ["--log", str(spool).removesuffix(".spool")] if str(spool).endswith(".log.spool") else []
                argv = [self.exe, "--engine", self.scripted, "--book", self.books.paths[0], "--set", "Book Learn=true", *log]
                client = Client(argv, cwd=self.folder, env=self.env)
                try:
                    client.start()
                    assert client.quit() == 0
                finally:
                    client.dispose()
            return not spools

        eventually("all games that wait in spools are learned", one_more)


@pytest.fixture
def world(tmp_path, tabiya_exe, scripted_exe, capsys):
    with capsys.disabled():
        print(f"\n  TABIYA_CHAOS_SEED={SEED} TABIYA_CHAOS_GAMES={GAMES}")
    world = World(tmp_path, tabiya_exe, scripted_exe)
    yield world
    for life in world.lives:
        if life.engine:
            life.engine.close()
    world.disks.dispose()


def test_each_game_that_was_seen_to_end_is_learned_once(world, capsys):
    with ThreadPoolExecutor(WORKERS) as workers:
        for worker in [workers.submit(world.work, worker) for worker in range(WORKERS)]:
            worker.result()
    world.disks.free()
    games = [played for life in world.lives for played in life.played]
    stories = {life.where: life.done for life in world.lives}

    def check(waiting):
        wrong = chaos.faults(games, world.books, waiting)
        told = {name: story for name, story in stories.items() if any(text.startswith(f"{name},") for text in wrong)}
        report = "\n".join([*wrong, *(f"{name}:\n    " + "\n    ".join(story) for name, story in told.items())])
        assert not wrong, f"TABIYA_CHAOS_SEED={SEED} TABIYA_CHAOS_GAMES={GAMES}\n{report}"

    waiting = world.waiting()
    check(waiting)
    world.learn_the_rest()
    check([])
    verdicts = [played.verdict for played in games]
    ends = [life.code for life in world.lives]
    with capsys.disabled():
        print(f"  {len(games)} games under {len(ends)} adapters, of which {ends.count(-9)} were killed;", end=" ")
        print(f"verdicts: {', '.join(f'{verdicts.count(name)} {name}' for name in POINTS)};", end=" ")
        kept = sum(life.kept for life in world.lives)
        print(f"disks were full {sum(world.disks.fills.values())} times; {kept} games kept for later, {len(waiting)} to the end")
    # Another end may come before a signal that is late.
    killed = [life.code for life in world.lives if life.ends == "kill" and life.at_once]
    assert killed == [-signal.SIGKILL] * len(killed)
    assert any(played.book is not None for played in games)
    if len(games) >= ENOUGH:
        # Nearly all of them were played from a book, and many came to an end.
        assert sum(played.book is not None for played in games) >= len(games) * 3 // 4
        assert sum(verdict in POINTS for verdict in verdicts) >= len(games) // 4
        assert ends.count(-signal.SIGKILL) >= len(ends) // 4
    if not world.disks.can_be_full:
        pytest.skip("no small disk can be mounted here, and nothing hinders root from writing: no disk was full")
    assert sum(world.disks.fills.values()) > 0 or len(games) < ENOUGH
