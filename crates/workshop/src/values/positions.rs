//! Positions with numbers, each once, however many lines lead to it.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use tabiya_book::traverse::{KeyHasher, Tracks};
use tabiya_chess::{HeldPosition, MoveCode, Position, Variant, is_known_by_key};

/// Positions of a variant by their numbers.
#[derive(Debug, Default)]
pub struct Positions {
    variant: Variant,
    held: Vec<HeldPosition>,
    /// How each position is reached first.
    tracks: Tracks,
    /// By [`Position::whole_key`].
    numbers: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
    /// By keys, where these do not tell positions apart.
    of_key: HashMap<u64, Vec<u32>, BuildHasherDefault<KeyHasher>>,
}

impl Positions {
    /// None yet.
    pub fn of_variant(variant: Variant) -> Self {
        Self { variant, ..Self::default() }
    }

    /// The variant of chess.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// All numbers.
    pub fn numbers(&self) -> Range<u32> {
        0..u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    /// Adds a position that is not there yet, and the number of the one before it with the move. Returns its number; `None` if
    /// there are too many, or it has more pieces than a game of standard chess.
    pub fn add(&mut self, at: &Position, before: Option<(u32, MoveCode)>) -> Option<u32> {
        // The greatest number stands for no position.
        let number = u32::try_from(self.len()).ok().filter(|number| *number < u32::MAX - 1)?;
        self.held.push(HeldPosition::new(at, number)?);
        self.numbers.insert(at.whole_key(), number);
        if !at.is_known_by_key() {
            self.of_key.entry(at.key()).or_default().push(number);
        }
        self.tracks.push(before);
        Some(number)
    }

    /// The number of a position, by its [`Position::whole_key`].
    pub fn number(&self, whole_key: u64) -> Option<u32> {
        self.numbers.get(&whole_key).copied()
    }

    /// The numbers of the positions that a book finds by a key: more than one where keys do not tell them apart.
    pub fn with_key(&self, key: u64) -> impl Iterator<Item = u32> {
        let one = if is_known_by_key(self.variant) { self.number(key) } else { None };
        one.into_iter().chain(self.of_key.get(&key).into_iter().flatten().copied())
    }

    /// The position of a number. Its counters of moves are not those of a game.
    pub fn get(&self, number: u32) -> Option<Position> {
        self.held.get(number as usize)?.position()
    }

    /// The moves of the line that reached a position first, from the starting position.
    pub fn line(&self, number: u32) -> Vec<MoveCode> {
        self.tracks.line(number)
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    #[test]
    fn positions_of_one_key_are_told_apart() {
        let with = |hand: &str| {
            let fen = format!("4k3/8/8/8/8/8/8/4K3[{hand}] w - - 0 1");
            Position::from_fen_of(Variant::Crazyhouse, fen.as_bytes(), CastlingMode::Standard).unwrap()
        };
        let mut positions = Positions::of_variant(Variant::Crazyhouse);
        let all = [with("Q"), with("R"), with("")];
        let numbers: Vec<u32> = all.iter().map(|at| positions.add(at, None).unwrap()).collect();
        for (at, number) in all.iter().zip(&numbers) {
            assert_eq!(positions.with_key(at.key()).collect::<Vec<_>>(), numbers);
            assert_eq!(positions.number(at.whole_key()), Some(*number));
            assert_eq!(positions.get(*number).unwrap().fen(), at.fen());
        }
    }
}
