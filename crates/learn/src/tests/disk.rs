//! A disk that loses power: files in memory, every write and sync recorded, and what may be left of them.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tabiya_base::error::{Error, Result};

use super::super::storage::{Claim, NewJournal, Storage, StoredBytes};

/// Bytes that reach the disk together or not at all. The sectors of a real disk are larger, so this tears more.
const SECTOR: u64 = 32;

/// Subsets of unsynced pieces that are tried at one moment; all, where there are fewer.
const MAX_SUBSETS: u64 = 1 << 13;

/// The file that is the book at first.
const BOOK: usize = 0;

/// An operation on the disk. Files have numbers, which do not change with their names.
#[derive(Clone, Debug)]
pub enum Op {
    /// A new file, without a name yet.
    Make,
    /// The name of the journal now belongs to this file.
    Name(usize),
    /// The name of the book now belongs to this file.
    NameBook(usize),
    Write(usize, u64, Vec<u8>),
    SetLen(usize, u64),
    Sync(usize),
    SyncFolder,
    /// Learning was reported: this many steps are done.
    Report(usize),
}

/// What the files hold; a journal that does not exist is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Files {
    pub book: Vec<u8>,
    pub journal: Option<Vec<u8>>,
}

/// All files, and those that have the names of the book and of the journal.
#[derive(Clone, Debug, Default)]
struct Folder {
    files: Vec<Vec<u8>>,
    book: usize,
    journal: Option<usize>,
}

impl Folder {
    fn from_files(files: Files) -> Self {
        let journal = files.journal.as_ref().map(|_| 1);
        Self { files: std::iter::once(files.book).chain(files.journal).collect(), book: BOOK, journal }
    }

    fn files(&self) -> Files {
        Files {
            book: self.files[self.book].clone(),
            journal: self.journal.map(|file| self.files[file].clone()),
        }
    }
}

#[derive(Debug, Default)]
struct State {
    start: Files,
    now: Folder,
    ops: Vec<Op>,
    /// Bytes that journals may still grow by.
    room: Option<u64>,
    /// Writes to the book that still succeed, and whether only the next one fails.
    book_writes: Option<(u64, bool)>,
    /// How often the book can still be opened.
    opens: Option<u64>,
    /// Journals cannot be cut.
    stuck: bool,
    /// Files are not renamed.
    fixed: bool,
}

