//! Sorting more rows than fit into memory, on all cores.
//!
//! Each thread fills a [`Sorter`] of its own: rows fall into bins by the first bits of their keys, a full bin is sorted
//! and added up into a run, and where the thread's share of memory is full, all its runs go to a temporary file as one.
//! [`Sorted`] then takes the key space apart into ranges that fit into memory: what all runs have of a range is sorted
//! once more, added up, and handed on. What comes out depends on the rows alone, neither on their order nor on threads
//! or memory.
#![allow(
    clippy::indexing_slicing,
    reason = "bins and ranges are numbered by the bits of a key, and there is one for each value"
)]

mod bin;
mod order;
mod spilled;

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use bin::{BIN_BITS, BIN_RANGES, Bin, RANGES, bin_of, gather};
use order::Dealer;
use spilled::{Part, Spilled};

use crate::base::error::{Error, Result};
use crate::base::interrupt;
use crate::base::parallel;

/// Bytes of a full bin: few enough to be sorted within a processor's caches.
const BIN_LEN: usize = 1 << 17;

/// Bytes that are made of a row at most: a position of its own, with its one move.
const MADE_LEN: usize = 512;

/// Rows that are handed on at a time, however much memory there is: more would be fetched from the system and given
/// back again and again.
const MOST_ROWS: u64 = 1 << 14;

/// A fixed number of bytes that can be sorted, and added up where it tells the same.
pub trait Sortable: bytemuck::Pod + Send + Sync {
    /// Whether rows come mostly in order already: then another way of sorting is faster, but needs more memory.
    const PRESORTED: bool = false;

    /// The position's key: rows of one key come together, in the order of keys.
    fn key(&self) -> u64;

    /// The order of rows, of which the key is the first part.
    fn order(&self, other: &Self) -> Ordering;

    /// Takes in a row that tells the same; `false` where it tells something else. Only where rows come presorted is
    /// it certain that the other one does not come before this one.
    fn absorb(&mut self, other: &Self) -> bool;
}

/// The rows of one thread.
#[derive(Debug)]
pub struct Sorter<R> {
    bins: Vec<Bin<R>>,
    /// Rows of a full bin.
    room: usize,
    /// Rows in sorted runs.
    held: usize,
    /// As many of them may be held in memory.
    most: usize,
    folder: PathBuf,
    spilled: Option<Spilled>,
    dealer: Dealer<R>,
}

impl<R: Sortable> Sorter<R> {
    /// A sorter that holds about `memory` bytes, and writes to `folder` what is more.
    pub fn new(memory: usize, folder: &Path) -> Self {
        let rows = (memory / size_of::<R>()).max(64);
        let bins = 1 << BIN_BITS;
        // A third for what is fresh.
        let room = (rows / 3 / bins).clamp(1, BIN_LEN / size_of::<R>());
        Self {
            bins: (0..bins).map(|_| Bin { fresh: Vec::new(), runs: Vec::new() }).collect(),
            room,
            held: 0,
            most: rows - (room * bins).min(rows / 3),
            folder: folder.to_owned(),
            spilled: None,
            dealer: Dealer::default(),
        }
    }

    /// Takes in a row.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    #[inline]
    pub fn push(&mut self, row: R) -> Result<()> {
        let bin = bin_of(row.key());
        let fresh = &mut self.bins[bin].fresh;
        if fresh.len() < fresh.capacity() {
            fresh.push(row);
            return Ok(());
        }
        self.push_full(bin, row)
    }

    /// Makes room for a row, and takes it in.
    #[cold]
    fn push_full(&mut self, bin: usize, row: R) -> Result<()> {
        let bin = &mut self.bins[bin];
        if bin.fresh.len() < self.room {
            let more = (self.room - bin.fresh.len()).min(bin.fresh.len().max(16));
            bin.fresh.reserve_exact(more);
        } else {
            self.held += bin.settle(&mut self.dealer);
            if self.held < self.most / 2 {
                self.held -= bin.merge(&mut self.dealer);
            }
        }
        bin.fresh.push(row);
        if self.held > self.most { self.spill() } else { Ok(()) }
    }

