"""Rules for some opponents only, with the programs that say who the opponent is: python-chess, which lichess-bot and BotLi talk to
engines with, and Cute Chess."""

import subprocess

import chess
import chess.engine
import chess.pgn
import pytest

from client import HANG, find_tool
from conftest import not_windows
from polyglot_writer import Book
from recording import popen

RULES = """
[[book]]
file = "bots.bin"
opponent = "computer"
[[book]]
file = "carlsen.bin"
opponent-name = "Carlsen, M*"
[[book]]
file = "club.bin"
opponent = "human"
opponent-rating = "..1999"
[[book]]
file = "second.bin"
opponent-name = "second*"
"""

FIRST = {"bots": "a2a3", "carlsen": "b2b3", "club": "c2c3", "second": "d2d3"}

# Where every rule is silent.
ENGINE = "h2h3"


@pytest.fixture
def rules(tmp_path):
    for name, move in FIRST.items():
        Book().line(move).write(tmp_path / f"{name}.bin")
    (tmp_path / "tabiya.toml").write_text(RULES)
    return tmp_path


def test_python_chess_says_before_each_game_who_the_opponent_is(tabiya_exe, engine, rules):
    player = popen([tabiya_exe, *engine.argv("--bestmove", ENGINE)], rules)
    opponents = [
        (None, ENGINE),
        (chess.engine.Opponent("maia5", "BOT", 1500, True), FIRST["bots"]),
        (chess.engine.Opponent("Magnus Carlsen", "GM", 2850, False), FIRST["carlsen"]),
        (chess.engine.Opponent("somebody", None, 1500, False), FIRST["club"]),
        (chess.engine.Opponent("somebody", "FM", 2300, False), ENGINE),
        (chess.engine.Opponent("nobody", None, None, False), ENGINE),
        (chess.engine.Opponent("AI level 3", None, None, True), FIRST["bots"]),
    ]
    for game, (opponent, move) in enumerate(opponents):
        player.send_opponent_information(opponent=opponent)
        assert player.play(chess.Board(), chess.engine.Limit(time=0.01), game=game).move.uci() == move, opponent
    player.quit()
    # The engine has no such option.
    assert not any("UCI_Opponent" in line for line in engine.commands("setoption"))


@not_windows
def test_cute_chess_says_who_the_opponent_is(tabiya_exe, scripted_exe, rules):
    runner = find_tool("cutechess-cli")
    if not runner:
        pytest.skip("there is no cutechess-cli, neither in the folder that TABIYA_TOOLS names nor on PATH")
    log = rules / "log.txt"
    text = RULES.replace('opponent = "computer"', 'opponent = "computer"\nopponent-name = "first"')
    (rules / "tabiya.toml").write_text(f"log = '{log}'\n" + text)
    line = [runner, "-tournament", "gauntlet", "-engine", "name=ours", f"cmd={tabiya_exe}", f"dir={rules}"]
    line += [f"arg=--engine={scripted_exe}", "arg=--engine-arg=--legal"]
    for name in ("first", "second", "third"):
        line += ["-engine", f"name={name}", f"cmd={scripted_exe}", "arg=--legal"]
    line += ["-each", "proto=uci", "tc=60", "-games", "2", "-rounds", "1", "-maxmoves", "2", "-concurrency", "1", "-pgnout", "match.pgn"]
    done = subprocess.run(list(map(str, line)), cwd=rules, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(rules / "match.pgn") as file:
        games = list(iter(lambda: chess.pgn.read_game(file), None))
    as_white = {game.headers["Black"]: game.next().move.uci() for game in games if game.headers["White"] == "ours"}
    assert len(games) == 6 and (as_white["first"], as_white["second"]) == (FIRST["bots"], FIRST["second"]), as_white
    assert as_white["third"] not in FIRST.values(), as_white
    told = log.read_text()
    assert "the opponent is second (computer): rule 1 is skipped: the opponent has another name than its opponent-name; " in told, told


def test_show_and_doctor_say_which_rule_is_for_the_opponent(tabiya, engine, rules):
    def last(*args):
        return tabiya("show", *args, cwd=rules).stdout.decode().rstrip().splitlines()[-1]

    assert last() == "rule 1 (bots.bin) answers, if the opponent is a computer."
    assert last("--opponent", "GM 2850 human Carlsen, Magnus") == "rule 2 (carlsen.bin) answers."
    assert last("--opponent", "none 1999 human X") == "rule 3 (club.bin) answers."
    assert last("--opponent", "none 2000 human X") == "No book answers here: the engine does."
    text = tabiya("doctor", *engine.argv("--legal"), cwd=rules).stdout.decode()
    assert "not known: rule 1 is skipped: it is not known whether the opponent is a human or a computer; rule 2 is skipped" in text, text
    text = tabiya("doctor", *engine.argv("--legal"), "--set", "UCI_Opponent=none none computer X", cwd=rules).stdout.decode()
    assert "somebody" not in text and "X (computer): rule 2 is skipped: the opponent has another name" in text, text
    assert "rule 1" in text.split("shown as")[1], text
