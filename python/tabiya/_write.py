"""Opening and writing books."""

from __future__ import annotations

import datetime
import os
from typing import Iterable, Literal, Mapping, Optional, Union

from . import _tabiya
from ._tabiya import Cancel, Reader
from ._types import BuildReport, LineReport, MergeReport

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Paths = Union[Path, Iterable[Path]]


def open_reader(path: Path, *, tournament: bool = False) -> Reader:
    """Opens a book: Polyglot, ChessBase, Arena, Kvetka, Chessmaster, text, an experience file, or a count file. Its content decides which it is.

    The reader has the interface of the one that ``chess.polyglot.open_reader`` returns, and is a context manager.

    With *tournament*, weights are those that the book's colours, marks and limits leave in tournaments: 0 for moves that
    are ruled out, and at least 1 for those that the author chose. Without it they are what the book says.

    :raises NotFoundError: if there is no such file; it is a ``FileNotFoundError``.
    :raises FormatError: if the file is no book.

    >>> with tabiya.open_reader("book.ctg") as reader:
    ...     entry = reader.weighted_choice(chess.Board())
    """
    return Reader(path, tournament=tournament)


def convert(
    source: Path,
    output: Path,
    *,
    variant: Optional[str] = None,
    force: bool = False,
    reachable: bool = False,
    green: Optional[float] = None,
    weights: Literal["points", "games"] = "points",
    memory: Optional[int] = None,
    threads: Optional[int] = None,
    temp: Optional[Path] = None,
    cancel: Optional[Cancel] = None,
) -> MergeReport:
    """Writes a book anew, in the format that the extension of *output* selects.

    *variant* is that of the book, by default standard chess: ``"atomic"``, or what else ``chess.variant`` has.
    *force* lets it replace a file that exists; *reachable* leaves out what the book's moves do not reach from the starting
    position; *green* marks moves of a CTG book green that have at least this share of their position's weight, in per
    cent; *weights* ``"games"`` weighs moves by how often they were played, where the book counts that. *memory* is in bytes, at least 16 MiB and by default a quarter of the machine's; the rest goes into files in *temp*.

    The book appears complete or not at all. Ctrl-C stops a call in the main thread; *cancel* is a handle that stops one in any.

    :raises ExistsError: if the file exists, without *force*.
    :raises EmptyBookError: if no move is left to write.
    :raises CancelledError: once *cancel* is set.
    """
    return merge(
        [source],
        output,
        variant=variant,
        force=force,
        reachable=reachable,
        green=green,
        weights=weights,
        memory=memory,
        threads=threads,
        temp=temp,
        cancel=cancel,
    )


def merge(
    sources: Paths,
    output: Path,
    *,
    variant: Optional[str] = None,
    force: bool = False,
    reachable: bool = False,
    green: Optional[float] = None,
    weights: Literal["points", "games"] = "points",
    memory: Optional[int] = None,
    threads: Optional[int] = None,
    temp: Optional[Path] = None,
    cancel: Optional[Cancel] = None,
) -> MergeReport:
    """Writes one book from several: weights, games and results are added up, and marks come from the first book that has
    them. The options are those of :func:`convert`.
    """
    options = {
        "variant": variant,
        "force": force,
        "reachable": reachable,
        "green": green,
        "weights": weights,
        "memory": memory,
        "threads": threads,
        "temp": temp,
        "cancel": cancel,
    }
    return _tabiya.merge(sources, output, options)


