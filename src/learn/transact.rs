//! The transaction: what is done under the journal's lock, in which order, and what may be told when it fails.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use super::Learner;
use super::field::Field;
use super::header::{HEADER_LEN, Header, Owner};
use super::journal::{Change, Record};
use super::journal_state::{JournalError, JournalState};
use super::learner::JournalEnd;
use super::pages::Pages;
use super::storage::{Bytes, Claim, JOURNAL_SUFFIX};
use crate::base::error::{Error, ErrorKind, Remedy, Result};
use crate::book::polyglot::layout::ENTRY_LEN;

/// What to do about a journal that cannot be used.
const MOVE_AWAY: &str = "move the journal away (what the book has learned stays in it)";

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
        match done {
            Ok(_) => self.compact_if_due(&mut open),
            // What failed may have left more or less than we know.
            Err(_) => self.state = None,
        }
        let stamp = open.book.stamp().ok().flatten();
        self.seen = stamp.map(|stamp| (stamp, self.journal_end()));
        done
    }

    /// The end of the journal, where it was read.
    fn journal_end(&self) -> Option<JournalEnd> {
        self.state.as_ref().map(|state| (state.header.serial, state.end))
    }

    /// Brings the state up to date and finishes what is pending. With `anew` a journal that cannot be used is begun
    /// again.
    fn prepare(&mut self, open: &mut Open, anew: bool) -> Result<()> {
        // Asked each time, because a book may be replaced while we live.
        let owner = self.owner(open)?;
        let read = match &mut self.state {
            Some(state) => state.refresh(&mut *open.journal),
            None => JournalState::read(&mut *open.journal).map(|state| self.state = Some(state)),
        };
        match read {
            Ok(()) => {}
            Err(JournalError::NoHeader) => self.begin(open, owner)?,
            Err(JournalError::Damaged(0) | JournalError::Foreign)
                if self.is_torn(&mut *open.journal, owner)? =>
            {
                self.begin(open, owner)?
            }
            Err(JournalError::Damaged(_)) if anew => self.begin_again(open, owner)?,
            Err(error) => return Err(self.journal_problem(error)),
        }
        if self.state()?.header.owner != owner {
            if anew {
                self.begin_again(open, owner)?;
            } else {
                return Err(self.of_another_book());
            }
        }
        let end = self.journal_end();
        self.notice_another(&mut *open.book, end)?;
        // A journal without records may be one that a process began, and died before its name was on the disk.
        let state = self.state()?;
        let serial = Some(state.header.serial);
        if self.named != serial || state.records_len() == 0 {
            open.journal.sync().map_err(|error| self.journal_error(error))?;
            self.storage.sync_folder().map_err(|error| self.journal_error(error))?;
            self.named = serial;
        }
        if !anew && self.is_stale(self.state()?, &mut *open.book)? {
            return Err(self.stale());
        }
        self.finish(open)
    }

    /// Begins a journal in a file that is empty or was never whole.
    fn begin(&mut self, open: &mut Open, owner: Owner) -> Result<()> {
        let header = Header::new(owner, 0);
        let journal = &mut open.journal;
        let written = journal.set_len(0).and_then(|()| journal.write_at(0, &header.to_bytes()));
        written.and_then(|()| journal.sync()).map_err(|error| self.journal_error(error))?;
        self.state = JournalState::new(header);
        self.named = None;
        Ok(())
    }

    /// Puts an empty journal in the place of one that cannot be used.
    fn begin_again(&mut self, open: &mut Open, owner: Owner) -> Result<()> {
        let header = Header::new(owner, rand::random());
        self.replace(open, |_, beside| Ok(beside.write_at(0, &header.to_bytes())?))
            .map_err(|error| self.journal_problem(error))?;
        self.state = JournalState::new(header);
        self.named = Some(header.serial);
        Ok(())
    }

    /// Puts what `write` makes of the journal into a new file in the journal's place, all at once, and waits until the
    /// disk has that.
    pub(super) fn replace(
        &mut self,
        open: &mut Open,
        write: impl FnOnce(&mut dyn Bytes, &mut dyn Bytes) -> std::result::Result<(), JournalError>,
    ) -> std::result::Result<(), JournalError> {
        let mut beside = self.storage.beside()?;
        write(&mut *open.journal, &mut *beside)?;
        beside.sync()?;
        // From here on nothing that was known of the journal holds.
        self.named = None;
        self.state = None;
        open.journal = beside.replace()?;
        Ok(self.storage.sync_folder()?)
    }

    /// Whether the journal is no more than the begin of one whose header was never whole.
    pub(super) fn is_torn(&self, journal: &mut dyn Bytes, owner: Owner) -> Result<bool> {
        let mut data = vec![0; HEADER_LEN + 1];
        let read = journal.read_at(0, &mut data).map_err(|error| self.journal_error(error))?;
        Ok(Header::is_torn(data.get(..read).unwrap_or_default(), owner))
    }

    /// What the journal of this book says of it.
    pub(super) fn owner(&self, open: &mut Open) -> Result<Owner> {
        owner_of(&mut *open.book).map_err(|error| self.book_error("cannot read the book", error))
    }

    /// Whether no entry that the last record changed has what the record made of it, but something older: another copy
    /// of the book was put in its place.
    pub(super) fn is_stale(&self, state: &JournalState, book: &mut dyn Bytes) -> Result<bool> {
        let cannot = |error| self.book_error("cannot read the book", error);
        let mut pages = Pages::new(book).map_err(cannot)?;
        let reset = state.pending.contains(&Record::Reset);
        for change in &state.last {
            let Some(entry) = pages.entry(change.index.into()).map_err(cannot)? else { continue };
            let now = Field { games: entry.games, halfpoints: entry.halfpoints };
            let mut begun = state.pending.iter().flat_map(Record::changes);
            let is_ours = now == change.new
                || reset && now == Field::default()
                || begun.any(|later| later.index == change.index && later.new == now);
            // With more games another program has learned into it, which does no harm.
            if is_ours || now.games >= change.new.games && now != change.old {
                return Ok(false);
            }
        }
        Ok(!state.last.is_empty())
    }

    /// Cuts off what was never whole, and writes into the book what the journal has and the book perhaps not.
    fn finish(&mut self, open: &mut Open) -> Result<()> {
        let state = self.state.as_mut().ok_or_else(unread)?;
        let (torn, end) = (std::mem::take(&mut state.torn), state.end);
        let pending = std::mem::take(&mut state.pending);
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
        let state = self.state.as_mut().ok_or_else(unread)?;
        let (data, check) = Record::Done.to_bytes(state.check).ok_or_else(|| too_long(path))?;
        // On a full disk this may fail, and does no harm: the next one to come writes it.
        match open.journal.write_at(state.end, &data) {
            Ok(()) => state.take(Record::Done, check, data.len()),
            Err(_) => self.state = None,
        }
        Ok(())
    }

    /// Writes records into the journal, then into the book; each step is on the disk before the next begins.
    pub(super) fn commit(&mut self, open: &mut Open, records: Vec<Record>) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let state = self.state.as_ref().ok_or_else(unread)?;
        let (start, mut check) = (state.end, state.check);
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
        let state = self.state.as_mut().ok_or_else(unread)?;
        for (record, (check, size)) in records.iter().zip(sizes) {
            state.take(record.clone(), check, size);
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

    pub(super) fn of_another_book(&self) -> Error {
        let what = format!("the journal {} belongs to another book", self.journal_name());
        Error::format(&self.path, what).advice(MOVE_AWAY).remedied_by(Remedy::ResetLearned)
    }

    pub(super) fn stale(&self) -> Error {
        let what = format!(
            "the book does not have what its journal {} says was learned last: this is an older copy of it",
            self.journal_name()
        );
        let advice = format!("put the newer copy back, or {MOVE_AWAY}");
        Error::format(&self.path, what).advice(advice).remedied_by(Remedy::ResetLearned)
    }

    pub(super) fn not_learned_into(&self, index: u64) -> Error {
        let what = "the learn field of an entry holds something other than games and half-points";
        Error::format(&self.path, what).at_offset(index * ENTRY_LEN as u64).remedied_by(Remedy::ResetLearned)
    }

    pub(super) fn busy(&self) -> Error {
        let what =
            format!("its journal is locked by another process (waited {} s)", self.patience.as_secs_f32());
        Error::new(ErrorKind::File, what).at_path(&self.path).advice("try again, or end that process")
    }

    pub(super) fn book_error(&self, what: &str, error: io::Error) -> Error {
        Error::file(&self.path, what, error)
    }

    pub(super) fn journal_error(&self, error: io::Error) -> Error {
        Error::file(&self.path, format!("cannot write its journal {}", self.journal_name()), error)
    }

    pub(super) fn journal_problem(&self, error: JournalError) -> Error {
        let name = self.journal_name();
        let wrong = |what: String, at, advice| Error::format(&self.path, what).at_offset(at).advice(advice);
        let begin_anew = |what, at| wrong(what, at, MOVE_AWAY).remedied_by(Remedy::ResetLearned);
        match error {
            JournalError::Io(error) => self.journal_error(error),
            JournalError::Damaged(at) => begin_anew(format!("its journal {name} is damaged"), at),
            JournalError::NoHeader => begin_anew(format!("its journal {name} is empty"), 0),
            JournalError::Foreign => wrong(
                format!("the file {name} is not a journal of tabiya"),
                0,
                "move it away: tabiya records the results that the book learns under this name",
            ),
            JournalError::Newer(version) => wrong(
                format!("its journal {name} was written by a newer tabiya, in version {version}"),
                8,
                "use that tabiya, or move the journal away (what the book has learned stays in it)",
            ),
        }
    }
}

/// What the journal of this book says of it.
pub(super) fn owner_of(book: &mut dyn Bytes) -> io::Result<Owner> {
    let mut pages = Pages::new(book)?;
    Ok(Owner { book_len: pages.bytes(), fingerprint: pages.fingerprint()? })
}

pub(super) fn unread() -> Error {
    Error::new(ErrorKind::File, "the journal was not read")
}

fn too_long(path: &Path) -> Error {
    Error::new(ErrorKind::Usage, "that is too much for one record of the journal")
        .at_path(path)
        .advice("do less at once")
}
