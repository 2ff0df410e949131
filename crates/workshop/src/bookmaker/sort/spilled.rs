//! Rows that did not fit into memory.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a part of a run is read into memory that was reserved for it"
)]
#![allow(clippy::indexing_slicing, reason = "there is a start for each range, and one after the last")]

use std::path::{Path, PathBuf};

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::scratch::Scratch;

use super::bin::{BIN_RANGES, Bin, RANGES, gather, range_of};
use super::order::RadixBuffers;
use super::{MAX_ROWS, Pieces, Sortable, Sorted, SortedRuns};

/// Runs of a level, at most and at least: so many are merged into one run of the next level, so that their number grows as
/// the logarithm of that of the rows, and with it what is held of each and how often it is read.
const MAX_RUNS: usize = 64;
const MIN_RUNS: usize = 8;

/// Bytes that are held of a run.
const STARTS_LEN: usize = (RANGES + 1) * size_of::<u64>();

/// Sorted runs in temporary files.
#[derive(Debug)]
pub(crate) struct SpilledRuns {
    folder: PathBuf,
    /// Bytes that the sorter holds.
    memory: usize,
    /// Fresh runs, runs merged from those, and so on.
    levels: Vec<Level>,
}

/// Runs in a temporary file, one after the other.
#[derive(Debug)]
struct Level {
    bytes: Scratch,
    /// For each run the number of the row that each range begins with, and the number after the last row.
    starts: Vec<Box<[u64]>>,
    rows: u64,
}

impl Level {
    /// Writes a run: slices of its rows in the order of their keys.
    fn add<R: Sortable>(&mut self, mut next: impl FnMut(&mut Vec<R>) -> Result<bool>) -> Result<()> {
        let mut starts = Vec::with_capacity(RANGES + 1);
        let mut rows = Vec::new();
        while next(&mut rows)? {
            for (row, at) in rows.iter().zip(self.rows..) {
                starts.resize(starts.len().max(range_of(row.key()) + 1), at);
            }
            self.bytes.push(bytemuck::cast_slice(&rows))?;
            self.rows += rows.len() as u64;
        }
        starts.resize(RANGES + 1, self.rows);
        self.starts.push(starts.into());
        Ok(())
    }
}

impl SpilledRuns {
    /// No run yet, for a sorter that holds `memory` bytes.
    pub fn new(folder: &Path, memory: usize) -> Self {
        Self { folder: folder.to_owned(), memory, levels: Vec::new() }
    }

    /// Adds the runs of all bins, merged into one.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn add<R: Sortable>(&mut self, bins: &[Bin<R>], buffers: &mut RadixBuffers<R>) -> Result<()> {
        let mut ranges = 0..RANGES;
        self.level(0).add(|rows| {
            let Some(range) = ranges.next() else { return Ok(false) };
            rows.clear();
            gather(bins[range / BIN_RANGES].parts(range), rows, buffers);
            Ok(true)
        })
    }

    /// Merges the runs of full levels. What the sorter holds besides fresh rows has to be free.
    ///
    /// # Errors
    /// When a temporary file cannot be written or read, or the work is interrupted.
    pub fn merge<R: Sortable>(&mut self) -> Result<()> {
        let most = (self.memory / 8 / STARTS_LEN).clamp(MIN_RUNS, MAX_RUNS);
        let mut number = 0;
        while self.levels.get(number).is_some_and(|level| level.starts.len() >= most) {
            let empty = self.empty_level();
            let full = std::mem::replace(&mut self.levels[number], empty);
            let full = Self { levels: vec![full], folder: PathBuf::new(), memory: 0 };
            let sorted = Sorted::new(vec![SortedRuns::<R>::of_spilled(full)]);
            // Rows that are read, sorted, and aside while that is done: a part of what the bins have left free.
            let rows = (self.memory / 8 / size_of::<R>()).max(1) as u64;
            let mut pieces = Pieces::new(&sorted, 0..RANGES, rows.min(MAX_ROWS), rows.min(MAX_ROWS));
            let mut buffers = RadixBuffers::default();
            number += 1;
            self.level(number).add(|rows| {
                interrupt::check()?;
                let Some(piece) = pieces.next()? else { return Ok(false) };
                sorted.rows(&piece, rows, &mut buffers)?;
                Ok(true)
            })?;
        }
        Ok(())
    }

    /// The level of this number, which is at most the one after the last.
    fn level(&mut self, number: usize) -> &mut Level {
        if number == self.levels.len() {
            self.levels.push(self.empty_level());
        }
        &mut self.levels[number]
    }

    fn empty_level(&self) -> Level {
        Level { bytes: Scratch::for_runs(&self.folder, self.memory), starts: Vec::new(), rows: 0 }
    }

    /// Rows of all runs.
    pub fn rows(&self) -> u64 {
        self.levels.iter().map(|level| level.rows).sum()
    }

    /// The runs of all levels.
    pub fn runs(&self) -> impl Iterator<Item = SpilledRun<'_>> {
        self.levels
            .iter()
            .flat_map(|level| level.starts.iter().map(|starts| SpilledRun { bytes: &level.bytes, starts }))
    }
}

