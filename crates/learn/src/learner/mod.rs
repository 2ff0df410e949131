//! Learning into one book: each change of it is a transaction under the journal's lock.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a game has at most two half-points, and a journal fewer than 2^32 games"
)]

pub(crate) mod compact;
mod correct;
mod edit;
mod transact;
mod undo;

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use shakmaty::Color;

use crate::fingerprint::Fingerprint;
use tabiya_base::error::{Error, Result};
use tabiya_book::traverse::KeyHasher;
use tabiya_chess::MoveCode;

use self::compact::CompactLimits;
use self::correct::{ByLine, Corrected};
use self::transact::Transaction;
use super::book::{BookEntries, FoundEntries, offset_of};
use super::error::LearnError;
use super::field::{Field, halfpoints};
use super::finished::{IdentifiedGame, PlayedMove, Source};
use super::journal::{Change, FIRST_DELETED, GameRecord, JournalRecord, JournalState, record_of};
use super::storage::{Disk, Stamp, Storage, StoredBytes};

pub use self::correct::{Compared, Comparison};
pub use self::edit::{Attempt, EntryEdit, MadeEdit, Reversal, WeightChange};

/// How long another process may keep the journal locked before we give up, by default.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Moves, each with the key of its position.
pub type MovesOfKeys = HashSet<(u64, MoveCode), BuildHasherDefault<KeyHasher>>;

/// What became of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearnOutcome {
    /// It is learned: this many entries changed, and the disk has them.
    Learned(usize),
    /// It was learned before.
    Known,
    /// None of its moves is an entry of the book, or it has no result.
    Absent,
    /// It was learned while it was played, with the result that its file has.
    Confirmed,
    /// It was learned while it was played, with another result than its file has: that is corrected, in this many entries.
    Corrected(usize),
    /// It was learned while it was played, and has no result: that is taken back, in this many entries.
    Withdrawn(usize),
}

/// What a journal says.
#[derive(Debug, Default)]
pub struct History {
    /// The games learned and not taken back, the last first.
    pub games: Vec<GameRecord>,
    /// How many there are in all.
    pub count: u64,
    /// How many of those whose records the journal has were learned by a guess that no file has confirmed or corrected.
    pub guesses: u64,
    /// Why the journal and the book do not fit together, where they do not.
    pub doubt: Option<Error>,
}

/// Learns into one Polyglot book.
pub struct Learner {
    storage: Box<dyn Storage>,
    path: PathBuf,
    patience: Duration,
    state: Option<JournalState>,
    /// Every learn field of the book was found to be games and half-points.
    checked: bool,
    /// The serial of the journal whose name is known to be on the disk.
    named: Option<u64>,
    /// When the journal is compacted.
    pub(super) limits: CompactLimits,
    /// The fingerprint that the book must have.
    expected: Option<Fingerprint>,
    /// The book's file after the last transaction, where that is known.
    seen: Option<Stamp>,
}

