//! The transaction: what is done under the journal's lock, and in which order.

use tabiya_base::error::{Error, Result};
use tabiya_base::interrupt;
use tabiya_book::polyglot::entry::PolyglotEntry;

use super::Learner;
use crate::book::{BookEntries, cannot_write};
use crate::error::LearnError;
use crate::field::Field;
use crate::finished::IdentifiedGame;
use crate::journal::{
    Change, EditRecord, HEADER_LEN, JournalHeader, JournalRecord, JournalState, Owner, SoundPages,
};
use crate::storage::{Claim, StoredBytes};
use tabiya_base::bytes::Parts as _;

/// The journal and the book, ours alone, and what the journal says.
pub(super) struct Transaction {
    pub(super) journal: Box<dyn StoredBytes>,
    /// What was read of its store.
    pub(super) pages: SoundPages,
    pub(super) book: BookEntries,
    /// The state of the journal, including the records that are not written yet.
    pub(super) state: JournalState,
    /// The bytes of these records.
    unwritten: Vec<u8>,
    /// How many they are.
    added: usize,
    /// Why the book that an edit has put in its place cannot be opened.
    closed: Option<Error>,
}

impl Learner {
    /// Runs `work` under the lock, after what other processes have begun is finished, and commits the records that it adds.
    /// With `reset` a journal that cannot be used is replaced by a new one.
    pub(super) fn transact<T>(
        &mut self,
        reset: bool,
        work: impl FnOnce(&mut Self, &mut Transaction) -> Result<T, LearnError>,
    ) -> Result<T> {
        // The book first: there must be no journal of a book that may not be written.
        let book = self.book()?;
        drop(book);
        let journal = self.claim(true)?.ok_or_else(|| self.worded(LearnError::Busy))?;
        // Again: while we waited, an edit may have replaced it.
        let book = self.book()?;
        let done = self.prepare(journal, book, reset).and_then(|mut transaction| {
            let done = work(self, &mut transaction)?;
            self.commit(&mut transaction)?;
            self.remember(transaction);
            Ok(done)
        });
        done.map_err(|error| {
            // What failed may have left more or less than we know.
            self.checked = false;
            self.worded(error)
        })
    }

    /// Opens the book for reading and writing.
    pub(super) fn book(&mut self) -> Result<BookEntries> {
        let book = self.storage.book().map_err(|error| cannot_write(&self.path, error))?;
        BookEntries::new(book, &self.path)
    }

    /// Locks the journal; `None` where there is none and none is to be created.
    pub(super) fn claim(&mut self, create: bool) -> Result<Option<Box<dyn StoredBytes>>> {
        match self.storage.claim(self.patience, create) {
            Ok(Claim::Ours(journal)) => Ok(Some(journal)),
            Ok(Claim::Missing) => Ok(None),
            Ok(Claim::Busy) => {
                interrupt::check()?;
                Err(self.worded(LearnError::Busy))
            }
            Err(error) => Err(self.worded(error.into())),
        }
    }

    /// Brings the state up to date and finishes what is pending.
    fn prepare(
        &mut self,
        mut journal: Box<dyn StoredBytes>,
        mut book: BookEntries,
        reset: bool,
    ) -> Result<Transaction, LearnError> {
        // Computed each time, because a book may be replaced while we live.
        let owner = book.owner()?;
        let known = self.state.take();
        let known_end = known.as_ref().map(JournalState::serial_and_end);
        let state = match read(known, &mut *journal, Some(owner)) {
            Ok(Some(state)) => match mismatch(&state, &mut book)? {
                None => state,
                Some(_) if reset || state.is_blank() => self.begin_again(&mut journal, owner)?,
                Some(mismatch) => return Err(mismatch),
            },
            Ok(None) => self.begin(&mut *journal, owner)?,
            Err(LearnError::Damaged(_)) if reset => self.begin_again(&mut journal, owner)?,
            Err(error) => return Err(error),
        };
        self.notice_another(&mut book, known_end == Some(state.serial_and_end()))?;
        // A journal without records may be one that a process began, and died before its name was on the disk.
        let serial = Some(state.header.serial);
        if self.named != serial || state.records_len() == 0 {
            journal.sync()?;
            self.storage.sync_folder()?;
            self.named = serial;
        }
        if !reset && is_stale(&state, &mut book)? {
            return Err(LearnError::OldBook);
        }
        let mut transaction = Transaction {
            journal,
            pages: SoundPages::default(),
            book,
            state,
            unwritten: Vec::new(),
            added: 0,
            closed: None,
        };
        self.finish(&mut transaction)?;
        match transaction.closed.take() {
            None => Ok(transaction),
            Some(error) => Err(error.into()),
        }
    }

