//! ZIP archives.

#[cfg_attr(not(feature = "archives"), path = "zip/without.rs")]
mod members;

use std::path::{Path, PathBuf};

use tabiya_base::file_kind::FileKind;

use super::decompress::kind_of;

pub(crate) use members::members;

/// Whether a file can be read and is an archive.
pub fn is_zip(path: &Path) -> bool {
    kind_of(path) == Some(FileKind::Zip)
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
