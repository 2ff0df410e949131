from collections.abc import Container, Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, Literal, Optional, Protocol, TypeVar, Union, final, overload

import chess
import chess.pgn

from ._errors import GameError
from ._types import BuildReport, Finding, LineReport, MergeReport, Opening
from ._write import Path, Paths

__all__ = [
    "Cancel",
    "Entry",
    "Games",
    "MainLine",
    "Policy",
    "Reader",
    "__version__",
    "_entry",
    "build",
    "check",
    "edit_line",
    "merge",
    "open_games",
    "opening",
]

__version__: str

_Board = Union[chess.Board, str]
_Asked = Union[chess.Board, str, int]
_Default = TypeVar("_Default")

class _Random(Protocol):
    def randint(self, a: int, b: int, /) -> int: ...

@final
class Cancel:
    """A handle to stop calls that take long: those that were given it as *cancel* raise :class:`CancelledError`, in whatever threads
    they run, and leave nothing half-written. At the end of ``with`` it is set, so that nothing outlives the block.

    >>> with tabiya.Cancel() as cancel:
    ...     await asyncio.to_thread(tabiya.build, "games.pgn", "my.bin", cancel=cancel)
    """

    def __new__(cls) -> Cancel: ...
    def set(self) -> None:
        """Stops the calls that were given this handle, and those that will be."""
    def is_set(self) -> bool:
        """Whether :meth:`set` was called."""
    def __enter__(self) -> Cancel: ...
    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
        /,
    ) -> None: ...

@final
class Entry:
    """A move of a book, with what the book says of it.

    As a sequence it has the fields of ``chess.polyglot.Entry``: key, raw_move, weight, learn and move.
    """

    _fields: tuple[str, str, str, str, str]
    __match_args__: tuple[
        Literal["key"], Literal["raw_move"], Literal["weight"], Literal["learn"], Literal["move"]
    ]
    @property
    def key(self) -> int:
        """The Polyglot key of the position."""
    @property
    def raw_move(self) -> int:
        """The move as Polyglot codes it; of a Polyglot book as the file has it."""
    @property
    def weight(self) -> int:
        """The weight of the move; 0 means never play."""
    @property
    def learn(self) -> int:
        """The learn field of a Polyglot book: games in the upper half, half-points in the lower one. 0 in other formats."""
    @property
    def move(self) -> chess.Move:
        """The move as a ``chess.Move``: castling is the king's two steps, or in Chess960 the king taking its rook."""
    @property
    def uci(self) -> str:
        """The move as text, as UCI writes it."""
    @property
    def games(self) -> Optional[int]:
        """Games with the move, or ``None`` if the format does not count."""
    @property
    def wins(self) -> Optional[int]:
        """Games that the side that moves won, or ``None``."""
    @property
    def draws(self) -> Optional[int]:
        """Drawn games, or ``None``."""
    @property
    def losses(self) -> Optional[int]:
        """Games that the side that moves lost, or ``None``."""
    @property
    def annotation(self) -> Optional[str]:
        """The author's mark: ``!``, ``?``, ``!!``, ``??``, ``!?``, ``?!``, ``only`` or ``zugzwang``; or ``None``."""
    @property
    def recommended(self) -> Optional[bool]:
        """``True`` for a green move, ``False`` for a red one or one that a limit of the book rules out, else ``None``."""
    @property
    def opening(self) -> Optional[Opening]:
        """The opening after the move, or ``None`` if that has no name of its own."""
    @property
    def learned(self) -> Optional[tuple[int, int]]:
        """Games and half-points that a Polyglot book has learned, or ``None``."""
    @property
    def average_rating(self) -> Optional[int]:
        """The average rating of the players who made the move, or ``None``."""
    @property
    def performance(self) -> Optional[int]:
        """The rating at which they performed, or ``None``."""
    @property
    def factor(self) -> Optional[int]:
        """The factor of a CTG book, from -125 to 125, or ``None`` without one."""
    def _asdict(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Reader:
    """A book that is open. It has the interface of ``chess.polyglot.MemoryMappedReader``, for every format.

    A *board* is a ``chess.Board`` of standard chess, Chess960 or a variant that Lichess has, or a FEN of standard chess. A Polyglot book
    does not say its variant: as in python-chess, the board does. Polyglot books are also asked by keys.

    With *tournament*, weights are those that the book's colors, marks and limits leave in tournaments.
    """

    def __new__(cls, path: Path, *, tournament: bool = False) -> Reader: ...
    @property
    def path(self) -> str:
        """The path that was opened."""
    @property
    def format(self) -> str:
        """The format: ``polyglot``, ``ctg``, ``abk``, ``kvetka``, ``exp``, ``obk`` or ``counts``."""
    @property
    def closed(self) -> bool:
        """Whether the book is closed."""
    def find_all(
        self,
        board: _Asked,
        *,
        minimum_weight: float = 1,
        exclude_moves: Optional[Container[chess.Move]] = None,
    ) -> Iterator[Entry]:
        """The entries of a position, in the order of the book: legal moves, each once.

        Those of less than *minimum_weight* are left out, and those whose move is in *exclude_moves*.
        """
    def find(
        self,
        board: _Asked,
        *,
        minimum_weight: float = 1,
        exclude_moves: Optional[Container[chess.Move]] = None,
    ) -> Entry:
        """The heaviest entry of a position, the first among equals.

        :raises IndexError: if there is none.
        """
    @overload
    def get(
        self,
        board: _Asked,
        default: None = None,
        *,
        minimum_weight: float = 1,
        exclude_moves: Optional[Container[chess.Move]] = None,
    ) -> Optional[Entry]:
        """The heaviest entry of a position, or *default* if there is none."""
    @overload
    def get(
        self,
        board: _Asked,
        default: _Default,
        *,
        minimum_weight: float = 1,
        exclude_moves: Optional[Container[chess.Move]] = None,
    ) -> Union[Entry, _Default]: ...
    def choice(
        self,
        board: _Asked,
        *,
        minimum_weight: float = 1,
        exclude_moves: Optional[Container[chess.Move]] = None,
        random: Optional[_Random] = None,
    ) -> Entry:
        """A random entry of a position, all with the same chance. *random* is asked for ``randint``.

        :raises IndexError: if there is none.
        """
    def weighted_choice(
        self,
        board: _Asked,
        *,
        exclude_moves: Optional[Container[chess.Move]] = None,
        random: Optional[_Random] = None,
    ) -> Entry:
        """A random entry of a position, by weight. *random* is asked for ``randint``.

        :raises IndexError: if there is none.
        """
    def comment(self, board: _Board) -> Optional[str]:
        """What the book says of a position in words, or ``None``."""
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, index: int, /) -> Entry: ...
    def __iter__(self) -> Iterator[Entry]: ...
    def __reversed__(self) -> Iterator[Entry]: ...
    def __contains__(self, entry: object, /) -> bool: ...
    def close(self) -> None:
        """Closes the book. What was begun with it goes on."""
    def __enter__(self) -> Reader: ...
    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
        /,
    ) -> None: ...

