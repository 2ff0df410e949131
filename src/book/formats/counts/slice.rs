//! Slices of games: those at one speed, with players of one strength.

use crate::chess::{RatingBand, Speed};

/// Bits of the number of a slice.
pub(crate) const SLICE_BITS: u32 = 7;

/// Of them, those of the rating band.
const RATING_BITS: u32 = 4;

/// The games that a row counts. What is not told apart, or not known, is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slice {
    /// How fast they were played.
    pub speed: Option<Speed>,
    /// How strong the players were.
    pub rating: Option<RatingBand>,
}

impl Slice {
    /// The number of the slice, in the order of slices: speeds from 1, bands from 1, and 0 for none.
    pub(crate) fn number(self) -> u8 {
        let speed = self.speed.map_or(0, |speed| 1 + speed as u8);
        let rating = self.rating.map_or(0, |band| 1 + band.place());
        speed << RATING_BITS | rating
    }

    /// The slice with this number.
    pub(crate) fn numbered(number: u8) -> Self {
        let (speed, rating) = (number >> RATING_BITS, number & ((1 << RATING_BITS) - 1));
        let speed = speed.checked_sub(1).and_then(|at| Speed::NAMES.get(usize::from(at)));
        let rating = rating.checked_sub(1).and_then(|at| RatingBand::all().nth(usize::from(at)));
        Self { speed: speed.map(|(_, speed)| *speed), rating }
    }
}

/// What the rows of a count file tell apart besides positions and moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct By {
    /// Speeds.
    pub speed: bool,
    /// Bands of ratings.
    pub rating: bool,
}

impl By {
    /// Whether there is anything.
    pub fn any(self) -> bool {
        self.speed || self.rating
    }

    /// Both, or what either has.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { speed: self.speed || other.speed, rating: self.rating || other.rating }
    }

    /// What both have.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { speed: self.speed && other.speed, rating: self.rating && other.rating }
    }

    /// Whether this tells apart all that the other does.
    pub fn covers(self, other: Self) -> bool {
        self.and(other) == other
    }

    /// The columns of it.
    pub fn columns(self) -> impl Iterator<Item = &'static str> {
        [(self.speed, super::SPEED), (self.rating, super::RATING)]
            .into_iter()
            .filter_map(|(has, name)| has.then_some(name))
    }

    /// The part of a slice that is told apart.
    #[must_use]
    pub fn of(self, slice: Slice) -> Slice {
        Slice { speed: slice.speed.filter(|_| self.speed), rating: slice.rating.filter(|_| self.rating) }
    }

    /// Slices that can be told apart.
    #[cfg(any(test, feature = "parquet"))]
    pub(crate) fn slices(self) -> u64 {
        let of = |is: bool, values: usize| if is { values as u64 + 1 } else { 1 };
        of(self.speed, Speed::NAMES.len()) * of(self.rating, RatingBand::BOUNDS.len())
    }
}

/// The columns of a count file that not every one has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The positions themselves.
    pub positions: bool,
    /// Speeds and ratings.
    pub by: By,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slice_has_a_number_in_their_order() {
        let speeds = || std::iter::once(None).chain(Speed::NAMES.map(|(_, speed)| Some(speed)));
        let ratings = || std::iter::once(None).chain(RatingBand::all().map(Some));
        let all: Vec<_> =
            speeds().flat_map(|speed| ratings().map(move |rating| Slice { speed, rating })).collect();
        assert!(all.is_sorted());
        assert!(all.is_sorted_by_key(|slice| slice.number()));
        assert_eq!(By { speed: true, rating: true }.slices(), all.len() as u64);
        for slice in all {
            assert!(slice.number() < 1 << SLICE_BITS);
            assert_eq!(Slice::numbered(slice.number()), slice);
        }
    }
}
