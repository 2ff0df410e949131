//! What a journal says, as one process knows it: which games were learned, and what is not in the book yet.

use std::collections::HashMap;
use std::io;

use super::journal::{Check, HEADER_LEN, Header, Id, MARK, RECORD_MAX, Record};
use super::storage::Bytes;

/// Bytes that are read from a journal at once.
const BLOCK: usize = 1 << 20;

/// A learned game that was not taken back: where its record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    id: Id,
    sides: u8,
    /// The offset of its record in the journal.
    pub at: u64,
}

/// Why a journal cannot be gone on with.
#[derive(Debug)]
pub enum Trouble {
    /// The system failed.
    Io(io::Error),
    /// It is damaged from this byte on, before records that were whole.
    Damaged(u64),
    /// There is no header.
    NoHeader,
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The journal up to a place.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The book it belongs to.
    pub header: Header,
    /// Where the last whole record ends.
    pub end: u64,
    /// The check of that record.
    pub check: Check,
    /// Bytes behind it that are no record: what was being written when the power went.
    pub torn: u64,
    /// Records that are perhaps not in the book yet.
    pub pending: Vec<Record>,
    /// The games learned, in their order.
    games: Vec<Known>,
    /// How often each game's sides were learned, White's and Black's.
    sides: HashMap<Id, [u32; 2]>,
}

impl Ledger {
    /// The ledger of a journal that has only its header.
    pub fn new(header: Header) -> Self {
        let check = Header::parse(&header.to_bytes()).map(|(_, check)| check).unwrap_or_default();
        Self {
            header,
            end: HEADER_LEN as u64,
            check,
            torn: 0,
            pending: Vec::new(),
            games: Vec::new(),
            sides: HashMap::new(),
        }
    }

    /// Reads a journal from its start.
    ///
    /// # Errors
    /// When it cannot be read, has no header, or is damaged in the middle.
    pub fn read(journal: &mut dyn Bytes) -> Result<Self, Trouble> {
        let mut bytes = [0; HEADER_LEN];
        let whole = journal.read_at(0, &mut bytes)? == HEADER_LEN;
        match Header::parse(&bytes) {
            Some((header, _)) => {
                let mut ledger = Self::new(header);
                ledger.catch_up(journal)?;
                Ok(ledger)
            }
            // The header is on the disk before anything is written behind it.
            None if whole && journal.size()? > HEADER_LEN as u64 => Err(Trouble::Damaged(0)),
            None => Err(Trouble::NoHeader),
        }
    }

    /// Reads what other processes have written since; from the start where the journal is not the one that was read.
    ///
    /// # Errors
    /// As [`Ledger::read`].
    pub fn refresh(&mut self, journal: &mut dyn Bytes) -> Result<(), Trouble> {
        let mut last = Check::default();
        let at = self.end - last.len() as u64;
        if journal.read_at(at, &mut last)? < last.len() || last != self.check {
            *self = Self::read(journal)?;
            return Ok(());
        }
        self.catch_up(journal)
    }

    fn catch_up(&mut self, journal: &mut dyn Bytes) -> Result<(), Trouble> {
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
            return Err(Trouble::Damaged(self.end));
        }
        Ok(())
    }

    /// Takes the next record, which is so many bytes long.
    pub fn take(&mut self, record: Record, check: Check, size: usize) {
        match &record {
            Record::Game(game) => {
                self.games.push(Known { id: game.id, sides: game.sides, at: self.end });
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
            }
            Record::Done => {}
        }
        if record == Record::Done {
            self.pending.clear();
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

    /// Which of a game's sides were learned: 1 White, 2 Black.
    pub fn sides_of(&self, id: Id) -> u8 {
        let [white, black] = self.sides.get(&id).copied().unwrap_or_default();
        u8::from(white > 0) | u8::from(black > 0) << 1
    }

    /// The games learned and not taken back, in their order.
    pub fn games(&self) -> &[Known] {
        &self.games
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
