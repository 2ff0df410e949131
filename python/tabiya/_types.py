"""What functions return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional


class Opening(NamedTuple):
    """An opening."""

    eco: str
    """Its code, A00 to E99."""
    name: str
    """Its name, mostly with a variation after a colon."""


@dataclass(frozen=True)
class Finding:
    """What is wrong with a file, or several findings of one kind."""

    severity: str
    """``"error"``: something is lost or cannot be used; ``"warning"``: something is unusual."""
    what: str
    """What is wrong, as a clause."""
    count: int
    """How many findings these are."""
    offset: Optional[int]
    """Where the first of them is, in bytes from the start of the file; ``None`` where it is about all of the file."""
    file: Optional[str]
    """The name of that file, where it is another than the one that was checked."""


@dataclass(frozen=True)
class MergeReport:
    """What :func:`tabiya.convert` and :func:`tabiya.merge` did."""

    files: list[str]
    """The files that were written."""
    read: int
    """Positions that were read."""
    positions: int
    """Positions in the book."""
    moves: int
    """Moves in the book."""
    left_out: list[tuple[str, int]]
    """What the book does not have of what was read, or has otherwise, and how often."""
    damage: list[tuple[str, Finding]]
    """What is damaged in the books that were read: the file, and a finding for each kind of damage."""


class LineReport(NamedTuple):
    """What :func:`tabiya.add_line` and :func:`tabiya.delete_line` did."""

    added: int
    """Moves that came into the book."""
    changed: int
    """Moves of the book that got another weight."""
    deleted: int
    """Moves that left the book."""


@dataclass(frozen=True)
class BuildReport:
    """What :func:`tabiya.build` did."""

    files: list[str]
    """The files that were written."""
    games: int
    """Games that were read."""
    used: int
    """Games of which at least the beginning counts."""
    plies: int
    """Plies that count."""
    unfinished: int
    """Games without a result, which count as draws."""
    positions: int
    """Positions in the book."""
    moves: int
    """Moves in the book."""
    left_out: list[tuple[str, int]]
    """What the format of the book cannot hold, or holds otherwise, and how often."""
    errors: list[tuple[str, int, int, str]]
    """Games with an error, by its kind: the kind, the games, how many of them count up to the error, and the first error."""
