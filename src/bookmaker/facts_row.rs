//! What a book knows of a move, in bytes that can be sorted: for books made from other books.

use bytemuck::{Pod, Zeroable};

use super::merge::Merging;
use super::sort::Sortable;
use crate::book::{Annotation, Counts, Learned, MoveFacts, PositionRecord, Ratings};
use crate::chess::MoveCode;
use crate::chess::{PACKED_LEN, Packed};

/// Annotations by their number, 0 being none.
const ANNOTATIONS: [Annotation; 8] = [
    Annotation::Good,
    Annotation::Bad,
    Annotation::Brilliant,
    Annotation::Blunder,
    Annotation::Interesting,
    Annotation::Dubious,
    Annotation::Only,
    Annotation::Zugzwang,
];

/// A packed position that means none.
const NOWHERE: [u8; PACKED_LEN] = [0; PACKED_LEN];

/// What a book knows of a move; with the move a1a1, of the position itself. Numbers are 0 where nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct FactsRow {
    key: u64,
    /// The place of the book among those that are merged: what only one can say is said by the first.
    book: u32,
    mv: u16,
    annotation: u8,
    /// 0 nothing, 1 red, 2 green.
    recommended: u8,
    weight: u64,
    /// Whether games are counted: 1 or 0.
    counted: u64,
    counts: [u64; 4],
    learned: [u32; 2],
    ratings: [u32; 2],
    /// One more than the number of a game with the position.
    game: u64,
    packed: [u8; PACKED_LEN],
}

impl FactsRow {
    /// The row of a move of some position.
    fn of_move(facts: &MoveFacts<MoveCode>) -> Self {
        let mark = |mark: Annotation| ANNOTATIONS.iter().position(|known| *known == mark);
        Self {
            mv: facts.mv.0,
            annotation: facts.annotation.and_then(mark).map_or(0, |at| at as u8 + 1),
            recommended: facts.recommended.map_or(0, |green| 1 + u8::from(green)),
            weight: facts.weight,
            counted: u64::from(facts.counts.is_some()),
            counts: facts.counts.map_or([0; 4], numbers),
            learned: facts.learned.map_or([0; 2], |learned| [learned.games, learned.halfpoints]),
            ratings: facts
                .ratings
                .map_or([0; 2], |ratings| [ratings.average.unwrap_or(0), ratings.performance.unwrap_or(0)]),
            ..Self::default()
        }
    }

    fn counts(&self) -> Option<Counts> {
        let [games, wins, draws, losses] = self.counts;
        (self.counted != 0).then_some(Counts { games, wins, draws, losses })
    }

    fn facts(&self) -> MoveFacts<MoveCode> {
        let some = |number: u32| (number > 0).then_some(number);
        let [average, performance] = self.ratings.map(some);
        let [games, halfpoints] = self.learned;
        MoveFacts {
            mv: MoveCode(self.mv),
            weight: self.weight,
            counts: self.counts(),
            annotation: usize::from(self.annotation)
                .checked_sub(1)
                .and_then(|at| ANNOTATIONS.get(at))
                .copied(),
            recommended: (self.recommended > 0).then_some(self.recommended == 2),
            learned: (games > 0).then_some(Learned { games, halfpoints }),
            ratings: (average.is_some() || performance.is_some()).then_some(Ratings { average, performance }),
        }
    }
}

fn numbers(counts: Counts) -> [u64; 4] {
    [counts.games, counts.wins, counts.draws, counts.losses]
}

impl Sortable for FactsRow {
    /// Books come mostly in the order of their keys.
    const PRESORTED: bool = true;

    fn key(&self) -> u64 {
        self.key
    }

    fn order(&self, other: &Self) -> std::cmp::Ordering {
        (self.key, self.mv, self.book).cmp(&(other.key, other.mv, other.book))
    }

