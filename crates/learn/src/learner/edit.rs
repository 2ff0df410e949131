//! Edits of entries by hand, which the journal can take back.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::edit::{Change, Edit, EditValue, no_moves_left};
use tabiya_book::polyglot::entry::PolyglotEntry;
use tabiya_chess::MoveCode;

use super::transact::Transaction;
use super::{Learner, now_in_seconds};
use crate::book::{BookEntries, offset_of};
use crate::error::LearnError;
use crate::journal::{EditRecord, EntryChange, FIRST_DELETED, JournalRecord, record_at};

/// A move with its weight before and after an edit; `None` where the book does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightChange {
    /// The Polyglot key of its position.
    pub key: u64,
    /// Its code.
    pub mv: MoveCode,
    /// Its weight before.
    pub before: Option<u64>,
    /// Its weight after.
    pub after: Option<u64>,
}

/// An edit of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryEdit {
    /// The Polyglot key of the position.
    pub key: u64,
    /// The codes of the move, the usual one first.
    pub codes: [MoveCode; 2],
    /// What becomes of the move.
    pub edit: Edit,
}

/// An edit that was made or taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeEdit {
    /// Which position was edited, in the words of the edit.
    pub note: String,
    /// The moves with their weights before and after, those of duplicates added up; `None` where the book did not or does not
    /// have the move.
    pub weights: Vec<WeightChange>,
}

/// What became of the wish to take back an edit, or to make one again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reversal {
    Made(MadeEdit),
    /// Another edit is next: it would change this.
    Other(MadeEdit),
    /// No edit is left.
    Nothing,
}

/// What became of edits of entries that were expected to have weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    Made(MadeEdit),
    /// The move has this weight, or `None` if the book does not have it; nothing has changed.
    Unexpected(Option<u64>),
}

impl Learner {
    /// Changes entries in one transaction: when it returns, the book has all changes, on the disk. What was learned, and
    /// that it was learned, stays. `note` says which position it is. Nothing is changed unless the first moves have the weights
    /// that are `expected` (`None`: the book does not have the move) at the moment at which they are written: no process
    /// changes them in between.
    ///
    /// Weights are changed in their places. If entries are added or deleted, the book is rewritten beside the old file and
    /// replaces it; programs that have that open keep what it held.
    ///
    /// # Errors
    /// When a move to add is in the book, or another is not; when the book would have no moves; when its entries are not in
    /// order; and as [`Learner::learn`]. Nothing has changed then.
    pub fn edit(&mut self, edits: &[EntryEdit], expected: &[Option<u64>], note: &str) -> Result<Attempt> {
        // Before the lock: what is refused must not leave a journal.
        let mut book = self.book()?;
        if let Some(now) = unexpected(&mut book, edits, expected)? {
            return Ok(Attempt::Unexpected(now));
        }
        if planned(&mut book, edits)?.is_empty() {
            return Ok(Attempt::Made(MadeEdit { note: note.to_owned(), weights: Vec::new() }));
        }
        let ordered = book.ordered;
        drop(book);
        self.transact(false, |learner, transaction| {
            transaction.book.ordered = ordered;
            if let Some(now) = unexpected(&mut transaction.book, edits, expected)? {
                return Ok(Attempt::Unexpected(now));
            }
            let changes = planned(&mut transaction.book, edits)?;
            let made = MadeEdit { note: note.to_owned(), weights: weights(&mut transaction.book, &changes)? };
            learner.commit_edit(transaction, changes, made, false).map(Attempt::Made)
        })
    }

    /// Takes back the last edit, or (unless `undo`) makes the one that was taken back last again, if what that changes is what is
    /// meant. No process makes another edit in between.
    ///
    /// # Errors
    /// When another program has changed one of the entries since, and as [`Learner::learn`]. Nothing has changed then.
    pub fn reverse_edit(&mut self, undo: bool, is_meant: impl FnOnce(&MadeEdit) -> bool) -> Result<Reversal> {
        if self.claim(false)?.is_none() {
            return Ok(Reversal::Nothing);
        }
        self.transact(false, |learner, transaction| {
            let state = &transaction.state;
            let numbers = if undo { &state.undoable } else { &state.redoable };
            let last = numbers.last().and_then(|number| Some((*number, *state.edits.get(*number)?)));
            let Some((number, known)) = last else { return Ok(Reversal::Nothing) };
            let JournalRecord::Edit(edit) = record_at(&mut *transaction.journal, known.at, known.size)?
            else {
                return Err(LearnError::Damaged(known.at));
            };
            let left = |entry| state.left_of(number, entry);
            let changes = taken_back(&mut transaction.book, &edit.changes, left)?;
            let next = MadeEdit { note: edit.note, weights: weights(&mut transaction.book, &changes)? };
            if !is_meant(&next) {
                return Ok(Reversal::Other(next));
            }
            learner.commit_edit(transaction, changes, next, undo).map(Reversal::Made)
        })
    }

