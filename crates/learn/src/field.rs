//! The learn field of an entry: how a result is added to it (docs/formats/polyglot.md, Learn field).
#![allow(clippy::cast_possible_truncation, reason = "the two halves of 32 bits")]

use shakmaty::{Color, KnownOutcome};

/// Bytes of the field in the file: two big-endian 16-bit numbers.
pub(crate) const FIELD_LEN: usize = 4;

/// Half-points of a won game; a draw is half of it, a lost game nothing.
const WIN: u16 = 2;

/// Learned games and half-points of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// Games in which the move was played and the result learned.
    pub games: u16,
    /// Half-points of the side that moved.
    pub halfpoints: u16,
}

impl Field {
    /// The bytes of the field.
    pub fn to_bytes(self) -> [u8; FIELD_LEN] {
        (u32::from(self.games) << 16 | u32::from(self.halfpoints)).to_be_bytes()
    }

    pub fn from_bytes(bytes: [u8; FIELD_LEN]) -> Self {
        let both = u32::from_be_bytes(bytes);
        Self { games: (both >> 16) as u16, halfpoints: both as u16 }
    }

    /// Whether PolyGlot can have written it: no game gives more than two half-points.
    pub(crate) fn is_plausible(self) -> bool {
        u32::from(self.halfpoints) <= u32::from(WIN) * u32::from(self.games)
    }

    /// The field after one more game with this many half-points.
    ///
    /// Both numbers are halved before either would exceed 65535: the share of points stays the same. An odd number of
    /// games must not leave more half-points than games can have.
    ///
    /// ```
    /// use tabiya_learn::Field;
    /// let full = Field { games: 65_535, halfpoints: 30_001 };
    /// assert_eq!(full.plus(2), Field { games: 32_768, halfpoints: 15_002 });
    /// ```
    #[must_use]
    pub fn plus(self, halfpoints: u16) -> Self {
        let increment = |field: Self| {
            Some(Self {
                games: field.games.checked_add(1)?,
                halfpoints: field.halfpoints.checked_add(halfpoints)?,
            })
        };
        increment(self).or_else(|| increment(self.halved())).unwrap_or(self)
    }

    /// What a game gives the field, by the half-points of the mover; nothing if it has no result.
    pub(crate) fn of_game(halfpoints: Option<u8>) -> Self {
        halfpoints.map_or(Self::default(), |halfpoints| Self { games: 1, halfpoints: halfpoints.into() })
    }

    /// The field after a part of it has changed; within what is plausible, because it may have been halved since it got
    /// that part.
    #[must_use]
    pub(crate) fn shifted(self, from: Self, to: Self) -> Self {
        let shift = |now: u16, from: u16, to: u16| (i32::from(now) + i32::from(to) - i32::from(from)).max(0);
        let games = shift(self.games, from.games, to.games).min(u16::MAX.into()) as u16;
        let most = games.saturating_mul(WIN);
        Self {
            games,
            halfpoints: shift(self.halfpoints, from.halfpoints, to.halfpoints).min(most.into()) as u16,
        }
    }

    fn halved(self) -> Self {
        let games = self.games / 2;
        Self { games, halfpoints: (self.halfpoints / 2).min(games.saturating_mul(WIN)) }
    }
}

/// The half-points that a result gives a colour.
pub fn halfpoints(outcome: KnownOutcome, color: Color) -> u16 {
    match outcome.winner() {
        Some(winner) if winner == color => WIN,
        Some(_) => 0,
        None => WIN / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_full_field_is_halved_and_never_wraps() {
        let field = |games, halfpoints| Field { games, halfpoints };
        assert_eq!(field(0, 0).plus(2), field(1, 2));
        assert_eq!(field(65_535, 0).plus(0), field(32_768, 0));
        assert_eq!(field(65_535, 65_535).plus(2), field(32_768, 32_769));
        assert_eq!(field(32_767, 65_534).plus(2), field(16_384, 32_768));
        assert_eq!(field(40_000, 65_535).plus(1), field(20_001, 32_768));
        assert_eq!(field(40_000, 65_535).plus(0), field(40_001, 65_535));
    }

    #[test]
    fn a_part_of_a_field_can_be_another() {
        let field = |games, halfpoints| Field { games, halfpoints };
        let [lost, drawn, won] = [0, 1, 2].map(|halfpoints| Field::of_game(Some(halfpoints)));
        assert_eq!(field(3, 4).shifted(won, lost), field(3, 2));
        assert_eq!(field(3, 4).shifted(lost, drawn), field(3, 5));
        assert_eq!(field(3, 4).shifted(won, Field::of_game(None)), field(2, 2));
        // Fields that were halved, cleared or full stay plausible.
        assert_eq!(field(1, 0).shifted(won, lost), field(1, 0));
        assert_eq!(field(1, 2).shifted(lost, won), field(1, 2));
        assert_eq!(field(0, 0).shifted(drawn, Field::of_game(None)), field(0, 0));
        assert_eq!(field(65_535, 65_535).shifted(lost, won), field(65_535, 65_535));
    }

    proptest! {
        #[test]
        fn what_is_plausible_stays_so_and_never_shrinks_below_half(
            games: u16,
            share in 0..=65_535_u16,
            points in 0..=2_u16,
        ) {
            let most = (2 * u32::from(games)).min(65_535) as u16;
            let before = Field { games, halfpoints: share.min(most) };
            let after = before.plus(points);
            prop_assert!(after.is_plausible());
            prop_assert!(after.games > games / 2 && u32::from(after.games) <= u32::from(games) + 1);
            prop_assert_eq!(Field::from_bytes(after.to_bytes()), after);
        }
    }
}
