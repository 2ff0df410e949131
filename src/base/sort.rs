//! Sorts more records than memory holds: sorted runs go to temporary files, and are merged when they are read back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{Error, Result};
use super::{file, folder};

/// Bytes of a record that decide most comparisons without reading the record itself.
const PREFIX: usize = 16;

/// Bytes in memory for each record, besides the record.
const PLACE_LEN: usize = size_of::<(u128, u32, u32)>();

/// Bytes that are gathered before they are written to, or read from, a temporary file: at most and at least.
const BUFFER_LEN: usize = 1 << 17;
const LEAST_BUFFER: usize = 1 << 12;

/// Runs of one file. When there are this many, they are merged into one run of the next file, so each record is written
/// about as often as the logarithm of their number to this base.
const MOST_RUNS: usize = 64;

/// Bytes of a record's length in a file.
const LENGTH_LEN: usize = 4;

/// Sorts records by their bytes.
///
/// ```
/// use tabiya::base::sort::Sorter;
/// let mut sorter = Sorter::new(".", 1 << 20);
/// for record in [&b"b"[..], b"a", b"ab"] {
///     sorter.push(record)?;
/// }
/// let mut sorted = sorter.finish()?;
/// assert_eq!(sorted.next()?, Some(&b"a"[..]));
/// assert_eq!(sorted.next()?, Some(&b"ab"[..]));
/// # Ok::<_, tabiya::base::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Sorter {
    folder: PathBuf,
    memory: usize,
    bytes: Vec<u8>,
    /// The start of each record as a number, its offset and its length.
    places: Vec<(u128, u32, u32)>,
    /// Fresh runs, runs of runs, and so on.
    levels: Vec<Level>,
}

/// Sorted runs in a temporary file, one after the other.
#[derive(Debug, Default)]
struct Level {
    file: Option<File>,
    /// Where each run ends, and the next begins.
    ends: Vec<u64>,
}

impl Sorter {
    /// Keeps about `memory` bytes in memory, no more than 4 GB, and puts the rest into temporary files in a folder.
    pub fn new(folder: impl AsRef<Path>, memory: usize) -> Self {
        Self {
            folder: folder::here(folder.as_ref()).to_owned(),
            memory: memory.min(u32::MAX as usize),
            bytes: Vec::new(),
            places: Vec::new(),
            levels: Vec::new(),
        }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// When a temporary file cannot be written.
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        let held = self.bytes.len() + self.places.len() * PLACE_LEN;
        if held + record.len() + PLACE_LEN > self.memory && !self.places.is_empty() {
            self.spill().map_err(|error| self.error(error))?;
        }
        let mut start = [0; PREFIX];
        start.iter_mut().zip(record).for_each(|(place, byte)| *place = *byte);
        self.places.push((u128::from_be_bytes(start), self.bytes.len() as u32, record.len() as u32));
        self.bytes.extend(record);
        Ok(())
    }

