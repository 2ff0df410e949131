"""N and 4 N of whatever commands go through: at most 4.4 times the time and the memory."""

import itertools
import random
import shutil
import subprocess

from timing import goal, line, run, say

TIMES, MOST = 4, 4.4

# What starting takes does not count as growth, nor what is too little to be measured.
SECONDS, PEAK = 0.02, 16 << 20


class Inputs:
    """Files that commands read, made for a number of things."""

    def __init__(self, tools, folder, games):
        self.tabiya, self.folder = tools.tabiya, folder
        self.all = folder / "all.pgn"
        subprocess.run([tools.bench["build"], "--openings", str(games), self.all], check=True)

    def quiet(self, *words):
        subprocess.run([str(word) for word in (self.tabiya, *words)], check=True, capture_output=True)

    def path(self, name):
        return self.folder / name

    def games(self, count):
        """The text of each of the first games. None is held: what this process holds counts as the memory of its children."""
        game, chance = [], random.Random(1)
        with open(self.all, encoding="utf-8") as file:
            for text in file:
                if text.startswith("[Event ") and game:
                    yield "".join(game).encode()
                    count -= 1
                    if count == 0:
                        return
                    game = []
                if not game:
                    # Each has players of its own.
                    game.append(f'[White "P{chance.getrandbits(40)}"]\n[Black "Q{count}"]\n')
                game.append(text)
        yield "".join(game).encode()

    def pgn(self, count):
        path = self.path("games.pgn")
        with open(path, "wb") as file:
            file.writelines(self.games(count))
        return path

    def fresh(self, name):
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def files(self, count):
        """A folder of files of one game each."""
        folder = self.fresh("files")
        for number, game in enumerate(self.games(count)):
            (folder / f"{number}.pgn").write_bytes(game)
        return folder

    def books(self, count, suffix, each=5):
        """Books or count files of a few games each."""
        folder = self.fresh("books")
        part = self.path("part.pgn")
        games = self.games(count * each)
        for number in range(count):
            part.write_bytes(b"".join(itertools.islice(games, each)))
            self.quiet("build", part, "-o", folder / f"{number}{suffix}", *(["--min-games", 1] if suffix == ".bin" else []))
        return folder

    def book(self, count, *words):
        path = self.path("book.bin")
        self.quiet("build", self.pgn(count), "-o", path, "--force", "--min-games", 1, "--uniform", *words)
        return path

    def names(self, count):
        path = self.path("names.txt")
        path.write_text("".join(f"Player {number}\n" for number in range(count)))
        return path

    def learned(self, count):
        """A book with a journal of so many games."""
        book = self.book(count)
        self.path("book.bin.learn").unlink(missing_ok=True)
        self.quiet("learn", "games", book, self.pgn(count), "--both")
        return book

    def epd(self, count):
        """Positions with an evaluation each: kings and pawns anywhere."""
        path, chance = self.path("positions.epd"), random.Random(2)
        with open(path, "w", encoding="utf-8") as file:
            for _ in range(count):
                ranks = ["".join(chance.choice(["P", "p", "1"]) for _ in range(8)) for _ in range(6)]
                file.write(f"4k3/{'/'.join(ranks)}/4K3 w - - ce {chance.randrange(-300, 300)}; acd 20;\n")
        return path


def cases(inputs):
    """What grows, how many of it, and the command that goes through it. An input is made when the command is asked for."""
    out = inputs.path("out.bin")

    def build(*words):
        return ["build", *words, "-o", out, "--force", "--temp", inputs.folder]

    def learn(count):
        book = inputs.book(count)
        inputs.path("book.bin.learn").unlink(missing_ok=True)
        return ["learn", "games", book, inputs.pgn(count), "--both"]

    def without(count):
        book = inputs.book(count * 20)
        lines = [f"--without={line}" for line in ("a3", "b3", "c3", "d3", "e3", "f3", "g3", "h3") * (count // 8)]
        return ["trim", book, "-o", out, "--force", *lines]

    return {
        "games, built": (8_000, lambda n: build(inputs.pgn(n), "--min-games", 1)),
        "games, counted": (8_000, lambda n: ["build", inputs.pgn(n), "-o", inputs.path("out.parquet"), "--force"]),
        "games, reported": (1_000, lambda n: ["report", "--book", inputs.book(200), inputs.pgn(n)]),
        "games, learned": (4_000, learn),
        "games in a journal, shown": (500, lambda n: ["learn", "show", inputs.learned(n), "--json"]),
        "games, drawn from": (4_000, lambda n: ["suite", inputs.pgn(n), "-o", inputs.path("out.epd"), "--force", "--ply", 8]),
        "files of games": (2_000, lambda n: build(inputs.files(n))),
        "files of games, resumed": (2_000, lambda n: build(inputs.files(n), "--resume")),
        "names and games": (2_000, lambda n: build(inputs.pgn(n), "--min-games", 1, "--player", f"@{inputs.names(n)}")),
        "count files, shown": (50, lambda n: ["tree", inputs.books(n, ".parquet"), "--plies", 1]),
        "count files, summed up": (50, lambda n: ["info", inputs.books(n, ".parquet")]),
        "count files, merged": (50, lambda n: ["merge", inputs.books(n, ".parquet"), "-o", inputs.path("out.parquet"), "--force"]),
        "books, merged": (50, lambda n: ["merge", *sorted(inputs.books(n, ".bin").iterdir()), "-o", out, "--force"]),
        "books, shown": (50, lambda n: ["show", *sorted(inputs.books(n, ".bin").iterdir())]),
        "evaluations": (20_000, lambda n: ["import", inputs.fresh("store") / "a.evals", inputs.epd(n)]),
        "positions, checked": (2_000, lambda n: ["check", inputs.book(n)]),
        "positions, exported": (2_000, lambda n: ["export", inputs.book(n)]),
        "a side's positions, checked": (2_000, lambda n: ["check", inputs.book(n, "--only", "white")]),
        "a side's positions, for Arena": (
            2_000,
            lambda n: ["convert", inputs.book(n, "--only", "white"), "-o", inputs.path("out.abk"), "--force"],
        ),
        "positions, compared": (1_000, lambda n: ["diff", inputs.book(n), inputs.path("book.bin")]),
        "lines to leave out": (16, without),
    }


def measure(args, tools, folder):
    # Of a smoke test the numbers mean nothing.
    divisor = 16 if args.smoke else 1
    inputs = Inputs(tools, folder, 32_000 // divisor)
    for name, (count, command) in cases(inputs).items():
        count = max(count // divisor, 8)
        costs = []
        for number in (count, count * TIMES):
            words = [tools.tabiya, *command(number)]
            cost = run(words, codes=(0, 1))
            for _ in range(1, args.rounds):
                # What these write they would find the next time.
                if "--resume" in words or "import" in words or words[1:3] == ["learn", "games"]:
                    words = [tools.tabiya, *command(number)]
                cost = cost.least(run(words, codes=(0, 1)))
            costs.append(cost)
        say(f"{name}: {count} and {count * TIMES}")
        for number, cost in zip((count, count * TIMES), costs, strict=True):
            line(f"{number}", cost)
        few, many = costs
        goal("times the time", many.cpu / max(few.cpu, SECONDS), MOST)
        goal("times the memory", many.peak / max(few.peak, PEAK), MOST)
