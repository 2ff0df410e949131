"""The filters of `build` that look at the headers of games, and those of moves, recomputed with python-chess."""

import json
import random

import pytest

from client import times
from random_games import counted, pgn, random_games, read_book, weighed

DONE, WANTING, USAGE, FILE = 0, 1, 2, 3

SPEEDS = {
    "15+0": "ultrabullet",
    "60+0": "bullet",
    "120+1": "bullet",
    "180+2": "blitz",
    "300+5": "rapid",
    "600": "rapid",
    "1800+20": "classical",
    "40/7200:3600": "classical",
    "-": "correspondence",
    "1/86400": "correspondence",
    "?": None,
}


def make_games(number, seed):
    """Random games with titles, time controls and kinds of events."""
    games = random_games(number, seed=seed, most_plies=24, mixed=True)
    for index, game in enumerate(games):
        chance = random.Random(seed * number + index)
        game.head["Event"] = chance.choice(["Rated Blitz game", "Casual game", "rated arena", "Club Championship"])
        if chance.random() < 0.9:
            game.head["TimeControl"] = chance.choice(list(SPEEDS))
        for side in ("WhiteTitle", "BlackTitle"):
            if chance.random() < 0.5:
                game.head[side] = chance.choice(["BOT", "GM", "bot"])
    return games


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    games = make_games(times(1200, 5000), seed=5)
    path = tmp_path_factory.mktemp("filters") / "games.pgn"
    path.write_text(pgn(games), encoding="utf-8")
    return path, games


@pytest.fixture
def build(tabiya, tmp_path):
    def call(*args, out="book.bin", code=DONE):
        path = tmp_path / out
        done = tabiya("build", "-o", path, "--force", *map(str, args))
        assert done.returncode == code, done.stderr
        return path, (done.stdout + done.stderr).decode()

    return call


def elo(game, side):
    return int(game.head.get(f"{side}Elo", 0))


def speed(*names):
    return lambda game: SPEEDS.get(game.head.get("TimeControl")) in names


def title(game, side):
    return game.head.get(f"{side}Title", "").lower()


def near(most):
    def admits(game):
        white, black = elo(game, "White"), elo(game, "Black")
        return white > 0 and black > 0 and abs(white - black) <= most

    return admits


def long(least):
    # What is not legal is no ply.
    return lambda game: len(game.moves) >= least


# Arguments, the option that the report names, which games they leave, what counts of their moves, and what it weighs.
FILTERS = {
    "min-mover-elo": (["--min-mover-elo", "2500"], "--min-mover-elo",
        lambda game: max(elo(game, "White"), elo(game, "Black")) >= 2500, {"mover_elo": 2500}, {}),
    "max-elo-difference": (["--max-elo-difference", "50"], "--max-elo-difference", near(50), {}, {}),
    "one speed": (["--speed", "blitz"], "--speed", speed("blitz"), {}, {}),
    "speeds": (["--speed", "ultrabullet,classical", "--speed", "correspondence"], "--speed",
        speed("ultrabullet", "classical", "correspondence"), {}, {}),
    "tag": (["--tag", "WhiteTitle=BOT"], "--tag", lambda game: title(game, "White") == "bot", {}, {}),
    "tags": (["--tag", "Event=*RATED*", "--tag", "blacktitle=?m"], "--tag",
        lambda game: "rated" in game.head["Event"].lower() and title(game, "Black") == "gm", {}, {}),
    "not-tag": (["--tag", "WhiteTitle!=BOT", "--tag", "BlackTitle!=bot"], "--tag NAME!=PATTERN",
        lambda game: "bot" not in (title(game, "White"), title(game, "Black")), {}, {}),
    "tag of the seven": (["--tag", "Date=199?.*"], "--tag", lambda game: game.head["Date"].startswith("199"), {}, {}),
    "min-plies": (["--min-plies", "15"], "--min-plies", long(15), {}, {}),
    "min-plies beyond max-ply": (["--min-plies", "15", "--max-ply", "6"], "--min-plies", long(15), {"max_ply": 6}, {}),
    "min-share": (["--min-share", "30"], None, lambda game: True, {}, {"shares": (300, 300)}),
    "min-share by side": (["--min-share", "40/15.0"], None,
        lambda game: True, {}, {"shares": (150, 400)}),
    "min-share of Black alone": (["--min-share", "0/35"], None,
        lambda game: True, {}, {"shares": (350, 0)}),
    "many": (["--speed", "blitz,rapid", "--min-mover-elo", "2000", "--tag", "Event!=casual*", "--only", "black",
              "--min-games", "2", "--min-share", "10"], "--speed",
        lambda game: speed("blitz", "rapid")(game) and not game.head["Event"].startswith("Casual"),
        {"mover_elo": 2000, "only": "black"}, {"min_games": 2, "shares": (100, 100)}),
}  # fmt: skip


