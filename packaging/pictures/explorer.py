#!/usr/bin/env python3
"""Takes pictures of the explorer's page in Chromium.

usage: packaging/pictures/explorer.py FOLDER TABIYA CHROMIUM BOOK...
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

NAJDORF = "#e4,c5,Nf3,d6,d4,cxd4,Nxd4,Nf6,Nc3,a6"
# Name, the position, the window, whether the books may be edited.
PICTURES = [
    ("explorer.png", NAJDORF, (1120, 660), False),
    ("explorer-start.png", "", (1120, 640), False),
    ("explorer-edit.png", "#e4,c5", (1120, 660), True),
    ("explorer-phone.png", "#e4,c5", (390, 760), False),
]


def take(browser, tabiya, books, out, place, size, edit):
    with tempfile.TemporaryDirectory() as folder:
        token = Path(folder) / "token"
        line = [tabiya, "explore", "--no-open", "--token-file", token, *(["--edit"] if edit else []), *books]
        server = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=folder)
        try:
            address = server.stdout.readline().strip().split("/?")[0]
            context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme="light", locale="en-US", reduced_motion="reduce")
            page = context.new_page()
            page.goto(f"{address}/?token={token.read_text().strip()}{place}")
            page.wait_for_selector("#tables section")
            # It listens for news for ever: the picture is whole when it no longer changes.
            before, picture = None, b""
            while picture != before:
                page.wait_for_timeout(500)
                before, picture = picture, page.screenshot(animations="disabled", caret="hide")
            out.write_bytes(picture)
            context.close()
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    folder, tabiya, chromium, books = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3], [Path(book).resolve() for book in sys.argv[4:]]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, place, size, edit in PICTURES:
            take(browser, tabiya, books, folder / name, place, size, edit)
        browser.close()


if __name__ == "__main__":
    main()
