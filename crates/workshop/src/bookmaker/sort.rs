//! Sorting more rows than fit into memory, on all cores.
//!
//! Each thread fills a [`RadixSorter`]: rows go into bins by the first bits of their keys, a full bin is sorted and added
//! up into a run, and when the thread's share of memory is full, all its runs go to a temporary file as one; of many such runs
//! one longer run is made. Rows of count files come in order: those that do not fit fill blocks, a stretch of the keys at a
//! time. [`Sorted`] then divides the key space into pieces that fit into memory: what all runs have of a piece is sorted once
//! more, added up, and handed on. The result depends on the rows alone, not on their order, the threads or the memory.
//!
//! The writers of books sort with [`base::sort::Sorter`](tabiya_base::sort::Sorter) instead. Both exist because they
//! sort different things: that one takes records of any length, compares their bytes, and merges its runs with a heap on
//! one thread. Rows of a build have a fixed length and keys that are hashes, so that their bits sort them faster than
//! comparisons do, equal ones are added up before they take memory, and any range of keys can be merged apart from the
//! others. The two share their run files, which are [`Scratch`](tabiya_base::scratch::Scratch).
#![allow(
    clippy::indexing_slicing,
    reason = "bins and ranges are numbered by the bits of a key, and there is one for each value"
)]

mod bin;
mod blocks;
mod order;
mod spilled;

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use bin::{BIN_BITS, BIN_RANGES, Bin, RANGES, bin_of, gather, keys_of};
use blocks::Block;
use order::RadixBuffers;
use spilled::{SpilledRun, SpilledRuns};

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_base::parallel;
use tabiya_base::progress::Progress;

pub(crate) use blocks::{BlockFiller, FreeBlocks};

use super::Resources;

/// Bytes of a full bin: few enough to be sorted within a processor's caches.
const BIN_LEN: usize = 1 << 20;

/// Rows that wait for others which count the same thing: as many as a processor's second cache has room for.
const MAX_WAITING: usize = 1 << 13;

/// The most bytes that a row becomes: a position with one move.
const MADE_LEN: usize = 512;

/// Rows that are handed on at a time, however much memory there is: more would be allocated and freed by the system
/// again and again.
const MAX_ROWS: u64 = 1 << 14;

/// The part of a thread's rows that one bin may hold: keys that are not hashes may all belong to one, and to merge a bin
/// takes several times its memory.
const CROWD: usize = 8;

/// Rows that a bin may hold however little memory there is.
const FEW_ROWS: usize = 1 << 10;

/// A fixed number of bytes that can be sorted, and added up with others that count the same thing.
pub trait Sortable: bytemuck::Pod + Send + Sync {
    /// Whether rows mostly come in order: then another way of sorting is faster, but needs more memory.
    const PRESORTED: bool = false;

    /// The position's key: rows are handed on in the order of keys, and all rows of one key together.
    fn key(&self) -> u64;

    /// The order of rows, which begins with the key.
    fn order(&self, other: &Self) -> Ordering;

    /// Adds a row that counts the same thing; `false` if it counts something else. Only presorted rows are certain to
    /// come after this one.
    fn absorb(&mut self, other: &Self) -> bool;
}

/// Sorts the rows of one thread.
#[derive(Debug)]
pub(crate) struct RadixSorter<R> {
    bins: Vec<Bin<R>>,
    /// Rows of a full bin.
    room: usize,
    /// Rows in sorted runs.
    held: usize,
    /// As many of them may be held in memory.
    most: usize,
    spilled: SpilledRuns,
    buffers: RadixBuffers<R>,
    /// Rows that come often, by their numbers: those that equal them are added up at once.
    waiting: Vec<Option<R>>,
}

impl<R: Sortable> RadixSorter<R> {
    /// A sorter that holds about `memory` bytes, and writes the rest to `folder`.
    pub fn new(memory: usize, folder: &Path) -> Self {
        let rows = (memory / size_of::<R>()).max(64);
        let bins = 1 << BIN_BITS;
        // A third for fresh rows.
        let room = (rows / 3 / bins).clamp(1, BIN_LEN / size_of::<R>());
        Self {
            bins: empty_bins(),
            room,
            held: 0,
            most: rows - (room * bins).min(rows / 3),
            spilled: SpilledRuns::new(folder, memory),
            buffers: RadixBuffers::default(),
            waiting: Vec::new(),
        }
    }

