"""A UCI engine for the page's tests: it thinks until it is stopped, or ends in the middle of a search.

usage: engine.py [LIFE]      LIFE: a file; while it does not exist, a search ends the process
"""

import sys
from pathlib import Path

import chess


def main():
    life = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    board, threads = chess.Board(), 0
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "uci":
            print("id name Tester\noption name MultiPV type spin default 1 min 1 max 9\noption name Threads type spin default 1 min 1 max 512\nuciok", flush=True)
        elif words[0] == "isready":
            print("readyok", flush=True)
        elif words[:3] == ["setoption", "name", "Threads"]:
            threads = int(words[4])
        elif words[0] == "position":
            moves = words[words.index("moves") + 1 :] if "moves" in words else []
            board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:8]))
            for move in moves:
                board.push_uci(move)
        elif words[0] == "go":
            for number, move in enumerate(list(board.legal_moves)[:3], 1):
                print(f"info depth 9 seldepth 12 multipv {number} score cp {40 - 10 * number} nodes 12345 nps {100000 * (1 + threads)} time 123 pv {move}", flush=True)
            if life and not life.exists():
                return
        elif words[0] == "stop":
            print(f"bestmove {next(iter(board.legal_moves), '0000')}", flush=True)
        elif words[0] == "quit":
            return


main()
