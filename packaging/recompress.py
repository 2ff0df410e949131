#!/usr/bin/env python3
"""Compresses what is in a wheel with zopfli, which takes a minute and saves a twentieth.

usage: packaging/recompress.py WHEEL
"""

import sys
import zipfile
from pathlib import Path

import zopfli.zlib

# What zlib puts around a stream of deflate, which a wheel has without.
HEAD_LEN, SUM_LEN = 2, 4


class Compressor:
    """What zipfile compresses with, as far as it asks for it."""

    def __init__(self):
        self.parts = []

    def compress(self, data):
        self.parts.append(data)
        return b""

    def flush(self):
        return zopfli.zlib.compress(b"".join(self.parts))[HEAD_LEN:-SUM_LEN]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wheel = Path(sys.argv[1])
    smaller = wheel.with_suffix(".smaller")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            with new.open(entry, "w") as file:
                # The only way in.
                file._compressor = Compressor() if file._compressor else None
                file.write(data)
    smaller.replace(wheel)


if __name__ == "__main__":
    main()
