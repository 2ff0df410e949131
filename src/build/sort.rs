//! Sorting more rows than fit into memory, on all cores.
//!
//! Each thread fills a [`Sorter`] of its own: rows are sorted and added up a chunk at a time, and where the thread's
//! share of memory is full, what it has goes to a temporary file as one sorted run. [`Sorted`] then takes the key space
//! apart into ranges that fit into memory: what all runs have of a range is sorted once more, added up, and handed on.
//! What comes out depends on the rows alone, neither on their order nor on threads or memory.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::base::error::{Error, Result};
use crate::base::interrupt;

/// Rows that are sorted at a time: a chunk stays within the caches of today's processors, and few are started.
const CHUNK_ROWS: usize = 1 << 20;

/// Bits of the key that tell ranges apart.
const RANGE_BITS: u32 = 12;
/// Ranges that a run's file knows the places of.
const RANGES: usize = 1 << RANGE_BITS;

/// Bytes that are made of a row at most: a position of its own, with its one move.
const MADE_LEN: usize = 512;

/// Bytes that go to a temporary file at a time.
const WRITE_LEN: usize = 1 << 20;

/// A fixed number of bytes that can be sorted, and added up where it tells the same.
pub trait Sortable: bytemuck::Pod + Send + Sync {
    /// Whether rows come mostly in order already: then another way of sorting is faster, but needs more memory.
    const PRESORTED: bool = false;

    /// The position's key: rows of one key come together, in the order of keys.
    fn key(&self) -> u64;

    /// The order of rows, of which the key is the first part.
    fn order(&self, other: &Self) -> Ordering;

    /// Takes in a row that tells the same and does not come before; `false` where it tells something else.
    fn absorb(&mut self, other: &Self) -> bool;
}

/// The range that a key lies in.
fn range_of(key: u64) -> usize {
    (key >> (u64::BITS - RANGE_BITS)) as usize
}

/// Sorts rows and adds up those that tell the same.
fn compact<R: Sortable>(rows: &mut Vec<R>) {
    if R::PRESORTED {
        rows.sort_by(R::order);
    } else {
        rows.sort_unstable_by(R::order);
    }
    rows.dedup_by(|next, kept| kept.absorb(next));
}

/// A sorted run in memory.
#[derive(Debug)]
struct Run<R> {
    rows: Vec<R>,
    /// The number of the row that each range begins with, and that behind the last.
    starts: Box<[usize]>,
}

impl<R: Sortable> Run<R> {
    fn new(rows: Vec<R>) -> Self {
        let mut at = 0;
        let mut start = |range| {
            at += count_before(rows.get(at..).unwrap_or_default(), range);
            at
        };
        let starts = (0..=RANGES).map(&mut start).collect();
        Self { rows, starts }
    }

    /// What the run has in some ranges.
    fn part(&self, from: usize, to: usize) -> &[R] {
        let start = |range: usize| self.starts.get(range).copied().unwrap_or(self.rows.len());
        self.rows.get(start(from)..start(to)).unwrap_or_default()
    }
}

/// Rows before a range that begins not far behind the first of them.
fn count_before<R: Sortable>(rows: &[R], range: usize) -> usize {
    let before = |row: &R| range_of(row.key()) < range;
    let mut near = 1;
    while rows.get(near).is_some_and(before) {
        near *= 2;
    }
    rows.get(..near).unwrap_or(rows).partition_point(before)
}

/// The rows of one thread.
#[derive(Debug)]
pub struct Sorter<R> {
    /// Rows as they come.
    fresh: Vec<R>,
    chunk: usize,
    /// Sorted runs in memory.
    runs: Vec<Run<R>>,
    held: usize,
    /// Rows that may be held in memory.
    most: usize,
    folder: PathBuf,
    spilled: Option<Spilled>,
}

/// Runs in a temporary file, one behind the other. The file has no name, or goes with the process.
#[derive(Debug)]
struct Spilled {
    file: Mutex<File>,
    /// For each run the number of the row that each range begins with, and that behind the last.
    runs: Vec<Box<[u64]>>,
    rows: u64,
}