    fn commit_edit(
        &self,
        transaction: &mut Transaction,
        changes: Vec<EntryChange>,
        made: MadeEdit,
        undo: bool,
    ) -> Result<MadeEdit, LearnError> {
        if !transaction.state.pending.is_empty() {
            // What was learned last could not be noted as done. Its entries must not get other numbers before.
            return Err(LearnError::Journal(std::io::ErrorKind::StorageFull.into()));
        }
        if changes.is_empty() && !undo {
            return Ok(made);
        }
        let (book, note) = (&mut transaction.book, made.note.clone());
        let mut edit = EditRecord { undo, time: now_in_seconds(), note, after: book.owner()?, changes };
        edit.after = book.owner_after(&edit)?;
        transaction.add(JournalRecord::Edit(edit))?;
        Ok(made)
    }
}

#[cfg(test)]
impl Learner {
    /// Takes back the last edit, whichever it is.
    pub(crate) fn undo_edit(&mut self) -> Result<Option<MadeEdit>> {
        self.reverse_edit(true, |_| true).map(Reversal::made)
    }

    /// Makes the edit that was taken back last again.
    pub(crate) fn redo_edit(&mut self) -> Result<Option<MadeEdit>> {
        self.reverse_edit(false, |_| true).map(Reversal::made)
    }
}

#[cfg(test)]
impl Reversal {
    fn made(self) -> Option<MadeEdit> {
        match self {
            Self::Made(made) => Some(made),
            Self::Other(_) | Self::Nothing => None,
        }
    }
}

/// The changes that make edits.
///
/// # Errors
/// As [`Learner::edit`].
fn planned(book: &mut BookEntries, edits: &[EntryEdit]) -> Result<Vec<EntryChange>> {
    let mut plan = EditPlan::default();
    edits.iter().try_for_each(|edit| plan.add(book, edit))?;
    let changes = plan.changes();
    let growth: Vec<i64> = changes.iter().map(EntryChange::growth).collect();
    if growth.iter().any(|growth| *growth != 0) {
        book.check_order()?;
    }
    if book.count().checked_add_signed(growth.into_iter().sum()) == Some(0) {
        return Err(no_moves_left().at_path(&book.path));
    }
    Ok(changes)
}

/// The changes of an edit, by the numbers of their entries: those that are new before an entry, by key and descending
/// weight, and the entry's own.
#[derive(Default)]
struct EditPlan(BTreeMap<u32, AtNumber>);

/// What an edit does at the number of an entry.
#[derive(Default)]
struct AtNumber {
    /// New entries before it.
    new: Vec<PolyglotEntry>,
    /// The entry before and after, if it changes.
    own: Option<(PolyglotEntry, Option<PolyglotEntry>)>,
}

impl EditPlan {
    fn add(&mut self, book: &mut BookEntries, edit: &EntryEdit) -> Result<()> {
        let found = book.find_all(edit.key, edit.codes)?;
        edit.edit.expect_known(!found.is_empty()).map_err(|error| error.at_path(&book.path))?;
        match edit.edit.change {
            Change::Add(value) => {
                let [mv, _] = edit.codes;
                let weight = weight_of(value).map_err(|error| error.at_path(&book.path))?;
                self.insert(book, PolyglotEntry { key: edit.key, mv, weight, games: 0, halfpoints: 0 })
            }
            Change::Set(value) => {
                let weight = weight_of(value).map_err(|error| error.at_path(&book.path))?;
                // Where a book has a move twice, its weights are added up.
                let weights = std::iter::once(weight).chain(std::iter::repeat(0));
                let each = |(entry, weight): ((u64, PolyglotEntry), u16)| {
                    self.replace(book, entry, Some(PolyglotEntry { weight, ..entry.1 }))
                };
                found.into_iter().zip(weights).try_for_each(each)
            }
            Change::Delete => found.into_iter().try_for_each(|entry| self.replace(book, entry, None)),
        }
    }

    /// Plans a new entry, before the first of its position that weighs less.
    fn insert(&mut self, book: &mut BookEntries, entry: PolyglotEntry) -> Result<()> {
        let mut index = book.first_of(entry.key)?;
        while let Some(other) = book.entry(index)?
            && other.key == entry.key
            && other.weight >= entry.weight
        {
            index += 1;
        }
        let new = &mut self.0.entry(numbered(book, index)?).or_default().new;
        let order = |entry: &PolyglotEntry| (entry.key, Reverse(entry.weight));
        new.insert(new.partition_point(|other| order(other) <= order(&entry)), entry);
        Ok(())
    }

    fn replace(
        &mut self,
        book: &BookEntries,
        (index, old): (u64, PolyglotEntry),
        new: Option<PolyglotEntry>,
    ) -> Result<()> {
        if new != Some(old) {
            self.0.entry(numbered(book, index)?).or_default().own = Some((old, new));
        }
        Ok(())
    }

