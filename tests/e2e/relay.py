"""Stands between tabiya and its engine and copies what passes: relay.py FROM-ENGINE TO-ENGINE PROGRAM..."""

import os
import subprocess
import sys
import threading


def pump(source, target, copy):
    while chunk := os.read(source, 65536):
        copy.write(chunk)
        copy.flush()
        while chunk:
            chunk = chunk[os.write(target, chunk) :]


def main():
    engine = subprocess.Popen(sys.argv[3:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with open(sys.argv[1], "wb") as from_engine, open(sys.argv[2], "wb") as to_engine:

        def forward():
            pump(sys.stdin.fileno(), engine.stdin.fileno(), to_engine)
            engine.stdin.close()

        threading.Thread(target=forward, daemon=True).start()
        pump(engine.stdout.fileno(), sys.stdout.fileno(), from_engine)
    # The thread may still wait for input: leave without joining it.
    os._exit(engine.wait())


if __name__ == "__main__":
    main()
