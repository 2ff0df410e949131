//! The records turned into an index by key: every move of a position once.
#![allow(
    clippy::cast_possible_truncation,
    reason = "only plausible records are indexed, up to a limit of them"
)]

use std::cmp::Reverse;

use shakmaty::{Chess, Move, Position as _};

use tabiya_chess::{MoveCode, Position};

use super::keys::{KeyParts, KeySet};
use super::records::{ExpFamily, ExpRecords};
use crate::sorted::SortedTable;
use crate::traverse::KeyFilter;

/// Records that are read; the rest of a larger file is ignored. It bounds the index to 400 MB.
pub const MAX_RECORDS: usize = 1 << 24;

/// The weight of a position's best move.
const MAX_WEIGHT: f64 = 10_000.0;

/// A move weighs half as much for each so many units that its rating is below the best one: about half a pawn.
const HALF: f64 = 100.0;

/// A move of a position, with all its records taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpMove {
    /// The engine's key of the position.
    pub key: u64,
    /// The number of its first record.
    pub number: u32,
    /// The value of the move for the side that makes it, in the engine's own units.
    pub value: i16,
    /// The depth of the search, in plies.
    pub depth: i16,
    /// How often the engine has come by the move.
    pub count: u16,
    /// The move.
    pub mv: MoveCode,
}

impl ExpMove {
    /// Takes another record of the same move into account, as the engines of the family do.
    fn add(&mut self, later: &Self, family: ExpFamily) {
        if family == ExpFamily::BrainLearn {
            if later.depth >= self.depth {
                (self.value, self.depth) = (later.value, later.depth);
            }
            return;
        }
        self.count = self.count.saturating_add(later.count);
        if later.depth == self.depth {
            self.value = ((i32::from(self.value) + i32::from(later.value)) / 2) as i16;
        } else if later.depth > self.depth {
            (self.value, self.depth) = (later.value, later.depth);
        }
    }

    /// By what the engines rank the moves of a position: the value, multiplied for deep and for frequent ones.
    fn rating(&self) -> i64 {
        i64::from(self.value) * i64::from(self.depth / 10).max(1) * i64::from(self.count / 3).max(1)
    }

    /// The legal move of a position.
    pub(crate) fn legal(&self, chess: &Chess) -> Option<Move> {
        self.mv.resolve(chess).filter(|&mv| chess.is_legal(mv))
    }
}

/// All moves of a file by key.
#[derive(Debug, Default)]
pub struct ExpIndex {
    /// Ascending by key, then as the engines rank them.
    known: Vec<ExpMove>,
    /// Different keys.
    pub positions: u64,
    /// Most keys that are looked up are not there.
    keys: KeyFilter,
}

impl ExpIndex {
    /// Reads the records that an engine can have written and that have a move.
    pub fn new(data: &[u8], family: ExpFamily) -> Self {
        let records = ExpRecords::new(data, family);
        let mut known = Vec::with_capacity(records.len().min(MAX_RECORDS));
        for (number, record) in records.iter().take(MAX_RECORDS).enumerate() {
            if let (None, Some(mv)) = (record.error(), record.code()) {
                known.push(ExpMove {
                    key: record.key,
                    number: number as u32,
                    value: record.value as i16,
                    depth: record.depth as i16,
                    count: record.count,
                    mv,
                });
            }
        }
        known.sort_unstable_by_key(|known| (known.key, known.mv.0, known.number));
        known.dedup_by(|later, kept| {
            let same = (later.key, later.mv) == (kept.key, kept.mv);
            if same {
                kept.add(later, family);
            }
            same
        });
        let mut positions = 0;
        for of_position in known.chunk_by_mut(|a, b| a.key == b.key) {
            of_position.sort_unstable_by_key(|known| {
                Reverse((known.rating(), known.count, known.depth, Reverse(known.mv.0)))
            });
            positions += 1;
        }
        known.shrink_to_fit();
        let keys = KeyFilter::new(known.iter().map(|known| known.key));
        Self { known, positions, keys }
    }

    /// Drops those of a position's legal moves that surely lead to no position of the file, or to none of the `others`; `set` is
    /// that of the file.
    pub(super) fn drop_absent(
        &self,
        others: Option<&KeyFilter>,
        set: KeySet,
        at: &Position,
        moves: &mut Vec<Move>,
    ) {
        let Some(chess) = at.standard() else { return };
        let filter = others.unwrap_or(&self.keys);
        let parts = KeyParts::new(chess);
        moves.retain(|mv| {
            let keys = |parts: KeyParts| {
                let mut keys = [set, set.other()].into_iter().flat_map(|set| parts.keys(set));
                keys.any(|key| filter.may_have(key))
            };
            parts.after(chess, *mv).is_none_or(keys)
        });
    }

    /// All moves, those of one position next to each other.
    pub fn all(&self) -> &[ExpMove] {
        &self.known
    }

    /// The place of the first move of a key among all, and its moves.
    fn find(&self, key: u64) -> Option<(usize, &[ExpMove])> {
        if !self.keys.may_have(key) {
            return None;
        }
        let first = self.first_of_key(key)?;
        Some((first, self.moves_from(first)?))
    }

    /// The moves of a key, by the place of its first among all.
    pub(super) fn moves_from(&self, first: usize) -> Option<&[ExpMove]> {
        self.known.get(first..)?.chunk_by(|a, b| a.key == b.key).next()
    }

    /// The moves of a position, best first, with their place among all and the set whose key found them. Each key of `set` is
    /// tried, then each of the other set: a file may be made of the experience of engines of both kinds.
    pub fn look_up(&self, chess: &Chess, set: KeySet) -> Option<(usize, &[ExpMove], KeySet)> {
        self.look_up_parts(KeyParts::new(chess), set)
    }

    /// As [`ExpIndex::look_up`], for a position with keys of these parts.
    pub(super) fn look_up_parts(&self, parts: KeyParts, set: KeySet) -> Option<(usize, &[ExpMove], KeySet)> {
        for set in [set, set.other()] {
            for key in parts.keys(set) {
                if let Some((first, moves)) = self.find(key) {
                    return Some((first, moves, set));
                }
            }
        }
        None
    }
}

impl SortedTable for ExpIndex {
    fn rows(&self) -> usize {
        self.known.len()
    }

    fn key_at(&self, row: usize) -> Option<u64> {
        self.known.get(row).map(|known| known.key)
    }
}

/// The weights of the moves of one position, in their order.
pub(crate) fn weights(moves: &[ExpMove]) -> impl Iterator<Item = u64> {
    let best = moves.first().map_or(0, ExpMove::rating);
    moves.iter().map(move |known| {
        let below = (best - known.rating()) as f64;
        (MAX_WEIGHT * (-below / HALF).exp2()).round().max(1.0) as u64
    })
}