    /// The records in their order. Where some are in files already, the rest goes there too: memory then holds only a
    /// buffer for each run.
    ///
    /// # Errors
    /// When a temporary file cannot be written or read.
    pub fn finish(mut self) -> Result<Sorted> {
        if self.levels.is_empty() {
            self.sort();
            return Ok(Sorted { at: 0, runs: Runs::default(), rest: self });
        }
        let spilled = self.spill();
        (self.bytes, self.places) = Default::default();
        let levels = std::mem::take(&mut self.levels);
        let runs = spilled.and_then(|()| Runs::new(levels, self.memory));
        Ok(Sorted { at: 0, runs: runs.map_err(|error| self.error(error))?, rest: self })
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| record(bytes, a).cmp(record(bytes, b))));
    }

    /// Writes what is in memory as a run, and merges runs where they are many.
    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let (places, bytes) = (&self.places, &self.bytes);
        add_run(&mut self.levels, 0, &self.folder, |out| {
            places.iter().try_for_each(|place| write(record(bytes, place), out))
        })?;
        self.places.clear();
        self.bytes.clear();
        for number in 0.. {
            let full = self.levels.get_mut(number).filter(|level| level.ends.len() >= MOST_RUNS);
            let Some(full) = full.map(std::mem::take) else { break };
            // Buffers take the place of the records.
            (self.places, self.bytes) = Default::default();
            let mut runs = Runs::new(vec![full], self.memory)?;
            add_run(&mut self.levels, number + 1, &self.folder, |out| {
                while let Some(record) = runs.next()? {
                    write(record, out)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn error(&self, error: io::Error) -> Error {
        Error::temporary(&self.folder, error)
    }
}

/// Appends a run to the file of the level of this number, which is added where the one before it is the last.
fn add_run(
    levels: &mut Vec<Level>,
    number: usize,
    folder: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    if levels.len() <= number {
        levels.push(Level::default());
    }
    let Some(Level { file, ends }) = levels.get_mut(number) else { return Ok(()) };
    let file = match file {
        Some(file) => file,
        none => none.insert(tempfile::tempfile_in(folder)?),
    };
    let mut out = BufWriter::with_capacity(BUFFER_LEN, &*file);
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    ends.push(file.seek(SeekFrom::End(0))?);
    Ok(())
}

fn record<'a>(bytes: &'a [u8], &(_, at, len): &(u128, u32, u32)) -> &'a [u8] {
    let at = at as usize;
    bytes.get(at..at + len as usize).unwrap_or_default()
}

fn write(record: &[u8], out: &mut impl Write) -> io::Result<()> {
    out.write_all(&(record.len() as u32).to_le_bytes())?;
    out.write_all(record)
}

/// Runs in files, read as one.
#[derive(Debug, Default)]
struct Runs {
    runs: Vec<Run>,
    /// The next record of each run.
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    /// The record that was returned last, and its run.
    present: Vec<u8>,
    from: Option<usize>,
}

/// A run that is being read.
#[derive(Debug)]
struct Run {
    file: Arc<File>,
    /// The part that is not read yet.
    at: u64,
    end: u64,
    /// What was read, and how much of it was returned.
    buffer: Vec<u8>,
    given: usize,
}

impl Runs {
    /// Half of the memory holds the buffers.
    fn new(levels: Vec<Level>, memory: usize) -> io::Result<Self> {
        let count: usize = levels.iter().map(|level| level.ends.len()).sum();
        let buffer = (memory / 2 / count.max(1)).clamp(LEAST_BUFFER, BUFFER_LEN);
        let mut merged = Self::default();
        for Level { file, ends } in levels {
            let Some(file) = file.map(Arc::new) else { continue };
            let starts = std::iter::once(0).chain(ends.iter().copied());
            merged.runs.extend(starts.zip(&ends).map(|(at, &end)| {
                let buffer = Vec::with_capacity(buffer);
                Run { file: Arc::clone(&file), at, end, buffer, given: 0 }
            }));
        }
        for number in 0..merged.runs.len() {
            merged.fetch(number)?;
        }
        Ok(merged)
    }

    /// Adds the next record of a run to the heap, reusing the memory of the record that was returned last.
    fn fetch(&mut self, number: usize) -> io::Result<()> {
        let Some(run) = self.runs.get_mut(number) else { return Ok(()) };
        let Some(length) = run.take(LENGTH_LEN)?.first_chunk() else { return Ok(()) };
        let length = u32::from_le_bytes(*length) as usize;
        let mut record = std::mem::take(&mut self.present);
        record.clear();
        record.extend_from_slice(run.take(length)?);
        self.heap.push(Reverse((record, number)));
        Ok(())
    }

    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        if let Some(number) = self.from.take() {
            self.fetch(number)?;
        }
        let Some(Reverse((record, number))) = self.heap.pop() else { return Ok(None) };
        (self.present, self.from) = (record, Some(number));
        Ok(Some(&self.present))
    }
}

impl Run {
    /// The next bytes; empty at the end.
    fn take(&mut self, len: usize) -> io::Result<&[u8]> {
        if self.buffer.len() - self.given < len {
            self.buffer.drain(..self.given);
            self.given = 0;
            let held = self.buffer.len();
            let room = self.buffer.capacity().max(len) - held;
            let more = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(room);
            self.buffer.resize(held + more, 0);
            file::read_exact_at(&self.file, self.at, self.buffer.get_mut(held..).unwrap_or_default())?;
            self.at += more as u64;
        }
        let from = self.given;
        self.given = (from + len).min(self.buffer.len());
        Ok(self.buffer.get(from..self.given).unwrap_or_default())
    }
}

/// Records in the order of their bytes.
#[derive(Debug)]
pub struct Sorted {
    rest: Sorter,
    /// How many of the records in memory were returned.
    at: usize,
    runs: Runs,
}

impl Sorted {
    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        if !self.runs.runs.is_empty() {
            return self.runs.next().map_err(|error| self.rest.error(error));
        }
        let held = self.rest.places.get(self.at).map(|place| record(&self.rest.bytes, place));
        self.at += usize::from(held.is_some());
        Ok(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_come_in_order_whatever_memory_holds(
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
            // Temporary files are removed, or never had a name.
            drop(sorted);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn the_number_of_levels_grows_with_the_logarithm_of_the_number_of_records() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = 1_u64;
        // Memory for 32 records: 2 runs, 64 times 64 runs, and more.
        for (records, most) in [(60, 1), (32 * 65, 2), (32 * 64 * 65, 3)] {
            let mut sorter = Sorter::new(folder.path(), 32 * (PLACE_LEN + 8));
            for _ in 0..records {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                sorter.push(&state.to_be_bytes()).unwrap();
                assert!(sorter.places.len() <= 32 && sorter.levels.len() <= most);
                assert!(sorter.levels.iter().all(|level| level.ends.len() < MOST_RUNS));
            }
            let mut sorted = sorter.finish().unwrap();
            // Memory holds only buffers.
            let buffers: usize = sorted.runs.runs.iter().map(|run| run.buffer.capacity()).sum();
            assert!(buffers <= sorted.runs.runs.len() * LEAST_BUFFER && sorted.rest.bytes.capacity() == 0);
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
    fn a_folder_that_cannot_be_written_is_named() {
        let mut sorter = Sorter::new("no such folder", 0);
        sorter.push(b"a").unwrap();
        let error = sorter.push(b"b").unwrap_err().to_string();
        assert!(error.starts_with("no such folder: cannot write or read a temporary file"), "{error}");
    }
}
