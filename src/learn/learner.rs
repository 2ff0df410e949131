//! Learning into one book: each change of it is a transaction under the journal's lock.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use shakmaty::Color;

use super::compact::Limits;
use super::field::{Field, halfpoints};
use super::finished::{IdentifiedGame, PlayedMove};
use super::identity::Id;
use super::journal::{Change, GameRecord, Record};
use super::journal_state::{JournalError, JournalState, record_at};
use super::pages::Pages;
use super::storage::{Bytes, Claim, Disk, Stamp, Storage};
use super::transact::{Open, owner_of, unread};
use crate::base::error::{Error, ErrorKind, Remedy, Result};
use crate::book::Fingerprint;
use crate::book::polyglot::layout::ENTRY_LEN;
use crate::chess::MoveCode;

/// How long another process may keep the journal before we give up, where nothing else is said.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Places of moves that are remembered; more are forgotten all at once, so that memory is bounded.
const PLACES_MAX: usize = 1 << 16;

/// What to do when that many games cannot be taken back.
const FEWER: &str = "take fewer games back";

/// A journal's serial, and the offset of its end.
pub(super) type JournalEnd = (u64, u64);

/// What became of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is learned: so many entries know of it, and the disk has it.
    Learned(usize),
    /// It was learned before.
    Known,
    /// None of its moves is an entry of the book.
    Absent,
}

/// What [`Learner::recover`] and every opening of a journal found to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// Records that another process left behind unfinished, and that are finished now.
    pub finished: usize,
    /// Bytes of a record that was never whole, and is gone now.
    pub torn: u64,
}

/// What a journal says.
#[derive(Debug, Default)]
pub struct History {
    /// The games learned and not taken back, the last first.
    pub games: Vec<GameRecord>,
    /// How many there are in all.
    pub count: u64,
    /// Why the journal and the book do not fit together, where they do not.
    pub doubt: Option<Error>,
}

/// Learns into one Polyglot book.
pub struct Learner {
    pub(super) storage: Box<dyn Storage>,
    pub(super) path: PathBuf,
    pub(super) patience: Duration,
    pub(super) state: Option<JournalState>,
    /// Every learn field of the book was found to be games and half-points.
    pub(super) checked: bool,
    /// The serial of the journal whose name is known to be on the disk.
    pub(super) named: Option<u64>,
    /// When the journal is compacted.
    pub(super) limits: Limits,
    pub(super) places: HashMap<(u64, [MoveCode; 2]), u64>,
    /// What the book must be.
    pub(super) expected: Option<Fingerprint>,
    /// The book's file when it was last seen, and the end of its journal, where that is known.
    pub(super) seen: Option<(Stamp, Option<JournalEnd>)>,
    pub(super) repair: Repair,
}

