//! The state of a journal as one process knows it: which games were learned, and what is not in the book yet.

use tabiya_base::bytes::Parts as _;

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use crate::fingerprint::Fingerprint;

use super::Check;
use super::edit_record::{EditRecord, EntryChange};
use super::header::{HEADER_LEN, JournalHeader, Owner};
use super::record::{Change, CorrectionRecord, GameRecord, JournalRecord, MARK, MIN_RECORD};
use super::store::{SoundPages, StoredGame};
use crate::error::LearnError;
use crate::field::Field;
use crate::identity::{Id, Line};
use crate::storage::StoredBytes;
use tabiya_book::polyglot::entry::PolyglotEntry;

/// Bytes that are read from a journal at once.
const BLOCK: usize = 1 << 18;

/// Changes of the last record that are remembered to be compared with the book.
const MAX_COMPARED: usize = 64;

/// A learned game that was not taken back and whose record the journal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LearnedGame {
    /// The identity of the game.
    pub id: Id,
    pub sides: u8,
    /// Half-points of White, as they were learned.
    pub result: u8,
    /// Whether that was a guess.
    pub guess: bool,
    /// The length of its record in bytes.
    pub size: u32,
    /// The offset of its record in the journal.
    pub at: u64,
    /// What a file says of it, if it was found in one.
    pub correction: Option<Correction>,
}

/// The correction of a learned game, whose record the journal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Correction {
    /// The identity of the game in the file.
    pub file: Id,
    /// Half-points of White; `None` if the game has no result.
    pub result: Option<u8>,
    /// The length of its record in bytes.
    pub size: u32,
    /// The offset of its record in the journal.
    pub at: u64,
}

impl LearnedGame {
    /// Half-points of White, as the book has them; `None` if the game was taken back because it has no result.
    pub fn known_result(&self) -> Option<u8> {
        self.correction.map_or(Some(self.result), |correction| correction.result)
    }

    /// Whether its result is a guess that no file has confirmed or corrected.
    pub fn is_guess(&self) -> bool {
        self.guess && self.correction.is_none()
    }

    /// Its identities: the one under which it was learned, and the one in a file.
    pub fn ids(&self) -> impl Iterator<Item = Id> + use<> {
        [self.id].into_iter().chain(self.correction.map(|correction| correction.file))
    }
}

/// An edit whose record the journal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownEdit {
    /// The length of its record in bytes.
    pub size: u32,
    /// The offset of its record in the journal.
    pub at: u64,
    /// The book before it.
    pub before: Owner,
    /// Whether it gave entries other numbers.
    pub renumbers: bool,
    /// What it does to which moves, in one number; for one that takes back, what that makes of the edit before.
    pub sum: u64,
    /// The number of the edit that it takes back, or of the one that took back what it makes again.
    pub reverses: Option<usize>,
}

/// The journal up to a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct JournalState {
    pub header: JournalHeader,
    /// The book, after all edits.
    pub owner: Owner,
    /// Where its records begin.
    pub start: u64,
    /// Where the last whole record ends.
    pub end: u64,
    /// The check of that record.
    pub check: Check,
    /// Bytes after it that are not a record: what was being written when the power failed.
    pub torn: u64,
    /// Records that may not be in the book yet.
    pub pending: Vec<JournalRecord>,
    /// Changes of the last record that is in the book: the book must still have them.
    pub last: Vec<Change>,
    /// The journal was reset after it was compacted: its store does not count.
    pub was_reset: bool,
    /// The games learned and not taken back whose records the journal has, in their order.
    pub games: Vec<LearnedGame>,
    /// All edits, in their order.
    pub edits: Vec<KnownEdit>,
    /// The numbers in `edits` of those that were not taken back.
    pub undoable: Vec<usize>,
    /// The numbers in `edits` of those that took others back which can be made again.
    pub redoable: Vec<usize>,
    /// The weights that the last edit changed, where it changed nothing else and no game was learned since: the book must
    /// still have them.
    pub weights: Vec<EntryChange>,
    /// Where the last reset ends.
    pub reset: u64,
    /// What was taken back since of entries that edits had deleted, with the numbers of these edits.
    deleted: Vec<(usize, Change)>,
    /// How often each game's sides were learned, White's and Black's.
    sides: HashMap<Id, [u32; 2]>,
}

