#!/usr/bin/env python3
"""Copies the pages for users into FOLDER, beside the guide as HTML in its folder `guide`, so that each link in them leads somewhere.

usage: packaging/pages.py FOLDER LICENSE [ADDRESS]

LICENSE is the name that the licence has in FOLDER. A link to a file that is not copied becomes one to ADDRESS, where the
project's files are; without ADDRESS only its words stay.
"""

import posixpath
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging/guide"))

import make as guide  # noqa: E402

PICTURE = re.compile(r"!\[([^\[\]]*)\]\(([^()\s]+)\)")
TOP = ("README.md", "CHANGELOG.md", "SECURITY.md")


def places(license_name):
    """Where each file of the project is in the folder."""
    pages = {page: f"guide/{place}" for page, place in guide.places().items()}
    return pages | {name: name for name in TOP} | {"LICENSE": license_name}


def relinked(text, page, place_of, address):
    """The text of a page of the project, with the links of the copy."""

    def link(match):
        words, target = match.groups()
        name, sharp, heading = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not name:
            return match.group()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), name))
        if path in place_of:
            name = posixpath.relpath(place_of[path], posixpath.dirname(place_of[page]) or ".")
        elif address:
            name = f"{address}/{path}"
        else:
            return words
        return f"[{words}]({name}{sharp}{heading})"

    def picture(match):
        words, target = match.groups()
        return f"![{words}](guide/pictures/{posixpath.basename(target)})"

    return guide.LINK.sub(link, PICTURE.sub(picture, text))


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    folder, place_of = Path(sys.argv[1]), places(sys.argv[2])
    address = sys.argv[3] if len(sys.argv) == 4 else ""
    for page in (*TOP, "LICENSE"):
        place = place_of[page]
        text = (ROOT / page).read_text(encoding="utf-8")
        if page.endswith(".md"):
            text = relinked(text, page, place_of, address)
        to = folder / place
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