    /// The changes in the order of a record.
    fn changes(self) -> Vec<EntryChange> {
        let mut changes = Vec::new();
        for (index, AtNumber { new, own }) in self.0 {
            changes.extend(new.into_iter().map(|new| EntryChange { index, old: None, new: Some(new) }));
            changes.extend(own.map(|(old, new)| EntryChange { index, old: Some(old), new }));
        }
        changes
    }
}

/// What the book gives the first move that does not have the expected weight.
fn unexpected(
    book: &mut BookEntries,
    edits: &[EntryEdit],
    expected: &[Option<u64>],
) -> Result<Option<Option<u64>>> {
    for (edit, expected) in edits.iter().zip(expected) {
        let now = sum(book.find_all(edit.key, edit.codes)?.into_iter().map(|(_, entry)| entry));
        if now != *expected {
            return Ok(Some(now));
        }
    }
    Ok(None)
}

/// The weights of entries of one move together; `None` if there are none.
fn sum(entries: impl Iterator<Item = PolyglotEntry>) -> Option<u64> {
    entries.map(|entry| u64::from(entry.weight)).reduce(|sum, weight| sum + weight)
}

/// The moves of changes with their weights before and after.
fn weights(book: &mut BookEntries, changes: &[EntryChange]) -> Result<Vec<WeightChange>> {
    let (mut moves, mut new) = (Vec::new(), BTreeMap::<_, Vec<PolyglotEntry>>::new());
    for entry in changes.iter().filter_map(|change| change.new.or(change.old)) {
        new.entry((entry.key, entry.mv.0)).or_insert_with(|| {
            moves.push((entry.key, entry.mv));
            Vec::new()
        });
    }
    for entry in changes.iter().filter_map(|change| change.new) {
        new.entry((entry.key, entry.mv.0)).or_default().push(entry);
    }
    let changed: BTreeSet<u64> =
        changes.iter().filter(|change| change.old.is_some()).map(|change| change.index.into()).collect();
    let weights = |(key, mv): (u64, MoveCode)| {
        let found: Vec<(u64, PolyglotEntry)> = book.find_all(key, [mv; 2])?;
        let before = sum(found.iter().map(|(_, entry)| *entry));
        let kept = found.iter().filter(|(index, _)| !changed.contains(index)).map(|(_, entry)| *entry);
        let new = new.get(&(key, mv.0)).into_iter().flatten().copied();
        Ok(WeightChange { key, mv, before, after: sum(kept.chain(new)) })
    };
    moves.into_iter().map(weights).collect()
}

fn weight_of(value: EditValue) -> Result<u16> {
    let weight = match value {
        EditValue::Weight(weight) => u16::try_from(weight).ok(),
        _ => None,
    };
    weight.ok_or_else(|| {
        Error::new(ErrorKind::Usage, "a Polyglot book cannot have this weight")
            .advice("write a number from 0 (never played) to 65535")
    })
}

/// The number of an entry as the journal writes it.
fn numbered(book: &BookEntries, index: u64) -> Result<u32> {
    u32::try_from(index).ok().filter(|index| *index < FIRST_DELETED).ok_or_else(|| {
        let what = format!("an entry after the first {FIRST_DELETED} cannot be edited");
        Error::format(&book.path, what).at_offset(offset_of(index))
    })
}

/// The changes that take those of an edit back, by the numbers that the entries have after it. Edits after it were taken
/// back before, so they are the numbers of now. An entry that comes back is as it is `left`.
fn taken_back(
    book: &mut BookEntries,
    changes: &[EntryChange],
    left: impl Fn(PolyglotEntry) -> PolyglotEntry,
) -> Result<Vec<EntryChange>> {
    let mut back = Vec::with_capacity(changes.len());
    let mut shift = 0;
    for change in changes {
        let index = u64::from(change.index).saturating_add_signed(shift);
        shift += change.growth();
        let (now, old) = match change.new {
            None => (None, change.old.map(&left)),
            Some(made) => {
                let now = book.entry(index)?;
                let facts = |entry: PolyglotEntry| (entry.key, entry.mv, entry.weight);
                if now.map(facts) != Some(facts(made)) {
                    let what = "another program has changed an entry since the edit";
                    return Err(Error::format(&book.path, what)
                        .at_offset(offset_of(index))
                        .advice("edit it as it is now"));
                }
                // What it has learned since stays.
                let as_now =
                    |(old, now): (PolyglotEntry, PolyglotEntry)| PolyglotEntry { weight: old.weight, ..now };
                (now, change.old.zip(now).map(as_now))
            }
        };
        back.push(EntryChange { index: numbered(book, index)?, old: now, new: old });
    }
    Ok(back)
}
