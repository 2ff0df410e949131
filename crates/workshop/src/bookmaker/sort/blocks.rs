//! Rows that come in order, in blocks of one size that are used again and again: however many are read in turn, they take no
//! more memory than those that are held at the same time.
#![allow(clippy::indexing_slicing, reason = "pieces end within their block")]

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tabiya_base::bytes::Parts as _;

use super::bin::keys_of;
use super::order::RadixBuffers;
use super::spilled::SpilledRuns;
use super::{BIN_LEN, Sortable, SortedRuns, empty_bins};

/// Sorted pieces, one after the other. No row of a piece counts the same thing as another.
#[derive(Debug)]
pub(super) struct Block<R> {
    rows: Vec<R>,
    /// The number of the row after the last of each piece.
    ends: Vec<usize>,
}

impl<R: Sortable> Block<R> {
    fn new() -> Self {
        Self { rows: Vec::with_capacity(BIN_LEN / size_of::<R>()), ends: Vec::new() }
    }

    /// The rows of a range, of each piece that has some.
    pub(super) fn parts(&self, range: usize) -> impl Iterator<Item = &[R]> + Clone {
        let (low, high) = keys_of(range);
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let pieces = starts.zip(&self.ends).map(|(start, end)| &self.rows[start..*end]);
        let has_some = move |rows: &&[R]| {
            rows.first().is_some_and(|row| row.key() <= high)
                && rows.last().is_some_and(|row| row.key() >= low)
        };
        pieces.filter(has_some).map(move |rows| {
            let from = rows.partition_point(|row| row.key() < low);
            let to = rows.partition_point(|row| row.key() <= high);
            rows.part(from..to)
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }
}

/// Blocks that are not used.
#[derive(Debug)]
pub(crate) struct FreeBlocks<R>(Mutex<Vec<Block<R>>>);

impl<R: Sortable> FreeBlocks<R> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Takes back those of some rows.
    pub(super) fn put(&self, runs: SortedRuns<R>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(runs.blocks);
    }

    fn take(&self) -> Block<R> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut block = free.unwrap_or_else(Block::new);
        block.rows.clear();
        block.ends.clear();
        block
    }
}

/// Gathers the rows of one thread that come in order, from one source after another.
#[derive(Debug)]
pub(crate) struct BlockFiller<'a, R> {
    free: &'a FreeBlocks<R>,
    full: Vec<Block<R>>,
    block: Block<R>,
    buffers: RadixBuffers<R>,
}

impl<'a, R: Sortable> BlockFiller<'a, R> {
    pub(crate) fn new(free: &'a FreeBlocks<R>) -> Self {
        Self { free, full: Vec::new(), block: free.take(), buffers: RadixBuffers::default() }
    }

    /// Takes in a row.
    #[inline]
    pub(crate) fn push(&mut self, row: R) {
        if self.block.rows.len() == self.block.rows.capacity() {
            self.end_piece();
            self.full.push(std::mem::replace(&mut self.block, self.free.take()));
        }
        self.block.rows.push(row);
    }

    /// Notes that the rows of another source follow.
    pub(crate) fn end_piece(&mut self) {
        let Block { rows, ends } = &mut self.block;
        let start = ends.last().copied().unwrap_or_default();
        let follows = |a: &R, b: &R| a.order(b).is_lt() && !{ *a }.absorb(b);
        if !rows[start..].is_sorted_by(follows) {
            let mut piece = rows.split_off(start);
            self.buffers.compact(&mut piece, 0);
            rows.extend(piece);
        }
        if rows.len() > start {
            ends.push(rows.len());
        }
    }

    /// All rows, in memory.
    pub(crate) fn finish(mut self) -> SortedRuns<R> {
        self.end_piece();
        self.full.push(self.block);
        SortedRuns { bins: empty_bins(), spilled: SpilledRuns::new(Path::new(""), 0), blocks: self.full }
    }
}
