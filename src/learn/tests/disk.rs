//! A disk that loses power: files in memory, every write and sync recorded, and what may be left of them.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::super::storage::{Bytes, Claim, Storage};

/// Bytes that reach the disk together or not at all. A real disk's sectors are larger, so that this tears more.
const SECTOR: u64 = 32;

/// Subsets of unsynced pieces that are tried at one moment; all, where there are fewer.
const SUBSETS_MAX: u64 = 1 << 13;

/// Which of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Book,
    Journal,
}

/// What was asked of the disk, in its order.
#[derive(Clone, Debug)]
pub enum Op {
    Make,
    Write(Name, u64, Vec<u8>),
    SetLen(Name, u64),
    Sync(Name),
    SyncFolder,
    /// Learning was reported: so many steps are done.
    Report(usize),
}

/// What the files hold; a journal that does not exist is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Files {
    pub book: Vec<u8>,
    pub journal: Option<Vec<u8>>,
}

impl Files {
    fn file(&mut self, name: Name) -> &mut Vec<u8> {
        match name {
            Name::Book => &mut self.book,
            Name::Journal => self.journal.get_or_insert_default(),
        }
    }
}

#[derive(Debug, Default)]
struct State {
    start: Files,
    now: Files,
    ops: Vec<Op>,
    /// Bytes that the journal may still grow by.
    room: Option<u64>,
    /// Writes to the book that still succeed.
    book_writes: Option<u64>,
}

/// The disk.
#[derive(Clone, Debug, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