    /// Takes in a row that is likely to come often. Rows that count the same thing have the same `number`; few others do.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn push_common(&mut self, row: R, number: u64) -> Result<()> {
        self.waiting.resize(MAX_WAITING, None);
        #[expect(clippy::cast_possible_truncation, reason = "the last bits of a number")]
        let waiting = &mut self.waiting[number as usize % MAX_WAITING];
        if waiting.as_mut().is_some_and(|before| before.absorb(&row)) {
            return Ok(());
        }
        waiting.replace(row).map_or(Ok(()), |before| self.push(before))
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
        let mut is_crowded = false;
        if bin.fresh.len() < self.room {
            let more = (self.room - bin.fresh.len()).min(bin.fresh.len().max(16));
            bin.fresh.reserve_exact(more);
        } else {
            self.held += bin.settle(&mut self.buffers);
            // Buffers that longer rows were sorted in take turns with it.
            bin.fresh.shrink_to(self.room);
            if self.held < self.most / 2 {
                self.held -= bin.merge(&mut self.buffers);
            }
            is_crowded = bin.held() > (self.most / CROWD).max(FEW_ROWS);
        }
        bin.fresh.push(row);
        if self.held > self.most || is_crowded {
            self.spilled.add(&self.bins, &mut self.buffers)?;
            self.bins.iter_mut().for_each(|bin| bin.runs = Vec::new());
            self.held = 0;
            self.spilled.merge::<R>()?;
        }
        Ok(())
    }

    /// All rows. If none was sorted yet, they are sorted together with those of the other threads.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn finish(mut self) -> Result<SortedRuns<R>> {
        for row in std::mem::take(&mut self.waiting) {
            row.map_or(Ok(()), |row| self.push(row))?;
        }
        let mut all = SortedRuns { bins: self.bins, spilled: self.spilled, blocks: Vec::new() };
        if all.has_runs() {
            all.settle(&mut self.buffers);
        }
        Ok(all)
    }
}

/// The sorted rows of one thread.
#[derive(Debug)]
pub struct SortedRuns<R> {
    bins: Vec<Bin<R>>,
    spilled: SpilledRuns,
    blocks: Vec<Block<R>>,
}

impl<R: Sortable> SortedRuns<R> {
    /// Whether some of the rows are sorted.
    fn has_runs(&self) -> bool {
        self.spilled.rows() > 0 || !self.blocks.is_empty() || self.bins.iter().any(|bin| !bin.runs.is_empty())
    }

    /// Sorts the rows of each bin.
    fn settle(&mut self, buffers: &mut RadixBuffers<R>) {
        for bin in &mut self.bins {
            bin.settle(buffers);
            bin.fresh = Vec::new();
        }
    }

    /// Those that are in files alone.
    fn of_spilled(spilled: SpilledRuns) -> Self {
        Self { bins: empty_bins(), spilled, blocks: Vec::new() }
    }
}

/// The rows of all threads.
#[derive(Debug)]
pub struct Sorted<R> {
    threads: Vec<SortedRuns<R>>,
}

impl<R: Sortable> Sorted<R> {
    /// Brings the threads' rows together.
    pub fn new(threads: Vec<SortedRuns<R>>) -> Self {
        Self { threads }
    }

    /// Rows that are in temporary files.
    pub(crate) fn spilled(&self) -> u64 {
        self.threads.iter().map(|runs| runs.spilled.rows()).sum()
    }

    /// Rows in memory and in files, before equal ones in different runs are added up.
    pub fn total(&self) -> u64 {
        let bins = self.threads.iter().flat_map(|runs| &runs.bins);
        let blocks = self.threads.iter().flat_map(|runs| &runs.blocks);
        let held = bins.map(|bin| bin.fresh.len() + bin.held()).chain(blocks.map(Block::rows));
        self.spilled() + held.map(|rows| rows as u64).sum::<u64>()
    }

