#!/usr/bin/env python3
"""Runs a command in a terminal and draws what it prints there, without its progress, with the command above it, as SVG.

usage: packaging/pictures/terminal.py OUT.svg COLUMNS LINES PROGRAM ARGUMENT...

No more than LINES lines are drawn. The picture says `tabiya` for the program, whatever its path.
"""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from html import escape
from pathlib import Path

# Of a letter and of a line, in pixels, for the size of the font below.
WIDTH, HEIGHT, MARGIN = 8.4, 18, 14
BACK, FRONT = "#1b1e22", "#dfe2e6"
ESCAPE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")
LEVELS = (0, 95, 135, 175, 215, 255)
BASIC = ("#000000", "#cd5c5c", "#7fb069", "#d3b156", "#6fa8dc", "#b48ead", "#6fb7b7", "#dfe2e6")


def colour(number):
    """Of the 256 that terminals number."""
    if number < 16:
        return BASIC[number % 8]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    number -= 16
    return "#" + "".join(f"{LEVELS[number // step % 6]:02x}" for step in (36, 6, 1))


def printed(command, columns):
    """What the command writes to a terminal of that width."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=side, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(side)
        text = b""
        while True:
            try:
                block = os.read(main, 65536)
            except OSError:
                # Linux says so where the other end is closed.
                break
            if not block:
                break
            text += block
    os.close(main)
    if process.returncode:
        sys.exit(f"{shlex.join(command)}: exit code {process.returncode}\n{text.decode(errors='replace')}")
    return text.decode().replace("\r", "")


def runs(line, style):
    """The parts of a line that look alike, as pairs of style and text; a style is (front, back, bold)."""
    found, at = [], 0
    for match in [*ESCAPE.finditer(line), None]:
        text = line[at : match.start() if match else len(line)]
        if text:
            found.append((style, text))
        if match is None:
            break
        at = match.end()
        if match[2] == "m":
            style = restyled([int(code or 0) for code in match[1].split(";")], style)
    return found, style


def restyled(codes, style):
    front, back, bold = style
    while codes:
        code = codes.pop(0)
        if code == 0:
            front, back, bold = None, None, False
        elif code == 1:
            bold = True
        elif code in (38, 48) and codes[:1] == [5]:
            front, back = (colour(codes[1]), back) if code == 38 else (front, colour(codes[1]))
            del codes[:2]
        elif 30 <= code <= 37:
            front = BASIC[code - 30]
        elif code == 39:
            front = None
        elif code == 49:
            back = None
    return front, back, bold


def draw(lines, columns):
    width, height = columns * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}">',
        f'<rect width="100%" height="100%" rx="8" fill="{BACK}"/>',
        f'<g font-family="ui-monospace,Consolas,Menlo,DejaVu Sans Mono,monospace" font-size="14" fill="{FRONT}">',
    ]
    style = (None, None, False)
    for row, line in enumerate(lines):
        top, at = MARGIN + row * HEIGHT, 0
        found, style = runs(line, style)
        for (front, back, bold), text in found:
            left, long = MARGIN + at * WIDTH, len(text) * WIDTH
            at += len(text)
            if back:
                parts.append(f'<rect x="{left:.1f}" y="{top}" width="{long:.1f}" height="{HEIGHT}" fill="{back}"/>')
            bare = text.rstrip()
            if not bare:
                continue
            start = left + (len(bare) - len(bare.lstrip())) * WIDTH
            bare = bare.lstrip()
            looks = (f' fill="{front}"' if front else "") + (' font-weight="bold"' if bold else "")
            # As wide as the letters are here, in whatever font there is; chess pieces as text, not as coloured pictures.
            shown = re.sub("([♔-♟])", "\\1\N{VARIATION SELECTOR-15}", escape(bare, quote=False))
            parts.append(f'<text x="{start:.1f}" y="{top + 13}" textLength="{len(bare) * WIDTH:.1f}" xml:space="preserve"{looks}>{shown}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    out, columns, most = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    command = sys.argv[4:]
    lines = printed(command, columns).rstrip().split("\n")
    # Nothing that is drawn depends on where it was made.
    lines = [line.replace("/usr/games/", "") for line in lines]
    line = " ".join(word if re.fullmatch(r"[\w./=-]+", word) else f'"{word}"' for word in ["tabiya", *command[1:]])
    shown = [f"\x1b[38;5;110m$\x1b[0m \x1b[1m{line}\x1b[0m", *lines[:most]]
    out.write_text(draw(shown, columns), encoding="utf-8")


if __name__ == "__main__":
    main()
