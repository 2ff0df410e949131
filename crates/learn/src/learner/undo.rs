//! Taking learned games back, whatever edits have done to their entries since.

use std::collections::{BTreeMap, HashMap};

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::MoveCode;

use super::Learner;
use super::transact::Transaction;
use crate::book::offset_of;
use crate::error::LearnError;
use crate::field::Field;
use crate::journal::{Change, JournalRecord, JournalState, LearnedGame, record_at};

/// An entry that an edit deleted, or that it added or brought back.
pub(super) struct Event {
    /// The number of the edit.
    edit: usize,
    is_deleted: bool,
    entry: PolyglotEntry,
}

/// What edits did to entries, by key and move, in the order of the edits.
pub(super) type Events = HashMap<(u64, MoveCode), Vec<Event>>;

/// What takes games back: by the number, key and move of each entry, its change, and corrections of earlier games that
/// stay, the last first.
type Back = BTreeMap<(u32, u64, u16), (Change, Vec<Change>)>;

/// A change that is taken back.
struct Taken {
    /// The offset of its record.
    at: u64,
    change: Change,
    /// Whether a game made it, not a correction.
    is_game: bool,
    /// Whether it is that of an earlier game, and made again.
    is_kept: bool,
}

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
            let held = games.iter().filter(|known| known.known_result().is_some()).count();
            if transaction.state.compacted() > 0 && u64::from(count) > held as u64 {
                let what = format!("only the last {held} games that were learned can be undone");
                return Err(learner.too_many(Error::new(ErrorKind::Usage, what)).into());
            }
            let mut left = count;
            let games = games.iter().rev().take_while(|known| {
                let is_wanted = left > 0;
                // One that was taken back because it has no result does not count.
                left = left.saturating_sub(known.known_result().is_some().into());
                is_wanted
            });
            let games: Vec<LearnedGame> = games.copied().collect();
            let Some(first) = games.last() else { return Ok(0) };
            let events = events_since(transaction, first.at)?;
            let mut back = Back::new();
            for (at, size, is_taken_back) in records_since(&transaction.state, &games) {
                let record = record_at(&mut *transaction.journal, at, size)?;
                let is_game = matches!(record, JournalRecord::Game(_));
                for change in record.changes() {
                    let taken = Taken { at, change: *change, is_game, is_kept: !is_taken_back };
                    learner.take_back_change(transaction, &events, taken, &mut back)?;
                }
            }
            let changes = back.into_values().map(|(mut change, kept)| {
                // The corrections of earlier games are made again, the first one first.
                change.new = kept.iter().rev().fold(change.new, |now, kept| now.shifted(kept.old, kept.new));
                change
            });
            let changes = changes.collect();
            transaction.add(JournalRecord::Undo { games: games.len() as u32, changes })?;
            Ok(games.iter().filter(|known| known.known_result().is_some()).count() as u32)
        })
    }

    /// Adds to `back` what takes back a change that a game or its correction made.
    fn take_back_change(
        &self,
        transaction: &mut Transaction,
        events: &Events,
        Taken { at, mut change, is_game, is_kept }: Taken,
        back: &mut Back,
    ) -> Result<(), LearnError> {
        let Transaction { state, book, .. } = transaction;
        let deleted = deleted_by(state, events.get(&(change.key, change.mv)), at);
        if let Some((edit, _)) = deleted {
            let Some(index) = Change::index_deleted(state.edits.len() - edit) else { return Ok(()) };
            change.index = index;
        } else if state.renumbered_since(at) {
            // Another program may have deleted it.
            let Some((index, _)) = book.find(change.key, [change.mv; 2])? else { return Ok(()) };
            change.index = index as u32;
        }
        let place = (change.index, change.key, change.mv.0);
        let now = match (back.get(&place), deleted) {
            (Some((later, _)), _) => later.new,
            (None, Some((_, entry))) => Field::from(entry),
            (None, None) => book.entry(change.index.into())?.map(Field::from).unwrap_or_default(),
        };
        if is_game && now != change.new {
            if deleted.is_some() {
                return Ok(());
            }
            let what = "an entry was changed by another program since the game was learned";
            let offset = offset_of(change.index.into());
            let error = Error::new(ErrorKind::Format, what).at_offset(offset);
            return Err(self.too_many(error).into());
        }
        let (whole, kept) = back.entry(place).or_insert((Change { old: now, ..change }, Vec::new()));
        // Where games were taken back since, a correction did not find what is here now.
        whole.new = if is_game { change.old } else { now.shifted(change.new, change.old) };
        kept.extend(is_kept.then_some(change));
        Ok(())
    }

    /// The error where that many games cannot be taken back.
    fn too_many(&self, error: Error) -> Error {
        error.at_path(&self.path).advice("undo fewer games").remedied_by(Remedy::ResetLearned)
    }
}

/// The records that are taken back with these games, the last first: theirs, and corrections since the first of them. Each has its
/// offset, its length, and whether its game is one of these.
fn records_since(state: &JournalState, games: &[LearnedGame]) -> Vec<(u64, u32, bool)> {
    let first = games.last().map_or(0, |known| known.at);
    let mut records: Vec<(u64, u32, bool)> = games.iter().map(|known| (known.at, known.size, true)).collect();
    for known in &state.games {
        let later = known.correction.filter(|correction| correction.at > first);
        records.extend(later.map(|correction| (correction.at, correction.size, known.at >= first)));
    }
    records.sort_unstable_by_key(|record| std::cmp::Reverse(record.0));
    records
}

/// What the edits after this offset of the journal did to entries. Of a move that a book has twice, the first learns.
pub(super) fn events_since(transaction: &mut Transaction, at: u64) -> Result<Events, LearnError> {
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
pub(super) fn deleted_by(
    state: &JournalState,
    events: Option<&Vec<Event>>,
    at: u64,
) -> Option<(usize, PolyglotEntry)> {
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
