"""Exports of Lichess, Chessable, ChessBase and Scid: files of their forms, and what becomes of each thing in them (docs/guide/studies.md)."""

import json
import re

import chess
import chess.polyglot
import pytest

DONE, WANTING = 0, 1

LICHESS = """\
[Event "My lines: Main"]
[Result "*"]
[Variant "Standard"]
[StudyName "My lines"]
[ChapterName "Main"]
[ChapterURL "https://lichess.org/study/aaaaaaaa/bbbbbbbb"]
[Orientation "white"]

{ Read this first. } { [%csl Ge4][%cal Ge2e4,Rd2d4] }
1. e4 { [%eval 0.2] } { as always } 1... e5 (1... c5 2. Nf3 (2. c3?! { slow }) 2... d6) 2. Nf3 { [%cal Gf1c4] } 2... Nc6 $1 3. Bc4 -- 4. O-O *

[Event "My lines: Bishop"]
[Result "*"]
[Variant "From Position"]
[FEN "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"]
[SetUp "1"]
[Orientation "black"]
[ChapterMode "gamebook"]

3... Bc5 { Why? } 4. c3 (4. b4 Bxb4) *

[Event "My lines: Boom"]
[Result "*"]
[Variant "Atomic"]

1. Nf3 f6 *

[Event "My lines: Empty"]
[Result "*"]
[Variant "Standard"]

 *
"""

CHESSABLE = """\
[Event "A course"]
[Site "chessable.com/variation/1/"]
[Round "001.001"]
[White "1. Introduction"]
[Black "Welcome"]
[Result "*"]

{ @@HeaderStart@@Welcome@@HeaderEnd@@ @@StartBracket@@read me@@EndBracket@@ @@StartFEN@@8/8/8/4k3/8/8/4P3/4K3 w - - 0 1@@EndFEN@@ }
*

[Event "A course"]
[Site "chessable.com/variation/2/"]
[Round "002.001"]
[White "2. Sicilian"]
[Black "Main line #1"]
[Result "*"]

1. e4 c5 { The @@StartBracket@@sharp@@EndBracket@@ one. } 2. Nf3 d6 ( 2... Nc6 3. Bb5 { ours } ( 3. d4 $6 ) ) 3. d4 cxd4 ( 1. Ne4 ) 4. Nxd4 *
"""

CHESSBASE = """\
[Event "Repertoire"]
[White "Spanish"]
[Black "Müller, Jürgen"]
[Result "*"]
[ECO "C65"]
[PlyCount "9"]

{[%evp 0,4,9,19,22,30] Einführung} 1. e4 {[%mdl 8] [%csl Ge4][%cal Ge2e4]} e5 2. Nf3 ({RR} 2. f4 $5 exf4 $14 (2... -- 3. fxe5
{[%tqu "En","","","","e4e5","",10]})) 2... Nc6 3. Bb5 $146 (3. Z0 $22 Nf6 4. Ng5) 3... Nf6 $11 4. O-O Nxe4 $138 5. Re1 {(5.d4 is usual)} *

[Event "Endgame"]
[White "From a position"]
[Result "1-0"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]

1. e4 $1 1-0
"""

SCID = """\
[Event "?"]
[White "Repertoire"]
[Black "White"]
[Result "*"]
[ECO "B90l"]

1.e4 c5
   ( 1...e5 2.Nf3 Nc6
      ( 2...Nf6 3.Nxe5 $1 )
   3.Bb5 {main} )
2.Nf3 d6 3.d4 cxd4 4.Nxd4 Nf6 5.Nc3 a6 $6 6.Be3 D
  *
"""

FILES = {
    "lichess": LICHESS.encode(),
    "chessable": CHESSABLE.encode(),
    "chessbase": CHESSBASE.replace("\n", "\r\n").encode("cp1252"),
    "chessbase-utf8": b"\xef\xbb\xbf" + CHESSBASE.replace("\n", "\r\n").encode(),
    "scid": SCID.encode(),
}

# The lines that the book of White's moves has, each up to the last of them.
WHITE = {
    "lichess": ["e4 e5 Nf3 Nc6 Bc4 Bc5 c3", "e4 e5 Nf3 Nc6 Bc4 Bc5 b4", "e4 c5 Nf3", "e4 c5 c3"],
    "chessable": ["e4 c5 Nf3 d6 d4 cxd4 Nxd4", "e4 c5 Nf3 Nc6 Bb5", "e4 c5 Nf3 Nc6 d4"],
    "chessbase": ["e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4 Re1", "e4 e5 f4"],
    "scid": ["e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be3", "e4 e5 Nf3 Nc6 Bb5", "e4 e5 Nf3 Nf6 Nxe5"],
}
SAID = {
    "lichess": ['1 game used up to the error: null move, first lichess.pgn: line 10: 3... "--": a side passes', 'another chess variant, first lichess.pgn: line 22: the game is "Atomic"'],
    "chessable": ["1 game with variations used up to an error: move out of order"],
    "chessbase": ['1 game with variations used up to an error: null move, first chessbase.pgn: line 8: 2... "--": a side passes'],
    "scid": [],
}


