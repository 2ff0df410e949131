#!/usr/bin/env python3
"""Reads archives of ChessBase databases as cbv.md describes them.

usage: read_cbv.py ARCHIVE [FOLDER]

Prints a line for each file in the archive, and unpacks them into a folder that exists already.
"""

import struct
import sys
from collections import namedtuple
from pathlib import Path

ENTRIES = (149, 173)
MAX_BLOCK = 65536
MAX_CODE = 15

Member = namedtuple("Member", "name offset packed length")


def directory(data):
    """The files of an archive."""
    start, count, entry = struct.unpack_from("<3H", data)
    if start != 8 or entry not in ENTRIES:
        raise ValueError("no ChessBase archive, or one that is locked with a password")
    members = []
    for at in range(8, 8 + count * entry, entry):
        name, *numbers = struct.unpack_from("<128s3I", data, at)
        if entry == 173:
            wide = struct.unpack_from("<3Q", data, at + 149)
            if numbers != [number & 0xFFFFFFFF for number in wide]:
                raise ValueError(f"two numbers at {at} do not agree")
            numbers = wide
        members.append(Member(name.split(b"\0")[0].decode("cp1252"), *numbers))
    end = 8 + count * entry
    for member in sorted(members, key=lambda member: member.offset):
        if member.offset < end or member.offset + member.packed > len(data):
            raise ValueError(f"{member.name} is not where it can be")
        end = member.offset + member.packed
    return members


def checksum(content):
    """The sum of the 16-bit numbers of a block, without a last odd byte."""
    return sum(struct.unpack(f"<{len(content) // 2}H", content[: len(content) & ~1])) & 0xFFFF


def lz(payload):
    """Literals, runs and copies."""
    out, at = bytearray(), 0
    while at < len(payload):
        (control,) = struct.unpack_from("<H", payload, at)
        at += 2
        for bit in range(15, -1, -1):
            if at == len(payload) or len(out) > MAX_BLOCK:
                break
            if not control >> bit & 1:
                out.append(payload[at])
                at += 1
                continue
            kind, low = payload[at] >> 4, payload[at] & 15
            if kind == 0:
                out += bytes([payload[at + 1]]) * (low + 3)
                at += 2
            elif kind == 1:
                out += bytes([payload[at + 2]]) * (low + 16 * payload[at + 1] + 19)
                at += 3
            else:
                distance = 16 * payload[at + 1] + low + 3
                length = payload[at + 2] + 16 if kind == 2 else kind
                if distance > len(out):
                    raise ValueError("a reference before the start")
                for _ in range(length):
                    out.append(out[-distance])
                at += 3 if kind == 2 else 2
    return bytes(out)


def huffman(payload):
    """A number of bytes, the codes, and the bytes in these codes."""
    bits = "".join(f"{byte:08b}" for byte in payload)
    count, at, codes = int(bits[:16], 2), 16, {}
    for value in range(256):
        length = int(bits[at : at + 4], 2)
        at += 4
        if length:
            codes[bits[at : at + length]] = value
            at += length
    if sum(1 << MAX_CODE - len(code) for code in codes) != 1 << MAX_CODE:
        raise ValueError("codes that are not complete")
    bits += "0" * 7
    out = bytearray()
    for _ in range(count):
        length = next(length for length in range(1, MAX_CODE + 1) if bits[at : at + length] in codes)
        out.append(codes[bits[at : at + length]])
        at += length
    if len(bits) - 7 - at > 7:
        raise ValueError("bytes that are not used")
    return bytes(out)


MODES = [lambda payload: payload, lz, huffman, lambda payload: lz(huffman(payload))]


def unpack(data, member):
    """The bytes of a file of an archive."""
    out, at = [], member.offset
    while at < member.offset + member.packed:
        length, total = struct.unpack_from("<2H", data, at)
        content = data[at + 4 : at + 4 + length]
        if checksum(content) != total:
            raise ValueError(f"a wrong checksum at {at}")
        out.append(MODES[content[0]](content[1:]))
        at += 4 + length
    if sum(map(len, out)) != member.length:
        raise ValueError(f"{member.name} has a wrong length")
    return b"".join(out)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    data = Path(sys.argv[1]).read_bytes()
    for member in directory(data):
        found = unpack(data, member)
        print(member.name, f"{member.packed} -> {len(found)} bytes")
        if len(sys.argv) == 3 and not {"\\", "/", ":"} & set(member.name):
            (Path(sys.argv[2]) / member.name).write_bytes(found)


if __name__ == "__main__":
    main()