impl State {
    /// Whether this write to the book fails.
    fn book_is_full(&mut self) -> bool {
        match &mut self.book_writes {
            Some((0, once)) => {
                if *once {
                    self.book_writes = None;
                }
                true
            }
            Some((left, _)) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }

    fn make(&mut self) -> usize {
        self.ops.push(Op::Make);
        self.now.files.push(Vec::new());
        self.now.files.len() - 1
    }

    fn name(&mut self, file: usize) {
        self.ops.push(Op::Name(file));
        self.now.journal = Some(file);
    }
}

#[derive(Clone, Debug, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

impl SimDisk {
    pub fn from_files(files: Files) -> Self {
        Self(Arc::new(Mutex::new(State {
            start: files.clone(),
            now: Folder::from_files(files),
            ..State::default()
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub fn files(&self) -> Files {
        self.state().now.files()
    }

    /// Puts other files in their places, as a user does.
    pub fn set(&self, files: Files) {
        let mut state = self.state();
        *state = State { start: files.clone(), now: Folder::from_files(files), ..State::default() };
    }

    /// How many operations there were.
    pub fn ops(&self) -> usize {
        self.state().ops.len()
    }

    /// The disk after a process was killed after `len` operations, and the steps reported until then: everything that was
    /// written can be read, but what was not synced is not safe.
    pub fn killed(&self, len: usize) -> (Self, usize) {
        let state = self.state();
        let ops = state.ops[..len].to_vec();
        let (safe, loose, reported) = split(&state.start, &ops);
        let now = keep(&safe, &loose, |_| true);
        let state = State { start: state.start.clone(), now, ops, ..State::default() };
        (Self(Arc::new(Mutex::new(state))), reported)
    }

    pub fn report(&self, steps: usize) {
        self.state().ops.push(Op::Report(steps));
    }

    /// Limits by how many bytes the journal may grow from now on.
    pub fn room(&self, room: Option<u64>) {
        self.state().room = room;
    }

    /// Limits how many writes to the book succeed from now on.
    pub fn book_writes(&self, writes: Option<u64>) {
        self.state().book_writes = writes.map(|writes| (writes, false));
    }

    /// Lets one write to the book fail, after so many.
    pub fn book_write_fails_after(&self, writes: u64) {
        self.state().book_writes = Some((writes, true));
    }

    /// Limits how often the book can be opened from now on.
    pub fn opens(&self, opens: Option<u64>) {
        self.state().opens = opens;
    }

    /// Sets whether cutting the journal fails.
    pub fn stick(&self, stuck: bool) {
        self.state().stuck = stuck;
    }

    /// The disk after the power failed after `len` operations; `seed` chooses which of the pieces that no sync had made safe are
    /// left.
    pub fn lost(&self, len: usize, seed: u64) -> Self {
        let state = self.state();
        let (safe, loose, _) = split(&state.start, &state.ops[..len]);
        let chosen = |bit: usize| (seed ^ bit as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 == 1;
        Self::from_files(keep(&safe, &loose, chosen).files())
    }

    /// Sets whether replacing the journal fails.
    pub fn fix(&self, fixed: bool) {
        self.state().fixed = fixed;
    }

    /// How often a file was given the journal's name.
    pub fn named(&self) -> usize {
        self.state().ops.iter().filter(|op| matches!(op, Op::Name(_))).count()
    }

    /// Calls `see` with everything that may be left on the disk if the power fails: after each operation, with every set
    /// of the pieces that no sync had made safe. The arguments are the files and the steps reported until then; each
    /// pair comes once.
    pub fn each_loss(&self, see: impl FnMut(&Files, usize)) {
        self.each_loss_from(0, see);
    }

    /// As [`SimDisk::each_loss`], but only after so many operations.
    pub fn each_loss_from(&self, first: usize, mut see: impl FnMut(&Files, usize)) {
        let state = self.state();
        let mut seen = HashSet::new();
        for len in first..=state.ops.len() {
            let (safe, mut loose, reported) = split(&state.start, &state.ops[..len]);
            // A file without a name is not seen.
            let named: Vec<usize> = loose
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Name(file) | Piece::NameBook(file) => Some(*file),
                    _ => None,
                })
                .chain([safe.book])
                .chain(safe.journal)
                .collect();
            loose.retain(|piece| named.contains(&piece.file()));
            let all = 1_u64 << loose.len().min(63);
            let step = (all / MAX_SUBSETS).max(1);
            let mut subset = 0;
            while subset < all {
                // With a step the low bits would hardly change: they are taken from other bits of the number.
                let chosen = if step == 1 {
                    subset
                } else {
                    (subset ^ subset.rotate_right(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
                };
                let left = keep(&safe, &loose, |bit| chosen & 1 << bit.min(63) != 0).files();
                if seen.insert((left.clone(), reported)) {
                    see(&left, reported);
                }
                subset += step;
            }
        }
    }
}

/// A piece of an operation that no sync has made safe.
#[derive(Clone, Debug)]
enum Piece {
    Name(usize),
    NameBook(usize),
    Data(usize, u64, Vec<u8>),
    Grow(usize, u64),
    Cut(usize, u64),
}

impl Piece {
    fn is_name(&self) -> bool {
        matches!(self, Self::Name(_) | Self::NameBook(_))
    }

    fn file(&self) -> usize {
        match self {
            Self::Name(file)
            | Self::NameBook(file)
            | Self::Data(file, ..)
            | Self::Grow(file, _)
            | Self::Cut(file, _) => *file,
        }
    }
}

/// What is safe after these operations, what is not, and how many steps were reported.
fn split(start: &Files, ops: &[Op]) -> (Folder, Vec<Piece>, usize) {
    let mut safe = Folder::from_files(start.clone());
    let mut lens: Vec<u64> = safe.files.iter().map(|file| file.len() as u64).collect();
    let mut loose: Vec<Piece> = Vec::new();
    let mut reported = 0;
    for op in ops {
        match op {
            Op::Make => {
                safe.files.push(Vec::new());
                lens.push(0);
            }
            Op::Name(file) => loose.push(Piece::Name(*file)),
            Op::NameBook(file) => loose.push(Piece::NameBook(*file)),
            Op::Write(file, at, bytes) => {
                let end = at + bytes.len() as u64;
                if end > lens[*file] {
                    lens[*file] = end;
                    loose.push(Piece::Grow(*file, end));
                }
                let mut from = *at;
                while from < end {
                    let to = end.min((from / SECTOR + 1) * SECTOR);
                    let piece = bytes[(from - at) as usize..(to - at) as usize].to_vec();
                    loose.push(Piece::Data(*file, from, piece));
                    from = to;
                }
            }
            Op::SetLen(file, len) => {
                lens[*file] = *len;
                loose.push(Piece::Cut(*file, *len));
            }
            Op::Sync(file) => {
                // A file whose name is not safe may be lost entirely, even if its bytes are safe.
                let is_of = |piece: &Piece| !piece.is_name() && piece.file() == *file;
                let (of, rest): (Vec<_>, Vec<_>) = loose.into_iter().partition(is_of);
                for piece in &of {
                    put(&mut safe, piece);
                }
                loose = rest;
            }
            Op::SyncFolder => {
                let (names, rest): (Vec<_>, Vec<_>) = loose.into_iter().partition(Piece::is_name);
                for piece in &names {
                    put(&mut safe, piece);
                }
                loose = rest;
            }
            Op::Report(steps) => reported = *steps,
        }
    }
    (safe, loose, reported)
}

fn keep(safe: &Folder, loose: &[Piece], chosen: impl Fn(usize) -> bool) -> Folder {
    let mut left = safe.clone();
    for (_, piece) in loose.iter().enumerate().filter(|(bit, _)| chosen(*bit)) {
        put(&mut left, piece);
    }
    left
}

fn put(folder: &mut Folder, piece: &Piece) {
    match piece {
        Piece::Name(file) => folder.journal = Some(*file),
        Piece::NameBook(file) => folder.book = *file,
        // Bytes after the end that reached the disk are not a part of the file.
        Piece::Data(file, at, bytes) => {
            let file = &mut folder.files[*file];
            let start = (*at as usize).min(file.len());
            let end = (*at as usize + bytes.len()).min(file.len());
            file[start..end].copy_from_slice(&bytes[..end - start]);
        }
        Piece::Grow(file, len) => {
            let file = &mut folder.files[*file];
            if *len as usize > file.len() {
                file.resize(*len as usize, 0);
            }
        }
        Piece::Cut(file, len) => folder.files[*file].resize(*len as usize, 0),
    }
}

struct OpenFile(SimDisk, usize);

impl StoredBytes for OpenFile {
    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.state().now.files[self.1].len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        Ok(copy(&self.0.state().now.files[self.1], at, into))
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.state();
        let mut bytes = bytes;
        let mut full = false;
        if self.1 == state.now.book {
            full = state.book_is_full();
            if full {
                bytes = &[];
            }
        } else if let Some(room) = &mut state.room {
            let taken = (*room).min(bytes.len() as u64);
            full = taken < bytes.len() as u64;
            bytes = &bytes[..taken as usize];
            *room -= taken;
        }
        if !bytes.is_empty() {
            state.ops.push(Op::Write(self.1, at, bytes.to_vec()));
            put_bytes(&mut state.now.files[self.1], at, bytes);
        }
        if full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let mut state = self.0.state();
        if state.stuck {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.ops.push(Op::SetLen(self.1, len));
        state.now.files[self.1].resize(len as usize, 0);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.state().ops.push(Op::Sync(self.1));
        Ok(())
    }
}

impl NewJournal for OpenFile {
    fn bytes(&mut self) -> &mut dyn StoredBytes {
        self
    }

    fn replace(mut self: Box<Self>) -> io::Result<Box<dyn StoredBytes>> {
        self.sync()?;
        let mut state = self.0.state();
        if state.fixed {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        state.name(self.1);
        drop(state);
        Ok(self)
    }
}

impl Storage for SimDisk {
    fn claim(&mut self, _: Duration, create: bool) -> io::Result<Claim> {
        let mut state = self.state();
        let file = match state.now.journal {
            Some(file) => file,
            None if !create => return Ok(Claim::Missing),
            None => {
                let file = state.make();
                state.name(file);
                file
            }
        };
        Ok(Claim::Ours(Box::new(OpenFile(self.clone(), file))))
    }

    fn book(&mut self) -> io::Result<Box<dyn StoredBytes>> {
        let mut state = self.state();
        if let Some(opens) = &mut state.opens {
            *opens = opens.checked_sub(1).ok_or(io::ErrorKind::PermissionDenied)?;
        }
        Ok(Box::new(OpenFile(self.clone(), state.now.book)))
    }

    fn replace_book(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Result<()> {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        let mut state = self.state();
        if state.book_is_full() {
            let error = Error::file("a.bin", "cannot write the file", io::ErrorKind::StorageFull.into());
            return Err(error.advice("the old file is unchanged"));
        }
        let file = state.make();
        // In two pieces, the first of which may be alone on the disk.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        state.ops.push(Op::Write(file, 0, first.to_vec()));
        state.ops.push(Op::Write(file, first.len() as u64, second.to_vec()));
        state.ops.push(Op::Sync(file));
        state.ops.push(Op::NameBook(file));
        state.ops.push(Op::SyncFolder);
        state.now.files[file] = bytes;
        state.now.book = file;
        Ok(())
    }

    fn new_journal(&mut self) -> io::Result<Box<dyn NewJournal>> {
        let file = self.state().make();
        Ok(Box::new(OpenFile(self.clone(), file)))
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        self.state().ops.push(Op::SyncFolder);
        Ok(())
    }
}

fn put_bytes(file: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let end = at as usize + bytes.len();
    if end > file.len() {
        file.resize(end, 0);
    }
    file[at as usize..end].copy_from_slice(bytes);
}

/// One file in memory, and how often it was read.
pub struct Memory(Vec<u8>, usize);

impl Memory {
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes, 0)
    }

    pub fn reads(&self) -> usize {
        self.1
    }

    pub fn now(&self) -> &[u8] {
        &self.0
    }
}

fn copy(file: &[u8], at: u64, into: &mut [u8]) -> usize {
    let rest = file.get(at as usize..).unwrap_or_default();
    let len = rest.len().min(into.len());
    into[..len].copy_from_slice(&rest[..len]);
    len
}

impl StoredBytes for Memory {
    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        Ok(copy(&self.0, at, into))
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        put_bytes(&mut self.0, at, bytes);
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.0.resize(len as usize, 0);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