    /// Leaves fresh rows as they are if none are sorted and those of each bin are no more than `most`, and else sorts them.
    fn settle(&mut self, most: u64) {
        let is_fresh = !self.threads.iter().any(SortedRuns::has_runs);
        if !is_fresh
            || (0..1 << BIN_BITS).any(|bin| self.fresh(bin).map(<[R]>::len).sum::<usize>() as u64 > most)
        {
            thread::scope(|scope| {
                for runs in &mut self.threads {
                    scope.spawn(interrupt::inherited(|| runs.settle(&mut RadixBuffers::default())));
                }
            });
        }
    }

    /// The fresh rows of a bin, of each thread.
    fn fresh(&self, bin: usize) -> impl Iterator<Item = &[R]> + Clone {
        self.threads.iter().map(move |runs| &*runs.bins[bin].fresh)
    }

    /// Calls `make` for each range of keys on all threads, with rows of about a quarter of the memory at a time, and
    /// passes the results to `take` in the order of keys. All rows of one key come in the same slice.
    ///
    /// # Errors
    /// When a temporary file cannot be read, when the work is interrupted, and what `take` returns.
    pub fn each<T: Send>(
        &mut self,
        resources: &Resources,
        progress: &Progress,
        make: impl Fn(&[R]) -> T + Sync,
        mut take: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        self.each_of(0..RANGES, resources, progress, make, &mut take)
    }

    /// As [`Sorted::each`], with the rows of some ranges.
    fn each_of<T: Send>(
        &mut self,
        ranges: Range<usize>,
        resources: &Resources,
        progress: &Progress,
        make: impl Fn(&[R]) -> T + Sync,
        take: &mut dyn FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let threads = resources.threads.max(1);
        // The result of a range takes memory besides its rows.
        let most = resources.memory / 4 / threads / (size_of::<R>() * 2 + MADE_LEN);
        // Fresh rows are handed on by bins, which may have other ranges too.
        self.settle(if ranges.len() == RANGES { most as u64 } else { 0 });
        let most = (most.max(1) as u64).min(MAX_ROWS);
        let this = &*self;
        let mut pieces = Pieces::new(this, ranges, most.min(this.total() / (threads as u64 * 16) + 1), most);
        let work = |(rows, buffers): &mut _, piece: SortPiece, made: &mut Option<Result<(u64, T)>>| {
            let read = this.rows(&piece, rows, buffers);
            *made = Some(read.map(|()| (rows.len() as u64, make(rows))));
        };
        let mut done = 0;
        let take = |_, made: &mut Option<Result<(u64, T)>>| {
            interrupt::check()?;
            let Some((rows, made)) = made.take().transpose()? else { return Ok(()) };
            done += rows;
            progress.at(done);
            take(made)
        };
        parallel::in_order(threads, 0, || pieces.next(), Default::default, work, take)
    }

    /// As [`Sorted::each`], with rows that are read when their turn comes: a stretch of the keys at a time, of as many as there
    /// are `stretches`, while those of the stretch before are handed on. `read` gets the keys, and whether it may return `None`:
    /// then they are divided, and it is asked again. Blocks of what was handed on become `free`.
    ///
    /// # Errors
    /// As [`Sorted::each`], and what `read` returns.
    pub(crate) fn each_stretch<T: Send>(
        &mut self,
        (stretches, free): (usize, &FreeBlocks<R>),
        mut read: impl FnMut(&RangeInclusive<u64>, bool) -> Result<Option<Vec<SortedRuns<R>>>> + Send,
        resources: &Resources,
        make: impl Fn(&[R]) -> T + Sync,
        mut take: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let stretches = stretches.clamp(1, RANGES);
        let even = |stretch| stretch * RANGES / stretches..(stretch + 1) * RANGES / stretches;
        let mut waiting: Vec<Range<usize>> = (0..stretches).rev().map(even).collect();
        let next = move || -> Option<Result<_>> {
            while let Some(ranges) = waiting.pop() {
                let keys = keys_of(ranges.start).0..=keys_of(ranges.end - 1).1;
                match read(&keys, ranges.len() > 1).transpose() {
                    Some(runs) => return Some(runs.map(|runs| (ranges, runs))),
                    None => {
                        let middle = ranges.start + ranges.len() / 2;
                        waiting.extend([middle..ranges.end, ranges.start..middle]);
                    }
                }
            }
            None
        };
        let held = self.threads.len();
        thread::scope(|scope| {
            let (send, read) = mpsc::sync_channel(0);
            // It ends when nobody takes what it has read.
            scope.spawn(interrupt::inherited(move || {
                std::iter::from_fn(next).try_for_each(|read| send.send(read))
            }));
            read.into_iter().try_for_each(|read| {
                let (ranges, runs) = read?;
                self.threads.extend(runs);
                let done = self.each_of(ranges, resources, &Progress::none(), &make, &mut take);
                self.threads.drain(held..).for_each(|runs| free.put(runs));
                done
            })
        })
    }

