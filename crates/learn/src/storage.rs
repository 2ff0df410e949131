//! Where a book and its journal are stored: a trait, so that tests can replace the disk by one that loses power.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::lock::{Locked, Successor, lock_named};
use tabiya_base::replace::Replacement;
use tabiya_base::{file, folder};

/// What is added to a book's name for its journal's.
pub(crate) const JOURNAL_SUFFIX: &str = ".learn";

pub trait StoredBytes: Send {
    /// Its length in bytes.
    ///
    /// # Errors
    /// When the system does not report it.
    fn size(&mut self) -> io::Result<u64>;

    /// Fills `into` from this place on; fewer bytes only where the file ends. Returns how many.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize>;

    /// The bytes from this place on, `len` of them; fewer only where the file ends.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn bytes_at(&mut self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        let read = self.read_at(at, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Writes all bytes at this place, and extends the file if necessary.
    ///
    /// # Errors
    /// When the disk is full, or the file cannot be written.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file to this length.
    ///
    /// # Errors
    /// When the file cannot be written.
    fn set_len(&mut self, len: u64) -> io::Result<()>;

    /// Waits until all that was written is on the disk.
    ///
    /// # Errors
    /// When the disk does not accept it.
    fn sync(&mut self) -> io::Result<()>;

    /// Which file this is and when it was last written; nothing where that is not known.
    ///
    /// # Errors
    /// When the system fails.
    fn stamp(&mut self) -> io::Result<Option<Stamp>> {
        Ok(None)
    }
}

/// Bytes that are gathered before they are written.
const BUFFER_LEN: usize = 1 << 18;

/// A place in a file from which on it is written.
pub(super) struct AtOffset<'a> {
    file: &'a mut dyn StoredBytes,
    at: u64,
}

impl Write for AtOffset<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_at(self.at, bytes)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a file from this place on, in large blocks.
pub(super) fn written_from(file: &mut dyn StoredBytes, at: u64) -> BufWriter<AtOffset<'_>> {
    BufWriter::with_capacity(BUFFER_LEN, AtOffset { file, at })
}

/// Which file was opened, and when it was last written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The numbers of its device and of the file on it; on Windows its creation time.
    pub file: (u64, u64),
    /// When it was last written.
    pub modified: SystemTime,
}

/// A new file beside the journal, ours alone.
pub trait NewJournal {
    fn bytes(&mut self) -> &mut dyn StoredBytes;

    /// Waits until all that was written is on the disk, then renames it over the journal, in one step. Returns the new
    /// journal, which is locked.
    ///
    /// # Errors
    /// When it cannot be synced or renamed: the journal is unchanged then.
    fn replace(self: Box<Self>) -> io::Result<Box<dyn StoredBytes>>;
}

/// What an attempt to lock the journal gives.
pub enum Claim {
    /// The journal, locked until this is dropped.
    Ours(Box<dyn StoredBytes>),
    /// Another process kept it locked for as long as we were willing to wait.
    Busy,
    /// There is no journal, and none was to be created.
    Missing,
}

/// A book and its journal.
pub trait Storage: Send {
    /// Locks the journal for this process alone, waiting for others until it has been locked and unchanged for as long as
    /// `patience`; with `create` a missing one is created, empty.
    ///
    /// # Errors
    /// When it cannot be opened, created or locked.
    fn claim(&mut self, patience: Duration, create: bool) -> io::Result<Claim>;

    /// Opens the book for reading and writing.
    ///
    /// # Errors
    /// When it cannot be.
    fn book(&mut self) -> io::Result<Box<dyn StoredBytes>>;