impl JournalState {
    /// The state of a journal that has no record.
    ///
    /// # Errors
    /// When its store is too long for any file.
    pub fn new(header: JournalHeader) -> Result<Self, LearnError> {
        let (_, check) = JournalHeader::parse(&header.to_bytes())?;
        let start = header.store().end().ok_or(LearnError::Damaged(0))?;
        Ok(Self { header, owner: header.owner, start, end: start, check, ..Self::default() })
    }

    /// Reads a journal: what other processes have written since it was `known`, or everything where it is another one.
    /// `None` where the file is empty.
    ///
    /// # Errors
    /// When it cannot be read, has no header, or is damaged in the middle.
    pub fn read(known: Option<Self>, journal: &mut dyn StoredBytes) -> Result<Option<Self>, LearnError> {
        let len = journal.size()?;
        if len == 0 {
            return Ok(None);
        }
        let (header, _) = JournalHeader::parse(&journal.bytes_at(0, HEADER_LEN)?)?;
        let mut state = match known {
            Some(known) if known.header == header && known.ends_as_known(journal)? => known,
            _ => Self::new(header)?,
        };
        // The store is on the disk before the file has its name.
        if state.start > len {
            return Err(LearnError::Damaged(0));
        }
        state.catch_up(journal, len)?;
        Ok(Some(state))
    }

    /// Whether the last record that was read is still in its place.
    fn ends_as_known(&self, journal: &mut dyn StoredBytes) -> io::Result<bool> {
        let at = self.end.saturating_sub(self.check.len() as u64);
        Ok(self.end == self.start || journal.bytes_at(at, self.check.len())? == self.check)
    }

    /// Reads on to the end of a journal of this length.
    fn catch_up(&mut self, journal: &mut dyn StoredBytes, len: u64) -> Result<(), LearnError> {
        let mut wanted = BLOCK;
        while self.end < len {
            let data = journal.bytes_at(self.end, wanted)?;
            let mut rest = &*data;
            while let Some((record, before, check, size)) = JournalRecord::parse(rest)
                && before == self.check
            {
                self.take(record, check, size);
                rest = rest.part(size..);
            }
            wanted = match JournalRecord::claimed_len(rest) {
                _ if rest.len() < data.len() => BLOCK,
                // One that only the block cuts is read again, alone and whole.
                Some(size) if size > wanted && size as u64 <= len - self.end => size,
                _ => break,
            };
        }
        self.torn = len.saturating_sub(self.end);
        if self.torn > 0 && has_done(journal, self.end)? {
            return Err(LearnError::Damaged(self.end));
        }
        Ok(())
    }

    /// Adds a record to the end of the journal; returns its bytes, which are to be written there.
    ///
    /// # Errors
    /// When it is too long for a journal.
    pub fn append(&mut self, record: JournalRecord) -> Result<Vec<u8>, LearnError> {
        let (bytes, check) = record.to_bytes(self.check).ok_or(LearnError::TooLong)?;
        self.take(record, check, bytes.len());
        Ok(bytes)
    }

