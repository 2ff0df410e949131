//! The transaction: what is done under the journal's lock, in which order, and what may be told when it fails.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use super::Learner;
use super::field::Field;
use super::journal::{Change, HEADER_LEN, Header, Record};
use super::ledger::{Ledger, Trouble};
use super::storage::{Bytes, Claim, JOURNAL_SUFFIX};
use crate::base::error::{Error, ErrorKind, Result};
use crate::book::polyglot::layout::ENTRY_LEN;

/// What to do about a journal that cannot be used.
const MOVE_AWAY: &str = "move the journal away (what the book has learned stays in it), or begin anew with \
                         `tabiya learn BOOK --reset`";

/// The journal and the book, ours alone.
pub(super) struct Open {
    pub(super) journal: Box<dyn Bytes>,
    pub(super) book: Box<dyn Bytes>,
}

impl Learner {
    /// Does something under the lock, after what others have begun is finished.
    pub(super) fn transact<T>(
        &mut self,
        anew: bool,
        work: impl FnOnce(&mut Self, &mut Open) -> Result<T>,
    ) -> Result<T> {
        // The book first: of one that may not be written there shall be no journal.
        let book = self.storage.book().map_err(|error| self.book_error("cannot write to the book", error))?;
        let claim = self.storage.claim(self.patience, true).map_err(|error| self.journal_error(error))?;
        let Claim::Ours(journal) = claim else { return Err(self.busy()) };
        let mut open = Open { journal, book };
        let done = self.prepare(&mut open, anew).and_then(|()| work(self, &mut open));
        if done.is_err() {
            // What failed may have left more or less behind than we know.
            self.ledger = None;
        }
        done
    }

    /// Brings the ledger up to date and finishes what is pending. With `anew` a journal that cannot be used is begun
    /// again.
    fn prepare(&mut self, open: &mut Open, anew: bool) -> Result<()> {
        let read = match &mut self.ledger {
            Some(ledger) => ledger.refresh(&mut *open.journal),
            None => Ledger::read(&mut *open.journal).map(|ledger| self.ledger = Some(ledger)),
        };
        match read {
            Ok(()) => {}
            Err(Trouble::NoHeader) => self.begin(open)?,
            Err(Trouble::Damaged(_)) if anew => self.begin(open)?,
            Err(trouble) => return Err(self.trouble(trouble)),
        }
        // Asked each time, because a book may be replaced while we live.
        if self.ledger()?.header != self.header_of(open)? {
            if anew {
                self.begin(open)?;
            } else {
                let what = format!("the journal {} belongs to another book", self.journal_name());
                return Err(Error::format(&self.path, what).advice(MOVE_AWAY));
            }
        }
        if !self.named {
            // The journal may be another process's, which died before it came to this.
            open.journal.sync().map_err(|error| self.journal_error(error))?;
            self.storage.sync_folder().map_err(|error| self.journal_error(error))?;
            self.named = true;
        }
        self.finish(open)
    }

    /// Begins a journal.
    fn begin(&mut self, open: &mut Open) -> Result<()> {
        let header = self.header_of(open)?;
        let journal = &mut open.journal;
        let written = journal.set_len(0).and_then(|()| journal.write_at(0, &header.to_bytes()));
        written.and_then(|()| journal.sync()).map_err(|error| self.journal_error(error))?;
        self.ledger = Some(Ledger::new(header));
        self.named = false;
        Ok(())
    }

    fn header_of(&self, open: &mut Open) -> Result<Header> {
        let mut pages = self.pages(open)?;
        let fingerprint =
            pages.fingerprint().map_err(|error| self.book_error("cannot read the book", error))?;
        Ok(Header { book_len: pages.bytes(), fingerprint })
    }

    /// Cuts off what was never whole, and writes into the book what the journal has and the book perhaps not.
    fn finish(&mut self, open: &mut Open) -> Result<()> {
        let ledger = self.ledger.as_mut().ok_or_else(unread)?;
        let (torn, end) = (std::mem::take(&mut ledger.torn), ledger.end);
        let pending = std::mem::take(&mut ledger.pending);
        if torn > 0 {
            open.journal.set_len(end).map_err(|error| self.journal_error(error))?;
            self.repair.torn += torn;
        }
        if pending.is_empty() {
            return Ok(());
        }
        // The one who wrote it may have died before it was on the disk: the book must not have it before the journal.
        open.journal.sync().map_err(|error| self.journal_error(error))?;
        self.apply(open, &pending)?;
        self.repair.finished += pending.len();
        self.done(open)
    }

