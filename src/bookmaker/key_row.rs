//! What a Polyglot book knows of a move, in bytes that can be sorted: a third of what other books may know.

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};

use super::merge::Merging;
use super::sort::Sortable;
use crate::book::{Learned, MoveFacts, PositionRecord};
use crate::chess::MoveCode;

/// A move of a position of which only the key is known, with its weight and what was learned: 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct KeyRow {
    key: u64,
    weight: u64,
    /// Games and half-points.
    learned: [u32; 2],
    /// The place of the book among those that are merged.
    book: u32,
    mv: u16,
    padding: u16,
}

impl Sortable for KeyRow {
    /// Books come mostly in the order of their keys.
    const PRESORTED: bool = true;

    fn key(&self) -> u64 {
        self.key
    }

    fn order(&self, other: &Self) -> Ordering {
        (self.key, self.mv, self.book).cmp(&(other.key, other.mv, other.book))
    }

    fn absorb(&mut self, other: &Self) -> bool {
        let same = (self.key, self.mv) == (other.key, other.mv);
        if same {
            self.weight = self.weight.saturating_add(other.weight);
            for (sum, more) in self.learned.iter_mut().zip(other.learned) {
                *sum = sum.saturating_add(more);
            }
        }
        same
    }
}

impl Merging for KeyRow {
    fn append(known: &PositionRecord, book: u32, _: u64, rows: &mut Vec<Self>) {
        rows.extend(known.moves.iter().map(|entry| Self {
            key: known.key,
            weight: entry.weight,
            learned: entry.learned.map_or([0; 2], |learned| [learned.games, learned.halfpoints]),
            book,
            mv: entry.mv.0,
            padding: 0,
        }));
    }

    fn positions(rows: &[Self]) -> Vec<PositionRecord> {
        let known = |rows: &[Self]| {
            let entry = |row: &Self| {
                let [games, halfpoints] = row.learned;
                let learned = (games > 0).then_some(Learned { games, halfpoints });
                MoveFacts { learned, ..MoveFacts::new(MoveCode(row.mv), row.weight) }
            };
            let key = rows.first().map_or(0, |row| row.key);
            PositionRecord { key, moves: rows.iter().map(entry).collect(), ..PositionRecord::default() }
        };
        rows.chunk_by(|a, b| a.key == b.key).map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polyglot_books_moves_come_back_and_add_up() {
        let learned = |games, halfpoints| Some(Learned { games, halfpoints });
        let one = MoveFacts { learned: learned(3, 4), ..MoveFacts::new(MoveCode(7), 60_000) };
        let other = MoveFacts { learned: learned(1, 2), ..MoveFacts::new(MoveCode(7), 60_000) };
        let alone = MoveFacts::new(MoveCode(9), 0);
        let mut rows = Vec::new();
        KeyRow::append(
            &PositionRecord { key: 5, moves: vec![one, alone], ..PositionRecord::default() },
            0,
            0,
            &mut rows,
        );
        KeyRow::append(
            &PositionRecord { key: 5, moves: vec![other], ..PositionRecord::default() },
            1,
            0,
            &mut rows,
        );
        rows.sort_by(Sortable::order);
        rows.dedup_by(|next, kept| kept.absorb(next));
        let both = KeyRow::positions(&rows);
        let sum = MoveFacts { learned: learned(4, 6), ..MoveFacts::new(MoveCode(7), 120_000) };
        assert_eq!(both.len(), 1);
        assert_eq!((both[0].key, &both[0].moves), (5, &vec![sum, alone]));
        assert_eq!(size_of::<KeyRow>(), 32);
    }
}
