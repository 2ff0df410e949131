"""Opening books of every format, and games, for Python.

:func:`open_reader` opens a Polyglot, ChessBase, Arena, Kvetka or text book, or a count file, with the interface of
``chess.polyglot``; :class:`Policy` chooses moves as tabiya's adapter does; :func:`open_games` iterates over PGN files and
ChessBase databases; :func:`build`, :func:`convert`, :func:`merge` and :func:`check` are the commands of the same names;
:func:`add_line` and :func:`delete_line` edit a book.

>>> import chess, tabiya
>>> with tabiya.open_reader("book.ctg") as reader:
...     for entry in reader.find_all(chess.Board()):
...         print(entry.move, entry.weight, entry.games, entry.recommended)
"""

from ._errors import (
    CancelledError,
    DamageWarning,
    DeniedError,
    EmptyBookError,
    Error,
    ExistsError,
    FormatError,
    GameError,
    NotFoundError,
    UsageError,
)
from ._tabiya import Cancel, Entry, Games, MainLine, Policy, Reader, __version__, check, open_games, opening
from ._types import BuildReport, Finding, LineReport, MergeReport, Opening
from ._write import add_line, build, convert, delete_line, merge, open_reader

__all__ = [
    "BuildReport",
    "Cancel",
    "CancelledError",
    "DamageWarning",
    "DeniedError",
    "EmptyBookError",
    "Entry",
    "Error",
    "ExistsError",
    "Finding",
    "FormatError",
    "GameError",
    "Games",
    "LineReport",
    "MainLine",
    "MergeReport",
    "NotFoundError",
    "Opening",
    "Policy",
    "Reader",
    "UsageError",
    "__version__",
    "add_line",
    "build",
    "check",
    "convert",
    "delete_line",
    "merge",
    "open_games",
    "open_reader",
    "opening",
]
