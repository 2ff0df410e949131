//! The bytes of a count file, read here and there.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::base::bytes;
use crate::base::error::{Error, ErrorKind, Result};

/// The bytes of a count file. They are not mapped: such files are larger than memory, and are read once.
#[derive(Clone, Debug)]
pub struct Input {
    from: From,
    len: u64,
}

#[derive(Clone, Debug)]
enum From {
    File(Arc<Mutex<File>>),
    Memory(Arc<[u8]>),
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be opened, or is no regular file.
    pub fn open(path: &Path) -> Result<Self> {
        let cannot = |error| Error::file(path, "cannot open the file", error);
        let file = File::open(path).map_err(cannot)?;
        let metadata = file.metadata().map_err(cannot)?;
        if !metadata.is_file() {
            return Err(Error::new(ErrorKind::File, "this is a folder, a pipe or a device").at_path(path));
        }
        Ok(Self { from: From::File(Arc::new(Mutex::new(file))), len: metadata.len() })
    }

    /// Bytes in memory.
    pub fn memory(bytes: Vec<u8>) -> Self {
        Self { len: bytes.len() as u64, from: From::Memory(bytes.into()) }
    }

    /// How many bytes there were when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The bytes from `at` on.
    ///
    /// # Errors
    /// When they lie outside of the file, or it cannot be read.
    pub fn read(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let end = io::ErrorKind::UnexpectedEof;
        if at.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(end.into());
        }
        match &self.from {
            From::Memory(data) => Ok(bytes::slice(data, at, len).ok_or(end)?.to_vec()),
            From::File(file) => {
                let mut into = vec![0; usize::try_from(len).map_err(|_| end)?];
                let Ok(mut file) = file.lock() else { return Err(io::ErrorKind::Other.into()) };
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(&mut into)?;
                Ok(into)
            }
        }
    }
}