impl<R: Sortable> Sorter<R> {
    /// A sorter that holds about `memory` bytes, and writes to `folder` what is more.
    pub fn new(memory: usize, folder: &Path) -> Self {
        let rows = (memory / size_of::<R>()).max(64);
        // What is fresh, and the room that sorted runs need while they are merged to a file.
        let chunk = (rows / 3).min(CHUNK_ROWS);
        Self {
            fresh: Vec::new(),
            chunk,
            runs: Vec::new(),
            held: 0,
            most: rows - chunk,
            folder: folder.to_owned(),
            spilled: None,
        }
    }

    /// Takes in a row.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn push(&mut self, row: R) -> Result<()> {
        if self.fresh.len() == self.fresh.capacity() {
            self.grow()?;
        }
        self.fresh.push(row);
        Ok(())
    }

    /// Makes room for fresh rows.
    #[cold]
    fn grow(&mut self) -> Result<()> {
        if self.fresh.len() < self.chunk {
            let more = (self.chunk - self.fresh.len()).min(self.fresh.len().max(1 << 12));
            self.fresh.reserve_exact(more);
            return Ok(());
        }
        self.settle();
        if self.held > self.most {
            self.spill()?;
        }
        Ok(())
    }

    /// Makes a sorted run of the fresh rows.
    fn settle(&mut self) {
        compact(&mut self.fresh);
        if !self.fresh.is_empty() {
            // As long as its rows need, while the chunk's memory is filled again.
            self.runs.push(Run::new(self.fresh.as_slice().into()));
            self.held += self.fresh.len();
        }
        self.fresh.clear();
        // Many runs cost more to bring together than few.
        if self.held < self.most / 2 && self.runs.len() >= 64 {
            let runs = std::mem::take(&mut self.runs);
            let mut rows = Vec::with_capacity(self.held);
            runs.into_iter().for_each(|run| rows.extend_from_slice(&run.rows));
            compact(&mut rows);
            rows.shrink_to_fit();
            self.held = rows.len();
            self.runs = vec![Run::new(rows)];
        }
    }

    /// Writes the runs in memory to the temporary file as one.
    fn spill(&mut self) -> Result<()> {
        let cannot = |error| {
            Error::file(&self.folder, "cannot write a temporary file into this folder", error)
                .advice("free some space, name another folder with --temp, or allow more with --memory")
        };
        if self.spilled.is_none() {
            let file = tempfile::tempfile_in(&self.folder).map_err(cannot)?;
            self.spilled = Some(Spilled { file: Mutex::new(file), runs: Vec::new(), rows: 0 });
        }
        let Some(spilled) = &mut self.spilled else { return Ok(()) };
        let runs = std::mem::take(&mut self.runs);
        self.held = 0;
        spilled.add(&runs).map_err(cannot)
    }

    /// No more rows come.
    pub fn finish(mut self) -> Pile<R> {
        compact(&mut self.fresh);
        if !self.fresh.is_empty() {
            self.fresh.shrink_to_fit();
            self.runs.push(Run::new(std::mem::take(&mut self.fresh)));
        }
        Pile { runs: self.runs, spilled: self.spilled, folder: self.folder }
    }
}