    /// The runs in files, of all threads.
    fn runs(&self) -> impl Iterator<Item = SpilledRun<'_>> {
        self.threads.iter().flat_map(|runs| runs.spilled.runs())
    }

    /// The sorted rows in memory of a range, by runs.
    fn held(&self, range: usize) -> impl Iterator<Item = &[R]> + Clone {
        self.threads.iter().flat_map(move |runs| {
            let blocks = runs.blocks.iter().flat_map(move |block| block.parts(range));
            runs.bins[range / BIN_RANGES].parts(range).chain(blocks)
        })
    }

    fn count(&self, range: usize) -> u64 {
        let held: usize = self.held(range).map(<[R]>::len).sum();
        let spilled = self.runs().map(|run| run.places(range, range + 1));
        held as u64 + spilled.map(|(first, end)| end - first).sum::<u64>()
    }

    /// The rows of a piece, sorted and added up.
    fn rows(&self, piece: &SortPiece, rows: &mut Vec<R>, buffers: &mut RadixBuffers<R>) -> Result<()> {
        rows.clear();
        for bin in piece.from.div_ceil(BIN_RANGES)..piece.to / BIN_RANGES {
            buffers.gather(self.fresh(bin), rows, BIN_BITS);
        }
        let places = |number, run: &SpilledRun<'_>| match &piece.part {
            None => Some(run.places(piece.from, piece.to)),
            Some(part) => part.places.get(number).copied(),
        };
        let read = self.runs().enumerate().filter_map(|(number, run)| Some((places(number, &run)?, run)));
        let files = read.map(|(places, run)| run.read(places)).collect::<Result<Vec<_>>>()?;
        for range in piece.from..piece.to {
            let held = self.held(range).map(|rows| piece.part.as_ref().map_or(rows, |part| part.cut(rows)));
            gather(held.chain(files.iter().map(|file| file.part(range))), rows, buffers);
        }
        Ok(())
    }
}

fn empty_bins<R>() -> Vec<Bin<R>> {
    (0..1 << BIN_BITS).map(|_| Bin { fresh: Vec::new(), runs: Vec::new() }).collect()
}

/// Some ranges, or a part of one.
#[derive(Debug)]
pub(crate) struct SortPiece {
    from: usize,
    /// The one after the last.
    to: usize,
    part: Option<RangePart>,
}

/// A part of a range.
#[derive(Debug)]
struct RangePart {
    /// The first and the last key.
    keys: (u64, u64),
    /// Of each run in files the number of the first row, and the number after the last.
    places: Vec<(u64, u64)>,
    /// Rows in memory and in files.
    rows: u64,
}

impl RangePart {
    /// Those of a range's sorted rows that belong to it.
    fn cut<'a, R: Sortable>(&self, rows: &'a [R]) -> &'a [R] {
        let (low, high) = self.keys;
        let from = rows.partition_point(|row| row.key() < low);
        let to = rows.partition_point(|row| row.key() <= high);
        rows.part(from..to)
    }
}

