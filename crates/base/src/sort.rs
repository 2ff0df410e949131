//! Sorting more records than fit into memory: sorted runs go to temporary files, and are merged while they are read.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a buffer holds no more than 4 GB, and a record is a small part of it"
)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use super::bytes;
use super::error::Result;
use super::scratch::{Cursor, Scratch};

/// Bytes of a record that decide most comparisons without a look at the record itself.
const PREFIX: usize = 16;

/// Bytes that [`RecordPlace`] takes besides the record.
const PLACE_LEN: usize = size_of::<RecordPlace>();

/// Bytes of a run that are read at once: at most and at least.
const MAX_BUFFER: usize = 1 << 17;
const MIN_BUFFER: usize = 1 << 12;

/// Runs of one level. So many are merged into one run of the next level: each record is written about as often as the
/// logarithm of their number to this base.
const MAX_RUNS: usize = 64;

/// Bytes of a record's length in a run.
const LENGTH_LEN: usize = 4;

/// Sorts records by their bytes.
///
/// ```
/// use tabiya_base::sort::Sorter;
/// let mut sorter = Sorter::new(".", 1 << 20);
/// for record in [&b"b"[..], b"a", b"ab"] {
///     sorter.push(record)?;
/// }
/// let mut sorted = sorter.finish()?;
/// assert_eq!(sorted.next()?, Some(&b"a"[..]));
/// assert_eq!(sorted.next()?, Some(&b"ab"[..]));
/// # Ok::<_, tabiya_base::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Sorter {
    folder: PathBuf,
    memory: usize,
    bytes: Vec<u8>,
    places: Vec<RecordPlace>,
    /// Fresh runs, runs merged from those, and so on.
    levels: Vec<Runs>,
}

/// The first bytes of a record in memory as a number, its offset and its length.
type RecordPlace = (u128, u32, u32);

/// Sorted runs, one after the other.
#[derive(Debug)]
struct Runs {
    bytes: Scratch,
    /// Where each run ends, and the next begins.
    ends: Vec<u64>,
}

impl Runs {
    fn new(folder: &Path, memory: usize) -> Self {
        Self { bytes: Scratch::for_runs(folder, memory), ends: Vec::new() }
    }

    fn push(&mut self, record: &[u8]) -> Result<()> {
        self.bytes.push(&(record.len() as u32).to_le_bytes())?;
        self.bytes.push(record)
    }

    fn end_run(&mut self) {
        self.ends.push(self.bytes.size());
    }
}

impl Sorter {
    /// Keeps about this many bytes in memory, no more than 4 GB, and puts the rest into temporary files in a folder.
    pub fn new(folder: impl AsRef<Path>, memory: usize) -> Self {
        Self {
            folder: folder.as_ref().to_owned(),
            memory: memory.min(u32::MAX as usize),
            bytes: Vec::new(),
            places: Vec::new(),
            levels: Vec::new(),
        }
    }

