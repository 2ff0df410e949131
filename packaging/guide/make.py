#!/usr/bin/env python3
"""Makes a folder of HTML of the Markdown under docs/guide, and of the other pages that it links to, to be read offline.

usage: packaging/guide/make.py FOLDER [ADDRESS]      replaces a guide that is in FOLDER already

docs/guide/README.md gives the first page, and the order and the groups of the navigation. A link to a file that is no page
becomes one to ADDRESS, where the project's files are; without ADDRESS only its words stay.
"""

import html
import json
import posixpath
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^()\s]+)\)")
# Options and names that are kept on one line; longer ones would not fit on a phone.
SHORT = re.compile(r"<code>([^<\s]{1,24})</code>")
PICTURES = {".png", ".svg"}
# What is no page of the guide and linked from it.
OTHERS = {
    "README.md": "tabiya.html",
    "SECURITY.md": "security.html",
    "CHANGELOG.md": "changelog.html",
    "crates/book/books/README.md": "starter-book.html",
}


def places():
    """The name that each page of the project has in the folder."""
    found = {}
    for folder, to in (("docs/guide", ""), ("docs/formats", "formats/")):
        for path in sorted((ROOT / folder).glob("*.md")):
            found[f"{folder}/{path.name}"] = to + ("index" if path.stem == "README" else path.stem) + ".html"
    return found | OTHERS


def anchor(heading, taken):
    """The anchor that Git hosts give a heading; `taken` has those that the page has already."""
    name = re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")
    number = taken.get(name, -1) + 1
    taken[name] = number
    return f"{name}-{number}" if number else name


def groups():
    """The navigation: each group's name, and its pages with their words."""
    name, found = "", {}
    for line in (ROOT / "docs/guide/README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            name = line[3:]
        elif line.startswith("| ["):
            words, target = LINK.search(line).groups()
            found.setdefault(name, []).append((words, posixpath.normpath(posixpath.join("docs/guide", target))))
    return found


class Page:
    """A page of Markdown as HTML, with its sections for the search."""

    def __init__(self, markdown, source, place_of, address):
        self.source, self.place_of, self.address = source, place_of, address
        self.place = place_of[source]
        self.pictures, self.sections, self.headings = set(), [], []
        tokens = markdown.parse((ROOT / source).read_text(encoding="utf-8"))
        self.walk(tokens)
        self.body = markdown.renderer.render(tokens, markdown.options, {})
        self.body = SHORT.sub(r'<code class="short">\1</code>', self.body)
        # A wide table is moved aside, not the page.
        self.body = self.body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")

    def walk(self, tokens):
        taken = {}
        for at, token in enumerate(tokens):
            if token.type == "heading_open":
                words = text_of(tokens[at + 1])
                name = anchor(words, taken)
                token.attrSet("id", name)
                self.headings.append((int(token.tag[1]), words, name))
                self.sections.append([name, words, "", ""])
            elif token.type == "inline":
                self.relink(token)
                if tokens[at - 1].type != "heading_open" and self.sections:
                    self.sections[-1][2] += text_of(token) + " "
                if tokens[at - 1].type == "td_open" and tokens[at - 2].type == "tr_open" and self.sections:
                    self.sections[-1][3] += text_of(token) + "\n"
            elif token.type in ("fence", "code_block"):
                if self.sections:
                    self.sections[-1][2] += token.content + " "

    def relink(self, inline):
        """Leads links and pictures to where they are in the folder; a link that leads nowhere loses its tags."""
        lost, kept = [], []
        for token in inline.children or []:
            if token.type == "image":
                token.attrSet("src", self.picture(token.attrGet("src")))
                token.attrSet("loading", "lazy")
            elif token.type == "link_open":
                to = self.target(token.attrGet("href"))
                lost.append(to is None)
                if to is None:
                    continue
                token.attrSet("href", to)
            elif token.type == "link_close" and lost.pop():
                continue
            kept.append(token)
        inline.children = kept

    def picture(self, name):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.source), unquote(name)))
        self.pictures.add(path)
        return self.relative(f"pictures/{posixpath.basename(path)}")

    def target(self, link):
        name, sharp, heading = link.partition("#")
        if "://" in link or link.startswith("mailto:") or not name:
            return link
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.source), unquote(name)))
        if path in self.place_of:
            return self.relative(self.place_of[path]) + sharp + heading
        return f"{self.address}/{path}{sharp}{heading}" if self.address else None

    def relative(self, place):
        return posixpath.relpath(place, posixpath.dirname(self.place) or ".")

    @property
    def title(self):
        return self.headings[0][1]