@pytest.fixture(params=FILES)
def study(request, tmp_path):
    (tmp_path / f"{request.param}.pgn").write_bytes(FILES[request.param])
    return request.param


def moves_of(lines):
    """Positions and White's moves of lines."""
    found = set()
    for line in lines:
        board = chess.Board()
        for san in line.split():
            move = board.parse_san(san)
            if board.turn:
                found.add((chess.polyglot.zobrist_hash(board), move.uci()))
            board.push(move)
    return found


def held(book):
    with chess.polyglot.open_reader(book) as reader:
        return {(entry.key, entry.move.uci()) for entry in reader}


def built(tabiya, name, *more):
    done = tabiya("build", f"{name}.pgn", "-o", "white.bin", "--force", "--repertoire", "white", *more)
    assert done.returncode == DONE, done.stderr
    return (done.stdout + done.stderr).decode()


def test_a_repertoire_has_the_moves_of_the_variations_and_says_what_is_lost(tabiya, study, tmp_path):
    text, kind = built(tabiya, study), study.removesuffix("-utf8")
    expected = moves_of(WHITE[kind])
    if kind == "chessbase":
        expected.add((chess.polyglot.zobrist_hash(chess.Board("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")), "e2e4"))
    # A castling king takes its rook in a Polyglot book.
    assert {(key, {"e1h1": "e1g1"}.get(move, move)) for key, move in held(tmp_path / "white.bin")} == expected
    for line in SAID[kind]:
        assert line.replace(f"{kind}.pgn", f"{study}.pgn") in text, text
    # What becomes of it as PGN is what python-chess reads of it, up to moves of the other side.
    done = tabiya("export", "white.bin", "--format", "pgn", "--reachable")
    assert done.returncode == DONE and b"{not in the book}" in done.stdout


def test_mistakes_weights_evaluations_and_orientations(tabiya, tmp_path):
    for name in FILES:
        (tmp_path / f"{name}.pgn").write_bytes(FILES[name])
    e4_c5 = "r1bqkbnr/pp1ppppp/2n5/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
    built(tabiya, "chessable", "--skip-mistakes")
    with chess.polyglot.open_reader(tmp_path / "white.bin") as reader:
        assert [entry.move.uci() for entry in reader.find_all(chess.Board(e4_c5))] == ["f1b5"]
    built(tabiya, "lichess", "--tag", "Orientation=white")
    assert held(tmp_path / "white.bin") == moves_of(["e4 e5 Nf3 Nc6 Bc4", "e4 c5 Nf3", "e4 c5 c3"])
    done = tabiya("build", "chessbase.pgn", "-o", "marked.ctg", "--repertoire", "white")
    assert done.returncode == DONE
    for place, mark in ((["--fen", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"], "!"), (["--moves", "e4 e5 f4"], None)):
        moves = json.loads(tabiya("show", "marked.ctg", "--json", *place).stdout)["moves"]
        assert [move["annotation"] for move in moves] == [mark] * len(moves)
    built(tabiya, "lichess", "--store", "some.evals")
    assert b"positions        1" in tabiya("info", "some.evals").stdout


def test_games_without_a_result_teach_nothing(tabiya, study, tmp_path):
    built(tabiya, study)
    done = tabiya("learn", "games", "white.bin", f"{study}.pgn", "--both")
    text = (done.stdout + done.stderr).decode()
    won = study.startswith("chessbase")
    assert re.search(rf"{1 if won else 0} learned into {1 if won else 0} entr", text), text
    assert "without a result" in text


def test_the_explorer_reads_chapters_with_their_variations(tabiya, explore, study, tmp_path):
    built(tabiya, study)
    server = explore("white.bin", "--games", f"{study}.pgn")
    status, read = server.post("/api/read", {"text": FILES[study].decode("cp1252" if study == "chessbase" else "utf-8")})
    assert status == 200
    lines = [(" ".join(game["san"]), [" ".join(line["san"]) for line in game["variations"]]) for game in read["games"]]
    kind = study.removesuffix("-utf8")
    expected = {
        "lichess": [("e4 e5 Nf3 Nc6 Bc4", ["c5 Nf3 d6", "c3"]), ("Bc5 c3", ["b4 Bxb4"]), ("", [])],
        "chessable": [("", []), ("e4 c5 Nf3 d6 d4 cxd4 Nxd4", ["Nc6 Bb5", "d4"])],
        "chessbase": [("e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4 Re1", ["f4 exf4"]), ("e4", [])],
        "scid": [("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be3", ["e5 Nf3 Nc6 Bb5", "Nf6 Nxe5"])],
    }
    assert lines == expected[kind]
    assert all(game["start"] == chess.STARTING_FEN or game["san"][0] in ("Bc5", "e4") for game in read["games"])
    # Those that begin elsewhere are not among the games of the starting position.
    listed = server.get("/api/games")
    assert listed["total"] == {"lichess": 2, "chessable": 2, "chessbase": 1, "scid": 1}[kind]
