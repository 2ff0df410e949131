"""The exceptions. Each says what is wrong, where, and what to do about it."""

from __future__ import annotations

import errno as codes
import os
from typing import Optional


class Error(OSError):
    """A file cannot be opened, read or written. All exceptions of tabiya are of this class.

    ``errno``, ``strerror`` and ``filename`` are as in any ``OSError``.
    """

    path: Optional[str]
    """The file, where there is one."""
    offset: Optional[int]
    """The offset in the file in bytes, where there is one."""
    _errno: Optional[int] = None

    def __init__(
        self, text: str, path: Optional[str] = None, offset: Optional[int] = None, errno: Optional[int] = None
    ) -> None:
        super().__init__(text)
        self.path = path
        self.offset = offset
        self.filename = path
        self.errno = errno if self._errno is None else self._errno
        if self.errno is not None:
            self.strerror = os.strerror(self.errno)

    # Python would take several arguments for a number and a text.
    def __new__(
        cls, text: str, path: Optional[str] = None, offset: Optional[int] = None, errno: Optional[int] = None
    ) -> Error:
        return super().__new__(cls, text)

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.path, self.offset, self.errno), self.__dict__


class NotFoundError(Error, FileNotFoundError):
    """There is no such file."""

    _errno = codes.ENOENT


class DeniedError(Error, PermissionError):
    """The file may not be read or written."""

    _errno = codes.EACCES


class ExistsError(Error, FileExistsError):
    """The file to write exists already: ``force=True`` replaces it."""

    _errno = codes.EEXIST


class FormatError(Error, ValueError):
    """A file was read but is not what it should be."""


class UsageError(Error, ValueError):
    """What was asked for does not exist, or contradicts itself."""


class EmptyBookError(Error, ValueError):
    """A book without moves, which is not written. A file that existed is unchanged."""


class CancelledError(Error):
    """The call was stopped by its :class:`Cancel`. What it was to write is not there, and what existed is unchanged."""


class GameError(Error, ValueError):
    """A game, or a part of it, cannot be read. The moves before it are used."""

    line: Optional[int] = None
    """The line of a text, from 1."""
    game: Optional[int] = None
    """The number of a game in a database, from 1."""


class DamageWarning(UserWarning):
    """A part of a book or folder cannot be used."""
