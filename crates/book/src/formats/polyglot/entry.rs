//! An entry, read and written (docs/formats/polyglot.md, Entry).
#![allow(clippy::cast_possible_truncation, reason = "the parts of a field are taken by their bits")]

use tabiya_base::bytes;
use tabiya_chess::MoveCode;

use super::layout::{ENTRY_LEN, KEY, LEARN, MOVE, WEIGHT};
use crate::{Learned, MoveFacts};

/// One entry of the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolyglotEntry {
    /// The position.
    pub key: u64,
    /// The move.
    pub mv: MoveCode,
    /// The move's weight; 0 means never play.
    pub weight: u16,
    /// Learned games.
    pub games: u16,
    /// Learned half-points of the side that moved: 2 a win, 1 a draw.
    pub halfpoints: u16,
}

impl PolyglotEntry {
    /// Reads an entry.
    pub fn from_bytes(bytes: &[u8; ENTRY_LEN]) -> Self {
        let u16_at = |at| bytes::u16_be(bytes, at).unwrap_or_default();
        // Both halves in one read, because a process that learns writes them at once.
        let learn = bytes::u32_be(bytes, LEARN).unwrap_or_default();
        Self {
            key: key_of(bytes),
            mv: MoveCode(u16_at(MOVE)),
            weight: u16_at(WEIGHT),
            games: (learn >> 16) as u16,
            halfpoints: learn as u16,
        }
    }

    /// The entry as it is in the file.
    pub fn to_bytes(&self) -> [u8; ENTRY_LEN] {
        let mut bytes = [0; ENTRY_LEN];
        let (key, rest) = bytes.split_at_mut(MOVE as usize);
        key.copy_from_slice(&self.key.to_be_bytes());
        let fields = [self.mv.0, self.weight, self.games, self.halfpoints];
        for (into, field) in rest.chunks_exact_mut(2).zip(fields) {
            into.copy_from_slice(&field.to_be_bytes());
        }
        bytes
    }

    /// Whether the learn field can be what PolyGlot writes: nobody wins more than two half-points a game.
    ///
    /// Other programs keep a score and a depth in these bytes, which rarely pass.
    pub fn learn_is_plausible(&self) -> bool {
        u32::from(self.halfpoints) <= 2 * u32::from(self.games)
    }

    fn learned(&self) -> Option<Learned> {
        let learned = Learned { games: self.games.into(), halfpoints: self.halfpoints.into() };
        (self.games > 0).then_some(learned)
    }

    /// What the entry says of its move, which the caller gives in the form it needs.
    pub fn facts<M>(&self, mv: M) -> MoveFacts<M> {
        MoveFacts { learned: self.learned(), ..MoveFacts::new(mv, self.weight.into()) }
    }

    /// Adds the entry to the same move of `moves`; `false` if it is not among them.
    pub(crate) fn add_to<M: PartialEq>(&self, moves: &mut [MoveFacts<M>], mv: M) -> bool {
        let Some(known) = moves.iter_mut().find(|known| known.mv == mv) else { return false };
        known.weight += u64::from(self.weight);
        known.learned = known.learned.into_iter().chain(self.learned()).reduce(Learned::plus);
        true
    }
}

/// The key alone, for searching.
pub fn key_of(bytes: &[u8; ENTRY_LEN]) -> u64 {
    bytes::u64_be(bytes, KEY).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_entry_is_read_field_by_field() {
        let bytes = [0x46, 0x3b, 0x96, 0x18, 0x16, 0x91, 0xfc, 0x9c, 0x03, 0x1c, 1, 2, 3, 4, 5, 6];
        let entry = PolyglotEntry::from_bytes(&bytes);
        assert_eq!(entry.key, 0x463b_9618_1691_fc9c);
        assert_eq!(entry.mv.to_string(), "e2e4");
        assert_eq!((entry.weight, entry.games, entry.halfpoints), (0x0102, 0x0304, 0x0506));
        assert_eq!(entry.to_bytes(), bytes);
    }

    proptest! {
        #[test]
        fn entries_go_through_bytes_unchanged(key: u64, mv: u16, weight: u16, games: u16, halfpoints: u16) {
            let entry = PolyglotEntry { key, mv: MoveCode(mv), weight, games, halfpoints };
            prop_assert_eq!(PolyglotEntry::from_bytes(&entry.to_bytes()), entry);
        }
    }
}