    /// Takes in the next record, which is so many bytes long.
    pub fn take(&mut self, record: JournalRecord, check: Check, size: usize) {
        match &record {
            JournalRecord::Game(game) => {
                let size = u32::try_from(size).unwrap_or(u32::MAX);
                let GameRecord { id, sides, result, guess, .. } = *game;
                let at = self.end;
                self.games.push(LearnedGame { id, sides, result, guess, size, at, correction: None });
                self.count(id, sides, |count| count.saturating_add(1));
            }
            JournalRecord::Correction(correction) => {
                let size = u32::try_from(size).unwrap_or(u32::MAX);
                let CorrectionRecord { id, file: again, result, .. } = *correction;
                let is_it = |known: &&mut LearnedGame| known.id == id && known.correction.is_none();
                if let Some(known) = self.games.iter_mut().rev().find(is_it) {
                    known.correction = Some(Correction { file: again, result, size, at: self.end });
                    let sides = known.sides;
                    self.count(again, sides, |count| count.saturating_add(1));
                }
            }
            JournalRecord::Undo { games, changes } => {
                for _ in 0..*games {
                    let Some(known) = self.games.pop() else { break };
                    known.ids().for_each(|id| self.count(id, known.sides, |count| count.saturating_sub(1)));
                }
                let deleted = changes.iter().filter_map(|change| {
                    Some((self.edits.len().checked_sub(change.deleted_before()?)?, *change))
                });
                self.deleted.extend(deleted);
            }
            JournalRecord::Reset => {
                self.games.clear();
                self.sides.clear();
                self.deleted.clear();
                self.was_reset = true;
                self.reset = self.end + size as u64;
            }
            JournalRecord::Edit(edit) => {
                let size = u32::try_from(size).unwrap_or(u32::MAX);
                let sum = sum_of(edit);
                let reverses = if edit.undo {
                    self.redoable.push(self.edits.len());
                    self.undoable.pop()
                } else {
                    self.undoable.push(self.edits.len());
                    // An edit that does the same as the one taken back last is that one, made again.
                    let is_same =
                        |number: &usize| self.edits.get(*number).is_some_and(|undone| undone.sum == sum);
                    let again = self.redoable.pop().filter(is_same);
                    if again.is_none() {
                        self.redoable.clear();
                    }
                    again
                };
                let (at, before, renumbers) = (self.end, self.owner, edit.renumbers());
                self.edits.push(KnownEdit { size, at, before, renumbers, sum, reverses });
                self.owner = edit.after;
            }
            JournalRecord::Done => {}
        }
        if record == JournalRecord::Done {
            for record in std::mem::take(&mut self.pending) {
                self.compare_with(&record);
            }
        } else {
            self.pending.push(record);
        }
        self.end += size as u64;
        self.check = check;
    }

    /// Notes what the book must have after this record, which is in it.
    fn compare_with(&mut self, record: &JournalRecord) {
        match (record, record.changes()) {
            (JournalRecord::Reset, _) => self.last.clear(),
            (JournalRecord::Edit(edit), _) => {
                // Where entries have other numbers, the book has another fingerprint too.
                self.last.clear();
                self.weights.clear();
                if !edit.renumbers() {
                    self.weights.extend(edit.changes.iter().take(MAX_COMPARED));
                }
            }
            (_, changes) if changes.iter().all(Change::is_deleted) => {}
            (_, changes) => {
                let in_book = changes.iter().filter(|change| !change.is_deleted());
                self.last = in_book.take(MAX_COMPARED).copied().collect();
                self.weights.clear();
            }
        }
    }

    /// Whether the book has this fingerprint, or had it before one of the edits.
    pub(crate) fn knows(&self, fingerprint: Fingerprint) -> bool {
        self.owner.fingerprint == fingerprint || self.had(fingerprint)
    }

    /// Whether the book had this fingerprint before one of the edits.
    pub(crate) fn had(&self, fingerprint: Fingerprint) -> bool {
        self.edits.iter().any(|edit| edit.before.fingerprint == fingerprint)
    }

    /// Whether entries may have other numbers than in the record at this offset.
    pub(crate) fn renumbered_since(&self, at: u64) -> bool {
        self.edits.iter().rev().take_while(|edit| edit.at > at).any(|edit| edit.renumbers)
    }

    /// An entry that the edit of this number deleted, with what is left of what it had learned.
    pub(crate) fn left_of(&self, number: usize, mut entry: PolyglotEntry) -> PolyglotEntry {
        if self.edits.get(number).is_some_and(|edit| self.reset > edit.at) {
            return PolyglotEntry { games: 0, halfpoints: 0, ..entry };
        }
        for (_, change) in self.deleted.iter().filter(|(edit, _)| *edit == number) {
            if (change.key, change.mv, change.old) == (entry.key, entry.mv, Field::from(entry)) {
                entry = PolyglotEntry { games: change.new.games, halfpoints: change.new.halfpoints, ..entry };
            }
        }
        entry
    }

    /// Whether it has nothing that a new journal would not have: no game, no edit, and nothing that is not finished.
    pub(crate) fn is_blank(&self) -> bool {
        self.games.is_empty()
            && self.edits.is_empty()
            && self.pending.is_empty()
            && (self.was_reset || self.header.ids == 0 && self.header.compacted == 0)
    }