impl Learner {
    /// Learns into the book of this path; nothing is read or made before something is to be learned.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn new(path: &Path) -> Result<Self> {
        let disk = Disk::new(path).map_err(|error| Error::file(path, "cannot learn into the book", error))?;
        let path = disk.book_path().to_owned();
        Ok(Self::over(Box::new(disk), path))
    }

    /// Learns into a book that lies elsewhere than in the file system; `path` is its name in messages.
    pub fn over(storage: Box<dyn Storage>, path: impl Into<PathBuf>) -> Self {
        Self {
            storage,
            path: path.into(),
            patience: PATIENCE,
            state: None,
            checked: false,
            named: None,
            limits: Limits::default(),
            places: HashMap::new(),
            expected: None,
            seen: None,
            repair: Repair::default(),
        }
    }

    /// Gives up waiting for other processes after this time.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Refuses any book but that of this fingerprint, from now on.
    pub fn expect(&mut self, fingerprint: Option<Fingerprint>) {
        self.expected = fingerprint;
    }

    /// The book, links followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was found unfinished, and mended, since the last time that this was asked.
    pub fn repaired(&mut self) -> Repair {
        std::mem::take(&mut self.repair)
    }

    /// Learns games, all in one go: when it returns each of them is in the book wholly, on the disk.
    ///
    /// With `again` a game is learned though it was learned before.
    ///
    /// # Errors
    /// When the book is no Polyglot book that can be learned into, other processes keep it for too long, the journal
    /// belongs to another book or is damaged, or the disk is full or may not be written. No game is learned by half
    /// then, and none that is tried again is learned twice.
    pub fn learn(&mut self, games: &[IdentifiedGame], again: bool) -> Result<Vec<Outcome>> {
        let played: Vec<Vec<PlayedMove>> = games.iter().map(|known| known.game.played()).collect();
        // Before the lock: to read a large book takes a while, and where it cannot be learned into there shall be no
        // journal.
        let mut book =
            self.storage.book().map_err(|error| self.book_error("cannot write to the book", error))?;
        self.require_expected(&mut *book)?;
        self.notice_another(&mut *book, None)?;
        if !self.checked {
            self.require_plausible(&mut *book)?;
        }
        drop(book);
        self.transact(false, |learner, open| {
            learner.require_expected(&mut *open.book)?;
            learner.require_plausible(&mut *open.book)?;
            let mut outcomes = Vec::with_capacity(games.len());
            let mut records = Vec::new();
            let mut now: HashMap<u32, Field> = HashMap::new();
            let mut new_sides: HashMap<Id, u8> = HashMap::new();
            for (IdentifiedGame { id, game }, played) in games.iter().zip(&played) {
                let known = learner.sides_known(open, *id)? | new_sides.get(id).copied().unwrap_or(0);
                let sides = if again { game.sides_bits() } else { game.sides_bits() & !known };
                if sides == 0 {
                    outcomes.push(Outcome::Known);
                    continue;
                }
                let wanted = |color: Color| sides & color.fold_wb(1, 2) != 0;
                let mut changes = Vec::new();
                for ply in played.iter().filter(|ply| wanted(ply.color)) {
                    let Some(change) = learner.change(open, ply, &now)? else { continue };
                    now.insert(change.index, change.new);
                    changes.push(change);
                }
                if changes.is_empty() {
                    outcomes.push(Outcome::Absent);
                    continue;
                }
                outcomes.push(Outcome::Learned(changes.len()));
                *new_sides.entry(*id).or_default() |= sides;
                records.push(Record::Game(GameRecord {
                    id: *id,
                    sides,
                    result: halfpoints(game.result, Color::White) as u8,
                    time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
                    note: game.record_note(),
                    changes,
                }));
            }
            learner.commit(open, records)?;
            Ok(outcomes)
        })
    }

    /// Takes back the last games that were learned, at most so many; returns how many there were.
    ///
    /// # Errors
    /// As [`Learner::learn`]; where another program has changed an entry since; and where that many games were learned,
    /// but the journal no longer has the records of all (it has at least those of the last
    /// [`UNDO_GAMES`](super::UNDO_GAMES)). Nothing is taken back then.
    pub fn undo(&mut self, count: u32) -> Result<u32> {
        if !self.has_journal()? {
            return Ok(0);
        }
        self.transact(false, |learner, open| {
            let state = learner.state()?;
            let kept = state.games().len();
            if state.folded() > 0 && u64::from(count) > kept as u64 {
                let what = format!("only the last {kept} games that were learned can be taken back");
                return Err(Error::new(ErrorKind::Usage, what)
                    .at_path(&learner.path)
                    .advice(FEWER)
                    .remedied_by(Remedy::ResetLearned));
            }
            let places: Vec<u64> = state
                .games()
                .iter()
                .rev()
                .take(usize::try_from(count).unwrap_or(usize::MAX))
                .map(|known| known.at)
                .collect();
            if places.is_empty() {
                return Ok(0);
            }
            let mut back: HashMap<u32, Change> = HashMap::new();
            for &at in &places {
                let record =
                    record_at(&mut *open.journal, at).map_err(|error| learner.journal_error(error))?;
                for change in record.iter().flat_map(Record::changes) {
                    let now = match back.get(&change.index) {
                        Some(later) => later.new,
                        None => learner.field(open, change)?,
                    };
                    if now != change.new {
                        let what = "an entry was changed by another program since the game was learned";
                        let offset = u64::from(change.index) * ENTRY_LEN as u64;
                        return Err(Error::format(&learner.path, what)
                            .at_offset(offset)
                            .advice(FEWER)
                            .remedied_by(Remedy::ResetLearned));
                    }
                    let first = back.entry(change.index).or_insert(Change { old: now, ..*change });
                    first.new = change.old;
                }
            }
            let mut changes: Vec<Change> = back.into_values().collect();
            changes.sort_by_key(|change| change.index);
            let games = places.len() as u32;
            learner.commit(open, vec![Record::Undo { games, changes }])?;
            Ok(games)
        })
    }

    /// Sets every learn field of the book to nothing, whatever it holds, and forgets which games were learned. A journal
    /// that is damaged or belongs to another book is begun again.
    ///
    /// # Errors
    /// As [`Learner::learn`], but for what the fields and the journal hold.
    pub fn reset(&mut self) -> Result<()> {
        self.transact(true, |learner, open| learner.commit(open, vec![Record::Reset]))
    }

    /// Finishes what another process has begun, if there is anything, and says what was found.
    ///
    /// # Errors
    /// As [`Learner::learn`].
    pub fn recover(&mut self) -> Result<Repair> {
        if self.has_journal()? {
            self.transact(false, |_, _| Ok(()))?;
        }
        Ok(self.repaired())
    }

    /// What the journal says, with at most so many games. Nothing is written.
    ///
    /// # Errors
    /// When the journal cannot be read, or is damaged.
    pub fn history(&mut self, most: usize) -> Result<History> {
        let claim = self.storage.claim(self.patience, false);
        let mut journal = match claim.map_err(|error| self.journal_error(error))? {
            Claim::Ours(journal) => journal,
            Claim::Busy => return Err(self.busy()),
            Claim::Missing => return Ok(History::default()),
        };
        // A book that may not be written is not compared with what was written into it.
        let mut book = self.storage.book().ok();
        let cannot = |error| self.book_error("cannot read the book", error);
        let owner = book.as_mut().map(|book| owner_of(&mut **book)).transpose().map_err(cannot)?;
        let state = match JournalState::read(&mut *journal) {
            Ok(state) => state,
            Err(JournalError::NoHeader) => return Ok(History::default()),
            Err(error) => {
                let torn = match owner {
                    Some(owner) => self.is_torn(&mut *journal, owner)?,
                    None => false,
                };
                return if torn { Ok(History::default()) } else { Err(self.journal_problem(error)) };
            }
        };
        let stale = match &mut book {
            Some(book) => self.is_stale(&state, &mut **book)?,
            None => false,
        };
        let doubt = match owner {
            Some(owner) if state.header.owner != owner => Some(self.of_another_book()),
            _ => stale.then(|| self.stale()),
        };
        let mut games = Vec::new();
        for known in state.games().iter().rev().take(most) {
            match record_at(&mut *journal, known.at) {
                Ok(Some(Record::Game(game))) => games.push(game),
                Ok(_) => {}
                Err(error) => return Err(self.journal_error(error)),
            }
        }
        let count = state.folded().saturating_add(state.games().len() as u64);
        Ok(History { games, count, doubt })
    }

    fn has_journal(&mut self) -> Result<bool> {
        match self.storage.claim(self.patience, false) {
            Ok(Claim::Missing) => Ok(false),
            Ok(Claim::Busy) => Err(self.busy()),
            Ok(Claim::Ours(_)) => Ok(true),
            Err(error) => Err(self.journal_error(error)),
        }
    }

    /// What a move changes in the book, where it is an entry; `now` has the fields that are changed but not written yet.
    fn change(
        &mut self,
        open: &mut Open,
        ply: &PlayedMove,
        now: &HashMap<u32, Field>,
    ) -> Result<Option<Change>> {
        let path = self.path.clone();
        let cannot = |error| Error::file(&path, "cannot read the book", error);
        let place = (ply.key, ply.codes);
        let mut pages = self.pages(open)?;
        let mut found = match self.places.get(&place) {
            Some(index) => pages.entry(*index).map_err(cannot)?.map(|entry| (*index, entry)),
            None => None,
        };
        found = found.filter(|(_, entry)| entry.key == ply.key && ply.codes.contains(&entry.mv));
        if found.is_none() {
            found = pages.find(ply.key, ply.codes).map_err(cannot)?;
            if self.places.len() >= PLACES_MAX {
                self.places.clear();
            }
            self.places.extend(found.map(|(index, _)| (place, index)));
        }
        let Some((index, entry)) = found else { return Ok(None) };
        let Ok(number) = u32::try_from(index) else { return Ok(None) };
        let old =
            now.get(&number).copied().unwrap_or(Field { games: entry.games, halfpoints: entry.halfpoints });
        if !old.is_plausible() {
            // Another program writes something else into it.
            self.checked = false;
            return Err(self.not_learned_into(index));
        }
        Ok(Some(Change { index: number, key: entry.key, mv: entry.mv, old, new: old.plus(ply.halfpoints) }))
    }

    /// The field of a change's entry as it stands in the book.
    fn field(&self, open: &mut Open, change: &Change) -> Result<Field> {
        let cannot = |error| self.book_error("cannot read the book", error);
        let entry = self.pages(open)?.entry(change.index.into()).map_err(cannot)?;
        Ok(entry.map_or(Field::default(), |entry| Field { games: entry.games, halfpoints: entry.halfpoints }))
    }

    /// Refuses a book that is not the expected one.
    fn require_expected(&self, book: &mut dyn Bytes) -> Result<()> {
        let Some(expected) = self.expected else { return Ok(()) };
        let cannot = |error| self.book_error("cannot read the book", error);
        let fingerprint = Pages::new(book).and_then(|mut pages| pages.fingerprint()).map_err(cannot)?;
        if fingerprint == expected {
            return Ok(());
        }
        Err(Error::format(&self.path, "this is another book than the one that the game was played from")
            .advice("put that book back, and the game is learned"))
    }

    /// Looks at every learn field again where the book was replaced since it was last seen, or where another program
    /// has written into it: the journal, which ends at `end`, has grown where it was a tabiya.
    pub(super) fn notice_another(&mut self, book: &mut dyn Bytes, end: Option<JournalEnd>) -> Result<()> {
        let stamp = book.stamp().map_err(|error| self.book_error("cannot read the book", error))?;
        if let (Some((seen, seen_end)), Some(stamp)) = (self.seen, stamp) {
            let written = seen.modified != stamp.modified && end.is_some() && end == seen_end;
            if seen.file != stamp.file || written {
                self.checked = false;
                self.places.clear();
            }
        }
        Ok(())
    }

    /// Refuses a book in which any learn field holds something else than games and half-points.
    fn require_plausible(&mut self, book: &mut dyn Bytes) -> Result<()> {
        if self.checked {
            return Ok(());
        }
        let cannot = |error| self.book_error("cannot read the book", error);
        let found = Pages::new(book).and_then(|mut pages| pages.first_implausible()).map_err(cannot)?;
        if let Some(index) = found {
            return Err(self.not_learned_into(index));
        }
        self.checked = true;
        Ok(())
    }

    pub(super) fn pages<'a>(&self, open: &'a mut Open) -> Result<Pages<'a>> {
        Pages::new(&mut *open.book).map_err(|error| self.book_error("cannot read the book", error))
    }

    pub(super) fn state(&self) -> Result<&JournalState> {
        self.state.as_ref().ok_or_else(unread)
    }

    fn sides_known(&self, open: &mut Open, id: Id) -> Result<u8> {
        self.state()?.sides_of(&mut *open.journal, id).map_err(|error| self.journal_problem(error))
    }
}
