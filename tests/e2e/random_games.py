"""Random games with a fixed seed, as PGN and as what a book of them must hold by python-chess's reckoning."""

import random
from collections import defaultdict
from dataclasses import dataclass, field

import chess
import chess.pgn

from polyglot_writer import ENTRY, encode, key
from readers import read_polyglot

# The formats of books, by the ends of their names.
FORMATS = ["bin", "ctg", "abk", "kob", "epd", "fen"]

# Those that have weights alone.
TEXTS = ["epd", "fen"]
WEIGHTED = ["bin", *TEXTS]

RESULTS = ["1-0", "0-1", "1/2-1/2"]
NAMES = ["Carlsen, Magnus", "Müller, Karsten", "Smyslov, Vasily", "Anand, V", "Nn"]

NOISE = ["{a (b}", "$14", "(1. Zz9 (2. e4) {)})", "!?", "; to the end\n", "\n", "{[%clk 0:01]}"]


@dataclass
class Game:
    """A game: what is legal of its moves, and what stands in its head."""

    moves: list
    result: str
    head: dict
    fen: str = chess.STARTING_FEN
    chess960: bool = False
    # What stands behind the legal moves where more cannot be read.
    broken: str = ""
    # (key, raw move, side to move) of every ply.
    plies: list = field(default_factory=list)

    def __post_init__(self):
        board = chess.Board(self.fen, chess960=self.chess960)
        for move in self.moves:
            self.plies.append((key(board), encode(board, move.uci()), board.turn))
            board.push(move)


def random_game(chance, most_plies, head, fen=chess.STARTING_FEN, chess960=False, broken=False):
    board = chess.Board(fen, chess960=chess960)
    moves = []
    for _ in range(chance.randint(1, most_plies)):
        # Few moves of many, or no position would come twice.
        legal = sorted(board.legal_moves, key=lambda move: move.uci())
        if not legal:
            break
        few = random.Random(len(moves)).sample(legal, min(len(legal), 3 if len(moves) < 12 else 12))
        moves.append(chance.choice(few))
        board.push(moves[-1])
    text = chance.choice(["Ke4", "Qxxh8", "Sf3", "--"]) if broken else ""
    if text == "Ke4" and any(board.san(move).startswith("Ke4") for move in board.legal_moves):
        text = "--"
    return Game(moves, chance.choice(RESULTS), head, fen, chess960, text)


def random_games(number, seed=1, most_plies=60, mixed=False):
    """Games of a few openings. Mixed ones have ratings, dates, set-up positions, no results, and illegal moves."""
    chance = random.Random(seed)
    games = []
    for index in range(number):
        white, black = chance.sample(NAMES, 2)
        head = {"Event": f"Game {index}", "Site": "?", "Date": "????.??.??", "Round": "1"}
        head |= {"White": white, "Black": black}
        fen, chess960, broken = chess.STARTING_FEN, False, False
        if mixed:
            for side in ("WhiteElo", "BlackElo"):
                if chance.random() < 0.9:
                    head[side] = str(chance.randint(1800, 2800))
            year, month, day = chance.randint(1990, 2024), chance.randint(1, 12), chance.randint(1, 28)
            date = f"{year}.{month:02}.{day:02}"
            head["Date"] = chance.choice([date, f"{date[:7]}.??", f"{year}.??.??", "????.??.??"])
            if chance.random() < 0.1:
                fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
            elif chance.random() < 0.1:
                fen, chess960 = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1", True
            broken = chance.random() < 0.1
        game = random_game(chance, most_plies, head, fen, chess960, broken)
        if mixed and chance.random() < 0.1:
            game.result = "*"
        games.append(game)
    return games


def pgn(games, noise=None):
    """The games as text; with a `noise` (a random.Random) among comments, variations and glyphs."""
    out = []
    for game in games:
        head = dict(game.head, Result=game.result)
        if game.chess960:
            head["Variant"] = "Chess960"
        if game.fen != chess.STARTING_FEN:
            head |= {"SetUp": "1", "FEN": game.fen}
        out += [f'[{name} "{value}"]\n' for name, value in head.items()]
        out.append("\n")
        board = chess.Board(game.fen, chess960=game.chess960)
        words = []
        for move in game.moves:
            if board.turn or not words:
                words.append(f"{board.fullmove_number}{'.' if board.turn else '...'}")
            words.append(board.san(move))
            board.push(move)
            if noise and noise.random() < 0.2:
                words.append(noise.choice(NOISE))
        words += [game.broken] if game.broken else []
        words.append(game.result)
        line = 0
        for word in words:
            line = 0 if word.endswith("\n") else line + len(word) + 1
            out.append(word + ("" if word.endswith("\n") else "\n" if line > 70 else " "))
            line = 0 if line > 70 else line
        out.append("\n\n")
    return "".join(out)


class Counts(defaultdict):
    """key -> raw move -> [games, half-points], and who is to move: key -> whether it is White."""

    def __init__(self):
        super().__init__(lambda: defaultdict(lambda: [0, 0]))
        self.white = {}


def counted(games, max_ply=None, only=None, player=None, mover_elo=0):
    """What was played. Games without a result count as drawn."""
    counts = Counts()
    for game in games:
        for position, move, white in game.plies[:max_ply]:
            if only in ("white", "black") and white != (only == "white"):
                continue
            if only == "player" and player.lower() not in game.head["White" if white else "Black"].lower():
                continue
            if int(game.head.get("WhiteElo" if white else "BlackElo", 0)) < mover_elo:
                continue
            counts.white[position] = white
            points = {"1-0": 2 * white, "0-1": 2 * (not white)}.get(game.result, 1)
            count = counts[position][move]
            count[0] += 1
            count[1] += points
    return counts


def weighed(counts, min_games=3, min_score=0, uniform=False, shares=(0, 0)):
    """The book of what was played: key -> raw move -> weight. `shares` are Black's and White's, in thousandths."""
    book = {}
    for position, moves in counts.items():
        least = sum(games for games, _ in moves.values()) * shares[counts.white[position]] / 1000
        kept = {
            move: 1 if uniform else points
            for move, (games, points) in moves.items()
            if games >= max(min_games, least) and (points > 0 or uniform) and points * 100 >= min_score * games * 2
        }
        if kept:
            book[position] = kept
    return book


def read_book(path, least=1):
    """A Polyglot book's entries: key -> raw move -> weight, at least this. Their order must be right, and none may come twice."""
    entries = list(read_polyglot.entries(path))
    assert len(entries) * ENTRY.size == path.stat().st_size
    assert entries == sorted(entries, key=lambda entry: (entry[0], -entry[2]))
    book = defaultdict(dict)
    for position, move, weight, *learn in entries:
        assert move not in book[position] and weight >= least and learn == [0, 0]
        book[position][move] = weight
    return dict(book)
