//! What books say of themselves as wholes, which only a book of the same format can hold.

use super::{abk, kvetka};

/// What a book says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heading {
    /// The texts and settings of an Arena book.
    Abk(abk::records::Header),
    /// The description of a Kvetka book.
    Kvetka(kvetka::Header),
}

/// What the books that are read say of themselves, for the writer of a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// What the first book of the new book's format says.
    pub heading: Heading,
    /// Whether all books that are read are of that format.
    pub alone: bool,
}

impl Heading {
    /// Whether it is of the same format.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Whether there is something in it that users wrote.
    pub(crate) fn says_anything(&self) -> bool {
        match self {
            Self::Abk(header) => !header.author.is_empty() || !header.is_uncommented(),
            Self::Kvetka(header) => {
                let kvetka::Header { caption, least_elo, plies, .. } = header;
                !caption.is_empty() || *least_elo != [0; 4] || *plies != kvetka::Header::default().plies
            }
        }
    }

    /// Whether a book that has the other heading says all that this one says.
    pub(crate) fn is_in(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Abk(a), Self::Abk(b)) => a.says_the_same(b),
            (Self::Kvetka(a), Self::Kvetka(b)) => {
                (&a.caption, a.least_elo, a.plies) == (&b.caption, b.least_elo, b.plies)
            }
            _ => !self.says_anything(),
        }
    }

    /// Whether moves weigh alike under both.
    pub(crate) fn weighs_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Abk(a), Self::Abk(b)) => a.settings() == b.settings(),
            _ => self.is_like(other),
        }
    }
}