impl SimDisk {
    pub fn of(files: Files) -> Self {
        Self(Arc::new(Mutex::new(State { start: files.clone(), now: files, ..State::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub fn files(&self) -> Files {
        self.state().now.clone()
    }

    /// How many operations there were.
    pub fn ops(&self) -> usize {
        self.state().ops.len()
    }

    /// The disk as it is when a process is killed after so many operations: all that was written can be read, but what
    /// was not synced is not safe. With it the steps reported until then.
    pub fn killed(&self, len: usize) -> (Self, usize) {
        let state = self.state();
        let ops = state.ops[..len].to_vec();
        let (mut now, loose, reported) = split(&state.start, &ops);
        now = keep(&now, &loose, u64::MAX);
        let state = State { start: state.start.clone(), now, ops, ..State::default() };
        (Self(Arc::new(Mutex::new(state))), reported)
    }

    pub fn report(&self, steps: usize) {
        self.state().ops.push(Op::Report(steps));
    }

    /// The journal grows by no more than so many bytes from now on.
    pub fn room(&self, room: Option<u64>) {
        self.state().room = room;
    }

    /// Only so many writes to the book succeed from now on.
    pub fn book_writes(&self, writes: Option<u64>) {
        self.state().book_writes = writes;
    }

    /// Goes through what may be left on the disk if the power goes: after each operation, with every set of the pieces
    /// that no sync had made safe. Handed over are the files and the steps reported until then; each pair once.
    pub fn each_loss(&self, see: impl FnMut(&Files, usize)) {
        self.each_loss_from(0, see);
    }

    /// As [`SimDisk::each_loss`], but only after so many operations.
    pub fn each_loss_from(&self, first: usize, mut see: impl FnMut(&Files, usize)) {
        let state = self.state();
        let mut seen = HashSet::new();
        for len in first..=state.ops.len() {
            let (safe, loose, reported) = split(&state.start, &state.ops[..len]);
            let all = 1_u64 << loose.len().min(63);
            let step = (all / SUBSETS_MAX).max(1);
            let mut subset = 0;
            while subset < all {
                // With a step the low bits would hardly change: they are taken from elsewhere in the number.
                let chosen = if step == 1 {
                    subset
                } else {
                    (subset ^ subset.rotate_right(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
                };
                let left = keep(&safe, &loose, chosen);
                if seen.insert((left.clone(), reported)) {
                    see(&left, reported);
                }
                subset += step;
            }
        }
    }
}

/// A piece of what was asked that no sync has made safe.
#[derive(Clone, Debug)]
enum Piece {
    Make,
    Data(Name, u64, Vec<u8>),
    Grow(Name, u64),
    Cut(Name, u64),
}

/// What is safe after these operations, what is not, and how many steps were reported.
fn split(start: &Files, ops: &[Op]) -> (Files, Vec<Piece>, usize) {
    let mut safe = start.clone();
    let mut now = start.clone();
    let mut loose: Vec<Piece> = Vec::new();
    let mut reported = 0;
    let is_of = |piece: &Piece, name: Name| match piece {
        Piece::Make => false,
        Piece::Data(of, ..) | Piece::Grow(of, _) | Piece::Cut(of, _) => *of == name,
    };
    for op in ops {
        match op {
            Op::Make => {
                now.journal = Some(Vec::new());
                loose.push(Piece::Make);
            }
            Op::Write(name, at, bytes) => {
                let file = now.file(*name);
                let end = at + bytes.len() as u64;
                if end > file.len() as u64 {
                    file.resize(end as usize, 0);
                    loose.push(Piece::Grow(*name, end));
                }
                file[*at as usize..end as usize].copy_from_slice(bytes);
                let mut from = *at;
                while from < end {
                    let to = end.min((from / SECTOR + 1) * SECTOR);
                    loose.push(Piece::Data(
                        *name,
                        from,
                        bytes[(from - at) as usize..(to - at) as usize].to_vec(),
                    ));
                    from = to;
                }
            }
            Op::SetLen(name, len) => {
                now.file(*name).resize(*len as usize, 0);
                loose.push(Piece::Cut(*name, *len));
            }
            Op::Sync(name) => {
                // A file whose name is not safe may be gone whole, whatever of it is safe.
                let (of, rest): (Vec<_>, Vec<_>) = loose.into_iter().partition(|piece| is_of(piece, *name));
                for piece in &of {
                    put(&mut safe, piece);
                }
                loose = rest;
            }
            Op::SyncFolder => loose.retain(|piece| !matches!(piece, Piece::Make)),
            Op::Report(steps) => reported = *steps,
        }
    }
    (safe, loose, reported)
}

fn keep(safe: &Files, loose: &[Piece], chosen: u64) -> Files {
    let mut left = safe.clone();
    let mut made = true;
    for (bit, piece) in loose.iter().enumerate() {
        let chosen = chosen & 1 << bit.min(63) != 0;
        if matches!(piece, Piece::Make) {
            made = chosen;
            left.journal.get_or_insert_default();
        } else if chosen {
            put(&mut left, piece);
        }
    }
    // What was written behind the end that reached the disk is not a part of the file.
    if !made {
        left.journal = None;
    }
    left
}

fn put(files: &mut Files, piece: &Piece) {
    match piece {
        Piece::Make => {}
        Piece::Data(name, at, bytes) => {
            let file = files.file(*name);
            let start = (*at as usize).min(file.len());
            let end = (*at as usize + bytes.len()).min(file.len());
            file[start..end].copy_from_slice(&bytes[..end - start]);
        }
        Piece::Grow(name, len) => {
            let file = files.file(*name);
            if *len as usize > file.len() {
                file.resize(*len as usize, 0);
            }
        }
        Piece::Cut(name, len) => files.file(*name).resize(*len as usize, 0),
    }
}

struct OpenFile(SimDisk, Name);

impl Bytes for OpenFile {
    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.state().now.file(self.1).len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        Ok(copy(self.0.state().now.file(self.1), at, into))
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.state();
        let mut bytes = bytes;
        let mut full = false;
        match self.1 {
            Name::Journal => {
                if let Some(room) = &mut state.room {
                    let taken = (*room).min(bytes.len() as u64);
                    full = taken < bytes.len() as u64;
                    bytes = &bytes[..taken as usize];
                    *room -= taken;
                }
            }
            Name::Book => {
                if let Some(writes) = &mut state.book_writes {
                    full = *writes == 0;
                    *writes = writes.saturating_sub(1);
                    if full {
                        bytes = &[];
                    }
                }
            }
        }
        if !bytes.is_empty() {
            state.ops.push(Op::Write(self.1, at, bytes.to_vec()));
            let file = state.now.file(self.1);
            let end = at as usize + bytes.len();
            if end > file.len() {
                file.resize(end, 0);
            }
            file[at as usize..end].copy_from_slice(bytes);
        }
        if full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let mut state = self.0.state();
        state.ops.push(Op::SetLen(self.1, len));
        state.now.file(self.1).resize(len as usize, 0);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.state().ops.push(Op::Sync(self.1));
        Ok(())
    }
}

impl Storage for SimDisk {
    fn claim(&mut self, _: Duration, create: bool) -> io::Result<Claim> {
        let mut state = self.state();
        if state.now.journal.is_none() {
            if !create {
                return Ok(Claim::Missing);
            }
            state.now.journal = Some(Vec::new());
            state.ops.push(Op::Make);
        }
        Ok(Claim::Ours(Box::new(OpenFile(self.clone(), Name::Journal))))
    }

    fn book(&mut self) -> io::Result<Box<dyn Bytes>> {
        Ok(Box::new(OpenFile(self.clone(), Name::Book)))
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        self.state().ops.push(Op::SyncFolder);
        Ok(())
    }
}

/// One file in memory.
pub struct Memory(Vec<u8>);

impl Memory {
    pub fn of(bytes: Vec<u8>) -> Self {
        Self(bytes)
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

impl Bytes for Memory {
    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        Ok(copy(&self.0, at, into))
    }

    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
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