    /// Remembers what the next transaction need not read again, and compacts the journal where that is worth it.
    fn remember(&mut self, mut transaction: Transaction) {
        self.seen = transaction.book.stamp().ok().flatten();
        if self.limits.are_reached(&transaction.state) {
            // Where it fails, the journal is read again next time.
            self.compact(transaction);
        } else {
            self.state = Some(transaction.state);
        }
    }

    /// Begins a journal in a file that is empty or was never whole.
    fn begin(&mut self, journal: &mut dyn StoredBytes, owner: Owner) -> Result<JournalState, LearnError> {
        self.named = None;
        let header = JournalHeader::new(owner, 0);
        journal.set_len(0)?;
        journal.write_at(0, &header.to_bytes())?;
        journal.sync()?;
        JournalState::new(header)
    }

    /// Replaces a journal that cannot be used by an empty one.
    fn begin_again(
        &mut self,
        journal: &mut Box<dyn StoredBytes>,
        owner: Owner,
    ) -> Result<JournalState, LearnError> {
        let header = JournalHeader::new(owner, rand::random());
        self.replace(journal, |_, new| Ok(new.write_at(0, &header.to_bytes())?))?;
        self.named = Some(header.serial);
        JournalState::new(header)
    }

    /// Lets `write` write a new journal from the old one, replaces the old one in one step, and waits until the disk
    /// has that.
    pub(super) fn replace(
        &mut self,
        journal: &mut Box<dyn StoredBytes>,
        write: impl FnOnce(&mut dyn StoredBytes, &mut dyn StoredBytes) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        let mut new = self.storage.new_journal()?;
        write(&mut **journal, new.bytes())?;
        self.named = None;
        *journal = new.replace()?;
        Ok(self.storage.sync_folder()?)
    }

    /// Cuts off what was never whole, and writes into the book what the journal has and the book perhaps not.
    fn finish(&mut self, transaction: &mut Transaction) -> Result<(), LearnError> {
        if std::mem::take(&mut transaction.state.torn) > 0 {
            transaction.journal.set_len(transaction.state.end)?;
        }
        if transaction.state.pending.is_empty() {
            return Ok(());
        }
        // The process that wrote it may have died before it was on the disk: the book must not have it before the
        // journal.
        transaction.journal.sync()?;
        self.apply(transaction)
    }

    /// Writes the new records into the journal, then into the book; each step is on the disk before the next begins. What fails
    /// is taken back.
    fn commit(&mut self, transaction: &mut Transaction) -> Result<(), LearnError> {
        let Transaction { journal, state, unwritten, book, .. } = transaction;
        if unwritten.is_empty() {
            return Ok(());
        }
        book.is_written = false;
        let start = state.end - unwritten.len() as u64;
        let written = journal.write_at(start, unwritten).and_then(|()| journal.sync());
        let done = written.map_err(LearnError::from).and_then(|()| self.apply(transaction));
        done.map_err(|error| match self.take_back(transaction, start) {
            // As is what never was a whole record.
            Err(_) if transaction.has_record(start) => LearnError::Unfinished(Box::new(error)),
            _ => error,
        })
    }