    fn absorb(&mut self, other: &Self) -> bool {
        if (self.key, self.mv) != (other.key, other.mv) {
            return false;
        }
        self.weight = self.weight.saturating_add(other.weight);
        self.counted |= other.counted;
        for (sum, more) in self.counts.iter_mut().zip(other.counts) {
            *sum = sum.saturating_add(more);
        }
        for (sum, more) in self.learned.iter_mut().zip(other.learned) {
            *sum = sum.saturating_add(more);
        }
        if self.annotation == 0 {
            self.annotation = other.annotation;
        }
        if self.recommended == 0 {
            self.recommended = other.recommended;
        }
        if self.ratings == [0; 2] {
            self.ratings = other.ratings;
        }
        if self.game == 0 {
            self.game = other.game;
        }
        if self.packed == NOWHERE {
            self.packed = other.packed;
        }
        true
    }
}

impl Merging for FactsRow {
    /// One row for the position itself, and one a move.
    fn append(record: &PositionRecord, book: u32, first_game: u64, rows: &mut Vec<Self>) {
        let packed = record.position.as_ref().and_then(Packed::new).map_or(NOWHERE, |packed| packed.0);
        if let Some(total) = record.total {
            let mut row = Self { key: record.key, book, packed, ..Self::default() };
            (row.counted, row.counts) = (1, numbers(total));
            row.game = record.game.map_or(0, |game| first_game.saturating_add(game).saturating_add(1));
            rows.push(row);
        }
        for facts in &record.moves {
            let mut row = Self::of_move(facts);
            (row.key, row.book, row.packed) = (record.key, book, packed);
            rows.push(row);
        }
    }

    /// Without a position where no book knows it.
    fn positions(rows: &[Self]) -> Vec<PositionRecord> {
        let mut found = Vec::new();
        for rows in rows.chunk_by(|a, b| a.key == b.key) {
            let Some(first) = rows.first() else { continue };
            let packed = rows.iter().map(|row| row.packed).find(|packed| *packed != NOWHERE);
            let mut record = PositionRecord {
                key: first.key,
                position: packed.and_then(|packed| Packed(packed).unpack()),
                ..PositionRecord::default()
            };
            for row in rows {
                if row.mv == MoveCode::NULL.0 {
                    record.total = row.counts();
                    record.game = row.game.checked_sub(1);
                } else {
                    record.moves.push(row.facts());
                }
            }
            found.push(record);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;

    fn known() -> PositionRecord {
        let counts = Counts { games: 9, wins: 4, draws: 2, losses: 3 };
        let plain = MoveFacts::new(MoveCode(0x0195), 70_000);
        let full = MoveFacts {
            counts: Some(counts),
            annotation: Some(Annotation::Zugzwang),
            recommended: Some(false),
            learned: Some(Learned { games: 5, halfpoints: 9 }),
            ratings: Some(Ratings { average: Some(2500), performance: None }),
            ..MoveFacts::new(MoveCode(0x031c), 10)
        };
        let start = Position::start();
        PositionRecord {
            key: start.key(),
            position: Some(start),
            moves: vec![plain, full],
            total: Some(counts),
            ..PositionRecord::default()
        }
    }

    #[test]
    fn everything_comes_back() {
        let mut rows = Vec::new();
        FactsRow::append(&known(), 0, 0, &mut rows);
        let back = FactsRow::positions(&rows);
        assert_eq!(back.len(), 1);
        assert_eq!((&back[0].moves, back[0].total), (&known().moves, known().total));
        assert_eq!(back[0].position.as_ref().map(Position::fen), Some(Position::start().fen()));
    }

    #[test]
    fn what_two_books_know_is_added_up_and_the_first_has_the_word() {
        let mut other = known();
        other.moves[1].annotation = Some(Annotation::Good);
        other.moves[0].annotation = Some(Annotation::Bad);
        other.moves[0].weight = u64::MAX;
        let mut rows = Vec::new();
        FactsRow::append(&other, 1, 1 << 48, &mut rows);
        FactsRow::append(&known(), 0, 0, &mut rows);
        rows.sort_by(Sortable::order);
        rows.dedup_by(|next, kept| kept.absorb(next));
        let both = FactsRow::positions(&rows).remove(0);
        assert_eq!(both.moves.len(), 2);
        assert_eq!((both.moves[0].weight, both.moves[0].annotation), (u64::MAX, Some(Annotation::Bad)));
        assert_eq!(both.moves[1].annotation, Some(Annotation::Zugzwang));
        assert_eq!(both.moves[1].learned, Some(Learned { games: 10, halfpoints: 18 }));
        assert_eq!(both.total.unwrap().games, 18);
    }
}
