//! Finished games, kept until their books have learned them.
//!
//! A game is written here first, and is marked as done when its book has it: whatever happens in between, it is not lost.
//!
//! The spool is a text file with a line for each game and book (docs/formats/learn.md, Spool).
//!
//! A process that reads or changes the spool locks it, but not while learning or syncing, so no process waits long for
//! another. A game that was learned but not marked as done does no harm: the book's journal knows its identity, which is
//! kept here.

mod drain;
mod line;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::fingerprint::Fingerprint;
use tabiya_base::error::{Error, Result};
use tabiya_base::folder;
use tabiya_base::lock::{Locked, Successor, lock_named};

use self::line::{TEXT, is_waiting};
use super::finished::IdentifiedGame;
use super::storage::StoredBytes;

pub use self::drain::{Drain, Drained, Learners, PlayedBook};

/// The most bytes of a spool: 1 GiB, some two million games. More games are refused, and reported.
const MAX_SPOOL: u64 = 1 << 30;

/// The longest line: 16 MiB, a game of two million moves.
const MAX_LINE: u64 = 16 << 20;

const BATCH_GAMES: usize = 64;

/// Bytes that one batch reads: 16 MiB, so the lock is not kept for long.
const BATCH_BYTES: u64 = 16 << 20;

/// A spool of at most this many bytes is searched for waiting games whenever one is marked as done: 256 KiB.
const SMALL: u64 = 256 << 10;

/// Bytes that are read and copied at once: 256 KiB.
const BLOCK: usize = 256 << 10;

/// Where a game's line is, and its state and check, by which it is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolPlace {
    at: u64,
    head: [u8; TEXT],
}

/// A game that waits for its book.
#[derive(Clone, Debug)]
pub struct Spooled {
    /// The book that it is to be learned into.
    pub book: PlayedBook,
    pub finished: IdentifiedGame,
    pub place: SpoolPlace,
}

/// Some of the games that wait.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The games, in the order of the file.
    pub games: Vec<Spooled>,
    /// Where the next batch begins; `None` at the end of the file.
    pub next: Option<u64>,
}

/// A file of games that wait.
#[derive(Clone, Debug)]
pub struct Spool {
    path: PathBuf,
}

impl Spool {
    /// The spool of this path; the file is created when games are put in it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts games in, each with the book that is to learn it and that book's fingerprint: when this returns, the disk
    /// has all of them.
    ///
    /// # Errors
    /// When the file cannot be created, locked within `patience`, or written, or is full. Some of the games may be in
    /// it nevertheless.
    pub fn put(
        &self,
        games: &[(&Path, Option<Fingerprint>, &IdentifiedGame)],
        patience: Duration,
    ) -> Result<Vec<SpoolPlace>> {
        let mut lines = Vec::new();
        let mut places = Vec::new();
        let cannot = "cannot keep the game in this file";
        let prepared = games.iter().try_for_each(|(book, fingerprint, game)| {
            let at = lines.len();
            let head = line::put(&mut lines, book, *fingerprint, game)?;
            places.push(SpoolPlace { at: at as u64, head });
            if (lines.len() - at) as u64 > MAX_LINE { Err(full("the game is too long")) } else { Ok(()) }
        });
        let folder = folder::parent_of(&self.path);
        let created = prepared.and_then(|()| fs::create_dir_all(folder));
        created.map_err(|error| Error::file(&self.path, cannot, error))?;
        self.locked(true, patience, cannot, |file| {
            let len = file.size()?;
            if len + lines.len() as u64 >= MAX_SPOOL {
                return Err(full("too many games are waiting in it already"));
            }
            let last = file.bytes_at(len.saturating_sub(1), 1)?;
            // The line of another game may have been cut off.
            let cut = last.first().is_some_and(|last| *last != b'\n');
            if cut {
                lines.insert(0, b'\n');
            }
            if let Err(error) = file.write_at(len, &lines) {
                // The disk is full: the part of the lines that was written is of no use.
                let _ = StoredBytes::set_len(file, len);
                return Err(error);
            }
            // Unlocked first, so that no other process waits for the disk; where that fails, as it does under Wine, closing
            // the file unlocks it.
            let _ = file.unlock();
            file.sync()?;
            if len == 0 {
                folder::sync(folder)?;
            }
            places.iter_mut().for_each(|place| place.at += len + u64::from(cut));
            Ok(())
        })?;
        Ok(places)
    }

