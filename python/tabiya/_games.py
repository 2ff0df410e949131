"""Games as python-chess has them."""

from __future__ import annotations

from typing import Any, Iterable, Optional

import chess
import chess.pgn

MOVE, OPEN, CLOSE, GLYPH, COMMENT = range(5)

# The visitor is given no board: it does not look at it.
_NO_BOARD: Any = None


def build(
    tags: Iterable[tuple[str, str]],
    events: Iterable[tuple[int, Any]],
    result: Optional[str],
    errors: list[Exception],
) -> chess.pgn.Game:
    """The game that a source describes, as ``chess.pgn.read_game`` would have built it."""
    builder: chess.pgn.GameBuilder[chess.pgn.Game] = chess.pgn.GameBuilder()
    builder.begin_game()
    builder.begin_headers()
    for name, text in tags:
        try:
            builder.visit_header(name, text)
        except ValueError as error:
            builder.game.errors.append(error)
    move, comment, glyph = builder.visit_move, builder.visit_comment, builder.visit_nag
    for kind, value in events:
        if kind == MOVE:
            move(_NO_BOARD, value)
        elif kind == COMMENT:
            comment(value)
        elif kind == GLYPH:
            glyph(value)
        elif kind == OPEN:
            builder.begin_variation()
        else:
            builder.end_variation()
    if result is not None:
        builder.visit_result(result)
    game = builder.result()
    game.errors.extend(errors)
    return game
