"""tabiya opens no network connection; only `explore` listens, and on this machine only."""

import contextlib
import os
import re
import socket
import struct
import threading
from pathlib import Path

import chess

from conftest import linux_only
from polyglot_writer import Book

ROOT = Path(__file__).parents[2]
SOURCES = [*(ROOT / "src").rglob("*.rs"), *(ROOT / "crates").glob("*/src/**/*.rs")]
NETWORK = re.compile(r"\b(std|tokio|hyper\w*|axum)::net\b|\b(Tcp|Udp|Unix)(Stream|Listener|Socket|Datagram)\b|\bSocketAddr")


def sockets(pid):
    """The numbers of the sockets that a process has open."""
    links = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        # The process may have closed it since.
        with contextlib.suppress(FileNotFoundError):
            links.append(str(entry.readlink()))
    assert links
    return {int(link[len("socket:[") : -1]) for link in links if link.startswith("socket:")}


def addresses(pid):
    """The own addresses and ports of the sockets of a process; fails for one that is not of TCP."""
    found = {}
    before = sockets(pid)
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            address, port = words[1].split(":")
            parts = [struct.pack("=I", int(address[at : at + 8], 16)) for at in range(0, len(address), 8)]
            family = socket.AF_INET if table == "tcp" else socket.AF_INET6
            found[int(words[9])] = (socket.inet_ntop(family, b"".join(parts)), int(port, 16))
    # Of one that was opened or closed meanwhile the tables may say nothing.
    return [found[number] for number in before & sockets(pid)]


@linux_only
def test_what_a_process_closes_meanwhile_is_no_socket():
    ended = threading.Event()

    def open_and_close():
        while not ended.is_set():
            for file in [open("/dev/null") for _ in range(50)]:  # noqa: SIM115
                file.close()

    thread = threading.Thread(target=open_and_close)
    thread.start()
    try:
        seen = [sockets(os.getpid()) for _ in range(200)]
    finally:
        ended.set()
        thread.join()
    assert len(seen) == 200


@linux_only
def test_an_adapter_that_plays_and_learns_has_no_socket(adapter, tmp_path):
    book = Book().line("e2e4 e7e5 g1f3").write(tmp_path / "a.bin")
    args = ("--book", book, "--set", "Book Learn=true", "--log", tmp_path / "log")
    client = adapter(*args, engine_args=("--score", "cp 900", "--legal"))
    board = chess.Board()
    # Before, the standard library may have a pair of them that hears of the engine's start.
    client.start()
    assert sockets(client.pid) == set()
    for _ in range(6):
        answer = client.go("depth 1", f"position startpos moves {' '.join(move.uci() for move in board.move_stack)}")
        assert sockets(client.pid) == set()
        board.push_uci(answer.move)
        board.push(next(iter(board.legal_moves)))
    client.send("ucinewgame")
    client.ready()
    assert sockets(client.pid) == set()
    assert client.quit() == 0


@linux_only
def test_explore_listens_on_this_machine_only(explore, small_book):
    server = explore(small_book)
    server.moves()
    own = set(addresses(server.process.pid))
    assert ("127.0.0.1", server.port) in own
    assert {address for address, _ in own} == {"127.0.0.1"}


def test_only_explore_has_code_for_the_network():
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in SOURCES}
    having = {name for name, text in texts.items() if NETWORK.search(text)}
    assert "crates/explore/src/server.rs" in having
    assert {name for name in having if "explore" not in name} == set()
