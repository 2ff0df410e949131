"""The types that the page's script declares are those of the server's answers: whatever it relies on is there, and is that."""

import re
from pathlib import Path

from conftest import tabiya

SCRIPTS = Path(__file__).resolve().parents[2] / "crates/explore/src/page/script"
# What the page itself adds to answers.
OWN = {"at"}
WORD = re.compile(r"""\s*(=>|[A-Za-z_]\w*|"[^"]*"|[{}()\[\]<>|&,:?])""")


class Types:
    """The typedefs of JSDoc comments, and which of their keys answers had."""

    def __init__(self, texts):
        self.named = {}
        for text in texts:
            plain = re.sub(r"^\s*(/\*\*|\*/|\*)", "", text, flags=re.M)
            for found in re.finditer(r"@typedef \{", plain):
                depth, end = 1, found.end()
                while depth:
                    depth += {"{": 1, "}": -1}.get(plain[end], 0)
                    end += 1
                name = re.match(r"\s*(\w+)", plain[end:])[1]
                words = WORD.findall(plain[found.end() : end - 1])
                # Functions and maps are the script's own.
                if not {"=>", "Map"} & set(words):
                    self.named[name] = self.union(words)
                    assert not words, (name, words)
        self.seen = set()

    def union(self, words):
        kinds = [self.both(words)]
        while words and words[0] == "|":
            words.pop(0)
            kinds.append(self.both(words))
        return ("any of", kinds) if len(kinds) > 1 else kinds[0]

    def both(self, words):
        kinds = [self.one(words)]
        while words and words[0] == "&":
            words.pop(0)
            kinds.append(self.one(words))
        return ("all of", kinds) if len(kinds) > 1 else kinds[0]

    def one(self, words):
        word = words.pop(0)
        if word == "{":
            keys = {}
            while words[0] != "}":
                name = words.pop(0)
                optional = words[0] == "?"
                words[: 2 if optional else 1] = []
                keys[name] = (optional, self.union(words))
                if words[0] == ",":
                    words.pop(0)
            words.pop(0)
            kind = ("object", keys)
        elif word == "(":
            kind = self.union(words)
            assert words.pop(0) == ")"
        elif word == "Record":
            assert words[:3] == ["<", "string", ","]
            words[:3] = []
            kind = ("record", self.union(words))
            assert words.pop(0) == ">"
        else:
            kind = ("word", word)
        while words[:2] == ["[", "]"]:
            words[:2] = []
            kind = ("list", kind)
        return kind

    def keys(self, kind):
        """All keys of an object, which several types may make together."""
        if kind[0] == "word":
            kind = self.named[kind[1]]
        if kind[0] == "all of":
            return {name: key for part in kind[1] for name, key in self.keys(part).items()}
        return kind[1]

    def wrong(self, value, kind, place):
        """What is wrong with a value of this type."""
        what, of = kind
        if what == "any of":
            found = [self.wrong(value, one, place) for one in of]
            return [] if [] in found else min(found, key=len)
        if what == "list":
            return [bad for one in value for bad in self.wrong(one, of, f"{place}[]")] if isinstance(value, list) else [f"{place} is no list"]
        if what == "record":
            return [bad for one in value.values() for bad in self.wrong(one, of, f"{place}.*")]
        if what == "word" and of not in self.named:
            right = {"string": isinstance(value, str), "boolean": isinstance(value, bool), "null": value is None,
                "number": isinstance(value, (int, float)) and not isinstance(value, bool)}.get(of, f'"{value}"' == of)
            return [] if right else [f"{place} is {value!r}, no {of}"]
        if not isinstance(value, dict):
            return [f"{place} is {value!r}, no object"]
        if what == "word" and self.named[of][0] not in ("object", "all of"):
            return self.wrong(value, self.named[of], place)
        keys = self.keys(kind)
        # What the page does not use, it does not declare.
        bad = []
        for name, (optional, inner) in keys.items():
            if name in value:
                self.seen.add(f"{place}.{name}")
                bad += self.wrong(value[name], inner, f"{place}.{name}")
            elif not optional and name not in OWN:
                bad.append(f"{place}.{name} is missing")
        return bad


def test_answers_have_the_types_of_the_script(serve, books, engine, tmp_path):
    types = Types(path.read_text(encoding="utf-8") for path in sorted(SCRIPTS.glob("*.js")))
    assert len(types.named) > 15
    (tmp_path / "tabiya.toml").write_text("[set]\n'Book Variety' = 60\n")
    server = serve(*(books / name for name in ("marks.ctg", "main.bin", "arena.abk", "named.kob")), "--edit", "--settings", "--engine", engine[0], "--games", books / "games.pgn")
    asked = [("Books", "/api/books"), ("Settings", "/api/settings")]
    for place in ("", "play=e2e4", "play=e2e4,c7c5,g1f3", "play=e2e4,c7c5,h2h4", "play=f2f3,e7e5,g2g4,d8h4", "start=8/P6k/8/8/8/8/7K/8_w_-_-_0_1"):
        asked.append(("View", f"/api/view?{place}"))
    bad = [f"{path}: {what}" for name, path in asked for what in types.wrong(server.ask(path), ("word", name), name)]
    for place in ("", "play=e2e4"):
        for game in server.ask(f"/api/games?{place}")["games"]:
            bad += types.wrong(game, ("word", "ListedGame"), "ListedGame")
    for game in server.ask("/api/read", {"text": "1. e4 (1. d4 d5 (1... f5)) 1... e5 2. Ke3 *"})["games"]:
        bad += types.wrong(game, ("word", "ReadGame"), "ReadGame")
    (tmp_path / "atomic.pgn").write_text('[Event "A"]\n[Variant "Atomic"]\n[Result "1/2-1/2"]\n\n1. Nf3 f6 1/2-1/2\n')
    tabiya("build", tmp_path / "atomic.pgn", "--variant", "atomic", "--min-games", "1", "-o", tmp_path / "atomic.bin")
    server = serve(tmp_path / "atomic.bin", "--variant", "atomic")
    for name, path in (("Books", "/api/books"), ("View", "/api/view"), ("View", "/api/view?play=g1f3,a7a6,f3g5,b7b6,g5f7")):
        bad += types.wrong(server.ask(path), ("word", name), name)
    assert bad == []
    # Every key of the greatest types was met, so that none is declared that no answer has.
    for name in ("View", "BookView", "BookMove", "Books", "Book", "ListedGame", "ReadGame", "Variation", "Variant", "Slider"):
        met = {place.rsplit(".", 1)[1] for place in types.seen}
        assert [key for key in types.keys(("word", name)) if key not in met and key not in OWN | {"error"}] == [], name


def test_a_wrong_type_is_found():
    types = Types(["/** @typedef {{a: number, b?: string | null, c: D[]}} C\n * @typedef {{d: \"x\" | \"y\"}} D\n */"])
    right = {"a": 1, "b": None, "c": [{"d": "x"}]}
    assert types.wrong(right, ("word", "C"), "C") == []
    for change in ({"a": "1"}, {"b": 2}, {"c": [{"d": "z"}]}, {"c": None}, {"a": True}):
        assert types.wrong(right | change, ("word", "C"), "C"), change
    assert types.wrong({"a": 1}, ("word", "C"), "C") == ["C.c is missing"]


