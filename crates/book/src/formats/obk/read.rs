//! The tree turned into an index by position: every move once, with the greatest of its weights.
#![allow(clippy::cast_possible_truncation, reason = "a line is not longer than MAX_DEPTH")]

use std::cmp::Reverse;

use shakmaty::Move;

use tabiya_base::bytes::Parts as _;
use tabiya_base::progress::Progress;
use tabiya_chess::{MoveCode, Position};

use super::kinds::ObkFindingKind;
use super::records::{ObkHeader, ObkRecord};

/// Plies of the longest line that is followed: real books have some tens. It bounds the memory of a walk.
pub const MAX_DEPTH: usize = 1000;

/// Moves that are read; the rest of a larger file is ignored. It bounds the index to 400 MB.
pub const MAX_MOVES: usize = 1 << 24;

/// A move of a position, with all its records taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObkMove {
    /// The position's Polyglot key.
    pub key: u64,
    /// Its weight in per cent, the greatest of all lines.
    pub weight: u64,
    /// The move.
    pub mv: MoveCode,
    /// Plies from the start up to and including this move, on the shortest line.
    pub ply: u16,
}

/// All moves of a file by position.
#[derive(Debug, Default)]
pub struct ObkIndex {
    /// Ascending by key, then descending by weight.
    known: Vec<ObkMove>,
}

impl ObkIndex {
    /// Reads a whole book.
    pub fn new(data: &[u8], header: ObkHeader) -> Self {
        let mut known = Vec::new();
        let legal = &mut |at: &Position, record: ObkRecord, mv, ply| {
            known.push(ObkMove {
                key: at.key(),
                weight: record.percent(),
                mv: MoveCode::from_move(mv),
                ply: ply as u16,
            });
        };
        walk(data, header, &Progress::none(), legal, &mut |_, _, _| ());
        known.sort_unstable_by_key(|known: &ObkMove| (known.key, known.mv.0, Reverse(known.weight)));
        known.dedup_by(|other, kept| {
            let same = (other.key, other.mv) == (kept.key, kept.mv);
            if same {
                kept.ply = kept.ply.min(other.ply);
            }
            same
        });
        for of_position in known.chunk_by_mut(|a, b| a.key == b.key) {
            of_position.sort_unstable_by_key(|known| (Reverse(known.weight), known.mv.0));
        }
        known.shrink_to_fit();
        Self { known }
    }

    /// The moves of a position, the heaviest first.
    pub fn get(&self, key: u64) -> &[ObkMove] {
        let first = self.known.partition_point(|known| known.key < key);
        let end = self.known.partition_point(|known| known.key <= key);
        self.known.part(first..end)
    }

    /// All moves, those of one position next to each other.
    pub fn all(&self) -> &[ObkMove] {
        &self.known
    }
}

/// What a walk does with moves that are legal: their position, record, move, and plies from the start up to and including them.
type Legal<'a> = &'a mut dyn FnMut(&Position, ObkRecord, Move, usize);

/// What a walk does with records that are wrong, by their numbers.
type Wrong<'a> = &'a mut dyn FnMut(usize, ObkRecord, ObkFindingKind);

/// A position in which the next record is a move, with its plies; none after a move that is not legal.
type Step = (Option<Position>, usize);

/// Walks the tree in the order of the file.
///
/// The flags alone decide about the shape of the tree, so a move that is not legal takes only its own replies along.
pub fn walk(data: &[u8], header: ObkHeader, progress: &Progress, legal: Legal<'_>, wrong: Wrong<'_>) {
    let records = header.records(data);
    // Where the next records belong when the line ends.
    let mut waiting: Vec<Step> = Vec::new();
    let mut step = Some((Some(Position::start()), 0));
    for (number, record) in records.iter().enumerate() {
        progress.pass(number as u64);
        let record = ObkRecord::from_bytes(*record);
        if record.is_null() && number + 1 == records.len() {
            // Some descriptions say that it marks the end.
            return;
        }
        let Some((at, plies)) = step.take() else { return wrong(number, record, ObkFindingKind::Rest) };
        if number == MAX_MOVES {
            return wrong(number, record, ObkFindingKind::Cut);
        }
        let mv = at.as_ref().and_then(|at| record.legal(at.standard()?));
        match (&at, mv) {
            (Some(at), Some(mv)) => legal(at, record, mv, plies + 1),
            (Some(_), None) => wrong(number, record, ObkFindingKind::Illegal),
            (None, _) => wrong(number, record, ObkFindingKind::Lost),
        }
        if waiting.len() == MAX_DEPTH || plies == MAX_DEPTH {
            return wrong(number, record, ObkFindingKind::TooDeep);
        }
        let after = at.as_ref().zip(mv).map(|(at, mv)| at.after(mv));
        if !record.is_last {
            waiting.push((at, plies));
        }
        step = if record.is_leaf { waiting.pop() } else { Some((after, plies + 1)) };
    }
    if let Some((record, number)) =
        records.last().zip(records.len().checked_sub(1)).filter(|_| step.is_some())
    {
        wrong(number, ObkRecord::from_bytes(*record), ObkFindingKind::Unended);
    }
}