impl Spilled {
    /// Adds runs, made into one.
    fn add<R: Sortable>(&mut self, runs: &[Run<R>]) -> io::Result<()> {
        let Ok(file) = self.file.get_mut() else { return Err(io::ErrorKind::Other.into()) };
        file.seek(SeekFrom::End(0))?;
        let mut starts = Vec::with_capacity(RANGES + 1);
        let mut rows = Vec::new();
        let mut bytes = Vec::new();
        for range in 0..RANGES {
            starts.push(self.rows);
            rows.clear();
            runs.iter().for_each(|run| rows.extend_from_slice(run.part(range, range + 1)));
            gather(&mut rows);
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

    /// Rows that lie in some ranges.
    fn count(&self, from: usize, to: usize) -> u64 {
        let at = |run: &[u64], range: usize| run.get(range).copied().unwrap_or(0);
        self.runs.iter().map(|run| at(run, to) - at(run, from)).sum()
    }

    /// Appends the rows of some ranges.
    fn read<R: Sortable>(&self, from: usize, to: usize, rows: &mut Vec<R>) -> io::Result<()> {
        let Ok(mut file) = self.file.lock() else { return Err(io::ErrorKind::Other.into()) };
        for run in &self.runs {
            let (Some(&start), Some(&end)) = (run.get(from), run.get(to)) else { continue };
            let before = rows.len();
            rows.resize(before + (end - start) as usize, R::zeroed());
            file.seek(SeekFrom::Start(start * size_of::<R>() as u64))?;
            file.read_exact(bytemuck::cast_slice_mut(rows.get_mut(before..).unwrap_or_default()))?;
        }
        Ok(())
    }
}

/// Sorts what consists of sorted runs, and adds up.
fn gather<R: Sortable>(rows: &mut Vec<R>) {
    // The stable sort finds the runs and merges them.
    rows.sort_by(R::order);
    rows.dedup_by(|next, kept| kept.absorb(next));
}

/// The sorted rows of one thread, which gets no more.
#[derive(Debug)]
pub struct Pile<R> {
    runs: Vec<Run<R>>,
    spilled: Option<Spilled>,
    folder: PathBuf,
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
        let held = |pile: &Pile<R>| pile.runs.iter().map(|run| run.rows.len() as u64).sum::<u64>();
        self.spilled() + self.piles.iter().map(held).sum::<u64>()
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
        // The stable sort needs half as much again, and what is made of the rows of a range is there besides them.
        let most = (memory / threads / (size_of::<R>() * 2 + MADE_LEN)).max(1) as u64;
        let ranges = self.ranges(most, threads);
        for round in ranges.chunks(threads) {
            interrupt::check()?;
            let made = std::thread::scope(|scope| {
                let work = |&(from, to): &(usize, usize)| {
                    let make = &make;
                    scope.spawn(move || Ok(make(&self.rows(from, to)?)))
                };
                let running: Vec<_> = round.iter().map(work).collect();
                let join = |thread: std::thread::ScopedJoinHandle<'_, Result<T>>| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                };
                running.into_iter().map(join).collect::<Result<Vec<T>>>()
            })?;
            made.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
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
            let held = pile.runs.iter().map(|run| run.part(range, range + 1).len() as u64).sum::<u64>();
            held + pile.spilled.as_ref().map_or(0, |spilled| spilled.count(range, range + 1))
        };
        self.piles.iter().map(of).sum()
    }

    /// The rows of some ranges, sorted and added up.
    fn rows(&self, from: usize, to: usize) -> Result<Vec<R>> {
        let mut rows = Vec::new();
        for pile in &self.piles {
            pile.runs.iter().for_each(|run| rows.extend_from_slice(run.part(from, to)));
            if let Some(spilled) = &pile.spilled {
                spilled.read(from, to, &mut rows).map_err(|error| {
                    Error::file(&pile.folder, "cannot read a temporary file in this folder", error)
                })?;
            }
        }
        gather(&mut rows);
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::{Count, CountRow, Outcome, Row};
    use super::*;
    use crate::book::polyglot::layout::RawMove;
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
            drawn in prop::collection::vec((0..200_u64, 0..3_u16, 0..2_u8, 1..9_u64), 0..3000),
            threads in 1..4_usize,
            memory in prop::sample::select(vec![1 << 10, 1 << 13, 1 << 24]),
        ) {
            let mut model = BTreeMap::new();
            let mut counts = Vec::new();
            for (key, mv, won, games) in drawn {
                // Keys all over the key space.
                let key = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let outcome = if won == 0 { Outcome::Loss } else { Outcome::Win };
                counts.push(Count { key, mv: RawMove(mv), outcome, games });
                *model.entry((key, mv, outcome)).or_insert(0) += games;
            }
            let model: Vec<_> = model.into_iter()
                .map(|((key, mv, outcome), games)| Count { key, mv: RawMove(mv), outcome, games }).collect();
            let folder = tempfile::tempdir().unwrap();
            let (out, spilled) = sorted(&counts, threads, memory, folder.path());
            prop_assert_eq!(&out, &model);
            prop_assert!(spilled > 0 || memory > 1 << 10 || model.len() < 300);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let missing = Path::new("no such folder");
        let mut sorter = Sorter::new(1 << 10, missing);
        let row = |key: u64| {
            CountRow::new(Count { key: key << 50, mv: RawMove(1), outcome: Outcome::Win, games: 1 })
        };
        let error = (0..10_000).find_map(|key| sorter.push(row(key)).err()).unwrap();
        assert!(error.to_string().contains("--temp"), "{error}");
    }
}
