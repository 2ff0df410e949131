//! Why a game could not be read, or not to its end.

use std::fmt;

use super::Place;

/// The kinds of reasons, by which games are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A move is not legal in its position, or could be several.
    IllegalMove,
    /// A word that names a square is no move.
    UnreadableMove,
    /// A side passed: a book has no such move.
    NullMove,
    /// The position that the game starts from is none.
    BadPosition,
    /// The game is of a kind of chess that books do not hold.
    OtherVariant,
    /// A comment or a variation has no end.
    Unterminated,
    /// The game, or a line of its head, is longer than any real one.
    TooLong,
    /// The bytes of the game are damaged.
    Damaged,
    /// The rest of a file cannot be read.
    Unreadable,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 9] = [
        Self::IllegalMove,
        Self::UnreadableMove,
        Self::NullMove,
        Self::BadPosition,
        Self::OtherVariant,
        Self::Unterminated,
        Self::TooLong,
        Self::Damaged,
        Self::Unreadable,
    ];
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IllegalMove => "illegal move",
            Self::UnreadableMove => "unreadable move",
            Self::NullMove => "null move",
            Self::BadPosition => "no legal starting position",
            Self::OtherVariant => "another kind of chess",
            Self::Unterminated => "comment or variation without end",
            Self::TooLong => "longer than any real game",
            Self::Damaged => "damaged",
            Self::Unreadable => "file that ends in its middle",
        })
    }
}

/// One game that could not be read, or not to its end.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The kind of reason.
    pub reason: Reason,
    /// Where it shows.
    pub place: Place,
    /// What exactly is wrong there, as a clause.
    pub why: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (byte {})", self.place, self.why, self.place.offset)
    }
}
