//! The bytes of a file, read piece by piece at any place: the memory needed does not grow with the file.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::{Error, ErrorKind, Result};
use super::file;

/// Files that are kept open at the same time: systems allow a process as few as 256. The others are opened again when they
/// are read.
const MAX_OPEN: usize = 64;

/// The files that are open, the one that was read last at the end.
static OPEN: Mutex<VecDeque<(u64, Arc<File>)>> = Mutex::new(VecDeque::new());

/// The number of the next file.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Bytes to read pieces of: a file, or bytes in memory. Several threads may read at the same time.
#[derive(Debug)]
pub struct Blob {
    path: PathBuf,
    source: BlobSource,
    len: u64,
}

#[derive(Debug)]
enum BlobSource {
    File(Reopened),
    Owned(Vec<u8>),
    Pieces(Box<dyn Pieces>),
}

/// Bytes that are made where they are read, such as a file in an archive.
pub trait Pieces: fmt::Debug + Send + Sync {
    /// Reads the bytes from `at` on into `out`: as many as it has room for, fewer only at the end.
    ///
    /// # Errors
    /// When they cannot be made.
    fn read(&self, at: u64, out: &mut [u8]) -> Result<usize>;
}

/// A file that is closed while too many others are read.
#[derive(Debug)]
struct Reopened {
    number: u64,
    identity: Identity,
}

/// What distinguishes a file from another one of its name.
type Identity = (u64, u64, Option<std::time::SystemTime>);

fn identity(metadata: &Metadata) -> Identity {
    #[cfg(unix)]
    let (device, number) = {
        use std::os::unix::fs::MetadataExt;
        (metadata.dev(), metadata.ino())
    };
    #[cfg(not(unix))]
    let (device, number) = (0, metadata.len());
    (device, number, metadata.modified().ok())
}

impl Reopened {
    fn new(file: File, metadata: &Metadata) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        keep(number, Arc::new(file));
        Self { number, identity: identity(metadata) }
    }

    /// The open file.
    ///
    /// # Errors
    /// When it has to be opened again and that fails, or another file has its name.
    fn file(&self, path: &Path) -> Result<Arc<File>> {
        let open = {
            let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
            let place = open.iter().rposition(|(number, _)| *number == self.number);
            place.and_then(|place| open.remove(place))
        };
        let file = match open {
            Some((_, file)) => file,
            None => {
                let (file, metadata) = file::open(path)?;
                if identity(&metadata) != self.identity {
                    let what = "another program has changed the file while it was read";
                    return Err(Error::new(ErrorKind::File, what)
                        .at_path(path)
                        .advice("run the command again"));
                }
                Arc::new(file)
            }
        };
        keep(self.number, Arc::clone(&file));
        Ok(file)
    }
}

impl Drop for Reopened {
    fn drop(&mut self) {
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).retain(|(number, _)| *number != self.number);
    }
}

/// Keeps a file open that is read now, and closes the one that was not read for the longest time.
fn keep(number: u64, file: Arc<File>) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.push_back((number, file));
    if open.len() > MAX_OPEN {
        open.pop_front();
    }
}

impl Blob {
    /// Opens a regular file.
    ///
    /// # Errors
    /// When the path is not a regular file (a folder, a pipe, a device), or cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (file, metadata) = file::open(path)?;
        let source = BlobSource::File(Reopened::new(file, &metadata));
        Ok(Self { path: path.to_owned(), len: metadata.len(), source })
    }

    /// Bytes at hand; `path` is only their name.
    pub fn new(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), len: bytes.len() as u64, source: BlobSource::Owned(bytes) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that are made where they are read, `len` in all; `path` is only their name.
    pub fn from_pieces(path: impl Into<PathBuf>, len: u64, pieces: Box<dyn Pieces>) -> Self {
        Self { path: path.into(), len, source: BlobSource::Pieces(pieces) }
    }

    /// The bytes, where they are in memory.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.source {
            BlobSource::File(_) | BlobSource::Pieces(_) => None,
            BlobSource::Owned(bytes) => Some(bytes),
        }
    }

    /// How many bytes it had when it was opened.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks whether it is empty")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reads the bytes from `at` on into `out`: as many as it has room for, fewer only at the end.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, at: u64, out: &mut [u8]) -> Result<usize> {
        let room = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX).min(out.len());
        let Some(out) = out.get_mut(..room) else { return Ok(0) };
        match &self.source {
            BlobSource::Owned(bytes) => {
                let from = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                out.iter_mut().zip(from).for_each(|(out, from)| *out = *from);
                Ok(room)
            }
            BlobSource::Pieces(pieces) => pieces.read(at, out),
            BlobSource::File(file) => file::read_at(&*file.file(&self.path)?, at, out)
                .map_err(|error| Error::file(&self.path, "cannot read the file", error).at_offset(at)),
        }
    }
}