/// One of the runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpilledRun<'a> {
    bytes: &'a Scratch,
    starts: &'a [u64],
}

impl<'a> SpilledRun<'a> {
    /// The number of the first row of some ranges, and the number after the last.
    pub fn places(&self, from: usize, to: usize) -> (u64, u64) {
        (self.starts[from], self.starts[to])
    }

    /// The number of the first of these rows whose key is not below `key`, by binary search.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn place<R: Sortable>(&self, (mut low, mut high): (u64, u64), key: u64) -> Result<u64> {
        let mut row = R::zeroed();
        while low < high {
            let middle = low + (high - low) / 2;
            self.bytes.read(middle * size_of::<R>() as u64, bytemuck::bytes_of_mut(&mut row))?;
            if row.key() < key { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// Reads rows from one number to before another.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn read<R: Sortable>(&self, (first, end): (u64, u64)) -> Result<RunPart<'a, R>> {
        let mut rows = vec![R::zeroed(); (end - first) as usize];
        self.bytes.read(first * size_of::<R>() as u64, bytemuck::cast_slice_mut(&mut rows))?;
        Ok(RunPart { starts: self.starts, first, rows })
    }
}

/// The rows of a run in a piece.
#[derive(Debug)]
pub(crate) struct RunPart<'a, R> {
    /// The number of the row that each range begins with, and the number after the last row.
    starts: &'a [u64],
    /// The number of the first row here.
    first: u64,
    rows: Vec<R>,
}

impl<R> RunPart<'_, R> {
    /// The rows of one range.
    pub fn part(&self, range: usize) -> &[R] {
        let at = |range: usize| (self.starts[range].saturating_sub(self.first) as usize).min(self.rows.len());
        self.rows.part(at(range)..at(range + 1))
    }
}

#[cfg(test)]
mod tests {
    use tabiya_book::Slice;
    use tabiya_chess::MoveCode;

    use super::super::super::row::{Count, CountRow, CountedRow, GameOutcome};
    use super::super::RadixSorter;
    use super::*;

    #[test]
    fn there_are_as_many_runs_as_the_logarithm_of_the_number_of_rows() {
        let folder = tempfile::tempdir().unwrap();
        let memory = 1 << 10;
        let mut sorter = RadixSorter::new(memory, folder.path());
        let (mut runs, mut levels) = (0, 0);
        let rows = 30_000_u64;
        for number in 0..rows {
            let key = (number % (rows / 2)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (slice, mv) = (Slice::default(), MoveCode(1));
            let count = Count { key, mv, slice, outcome: GameOutcome::Win, games: 1 };
            sorter.push(CountRow::new(count)).unwrap();
            runs = runs.max(sorter.spilled.runs().count());
            levels = levels.max(sorter.spilled.levels.len());
        }
        assert!(levels >= 3, "{levels} levels");
        assert!(runs <= levels * MIN_RUNS, "{runs} runs in {levels} levels");
        let sorted = Sorted::new(vec![sorter.finish().unwrap()]);
        let mut pieces = Pieces::new(&sorted, 0..RANGES, 100, 100);
        let mut all = Vec::new();
        while let Some(piece) = pieces.next().unwrap() {
            let mut rows = Vec::new();
            sorted.rows(&piece, &mut rows, &mut RadixBuffers::default()).unwrap();
            all.extend(rows);
        }
        assert!(all.is_sorted() && all.iter().all(|row| row.count().games == 2));
        assert_eq!(all.len() as u64, rows / 2);
    }
}