    /// Writes the runs in memory to the temporary file as one.
    fn spill(&mut self) -> Result<()> {
        let cannot = |error| Error::temporary(&self.folder, error);
        if self.spilled.is_none() {
            self.spilled = Some(Spilled::new(&self.folder).map_err(cannot)?);
        }
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        spilled.add(&self.bins, &mut self.dealer).map_err(cannot)?;
        self.bins.iter_mut().for_each(|bin| bin.runs = Vec::new());
        self.held = 0;
        Ok(())
    }

    /// No more rows come.
    pub fn finish(mut self) -> Pile<R> {
        for bin in &mut self.bins {
            bin.settle(&mut self.dealer);
            bin.fresh = Vec::new();
        }
        Pile { bins: self.bins, spilled: self.spilled, folder: self.folder }
    }
}

/// The sorted rows of one thread, which gets no more.
#[derive(Debug)]
pub struct Pile<R> {
    bins: Vec<Bin<R>>,
    spilled: Option<Spilled>,
    folder: PathBuf,
}

impl<R: Sortable> Pile<R> {
    /// Reads what its file has in some ranges.
    fn read(&self, from: usize, to: usize) -> Result<Vec<Part<'_, R>>> {
        let Some(spilled) = &self.spilled else { return Ok(Vec::new()) };
        spilled.read(from, to).map_err(|error| Error::temporary(&self.folder, error))
    }
}

/// The rows of all threads.
#[derive(Debug)]
pub struct Sorted<R> {
    piles: Vec<Pile<R>>,
}

impl<R: Sortable> Sorted<R> {
    /// Brings the threads' rows together.
    pub fn new(piles: Vec<Pile<R>>) -> Self {
        Self { piles }
    }

    /// Rows that were written to temporary files.
    pub fn spilled(&self) -> u64 {
        self.piles.iter().filter_map(|pile| pile.spilled.as_ref()).map(|spilled| spilled.rows).sum()
    }