impl Learner {
    /// Learns into the book of this path; nothing is read or created before something is to be learned.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn new(path: &Path) -> Result<Self> {
        let disk = Disk::new(path).map_err(|error| Error::file(path, "cannot learn into the book", error))?;
        let path = disk.book.clone();
        Ok(Self::over(Box::new(disk), path))
    }

    /// Learns into a book that is stored elsewhere than in the file system; `path` is its name in messages.
    pub fn over(storage: Box<dyn Storage>, path: impl Into<PathBuf>) -> Self {
        Self {
            storage,
            path: path.into(),
            patience: PATIENCE,
            state: None,
            checked: false,
            named: None,
            limits: CompactLimits::default(),
            expected: None,
            seen: None,
        }
    }

    /// Sets how long to wait for other processes.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Refuses any book without this fingerprint, from now on.
    pub fn expect(&mut self, fingerprint: Option<Fingerprint>) {
        self.expected = fingerprint;
    }

    /// An error as users see it.
    fn worded(&self, error: LearnError) -> Error {
        error.worded(&self.path, self.patience)
    }

    /// The book, links followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Learns games in one transaction: when it returns, each of them is in the book entirely, on the disk.
    ///
    /// With `again` a game is learned even if it was learned before. Otherwise a game of a file that was learned while it was
    /// played is not learned again: its result is corrected if the file has another.
    ///
    /// # Errors
    /// When the book is not a Polyglot book that can be learned into, other processes keep the journal locked for too
    /// long, the journal belongs to another book or is damaged, or the disk is full or may not be written. No game is
    /// half learned then, and none that is tried again is learned twice.
    pub fn learn(&mut self, games: &[IdentifiedGame], again: bool) -> Result<Vec<LearnOutcome>> {
        self.learn_counting(games, again, &mut MovesOfKeys::default())
    }

    /// As [`Learner::learn`]; the keys and moves of the entries that change are added to `entries`.
    ///
    /// # Errors
    /// As [`Learner::learn`].
    pub fn learn_counting(
        &mut self,
        games: &[IdentifiedGame],
        again: bool,
        entries: &mut MovesOfKeys,
    ) -> Result<Vec<LearnOutcome>> {
        let played: Vec<Vec<PlayedMove>> = games.iter().map(|known| known.game.played()).collect();
        // Before the lock: reading a large book takes a while, and a book that cannot be learned into must get no
        // journal.
        let mut book = self.book()?;
        self.notice_another(&mut book, false)?;
        self.check(&mut book, None).map_err(|error| self.worded(error))?;
        drop(book);
        self.transact(false, |learner, transaction| {
            learner.check(&mut transaction.book, Some(&transaction.state))?;
            let found = entries_of(transaction, games.iter().zip(&played), again)?;
            let mut now: HashMap<u32, Field> = HashMap::new();
            let corrects = !again && games.iter().any(|known| known.source.is_file());
            let before = ByLine::correctable(if corrects { &transaction.state.games } else { &[] });
            let each = games.iter().zip(&played);
            each.map(|(known, played)| {
                let sides = known.game.sides_bits();
                let (sides, corrected) = match again {
                    true => (sides, Corrected::default()),
                    false => Self::unlearned(transaction, &before, known, &mut now)?,
                };
                let changed = Self::learn_sides(transaction, known, sides, played, &found, &mut now)?;
                let changed_entries = changed.len();
                entries.extend(changed);
                let entries = changed_entries;
                Ok(match (entries, corrected) {
                    (_, Corrected { is_wrong: true, entries, .. }) if known.source == Source::Unfinished => {
                        LearnOutcome::Withdrawn(entries)
                    }
                    (more, Corrected { is_wrong: true, entries, .. }) => {
                        LearnOutcome::Corrected(entries + more)
                    }
                    (0, Corrected { sides: 1.., .. }) => LearnOutcome::Confirmed,
                    (0, _) if sides == 0 => LearnOutcome::Known,
                    (0, _) => LearnOutcome::Absent,
                    (entries, _) => LearnOutcome::Learned(entries),
                })
            })
            .collect()
        })
    }

    /// The sides of a game that were not learned, after what was learned of a game of a file while it was played is corrected.
    fn unlearned(
        transaction: &mut Transaction,
        before: &ByLine,
        known: &IdentifiedGame,
        now: &mut HashMap<u32, Field>,
    ) -> Result<(u8, Corrected), LearnError> {
        let mut sides = transaction.unlearned_sides(known)?;
        let mut corrected = Corrected::default();
        if sides != 0 && known.source.is_file() {
            corrected = Self::correct(transaction, before, known, sides, now)?;
            sides &= !corrected.sides;
            let Transaction { journal, pages, state, .. } = &mut *transaction;
            sides &= !state.stored_sides(&mut **journal, pages, &correct::lines(known))?;
        }
        Ok((sides, corrected))
    }

    /// Learns sides of a game; returns the keys and moves of the entries that this changes.
    fn learn_sides(
        transaction: &mut Transaction,
        known: &IdentifiedGame,
        sides: u8,
        played: &[PlayedMove],
        found: &FoundEntries,
        now: &mut HashMap<u32, Field>,
    ) -> Result<Vec<(u64, MoveCode)>, LearnError> {
        let IdentifiedGame { id, game, source } = known;
        if *source == Source::Unfinished {
            return Ok(Vec::new());
        }
        let wanted = |color: Color| sides & color.fold_wb(1, 2) != 0;
        let mut changes = Vec::new();
        for ply in played.iter().filter(|ply| wanted(ply.color)) {
            let Some(change) = change(found, ply, now)? else { continue };
            now.insert(change.index, change.new);
            changes.push(change);
        }
        let entries: Vec<(u64, MoveCode)> = changes.iter().map(|change| (change.key, change.mv)).collect();
        if !entries.is_empty() {
            transaction.add(JournalRecord::Game(GameRecord {
                id: *id,
                sides,
                result: halfpoints(game.result, Color::White) as u8,
                guess: *source == Source::Scores,
                time: now_in_seconds(),
                note: game.record_note(),
                changes,
            }))?;
        }
        Ok(entries)
    }

    /// Sets every learn field of the book to zero, whatever it holds, and forgets which games were learned. A journal that
    /// is damaged or belongs to another book is replaced by a new one.
    ///
    /// # Errors
    /// As [`Learner::learn`], except for the contents of the fields and the journal.
    pub fn reset(&mut self) -> Result<()> {
        self.checked = false;
        self.transact(true, |_, transaction| transaction.add(JournalRecord::Reset))
    }

    /// Finishes what another process has begun, if there is anything.
    ///
    /// # Errors
    /// As [`Learner::learn`].
    pub fn recover(&mut self) -> Result<()> {
        if self.claim(false)?.is_none() { Ok(()) } else { self.transact(false, |_, _| Ok(())) }
    }

    /// What the journal says, with at most `most` games. Nothing is written.
    ///
    /// # Errors
    /// When the journal cannot be read, or is damaged.
    pub fn history(&mut self, most: usize) -> Result<History> {
        let Some(mut journal) = self.claim(false)? else { return Ok(History::default()) };
        self.history_of(&mut *journal, most).map_err(|error| self.worded(error))
    }

    fn history_of(&mut self, journal: &mut dyn StoredBytes, most: usize) -> Result<History, LearnError> {
        // A book that may not be written is not compared with what was written into it.
        let mut book = self.book().ok();
        let owner = book.as_mut().map(BookEntries::owner).transpose()?;
        let Some(state) = transact::read(None, journal, owner)?.filter(|state| !state.is_blank()) else {
            return Ok(History::default());
        };
        let doubt = match &mut book {
            Some(book) => match transact::mismatch(&state, book)? {
                None => transact::is_stale(&state, book)?.then_some(LearnError::OldBook),
                mismatch => mismatch,
            },
            None => None,
        };
        let doubt = doubt.map(|doubt| self.worded(doubt));
        let known = state.games.iter().filter(|known| known.known_result().is_some());
        let count = state.compacted().saturating_add(known.clone().count() as u64);
        let guesses = known.clone().filter(|known| known.is_guess()).count() as u64;
        let games = known.rev().take(most).map(|known| Ok(record_of(journal, known)?.corrected(known)));
        Ok(History { games: games.collect::<Result<_, LearnError>>()?, count, guesses, doubt })
    }

    /// Requires another look at every learn field where the book was replaced since the last transaction, or where another
    /// program has written into it: the journal would have changed if it had been a tabiya.
    fn notice_another(&mut self, book: &mut BookEntries, same_journal: bool) -> Result<()> {
        if let (Some(seen), Some(stamp)) = (self.seen, book.stamp()?)
            && (seen.file != stamp.file || same_journal && seen.modified != stamp.modified)
        {
            self.checked = false;
        }
        Ok(())
    }

    /// Whether the book is the expected one, or has become what it is by edits since.
    fn is_expected(
        &mut self,
        book: &mut BookEntries,
        state: Option<&JournalState>,
    ) -> Result<bool, LearnError> {
        let Some(expected) = self.expected else { return Ok(true) };
        let owner = book.owner()?;
        if owner.fingerprint == expected {
            return Ok(true);
        }
        if let Some(state) = state {
            return Ok(state.knows(expected));
        }
        let Some(mut journal) = self.claim(false)? else { return Ok(false) };
        let state = transact::read(None, &mut *journal, Some(owner))?;
        let Some(state) = state.filter(|state| state.knows(expected)) else { return Ok(false) };
        match transact::mismatch(&state, book)? {
            None => Ok(true),
            // The book is another one, and its journal is still that of the expected one.
            Some(LearnError::OtherJournal) => Ok(false),
            Some(other) => Err(other),
        }
    }

    /// Refuses a book that is not the expected one, or in which a learn field holds something other than games and
    /// half-points.
    fn check(&mut self, book: &mut BookEntries, state: Option<&JournalState>) -> Result<(), LearnError> {
        if !self.is_expected(book, state)? {
            return Err(LearnError::OtherBook);
        }
        if !self.checked
            && let Some(index) = book.first_implausible()?
        {
            return Err(LearnError::OtherFields(offset_of(index)));
        }
        self.checked = true;
        Ok(())
    }
}

