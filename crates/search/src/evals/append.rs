//! Appending to a store: several processes at once, each whole batch under the file's lock.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::lock::{Locked, lock_named};
use tabiya_base::{file, folder, interrupt};
use tabiya_chess::Packed;

use super::alternative::Alternative;
use super::evaluation::{EngineId, Evaluation, Limit};
use super::record::{
    Engines, RECORD_LEN, Slot, guarded, guarded_alternative, guarded_search, header, is_sound, parse_header,
    slot,
};

/// How long another process may keep the store locked: putting hundreds of millions of records in order takes minutes.
const PATIENCE: Duration = Duration::from_secs(1800);

/// How often an attempt to lock it checks for an interrupt.
const POLL: Duration = Duration::from_millis(500);

/// How long another process keeps the store locked before the user is told.
const UNTOLD: Duration = Duration::from_secs(1);

/// How long a store is waited for that another process keeps locked.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// No longer than this; `None` for as long as putting a large store in order takes.
    pub until: Option<Instant>,
    /// Tells the user what is waited for.
    pub tell: fn(&str),
}

impl Default for Waiting {
    /// Nobody is told.
    fn default() -> Self {
        Self { until: None, tell: |_| () }
    }
}

/// A store that is appended to. Other processes may append to it and compact it meanwhile.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    engines: Engines,
    /// Engines whose names this one has written.
    named: BTreeSet<EngineId>,
    /// The file that was appended to last.
    last: Option<File>,
    waiting: Waiting,
}

impl Appender {
    /// Opens a store for appending; a missing one is created.
    ///
    /// # Errors
    /// When it cannot be created, locked or written, or the file is not a store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::open_within(path, Waiting::default())?.ok_or_else(|| locked(path))
    }

    /// As [`Appender::open`], but this and what follows wait no longer than that for other processes; `None` where one keeps the
    /// store locked.
    ///
    /// # Errors
    /// As [`Appender::open`].
    pub fn open_within(path: &Path, waiting: Waiting) -> Result<Option<Self>> {
        let (engines, named) = (Engines::default(), BTreeSet::new());
        let mut appender = Self { path: path.to_owned(), engines, named, last: None, waiting };
        Ok(appender.append(&[])?.then_some(appender))
    }

    /// The number of the engine with this name, for the evaluations that follow.
    pub fn engine(&mut self, name: &str) -> EngineId {
        self.engines.id(name)
    }

    /// Notes the names of engines.
    pub(crate) fn name(&mut self, engines: &Engines) {
        self.engines.merge(engines);
    }

    /// Appends evaluations of positions that were packed by [`Packed::strict`]. Another process sees them when it opens
    /// the store next. They may be lost if the power fails before [`Appender::sync`], but not if the process dies.
    ///
    /// # Errors
    /// When the store cannot be locked or written, or is no longer a store.
    pub fn append(&mut self, batch: &[(Packed, Evaluation)]) -> Result<bool> {
        self.write(batch.iter().map(|(position, evaluation)| slot(&guarded(position, evaluation))))
    }

    /// Notes that a position, packed by [`Packed::strict`], was searched with this limit although the evaluation that counts
    /// does not show it.
    ///
    /// # Errors
    /// As [`Appender::append`].
    pub fn note_search(&mut self, position: &Packed, limit: Limit) -> Result<bool> {
        self.write([slot(&guarded_search(position, limit))].into_iter())
    }

    /// Notes what a search of a position, packed by [`Packed::strict`], found apart from some moves.
    ///
    /// # Errors
    /// As [`Appender::append`].
    pub fn note_alternative(&mut self, position: &Packed, alternative: &Alternative) -> Result<bool> {
        self.write([slot(&guarded_alternative(position, alternative))].into_iter())
    }

    /// Appends records, after the names of engines that the file may not have.
    fn write(&mut self, slots: impl Iterator<Item = Slot>) -> Result<bool> {
        let Some(mut file) = claim_within(&self.path, self.waiting.until, self.waiting.tell)? else {
            return Ok(false);
        };
        let error = |error| Error::file(&self.path, "cannot write the store of evaluations", error);
        let end = ready(&self.path, &mut file)?;
        if end == RECORD_LEN as u64 {
            // A new file, which does not have the names that were written into an older one.
            self.named.clear();
        }
        let new = self.engines.slots(|id| !self.named.contains(&id));
        let bytes: Vec<u8> = new.into_iter().chain(slots).flatten().collect();
        let written = write_at(&mut file, end, &bytes);
        if written.is_err() {
            // The disk is full: the part that was written is of no use.
            let _ = file.set_len(end);
        }
        written.map_err(error)?;
        self.named.extend(self.engines.ids());
        // Where that fails, as it does under Wine, closing the file unlocks it.
        let kept = file.unlock().is_ok();
        self.last = kept.then_some(file);
        Ok(true)
    }

    /// Waits until the disk has what was appended.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&mut self) -> Result<()> {
        let synced = match &self.last {
            Some(file) => file.sync_data(),
            None => File::options().write(true).open(&self.path).and_then(|file| file.sync_data()),
        };
        synced.map_err(|error| Error::file(&self.path, "cannot write the store of evaluations", error))
    }
}

