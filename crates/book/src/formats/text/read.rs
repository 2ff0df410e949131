//! Where the lines of each position are.

use tabiya_chess::{Position, Variant};

use shakmaty::{Move, Role};

use super::line::{lines, with_line};
use crate::sorted::SortedTable;
use crate::traverse::{Bits, KeyFilter};

/// Lines that are found; the rest of a larger file is ignored. It bounds the index to 256 MB.
pub(super) const MAX_LINES: usize = 1 << 24;

/// The places of lines by their positions.
#[derive(Debug, Default)]
pub(super) struct TextIndex {
    /// Keys and offsets, ascending.
    known: Vec<(u64, u64)>,
    /// Different positions.
    pub positions: u64,
    /// Most keys that are looked up are not there.
    keys: KeyFilter,
}

impl TextIndex {
    /// Finds the lines of positions with moves.
    pub(super) fn new(data: &[u8], variant: Variant) -> Self {
        let found = lines(data).filter_map(|(at, line)| {
            let key = with_line(line, |line| {
                line.has_moves().then(|| line.position(variant)).flatten().map(|at| at.whole_key())
            });
            Some((key.ok().flatten().flatten()?, at as u64))
        });
        let mut known: Vec<(u64, u64)> = found.take(MAX_LINES).collect();
        known.sort_unstable();
        known.shrink_to_fit();
        let positions = known.chunk_by(|a, b| a.0 == b.0).count() as u64;
        let keys = KeyFilter::new(known.iter().map(|(key, _)| *key));
        Self { known, positions, keys }
    }

    /// Lines that are found.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// The number of the first line of a position.
    pub(super) fn first(&self, key: u64) -> Option<usize> {
        if self.keys.may_have(key) { self.first_of_key(key) } else { None }
    }

    /// The keys of the lines that are not among these numbers.
    pub(super) fn others(&self, numbers: &Bits) -> KeyFilter {
        KeyFilter::of_others(self.known.iter().map(|(key, _)| *key), numbers)
    }

    /// Drops those of a position's legal moves that surely lead to no position of the file, or to none of the `others`.
    pub(super) fn drop_absent(&self, others: Option<&KeyFilter>, at: &Position, moves: &mut Vec<Move>) {
        if at.variant() == Variant::Chess {
            let filter = others.unwrap_or(&self.keys);
            moves.retain(|mv| may_be_passed(*mv) || filter.may_have(at.key_after(*mv)));
        }
    }

    /// Where the lines of the position are that has this line as its first.
    pub(super) fn lines(&self, first: usize) -> impl Iterator<Item = usize> {
        let lines = self.known.get(first..).unwrap_or_default();
        let key = lines.first().map(|(key, _)| *key);
        let of = lines.iter().take_while(move |(other, _)| Some(*other) == key);
        of.filter_map(|(_, at)| usize::try_from(*at).ok())
    }

    /// The number of the first line of each position.
    pub(super) fn positions(&self) -> impl Iterator<Item = usize> {
        let mut next = 0;
        self.known.chunk_by(|a, b| a.0 == b.0).map(move |of| {
            let first = next;
            next += of.len();
            first
        })
    }
}

impl SortedTable for TextIndex {
    fn rows(&self) -> usize {
        self.known.len()
    }

    fn key_at(&self, row: usize) -> Option<u64> {
        self.known.get(row).map(|(key, _)| *key)
    }
}

/// Whether the position after a move may have two keys, as files write en passant where a pawn is beside the one that has gone two
/// squares, or only where that may be captured.
pub(super) fn may_be_passed(mv: Move) -> bool {
    matches!(mv, Move::Normal { role: Role::Pawn, from, to, .. } if from.rank().distance(to.rank()) > 1)
}
