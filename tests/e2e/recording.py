"""python-chess's own UCI client with a transcript of the lines that pass under it."""

import threading

import chess.engine

from client import HANG, Answer


class RecordingUci(chess.engine.UciProtocol):
    """Keeps every line in both directions, in the order in which they passed."""

    def __init__(self):
        super().__init__()
        self.transcript = []

    def send_line(self, line):
        self.transcript.append((">", line))
        super().send_line(line)

    def line_received(self, line):
        self.transcript.append(("<", line))
        super().line_received(line)

    def sent(self, word):
        return [line for way, line in self.transcript if way == ">" and line.split(" ", 1)[0] == word]

    def heard(self, word):
        return [line for way, line in self.transcript if way == "<" and line.split(" ", 1)[0] == word]

    def answers(self):
        """(position line, go line, Answer) for each `go`; fails unless there is one `bestmove` for each, in turn."""
        found = []
        position = go = lines = None
        for way, line in self.transcript:
            word = line.split(" ", 1)[0]
            if way == ">" and word == "position":
                position = line
            elif way == ">" and word == "go":
                assert go is None, f"a second go before an answer: {line}"
                go, lines, asked = line, [], position
            elif way == "<" and go is not None:
                lines.append(line)
                if word == "bestmove":
                    found.append((asked, go, Answer(lines)))
                    go = None
            elif way == "<":
                assert word != "bestmove", f"a bestmove that nobody asked for: {line}"
        assert go is None, "the last go was never answered"
        return found


class GuardedEngine(chess.engine.SimpleEngine):
    """python-chess waits without end for a search that has a clock or no limit: nothing here may hang."""

    def _timeout_for(self, limit):
        return self.timeout + (limit.time or 0 if limit else 0)

    def analysis(self, *args, **more):
        guard = threading.Timer(self.timeout, self.close)
        guard.daemon = True
        guard.start()
        return super().analysis(*args, **more)


def popen(argv, cwd):
    """A SimpleEngine whose protocol records, and which never waits for ever."""
    return GuardedEngine.popen(RecordingUci, [str(word) for word in argv], timeout=HANG, cwd=str(cwd))