/// Locks a store; a missing one is created, empty. Where another process keeps it, `tell` is told so.
///
/// # Errors
/// When it cannot be opened or locked, another process keeps it, or the work is interrupted.
pub(crate) fn claim(path: &Path, tell: impl Fn(&str)) -> Result<File> {
    claim_within(path, None, tell)?.ok_or_else(|| locked(path))
}

/// As [`claim`]; `None` where another process keeps the store until the time is up.
fn claim_within(path: &Path, until: Option<Instant>, tell: impl Fn(&str)) -> Result<Option<File>> {
    let begun = Instant::now();
    let mut is_told = false;
    loop {
        let left = until.map_or(POLL, |until| until.saturating_duration_since(Instant::now()).min(POLL));
        let locked = lock_named(path, left, true)
            .map_err(|error| Error::file(path, "cannot open or lock the store of evaluations", error))?;
        if let Locked::Ours(file) = locked {
            return Ok(Some(file));
        }
        interrupt::check()?;
        let waited = begun.elapsed();
        let is_over = until.is_some_and(|until| Instant::now() >= until);
        if !is_told && (is_over || waited >= UNTOLD) {
            is_told = true;
            tell(&format!(
                "{}: another process keeps the store of evaluations locked: waiting for it",
                path.display()
            ));
        }
        match until {
            Some(_) if is_over => return Ok(None),
            None if waited >= PATIENCE => return Err(self::locked(path)),
            _ => {}
        }
    }
}

/// The error for a store that another process keeps.
fn locked(path: &Path) -> Error {
    Error::new(ErrorKind::File, "the store of evaluations is locked by another process")
        .at_path(path)
        .advice("try again when it is done")
}

/// Makes a locked file ready for appending: writes the header of a new one, and cuts off an incomplete record. Returns
/// where the next record goes.
fn ready(path: &Path, file: &mut File) -> Result<u64> {
    let error = |error| Error::file(path, "cannot write the store of evaluations", error);
    let mut start = [0; RECORD_LEN];
    let read = file::read_at(file, 0, &mut start).map_err(error)?;
    let known = parse_header(start.get(..read).unwrap_or_default())
        .map_err(|(what, advice)| Error::format(path, what).advice(advice))?;
    let Some(sorted) = known else {
        write_at(file, 0, &header(0)).and_then(|()| file.sync_all()).map_err(error)?;
        // Where the file system cannot do that, the name is as durable as it can be.
        let _ = folder::sync(folder::parent_of(path));
        return Ok(RECORD_LEN as u64);
    };
    let len = file.metadata().map_err(error)?.len();
    let end = sound_end(file, len, sorted).map_err(error)?;
    if end < len {
        // Windows does not cut files that others have mapped; then what follows is written over it.
        let _ = file.set_len(end);
    }
    Ok(end)
}

/// Where the last sound record ends, but not before the records in order do.
fn sound_end(file: &File, len: u64, sorted: u64) -> io::Result<u64> {
    let mut slots = (len / RECORD_LEN as u64).max(1);
    let mut slot: Slot = [0; RECORD_LEN];
    while slots - 1 > sorted {
        file::read_exact_at(file, (slots - 1) * RECORD_LEN as u64, &mut slot)?;
        if is_sound(&slot) {
            break;
        }
        slots -= 1;
    }
    Ok(slots * RECORD_LEN as u64)
}

fn write_at(file: &mut File, at: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}