    /// Lets `write` write a new book, and replaces the old one by it in one step, on the disk. If `write` fails, the old one
    /// stays.
    ///
    /// # Errors
    /// Those of `write`, or when the file cannot be written or put in its place.
    fn replace_book(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()>;

    /// Begins a file that is to replace the journal, which must be locked. Dropped before that, it leaves nothing.
    ///
    /// # Errors
    /// When it cannot be created.
    fn new_journal(&mut self) -> io::Result<Box<dyn NewJournal>>;

    /// Waits until the journal's name is on the disk.
    ///
    /// # Errors
    /// When the disk does not accept it.
    fn sync_folder(&mut self) -> io::Result<()>;
}

/// A book and its journal in the file system.
#[derive(Clone, Debug)]
pub struct Disk {
    /// The book, links followed.
    pub book: PathBuf,
    /// The journal, which need not exist.
    pub journal: PathBuf,
    /// The name by which the book was asked for, where another name of the file has the journal.
    other_name: Option<PathBuf>,
}

impl Disk {
    /// The book of this path, links in it followed, and the journal beside it: one book has one journal, whatever
    /// names in its folder lead to it.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn new(book: &Path) -> io::Result<Self> {
        let book = dunce::canonicalize(book)?;
        let journal = folder::with_suffix(&book, JOURNAL_SUFFIX);
        if !journal.is_file()
            && let Some(known) = name_with_journal(&book)
        {
            let journal = folder::with_suffix(&known, JOURNAL_SUFFIX);
            return Ok(Self { journal, book: known, other_name: Some(book) });
        }
        Ok(Self { journal, book, other_name: None })
    }
}

/// Another name of a file, in its folder, beside which there is a journal: a hard link.
fn name_with_journal(book: &Path) -> Option<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if fs::metadata(book).ok()?.nlink() < 2 {
            return None;
        }
    }
    let files = fs::read_dir(folder::parent_of(book)).ok()?.flatten().map(|entry| entry.path());
    let suffix = Some(OsStr::new(JOURNAL_SUFFIX.trim_start_matches('.')));
    let mut books = files.filter(|path| path.extension() == suffix).map(|path| path.with_extension(""));
    books.find(|other| other != book && is_same_file(other, book))
}

/// Whether there is a journal beside a book.
pub fn has_journal(book: &Path) -> bool {
    Disk::new(book).is_ok_and(|disk| disk.journal.is_file())
}

impl Storage for Disk {
    fn claim(&mut self, patience: Duration, create: bool) -> io::Result<Claim> {
        Ok(match lock_named(&self.journal, patience, create)? {
            Locked::Ours(file) => Claim::Ours(Box::new(file)),
            Locked::Busy => Claim::Busy,
            Locked::Missing => Claim::Missing,
        })
    }

    fn book(&mut self) -> io::Result<Box<dyn StoredBytes>> {
        Ok(Box::new(File::options().read(true).write(true).open(&self.book)?))
    }

    fn replace_book(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
        if let Some(other_name) = &self.other_name {
            let what = "the file has another name, which would keep the old book";
            let advice = format!("name the book by {}, which has its journal", self.book.display());
            return Err(Error::new(ErrorKind::Usage, what).at_path(other_name).advice(advice));
        }
        let mut file = Replacement::new(&self.book, true)?;
        write(&mut file)?;
        file.commit()
    }

    fn new_journal(&mut self) -> io::Result<Box<dyn NewJournal>> {
        Ok(Box::new(Successor::new(&self.journal)?))
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        folder::sync(folder::parent_of(&self.journal))
    }
}

impl NewJournal for Successor {
    fn bytes(&mut self) -> &mut dyn StoredBytes {
        &mut self.file
    }

    fn replace(self: Box<Self>) -> io::Result<Box<dyn StoredBytes>> {
        Ok(Box::new(Successor::replace(*self)?))
    }
}

/// Whether two paths lead to one file, by links of whatever kind.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b || same_file::is_same_file(a, b).unwrap_or(false)
}

impl StoredBytes for File {
    fn size(&mut self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        file::read_at(self, at, into)
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        file::write_all_at(self, at, bytes)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }

