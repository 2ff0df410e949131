//! The rows of a build: how often a move was played in a position, with one result.
#![allow(clippy::cast_possible_truncation, reason = "a row is taken from 128 bits part by part")]

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};

use tabiya_book::{GAMES_BITS, MAX_GAMES, SLICE_BITS, Slice};
use tabiya_chess::MoveCode;
use tabiya_chess::Packed;

use super::sort::Sortable;

/// The number of the game that a position of a count file is from: none.
pub(crate) const NO_GAME: u64 = u64::MAX;

/// A row that holds a count.
pub trait CountedRow: Sortable {
    /// Whether it holds its position too.
    const PLACED: bool;

    /// The row of a count; `None` if it needs a position and there is none.
    fn make(count: Count, packed: Option<Packed>, game: u64) -> Option<Self>;

    /// Its count.
    fn count(&self) -> Count;

    /// Its position, if it holds one.
    fn packed(&self) -> Option<Packed> {
        None
    }

    /// The number of a game with the position, if it knows one.
    fn game(&self) -> Option<u64> {
        None
    }
}

/// One move with one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    /// The position.
    pub key: u64,
    /// The move.
    pub mv: MoveCode,
    /// In which games.
    pub slice: Slice,
    /// How it ended for the side that made it.
    pub outcome: GameOutcome,
    /// How often.
    pub games: u64,
}

/// How a game ended for one side. The numbers are those in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
pub enum GameOutcome {
    /// Lost.
    Loss = 0,
    /// Drawn.
    Draw = 1,
    /// Won.
    Win = 2,
}

/// Bits after the outcome.
const OUTCOME_SHIFT: u32 = GAMES_BITS;
/// Bits after the slice of games.
const SLICE_SHIFT: u32 = OUTCOME_SHIFT + 2;
/// Bits after the move.
const MOVE_SHIFT: u32 = SLICE_SHIFT + SLICE_BITS;
/// Bits after the key.
const KEY_SHIFT: u32 = MOVE_SHIFT + 16;

/// A count in 16 bytes, from the highest bit down: key 64, move 16, slice 7, outcome 2, games 39.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(transparent)]
pub struct CountRow(u128);

impl CountRow {
    /// Packs a count; games beyond [`MAX_GAMES`] are not counted.
    pub fn new(count: Count) -> Self {
        Self(
            u128::from(count.key) << KEY_SHIFT
                | u128::from(count.mv.0) << MOVE_SHIFT
                | u128::from(count.slice.number()) << SLICE_SHIFT
                | u128::from(count.outcome as u8) << OUTCOME_SHIFT
                | u128::from(count.games.min(MAX_GAMES)),
        )
    }

    fn what(self) -> u128 {
        self.0 >> GAMES_BITS
    }

    fn games(self) -> u64 {
        self.0 as u64 & MAX_GAMES
    }
}

impl Sortable for CountRow {
    fn key(&self) -> u64 {
        (self.0 >> KEY_SHIFT) as u64
    }

    fn order(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }

    fn absorb(&mut self, other: &Self) -> bool {
        let same = self.what() == other.what();
        if same {
            let games = (self.games() + other.games()).min(MAX_GAMES);
            self.0 = self.what() << GAMES_BITS | u128::from(games);
        }
        same
    }
}

impl CountedRow for CountRow {
    const PLACED: bool = false;

    fn make(count: Count, _: Option<Packed>, _: u64) -> Option<Self> {
        Some(Self::new(count))
    }

    fn count(&self) -> Count {
        Count {
            key: self.key(),
            mv: MoveCode((self.0 >> MOVE_SHIFT) as u16),
            slice: Slice::numbered((self.0 >> SLICE_SHIFT) as u8 & ((1 << SLICE_BITS) - 1)),
            outcome: match (self.0 >> OUTCOME_SHIFT) & 3 {
                0 => GameOutcome::Loss,
                1 => GameOutcome::Draw,
                _ => GameOutcome::Win,
            },
            games: self.games(),
        }
    }
}

/// A count with its position, and a game that the position is from: 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PlacedRow {
    row: CountRow,
    /// The number of the game: the lowest of those that were added up.
    game: u64,
    packed: Packed,
}

impl Sortable for PlacedRow {
    fn key(&self) -> u64 {
        self.row.key()
    }

    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    fn absorb(&mut self, other: &Self) -> bool {
        let same = self.row.absorb(&other.row);
        if same {
            self.game = self.game.min(other.game);
            // They differ only where keys collide: then the order of the rows must not decide.
            self.packed = self.packed.min(other.packed);
        }
        same
    }
}

impl CountedRow for PlacedRow {
    const PLACED: bool = true;

    fn make(count: Count, packed: Option<Packed>, game: u64) -> Option<Self> {
        Some(Self { row: CountRow::new(count), game, packed: packed? })
    }

    fn count(&self) -> Count {
        self.row.count()
    }

    fn packed(&self) -> Option<Packed> {
        Some(self.packed)
    }

    fn game(&self) -> Option<u64> {
        Some(self.game).filter(|game| *game != NO_GAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts() -> impl Strategy<Value = Count> {
        let outcome = prop::sample::select(vec![GameOutcome::Loss, GameOutcome::Draw, GameOutcome::Win]);
        (any::<u64>(), any::<u16>(), 0..70_u8, outcome, 0..=MAX_GAMES).prop_map(
            |(key, mv, slice, outcome, games)| Count {
                key,
                mv: MoveCode(mv),
                slice: Slice::numbered(((slice / 10) << 4) | (slice % 10)),
                outcome,
                games,
            },
        )
    }

    #[test]
    fn games_are_added_up_and_never_wrap() {
        let slice = Slice::default();
        let count =
            Count { key: 1, mv: MoveCode(2), slice, outcome: GameOutcome::Draw, games: MAX_GAMES - 1 };
        let mut row = CountRow::new(count);
        assert!(row.absorb(&CountRow::new(Count { games: 1, ..count })));
        assert_eq!(row.count().games, MAX_GAMES);
        assert!(row.absorb(&CountRow::new(Count { games: 1, ..count })));
        assert_eq!(row.count(), Count { games: MAX_GAMES, ..count });
        assert!(!row.absorb(&CountRow::new(Count { outcome: GameOutcome::Win, ..count })));
        assert!(!row.absorb(&CountRow::new(Count { mv: MoveCode(3), ..count })));
        assert_eq!(size_of::<PlacedRow>(), 48);
    }

    proptest! {
        #[test]
        fn a_row_holds_its_count(count in counts()) {
            prop_assert_eq!(CountRow::new(count).count(), count);
        }

        #[test]
        fn rows_sort_as_their_counts(a in counts(), b in counts()) {
            prop_assert_eq!(CountRow::new(a).cmp(&CountRow::new(b)), a.cmp(&b));
        }
    }
}
