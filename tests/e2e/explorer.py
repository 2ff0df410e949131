"""A running `tabiya explore`, and what its answers mean."""

import contextlib
import http.client
import json
import queue
import secrets
import signal
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from client import HANG


class Listening(http.client.HTTPConnection):
    """A connection whose answer a thread reads, line by line."""

    def close(self):
        # The thread holds the answer until a line comes, or the end.
        if self.sock:
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)
        super().close()


class Server:
    """A running `tabiya explore`, or tabiya with files `alone`, which knows a token if `args` name no file of one."""

    def __init__(self, exe, *args, cwd, alone=()):
        if "--token-file" not in args:
            self.folder = tempfile.TemporaryDirectory()
            kept = Path(self.folder.name, "token")
            kept.touch(0o600)
            kept.write_text(secrets.token_hex(16))
            args = (*args, "--token-file", kept)
        self.process = subprocess.Popen(
            [str(word) for word in (exe, *(alone or ("explore",)), "--no-open", *args)],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.address = self.process.stdout.readline().decode().strip()
        if not self.address:
            raise AssertionError(self.process.stderr.read())
        parts = urlsplit(self.address)
        self.host, self.port = parts.hostname, parts.port
        kept = Path(cwd, args[args.index("--token-file") + 1])
        self.token = kept.read_text().strip()

    def connection(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=HANG)

    def raw(self, method, path, body=None, headers=(), token=True):
        """Status, headers and body of an answer."""
        connection = self.connection()
        headers = dict(headers)
        if token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def get(self, path, **parameters):
        status, _, body = self.raw("GET", path + ("?" + urlencode(parameters) if parameters else ""))
        assert status == 200, (path, parameters, status, body)
        return json.loads(body)

    def wrong(self, path, **parameters):
        """Status and code of an error."""
        status, _, body = self.raw("GET", path + ("?" + urlencode(parameters) if parameters else ""))
        answer = json.loads(body)
        assert status >= 400 and answer["error"]
        return status, answer["code"]

    def post(self, path, body):
        """Status and answer."""
        status, _, answer = self.raw("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        return status, json.loads(answer)

    def edit(self, **body):
        return self.post("/api/edit", {"book": 0, "start": None, "play": []} | body)

    def listen(self, path, **parameters):
        """A connection of events, and its events as they come."""
        connection = Listening(self.host, self.port, timeout=HANG)
        query = "?" + urlencode(parameters) if parameters else ""
        connection.request("GET", path + query, headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream", answer.read()
        events = queue.Queue()

        def read():
            name = None
            try:
                for line in answer:
                    line = line.decode().rstrip("\n")
                    if line.startswith("event: "):
                        name = line.removeprefix("event: ")
                    elif line.startswith("data: "):
                        events.put((name, json.loads(line.removeprefix("data: "))))
            except (OSError, ValueError, http.client.HTTPException, AttributeError):
                pass
            events.put(None)

        threading.Thread(target=read, daemon=True).start()
        return connection, events

    def moves(self, book=0, play=()):
        view = self.get("/api/view", play=",".join(play), books=book)
        return {move["uci"]: move for move in view["books"][0]["moves"]}

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(HANG)


def value_of(name, move):
    """What an edit of a book of this format expects and reports."""
    if move is None:
        return None
    if name == "ctg":
        color = {True: "green", False: "red", None: None}[move["recommended"]]
        return {"weight": move["weight"], "color": color, "mark": move["annotation"]}
    return {"priority": move["priority"]} if name == "abk" else {"weight": move["weight"]}
