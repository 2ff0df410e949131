//! Sorting more records than memory holds: sorted pieces go to temporary files, and are read back as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::{Error, Result};

/// Bytes of a record that decide most comparisons without a look at the record itself.
const PREFIX: usize = 16;

/// Bytes of the place of a record in memory, beside the record.
const PLACE_LEN: usize = size_of::<(u128, u32, u32)>();

/// Bytes that are gathered before they are written to, or read from, a temporary file.
const BUFFER_LEN: usize = 1 << 17;

/// Records on their way into order: that of their bytes.
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
    runs: Vec<File>,
}

impl Sorter {
    /// Keeps about so many bytes in memory, no more than 4 GB, and puts the rest into temporary files in a folder.
    pub fn new(folder: impl AsRef<Path>, memory: usize) -> Self {
        let folder = folder.as_ref();
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let memory = memory.min(u32::MAX as usize);
        Self { folder: folder.to_owned(), memory, bytes: Vec::new(), places: Vec::new(), runs: Vec::new() }
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

    /// The records in their order.
    ///
    /// # Errors
    /// When a temporary file cannot be written or read.
    pub fn finish(mut self) -> Result<Sorted> {
        self.sort();
        let mut runs = Vec::with_capacity(self.runs.len());
        let mut heap = BinaryHeap::new();
        for (number, mut file) in std::mem::take(&mut self.runs).into_iter().enumerate() {
            file.seek(SeekFrom::Start(0)).map_err(|error| self.error(error))?;
            let mut run = BufReader::with_capacity(BUFFER_LEN, file);
            if let Some(record) = read(&mut run, Vec::new()).map_err(|error| self.error(error))? {
                heap.push(Reverse((record, number)));
            }
            runs.push(run);
        }
        Ok(Sorted { at: 0, heap, runs, present: Vec::new(), from: None, rest: self })
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places
            .sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| record(bytes, a).cmp(record(bytes, b))));
    }

    fn spill(&mut self) -> Result<()> {
        self.sort();
        let run = tempfile::tempfile_in(&self.folder).and_then(|file| {
            let mut out = BufWriter::with_capacity(BUFFER_LEN, file);
            for place in &self.places {
                out.write_all(&place.2.to_le_bytes())?;
                out.write_all(record(&self.bytes, place))?;
            }
            out.into_inner().map_err(io::IntoInnerError::into_error)
        });
        let run = run.map_err(|error| self.error(error))?;
        self.runs.push(run);
        self.places.clear();
        self.bytes.clear();
        Ok(())
    }

    fn error(&self, error: io::Error) -> Error {
        Error::file(&self.folder, "cannot write a temporary file into this folder", error)
            .advice("make room on the disk, or name a folder that can be written to")
    }
}

fn record<'a>(bytes: &'a [u8], &(_, at, len): &(u128, u32, u32)) -> &'a [u8] {
    let at = at as usize;
    bytes.get(at..at + len as usize).unwrap_or_default()
}

fn read(run: &mut BufReader<File>, mut record: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let mut len = [0; 4];
    match run.read_exact(&mut len) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    record.resize(u32::from_le_bytes(len) as usize, 0);
    run.read_exact(&mut record)?;
    Ok(Some(record))
}

/// Records in the order of their bytes.
#[derive(Debug)]
pub struct Sorted {
    rest: Sorter,
    /// How many of the records in memory were given.
    at: usize,
    runs: Vec<BufReader<File>>,
    /// The next record of each run.
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    /// The record that was given last, and its run.
    present: Vec<u8>,
    from: Option<usize>,
}

impl Sorted {
    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        if let Some(number) = self.from.take()
            && let Some(run) = self.runs.get_mut(number)
        {
            let next =
                read(run, std::mem::take(&mut self.present)).map_err(|error| self.rest.error(error))?;
            self.heap.extend(next.map(|record| Reverse((record, number))));
        }
        let held = self.rest.places.get(self.at).map(|place| record(&self.rest.bytes, place));
        let from_run = match (held, self.heap.peek()) {
            (Some(held), Some(Reverse((first, _)))) => &**first < held,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if from_run {
            let Some(Reverse((record, number))) = self.heap.pop() else { return Ok(None) };
            (self.present, self.from) = (record, Some(number));
            return Ok(Some(&self.present));
        }
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
            // Temporary files are gone, or never had a name.
            drop(sorted);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let mut sorter = Sorter::new("no such folder", 0);
        sorter.push(b"a").unwrap();
        let error = sorter.push(b"b").unwrap_err().to_string();
        assert!(error.starts_with("no such folder: cannot write a temporary file"), "{error}");
    }
}