    fn stamp(&mut self) -> io::Result<Option<Stamp>> {
        let metadata = self.metadata()?;
        #[cfg(unix)]
        let file = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(windows)]
        let file = (0, std::os::windows::fs::MetadataExt::creation_time(&metadata));
        Ok(Some(Stamp { file, modified: metadata.modified()? }))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn one_book_has_one_journal_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("a.bin");
        fs::write(&book, b"x").unwrap();
        let disk = Disk::new(&book).unwrap();
        assert_eq!(disk.journal.file_name().unwrap(), "a.bin.learn");
        #[cfg(unix)]
        {
            let link = folder.path().join("b.bin");
            std::os::unix::fs::symlink(&book, &link).unwrap();
            assert_eq!(Disk::new(&link).unwrap().journal, disk.journal);
        }
        assert!(Disk::new(&folder.path().join("none.bin")).is_err());
        // A hard link has the journal of the other name, if there is one.
        let hard = folder.path().join("hard.bin");
        fs::hard_link(&book, &hard).unwrap();
        assert_eq!(Disk::new(&hard).unwrap().journal.file_name().unwrap(), "hard.bin.learn");
        fs::write(&disk.journal, b"").unwrap();
        fs::write(folder.path().join("other.bin"), b"x").unwrap();
        fs::write(folder.path().join("other.bin.learn"), b"").unwrap();
        let mut linked = Disk::new(&hard).unwrap();
        assert_eq!((&linked.journal, &linked.book), (&disk.journal, &disk.book));
        let replaced = linked.replace_book(&mut |_| panic!("this would separate the names"));
        assert!(replaced.unwrap_err().to_string().contains("a.bin, which has its journal"));
    }

    /// Waits until this process has the file open twice. Only Linux can tell: elsewhere this returns at once.
    fn wait_until_open_twice(path: &Path) {
        let is_open_twice = || {
            let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
            open.filter(|file| fs::read_link(file.path()).is_ok_and(|name| name == path)).count() == 2
        };
        while cfg!(target_os = "linux") && !is_open_twice() {
            thread::yield_now();
        }
    }

    #[test]
    fn a_locked_journal_keeps_others_out_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("a.bin");
        fs::write(&book, b"x").unwrap();
        let mut disk = Disk::new(&book).unwrap();
        assert!(matches!(disk.claim(Duration::ZERO, false).unwrap(), Claim::Missing));
        let Claim::Ours(first) = disk.claim(Duration::ZERO, true).unwrap() else { panic!("it is free") };
        assert!(matches!(disk.claim(Duration::ZERO, true).unwrap(), Claim::Busy));
        assert!(matches!(disk.claim(Duration::from_millis(20), true).unwrap(), Claim::Busy));
        let mut other = disk.clone();
        let waits =
            thread::spawn(move || matches!(other.claim(Duration::from_secs(60), true), Ok(Claim::Ours(_))));
        wait_until_open_twice(&disk.journal);
        drop(first);
        assert!(waits.join().unwrap());
        assert!(matches!(disk.claim(Duration::from_secs(60), true).unwrap(), Claim::Ours(_)));
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_that_was_moved_away_is_not_locked() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("a.bin");
        fs::write(&book, b"x").unwrap();
        let mut disk = Disk::new(&book).unwrap();
        let Claim::Ours(first) = disk.claim(Duration::ZERO, true).unwrap() else { panic!("it is free") };
        let mut other = disk.clone();
        let waits = thread::spawn(move || match other.claim(Duration::from_secs(60), true) {
            Ok(Claim::Ours(mut journal)) => journal.write_at(0, b"new").is_ok(),
            _ => false,
        });
        wait_until_open_twice(&disk.journal);
        fs::remove_file(&disk.journal).unwrap();
        drop(first);
        assert!(waits.join().unwrap());
        assert_eq!(fs::read(&disk.journal).unwrap(), b"new");
    }

    #[test]
    fn a_file_is_read_and_written_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, b"0123456789").unwrap();
        let mut file = File::options().read(true).write(true).open(&path).unwrap();
        file.write_at(3, b"abc").unwrap();
        let mut read = [0; 8];
        assert_eq!(StoredBytes::read_at(&mut file, 2, &mut read).unwrap(), 8);
        assert_eq!(&read, b"2abc6789");
        assert_eq!(StoredBytes::read_at(&mut file, 8, &mut read).unwrap(), 2);
        assert_eq!(StoredBytes::read_at(&mut file, 100, &mut read).unwrap(), 0);
        StoredBytes::set_len(&mut file, 4).unwrap();
        file.sync().unwrap();
        assert_eq!((file.size().unwrap(), fs::read(&path).unwrap()), (4, b"012a".to_vec()));
    }
}
