//! The formats of books, and what they keep of a move.

use std::fmt;

/// The book formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Polyglot `.bin`.
    Polyglot,
    /// ChessBase `.ctg` with its `.cto` and `.ctb`.
    Ctg,
    /// Arena's `.abk`.
    Abk,
    /// Kvetka's `.kob` with its `.kin` and `.ksf`.
    Kvetka,
    /// Count files, `.parquet`.
    Counts,
    /// Experience files of Stockfish's derivatives, `.exp`.
    Exp,
    /// Chessmaster's `.obk`.
    Obk,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Polyglot => "polyglot",
            Format::Ctg => "ctg",
            Format::Abk => "abk",
            Format::Kvetka => "kvetka",
            Format::Counts => "counts",
            Format::Exp => "exp",
            Format::Obk => "obk",
        })
    }
}

/// What a format keeps of a move besides counts, by which it is played more, less or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keeps {
    /// A weight.
    Weights,
    /// A colour and a mark; weights follow from the results.
    Verdicts,
    /// A priority.
    Priorities,
    /// Nothing: weights follow from the results.
    Results,
}

impl Format {
    /// What it keeps of a move.
    pub fn keeps(self) -> Keeps {
        match self {
            Self::Polyglot | Self::Exp | Self::Obk => Keeps::Weights,
            Self::Ctg => Keeps::Verdicts,
            Self::Abk => Keeps::Priorities,
            Self::Kvetka | Self::Counts => Keeps::Results,
        }
    }

    /// Whether its books can take results of games.
    pub fn learns(self) -> bool {
        self == Self::Polyglot
    }

    /// Whether its books can be edited by hand.
    pub fn is_editable(self) -> bool {
        !matches!(self, Self::Counts | Self::Exp | Self::Obk)
    }
}
