//! Bins: the rows of one thread whose keys begin with the same bits.
#![allow(
    clippy::indexing_slicing,
    reason = "there is a start for each range of a bin, and one after the last"
)]

use super::Sortable;
use super::order::Dealer;

/// Bits of the key that tell bins apart. So many places to write to are as many as a processor's first cache has room
/// for.
pub const BIN_BITS: u32 = 8;

/// Bits of the key that tell ranges apart.
const RANGE_BITS: u32 = 12;
/// Ranges that a run knows the places of.
pub const RANGES: usize = 1 << RANGE_BITS;

/// Ranges of a bin.
pub const BIN_RANGES: usize = 1 << (RANGE_BITS - BIN_BITS);

/// Runs of a bin that are worth making one of.
const MANY_RUNS: usize = 64;

/// The range that a key lies in.
fn range_of(key: u64) -> usize {
    (key >> (u64::BITS - RANGE_BITS)) as usize
}

/// The bin that a key falls into.
pub fn bin_of(key: u64) -> usize {
    (key >> (u64::BITS - BIN_BITS)) as usize
}

/// A sorted run of one bin.
#[derive(Debug)]
pub struct Run<R> {
    pub rows: Box<[R]>,
    /// The number of the row that each range begins with, and that behind the last.
    starts: [usize; BIN_RANGES + 1],
}

impl<R: Sortable> Run<R> {
    fn new(rows: &[R]) -> Self {
        let first = rows.first().map_or(0, |row| bin_of(row.key())) * BIN_RANGES;
        let mut starts = [0; BIN_RANGES + 1];
        for (range, start) in starts.iter_mut().enumerate() {
            *start = rows.partition_point(|row| range_of(row.key()) < first + range);
        }
        Self { rows: rows.into(), starts }
    }

    /// What the run has in a range of its bin.
    fn part(&self, range: usize) -> &[R] {
        let (start, end) = (self.starts[range % BIN_RANGES], self.starts[range % BIN_RANGES + 1]);
        self.rows.get(start..end).unwrap_or_default()
    }
}

/// Rows whose keys begin with the same bits.
#[derive(Debug)]
pub struct Bin<R> {
    /// Rows as they come.
    pub fresh: Vec<R>,
    /// Sorted ones. The first may be longer than all others.
    pub runs: Vec<Run<R>>,
}

impl<R: Sortable> Bin<R> {
    /// What the runs have in a range.
    pub fn parts(&self, range: usize) -> impl Iterator<Item = &[R]> {
        self.runs.iter().map(move |run| run.part(range))
    }

    /// Makes a run of the fresh rows; its length.
    pub fn settle(&mut self, dealer: &mut Dealer<R>) -> usize {
        if self.fresh.is_empty() {
            return 0;
        }
        dealer.compact(&mut self.fresh, BIN_BITS);
        self.runs.push(Run::new(&self.fresh));
        let rows = self.fresh.len();
        self.fresh.clear();
        rows
    }

    /// Makes one of all runs, where they are many and longer than the first, which was made so before; by how many
    /// rows they become fewer.
    pub fn merge(&mut self, dealer: &mut Dealer<R>) -> usize {
        let rows = |runs: &[Run<R>]| runs.iter().map(|run| run.rows.len()).sum::<usize>();
        let (first, others) =
            (rows(self.runs.get(..1).unwrap_or_default()), rows(self.runs.get(1..).unwrap_or_default()));
        if self.runs.len() < MANY_RUNS || others < first {
            return 0;
        }
        let bin = self.runs.first().and_then(|run| run.rows.first()).map_or(0, |row| bin_of(row.key()));
        let (mut merged, mut part) = (Vec::new(), Vec::new());
        for range in bin * BIN_RANGES..(bin + 1) * BIN_RANGES {
            gather(self.parts(range), &mut part, dealer);
            merged.extend_from_slice(&part);
        }
        self.runs.clear();
        self.runs.push(Run::new(&merged));
        first + others - merged.len()
    }
}

/// Makes one of sorted parts of a range, in `rows`.
pub fn gather<'a, R: Sortable>(
    parts: impl Iterator<Item = &'a [R]>,
    rows: &mut Vec<R>,
    dealer: &mut Dealer<R>,
) {
    rows.clear();
    let mut several = false;
    for part in parts.filter(|part| !part.is_empty()) {
        several = !rows.is_empty();
        rows.extend_from_slice(part);
    }
    if several {
        dealer.compact(rows, RANGE_BITS);
    }
}
