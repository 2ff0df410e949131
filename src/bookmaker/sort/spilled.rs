//! Rows that did not fit into memory.
#![allow(clippy::indexing_slicing, reason = "there is a start for each range, and one after the last")]

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use super::Sortable;
use super::bin::{BIN_RANGES, Bin, RANGES, gather};
use super::order::Dealer;
use crate::base::file;

/// Bytes that go to a temporary file at a time.
const WRITE_LEN: usize = 1 << 20;

/// Runs in a temporary file, one behind the other. The file has no name, or goes with the process.
#[derive(Debug)]
pub struct Spilled {
    file: File,
    /// For each run the number of the row that each range begins with, and that behind the last.
    runs: Vec<Box<[u64]>>,
    /// Rows of all runs.
    pub rows: u64,
}

impl Spilled {
    /// A file in a folder, with nothing in it yet.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        Ok(Self { file, runs: Vec::new(), rows: 0 })
    }

    /// Adds the runs of all bins, made into one.
    pub fn add<R: Sortable>(&mut self, bins: &[Bin<R>], dealer: &mut Dealer<R>) -> io::Result<()> {
        let file = &mut self.file;
        file.seek(SeekFrom::End(0))?;
        let mut starts = Vec::with_capacity(RANGES + 1);
        let mut rows = Vec::new();
        let mut bytes = Vec::new();
        for range in 0..RANGES {
            starts.push(self.rows);
            gather(bins[range / BIN_RANGES].parts(range), &mut rows, dealer);
            self.rows += rows.len() as u64;
            bytes.extend_from_slice(bytemuck::cast_slice(&rows));
            if bytes.len() >= WRITE_LEN {
                file.write_all(&bytes)?;
                bytes.clear();
            }
        }
        file.write_all(&bytes)?;
        starts.push(self.rows);
        self.runs.push(starts.into());
        Ok(())
    }

    /// Rows that lie in a range.
    pub fn count(&self, range: usize) -> u64 {
        let at = |run: &[u64], range: usize| run.get(range).copied().unwrap_or(0);
        self.runs.iter().map(|run| at(run, range + 1) - at(run, range)).sum()
    }

    /// Reads what each run has in some ranges.
    pub fn read<R: Sortable>(&self, from: usize, to: usize) -> io::Result<Vec<Part<'_, R>>> {
        let mut parts = Vec::with_capacity(self.runs.len());
        for starts in &self.runs {
            let (first, end) = (starts[from], starts[to]);
            let mut rows = vec![R::zeroed(); (end - first) as usize];
            file::read_exact_at(
                &self.file,
                first * size_of::<R>() as u64,
                bytemuck::cast_slice_mut(&mut rows),
            )?;
            parts.push(Part { starts, first, rows });
        }
        Ok(parts)
    }
}

/// What a run has in some ranges.
#[derive(Debug)]
pub struct Part<'a, R> {
    /// The number of the row that each range begins with, and that behind the last.
    starts: &'a [u64],
    /// The number of the first row here.
    first: u64,
    rows: Vec<R>,
}

impl<R> Part<'_, R> {
    /// What is in one of the ranges.
    pub fn of(&self, range: usize) -> &[R] {
        let at = |range: usize| (self.starts[range] - self.first) as usize;
        self.rows.get(at(range)..at(range + 1)).unwrap_or_default()
    }
}