    /// Rows in memory and in files, before those that tell the same in different runs are added up.
    pub fn len(&self) -> u64 {
        let runs = self.piles.iter().flat_map(|pile| &pile.bins).flat_map(|bin| &bin.runs);
        self.spilled() + runs.map(|run| run.rows.len() as u64).sum::<u64>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes something of each range of keys on `threads` threads, about `memory` bytes of rows at a time, and hands
    /// it on in the order of keys. All rows of one key come in the same slice.
    ///
    /// # Errors
    /// When a temporary file cannot be read, when the work is interrupted, and what `take` returns.
    pub fn each<T: Send>(
        &self,
        threads: usize,
        memory: usize,
        make: impl Fn(&[R]) -> T + Sync,
        mut take: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let threads = threads.max(1);
        // What is made of the rows of a range is there besides them.
        let most = ((memory / threads / (size_of::<R>() * 2 + MADE_LEN)).max(1) as u64).min(MOST_ROWS);
        let ranges = self.ranges(most, threads);
        let work = |(): &mut (), at: u64, made: &mut Option<Result<T>>| {
            let range = usize::try_from(at).ok().and_then(|at| ranges.get(at));
            *made = range.map(|&(from, to)| Ok(make(&self.rows(from, to)?)));
        };
        let take = |_, made: &mut Option<Result<T>>| {
            interrupt::check()?;
            made.take().map_or(Ok(()), |made| take(made?))
        };
        parallel::in_order(ranges.len() as u64, threads, 0, || (), work, take)
    }

    /// Neighbouring ranges put together up to this many rows, or to what keeps all threads busy.
    fn ranges(&self, most: u64, threads: usize) -> Vec<(usize, usize)> {
        let most = most.min(self.len() / (threads as u64 * 16) + 1);
        let mut ranges = Vec::new();
        let (mut from, mut rows) = (0, 0);
        for range in 0..RANGES {
            let here = self.count(range);
            if rows > 0 && rows + here > most {
                ranges.push((from, range));
                (from, rows) = (range, 0);
            }
            rows += here;
        }
        if rows > 0 {
            ranges.push((from, RANGES));
        }
        ranges
    }

    fn count(&self, range: usize) -> u64 {
        let of = |pile: &Pile<R>| {
            let held = pile.bins[range / BIN_RANGES].parts(range).map(|part| part.len() as u64).sum::<u64>();
            held + pile.spilled.as_ref().map_or(0, |spilled| spilled.count(range))
        };
        self.piles.iter().map(of).sum()
    }

    /// The rows of some ranges, sorted and added up.
    fn rows(&self, from: usize, to: usize) -> Result<Vec<R>> {
        let mut files = Vec::new();
        for pile in &self.piles {
            files.extend(pile.read(from, to)?);
        }
        let mut dealer = Dealer::default();
        let (mut rows, mut part) = (Vec::new(), Vec::new());
        for range in from..to {
            let held = self.piles.iter().flat_map(|pile| pile.bins[range / BIN_RANGES].parts(range));
            let read = files.iter().map(|file| file.of(range));
            gather(held.chain(read), &mut part, &mut dealer);
            rows.extend_from_slice(&part);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::{Count, CountRow, Outcome, Row};
    use super::*;
    use crate::base::error::Remedy;
    use crate::chess::MoveCode;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn sorted(counts: &[Count], threads: usize, memory: usize, folder: &Path) -> (Vec<Count>, u64) {
        let mut sorters: Vec<_> = (0..threads).map(|_| Sorter::new(memory, folder)).collect();
        for (index, &count) in counts.iter().enumerate() {
            sorters[index % threads].push(CountRow::new(count)).unwrap();
        }
        let sorted = Sorted::new(sorters.into_iter().map(Sorter::finish).collect());
        let mut out = Vec::new();
        let make = |rows: &[CountRow]| rows.iter().map(Row::count).collect::<Vec<_>>();
        sorted
            .each(threads, memory, make, |counts| {
                out.extend(counts);
                Ok(())
            })
            .unwrap();
        (out, sorted.spilled())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_same_rows_come_out_whatever_threads_memory_and_order(
            drawn in prop::collection::vec((0..400_u64, 0..3_u16, 0..2_u8, 1..9_u64), 0..4000),
            threads in 1..4_usize,
            memory in prop::sample::select(vec![1 << 10, 1 << 13, 1 << 16, 1 << 24]),
            hashed in any::<bool>(),
        ) {
            let mut model = BTreeMap::new();
            let mut counts = Vec::new();
            for (key, mv, won, games) in drawn {
                // Keys all over the key space, or close together.
                let key = if hashed { key.wrapping_mul(0x9e37_79b9_7f4a_7c15) } else { key };
                let outcome = if won == 0 { Outcome::Loss } else { Outcome::Win };
                counts.push(Count { key, mv: MoveCode(mv), outcome, games });
                *model.entry((key, mv, outcome)).or_insert(0) += games;
            }
            let model: Vec<_> = model.into_iter()
                .map(|((key, mv, outcome), games)| Count { key, mv: MoveCode(mv), outcome, games }).collect();
            let folder = tempfile::tempdir().unwrap();
            let (out, spilled) = sorted(&counts, threads, memory, folder.path());
            prop_assert_eq!(&out, &model);
            // Each thread has room for a row in each bin.
            prop_assert!(spilled > 0 || memory > 1 << 10 || model.len() < 1000);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let missing = Path::new("no such folder");
        let mut sorter = Sorter::new(1 << 10, missing);
        let row = |key: u64| {
            CountRow::new(Count { key: key << 50, mv: MoveCode(1), outcome: Outcome::Win, games: 1 })
        };
        let error = (0..10_000).find_map(|key| sorter.push(row(key)).err()).unwrap();
        assert_eq!(error.remedy(), Some(Remedy::TemporaryFiles), "{error}");
    }
}
