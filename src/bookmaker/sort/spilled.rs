//! Rows that did not fit into memory.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a part of a run is read into memory that was reserved for it"
)]
#![allow(clippy::indexing_slicing, reason = "there is a start for each range, and one after the last")]

use std::path::Path;

use super::Sortable;
use super::bin::{BIN_RANGES, Bin, RANGES, gather};
use super::order::RadixBuffers;
use crate::base::error::Result;
use crate::base::scratch::Scratch;

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

    /// Reads the rows of each run in some ranges.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn read<R: Sortable>(&self, from: usize, to: usize) -> Result<Vec<Part<'_, R>>> {
        let mut parts = Vec::with_capacity(self.starts.len());
        for starts in &self.starts {
            let first = starts[from];
            let mut rows = vec![R::zeroed(); (starts[to] - first) as usize];
            self.bytes.read(first * size_of::<R>() as u64, bytemuck::cast_slice_mut(&mut rows))?;
            parts.push(Part { starts, first, rows });
        }
        Ok(parts)
    }
}

/// The rows of a run in some ranges.
#[derive(Debug)]
pub struct Part<'a, R> {
    /// The number of the row that each range begins with, and the number after the last row.
    starts: &'a [u64],
    /// The number of the first row here.
    first: u64,
    rows: Vec<R>,
}

impl<R> Part<'_, R> {
    /// The rows of one range.
    pub fn part(&self, range: usize) -> &[R] {
        let at = |range: usize| (self.starts[range] - self.first) as usize;
        self.rows.get(at(range)..at(range + 1)).unwrap_or_default()
    }
}