/// Neighbouring ranges put together up to a number of rows. A range with more rows than there may be is divided, down to a
/// single key.
struct Pieces<'a, R> {
    sorted: &'a Sorted<R>,
    wanted: u64,
    most: u64,
    /// The first range that is in no piece yet.
    next: usize,
    /// The range after the last.
    end: usize,
    /// The parts of the range before that.
    parts: VecDeque<RangePart>,
}

impl<'a, R: Sortable> Pieces<'a, R> {
    /// Pieces of these ranges, of about `wanted` rows, and of no more than `most`.
    fn new(sorted: &'a Sorted<R>, ranges: Range<usize>, wanted: u64, most: u64) -> Self {
        Self { sorted, wanted, most, next: ranges.start, end: ranges.end, parts: VecDeque::new() }
    }

    /// The next piece that has rows.
    ///
    /// # Errors
    /// When a temporary file cannot be read, or the work is interrupted.
    fn next(&mut self) -> Result<Option<SortPiece>> {
        let (from, mut rows) = (self.next, 0);
        while self.parts.is_empty() && self.next < self.end {
            let fresh: usize = self.sorted.fresh(self.next / BIN_RANGES).map(<[R]>::len).sum();
            if fresh > 0 {
                if rows > 0 && rows + fresh as u64 > self.wanted {
                    break;
                }
                (self.next, rows) = (self.next + BIN_RANGES, rows + fresh as u64);
                continue;
            }
            let here = self.sorted.count(self.next);
            if rows > 0 && rows + here > self.wanted {
                break;
            }
            self.next += 1;
            if here > self.most {
                self.divide(self.whole(self.next - 1, here))?;
            } else {
                rows += here;
            }
        }
        if let Some(part) = self.parts.pop_front() {
            return Ok(Some(SortPiece { from: self.next - 1, to: self.next, part: Some(part) }));
        }
        Ok((rows > 0).then_some(SortPiece { from, to: self.next, part: None }))
    }

    /// A range as a part of itself.
    fn whole(&self, range: usize, rows: u64) -> RangePart {
        let places = self.sorted.runs().map(|run| run.places(range, range + 1)).collect();
        RangePart { keys: keys_of(range), places, rows }
    }

