//! Bins: the rows of one thread whose keys begin with the same bits.
#![allow(
    clippy::indexing_slicing,
    reason = "there is a start for each range of a bin, and one after the last"
)]

use tabiya_base::bytes::Parts as _;

use super::Sortable;
use super::order::RadixBuffers;

/// Bits of the key that select a bin: a processor's first cache has room for so many places to write to, and no more.
pub(crate) const BIN_BITS: u32 = 8;

/// Bits of the key that select a range.
const RANGE_BITS: u32 = 12;
/// Ranges of the whole key space: a run knows where each begins.
pub(crate) const RANGES: usize = 1 << RANGE_BITS;

pub(crate) const BIN_RANGES: usize = 1 << (RANGE_BITS - BIN_BITS);

/// Runs of a bin that are worth merging.
const MANY_RUNS: usize = 64;

/// The range of a key.
pub(crate) fn range_of(key: u64) -> usize {
    (key >> (u64::BITS - RANGE_BITS)) as usize
}

/// The first and the last key of a range.
pub(crate) fn keys_of(range: usize) -> (u64, u64) {
    let first = (range as u64) << (u64::BITS - RANGE_BITS);
    (first, first | u64::MAX >> RANGE_BITS)
}

/// The bin of a key.
pub(crate) fn bin_of(key: u64) -> usize {
    (key >> (u64::BITS - BIN_BITS)) as usize
}

/// A sorted run of one bin.
#[derive(Debug)]
pub(crate) struct Run<R> {
    pub rows: Box<[R]>,
    /// The number of the row that each range begins with, and the number after the last row.
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

    /// The rows of a range of its bin.
    fn part(&self, range: usize) -> &[R] {
        let (start, end) = (self.starts[range % BIN_RANGES], self.starts[range % BIN_RANGES + 1]);
        self.rows.part(start..end)
    }
}

/// Rows whose keys begin with the same bits.
#[derive(Debug)]
pub(crate) struct Bin<R> {
    pub fresh: Vec<R>,
    /// Sorted ones. The first may be longer than all others together.
    pub runs: Vec<Run<R>>,
}

impl<R: Sortable> Bin<R> {
    /// The rows of each run in a range.
    pub fn parts(&self, range: usize) -> impl Iterator<Item = &[R]> + Clone {
        self.runs.iter().map(move |run| run.part(range))
    }

    /// Rows in its runs.
    pub fn held(&self) -> usize {
        self.runs.iter().map(|run| run.rows.len()).sum()
    }

    /// Sorts the fresh rows into a run, and returns its length.
    pub fn settle(&mut self, buffers: &mut RadixBuffers<R>) -> usize {
        if self.fresh.is_empty() {
            return 0;
        }
        buffers.compact(&mut self.fresh, BIN_BITS);
        self.runs.push(Run::new(&self.fresh));
        let rows = self.fresh.len();
        self.fresh.clear();
        rows
    }

    /// Merges all runs into one if there are many, and the others are longer than the first, which was merged before.
    /// Returns by how many rows they become fewer.
    pub fn merge(&mut self, buffers: &mut RadixBuffers<R>) -> usize {
        let Some(first) = self.runs.first().filter(|_| self.runs.len() >= MANY_RUNS) else { return 0 };
        let all = self.held();
        if all < 2 * first.rows.len() {
            return 0;
        }
        let bin = first.rows.first().map_or(0, |row| bin_of(row.key()));
        let mut merged = Vec::new();
        for range in bin * BIN_RANGES..(bin + 1) * BIN_RANGES {
            gather(self.parts(range), &mut merged, buffers);
        }
        self.runs.clear();
        self.runs.push(Run::new(&merged));
        all - merged.len()
    }
}

/// Merges sorted parts of a range to the end of `rows`.
pub(crate) fn gather<'a, R: Sortable>(
    parts: impl Iterator<Item = &'a [R]> + Clone,
    rows: &mut Vec<R>,
    buffers: &mut RadixBuffers<R>,
) {
    let parts = parts.filter(|part| !part.is_empty());
    match (parts.clone().next(), parts.clone().nth(1)) {
        (Some(part), None) => rows.extend_from_slice(part),
        _ => buffers.gather(parts, rows, RANGE_BITS),
    }
}