@pytest.mark.parametrize("name", FILTERS)
def test_filters_leave_what_python_chess_leaves(build, source, name):
    path, games = source
    args, option, admits, counting, weighing = FILTERS[name]
    chosen = [game for game in games if admits(game)]
    expected = weighed(counted(chosen, **counting), **weighing)
    assert expected and (not option or len(chosen) < len(games))
    book, told = build(path, *args)
    assert read_book(book) == expected
    if option and name != "many":
        assert f"{len(games) - len(chosen)} games left out by {option}\n" in told


def test_players_of_a_file_are_whole_names_in_any_case(build, source, tmp_path):
    path, games = source
    names = tmp_path / "names.txt"
    # With a mark of UTF-8, empty lines, and line ends of Windows.
    names.write_bytes("\ufeffMÜLLER, karsten\r\n\r\n Nn \r\nCarlsen\r\n".encode())
    listed = ("Müller, Karsten", "Nn")
    chosen = [game for game in games if {game.head["White"], game.head["Black"]} & set(listed)]
    book, told = build(path, "--player", f"@{names}")
    assert read_book(book) == weighed(counted(chosen))
    assert f"{len(games) - len(chosen)} games left out by --player" in told
    book, _ = build(path, "--player", f"@{names}", "--player-side", "white", "--only", "player")
    chosen = [game for game in games if game.head["White"] in listed]
    assert read_book(book) == weighed(counted(chosen, only="white"))
    names.write_bytes("Müller, Karsten".encode("cp1252"))
    book, _ = build(path, "--player", f"@{names}", "--only", "player")
    chosen = [game for game in games if "Müller, Karsten" in (game.head["White"], game.head["Black"])]
    assert read_book(book) == weighed(counted(chosen, only="player", player="Müller"))


@pytest.mark.parametrize("memory", ["64M", "16M"])
def test_repeated_games_count_once(build, tmp_path, memory):
    games = make_games(600, seed=8)
    chance = random.Random(8)
    repeated = []
    for game in chance.choices(games, k=400):
        copy = type(game)(game.moves, chance.choice(["1-0", "0-1"]), dict(game.head), game.fen, game.chess960, game.broken)
        copy.head |= {"Event": "copied", "White": copy.head["White"].upper()}
        repeated.append(copy)
    both = games + repeated
    chance.shuffle(both)
    folder = tmp_path / "parts"
    folder.mkdir()
    for at in range(2):
        (folder / f"{at}.pgn").write_text(pgn(both[at * 500 : at * 500 + 500]), encoding="utf-8")
    seen, chosen = set(), []
    for game in both:
        head = game.head
        identity = (head["White"].lower(), head["Black"].lower(), head["Date"], game.fen, tuple(game.moves))
        if identity not in seen:
            seen.add(identity)
            chosen.append(game)
    # They count as the first of them does, whatever the threads do.
    for threads in (1, 4):
        for out in ("book.bin", "book.ctg"):
            book, told = build(folder, "--unique", "--memory", memory, "--threads", threads, out=out)
            if out == "book.bin":
                assert read_book(book) == weighed(counted(chosen))
            assert f"{len(both) - len(chosen)} games left out by --unique" in told
            (tmp_path / f"{threads}-{out}").write_bytes(book.read_bytes())
    for out in ("book.bin", "book.ctg"):
        assert (tmp_path / f"1-{out}").read_bytes() == (tmp_path / f"4-{out}").read_bytes()


def test_a_file_that_is_named_twice_counts_once(build, tmp_path):
    games = make_games(40, seed=9)
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "a.pgn").write_text(pgn(games), encoding="utf-8")
    (tmp_path / "linked.pgn").symlink_to(folder / "a.pgn")
    once, _ = build(folder, "--unique", out="once.bin")
    for names in ([folder, folder / "a.pgn"], [folder, folder], [folder / ".." / "games" / "a.pgn", tmp_path / "linked.pgn", folder]):
        book, told = build(*names, "--unique")
        assert book.read_bytes() == once.read_bytes() and "named before: its games count once" in told


