//! The state of a journal as one process knows it: which games were learned, and what is not in the book yet.

use std::collections::HashMap;
use std::io;

use super::header::{HEADER_LEN, Header, HeaderError};
use super::identity::Id;
use super::journal::{Change, Check, MARK, RECORD_MAX, Record};
use super::storage::Bytes;
use super::store::Slot;

/// Bytes that are read from a journal at once.
const BLOCK: usize = 1 << 18;

/// Changes of the last record that are remembered to be compared with the book.
const COMPARED_MAX: usize = 64;

/// A learned game that was not taken back and whose record the journal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearnedGame {
    /// The identity of the game.
    pub id: Id,
    /// The sides learned.
    pub sides: u8,
    /// The length of its record in bytes.
    pub size: u32,
    /// The offset of its record in the journal.
    pub at: u64,
}

/// Why a journal cannot be used.
#[derive(Debug)]
pub enum JournalError {
    /// The system failed.
    Io(io::Error),
    /// It is damaged from this byte on, before records that were whole.
    Damaged(u64),
    /// The file is empty.
    NoHeader,
    /// The file is no journal of tabiya.
    Foreign,
    /// A newer tabiya has written it, in this version.
    Newer(u64),
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The journal up to a place.
#[derive(Clone, Debug)]
pub struct JournalState {
    /// Its header.
    pub header: Header,
    /// Where its records begin.
    pub start: u64,
    /// Where the last whole record ends.
    pub end: u64,
    /// The check of that record.
    pub check: Check,
    /// Bytes after it that are no record: what was being written when the power went.
    pub torn: u64,
    /// Records that are perhaps not in the book yet.
    pub pending: Vec<Record>,
    /// Changes of the last record that is in the book: the book must have them still.
    pub last: Vec<Change>,
    /// Everything was forgotten since the journal was compacted, and the store with it.
    pub void: bool,
    /// The games learned, in their order.
    games: Vec<LearnedGame>,
    /// How often each game's sides were learned, White's and Black's.
    sides: HashMap<Id, [u32; 2]>,
}

impl JournalState {
    /// The state of a journal that has no record; `None` where its store is too long for any file.
    pub fn new(header: Header) -> Option<Self> {
        let (_, check) = Header::parse(&header.to_bytes()).ok()?;
        let start = header.store().end()?;
        Some(Self {
            header,
            start,
            end: start,
            check,
            torn: 0,
            pending: Vec::new(),
            last: Vec::new(),
            void: false,
            games: Vec::new(),
            sides: HashMap::new(),
        })
    }

    /// Reads a journal from its start.
    ///
    /// # Errors
    /// When it cannot be read, has no header, or is damaged in the middle.
    pub fn read(journal: &mut dyn Bytes) -> Result<Self, JournalError> {
        let size = journal.size()?;
        let mut bytes = [0; HEADER_LEN];
        let read = journal.read_at(0, &mut bytes)?;
        let header = match Header::parse(bytes.get(..read).unwrap_or_default()) {
            Ok((header, _)) => header,
            Err(_) if size == 0 => return Err(JournalError::NoHeader),
            Err(HeaderError::Foreign) => return Err(JournalError::Foreign),
            Err(HeaderError::Newer(version)) => return Err(JournalError::Newer(version)),
            Err(HeaderError::Damaged) => return Err(JournalError::Damaged(0)),
        };
        // The store is on the disk before the file has its name.
        let mut state =
            Self::new(header).filter(|state| state.start <= size).ok_or(JournalError::Damaged(0))?;
        state.catch_up(journal)?;
        Ok(state)
    }

    /// Reads what other processes have written since; from the start where the journal is not the one that was read.
    ///
    /// # Errors
    /// As [`JournalState::read`].
    pub fn refresh(&mut self, journal: &mut dyn Bytes) -> Result<(), JournalError> {
        let mut bytes = [0; HEADER_LEN];
        let read = journal.read_at(0, &mut bytes)?;
        let same = Header::parse(bytes.get(..read).unwrap_or_default())
            .is_ok_and(|(header, _)| header == self.header);
        let mut last = Check::default();
        let at = self.end.saturating_sub(last.len() as u64);
        let whole =
            self.end == self.start || journal.read_at(at, &mut last)? == last.len() && last == self.check;
        if !same || !whole {
            *self = Self::read(journal)?;
            return Ok(());
        }
        self.catch_up(journal)
    }

    fn catch_up(&mut self, journal: &mut dyn Bytes) -> Result<(), JournalError> {
        let len = journal.size()?;
        let mut data = Vec::new();
        while self.end < len {
            let left = usize::try_from(len - self.end).unwrap_or(usize::MAX);
            data.resize(BLOCK.min(left), 0);
            let read = journal.read_at(self.end, &mut data)?;
            data.truncate(read);
            let mut used = 0;
            loop {
                let rest = data.get(used..).unwrap_or_default();
                match Record::parse(rest) {
                    Some((record, before, check, size)) if before == self.check => {
                        self.take(record, check, size);
                        used += size;
                    }
                    // One that only the block cuts is read again, alone and whole.
                    None if used == 0
                        && Record::claimed_len(rest).is_some_and(|size| size > read && size <= left) =>
                    {
                        let size = Record::claimed_len(rest).unwrap_or_default();
                        data.resize(size, 0);
                        let read = journal.read_at(self.end, &mut data)?;
                        data.truncate(read);
                        if read < size {
                            break;
                        }
                    }
                    _ => break,
                }
            }
            if used == 0 {
                break;
            }
        }
        self.torn = len.saturating_sub(self.end);
        if self.torn > 0 && has_done(journal, self.end, len)? {
            return Err(JournalError::Damaged(self.end));
        }
        Ok(())
    }