def build(
    sources: Paths,
    output: Path,
    *,
    variant: Optional[str] = None,
    force: bool = False,
    max_ply: Optional[int] = None,
    only: Optional[str] = None,
    min_elo: int = 0,
    min_mover_elo: int = 0,
    max_elo_difference: Optional[int] = None,
    tags: Optional[Mapping[str, str]] = None,
    not_tags: Optional[Mapping[str, str]] = None,
    min_plies: int = 0,
    unique: bool = False,
    date_from: Union[str, datetime.date, None] = None,
    date_to: Union[str, datetime.date, None] = None,
    player: Optional[str] = None,
    player_exact: Optional[str] = None,
    players: Union[str, Iterable[str], None] = None,
    player_side: Optional[str] = None,
    finished: bool = False,
    strict: bool = False,
    variations: bool = False,
    skip_mistakes: bool = False,
    repertoire: Optional[str] = None,
    min_games: Optional[int] = None,
    min_score: Optional[float] = None,
    min_share: Optional[float] = None,
    min_share_white: Optional[float] = None,
    min_share_black: Optional[float] = None,
    uniform: bool = False,
    weights: Literal["points", "games"] = "points",
    green: Optional[float] = None,
    eco: Optional[Paths] = None,
    memory: Optional[int] = None,
    threads: Optional[int] = None,
    temp: Optional[Path] = None,
    cancel: Optional[Cancel] = None,
) -> BuildReport:
    """Builds a book from games: PGN files, also compressed ones, folders of them, ChessBase databases, and count files.

    Games of other variants than *variant*, by default standard chess with Chess960, are left out and counted.
    The options are those of ``tabiya build``, with ``_`` for ``-``. Those that name a side take ``"white"`` or ``"black"``,
    *only* also ``"player"``; *tags* and *not_tags* have patterns by the names of tags; *date_from* and *date_to* are those
    of its ``--date``, *min_share_white* and *min_share_black* those of ``--min-share W/B``. The others are those of :func:`convert`.

    The book appears complete or not at all. Games that cannot be read are never fatal: the report counts them.

    :raises ExistsError: if the file exists, without *force*.
    :raises EmptyBookError: if no move is left to write.

    >>> tabiya.build("games.pgn.zst", "my.bin", max_ply=40, min_games=5)
    """
    options = dict(locals())
    del options["sources"], options["output"]
    # A text is a sequence of letters too.
    options["players"] = [players] if isinstance(players, str) else None if players is None else list(players)
    options["tags"] = None if tags is None else dict(tags)
    options["not_tags"] = None if not_tags is None else dict(not_tags)
    return _tabiya.build(sources, output, options)


def add_line(
    book: Path,
    line: str,
    *,
    side: Optional[str] = None,
    weight: Union[int, str, None] = None,
    fen: Optional[str] = None,
    variant: Optional[str] = None,
    dry_run: bool = False,
    cancel: Optional[Cancel] = None,
) -> LineReport:
    """Adds the moves of a line to a Polyglot, ChessBase, Arena, Kvetka or text book: all of them or, if it fails, none.

    *line* has moves in SAN or UCI notation, from the starting position or from *fen*, or games as PGN with their variations; a
    ``chess.pgn.Game`` as ``str(game)``. *side* leaves the moves of the other side out. Moves that the book has stay as they are,
    and others get the median weight of their position, unless *weight* is given: a number, or for a ChessBase book ``"green"``,
    ``"red"``, a mark such as ``"!"``, or ``"none"``. With *dry_run*, the report says what would be done.

    ``tabiya edit BOOK --undo`` takes it back in a Polyglot book.

    :raises UsageError: if a move is not legal, or the book cannot have it.

    >>> tabiya.add_line("book.bin", "1. e4 c5 2. c3 d5", side="white")
    LineReport(added=2, changed=0, deleted=0)
    """
    options = {
        "side": side,
        "weight": weight,
        "fen": fen,
        "variant": variant,
        "dry_run": dry_run,
        "cancel": cancel,
    }
    return _tabiya.edit_line(book, line, options)


def delete_line(
    book: Path,
    line: str,
    *,
    fen: Optional[str] = None,
    variant: Optional[str] = None,
    dry_run: bool = False,
    cancel: Optional[Cancel] = None,
) -> LineReport:
    """Deletes the last move of a line from a book, and all moves that only this move leads to. The options are those of
    :func:`add_line`.

    :raises UsageError: if the book does not have the move, or would have no moves left.
    """
    options = {"delete": True, "fen": fen, "variant": variant, "dry_run": dry_run, "cancel": cancel}
    return _tabiya.edit_line(book, line, options)
