//! The book formats, one folder each. Only [`mod@crate::book::open`] names all of them, and this table of what they keep.

pub mod abk;
pub mod counts;
pub mod ctg;
pub mod kvetka;
pub mod polyglot;

use super::Format;

/// What a format keeps of a move besides counts, by which it is played more, less or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
            Self::Polyglot => Keeps::Weights,
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
        self != Self::Counts
    }
}
