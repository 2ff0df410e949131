//! Compaction: a journal that has grown is replaced by one that knows the same games and has few records
//! (docs/formats/learn.md, Compaction).
//!
//! The store keeps the ids of the games whose records are dropped, for good; these games can no longer be taken back.
//! The records of the last [`UNDO_GAMES`] games stay, and those of the edits since the first of them, at least of as many
//! edits. A process that starts to learn reads only these and what was
//! added since, however many games the store has.
//!
//! A journal is compacted at the end of a transaction, under the lock, when all that it has is in the book and on the
//! disk:
//!
//! 1. a new file is made beside the journal, and locked;
//! 2. into it go the store, merged with the ids of the games to be dropped (of a corrected one, both); the header; the records that stay, each now
//!    with the check of its new predecessor, and with fields that lead from one record to the next and to the book; a *done*. The disk has them
//!    before the next step;
//! 3. the file is renamed to the journal's name. Before, every process finds the old journal; after, the new one; both
//!    say the same. The disk has the name before anything is appended.
//!
//! A process that waited for the lock of the old file finds that the file has lost its name, and opens the new one. A
//! process that dies halfway leaves the old journal and a file whose name ends with `.part`.
//!
//! Each dropped byte of records costs a bounded number of written bytes: the more ids the store has, the more records are
//! gathered before the store is rewritten.

use tabiya_base::bytes::Parts as _;

use std::collections::HashMap;
use std::io::Write as _;

use tabiya_chess::MoveCode;

use super::Learner;
use super::transact::Transaction;
use crate::error::LearnError;
use crate::field::Field;
use crate::journal::{HEADER_LEN, JournalHeader, JournalRecord, JournalState, KnownEdit, LearnedGame};
use crate::storage::{StoredBytes, written_from};

/// How many games can be taken back at least, if so many were learned.
pub(crate) const UNDO_GAMES: usize = 1000;

/// How many bytes of records are dropped at least: about four thousand games.
const MIN_DROPPED: u64 = 1 << 20;

/// How many bytes of records are dropped at least, as a fraction of the bytes of the store: one in 16.
const STORE_SHARE: u64 = 16;

/// When a journal is compacted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompactLimits {
    /// Games whose records stay.
    pub games: usize,
    /// Bytes of records that are dropped at least.
    pub dropped: u64,
    /// Bytes of records that the journal had when compaction last failed: it is not tried again soon.
    pub failed: u64,
}

impl Default for CompactLimits {
    fn default() -> Self {
        Self { games: UNDO_GAMES, dropped: MIN_DROPPED, failed: 0 }
    }
}

impl CompactLimits {
    /// Whether enough records can be dropped from a journal.
    pub(super) fn are_reached(&self, state: &JournalState) -> bool {
        let (games, edits) = stay(state, self.games);
        let stay: u64 = records(games, edits).map(|(_, size)| u64::from(size)).sum();
        let store = state.start - HEADER_LEN as u64;
        let (dropped, least) = match state.was_reset {
            true => (state.records_len() + store, self.dropped),
            false => (state.records_len(), self.dropped.max(store / STORE_SHARE)),
        };
        state.pending.is_empty()
            && dropped.saturating_sub(stay) >= least.max(stay)
            && (self.failed == 0 || state.records_len() >= self.failed.saturating_add(self.dropped))
    }
}

/// The games and the edits whose records stay. An edit stays where a game before it does, because it may have given the
/// entries of that game other numbers.
fn stay(state: &JournalState, games: usize) -> (&[LearnedGame], &[KnownEdit]) {
    let last = state.games.part(state.games.len().saturating_sub(games)..);
    let first = last.first().map_or(state.end, |known| known.at);
    let from = state.edits.partition_point(|known| known.at < first);
    let from = from.min(state.edits.len().saturating_sub(games));
    (last, state.edits.part(from..))
}

/// The places and lengths of the records of these games, with their corrections, and of these edits.
fn records<'a>(games: &'a [LearnedGame], edits: &'a [KnownEdit]) -> impl Iterator<Item = (u64, u32)> + 'a {
    let corrections = games.iter().filter_map(|known| known.correction);
    games
        .iter()
        .map(|known| (known.at, known.size))
        .chain(corrections.map(|correction| (correction.at, correction.size)))
        .chain(edits.iter().map(|known| (known.at, known.size)))
}