    /// Takes back what the book has of the new records, then cuts them off; each step is on the disk before the next begins, so
    /// that whoever dies in between leaves what the next process finishes.
    fn take_back(&mut self, transaction: &mut Transaction, start: u64) -> Result<(), LearnError> {
        let Transaction { journal, state, book, added, .. } = transaction;
        let own = state.pending.len().saturating_sub(*added);
        let own = state.pending.part(own..);
        if let (Some(JournalRecord::Edit(edit)), Some(known)) = (own.first(), state.edits.last())
            && edit.renumbers()
            && self.book()?.owner()? != known.before
        {
            return Err(LearnError::OtherBook);
        }
        if book.is_written {
            own.iter().rev().try_for_each(|record| book.take_back(record))?;
            book.sync()?;
        }
        journal.set_len(start)?;
        Ok(journal.sync()?)
    }

    /// Writes what is pending into the book, waits until the disk has it, and notes in the journal that it is done.
    fn apply(&mut self, transaction: &mut Transaction) -> Result<(), LearnError> {
        if let Some((edit, before)) = transaction.state.pending_edit() {
            let edit = edit.clone();
            self.apply_edit(transaction, &edit, before)?;
        }
        transaction.apply()
    }

    /// Makes an edit in the book, unless the book has it.
    fn apply_edit(
        &mut self,
        transaction: &mut Transaction,
        edit: &EditRecord,
        before: Owner,
    ) -> Result<(), LearnError> {
        let book = &mut transaction.book;
        if !edit.renumbers() {
            return Ok(book.write_weights(&edit.changes)?);
        }
        if book.owner()? == before {
            self.storage.replace_book(&mut |out| book.copy_edited(&edit.changes, out))?;
            match self.book() {
                Ok(book) => transaction.book = book,
                // The edit is made nevertheless.
                Err(error) => transaction.closed = Some(error),
            }
        }
        Ok(())
    }
}

/// The state of a journal; `None` where the file is empty, or is the beginning of a header that was never whole.
pub(super) fn read(
    known: Option<JournalState>,
    journal: &mut dyn StoredBytes,
    owner: Option<Owner>,
) -> Result<Option<JournalState>, LearnError> {
    let read = JournalState::read(known, journal);
    if let (Err(LearnError::Damaged(0) | LearnError::Foreign), Some(owner)) = (&read, owner)
        && JournalHeader::is_torn(&journal.bytes_at(0, HEADER_LEN + 1)?, owner)
    {
        return Ok(None);
    }
    read
}

/// Why a journal cannot be that of a book; `None` if it is.
pub(super) fn mismatch(state: &JournalState, book: &mut BookEntries) -> Result<Option<LearnError>> {
    let owner = book.owner()?;
    let fits = owner == state.owner
        || match state.pending_edit() {
            Some((edit, before)) => book.is_becoming(edit, owner == before)?,
            None => false,
        };
    if fits {
        return Ok(None);
    }
    Ok(Some(if state.had(owner.fingerprint) { LearnError::OldBook } else { LearnError::OtherJournal }))
}

/// Whether no entry that the last record changed has what the record made of it, but something older: another copy
/// of the book was put in its place.
pub(super) fn is_stale(state: &JournalState, book: &mut BookEntries) -> Result<bool> {
    if state.pending_edit().is_some() {
        // Its entries may have the numbers before or after, and its fingerprint was compared.
        return Ok(false);
    }
    let reset = state.pending.contains(&JournalRecord::Reset);
    for change in &state.last {
        let Some(entry) = book.entry(change.index.into())? else { continue };
        let now = Field::from(entry);
        let mut begun = state.pending.iter().flat_map(JournalRecord::changes);
        let is_ours = now == change.new
            || reset && now == Field::default()
            || begun.any(|later| later.index == change.index && later.new == now);
        // With more games, another program has learned into the book, which does no harm.
        if is_ours || now.games >= change.new.games && now != change.old {
            return Ok(false);
        }
    }
    if !state.last.is_empty() {
        return Ok(true);
    }
    for change in &state.weights {
        let (Some(old), Some(now)) = (change.old, book.entry(change.index.into())?) else { continue };
        if now.weight != old.weight {
            return Ok(false);
        }
    }
    Ok(!state.weights.is_empty())
}

