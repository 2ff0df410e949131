"""What python-chess counts of the moves of a position in games, under filters: what `tabiya explore --games` must answer."""

import math
from collections import defaultdict
from dataclasses import dataclass

import chess

from polyglot_writer import key

PLIES = 50
BANDS = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500]
# The longest of each speed, in seconds of 40 moves.
SPEEDS = [(30, "ultrabullet"), (180, "bullet"), (480, "blitz"), (1500, "rapid"), (21600, "classical")]
# What starts a filter that means whole names.
WHOLE = "player_is"


@dataclass
class Facts:
    """What filters and counts ask of a game."""

    white: str
    black: str
    elos: tuple
    result: str
    # Year, month and day; 0 where unknown.
    date: tuple
    clock: str = ""

    @classmethod
    def of(cls, head, result):
        date = tuple(int(part) if part.isdigit() else 0 for part in head.get("Date", "?").split("."))
        elos = tuple(int(head.get(tag) or 0) if (head.get(tag) or "0").isdigit() else 0 for tag in ("WhiteElo", "BlackElo"))
        return cls(head.get("White", ""), head.get("Black", ""), elos, result, (*date, 0, 0)[:3], head.get("TimeControl", ""))

    @property
    def speed(self):
        base, _, more = self.clock.partition("+")
        if not base.isdigit():
            return None
        seconds = int(base) + 40 * int(more or 0)
        return next((name for most, name in SPEEDS if seconds < most), "classical")

    @property
    def band(self):
        return max(band for band in BANDS if 2 * band <= sum(self.elos)) if all(self.elos) else None


def straight(name):
    last, comma, first = name.lower().strip().partition(",")
    return f"{first.strip()} {last.strip()}" if comma and first.strip() and last.strip() else name.lower().strip()


def bound(text, is_end):
    year, _, month = text.partition("-")
    return (int(year), int(month or (12 if is_end else 0)), 31 if is_end else 0)


def meets(game, filters):
    """Whether a game passes: dates that may lie within do, unknown ones never."""
    if "since" in filters or "until" in filters:
        year, month, day = game.date
        if not year:
            return False
        if "since" in filters and (year, month or 12, day or 31) < bound(filters["since"], False):
            return False
        if "until" in filters and game.date > bound(filters["until"], True):
            return False
    if "speeds" in filters and game.speed not in filters["speeds"].lower().split(","):
        return False
    if "ratings" in filters and game.band not in map(int, filters["ratings"].split(",")):
        return False
    names = [name for name, color in ((game.white, "white"), (game.black, "black")) if filters.get("color", color) == color]
    if "player" in filters:
        wanted = filters["player"].lower()
        return any(wanted in name.lower() or straight(wanted) in straight(name) for name in names)
    return WHOLE not in filters or any(straight(filters[WHOLE]) == straight(name) for name in names)


def mean(ratings):
    known = [rating for rating in ratings if rating]
    return (2 * sum(known) + len(known)) // (2 * len(known)) if known else None


def performance(games, side):
    """What a side performed at in games with a result and a rating of the opponent."""
    faced = [game for game in games if game.elos[1 - side] and game.result != "*"]
    if not faced:
        return None
    points = sum({"1-0": 1 - side, "0-1": side}.get(game.result, 0.5) for game in faced)
    left = len(faced) - points
    difference = 400 * math.log10(points / left) if points and left else 800 * (1 if points else -1)
    return math.floor(max(0, mean([game.elos[1 - side] for game in faced]) + min(800, max(-800, difference))) + 0.5)


