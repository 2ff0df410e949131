//! Rows that did not fit into memory.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a part of a run is read into memory that was reserved for it"
)]
#![allow(clippy::indexing_slicing, reason = "there is a start for each range, and one after the last")]

use std::path::Path;

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::scratch::Scratch;

use super::bin::{BIN_RANGES, Bin, RANGES, gather};
use super::order::RadixBuffers;
use super::{SortPiece, Sortable};

/// Runs in a temporary file, one after the other.
#[derive(Debug)]
pub(crate) struct SpilledRuns {
    bytes: Scratch,
    /// For each run the number of the row that each range begins with, and the number after the last row.
    starts: Vec<Box<[u64]>>,
    /// Rows of all runs.
    pub rows: u64,
}

impl SpilledRuns {
    /// No run yet, for a sorter that holds `memory` bytes.
    pub fn new(folder: &Path, memory: usize) -> Self {
        Self { bytes: Scratch::for_runs(folder, memory), starts: Vec::new(), rows: 0 }
    }

    /// Adds the runs of all bins, merged into one.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn add<R: Sortable>(&mut self, bins: &[Bin<R>], buffers: &mut RadixBuffers<R>) -> Result<()> {
        let mut starts = Vec::with_capacity(RANGES + 1);
        let mut rows = Vec::new();
        for range in 0..RANGES {
            starts.push(self.rows);
            gather(bins[range / BIN_RANGES].parts(range), &mut rows, buffers);
            self.rows += rows.len() as u64;
            self.bytes.push(bytemuck::cast_slice(&rows))?;
        }
        starts.push(self.rows);
        self.starts.push(starts.into());
        Ok(())
    }

    /// Rows of a range.
    pub fn count(&self, range: usize) -> u64 {
        self.starts.iter().map(|starts| starts[range + 1] - starts[range]).sum()
    }

    /// Rows whose keys are below `key`, all in this range.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn below<R: Sortable>(&self, range: usize, key: u64) -> Result<u64> {
        self.starts
            .iter()
            .try_fold(0, |all, starts| Ok(all + self.place::<R>(starts, range, key)? - starts[range]))
    }

    /// The number of the first row of a run whose key is not below `key`, by binary search in this range.
    fn place<R: Sortable>(&self, starts: &[u64], range: usize, key: u64) -> Result<u64> {
        let (mut low, mut high) = (starts[range], starts[range + 1]);
        let mut row = R::zeroed();
        while low < high {
            let middle = low + (high - low) / 2;
            self.bytes.read(middle * size_of::<R>() as u64, bytemuck::bytes_of_mut(&mut row))?;
            if row.key() < key { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// Reads the rows of each run in a piece.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn read<R: Sortable>(&self, piece: &SortPiece) -> Result<Vec<RunPart<'_, R>>> {
        let mut parts = Vec::with_capacity(self.starts.len());
        for starts in &self.starts {
            let (mut first, mut end) = (starts[piece.from], starts[piece.to]);
            if let Some((low, high)) = piece.keys {
                first = self.place::<R>(starts, piece.from, low)?;
                if let Some(after) = high.checked_add(1) {
                    end = self.place::<R>(starts, piece.from, after)?;
                }
            }
            let mut rows = vec![R::zeroed(); (end - first) as usize];
            self.bytes.read(first * size_of::<R>() as u64, bytemuck::cast_slice_mut(&mut rows))?;
            parts.push(RunPart { starts, first, rows });
        }
        Ok(parts)
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