    /// Writes what records change into the book, and waits until the disk has it. A field that is neither what the
    /// records found nor what they made of it was changed by another program since, and stays.
    fn apply(&mut self, open: &mut Open, records: &[Record]) -> Result<()> {
        let from = records.iter().rposition(|record| *record == Record::Reset);
        let mut fields: HashMap<u32, (Change, Vec<Field>)> = HashMap::new();
        for change in records.iter().skip(from.map_or(0, |from| from + 1)).flat_map(Record::changes) {
            let (last, seen) = fields.entry(change.index).or_insert_with(|| (*change, vec![change.old]));
            *last = *change;
            seen.push(change.new);
        }
        let cannot = |error| self.book_error("cannot write to the book", error);
        let mut pages = self.pages(open)?;
        if from.is_some() {
            pages.clear().map_err(cannot)?;
        }
        for (change, seen) in fields.values() {
            let Some(entry) = pages.entry(change.index.into()).map_err(cannot)? else { continue };
            let now = Field { games: entry.games, halfpoints: entry.halfpoints };
            let same = (entry.key, entry.mv) == (change.key, change.mv);
            if same && now != change.new && seen.contains(&now) {
                pages.write(change.index.into(), change.new).map_err(cannot)?;
            }
        }
        pages.sync().map_err(cannot)
    }

    /// Notes that all the journal has is in the book. It need not be on the disk: without it what is done is only looked
    /// at again.
    pub(super) fn done(&mut self, open: &mut Open) -> Result<()> {
        let path = &self.path;
        let ledger = self.ledger.as_mut().ok_or_else(unread)?;
        let (data, check) = Record::Done.to_bytes(ledger.check).ok_or_else(|| too_long(path))?;
        // On a full disk this may fail, and does no harm: the next one to come writes it.
        match open.journal.write_at(ledger.end, &data) {
            Ok(()) => ledger.take(Record::Done, check, data.len()),
            Err(_) => self.ledger = None,
        }
        Ok(())
    }

    /// Writes records into the journal, then into the book; each step is on the disk before the next begins.
    pub(super) fn commit(&mut self, open: &mut Open, records: Vec<Record>) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let ledger = self.ledger.as_ref().ok_or_else(unread)?;
        let (start, mut check) = (ledger.end, ledger.check);
        let mut data = Vec::new();
        let mut sizes = Vec::new();
        for record in &records {
            let (bytes, next) = record.to_bytes(check).ok_or_else(|| too_long(&self.path))?;
            data.extend_from_slice(&bytes);
            sizes.push((next, bytes.len()));
            check = next;
        }
        let written = open.journal.write_at(start, &data).and_then(|()| open.journal.sync());
        if let Err(error) = written {
            // Taken back as well as it goes; what stays is no whole record, or is finished by the next one to come.
            let _ = open.journal.set_len(start);
            return Err(self.journal_error(error));
        }
        let ledger = self.ledger.as_mut().ok_or_else(unread)?;
        for (record, (check, size)) in records.iter().zip(sizes) {
            ledger.take(record.clone(), check, size);
        }
        self.apply(open, &records)?;
        if records.contains(&Record::Reset) {
            self.checked = false;
        }
        self.done(open)
    }

    pub(super) fn journal_name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}{JOURNAL_SUFFIX}")
    }

    pub(super) fn not_learned_into(&self, index: u64) -> Error {
        let what = "the learn field of an entry holds something other than games and half-points";
        Error::format(&self.path, what)
            .at_offset(index * ENTRY_LEN as u64)
            .advice("it is not learned into; `tabiya learn BOOK --reset` sets all learn fields to nothing")
    }

    pub(super) fn busy(&self) -> Error {
        let what = format!("other programs have kept its journal for {} s", self.patience.as_secs_f32());
        Error::new(ErrorKind::File, what).at_path(&self.path).advice("end the program that hangs, or wait")
    }

    pub(super) fn book_error(&self, what: &str, error: io::Error) -> Error {
        Error::file(&self.path, what, error)
    }

    pub(super) fn journal_error(&self, error: io::Error) -> Error {
        Error::file(&self.path, format!("cannot write its journal {}", self.journal_name()), error)
    }

    pub(super) fn trouble(&self, trouble: Trouble) -> Error {
        let damaged = |at| {
            let what = format!("its journal {} is damaged", self.journal_name());
            Error::format(&self.path, what).at_offset(at).advice(MOVE_AWAY)
        };
        match trouble {
            Trouble::Io(error) => self.journal_error(error),
            Trouble::Damaged(at) => damaged(at),
            Trouble::NoHeader => damaged(HEADER_LEN as u64),
        }
    }
}

pub(super) fn unread() -> Error {
    Error::new(ErrorKind::File, "the journal was not read")
}

fn too_long(path: &Path) -> Error {
    Error::new(ErrorKind::Usage, "that is too much for one record of the journal")
        .at_path(path)
        .advice("do less at once")
}
