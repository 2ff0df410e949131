//! Bands of ratings, by which games are counted separately.
#![allow(clippy::cast_possible_truncation, reason = "there are nine bands")]

use std::num::NonZeroU16;

/// A rating as a number in a file: 0 where it is unknown.
pub fn rating_number(rating: Option<NonZeroU16>) -> u16 {
    rating.map_or(0, NonZeroU16::get)
}

/// A band of ratings, into which a game falls by the mean of its players' ratings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RatingBand(u8);

impl RatingBand {
    /// The lowest rating of each band; the last one has no end.
    pub const BOUNDS: [u16; 9] = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500];

    /// The band of a game; `None` unless both ratings are known.
    ///
    /// ```
    /// use tabiya_chess::RatingBand;
    /// let band = |white, black| {
    ///     let [white, black] = [white, black].map(std::num::NonZeroU16::new);
    ///     RatingBand::from_ratings(white, black).map(RatingBand::lowest)
    /// };
    /// assert_eq!((band(1799, 1801), band(1799, 1800), band(0, 1800)), (Some(1800), Some(1600), None));
    /// ```
    pub fn from_ratings(white: Option<NonZeroU16>, black: Option<NonZeroU16>) -> Option<Self> {
        let twice = u32::from(white?.get()) + u32::from(black?.get());
        let band = Self::BOUNDS.iter().rposition(|lowest| u32::from(*lowest) * 2 <= twice)?;
        Some(Self(band as u8))
    }

    /// The band that begins with this rating.
    ///
    /// ```
    /// use tabiya_chess::RatingBand;
    /// assert_eq!(RatingBand::from_lowest(2500).map(RatingBand::lowest), Some(2500));
    /// assert_eq!(RatingBand::from_lowest(1801), None);
    /// ```
    pub fn from_lowest(rating: u16) -> Option<Self> {
        Self::BOUNDS.iter().position(|lowest| *lowest == rating).map(|band| Self(band as u8))
    }

    /// The lowest rating of the band.
    #[expect(clippy::expect_used, reason = "another band would be counted instead")]
    pub fn lowest(self) -> u16 {
        *Self::BOUNDS.get(usize::from(self.0)).expect("a band is made from its place among all")
    }

    /// The place of the band among all, from 0.
    pub fn place(self) -> u8 {
        self.0
    }

    /// All bands from the lowest one on.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::BOUNDS.len()).map(|band| Self(band as u8))
    }
}
