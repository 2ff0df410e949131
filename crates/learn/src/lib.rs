//! Writes results of games, and edits by hand, into Polyglot books. None is lost.
//!
//! For every position of a game in which a side that learns was to move, and whose played move is an entry of the book, the
//! entry's learn field gets one game and the mover's half-points ([`Field`]). No other byte of the book changes. An edit
//! ([`Learner::edit`]) changes weights, and adds or deletes entries.
//!
//! # The promise
//! A game is in the book entirely or not at all, and once [`Learner::learn`] has returned it is there for good, whatever
//! processes are killed and whenever the power fails; any number of processes may learn into one book at the same time.
//!
//! # How it is kept
//! Beside the book `NAME` is its journal `NAME.learn` (layout: docs/formats/learn.md, Journal). A process that learns
//! locks it, and then
//!
//! 1. reads what other processes have written since; cuts off what was never a whole record; writes the fields that the
//!    journal has and the book may not have (they are set, not added to, so doing it twice does no harm);
//! 2. appends a record of each game: its identity, and each entry's field before and after; waits until the disk
//!    has it. **From here on the games are learned**, because the next process finishes them;
//! 3. writes the fields, four bytes each, none of which crosses a sector of the disk; waits until the disk has them;
//! 4. appends *done*, and unlocks. Now the games are reported.
//!
//! The journal is never rewritten in place, so it also knows which games were learned, and how to take the last ones
//! back. A process that only reads the book needs no lock: it finds each field as it was before or after.
//!
//! A journal that has grown is replaced by one that has fewer records and knows the same games: see `learner/compact.rs`.
//!
//! An edit goes the same way: its record, then the book, then *done*. Weights are written in their places; where entries
//! come or go, the whole book is written beside its place and replaces the old one. The record has the fingerprint of
//! the book after it, so the journal belongs to the book before and after.
//!
//! If the book cannot be written, what was written is taken back, and then the records are cut off: it did not happen. If that
//! fails, too, the error says that the next process finishes it.
//!
//! # When book and journal do not match
//! | found | done |
//! |---|---|
//! | the book's length or fingerprint is not that after the last edit, or without edits that in the header | another book, or a copy from before an edit: nothing is learned |
//! | no entry that the last record changed has its new field, and each has an older one | an older copy of the book was put in its place: nothing is learned |
//! | an entry has another field | another program changed it: learning continues from there |
//! | there is no journal, or the file is empty or an incomplete beginning | it is begun |
//! | the journal of another book has neither games nor edits | it is begun anew |
//! | the file is not a journal, or has a newer version | it is never changed |
//!
//! The lock is the file system's own. It is on the journal and never on the book, so readers of the book do not notice
//! it, and it ends with its process.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

pub mod book;
mod error;
mod field;
mod fingerprint;
mod finished;
pub mod identity;
pub mod journal;
mod learner;
mod replaced;
mod spool;
mod storage;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tabiya_base::error::{Error, Result};
use tabiya_book::traits::Book;
use tabiya_book::{Variant, open_as};

pub use field::{Field, halfpoints};
pub use fingerprint::{Fingerprint, fingerprint_of};
pub use finished::{FinishedGame, IdentifiedGame, PlayedMove, Source};
pub use learner::{
    Attempt, Compared, Comparison, EntryEdit, History, LearnOutcome, Learner, MadeEdit, MovesOfKeys,
    PATIENCE, Reversal, WeightChange,
};
pub use replaced::set_aside;
pub use spool::{Batch, Drain, Drained, Learners, PlayedBook, Spool, SpoolPlace, Spooled};
pub use storage::{Claim, NewJournal, Storage, StoredBytes};
pub use storage::{Disk, has_journal, is_same_file};

/// Opens a book of a variant for the workshop, after what a process that died has begun to write into it is finished.
///
/// # Errors
/// As [`tabiya_book::open_as`].
pub fn open_settled_as(path: &Path, variant: Variant) -> Result<Arc<dyn Book>> {
    settle(path);
    open_as(path, variant)
}

/// Why the learn fields of a book are not trusted, of which the one of the entry of this number cannot be games and half-points.
pub fn other_fields(book: &Path, index: u64) -> Error {
    error::LearnError::OtherFields(self::book::offset_of(index)).worded(book, Duration::ZERO)
}

/// The files of books, including the journals of what they have learned.
pub fn files_of<'a>(books: impl IntoIterator<Item = &'a dyn Book>) -> Vec<PathBuf> {
    let with_journal = |path: PathBuf| {
        let journal = Disk::new(&path).ok().map(|disk| disk.journal);
        journal.into_iter().chain([path])
    };
    books.into_iter().flat_map(Book::files).flat_map(with_journal).collect()
}

/// Finishes what a process that died has begun to learn or edit, before the book is read. Where there is nothing to finish,
/// another process has the journal, or the book may not be written, the book is read unchanged.
pub fn settle(book: &Path) {
    if has_journal(book)
        && let Ok(learner) = Learner::new(book)
    {
        // An error is reported when the book is learned into.
        let _ = learner.patience(Duration::ZERO).recover();
    }
}
