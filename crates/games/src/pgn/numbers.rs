//! How a game numbers its moves.

use shakmaty::{Color, Position as _};

use tabiya_chess::Position;

/// How a game numbers its moves.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbering {
    /// By how much its numbers differ from those of its positions, as far as known.
    pub offset: Option<i32>,
    /// Whether a side passed: positions do not count that.
    pub passed: bool,
    /// Whether a number had a dot: then one without is not that of a move.
    pub has_dots: bool,
}

impl Numbering {
    /// Whether moves have numbers.
    pub fn has_numbers(self) -> bool {
        self.offset.is_some()
    }

    /// Forgets by how much numbers differ: a side passed.
    pub fn restart(&mut self) {
        (self.offset, self.passed) = (None, true);
    }
}

/// What is wrong with the number before a move.
#[derive(Clone, Copy, Default)]
pub(super) enum Misnumbered {
    /// It is greater than that of the position, or of the other side.
    #[default]
    Missing,
    /// It is less.
    Back,
    /// It is that of the position after the last move of the line around the variation that begins.
    GoesOn,
}

impl Misnumbered {
    /// That, for people.
    pub fn why(self) -> &'static str {
        match self {
            Self::Back => "the number goes back: the move is one of another line or game",
            Self::Missing | Self::GoesOn => {
                "the number before the move is not that of this position: moves before it are missing"
            }
        }
    }
}

/// The number and the side of a move.
#[derive(Clone, Copy)]
pub(super) struct Ply {
    pub number: i32,
    pub turn: Color,
}

impl Ply {
    /// That of the next move in a position.
    pub fn of(at: &Position) -> Self {
        let chess = at.chess();
        Self { number: i32::try_from(chess.fullmoves().get()).unwrap_or(i32::MAX), turn: chess.turn() }
    }

    /// Whether a move number followed by `dots` dots fits this ply. Black's number may have one dot, too.
    pub fn has(self, number: i32, dots: usize) -> bool {
        self.number == number && !(dots > 2 && self.turn == Color::White)
    }

    pub fn next(self) -> Self {
        Self { number: self.number + i32::from(self.turn == Color::Black), turn: self.turn.other() }
    }
}