def test_what_a_filter_refuses_is_not_the_first_of_its_like(build, tmp_path):
    text = '[Event "a"]\n[White "A"]\n[Black "B"]\n[Result "{}"]\n\n1. e4 e5 {}\n\n'
    path = tmp_path / "games.pgn"
    path.write_text("".join(text.format(result, result) for result in ("*", "1-0", "0-1")))
    book, _ = build(path, "--unique", "--finished", "--min-games", "1")
    assert sorted(weight for moves in read_book(book).values() for weight in moves.values()) == [2]


def test_wrong_filters_are_explained(build, source, tabiya, tmp_path):
    path, _ = source
    for args, code, words in [
        (["--speed", "fast"], USAGE, ["fast", "ultrabullet", "correspondence"]),
        (["--tag", "WhiteTitle"], USAGE, ["NAME=PATTERN"]),
        (["--tag", "White Title=x"], USAGE, ["letters"]),
        (["--min-share", "100.1"], USAGE, ["100.1", "percent from 0 to 100"]),
        (["--player", f"@{tmp_path}/none.txt"], FILE, ["none.txt", "names of players"]),
        (["--player", "@"], USAGE, ["--player", "@FILE"]),
        (["--min-share", "5/x"], USAGE, ["--min-share", "percent"]),
        (["--only", "player"], USAGE, ["--player"]),
        (["--speed", "bullet", "--min-plies", "999"], WANTING, ["--speed", "--min-plies", "passed the filters"]),
    ]:
        _, told = build(path, *args, code=code)
        assert all(word in told for word in words), told
    (tmp_path / "empty.txt").write_text("\n \n")
    _, told = build(path, "--player", f"@{tmp_path}/empty.txt", code=FILE)
    assert "empty.txt" in told and "no name" in told
    done = tabiya("build", "-o", tmp_path / "b.bin", "--unique", "-")
    assert done.returncode == USAGE and b"pipe" in done.stderr
    _, told = build(path, "--min-share", "5", out="c.parquet", code=USAGE)
    assert "--min-share" in told


def test_what_an_option_leaves_out_of_games_is_counted(build, tmp_path):
    games, path = random_games(300, seed=9, most_plies=24), tmp_path / "games.pgn"
    path.write_text(pgn(games))
    lengths = [len(game.moves) for game in games]
    _, said = build(path, "--max-ply", "8", "--min-games", "1")
    assert f"{sum(length >= 8 for length in lengths)} games counted up to the last ply that counts (--max-ply)" in said
    _, said = build(path, "--min-games", "1")
    assert "counted up to" not in said and "other side" not in said
    for out in ("book.bin", "book.ctg"):
        _, said = build(path, "--only", "black", "--min-games", "1", out=out)
        assert f"{sum((length + 1) // 2 for length in lengths)} plies of the other side left out" in said, out
        _, said = build(path, "--only", "black", "--max-ply", "5", "--min-games", "1", out=out)
        assert f"{sum((min(length, 5) + 1) // 2 for length in lengths)} plies of the other side left out" in said, out


def test_mistakes_that_are_left_out_are_counted(build, tmp_path):
    text = '[Result "1-0"]\n\n1. e4 e5 2. Qh5 $2 Nc6 3. Bc4 1-0\n\n[Result "0-1"]\n\n1. d4 d5 2. c4 0-1\n\n'
    (tmp_path / "games.pgn").write_text(text)
    for out in ("book.bin", "book.ctg"):
        _, said = build(tmp_path / "games.pgn", "--skip-mistakes", "--min-games", "1", out=out)
        assert "2 games read, 2 used, 5 plies" in said and "3 plies left out by --skip-mistakes" in said, said


def test_rows_of_count_files_that_are_left_out_are_counted(source, build, tabiya, tmp_path):
    path, _ = source
    counts, _ = build(path, "--by", "speed", out="all.parquet")
    blitz, _ = build(path, "--by", "speed", "--speed", "blitz", out="blitz.parquet")

    def rows(file):
        return json.loads(tabiya("info", "--json", file).stdout)["entries"]

    left = f"left out: {rows(counts) - rows(blitz)} rows of other speeds or ratings"
    _, said = build(counts, "--speed", "blitz", "--min-games", "1")
    assert left in said, said
    done = tabiya("merge", counts, "-o", "merged.parquet", "--by", "speed", "--speed", "blitz")
    assert done.returncode == DONE and left in done.stdout.decode(), done