/// The entries of the moves of games that were not learned.
fn entries_of<'a>(
    transaction: &mut Transaction,
    games: impl Iterator<Item = (&'a IdentifiedGame, &'a Vec<PlayedMove>)>,
    again: bool,
) -> Result<FoundEntries, LearnError> {
    let mut moves = Vec::new();
    for (known, played) in games {
        if known.source != Source::Unfinished && (again || transaction.unlearned_sides(known)? != 0) {
            moves.extend(played.iter().map(|ply| (ply.key, ply.codes)));
        }
    }
    Ok(transaction.book.find_each(moves)?)
}

/// What a move changes in the book, if it is an entry; `now` has the fields that are changed but not written yet.
fn change(
    found: &FoundEntries,
    ply: &PlayedMove,
    now: &HashMap<u32, Field>,
) -> Result<Option<Change>, LearnError> {
    let Some((index, entry)) = found.get(&(ply.key, ply.codes)) else { return Ok(None) };
    let Some(number) = u32::try_from(*index).ok().filter(|number| *number < FIRST_DELETED) else {
        return Ok(None);
    };
    let old = now.get(&number).copied().unwrap_or(Field::from(*entry));
    if !old.is_plausible() {
        // Another program writes something else into the field.
        return Err(LearnError::OtherFields(offset_of(*index)));
    }
    Ok(Some(Change { index: number, key: entry.key, mv: entry.mv, old, new: old.plus(ply.halfpoints) }))
}

/// The time in seconds since 1970.
fn now_in_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