    /// Takes in a record.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        let held = self.bytes.len() + self.places.len() * PLACE_LEN;
        if held + record.len() + PLACE_LEN > self.memory && !self.places.is_empty() {
            self.spill()?;
        }
        let mut start = [0; PREFIX];
        start.iter_mut().zip(record).for_each(|(place, byte)| *place = *byte);
        self.places.push((u128::from_be_bytes(start), self.bytes.len() as u32, record.len() as u32));
        self.bytes.extend(record);
        Ok(())
    }

    /// The records in their order. If some are in files already, the rest follows them: memory then holds only a buffer
    /// for each run.
    ///
    /// # Errors
    /// When a temporary file cannot be written or read.
    pub fn finish(mut self) -> Result<Sorted> {
        if self.levels.is_empty() {
            self.sort();
            return Ok(Sorted { bytes: self.bytes, places: self.places, given: 0, merge: None });
        }
        self.spill()?;
        let merge = Some(Merge::new(self.levels, self.memory)?);
        Ok(Sorted { bytes: Vec::new(), places: Vec::new(), given: 0, merge })
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| record(bytes, a).cmp(record(bytes, b))));
    }

    /// Writes the records in memory as a run, and merges the runs of full levels.
    fn spill(&mut self) -> Result<()> {
        self.sort();
        if self.levels.is_empty() {
            self.levels.push(Runs::new(&self.folder, self.memory));
        }
        let Some(fresh) = self.levels.first_mut() else { return Ok(()) };
        self.places.iter().try_for_each(|place| fresh.push(record(&self.bytes, place)))?;
        fresh.end_run();
        self.places.clear();
        self.bytes.clear();
        let mut level = 0;
        while let Some(full) = self.levels.get_mut(level).filter(|level| level.ends.len() >= MAX_RUNS) {
            // Buffers take the place of the records.
            (self.places, self.bytes) = (Vec::new(), Vec::new());
            let full = std::mem::replace(full, Runs::new(&self.folder, self.memory));
            let mut merge = Merge::new(vec![full], self.memory)?;
            level += 1;
            if level == self.levels.len() {
                self.levels.push(Runs::new(&self.folder, self.memory));
            }
            let Some(next) = self.levels.get_mut(level) else { break };
            while let Some(record) = merge.next()? {
                next.push(record)?;
            }
            next.end_run();
        }
        Ok(())
    }
}

#[expect(clippy::expect_used, reason = "an empty record instead would be one that nobody pushed")]
fn record<'a>(bytes: &'a [u8], &(_, at, len): &RecordPlace) -> &'a [u8] {
    let at = at as usize;
    bytes.get(at..at + len as usize).expect("a place is that of a record that was pushed")
}

/// Runs that are read as one.
#[derive(Debug)]
struct Merge {
    levels: Vec<Runs>,
    runs: Vec<Run>,
    /// The next record of each run.
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    /// The record that was returned last, and its run.
    last: Vec<u8>,
    from: Option<usize>,
}

/// What is left of a run.
#[derive(Debug)]
struct Run {
    level: usize,
    at: u64,
    end: u64,
    cursor: Cursor,
}

impl Merge {
    /// Half of the memory holds the buffers.
    fn new(levels: Vec<Runs>, memory: usize) -> Result<Self> {
        let count: usize = levels.iter().map(|level| level.ends.len()).sum();
        let buffer = (memory / 2 / count.max(1)).clamp(MIN_BUFFER, MAX_BUFFER);
        let mut runs = Vec::with_capacity(count);
        for (level, Runs { ends, .. }) in levels.iter().enumerate() {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let run = |(at, &end)| Run { level, at, end, cursor: Cursor::new(buffer) };
            runs.extend(starts.zip(ends).map(run));
        }
        let mut merge = Self { levels, runs, heap: BinaryHeap::new(), last: Vec::new(), from: None };
        (0..count).try_for_each(|number| merge.fetch(number))?;
        Ok(merge)
    }

    /// Puts the next record of a run on the heap, in the bytes of the one that was returned last.
    fn fetch(&mut self, number: usize) -> Result<()> {
        let Some(run) = self.runs.get_mut(number).filter(|run| run.at < run.end) else { return Ok(()) };
        let Some(Runs { bytes: file, .. }) = self.levels.get(run.level) else { return Ok(()) };
        let at = run.at + LENGTH_LEN as u64;
        let length = bytes::u32_le(run.cursor.get(file, run.at, LENGTH_LEN)?, 0);
        let inside = length.filter(|&length| at + u64::from(length) <= run.end);
        let length = inside.ok_or_else(|| file.damaged())?;
        let bytes = run.cursor.get(file, at, length as usize)?;
        let mut record = std::mem::take(&mut self.last);
        record.clear();
        record.extend_from_slice(bytes);
        run.at = at + u64::from(length);
        self.heap.push(Reverse((record, number)));
        Ok(())
    }

