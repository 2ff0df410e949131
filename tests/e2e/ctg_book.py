"""ChessBase books as they are in their files: all entries, byte by byte, found by the index."""

import random
from pathlib import Path

from readers import read_ctg

PAGE = read_ctg.PAGE_LENGTH


def entries(path):
    """What follows each signature: pairs of codes and marks, and 33 bytes. Each entry must be where the index leads."""
    pages = Path(path).read_bytes()
    bitmap, leaves = (Path(path).with_suffix(end).read_bytes() for end in (".ctb", ".cto"))
    found = {}
    for number, start in enumerate(range(PAGE, len(pages), PAGE)):
        at = start + 4
        for _ in range(int.from_bytes(pages[start : start + 2], "big")):
            codes = at + (pages[at] & 0x1F)
            end = codes + pages[codes] + 33
            name = pages[at:codes]
            mask = node = 0
            wanted = read_ctg.hash_of(name)
            while 12 + node // 8 < len(bitmap) and bitmap[12 + node // 8] >> node % 8 & 1:
                mask = 2 * mask + 1
                node = (wanted & mask) + mask
            assert int.from_bytes(leaves[16 + 4 * node : 20 + 4 * node], "big") == number
            moves = pages[codes + 1 : end - 33]
            assert name not in found
            found[name] = (list(zip(moves[::2], moves[1::2])), pages[end - 33 : end])
            at = end
        assert at - start == int.from_bytes(pages[start + 2 : start + 4], "big")
    return found


def spoil(path, seed):
    """Gives the entries of a book marks, flags, factors, comments, ratings and unknown bytes of any value."""
    chance = random.Random(seed)
    pages = bytearray(Path(path).read_bytes())
    marks = [0] * 12 + [1, 2, 3, 4, 5, 6, 8, 0x16, 0x20, 0x24, 0x28, 0x63, 0x84]
    for start in range(PAGE, len(pages), PAGE):
        at = start + 4
        for _ in range(int.from_bytes(pages[start : start + 2], "big")):
            codes = at + (pages[at] & 0x1F)
            facts = codes + pages[codes]
            for mark in range(codes + 2, facts, 2):
                pages[mark] = chance.choice(marks)
            factor = chance.choice([0, 0, chance.randint(-125, 125)])
            pages[facts + 12 : facts + 30] = chance.randbytes(18)
            pages[facts + 30] = chance.choice([0, 0x80, 0x40, 0xC0]) | (0x04 | (0x10 if factor > 0 else 0x20) if factor else 0)
            pages[facts + 31] = factor & 0xFF
            pages[facts + 32] = chance.choice([0] * 8 + [0x0A, 0x0B, 0x12, 0x24, 0x77, 0x92])
            at = facts + 33
    Path(path).write_bytes(pages)
