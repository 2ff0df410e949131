//! Slices of games: those at one speed, with players of one strength.

use tabiya_chess::{RatingBand, Speed};

/// Bits of the number of a slice.
pub const SLICE_BITS: u32 = 7;

/// Of them, those of the rating band.
const RATING_BITS: u32 = 4;

/// Bits of the number of games in a row that counts a slice.
pub const GAMES_BITS: u32 = 39;

/// The most games that such a row counts: about 550 billion.
pub const MAX_GAMES: u64 = (1 << GAMES_BITS) - 1;

/// The name of the split by speed, in count files and on the command line.
pub const SPEED: &str = "speed";
/// The name of the split by rating.
pub const RATING: &str = "rating";

/// The games that a row counts: how fast they were played, and how strong the players were. It is one byte, because rows
/// hold it: speeds from 1, then bands from 1, and 0 for what is not counted separately or not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slice(u8);

impl Slice {
    /// The games at a speed with players in a band.
    pub fn new(speed: Option<Speed>, rating: Option<RatingBand>) -> Self {
        let speed = speed.map_or(0, |speed| 1 + speed as u8);
        let rating = rating.map_or(0, |band| 1 + band.place());
        Self(speed << RATING_BITS | rating)
    }

    /// How fast they were played.
    pub fn speed(self) -> Option<Speed> {
        let at = (self.0 >> RATING_BITS).checked_sub(1)?;
        Speed::NAMES.get(usize::from(at)).map(|(_, speed)| *speed)
    }

    /// How strong the players were.
    pub fn rating(self) -> Option<RatingBand> {
        let at = (self.0 & ((1 << RATING_BITS) - 1)).checked_sub(1)?;
        RatingBand::all().nth(usize::from(at))
    }

    /// The number of the slice, in the order of slices.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The slice with this number.
    pub fn numbered(number: u8) -> Self {
        Self(number)
    }
}

/// What the rows of a count file count separately, besides positions and moves.
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

    /// Whether this has everything that the other has.
    pub fn covers(self, other: Self) -> bool {
        self.and(other) == other
    }

    /// The columns of it.
    pub fn columns(self) -> impl Iterator<Item = &'static str> {
        [(self.speed, SPEED), (self.rating, RATING)].into_iter().filter_map(|(has, name)| has.then_some(name))
    }

    /// The part of a slice that is counted separately.
    #[must_use]
    pub fn part(self, slice: Slice) -> Slice {
        Slice::new(slice.speed().filter(|_| self.speed), slice.rating().filter(|_| self.rating))
    }

    /// How many slices there can be.
    #[cfg(any(test, feature = "counts"))]
    pub(crate) fn slices(self) -> u64 {
        let of = |is: bool, values: usize| if is { values as u64 + 1 } else { 1 };
        of(self.speed, Speed::NAMES.len()) * of(self.rating, RatingBand::BOUNDS.len())
    }
}

/// Which games are meant, of those that are counted separately.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Among {
    /// Their speeds; empty: any.
    pub speeds: Vec<Speed>,
    /// The bands of the mean of both ratings; empty: any.
    pub ratings: Vec<RatingBand>,
}

impl Among {
    /// What has to be known of games to decide.
    pub fn by(&self) -> By {
        By { speed: !self.speeds.is_empty(), rating: !self.ratings.is_empty() }
    }

    /// Whether games of this slice are meant.
    pub fn has(&self, slice: Slice) -> bool {
        let speed = slice.speed().is_some_and(|speed| self.speeds.contains(&speed));
        let rating = slice.rating().is_some_and(|rating| self.ratings.contains(&rating));
        (speed || self.speeds.is_empty()) && (rating || self.ratings.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slice_has_a_number_in_their_order() {
        let speeds = || std::iter::once(None).chain(Speed::NAMES.map(|(_, speed)| Some(speed)));
        let ratings = || std::iter::once(None).chain(RatingBand::all().map(Some));
        let all: Vec<_> =
            speeds().flat_map(|speed| ratings().map(move |rating| Slice::new(speed, rating))).collect();
        assert!(all.is_sorted());
        assert!(all.is_sorted_by_key(|slice| slice.number()));
        assert_eq!(By { speed: true, rating: true }.slices(), all.len() as u64);
        for slice in all {
            assert!(slice.number() < 1 << SLICE_BITS);
            assert_eq!(Slice::numbered(slice.number()), slice);
        }
    }
}