    fn next(&mut self) -> Result<Option<&[u8]>> {
        // After an error the same run is asked again: without it, the rest would look like all records.
        if let Some(number) = self.from {
            self.fetch(number)?;
            self.from = None;
        }
        let Some(Reverse((record, number))) = self.heap.pop() else { return Ok(None) };
        (self.last, self.from) = (record, Some(number));
        Ok(Some(&self.last))
    }
}

/// Records in the order of their bytes.
#[derive(Debug)]
pub struct Sorted {
    bytes: Vec<u8>,
    places: Vec<RecordPlace>,
    /// How many of the records in memory were returned.
    given: usize,
    merge: Option<Merge>,
}

impl Sorted {
    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        if let Some(merge) = &mut self.merge {
            return merge.next();
        }
        let held = self.places.get(self.given).map(|place| record(&self.bytes, place));
        self.given += usize::from(held.is_some());
        Ok(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_are_sorted_whatever_the_memory(
            records in prop::collection::vec(prop::collection::vec(0..4_u8, 0..40), 0..300),
            memory in 0..20_000_usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::new(folder.path(), memory);
            for record in &records {
                sorter.push(record).unwrap();
            }
            let mut sorted = sorter.finish().unwrap();
            let mut given = Vec::new();
            while let Some(record) = sorted.next().unwrap() {
                given.push(record.to_vec());
            }
            let mut expected = records;
            expected.sort();
            prop_assert_eq!(given, expected);
            // Temporary files are gone, or never had a name.
            drop(sorted);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn there_are_as_many_levels_as_the_logarithm_of_the_number_of_records() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = 1_u64;
        // Memory for 32 records: 2 runs, 64 times 64 runs, and more.
        for (records, most) in [(60, 1), (32 * 65, 2), (32 * 64 * 65, 3)] {
            let mut sorter = Sorter::new(folder.path(), 32 * (PLACE_LEN + 8));
            for _ in 0..records {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                sorter.push(&state.to_be_bytes()).unwrap();
                assert!(sorter.places.len() <= 32 && sorter.levels.len() <= most);
                assert!(sorter.levels.iter().all(|level| level.ends.len() < MAX_RUNS));
            }
            let mut sorted = sorter.finish().unwrap();
            // Only the buffers of runs are in memory, and there is one file for each level.
            assert_eq!((sorted.bytes.capacity(), sorted.places.capacity()), (0, 0));
            assert!(sorted.merge.as_ref().is_some_and(|merge| merge.levels.len() <= most));
            let (mut last, mut count) = (Vec::new(), 0);
            while let Some(record) = sorted.next().unwrap() {
                assert!(&*last <= record);
                last = record.to_vec();
                count += 1;
            }
            assert_eq!(count, records);
        }
    }

    #[test]
    fn a_cut_temporary_file_is_an_error_and_no_records() {
        // With `grows` the file is written on after the cut, so that a hole of zeros is left in it.
        for (grows, cut) in [(false, 0), (false, 3000), (true, 0), (true, 3000), (true, 3007)] {
            let mut sorter = Sorter::new(".", 4000);
            for number in 0..500_u64 {
                sorter.push(&number.to_be_bytes()).unwrap();
            }
            sorter.levels[0].bytes.cut(cut);
            let more = 500..if grows { 5000_u64 } else { 500 };
            let pushed = more.map(|number| sorter.push(&number.to_be_bytes())).collect::<Result<Vec<_>>>();
            assert_eq!(pushed.is_err(), grows);
            if grows {
                continue;
            }
            let Ok(mut sorted) = sorter.finish() else { continue };
            let failed = loop {
                match sorted.next() {
                    Ok(Some(record)) => assert_eq!(record.len(), 8, "{grows} {cut}"),
                    Ok(None) => break false,
                    Err(_) => break true,
                }
            };
            // The records of the other runs are not all that there are.
            assert!(failed && sorted.next().is_err(), "{grows} {cut}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let mut sorter = Sorter::new("no such folder", 0);
        sorter.push(b"a").unwrap();
        let error = sorter.push(b"b").unwrap_err().to_string();
        assert!(error.starts_with("no such folder: cannot write or read a temporary file"), "{error}");
    }
}
