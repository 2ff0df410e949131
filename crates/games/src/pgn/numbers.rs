//! How a game numbers its moves.

use shakmaty::Color;

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

/// The number and the side of a move.
#[derive(Clone, Copy)]
pub(super) struct Ply {
    pub number: i32,
    pub turn: Color,
}

impl Ply {
    /// Whether a move number followed by `dots` dots fits this ply. Black's number may have one dot, too.
    pub fn has(self, number: i32, dots: usize) -> bool {
        self.number == number && !(dots > 2 && self.turn == Color::White)
    }

    pub fn next(self) -> Self {
        Self { number: self.number + i32::from(self.turn == Color::Black), turn: self.turn.other() }
    }
}