@final
class Policy:
    """How moves are chosen: by the rules and options of tabiya's adapter.

    *books* are readers or paths, in order of priority; those of *white* and *black*, one or several, are asked first, for their side. Without any
    book the starter book answers. The options are the adapter's, with its defaults: *variety* (0 the best move, 50 by weight, 100
    all alike), *depth* (the last full move, 0 without a limit), *threshold* (the share of the position's weight that a move needs,
    in percent), *games* (that a move needs, where they are counted), *weights*
    (``"games"``: how often moves were played, where that is counted), *opening* (only moves that lead to or stay in openings of this name or
    code; several with ``;``), *reserve* (plies that the line of a move needs),
    *max_loss* (centipawns, by the store of evaluations beside the book; 0 without a limit), *tournament* (colors, marks and limits
    count), *factor* (with *tournament*: factors of CTG books multiply the weights), *threefold* (a move may repeat a position for the third time), *learn* (learned results count) and *seed* (0 for
    a random one).
    """

    def __new__(
        cls,
        *books: Union[Reader, Path],
        white: Union[Reader, Path, Iterable[Union[Reader, Path]], None] = None,
        black: Union[Reader, Path, Iterable[Union[Reader, Path]], None] = None,
        variety: int = 50,
        depth: int = 0,
        threshold: float = 0.5,
        games: int = 0,
        weights: Literal["points", "games"] = "points",
        opening: str = "",
        reserve: int = 0,
        max_loss: int = 0,
        tournament: bool = True,
        factor: bool = True,
        threefold: bool = False,
        learn: bool = False,
        seed: int = 0,
    ) -> Policy: ...
    def choose(self, board: _Board, *, seed: Optional[int] = None) -> Optional[Entry]:
        """The entry of the move that the adapter would play, or ``None`` if no book has a playable one.

        With a *seed* the choice depends on that alone; otherwise it is the next one of the policy's seed. The moves of a board
        decide what would repeat a position.
        """
    def chances(self, board: _Board) -> list[tuple[Entry, float]]:
        """The moves of the book that answers with the chance of each, the most likely first; 0 for moves that may not be played. Empty
        if no book has a playable move.
        """

_Item = TypeVar("_Item")