    /// Divides a part of the range until none has too many rows.
    fn divide(&mut self, part: RangePart) -> Result<()> {
        interrupt::check()?;
        let RangePart { keys: (low, high), places, rows } = part;
        if rows <= self.most || low == high {
            if rows > 0 {
                self.parts.push_back(RangePart { keys: (low, high), places, rows });
            }
            return Ok(());
        }
        let middle = low + (high - low) / 2;
        // Each search is among the rows of this part alone.
        let mut halves =
            [(low, middle), (middle + 1, high)].map(|keys| RangePart { keys, places: Vec::new(), rows: 0 });
        let [below, above] = &mut halves;
        for (run, (first, end)) in self.sorted.runs().zip(places) {
            let at = run.place::<R>((first, end), middle + 1)?;
            below.places.push((first, at));
            above.places.push((at, end));
            below.rows += at - first;
        }
        let held = self.sorted.held(self.next - 1);
        below.rows += held.map(|rows| below.cut(rows).len() as u64).sum::<u64>();
        above.rows = rows - below.rows;
        halves.into_iter().try_for_each(|half| self.divide(half))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use tabiya_base::error::Remedy;
    use tabiya_book::Slice;
    use tabiya_chess::MoveCode;

    use super::super::row::{Count, CountRow, CountedRow, GameOutcome};
    use super::*;

    fn sorted(counts: &[Count], threads: usize, memory: usize, folder: &Path) -> (Vec<Count>, u64) {
        let mut sorters: Vec<_> = (0..threads).map(|_| RadixSorter::new(memory, folder)).collect();
        for (index, &count) in counts.iter().enumerate() {
            sorters[index % threads].push(CountRow::new(count)).unwrap();
        }
        let sorted = sorters.into_iter().map(RadixSorter::finish).collect::<Result<_>>();
        let mut sorted = Sorted::new(sorted.unwrap());
        let mut out = Vec::new();
        let make = |rows: &[CountRow]| rows.iter().map(CountedRow::count).collect::<Vec<_>>();
        let resources = Resources { threads, memory: memory * 4, temp: folder.to_owned() };
        sorted
            .each(&resources, &Progress::none(), make, |counts| {
                out.extend(counts);
                Ok(())
            })
            .unwrap();
        (out, sorted.spilled())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(12, 64)))]
        #[test]
        fn threads_memory_and_order_do_not_change_the_rows(
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
                let outcome = if won == 0 { GameOutcome::Loss } else { GameOutcome::Win };
                counts.push(Count { key, mv: MoveCode(mv), slice: Slice::default(), outcome, games });
                *model.entry((key, mv, outcome)).or_insert(0) += games;
            }
            let model: Vec<_> = model.into_iter()
                .map(|((key, mv, outcome), games)| Count { key, mv: MoveCode(mv), slice: Slice::default(), outcome, games })
                .collect();
            let folder = tempfile::tempdir().unwrap();
            let (out, spilled) = sorted(&counts, threads, memory, folder.path());
            prop_assert_eq!(&out, &model);
            // Each thread has room for a row in each bin.
            prop_assert!(spilled > 0 || memory > 1 << 10 || model.len() < 1000);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn fresh_rows_take_no_more_memory_however_many_come() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = RadixSorter::new(1 << 22, folder.path());
        for number in 0..1_000_000_u64 {
            // Every second is of a position that all games have, so that runs of its bin are merged.
            let key = number.wrapping_mul(number % 2).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (slice, mv) = (Slice::default(), MoveCode(1));
            let count = Count { key, mv, slice, outcome: GameOutcome::Win, games: 1 };
            sorter.push(CountRow::new(count)).unwrap();
        }
        let fullest = sorter.bins.iter().map(|bin| bin.fresh.capacity()).max();
        assert!(fullest <= Some(sorter.room), "{fullest:?} of {}", sorter.room);
    }

    #[test]
    fn keys_that_are_close_together_take_no_more_memory() {
        let folder = tempfile::tempdir().unwrap();
        let memory = 1 << 20;
        for distance in [1, 1 << 20, 1 << 50] {
            let mut sorter = RadixSorter::new(memory, folder.path());
            let held = |sorter: &RadixSorter<CountRow>| sorter.bins.iter().map(Bin::held).max().unwrap();
            let mut fullest = 0;
            for number in 0..50_000_u64 {
                let key = (number * 7919 % 10_000) * distance;
                let (slice, mv) = (Slice::default(), MoveCode((number / 10_000) as u16));
                sorter
                    .push(CountRow::new(Count { key, mv, slice, outcome: GameOutcome::Win, games: 1 }))
                    .unwrap();
                fullest = fullest.max(held(&sorter));
            }
            assert!(fullest <= memory / size_of::<CountRow>() / 4, "{distance}: {fullest}");
            let mut sorted = Sorted::new(vec![sorter.finish().unwrap()]);
            let resources = Resources { threads: 2, memory: 1 << 20, temp: folder.path().to_owned() };
            let (mut all, mut most) = (0, 0);
            sorted
                .each(
                    &resources,
                    &Progress::none(),
                    |rows: &[CountRow]| rows.len(),
                    |rows| {
                        (all, most) = (all + rows, most.max(rows));
                        Ok(())
                    },
                )
                .unwrap();
            let made = 2 * size_of::<CountRow>() + MADE_LEN;
            assert!(all == 50_000 && most * made <= resources.memory / 4 / 2, "{distance}: {most} of {all}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let missing = Path::new("no such folder");
        let mut sorter = RadixSorter::new(1 << 10, missing);
        let row = |key: u64| {
            let slice = Slice::default();
            CountRow::new(Count {
                key: key << 50,
                mv: MoveCode(1),
                slice,
                outcome: GameOutcome::Win,
                games: 1,
            })
        };
        let error = (0..10_000).find_map(|key| sorter.push(row(key)).err()).unwrap();
        assert_eq!(error.remedy(), Some(Remedy::TemporaryFiles), "{error}");
    }
}
