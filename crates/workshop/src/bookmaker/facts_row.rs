//! Rows of moves with all facts that a book may have about them.

use std::cmp::Ordering;

use bytemuck::{Pod, Zeroable};

use tabiya_book::{Counts, MoveFacts, PositionRecord, Ratings};
use tabiya_chess::MoveCode;
use tabiya_chess::{PACKED_LEN, Packed};

use super::key_row::{KeyRow, keep_first};
use super::merging::Merging;
use super::sort::Sortable;

/// The packed position of rows without one.
const NOWHERE: [u8; PACKED_LEN] = [0; PACKED_LEN];

/// The facts about a move or, with the move a1a1, about the position itself. Numbers are 0 where nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct FactsRow {
    row: KeyRow,
    /// Whether games are counted: 1 or 0.
    counted: u8,
    factor: i8,
    /// The layout has no gaps.
    unused: [u8; 6],
    counts: [u64; 4],
    ratings: [u32; 2],
    /// One more than the number of a game with the position.
    game: u64,
    packed: [u8; PACKED_LEN],
}

impl FactsRow {
    fn with_counts(row: KeyRow, counts: Option<Counts>, packed: [u8; PACKED_LEN]) -> Self {
        let numbers = |counts: Counts| [counts.games, counts.wins, counts.draws, counts.losses];
        let (counted, counts) = (u8::from(counts.is_some()), counts.map_or([0; 4], numbers));
        Self { row, counted, counts, packed, ..Self::default() }
    }

    /// The place of its book among those that are read.
    pub(super) fn book(&self) -> u32 {
        self.row.book
    }

    fn counts(&self) -> Option<Counts> {
        let [games, wins, draws, losses] = self.counts;
        (self.counted != 0).then_some(Counts { games, wins, draws, losses })
    }

    fn facts(&self) -> MoveFacts<MoveCode> {
        let [average, performance] = self.ratings.map(|rating| (rating > 0).then_some(rating));
        let ratings = (self.ratings != [0; 2]).then_some(Ratings { average, performance });
        let factor = (self.factor != 0).then_some(self.factor);
        MoveFacts { counts: self.counts(), ratings, factor, ..self.row.facts() }
    }
}

impl Sortable for FactsRow {
    const PRESORTED: bool = KeyRow::PRESORTED;

    fn key(&self) -> u64 {
        self.row.key
    }

    fn order(&self, other: &Self) -> Ordering {
        self.row.order(&other.row)
    }

    fn absorb(&mut self, other: &Self) -> bool {
        if !self.row.absorb(&other.row) {
            return false;
        }
        self.counted |= other.counted;
        for (sum, more) in self.counts.iter_mut().zip(other.counts) {
            *sum = sum.saturating_add(more);
        }
        keep_first(&mut self.factor, other.factor);
        keep_first(&mut self.ratings, other.ratings);
        keep_first(&mut self.game, other.game);
        keep_first(&mut self.packed, other.packed);
        true
    }
}

impl Merging for FactsRow {
    /// One row for the position itself, and one for each move.
    fn append(record: &PositionRecord, book: u32, first_game: u64, rows: &mut Vec<Self>) {
        let packed = record.position.as_ref().and_then(Packed::new).map_or(NOWHERE, |packed| packed.0);
        if record.total.is_some() {
            let row = KeyRow::new(record.key, book, &MoveFacts::new(MoveCode::NULL, 0));
            let game = record.game.map_or(0, |game| first_game.saturating_add(game).saturating_add(1));
            rows.push(Self { game, ..Self::with_counts(row, record.total, packed) });
        }
        rows.extend(record.moves.iter().map(|facts| {
            let ratings = facts.ratings.map_or([0; 2], |ratings| {
                [ratings.average, ratings.performance].map(Option::unwrap_or_default)
            });
            let row = KeyRow::new(record.key, book, facts);
            let factor = facts.factor.unwrap_or_default();
            Self { ratings, factor, ..Self::with_counts(row, facts.counts, packed) }
        }));
    }

    /// Without a position if no book has it.
    fn positions(rows: &[Self]) -> Vec<PositionRecord> {
        let mut found = Vec::new();
        for rows in rows.chunk_by(|a, b| a.row.key == b.row.key) {
            let packed = rows.iter().map(|row| row.packed).find(|packed| *packed != NOWHERE);
            let mut record = PositionRecord {
                key: rows.first().map_or(0, Sortable::key),
                position: packed.and_then(|packed| Packed(packed).unpack()),
                ..PositionRecord::default()
            };
            for row in rows {
                if row.row.mv == MoveCode::NULL.0 {
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
    use tabiya_book::{Annotation, Decision, Learned, Recommendation};
    use tabiya_chess::Position;

    use super::*;

    fn known() -> PositionRecord {
        let counts = Counts { games: 9, wins: 4, draws: 2, losses: 3 };
        let plain = MoveFacts::new(MoveCode(0x0195), 70_000);
        let full = MoveFacts {
            counts: Some(counts),
            annotation: Some(Annotation::Zugzwang),
            recommended: Some(Recommendation::Red),
            learned: Some(Learned { games: 5, halfpoints: 9 }),
            ratings: Some(Ratings { average: Some(2500), performance: None }),
            factor: Some(-125),
            decision: Some(Decision::Chosen),
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
    fn facts_of_two_books_are_added_up_or_come_from_the_first() {
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
