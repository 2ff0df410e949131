//! Writes results of games into Polyglot books, so that none is lost.
//!
//! For every position of a game in which a side that learns was to move, and whose played move is an entry of the book,
//! the entry's learn field gets one game and the mover's half-points ([`Field`]). No other byte of the book changes,
//! ever; no entry is inserted.
//!
//! # The promise
//! A game is in the book entirely or not at all, and once [`Learner::learn`] has returned it is there for good, whatever
//! processes are killed and whenever the power goes; any number of processes may learn into one book at once.
//!
//! # How it is kept
//! Beside the book `NAME` lies its journal `NAME.learn` (layout: docs/formats/learn.md, Journal). Who learns locks it,
//! and then:
//!
//! 1. reads what other processes have written since; cuts off what was never a whole record; writes the fields that the
//!    journal has and the book perhaps not (they are set, not added to, so that doing it twice does no harm);
//! 2. appends a record of each game: its identity, and each entry's field before and after; waits until the disk
//!    has it. **From here on the games are learned**, for whoever comes next finishes them;
//! 3. writes the fields, four bytes each, none of which crosses a disk's sector; waits until the disk has them;
//! 4. appends that it is done, and unlocks. Now the games are reported.
//!
//! What stands in the journal is never rewritten in place, so it also knows which games were learned, and how to take
//! the last ones back. A process that only reads the book needs no lock: it finds each field as it was before or after.
//!
//! A journal that has grown is replaced by one with fewer records, which knows the same games: [`compact`] describes how.
//!
//! # When book and journal do not fit together
//! | seen | done |
//! |---|---|
//! | the book's length or fingerprint is not that in the header | another book: nothing is learned |
//! | no entry that the last record changed has what it made of it, each has something older | an older copy of the book was put in its place: nothing is learned |
//! | an entry has something else | another program changed it: learning goes on from there |
//! | there is no journal, or the file is empty or the beginning of one that was never whole | it is begun |
//! | the file is no journal, or one of a newer version | it is never changed |
//!
//! The lock is the file system's own. It is on the journal and never on the book, so readers of the book do not notice
//! it, and it ends with its process.

pub mod compact;
mod error;
mod field;
mod finished;
mod header;
pub mod identity;
pub mod journal;
mod journal_state;
mod learner;
pub mod pages;
mod spool;
mod storage;
mod store;
#[cfg(test)]
mod tests;
mod transact;

pub use compact::UNDO_GAMES;
pub use field::{Field, halfpoints};
pub use finished::{FinishedGame, IdentifiedGame, PlayedMove};
pub use learner::{History, Learner, Outcome, PATIENCE};
pub use spool::{Batch, Place, Spool, Spooled};
use std::path::Path;
use std::time::Duration;

pub use storage::{Beside, Bytes, Claim, Disk, JOURNAL_SUFFIX, Storage, has_journal, is_same_file, lock};

/// Finishes what a process that died has begun to learn into a book, before the book is read. Where there is nothing to
/// finish, another process has the journal, or the book may not be written, the book is read as it is.
pub fn settle(book: &Path) {
    if has_journal(book)
        && let Ok(learner) = Learner::new(book)
    {
        // An error is reported when somebody learns into the book.
        let _ = learner.patience(Duration::ZERO).recover();
    }
}
