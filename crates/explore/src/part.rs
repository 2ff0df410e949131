//! A part of a file that a book or an index names.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Result, Seek as _, SeekFrom};
use std::path::Path;

/// The `len` bytes from `at` on, or those of them that the file has, of a regular file.
///
/// # Errors
/// When there is no such file, or it cannot be read.
pub(super) fn part_of(path: &Path, at: u64, len: u64) -> Result<Vec<u8>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(ErrorKind::NotFound.into());
    }
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}
