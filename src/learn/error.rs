//! What ends the work on a journal or its book, and the messages for it.

use std::io;

use super::Learner;
use super::storage::JOURNAL_SUFFIX;
use crate::base::error::{Error, ErrorKind, Remedy};
use crate::book::polyglot::layout::ENTRY_LEN;

/// What to do about a journal that cannot be used.
const MOVE_AWAY: &str = "move the journal away (what the book has learned stays in it)";

/// What ends the work. An [`io::Error`] that becomes one is an error of the journal; those of the book are worded by
/// [`Pages`](super::pages::Pages).
#[derive(Debug)]
pub enum LearnError {
    /// The journal cannot be read or written.
    Journal(io::Error),
    /// The journal is damaged from this byte on, and whole records follow.
    Damaged(u64),
    /// The file is not a journal of tabiya.
    Foreign,
    /// A newer tabiya has written the journal, in this version.
    Newer(u64),
    /// A record would be longer than a journal allows.
    TooLong,
    /// Anything else.
    Other(Error),
}

impl From<io::Error> for LearnError {
    fn from(error: io::Error) -> Self {
        Self::Journal(error)
    }
}

impl From<Error> for LearnError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Learner {
    /// The error as users see it.
    pub(super) fn worded(&self, error: LearnError) -> Error {
        let name = self.journal_name();
        let format = |what: String, at, advice| Error::format(&self.path, what).at_offset(at).advice(advice);
        match error {
            LearnError::Other(error) => error,
            LearnError::Journal(error) => {
                Error::file(&self.path, format!("cannot write its journal {name}"), error)
            }
            LearnError::Damaged(at) => format(format!("its journal {name} is damaged"), at, MOVE_AWAY)
                .remedied_by(Remedy::ResetLearned),
            LearnError::Foreign => format(
                format!("the file {name} is not a journal of tabiya"),
                0,
                "move it away: tabiya records the results that the book learns under this name",
            ),
            LearnError::Newer(version) => format(
                format!("its journal {name} was written by a newer tabiya, in version {version}"),
                8,
                "use that tabiya, or move the journal away (what the book has learned stays in it)",
            ),
            LearnError::TooLong => {
                Error::new(ErrorKind::Usage, "that is too much for one record of the journal")
                    .at_path(&self.path)
                    .advice("do less at once")
            }
        }
    }

    fn journal_name(&self) -> String {
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
}
