//! Compaction: a journal that has grown is replaced by one that knows the same games and has few records
//! (docs/formats/learn.md, Compaction).
//!
//! Of the games whose records are dropped the store keeps the ids, for good; they cannot be taken back any more. The
//! records of the last [`UNDO_GAMES`] games stay. Who begins to learn reads only these and what was added since, however
//! many games the store has.
//!
//! It is done at the end of a transaction, under the lock, when all that the journal has is in the book and on the disk:
//!
//! 1. a new file is made beside the journal, and locked;
//! 2. into it go the store, merged with the ids of the games to be dropped; the header; the records that stay, each now
//!    with the check of its new predecessor; a *done*. The disk has them before the next step;
//! 3. the file is renamed to the journal's name: before, everybody finds the old journal, after, the new one, and both
//!    say the same. The disk has the name before anything is appended.
//!
//! Who waited for the lock of the old file finds that it has lost its name, and opens the new one. A process that dies on
//! the way leaves the old journal and a file whose name ends with `.part`.
//!
//! Each byte of records that is dropped costs the writing of a bounded number of bytes: the more ids the store has, the
//! more records are gathered before it is written anew.

use super::Learner;
use super::header::Header;
use super::journal::{Check, Record};
use super::journal_state::{JournalError, JournalState, LearnedGame, record_at};
use super::storage::Bytes;
use super::transact::Open;

/// Games that can be taken back at least, if so many were learned.
pub const UNDO_GAMES: usize = 1000;

/// Bytes of records that are dropped at least: about four thousand games.
const DROPPED_MIN: u64 = 1 << 20;

/// The share of the store's bytes that is dropped at least.
const STORE_SHARE: u64 = 16;

/// Bytes that are gathered before they are written.
const BUFFER_LEN: usize = 1 << 18;

/// When a journal is compacted.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Games whose records stay.
    pub games: usize,
    /// Bytes of records that are dropped at least.
    pub dropped: u64,
    /// Bytes of records that the journal had when compacting it failed last: it is not tried again soon.
    pub failed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { games: UNDO_GAMES, dropped: DROPPED_MIN, failed: 0 }
    }
}

impl Limits {
    /// Whether enough can be dropped from a journal.
    fn are_reached(&self, state: &JournalState) -> bool {
        let stay: u64 = stay(state, self.games).iter().map(|known| u64::from(known.size)).sum();
        let store = state.start - state.header.size();
        let (dropped, least) = match state.void {
            true => (state.records_len() + store, self.dropped),
            false => (state.records_len(), self.dropped.max(store / STORE_SHARE)),
        };
        state.pending.is_empty()
            && dropped.saturating_sub(stay) >= least.max(stay)
            && (self.failed == 0 || state.records_len() >= self.failed.saturating_add(self.dropped))
    }
}

/// The games whose records stay.
fn stay(state: &JournalState, games: usize) -> &[LearnedGame] {
    let all = state.games();
    all.get(all.len().saturating_sub(games)..).unwrap_or_default()
}

impl Learner {
    /// Compacts the journal where that is worth it. The book has all by now: where it fails, because the disk is full or
    /// the folder may not be written, the journal stays as it is, and nothing is lost but time.
    pub(super) fn compact_if_due(&mut self, open: &mut Open) {
        if !self.state.as_ref().is_some_and(|state| self.limits.are_reached(state)) {
            return;
        }
        // Whatever becomes of it, the journal is read anew next time.
        let Some(state) = self.state.take() else { return };
        let (games, serial) = (self.limits.games, rand::random());
        match self.replace(open, |journal, beside| write(&state, games, serial, journal, beside)) {
            Ok(()) => {
                self.named = Some(serial);
                self.limits.failed = 0;
            }
            Err(_) => self.limits.failed = state.records_len(),
        }
    }
}

/// Writes the journal that takes this one's place.
fn write(
    state: &JournalState,
    games: usize,
    serial: u64,
    journal: &mut dyn Bytes,
    beside: &mut dyn Bytes,
) -> Result<(), JournalError> {
    let stay = stay(state, games);
    let dropped = state.games().len() - stay.len();
    let mut header = Header {
        folded: state.folded().saturating_add(dropped as u64),
        ..Header::new(state.header.owner, serial)
    };
    let mut store = state.header.store();
    if state.void {
        store.ids = 0;
    }
    header.ids = store.merge(journal, &state.slots(dropped), header.size(), beside)?.ids;
    let mut bytes = header.to_bytes();
    beside.write_at(0, &bytes)?;
    let damaged = |at| JournalError::Damaged(at);
    let (_, mut check) = Header::parse(&bytes).map_err(|_| damaged(0))?;
    let mut at = header.store().end().ok_or(damaged(0))?;
    bytes.clear();
    let add = |record: &Record, check: Check, bytes: &mut Vec<u8>| {
        let (data, next) = record.to_bytes(check)?;
        bytes.extend(data);
        Some(next)
    };
    for known in stay {
        let record = record_at(journal, known.at)?.ok_or(damaged(known.at))?;
        check = add(&record, check, &mut bytes).ok_or(damaged(known.at))?;
        if bytes.len() >= BUFFER_LEN {
            beside.write_at(at, &bytes)?;
            at += bytes.len() as u64;
            bytes.clear();
        }
    }
    add(&Record::Done, check, &mut bytes).ok_or(damaged(at))?;
    Ok(beside.write_at(at, &bytes)?)
}