    /// Games that wait, from this offset on: 0, or where the batch before ended. Only some are read at a time, so neither
    /// time nor memory grow with the file.
    ///
    /// # Errors
    /// When the file exists but cannot be locked within `patience`, or read.
    pub fn batch(&self, from: u64, patience: Duration) -> Result<Batch> {
        let mut batch = Batch::default();
        if !self.is_longer_than(from) {
            return Ok(batch);
        }
        self.locked(false, patience, "cannot read the games kept in this file", |file| {
            batch.next = each_line(file, from, |at, line| {
                batch.games.extend(line::parse(line, at));
                batch.games.len() < BATCH_GAMES && at - from < BATCH_BYTES
            })?;
            Ok(batch)
        })
    }

    /// Marks games that were learned as done. A line that is no longer where it was is left alone.
    ///
    /// # Errors
    /// When the file cannot be locked within `patience`, read or written. The games are known to the journals of their
    /// books, and are not learned again.
    pub fn cross_out<'a>(
        &self,
        places: impl IntoIterator<Item = &'a SpoolPlace>,
        patience: Duration,
    ) -> Result<()> {
        self.locked(false, patience, "cannot mark the learned games as done", |file| {
            for place in places {
                if file.bytes_at(place.at, TEXT)? == place.head {
                    file.write_at(place.at, b"-")?;
                }
            }
            if file.size()? <= SMALL {
                empty_if_done(file)?;
            }
            Ok(())
        })
    }

    /// Frees the space of games that were learned: empties the file when none waits, and compacts it when more than half of
    /// it is done.
    ///
    /// # Errors
    /// When the file exists but cannot be locked within `patience`, read or written. No game is lost then.
    pub(crate) fn tidy(&self, patience: Duration) -> Result<()> {
        if !self.is_longer_than(0) {
            return Ok(());
        }
        self.locked(false, patience, "cannot compact the games kept in this file", |file| {
            if empty_if_done(file)? || file.size()? <= SMALL { Ok(()) } else { self.compact(file) }
        })
    }

    /// Writes the games that wait into a new file, which takes the place of this one, if more than half is done.
    fn compact(&self, file: &File) -> io::Result<()> {
        let mut waiting = 0;
        each_line(file, 0, |_, line| {
            waiting += if is_waiting(line) { line.len() as u64 } else { 0 };
            true
        })?;
        if waiting > file.metadata()?.len() / 2 {
            return Ok(());
        }
        let path = dunce::canonicalize(&self.path)?;
        let new = Successor::new(&path)?;
        let mut out = BufWriter::with_capacity(BLOCK, &new.file);
        let mut written = Ok(());
        each_line(file, 0, |_, line| {
            if is_waiting(line) {
                written = out.write_all(line);
            }
            written.is_ok()
        })?;
        written.and_then(|()| out.flush())?;
        drop(out);
        new.replace()?;
        // Before that, a loss of power brings the old file back, to which nothing may have been added since.
        folder::sync(folder::parent_of(&path))
    }

    fn is_longer_than(&self, len: u64) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() > len)
    }

    /// Opens and locks the file for `work`, whose errors begin with `cannot`.
    fn locked<T>(
        &self,
        create: bool,
        patience: Duration,
        cannot: &str,
        work: impl FnOnce(&mut File) -> io::Result<T>,
    ) -> Result<T> {
        let locked = lock_named(&self.path, patience, create).and_then(|locked| match locked {
            Locked::Ours(file) => Ok(file),
            Locked::Busy => Err(io::Error::new(io::ErrorKind::TimedOut, "it is locked by another program")),
            Locked::Missing => Err(io::ErrorKind::NotFound.into()),
        });
        let mut file =
            locked.map_err(|error| Error::file(&self.path, "cannot open this file of kept games", error))?;
        work(&mut file).map_err(|error| Error::file(&self.path, cannot, error))
    }
}

fn full(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

/// Calls `see` with each line and its offset while it returns true; returns where it stopped, `None` at the end of the
/// file. A line that is too long is split, and its pieces are not valid lines.
fn each_line(file: &File, from: u64, mut see: impl FnMut(u64, &[u8]) -> bool) -> io::Result<Option<u64>> {
    let mut file = file;
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(BLOCK, file);
    let mut line = Vec::new();
    let mut at = from;
    loop {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        let more = see(at, &line);
        at += read as u64;
        if !more {
            return Ok(Some(at));
        }
    }
}

/// Empties a spool in which no game waits; returns whether it is empty now.
fn empty_if_done(file: &mut File) -> io::Result<bool> {
    let mut waits = false;
    each_line(file, 0, |_, line| {
        waits = is_waiting(line);
        !waits
    })?;
    if !waits {
        StoredBytes::set_len(file, 0)?;
    }
    Ok(!waits)
}