    /// Takes the next record, which is so many bytes long.
    pub fn take(&mut self, record: Record, check: Check, size: usize) {
        match &record {
            Record::Game(game) => {
                let size = u32::try_from(size).unwrap_or(u32::MAX);
                self.games.push(LearnedGame { id: game.id, sides: game.sides, size, at: self.end });
                self.count(game.id, game.sides, |count| count.saturating_add(1));
            }
            Record::Undo { games, .. } => {
                for _ in 0..*games {
                    let Some(known) = self.games.pop() else { break };
                    self.count(known.id, known.sides, |count| count.saturating_sub(1));
                }
            }
            Record::Reset => {
                self.games.clear();
                self.sides.clear();
                self.void = true;
            }
            Record::Done => {}
        }
        if record == Record::Done {
            for record in self.pending.drain(..) {
                match record.changes() {
                    _ if record == Record::Reset => self.last.clear(),
                    [] => {}
                    changes => self.last = changes.iter().take(COMPARED_MAX).copied().collect(),
                }
            }
        } else {
            self.pending.push(record);
        }
        self.end += size as u64;
        self.check = check;
    }

    fn count(&mut self, id: Id, sides: u8, change: impl Fn(u32) -> u32) {
        let counts = self.sides.entry(id).or_default();
        for (bit, count) in counts.iter_mut().enumerate() {
            if sides & 1 << bit != 0 {
                *count = change(*count);
            }
        }
        if *counts == [0; 2] {
            self.sides.remove(&id);
        }
    }

    /// Which of a game's sides were learned, as far as the records have it: 1 White, 2 Black.
    fn recorded_sides(&self, id: Id) -> u8 {
        let [white, black] = self.sides.get(&id).copied().unwrap_or_default();
        u8::from(white > 0) | u8::from(black > 0) << 1
    }

    /// Which of a game's sides were learned: 1 White, 2 Black.
    ///
    /// # Errors
    /// When the journal cannot be read, or its store is damaged.
    pub fn sides_of(&self, journal: &mut dyn Bytes, id: Id) -> Result<u8, JournalError> {
        let stored = if self.void { 0 } else { self.header.store().sides_of(journal, &id)? };
        Ok(stored | self.recorded_sides(id))
    }

    /// The games learned and not taken back whose records are there, in their order.
    pub fn games(&self) -> &[LearnedGame] {
        &self.games
    }

    /// Games that were learned and can no longer be taken back.
    pub fn folded(&self) -> u64 {
        if self.void { 0 } else { self.header.folded }
    }

    /// Bytes of the records.
    pub fn records_len(&self) -> u64 {
        self.end - self.start
    }

    /// The ids of the first so many games, sorted, each once.
    pub fn slots(&self, count: usize) -> Vec<Slot> {
        let mut slots: Vec<Slot> =
            self.games.iter().take(count).map(|known| (known.id, known.sides)).collect();
        slots.sort_unstable();
        slots.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 |= if same { next.1 } else { 0 };
            same
        });
        slots
    }
}

/// The record at a place of the journal, which is known to have one.
///
/// # Errors
/// When the journal cannot be read.
pub fn record_at(journal: &mut dyn Bytes, at: u64) -> io::Result<Option<Record>> {
    let mut data = vec![0; 64];
    let read = journal.read_at(at, &mut data)?;
    let Some(len) = Record::claimed_len(data.get(..read).unwrap_or_default()) else { return Ok(None) };
    data.resize(len, 0);
    let read = journal.read_at(at, &mut data)?;
    Ok(Record::parse(data.get(..read).unwrap_or_default()).map(|(record, ..)| record))
}

/// Whether a whole *done* stands in this part of the journal. It is written only when all before it is on the disk: no
/// loss of power leaves rubbish before one.
fn has_done(journal: &mut dyn Bytes, from: u64, to: u64) -> io::Result<bool> {
    let (done, _) = Record::Done.to_bytes(Check::default()).unwrap_or_default();
    let finder = memchr::memmem::Finder::new(MARK);
    let mut at = from;
    let mut data = Vec::new();
    while at < to {
        data.resize(BLOCK.min(usize::try_from(to - at).unwrap_or(BLOCK)), 0);
        let read = journal.read_at(at, &mut data)?;
        data.truncate(read);
        for place in finder.find_iter(&data) {
            let found = data.get(place..).and_then(Record::parse);
            if matches!(found, Some((Record::Done, ..))) {
                return Ok(true);
            }
        }
        if at + read as u64 >= to || read <= done.len() {
            return Ok(false);
        }
        // One that the block cuts is found in the next.
        at += (read - done.len()) as u64;
    }
    Ok(false)
}

const _: () = assert!(RECORD_MAX >= BLOCK);
