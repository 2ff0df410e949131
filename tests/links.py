"""The links and pictures of a folder of pages, Markdown and HTML, and those that lead nowhere in it."""

import re
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import unquote


class Link(NamedTuple):
    """A link, or, with `is_shown`, what a page is shown with: a picture, a style, a script."""

    page: object
    target: str
    is_shown: bool


class Reader(HTMLParser):
    """Collects the links and the anchors of a page of HTML."""

    def __init__(self):
        super().__init__()
        self.found, self.anchors, self.without_words = [], set(), []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            assert attrs["id"] not in self.anchors, f"two elements are called {attrs['id']}"
            self.anchors.add(attrs["id"])
        if attrs.get("href"):
            self.found.append((attrs["href"], tag == "link"))
        if attrs.get("src"):
            self.found.append((attrs["src"], True))
            if tag == "img" and not attrs.get("alt"):
                self.without_words.append(attrs["src"])


def read(page):
    """The links of a page, as pairs of target and whether it is shown, and the page's anchors."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".html":
        reader = Reader()
        reader.feed(text)
        assert not reader.without_words, f"{page}: no alternative text: {reader.without_words}"
        return reader.found, reader.anchors
    found = [(target, bool(mark)) for mark, target in re.findall(r"(!?)\[[^\[\]]*\]\(([^()\s]+)\)", text)]
    headings = [line.lstrip("#").strip().lower() for line in text.splitlines() if line.startswith("#")]
    # As Git hosts name them.
    return found, {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}


def of_folder(folder):
    """Every link of every page below a folder."""
    pages = [*sorted(folder.rglob("*.md")), *sorted(folder.rglob("*.html"))]
    return [Link(page, target, is_shown) for page in pages for target, is_shown in read(page)[0]]


def broken(folder, found):
    """The links that lead out of the folder, to no file in it, or to no anchor there. Addresses elsewhere are not tried."""
    bad, anchors = [], {}
    for link in found:
        if "://" in link.target or link.target.startswith(("mailto:", "data:")):
            continue
        name, _, heading = link.target.partition("#")
        to = (link.page.parent / unquote(name)).resolve() if name else link.page.resolve()
        if not to.is_file() or folder.resolve() not in to.parents:
            bad.append(f"{link.page.relative_to(folder)}: {link.target}")
        elif heading:
            if to not in anchors:
                anchors[to] = read(to)[1]
            if unquote(heading) not in anchors[to]:
                bad.append(f"{link.page.relative_to(folder)}: {link.target}")
    return bad