impl Transaction {
    /// The sides of a game that learn and were not learned under its identity: 1 White, 2 Black.
    pub(super) fn unlearned_sides(&mut self, known: &IdentifiedGame) -> Result<u8, LearnError> {
        let learned = self.state.sides_of(&mut *self.journal, &mut self.pages, known.id)?;
        Ok(known.game.sides_bits() & !learned)
    }

    /// The entry of a change whose record is at this offset, and its number now; `None` if it was deleted since.
    pub(super) fn entry_of(
        &mut self,
        change: &Change,
        at: u64,
    ) -> Result<Option<(u32, PolyglotEntry)>, LearnError> {
        if self.state.renumbered_since(at) {
            let found = self.book.find(change.key, [change.mv; 2])?;
            return Ok(found.and_then(|(index, entry)| Some((u32::try_from(index).ok()?, entry))));
        }
        let entry = self.book.entry(change.index.into())?;
        Ok(entry
            .filter(|entry| (entry.key, entry.mv) == (change.key, change.mv))
            .map(|entry| (change.index, entry)))
    }

    /// Adds a record to those that the transaction commits.
    pub(super) fn add(&mut self, record: JournalRecord) -> Result<(), LearnError> {
        self.unwritten.extend(self.state.append(record)?);
        self.added += 1;
        Ok(())
    }

    /// Whether the journal has a whole record here, as far as it can be read.
    fn has_record(&mut self, at: u64) -> bool {
        let read = self.journal.bytes_at(at, self.unwritten.len());
        !read.is_ok_and(|bytes| JournalRecord::parse(&bytes).is_none())
    }

    /// Writes the learn fields that are pending into the book, waits until the disk has them and the edit before, and notes
    /// in the journal that it is done. A field that is neither what the records found nor what they made of it was changed by another program since, and
    /// stays.
    fn apply(&mut self) -> Result<(), LearnError> {
        if self.closed.is_some() {
            // The next process goes on.
            return Ok(());
        }
        let records = &self.state.pending;
        let from = records.iter().rposition(|record| *record == JournalRecord::Reset);
        let changes = records.iter().skip(from.map_or(0, |from| from + 1)).flat_map(JournalRecord::changes);
        let mut changes: Vec<&Change> = changes.filter(|change| !change.is_deleted()).collect();
        // Stable: those of an entry stay in the order of their records.
        changes.sort_by_key(|change| change.index);
        if from.is_some() {
            self.book.clear()?;
        }
        self.book.read_anew();
        for of_entry in changes.chunk_by(|a, b| a.index == b.index) {
            let (Some(first), Some(change)) = (of_entry.first(), of_entry.last()) else { continue };
            let Some(entry) = self.book.paged(change.index.into())? else { continue };
            let same = (entry.key, entry.mv) == (change.key, change.mv);
            let now = Field::from(entry);
            let is_known = now == first.old || of_entry.iter().any(|change| change.new == now);
            if same && now != change.new && is_known {
                self.book.write(change.index.into(), change.new)?;
            }
        }
        self.book.sync()?;
        // *Done* need not be on the disk: without it, the fields are only checked again. If writing it fails, because the
        // disk is full, the records stay pending, and the next transaction tries again.
        let (done, check) = JournalRecord::Done.to_bytes(self.state.check).ok_or(LearnError::TooLong)?;
        if self.journal.write_at(self.state.end, &done).is_ok() {
            self.state.take(JournalRecord::Done, check, done.len());
        }
        Ok(())
    }
}