impl Learner {
    /// Compacts the journal. The book already has everything: if compaction fails, because the disk is full or the folder
    /// may not be written, the journal stays unchanged, and only time is lost.
    pub(super) fn compact(&mut self, mut transaction: Transaction) {
        let (games, serial) = (self.limits.games, rand::random());
        let (state, mut after) = (&transaction.state, None);
        let replaced = self.replace(&mut transaction.journal, |journal, new| {
            after = Some(write(state, games, serial, journal, new)?);
            Ok(())
        });
        match replaced {
            Ok(()) => {
                self.named = Some(serial);
                self.limits.failed = 0;
                self.state = after;
            }
            Err(_) => self.limits.failed = transaction.state.records_len(),
        }
    }
}

/// Writes the journal that replaces this one, and returns its state.
fn write(
    state: &JournalState,
    games: usize,
    serial: u64,
    journal: &mut dyn StoredBytes,
    new: &mut dyn StoredBytes,
) -> Result<JournalState, LearnError> {
    let (games, edits) = stay(state, games);
    let dropped = state.games.len() - games.len();
    let owner = edits.first().map_or(state.owner, |known| known.before);
    let mut header = JournalHeader {
        compacted: state.compacted().saturating_add(
            state.games.part(..dropped).iter().filter(|known| known.known_result().is_some()).count() as u64,
        ),
        ..JournalHeader::new(owner, serial)
    };
    let mut store = state.header.store();
    if state.was_reset {
        store.ids = 0;
    }
    header.ids = store.merge(journal, &state.oldest(dropped), HEADER_LEN as u64, new)?.ids;
    new.write_at(0, &header.to_bytes())?;
    let numbers = state.edits.len() - edits.len()..;
    let mut stay: Vec<_> = records(games, &[]).map(|(at, size)| (at, size, None)).collect();
    stay.extend(edits.iter().zip(numbers).map(|(known, number)| (known.at, known.size, Some(number))));
    stay.sort_unstable();
    let mut whole = records_from(state, journal, stay.first().map_or(state.end, |(at, ..)| *at))?;
    // What they have made of the entries that they change.
    let mut now: HashMap<(u64, MoveCode), Field> = HashMap::new();
    for (_, record) in &whole {
        let in_book = record.changes().iter().filter(|change| !change.is_deleted());
        now.extend(in_book.map(|change| ((change.key, change.mv), change.new)));
    }
    let mut records = vec![JournalRecord::Done];
    for (at, _, number) in stay.into_iter().rev() {
        while whole.pop_if(|(place, _)| *place > at).is_some() {}
        let (_, mut record) = whole.pop_if(|(place, _)| *place == at).ok_or(LearnError::Damaged(at))?;
        if let (JournalRecord::Edit(edit), Some(number)) = (&mut record, number) {
            for change in &mut edit.changes {
                // The records that say what was taken back of a deleted entry are dropped.
                if change.new.is_none() {
                    change.old = change.old.map(|old| state.left_of(number, old));
                }
                if let Some(entry) = change.new.or(change.old).filter(|_| change.growth() != 0) {
                    now.remove(&(entry.key, entry.mv));
                }
            }
        }
        // What the records that are dropped had made of the entry is no longer in between.
        for change in record.changes_mut() {
            if let Some(field) = now.get_mut(&(change.key, change.mv)) {
                (change.old, change.new) = (field.shifted(change.new, change.old), *field);
                *field = change.old;
            }
        }
        records.push(record);
    }
    let mut after = JournalState::new(header)?;
    let mut out = written_from(new, after.end);
    for record in records.into_iter().rev() {
        out.write_all(&after.append(record)?)?;
    }
    out.flush()?;
    drop(out);
    Ok(after)
}

/// The records from this offset on, with their offsets.
fn records_from(
    state: &JournalState,
    journal: &mut dyn StoredBytes,
    from: u64,
) -> Result<Vec<(u64, JournalRecord)>, LearnError> {
    let len = usize::try_from(state.end - from).map_err(|_| LearnError::TooLong)?;
    let data = journal.bytes_at(from, len)?;
    let (mut rest, mut records) = (&*data, Vec::new());
    while let Some((record, _, _, size)) = JournalRecord::parse(rest) {
        records.push((state.end - rest.len() as u64, record));
        rest = rest.part(size..);
    }
    Ok(records)
}
