//! Opens regular files, and reads and writes them at any offset.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

use super::bytes::Parts as _;
use super::error::{Error, ErrorKind, Result};

/// Opens a regular file for reading.
///
/// # Errors
/// When the path is not a regular file (a folder, a pipe, a device), or cannot be opened.
pub fn open(path: &Path) -> Result<(File, Metadata)> {
    let cannot = |error| Error::file(path, "cannot open the file", error);
    // Checked before opening too, because opening a pipe waits for its writer.
    regular(path, &fs::metadata(path).map_err(cannot)?)?;
    let file = File::open(path).map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
    regular(path, &metadata)?;
    Ok((file, metadata))
}

/// Refuses what is not a regular file.
fn regular(path: &Path, metadata: &Metadata) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let error = |what, advice| Err(Error::new(ErrorKind::File, what).at_path(path).advice(advice));
    if metadata.is_dir() {
        error("this is a folder", "name a file in it")
    } else {
        error("this is a pipe or a device, not a file", "save it to a file first")
    }
}

/// Reads the bytes from `at` on into `out`: as many as it has room for, fewer only at the end.
///
/// # Errors
/// When the file cannot be read.
pub fn read_at(file: &File, at: u64, out: &mut [u8]) -> io::Result<usize> {
    whole(out.len(), |done| {
        let (at, rest) = (at + done as u64, out.part_mut(done..));
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(file, rest, at);
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(file, rest, at);
        read
    })
}

/// Writes all bytes at this place, and extends the file if necessary. On Windows this moves the place where the file is read next.
///
/// # Errors
/// When the disk is full, or the file cannot be written.
pub fn write_all_at(file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    let done = whole(bytes.len(), |done| {
        let (at, rest) = (at + done as u64, bytes.part(done..));
        #[cfg(unix)]
        let written = std::os::unix::fs::FileExt::write_at(file, rest, at);
        #[cfg(windows)]
        let written = std::os::windows::fs::FileExt::seek_write(file, rest, at);
        written
    })?;
    if done < bytes.len() { Err(io::ErrorKind::WriteZero.into()) } else { Ok(()) }
}

/// Moves `len` bytes, as many as each `step` can after those that are done, until it can none; returns how many.
fn whole(len: usize, mut step: impl FnMut(usize) -> io::Result<usize>) -> io::Result<usize> {
    let mut done = 0;
    while done < len {
        match step(done) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Reads the bytes from `at` on, as many as `out` has room for.
///
/// # Errors
/// When there are fewer, or the file cannot be read.
pub fn read_exact_at(file: &File, at: u64, out: &mut [u8]) -> io::Result<()> {
    if read_at(file, at, out)? < out.len() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}