    /// The edit that is in the journal and perhaps not in the book, and the book before it.
    pub(crate) fn pending_edit(&self) -> Option<(&EditRecord, Owner)> {
        match self.pending.first()? {
            JournalRecord::Edit(edit) => Some((edit, self.edits.last()?.before)),
            _ => None,
        }
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
    ///
    /// # Errors
    /// When the journal cannot be read, or its store is damaged.
    pub(crate) fn sides_of(
        &self,
        journal: &mut dyn StoredBytes,
        pages: &mut SoundPages,
        id: Id,
    ) -> Result<u8, LearnError> {
        let [white, black] = self.sides.get(&id).copied().unwrap_or_default();
        let recorded = u8::from(white > 0) | u8::from(black > 0) << 1;
        let stored = if self.was_reset { 0 } else { self.header.store().sides_of(journal, pages, &id)? };
        Ok(stored | recorded)
    }

    /// Which sides of games that were played on one of these lines are in the store: 1 White, 2 Black.
    ///
    /// # Errors
    /// As [`JournalState::sides_of`].
    pub(crate) fn stored_sides(
        &self,
        journal: &mut dyn StoredBytes,
        pages: &mut SoundPages,
        lines: &[Line],
    ) -> Result<u8, LearnError> {
        if self.was_reset {
            return Ok(0);
        }
        let store = self.header.store();
        lines.iter().try_fold(0, |sides, line| Ok(sides | store.sides_of_line(journal, pages, line)?))
    }

    /// Games that were learned and can no longer be taken back.
    pub(crate) fn compacted(&self) -> u64 {
        if self.was_reset { 0 } else { self.header.compacted }
    }

    /// Bytes of the records.
    pub(crate) fn records_len(&self) -> u64 {
        self.end - self.start
    }

    /// The serial of the journal, and the offset of its end.
    pub(crate) fn serial_and_end(&self) -> (u64, u64) {
        (self.header.serial, self.end)
    }

    /// The ids of the first `count` games, sorted, each once.
    pub(crate) fn oldest(&self, count: usize) -> Vec<StoredGame> {
        let mut stored: BTreeMap<Id, u8> = BTreeMap::new();
        for known in self.games.iter().take(count) {
            known.ids().for_each(|id| *stored.entry(id).or_default() |= known.sides);
        }
        stored.into_iter().collect()
    }
}

/// What an edit does to which moves, in one number; of one that takes back, of the edit that it takes back.
fn sum_of(edit: &EditRecord) -> u64 {
    let mut hasher = DefaultHasher::new();
    for change in &edit.changes {
        let (old, new) = if edit.undo { (change.new, change.old) } else { (change.old, change.new) };
        for entry in [old, new] {
            entry.map(|entry| (entry.key, entry.mv.0, entry.weight)).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// The record of this place and length.
///
/// # Errors
/// When the journal cannot be read, or no longer has a record there.
pub(crate) fn record_at(
    journal: &mut dyn StoredBytes,
    at: u64,
    size: u32,
) -> Result<JournalRecord, LearnError> {
    let record = JournalRecord::parse(&journal.bytes_at(at, size as usize)?);
    record.map(|(record, ..)| record).ok_or(LearnError::Damaged(at))
}

/// The record of a learned game.
///
/// # Errors
/// As [`record_at`].
pub(crate) fn record_of(
    journal: &mut dyn StoredBytes,
    known: &LearnedGame,
) -> Result<GameRecord, LearnError> {
    match record_at(journal, known.at, known.size)? {
        JournalRecord::Game(game) => Ok(game),
        _ => Err(LearnError::Damaged(known.at)),
    }
}

/// Whether there is a whole *done* from this offset on. It is written only when everything before it is on the disk: no
/// loss of power leaves garbage before it.
fn has_done(journal: &mut dyn StoredBytes, from: u64) -> io::Result<bool> {
    let finder = memchr::memmem::Finder::new(MARK);
    let mut at = from;
    loop {
        let data = journal.bytes_at(at, BLOCK)?;
        let is_done = |place| {
            matches!(data.get(place..).and_then(JournalRecord::parse), Some((JournalRecord::Done, ..)))
        };
        if finder.find_iter(&data).any(is_done) {
            return Ok(true);
        }
        if data.len() < BLOCK {
            return Ok(false);
        }
        // One that the block cuts is found in the next.
        at += (BLOCK - MIN_RECORD) as u64;
    }
}
