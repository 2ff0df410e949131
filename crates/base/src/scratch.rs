//! Bytes that are set aside while a file is written: in memory while they are few, then in a temporary file.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::{file, folder};

/// Bytes that are written at once when there is a temporary file.
const CHUNK: usize = 1 << 18;

/// Bytes that a [`Cursor`] reads at once by default.
const BLOCK: usize = 1 << 16;

/// Bytes that are only appended, and can be read at any place. The temporary file has no name, or is removed with the
/// process.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    memory: usize,
    file: Option<File>,
    /// Bytes in the file.
    spilled: u64,
    /// The bytes after those.
    held: Vec<u8>,
}

impl Scratch {
    /// No bytes yet: up to `memory` bytes are held in memory, and the rest goes to `folder`.
    pub fn new(folder: &Path, memory: usize) -> Self {
        Self { folder: folder::here(folder).to_owned(), memory, file: None, spilled: 0, held: Vec::new() }
    }

    /// An empty one for the sorted runs of a sorter that holds `memory` bytes itself: only a buffer stays in memory.
    pub fn for_runs(folder: &Path, memory: usize) -> Self {
        Self::new(folder, (memory / 8).min(CHUNK))
    }

    /// Its length in bytes.
    pub fn size(&self) -> u64 {
        self.spilled + self.held.len() as u64
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let most = if self.file.is_some() { self.memory.min(CHUNK) } else { self.memory };
        if self.held.len() + bytes.len() > most {
            self.spill().map_err(|error| Error::temporary(&self.folder, error))?;
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    /// The error of a file that another program has changed.
    pub(crate) fn damaged(&self) -> Error {
        Error::temporary(&self.folder, io::ErrorKind::UnexpectedEof.into())
    }

    /// Cuts the temporary file, as another program might.
    #[cfg(test)]
    pub(crate) fn cut(&self, len: u64) {
        self.file.as_ref().unwrap().set_len(len).unwrap();
    }

    fn spill(&mut self) -> io::Result<()> {
        let first = self.file.is_none();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder)?),
        };
        // Writing on where another program has cut the file would leave zeros in it.
        if file.metadata()?.len() != self.spilled {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.write_all(&self.held)?;
        self.spilled += self.held.len() as u64;
        self.held.clear();
        if first {
            self.held = Vec::new();
        }
        Ok(())
    }

    /// The `len` bytes from `at` on, if they are in memory.
    pub fn held(&self, at: u64, len: usize) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.spilled)?).ok()?;
        self.held.get(from..)?.get(..len)
    }

    /// Reads the bytes from `at` on; `out` must not reach past the end.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn read(&self, at: u64, out: &mut [u8]) -> Result<()> {
        let in_file = usize::try_from(self.spilled.saturating_sub(at)).unwrap_or(usize::MAX).min(out.len());
        let (from_file, rest) = out.split_at_mut(in_file);
        if let (Some(file), false) = (&self.file, from_file.is_empty()) {
            file::read_exact_at(file, at, from_file)
                .map_err(|error| Error::temporary(&self.folder, error))?;
        }
        let from = usize::try_from((at + in_file as u64).saturating_sub(self.spilled)).unwrap_or(usize::MAX);
        match self.held.get(from..).and_then(|held| held.get(..rest.len())) {
            Some(held) => rest.copy_from_slice(held),
            None if rest.is_empty() => {}
            None => return Err(self.damaged()),
        }
        Ok(())
    }
}

/// Reads a [`Scratch`] forwards or backwards, a block at a time.
#[derive(Debug)]
pub struct Cursor {
    block: usize,
    start: u64,
    bytes: Vec<u8>,
}

impl Default for Cursor {
    fn default() -> Self {
        Self::new(BLOCK)
    }
}

impl Cursor {
    /// A cursor that reads so many bytes at once.
    pub fn new(block: usize) -> Self {
        Self { block, start: 0, bytes: Vec::new() }
    }

    /// The `len` bytes from `at` on, which must not reach past the end.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn get(&mut self, scratch: &Scratch, at: u64, len: usize) -> Result<&[u8]> {
        let end = at + len as u64;
        if at < self.start || end > self.start + self.bytes.len() as u64 {
            // Forwards a block begins with these bytes, backwards it ends with them.
            self.start = if at < self.start { at.min(end.saturating_sub(self.block as u64)) } else { at };
            let room = usize::try_from(scratch.size().saturating_sub(self.start)).unwrap_or(usize::MAX);
            self.bytes.resize(room.min(self.block.max(len)), 0);
            if let Err(error) = scratch.read(self.start, &mut self.bytes) {
                self.bytes.clear();
                return Err(error);
            }
        }
        let from = usize::try_from(at - self.start).unwrap_or(usize::MAX);
        let found = self.bytes.get(from..).and_then(|bytes| bytes.get(..len));
        found.ok_or_else(|| scratch.damaged())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(64, 256)))]

        #[test]
        fn bytes_are_read_back_whatever_memory_holds(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5000), 0..60),
            memory in prop::sample::select(vec![0, 1, 3000, 1 << 16, 1 << 20]),
            looks in prop::collection::vec((any::<prop::sample::Index>(), 0..70_000_usize), 1..20),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut scratch = Scratch::new(folder.path(), memory);
            let mut all: Vec<u8> = Vec::new();
            for piece in &pieces {
                scratch.push(piece).unwrap();
                all.extend(piece);
                prop_assert!(scratch.held.len() <= memory.max(5000));
            }
            prop_assert_eq!(scratch.size(), all.len() as u64);
            if cfg!(unix) {
                prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
            }
            let mut cursor = Cursor::default();
            for (at, len) in looks {
                let at = at.index(all.len() + 1);
                let len = len.min(all.len() - at);
                let mut out = vec![0; len];
                scratch.read(at as u64, &mut out).unwrap();
                prop_assert_eq!(&out, &all[at..at + len]);
                let held = (at as u64 >= scratch.spilled).then_some(&all[at..at + len]);
                prop_assert_eq!(scratch.held(at as u64, len), held);
                prop_assert_eq!(cursor.get(&scratch, at as u64, len).unwrap(), &all[at..at + len]);
            }
            prop_assert!(scratch.read(all.len() as u64, &mut [0]).is_err());
            prop_assert!(cursor.get(&scratch, all.len() as u64, 1).is_err());
        }
    }

    #[test]
    fn a_cursor_has_no_bytes_that_could_not_be_read() {
        let mut scratch = Scratch::new(Path::new("."), 0);
        scratch.push(&[1; 1000]).unwrap();
        scratch.push(&[2; 1000]).unwrap();
        scratch.cut(500);
        let mut cursor = Cursor::default();
        for _ in 0..2 {
            assert!(cursor.get(&scratch, 0, 4).is_err());
            assert!(cursor.get(&scratch, 600, 4).is_err());
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let mut scratch = Scratch::new(Path::new("no such folder"), 0);
        scratch.push(b"").unwrap();
        let error = scratch.push(b"b").unwrap_err().to_string();
        assert!(error.starts_with("no such folder: cannot write or read a temporary file"), "{error}");
    }
}
