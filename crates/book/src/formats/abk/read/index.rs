//! The tree turned into an index by position: every move once, with the sum of all its records.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a ply is limited before, and a file has fewer than 2^31 records"
)]

use tabiya_base::bytes::Parts as _;

use std::cmp::Reverse;
use std::ops::ControlFlow;

use tabiya_chess::{MoveCode, Position};

use super::super::records::{AbkHeader, AbkRecord, Records};
use super::indexed::IndexedMove;
use super::walk::{MAX, walk};
use super::weigh::Weighing;

/// The most bits of a key that the directory is sorted by, which keeps it below 64 MiB.
const MAX_BITS: u32 = 24;

/// All moves of a book by position.
#[derive(Debug, Default)]
pub struct AbkIndex {
    /// Ascending by key, then descending by weight.
    known: Vec<IndexedMove>,
    /// For each value of a key's top bits, the number of the first move whose key has that value or a higher one.
    directory: Vec<u32>,
    /// How far a key is shifted to get its top bits.
    shift: u32,
    /// Whether any record has games; otherwise the book does not count them.
    pub has_games: bool,
    /// Whether any record has a won or lost game; otherwise it is unknown how the games ended.
    pub has_results: bool,
}

impl AbkIndex {
    /// Reads a whole book.
    pub fn new(data: &[u8]) -> Self {
        let records = Records::new(data);
        let mut known = Vec::with_capacity(records.len().min(MAX));
        // The code of the legal move: castling is one move, however the file writes it.
        let legal = |_, record: &AbkRecord, at: &Position, mv, ply| {
            known.push(IndexedMove::new(record, at, MoveCode::from_move(mv), ply));
        };
        walk(records, MAX, |_| ControlFlow::Continue(()), legal, |_, _, _, _| ());
        Self::from_moves(known, &AbkHeader::read(data))
    }

    /// Adds up the records of the same move in the same position, and weighs the sums.
    fn from_moves(mut known: Vec<IndexedMove>, header: &AbkHeader) -> Self {
        known.sort_unstable_by_key(|known| (known.key, known.mv.0));
        known.dedup_by(|next, kept| {
            let same = (next.key, next.mv) == (kept.key, kept.mv);
            if same {
                kept.add(next);
            }
            same
        });
        let has_games = known.iter().any(|known| known.games > 0);
        let has_results = known.iter().any(|known| known.white_wins > 0 || known.white_losses > 0);
        let weighing = Weighing::new(header, has_results);
        for known in &mut known {
            let sum = std::mem::take(&mut known.weight);
            let priority = sum as f64 / f64::from(known.base.max(1));
            // What is played on any path is not struck out.
            known.priority = (priority.round() as u8).max(u8::from(sum > 0));
            known.weight = weighing.weight(priority, known);
            known.limited = weighing.limits(known);
        }
        for of_position in known.chunk_by_mut(|a, b| a.key == b.key) {
            of_position.sort_unstable_by_key(|known| (Reverse(known.weight), known.mv.0));
        }
        known.shrink_to_fit();
        let bits = known.len().max(2).ilog2().min(MAX_BITS);
        let shift = u64::BITS - bits;
        let mut directory = Vec::with_capacity((1 << bits) + 1);
        for (number, known) in known.iter().enumerate() {
            let top = (known.key >> shift) as usize;
            directory.resize(directory.len().max(top + 1), number as u32);
        }
        directory.resize((1 << bits) + 1, known.len() as u32);
        Self { known, directory, shift, has_games, has_results }
    }

    /// The moves of a position, the heaviest first.
    pub fn of_key(&self, key: u64) -> &[IndexedMove] {
        let top = key.checked_shr(self.shift).unwrap_or_default() as usize;
        let Some([from, to, ..]) = self.directory.get(top..) else { return &[] };
        let bucket = self.known.part(*from as usize..*to as usize);
        let start = bucket.partition_point(|known| known.key < key);
        let end = bucket.partition_point(|known| known.key <= key);
        bucket.part(start..end)
    }

    /// All moves, those of one position next to each other.
    pub fn all(&self) -> &[IndexedMove] {
        &self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_index_has_its_bound_in_memory() {
        assert!(MAX * size_of::<IndexedMove>() <= 700 << 20, "{}", size_of::<IndexedMove>());
    }

    #[test]
    fn an_index_of_nothing_finds_nothing() {
        for index in [AbkIndex::default(), AbkIndex::new(&[])] {
            for key in [0, 1, u64::MAX / 2, u64::MAX] {
                assert!(index.of_key(key).is_empty());
            }
        }
    }
}
