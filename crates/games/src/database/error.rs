//! Errors in the moves of a game.

use std::fmt;

use shakmaty::Color;

use crate::Reason;

/// Why a stored move cannot be read or played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveError {
    /// The side to move has no such piece.
    NoPiece,
    /// The piece does not go there.
    Unreachable,
    /// The king would be left in check.
    King,
    /// King or rook have moved, or cannot castle from their squares.
    NoRight {
        /// The side.
        color: Color,
        /// Whether it is the castling to the g file.
        short: bool,
    },
    /// Something is in the way of castling, or attacks it.
    Castling,
    /// The side is in check and cannot pass.
    Pass,
    /// A move of two bytes is cut off.
    CutOff,
    /// There are more moves than any game has.
    TooMany,
    /// Variations are nested too deep.
    TooDeep,
    /// A variation begins or ends without a move in between.
    Empty,
    /// The file of moves could be read before, and can no longer.
    Unread,
}

/// Why the rest of a game cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Where, in bytes from the start of the moves.
    pub at: u64,
    /// The moves that were read.
    pub moves: u32,
    /// What is wrong with the next one.
    pub kind: MoveError,
}

impl DecodeError {
    /// The kind of reason.
    pub fn reason(&self) -> Reason {
        match self.kind {
            MoveError::TooMany | MoveError::TooDeep => Reason::TooLong,
            MoveError::CutOff | MoveError::Empty | MoveError::Unread => Reason::Damaged,
            _ => Reason::IllegalMove,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            MoveError::NoPiece => "the piece that moves is not there",
            MoveError::Unreachable => "the piece cannot go there",
            MoveError::King => "the king would be in check",
            MoveError::NoRight { .. } => "castling without the right to",
            MoveError::Castling => "castling is barred",
            MoveError::Pass => "a side in check passes",
            MoveError::CutOff => "the last move is cut off",
            MoveError::TooMany => "too many moves",
            MoveError::TooDeep => "variations are nested too deep",
            MoveError::Empty => "a variation has no moves",
            MoveError::Unread => "the file of moves cannot be read any more",
        };
        write!(f, "{what} after {} stored moves", self.moves)
    }
}
