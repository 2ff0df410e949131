//! Taking learned games back, whatever edits have done to their entries since.

use std::collections::{BTreeMap, HashMap};

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_book::polyglot::layout::ENTRY_LEN;
use tabiya_chess::MoveCode;

use super::Learner;
use super::transact::Transaction;
use crate::error::LearnError;
use crate::field::Field;
use crate::journal::{Change, JournalRecord, JournalState, LearnedGame, record_at, record_of};

/// An entry that an edit deleted, or that it added or brought back.
struct Event {
    /// The number of the edit.
    edit: usize,
    is_deleted: bool,
    entry: PolyglotEntry,
}

/// What edits did to entries, by key and move, in the order of the edits.
type Events = HashMap<(u64, MoveCode), Vec<Event>>;

impl Learner {
    /// Takes back the last games that were learned, at most `count`; returns how many there were. An entry that an edit has
    /// deleted since loses what they gave it, too, if it comes back; one that was added in its place keeps what it has.
    ///
    /// # Errors
    /// As [`Learner::learn`]; where another program has changed an entry since; and where that many games were learned,
    /// but the journal no longer has the records of all (it has at least those of the last
    /// [`UNDO_GAMES`](super::compact::UNDO_GAMES)). Nothing is taken back then.
    pub fn undo(&mut self, count: u32) -> Result<u32> {
        if self.claim(false)?.is_none() {
            return Ok(0);
        }
        self.transact(false, |learner, transaction| {
            let games = &transaction.state.games;
            if transaction.state.compacted() > 0 && u64::from(count) > games.len() as u64 {
                let what = format!("only the last {} games that were learned can be undone", games.len());
                return Err(learner.too_many(Error::new(ErrorKind::Usage, what)).into());
            }
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let games: Vec<LearnedGame> = games.iter().rev().take(count).copied().collect();
            let Some(first) = games.last() else { return Ok(0) };
            let events = events_since(transaction, first.at)?;
            let mut back: BTreeMap<(u32, u64, u16), Change> = BTreeMap::new();
            for known in &games {
                for change in record_of(&mut *transaction.journal, known)?.changes {
                    learner.take_back_change(transaction, &events, (known, change), &mut back)?;
                }
            }
            let (games, changes) = (games.len() as u32, back.into_values().collect());
            transaction.add(JournalRecord::Undo { games, changes })?;
            Ok(games)
        })
    }

    /// Adds to `back` what takes back a change that a game made.
    fn take_back_change(
        &self,
        transaction: &mut Transaction,
        events: &Events,
        (game, mut change): (&LearnedGame, Change),
        back: &mut BTreeMap<(u32, u64, u16), Change>,
    ) -> Result<(), LearnError> {
        let Transaction { state, book, .. } = transaction;
        let deleted = deleted_by(state, events.get(&(change.key, change.mv)), game.at);
        if let Some((edit, _)) = deleted {
            let Some(index) = Change::index_deleted(state.edits.len() - edit) else { return Ok(()) };
            change.index = index;
        } else if state.renumbered_since(game.at) {
            // Another program may have deleted it.
            let Some((index, _)) = book.find(change.key, [change.mv; 2])? else { return Ok(()) };
            change.index = index as u32;
        }
        let place = (change.index, change.key, change.mv.0);
        let now = match (back.get(&place), deleted) {
            (Some(later), _) => later.new,
            (None, Some((_, entry))) => Field::from(entry),
            (None, None) => book.entry(change.index.into())?.map(Field::from).unwrap_or_default(),
        };
        if now != change.new {
            if deleted.is_some() {
                return Ok(());
            }
            let what = "an entry was changed by another program since the game was learned";
            let offset = u64::from(change.index) * ENTRY_LEN as u64;
            let error = Error::new(ErrorKind::Format, what).at_offset(offset);
            return Err(self.too_many(error).into());
        }
        back.entry(place).or_insert(Change { old: now, ..change }).new = change.old;
        Ok(())
    }

    /// The error where that many games cannot be taken back.
    fn too_many(&self, error: Error) -> Error {
        error.at_path(&self.path).advice("undo fewer games").remedied_by(Remedy::ResetLearned)
    }
}

/// What the edits after this offset of the journal did to entries. Of a move that a book has twice, the first learns.
fn events_since(transaction: &mut Transaction, at: u64) -> Result<Events, LearnError> {
    let Transaction { state, journal, .. } = transaction;
    let mut events = Events::new();
    let later = state.edits.iter().enumerate().filter(|(_, known)| known.at > at && known.renumbers);
    for (number, known) in later {
        let JournalRecord::Edit(edit) = record_at(&mut **journal, known.at, known.size)? else {
            return Err(LearnError::Damaged(known.at));
        };
        for change in edit.changes.iter().filter(|change| change.growth() != 0) {
            let Some(entry) = change.new.or(change.old) else { continue };
            let of = events.entry((entry.key, entry.mv)).or_default();
            if of.last().is_none_or(|last| last.edit != number) {
                of.push(Event { edit: number, is_deleted: change.new.is_none(), entry });
            }
        }
    }
    Ok(events)
}

/// The edit that deleted the entry that was in the book at this offset of the journal, and what is left of the entry; `None` if
/// it is in the book. One that was added in its place is another one.
fn deleted_by(state: &JournalState, events: Option<&Vec<Event>>, at: u64) -> Option<(usize, PolyglotEntry)> {
    let mut deleted = None;
    for event in events.into_iter().flatten() {
        let Some(known) = state.edits.get(event.edit).filter(|known| known.at > at) else { continue };
        deleted = match deleted {
            None if event.is_deleted => Some((event.edit, state.left_of(event.edit, event.entry))),
            // It came back as it was. An edit that only does the same as one that was taken back adds a new one.
            Some((edit, left))
                if !event.is_deleted && known.reverses == Some(edit) && same(left, event.entry) =>
            {
                None
            }
            unchanged => unchanged,
        };
    }
    deleted
}

/// Whether two entries have learned the same.
fn same(a: PolyglotEntry, b: PolyglotEntry) -> bool {
    Field::from(a) == Field::from(b)
}
