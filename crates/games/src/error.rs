//! Why a game, or the rest of it, could not be read.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::GameLocation;

/// The reasons by which such games are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reason {
    /// A move is illegal or ambiguous in its position.
    IllegalMove,
    /// The number before a move is that of another, or a move follows the result.
    OutOfOrder,
    /// A word names a square but is not a move.
    UnreadableMove,
    /// A side passed, which books cannot hold.
    NullMove,
    /// The game starts from an illegal position.
    BadPosition,
    /// The game is of a kind of chess that books cannot hold.
    OtherVariant,
    /// A comment or a variation has no end.
    Unterminated,
    /// The game, or a line of its head, is longer than in any real game.
    TooLong,
    /// The game takes more memory than is allowed.
    TooLarge,
    /// The bytes of the game are damaged.
    Damaged,
    /// The rest of a file cannot be read.
    Unreadable,
    /// Zero bytes are in a file, and what is around them is read.
    Zeros,
}

impl Reason {
    /// Whether it is about a file, not about one of its games.
    pub fn is_of_file(self) -> bool {
        matches!(self, Self::Unreadable | Self::Zeros)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IllegalMove => "illegal move",
            Self::OutOfOrder => "move out of order",
            Self::UnreadableMove => "unreadable move",
            Self::NullMove => "null move",
            Self::BadPosition => "no legal starting position",
            Self::OtherVariant => "another chess variant",
            Self::Unterminated => "unterminated comment or variation",
            Self::TooLong => "longer than any real game",
            Self::TooLarge => "too large for the memory",
            Self::Damaged => "damaged",
            Self::Unreadable => "truncated file",
            Self::Zeros => "zero bytes",
        })
    }
}

/// What is wrong with a game that could not be read, or only in part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GameError {
    /// The kind of reason.
    pub reason: Reason,
    /// Where it is.
    pub place: GameLocation,
    /// What exactly is wrong, as a clause.
    pub why: String,
}

impl GameError {
    /// How many games it is about: none, if it is about a file.
    pub fn games(&self) -> u64 {
        u64::from(!self.reason.is_of_file())
    }
}

impl fmt::Display for GameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (byte {})", self.place, self.why, self.place.offset)
    }
}