@final
class Games(Generic[_Item]):
    """Games, one after another. It is an iterator and a context manager."""

    @property
    def errors(self) -> list[GameError]:
        """Why games could not be read at all: the first thousand reasons, of the games so far."""
    @property
    def unreadable(self) -> int:
        """How many games so far could not be read at all."""
    def close(self) -> None:
        """Closes the files. There is no further game."""
    def __iter__(self) -> Iterator[_Item]: ...
    def __next__(self) -> _Item: ...
    def __enter__(self) -> Games[_Item]: ...
    def __exit__(
        self,
        exc_type: Optional[type[BaseException]],
        exc_value: Optional[BaseException],
        traceback: Optional[TracebackType],
        /,
    ) -> None: ...

@final
class MainLine:
    """The main line of a game, and what is known of the game. ``len()`` is the number of plies."""

    @property
    def event(self) -> str:
        """The tournament; empty if it is unknown, like the other texts."""
    @property
    def site(self) -> str:
        """Where it was played."""
    @property
    def date(self) -> str:
        """The date, as PGN writes it: ``2021.03.??``."""
    @property
    def round(self) -> str:
        """The round."""
    @property
    def white(self) -> str:
        """White's name."""
    @property
    def black(self) -> str:
        """Black's name."""
    @property
    def white_elo(self) -> Optional[int]:
        """White's rating, or ``None``."""
    @property
    def black_elo(self) -> Optional[int]:
        """Black's rating, or ``None``."""
    @property
    def result(self) -> str:
        """``1-0``, ``0-1``, ``1/2-1/2`` or ``*``."""
    @property
    def fen(self) -> Optional[str]:
        """The position that it starts from, or ``None`` for the ordinary one."""
    @property
    def variant(self) -> str:
        """The variant, by the name that UCI and python-chess have for it: ``chess`` is standard chess and Chess960."""
    @property
    def chess960(self) -> bool:
        """Whether castling is written as in Chess960."""
    @property
    def headers(self) -> dict[str, str]:
        """These facts as tags of PGN."""
    @property
    def moves(self) -> list[chess.Move]:
        """The moves as ``chess.Move``."""
    @property
    def uci(self) -> list[str]:
        """The moves as UCI writes them."""
    @property
    def file(self) -> str:
        """The file."""
    @property
    def offset(self) -> int:
        """Where the game begins, in bytes from the start of the file, after decompression."""
    @property
    def number(self) -> Optional[int]:
        """The number of the game in a database, or ``None``."""
    @property
    def error(self) -> Optional[GameError]:
        """What cut the game short: a :class:`GameError`, or ``None``."""
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...

@overload
def open_games(
    path: Paths, *, moves_only: Literal[False] = False, variant: Optional[str] = None
) -> Games[chess.pgn.Game]:
    """Opens the games of PGN files (also compressed ones and archives), databases, folders of them, or a list of these.

    Each game is a ``chess.pgn.Game`` with variations, comments and glyphs; with *moves_only* a :class:`MainLine`, which is much
    faster. Damaged games have their moves up to the damage; those that cannot be read at all are left out and counted, and so are
    those of other variants than *variant*, by default standard chess with Chess960.

    :raises NotFoundError: if there is no such file.
    :raises FormatError: if a file holds no games.
    """
@overload
def open_games(path: Paths, *, moves_only: Literal[True], variant: Optional[str] = None) -> Games[MainLine]: ...
@overload
def open_games(
    path: Paths, *, moves_only: bool, variant: Optional[str] = None
) -> Games[Union[chess.pgn.Game, MainLine]]: ...
def _entry(state: tuple[Any, ...]) -> Entry: ...
def opening(board: _Asked) -> Optional[Opening]:
    """The opening of a position, or ``None`` if it has no name. *board* may also be a Polyglot key."""
def check(path: Path, *, variant: Optional[str] = None, cancel: Optional[Cancel] = None) -> list[Finding]:
    """Reads a book, a count file, a folder of count files or a database to its end, and returns what is wrong with it. A Polyglot
    book is read as one of *variant*, by default standard chess.

    :raises NotFoundError: if there is no such file.
    :raises FormatError: if it is none of these.
    :raises CancelledError: once *cancel* is set.
    """
def edit_line(book: Path, line: str, options: dict[str, Any]) -> LineReport:
    """Adds or deletes a line; `options` are those of the functions in `tabiya/_write.py`."""

def merge(sources: Paths, output: Path, options: dict[str, Any]) -> MergeReport:
    """Merges books; `options` are those of the functions in `tabiya/_write.py`."""
def build(sources: Paths, output: Path, options: dict[str, Any]) -> BuildReport:
    """Builds a book; `options` are those of the function in `tabiya/_write.py`."""
