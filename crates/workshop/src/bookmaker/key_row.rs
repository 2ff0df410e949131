//! Rows of moves of which a book has little more than the weight: a third of the size of those with all facts.

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};

use tabiya_book::{Annotation, Decision, Learned, MoveFacts, PositionRecord, Recommendation};
use tabiya_chess::MoveCode;

use super::merging::Merging;
use super::sort::Sortable;

/// A move of a position of which only the key is known, with its weight, what it learned, and its marks: 32 bytes.
/// Numbers are 0 where nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct KeyRow {
    pub(super) key: u64,
    weight: u64,
    learned: [u32; 2],
    /// The place of the book among those that are merged: facts that cannot be added come from the first.
    pub(super) book: u32,
    pub(super) mv: u16,
    /// Its number in PGN.
    annotation: u8,
    /// 0 nothing, 1 red, 2 green; and from [`DECIDED`] on 0 nothing, 1 judged, 2 chosen.
    recommended: u8,
}

/// A decision is multiplied by this.
const DECIDED: u8 = 4;

/// The colour of a move that is to be avoided.
const RED: u8 = 1 + Recommendation::Red as u8;

impl KeyRow {
    pub(super) fn new(key: u64, book: u32, facts: &MoveFacts<MoveCode>) -> Self {
        Self {
            key,
            weight: facts.weight,
            learned: facts.learned.map_or([0; 2], |learned| [learned.games, learned.halfpoints]),
            book,
            mv: facts.mv.0,
            annotation: facts.annotation.map_or(0, Annotation::nag),
            recommended: facts.recommended.map_or(0, |color| 1 + color as u8)
                + DECIDED * facts.decision.map_or(0, |decision| 1 + decision as u8),
        }
    }

    pub(super) fn facts(&self) -> MoveFacts<MoveCode> {
        let [games, halfpoints] = self.learned;
        MoveFacts {
            annotation: Annotation::of_nag(self.annotation),
            recommended: match self.recommended % DECIDED {
                0 => None,
                1 => Some(Recommendation::Red),
                _ => Some(Recommendation::Green),
            },
            decision: match self.recommended / DECIDED {
                0 => None,
                1 => Some(Decision::Judged),
                _ => Some(Decision::Chosen),
            },
            learned: (games > 0).then_some(Learned { games, halfpoints }),
            ..MoveFacts::new(MoveCode(self.mv), self.weight)
        }
    }
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
        if (self.key, self.mv) != (other.key, other.mv) {
            return false;
        }
        self.weight = self.weight.saturating_add(other.weight);
        for (sum, more) in self.learned.iter_mut().zip(other.learned) {
            *sum = sum.saturating_add(more);
        }
        keep_first(&mut self.annotation, other.annotation);
        // As in a position with several colours, and whatever the order of the books.
        let (mut color, decision) = (self.recommended % DECIDED, self.recommended / DECIDED);
        if other.recommended % DECIDED == RED {
            color = RED;
        } else {
            keep_first(&mut color, other.recommended % DECIDED);
        }
        self.recommended = color + DECIDED * decision.max(other.recommended / DECIDED);
        true
    }
}

/// Takes a value from another row unless there is one.
pub(super) fn keep_first<T: Default + PartialEq>(first: &mut T, other: T) {
    if *first == T::default() {
        *first = other;
    }
}

impl Merging for KeyRow {
    fn append(record: &PositionRecord, book: u32, _: u64, rows: &mut Vec<Self>) {
        rows.extend(record.moves.iter().map(|facts| Self::new(record.key, book, facts)));
    }

    fn positions(rows: &[Self]) -> Vec<PositionRecord> {
        let record = |rows: &[Self]| PositionRecord {
            key: rows.first().map_or(0, |row| row.key),
            moves: rows.iter().map(Self::facts).collect(),
            ..PositionRecord::default()
        };
        rows.chunk_by(|a, b| a.key == b.key).map(record).collect()
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