def text_of(inline):
    """The words of a line, without what makes them bold or a link."""
    return "".join(" " if part.type == "softbreak" else part.content for part in inline.children or [])


def navigation(page, pages):
    """The groups of pages; below the page that is shown, its own sections."""
    parts = []
    for name, entries in groups().items():
        if name:
            parts.append(f"<h2>{html.escape(name)}</h2>")
        parts.append("<ul>")
        for words, source in entries:
            here = source == page.source
            mark = ' aria-current="page"' if here else ""
            parts.append(f'<li><a href="{page.relative(pages[source].place)}"{mark}>{html.escape(words)}</a>')
            below = [heading for heading in page.headings if heading[0] == 2] if here else []
            if len(below) > 1:
                items = "".join(f'<li><a href="#{name}">{html.escape(words)}</a></li>' for _, words, name in below)
                parts.append(f"<ul>{items}</ul>")
            parts.append("</li>")
        parts.append("</ul>")
    return "\n".join(parts)


def neighbours(page, pages):
    """Links to the pages before and after this one."""
    order = ["docs/guide/README.md", *(source for entries in groups().values() for _, source in entries)]
    if page.source not in order:
        return ""
    at = order.index(page.source)
    parts = []
    for step, rel, arrow in ((-1, "prev", "← {}"), (1, "next", "{} →")):
        if 0 <= at + step < len(order):
            other = pages[order[at + step]]
            words = arrow.format(html.escape(other.title))
            parts.append(f'<a rel="{rel}" href="{page.relative(other.place)}">{words}</a>')
    return f'<nav class="neighbours" aria-label="Next and previous page">{"".join(parts)}</nav>'


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    # Who only asks for the places of pages does not need it.
    from markdown_it import MarkdownIt

    folder, address = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else ""
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    place_of = places()
    pages = {source: Page(markdown, source, place_of, address) for source in place_of}
    missing = {source for source in place_of if source.startswith("docs/guide/")} - {"docs/guide/README.md"}
    missing -= {source for entries in groups().values() for _, source in entries}
    if missing:
        sys.exit(f"docs/guide/README.md has no row for {', '.join(sorted(missing))}")
    template = (HERE / "page.html").read_text(encoding="utf-8")
    # No folder of somebody's is emptied by mistake.
    if folder.exists():
        if any(folder.iterdir()) and not (folder / "guide.css").is_file():
            sys.exit(f"{folder}: this folder has other files than the guide's: name another one")
        shutil.rmtree(folder)
    for page in pages.values():
        text = template
        for name, value in {
            "TITLE": html.escape(page.title),
            "ROOT": posixpath.relpath(".", posixpath.dirname(page.place) or "."),
            "NAVIGATION": navigation(page, pages),
            "NEIGHBOURS": neighbours(page, pages),
            # Last: what it says of @NAMES@ stays.
            "BODY": page.body,
        }.items():
            text = text.replace(f"@{name}@", value)
        to = folder / page.place
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8", newline="\n")
        for picture in page.pictures:
            (folder / "pictures").mkdir(exist_ok=True)
            shutil.copyfile(ROOT / picture, folder / "pictures" / posixpath.basename(picture))
    sections = [[page.place, page.title, *section] for page in pages.values() for section in page.sections]
    for section in sections:
        section[4] = " ".join(section[4].split())
    index = json.dumps(sections, ensure_ascii=False, separators=(",", ":"))
    # A script: from a file no browser fetches JSON.
    (folder / "index.js").write_text(f"const sections = {index};\n", encoding="utf-8", newline="\n")
    for name in ("guide.css", "guide.js"):
        shutil.copyfile(HERE / name, folder / name)


if __name__ == "__main__":
    main()
