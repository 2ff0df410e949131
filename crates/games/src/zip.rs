//! ZIP archives.

#[cfg_attr(not(feature = "archives"), path = "zip/without.rs")]
mod members;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub(crate) use members::members;

/// The first bytes of an archive: those of its first file, or of its end if it has no files.
const STARTS: [&[u8; 4]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Whether these are the first bytes of an archive.
pub(crate) fn is_start(start: &[u8]) -> bool {
    STARTS.iter().any(|sign| start.starts_with(*sign))
}

/// Whether a file can be read and is an archive.
pub fn is_zip(path: &Path) -> bool {
    let mut start = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && is_start(&start)
}

/// A PGN file in an archive.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "archives"), expect(dead_code, reason = "no archive is opened"))]
pub(crate) struct Member {
    /// The path of the archive and in it.
    pub name: PathBuf,
    /// Bytes that it takes in the archive.
    pub compressed: u64,
    archive: PathBuf,
    at: u64,
    len: u64,
    crc: u32,
    deflated: bool,
}

impl Member {
    pub fn archive(&self) -> &Path {
        &self.archive
    }

    /// What the archive says of the content: its place, its length and its checksum.
    pub fn content(&self) -> [u64; 3] {
        [self.at, self.len, self.crc.into()]
    }
}