class CountedGames:
    """The games of each position by its key: their numbers, and the first move there; None if the game ended."""

    def __init__(self):
        self.games, self.of, self.boards = [], defaultdict(dict), {}

    def add(self, facts, board, moves):
        number = len(self.games)
        self.games.append(facts)
        for move in [*moves[:PLIES], None]:
            at = key(board)
            if at not in self.boards:
                self.boards[at] = board.copy(stack=False)
            self.of[at].setdefault(number, move)
            if move:
                board.push(move)

    def meant(self, at, filters):
        return [(self.games[number], move) for number, move in self.of[at].items() if meets(self.games[number], filters)]

    def rows(self, at, filters, player=None):
        """By move: how often it was played, the results, and of the mover, or of the color of a player, ratings and year."""
        board = self.boards[at]
        played = defaultdict(list)
        for game, move in self.meant(at, filters):
            played[move].append(game)
        played.pop(None, None)
        side = int(not board.turn) if player is None else ["white", "black"].index(player)
        results = lambda games, result: sum(game.result == result for game in games)
        return {
            move: {
                "games": len(games), "white": results(games, "1-0"), "draws": results(games, "1/2-1/2"), "black": results(games, "0-1"),
                "average": mean(game.elos[side] for game in games), "opponents": mean(game.elos[1 - side] for game in games),
                "performance": performance(games, side), "last": max(game.date for game in games)[0] or None,
            }
            for move, games in played.items()
        }  # fmt: skip

    def check_table(self, server, at, filters, books):
        """The games among the books of the page."""
        board, view = self.boards[at], server.get("/api/view", start=self.boards[at].fen(), books=books, **filters)
        [book] = view["books"]
        meant = self.meant(at, filters)
        assert book["games"] == len(meant), (board.fen(), filters)
        wanted = {board.uci(move): row for move, row in self.rows(at, filters).items()}
        assert {move["uci"] for move in book["moves"]} == set(wanted), (board.fen(), filters)
        for move in book["moves"]:
            row = {name: value for name, value in wanted[move["uci"]].items() if name != "opponents"}
            # Without any result there are none.
            assert {name: move[name] if move["white"] is not None or name not in ("white", "black") else 0 for name in row} == row, (board.fen(), filters, move)
        return len(meant)

    def check_lichess(self, server, at, filters, path="/lichess", more=None):
        """An answer with Lichess's names: moves with a result, the most played first."""
        board, asked = self.boards[at], filters | (more or {})
        player = filters.get("color") if path == "/player" else None
        named = {"player" if name == WHOLE else name: value for name, value in asked.items()}
        answer = server.get(path, fen=board.fen(), moves=1000, **named)
        rows = self.rows(at, filters, player)
        results = ("white", "draws", "black")
        assert [answer[name] for name in results] == [sum(row[name] for row in rows.values()) for name in results], (path, board.fen(), filters)
        wanted = {board.uci(move, chess960=True): row for move, row in rows.items() if any(row[name] for name in results)}
        counts = [sum(move[name] for name in results) for move in answer["moves"]]
        assert counts == sorted(counts, reverse=True)
        assert {move["uci"] for move in answer["moves"]} == set(wanted), (path, board.fen(), filters)
        for move in answer["moves"]:
            row = wanted[move["uci"]]
            ratings = {"averageRating": row["average"] or 0} if player is None else {"averageOpponentRating": row["opponents"] or 0, "performance": row["performance"] or 0}
            known = {name: row[name] for name in results} | ratings
            assert {name: move[name] for name in known} == known, (path, board.fen(), filters, move)
        meant = [game for game, move in self.meant(at, filters) if move]
        if "topGames" in answer:
            strongest = sorted(((sum(game.elos), game.date) for game in meant), reverse=True)
            assert [(game["white"]["rating"] + game["black"]["rating"], game["year"]) for game in answer["topGames"]] == [(elos, date[0]) for elos, date in strongest[: len(answer["topGames"])]]
            assert len(answer["topGames"]) == min(len(meant), 15 if path == "/masters" else 4)
        if "recentGames" in answer:
            latest = sorted(((game.date, sum(game.elos)) for game in meant), reverse=True)
            assert [(game["year"], game["white"]["rating"] + game["black"]["rating"]) for game in answer["recentGames"]] == [(date[0], elos) for date, elos in latest[: len(answer["recentGames"])]]
            assert len(answer["recentGames"]) == min(len(meant), 8 if path == "/player" else 4)
        return len(meant)
