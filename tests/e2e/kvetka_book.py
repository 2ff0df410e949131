"""Kvetka books, which must be just as their description has them."""

from readers import normal_form, read_kvetka

MOST_FILE = 20 * 1024 * 1024
MOST_ELEMENT = 682

key = read_kvetka.key


def moves(board, codes):
    """The moves of a position that codes mean, in UCI notation."""
    found = [normal_form.move(board, *read_kvetka.STEPS[code]) for code in codes]
    assert all(found), (board.fen(), codes)
    return [move.uci() for move in found]


class Kvetka:
    """All elements of a book, and its games."""

    def __init__(self, stem):
        header, blocks = read_kvetka.blocks(stem)
        self.caption, self.plies, self.kind = header.caption, header.plies, header.elements
        self.least_elo = [header.white, header.black, header.stronger, header.weaker]
        parts = list(stem.parent.glob(f"{stem.name}_*.kob"))
        for number in range(len(parts)):
            size = read_kvetka.file_of(stem, f"_{number}.kob").stat().st_size
            start = 0 if number else 20 + len(header.caption.encode("utf-16-be"))
            assert size <= MOST_FILE and (size - start) % read_kvetka.BLOCK == 0
        assert header.type == 1 and header.blocks == len(blocks)
        self.elements = {}
        firsts, order = [], []
        for block in blocks:
            found = list(read_kvetka.elements(header, block))
            lengths = [(1 if element.length < 0x80 else 2) + element.length for _, element in found]
            assert sum(lengths) == len(block) and max(lengths) <= MOST_ELEMENT
            for name, element in found:
                assert element.flags & ~(read_kvetka.COMMENT | read_kvetka.LINK) == 0 and not element.rest
                results = (element.wins, element.draws, element.losses)
                self.elements[name] = (results, element.codes, element.link, element.comment)
                order.append(name)
            firsts.append(found[0][0])
        assert order == sorted(set(order))
        index = read_kvetka.file_of(stem, ".kin")
        assert not index.exists() or index.read_bytes() == b"".join(firsts)
        self.sources = read_kvetka.sources(stem)