/// The least that is read at once.
const MIN: usize = 1 << 12;

/// The most that is read ahead.
const MAX: usize = 1 << 18;

/// A piece of a file that moves along with its reader: reading forward is quick, and jumping is possible.
#[derive(Debug, Default)]
pub struct Window {
    bytes: Vec<u8>,
    /// Where in the file `bytes` begin.
    start: u64,
    /// How much the next piece holds.
    ahead: usize,
}

impl Window {
    /// The `len` bytes from `at` on, or those of them that the file has.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn get(&mut self, blob: &Blob, at: u64, len: u64) -> Result<&[u8]> {
        let len = usize::try_from(len.min(blob.len().saturating_sub(at))).unwrap_or_default();
        let end = self.start + self.bytes.len() as u64;
        if at < self.start || at + len as u64 > end {
            let near = (self.start..end + MAX as u64).contains(&at);
            self.ahead = if near { (self.ahead * 2).clamp(MIN, MAX) } else { MIN };
            let room = usize::try_from(blob.len().saturating_sub(at)).unwrap_or(usize::MAX);
            self.bytes.resize(room.min(self.ahead.max(len)), 0);
            self.start = at;
            let read = blob.read(at, &mut self.bytes);
            self.bytes.truncate(read.as_ref().copied().unwrap_or_default());
            read?;
        }
        let from = usize::try_from(at - self.start).unwrap_or(usize::MAX);
        let bytes = self.bytes.get(from..).unwrap_or_default();
        Ok(bytes.get(..len).unwrap_or(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    #[test]
    fn a_file_is_read_at_any_place_and_not_past_its_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"0123456789").unwrap();
        let blob = Blob::open(file.path()).unwrap();
        let mut out = [0; 4];
        assert_eq!(blob.read(3, &mut out).unwrap(), 4);
        assert_eq!(&out, b"3456");
        assert_eq!(blob.read(8, &mut out).unwrap(), 2);
        assert_eq!(blob.read(u64::MAX, &mut out).unwrap(), 0);
    }

    #[test]
    fn a_file_that_was_truncated_meanwhile_is_read_to_its_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"0123456789").unwrap();
        let blob = Blob::open(file.path()).unwrap();
        file.as_file().set_len(5).unwrap();
        assert_eq!(Window::default().get(&blob, 3, 4).unwrap(), b"34");
    }

    #[test]
    fn more_files_than_are_kept_open_are_read_and_a_file_that_was_replaced_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |number: usize| folder.path().join(number.to_string());
        let blobs: Vec<_> = (0..MAX_OPEN * 3)
            .map(|number| {
                fs::write(path(number), number.to_string()).unwrap();
                Blob::open(path(number)).unwrap()
            })
            .collect();
        let mut out = [0; 4];
        for (number, blob) in blobs.iter().enumerate().chain(blobs.iter().enumerate()) {
            let len = blob.read(0, &mut out).unwrap();
            assert_eq!(&out[..len], number.to_string().as_bytes());
        }
        assert!(OPEN.lock().unwrap().len() <= MAX_OPEN);
        let other = folder.path().join("other");
        fs::write(&other, "0").unwrap();
        fs::rename(&other, path(0)).unwrap();
        let error = blobs[0].read(0, &mut out).unwrap_err().to_string();
        assert!(error.contains("another program has changed the file"), "{error}");
    }

    #[test]
    fn a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Blob::open(folder.path()).unwrap_err().to_string().contains("this is a folder"));
    }

    proptest! {
        #[test]
        fn a_window_shows_what_the_file_holds(
            len in 0..20_000_usize,
            looks in prop::collection::vec((0..25_000_u64, 0..9000_u64), 0..30),
        ) {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            let blob = Blob::new("made", bytes.clone());
            let mut window = Window::default();
            for (at, len) in looks {
                let from = (at as usize).min(bytes.len());
                let to = ((at + len) as usize).min(bytes.len());
                prop_assert_eq!(window.get(&blob, at, len).unwrap(), &bytes[from..to]);
            }
        }
    }
}
