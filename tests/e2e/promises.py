"""What the commands of the README and the guide promise: what must hold after each of them."""

import io
import json

import chess
import chess.pgn

BOOKS = (".bin", ".ctg", ".abk", ".kob")


def value(words, *names):
    """What follows an option, or None."""
    return next((words[at + 1] for at, word in enumerate(words) if word in names), None)


def board_after(moves):
    board = chess.Board()
    for word in moves.split():
        if not word[0].isdigit():
            board.push_san(word) if not word[1:2].isdigit() or len(word) < 4 else board.push_uci(word)
    return board


def games_of(text):
    games = list(iter(lambda file=io.StringIO(text): chess.pgn.read_game(file), None))
    assert games and not [error for game in games for error in game.errors]
    assert all(game.next() for game in games)
    return games


class Promise:
    """A command that was run in a folder: its words, and what it said."""

    def __init__(self, tabiya, folder, words, done):
        self.tabiya, self.folder, self.words, self.out = tabiya, folder, words, done.stdout.decode()
        self.text = self.out + done.stderr.decode()

    def says(self, *what):
        for words in what:
            assert words in self.text, (words, self.text)

    def json(self, *line):
        done = self.tabiya(*line, "--json", cwd=self.folder)
        return json.loads(done.stdout.splitlines()[0])

    def weights(self, book, moves=""):
        shown = self.json("show", book, "--moves", moves, "--set", "Book Threshold=0")
        return {move["san"]: move["weight"] for move in shown["moves"]}

    def positions(self, book):
        """(FEN, its moves) of each position that play reaches."""
        done = self.tabiya("export", book, "--format", "json", "--reachable", cwd=self.folder)
        return [(line["fen"], line["moves"]) for line in map(json.loads, done.stdout.splitlines())]

    def check(self):
        getattr(self, {"check": "sound", "import": "imported"}.get(self.words[0], self.words[0]))()
        out = value(self.words, "-o")
        if out and "--plan" not in self.words:
            # Whatever was written is named.
            # Kvetka's format adds numbers to the name.
            names = (out.removesuffix(".kob"), value(self.words, "--pgn"), value(self.words, "--texts"))
            self.says(*filter(None, names))
            self.written(self.folder / out)

    def written(self, path):
        """The file that the command was to write is sound, and keeps to the limits that were given."""
        words = self.words
        if path.suffix in (".pgn", ".epd"):
            text = path.read_text()
            assert games_of(text) if path.suffix == ".pgn" else [chess.Board(chess960="--start" in words).set_epd(line) for line in text.splitlines()]
            return
        if path.suffix in (".tsv", ".json"):
            return
        assert self.tabiya("check", path, cwd=self.folder).returncode == 0
        positions = self.positions(path)
        assert any(moves for _, moves in positions)
        if (most := value(words, "--max-ply")) and path.suffix in BOOKS:
            # The games are longer than that; where each counts once, too few of them are left.
            deepest = self.json("info", path)["deepest"]
            assert deepest == int(most) or ("--unique" in words and deepest < int(most))
        if most := value(words, "--top"):
            side = " w " if value(words, "--only") == "white" else " "
            # In a CTG book others stay, and are not played.
            played = [[move for move in moves if move["weight"]] for fen, moves in positions if side in fen]
            assert max(map(len, played)) <= int(most)
        if value(words, "--repertoire") == "white":
            assert path.suffix != ".bin" or all(" w " in fen for fen, _ in positions)
        if value(words, "--only") == "player":
            # Carlsen has Black after 1. e4 e5, and White in the Sicilian.
            assert set(self.weights(path, "e4")) == {"e5"} and not self.weights(path, "e4 e5")
        if "--skip-mistakes" in words:
            assert not self.weights(path, "e4 c5 Nf3 d6").get("Ng5")
        if line := value(words, "--below"):
            assert self.weights(path, line) and not self.weights(path, "d4")
        if line := value(words, "--without"):
            rest, _, last = line.rpartition(" ")
            assert last not in self.weights(path, rest)

    def counted(self):
        """Books and counts are made of something."""
        assert any(character.isdigit() and character != "0" for character in self.text), self.text

    build = convert = merge = trim = counted

    def vet(self):
        self.says("moves")

    def grow(self):
        if "--share" in self.words:
            self.says("were known already")
        elif "--plan" in self.words:
            plan = (self.folder / value(self.words, "--plan")).read_text().splitlines()
            assert plan and all(chess.Board(json.loads(line)["fen"]).is_valid() for line in plan)
        else:
            self.says("has a move in", "a game leaves the book after")

    def show(self):
        if "--json" in self.words:
            shown = [json.loads(line) for line in self.text.splitlines()]
            assert len(shown) == 2 and all(line["moves"] for line in shown)
            return
        board = board_after(value(self.words, "--moves") or "")
        if "--list-games" in self.words:
            self.says("games.pgn, byte ")
            return
        if "--fen-file" in self.words:
            board = board_after("e4")
        self.says(board.fen(en_passant="legal").rsplit(" ", 2)[0].rsplit(" ", 1)[0], "chance")
        rows = [line.split() for line in self.text.splitlines() if line.startswith(" ") and "%" in line]
        assert rows and all(board.parse_san(row[0]).uci() == row[1] for row in rows)
        if "--store" in self.words:
            self.says("value", "loss")

    def completions(self):
        self.says("tabiya", "explore", "max-ply")

    def tree(self):
        self.says("1. e4", "c5")
        if "--store" in self.words:
            self.says("+0.")

    def info(self):
        self.says(self.words[1], "games" if self.words[1].endswith(".cbh") else "positions")

    def diff(self):
        self.says("no difference")

    def suite(self):
        self.says("positions of", *() if "--start" in self.words else ("by plies: ",))
        if "--refine" in self.words:
            self.says("that are unfit, as the games of --refine show")

    def report(self):
        if "--json" in self.words:
            assert len(json.loads(self.out)["games"]) == 30
        elif "--player" in self.words:
            self.says("games of Carlsen: ", "in the book for ")
        else:
            self.says("30 games: ", "Openings (", "Players (")
        if out := value(self.words, "--pgn"):
            assert len(games_of((self.folder / out).read_text())) == 30

    def gaps(self):
        self.says(f"for {(value(self.words, '--side') or 'white').title()}", "No answer", "1. e4")
        if out := value(self.words, "--pgn"):
            assert all("has no answer" in " ".join(game.end().comment.split()) for game in games_of((self.folder / out).read_text()))

    def learn(self):
        learned = self.json("info", "book.bin")["learned"]
        match self.words[1]:
            case "undo" if "--all" in self.words:
                assert learned == 0
            case "games":
                self.says("30 games read, 30 learned")
                assert learned > 0
            case "undo":
                self.says("20 games")
            case "show" if "--against" in self.words:
                self.says("30 games compared")
            case "show":
                self.says("Sicilian Defense")

    def export(self):
        out, form = value(self.words, "-o"), value(self.words, "--format")
        text = (self.folder / out).read_text() if out else self.out
        if self.words[1].endswith(BOOKS):
            if form == "pgn" or out and out.endswith(".pgn"):
                assert len(games_of(text)) > 1 or "--lines" not in self.words
            elif not (out and out.endswith(".json")):
                rows = [line.split("\t") for line in text.splitlines()]
                assert len(rows) > 4 and len({len(row) for row in rows}) == 1
        elif not out:
            if folder := value(self.words, "--texts"):
                assert (self.folder / folder).is_dir() or "no texts" in self.text or "0 texts" in self.text
            else:
                assert len(games_of(self.out)) <= 100

    def edit(self):
        line = value(self.words, "--moves") or ""
        weights = self.weights("book.bin", line)
        if "--undo" in self.words:
            self.says("weight")
        for at, word in enumerate(self.words):
            if word in ("--set", "--add"):
                move, _, weight = self.words[at + 1].partition("=")
                assert weights[move] == int(weight)
            elif word == "--delete":
                assert self.words[at + 1] not in weights

    # `import` is a word of Python's.
    def imported(self):
        assert self.json("info", self.words[1])["positions"] > 0

    def init(self):
        self.says("All is well.")
        assert "\nengine = " in "\n" + (self.folder / "tabiya.toml").read_text()

    def doctor(self):
        self.says("All is well.", value(self.words, "--book") or "book.bin")

    # Named as the command `check`, which this class needs for itself.
    def sound(self):
        self.says("sound")
