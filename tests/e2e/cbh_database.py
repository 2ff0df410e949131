"""Databases for the benches: the games of one, repeated."""

import struct
import sys
from pathlib import Path

RECORD = 46


def part(path, extension):
    return Path(path).with_suffix(f".{extension}")


def repeat(source, target, games):
    """Writes the games of `source` again and again until there are at least `games` of them; returns how many."""
    cbh, cbg = part(source, "cbh").read_bytes(), part(source, "cbg").read_bytes()
    header = int.from_bytes(cbg[:2], "big")
    body = cbg[header:]
    records = [cbh[at : at + RECORD] for at in range(RECORD, len(cbh), RECORD)]
    times = -(-games // len(records))
    total = times * len(records)
    with open(part(target, "cbg"), "wb") as out:
        head = bytearray(cbg[:header])
        head[2:6] = struct.pack(">I", header + len(body) * times)
        out.write(head)
        for _ in range(times):
            out.write(body)
    with open(part(target, "cbh"), "wb") as out:
        head = bytearray(cbh[:RECORD])
        head[6:10] = struct.pack(">I", total + 1)
        head[40:44] = head[6:10]
        out.write(head)
        for time in range(times):
            for record in records:
                offset = int.from_bytes(record[1:5], "big") + time * len(body)
                out.write(record[:1] + struct.pack(">I", offset) + record[5:])
    second = part(source, "cbj").read_bytes()
    size = struct.unpack("<I", second[4:8])[0]
    with open(part(target, "cbj"), "wb") as out:
        out.write(second[:8] + struct.pack("<I", total) + second[12:32])
        for _ in range(times):
            out.write(second[32 : 32 + size * len(records)])
    for extension in ("cba", "cbp", "cbt", "cbc", "cbs", "cbe", "cbl"):
        part(target, extension).write_bytes(part(source, extension).read_bytes())
    return total


if __name__ == "__main__":
    print(repeat(sys.argv[1], sys.argv[2], int(sys.argv[3])))
