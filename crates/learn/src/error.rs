//! What ends the work on a journal or its book, and the messages for it.

use std::io;
use std::path::Path;
use std::time::Duration;

use tabiya_base::error::{Error, ErrorKind, Remedy};

use super::storage::JOURNAL_SUFFIX;

/// What to do about a journal that cannot be used.
const MOVE_AWAY: &str = "move the journal away (what the book has learned stays in it)";

/// What ends the work. An [`io::Error`] that becomes one is an error of the journal; those of the book are worded by
/// [`BookEntries`](super::book::BookEntries).
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
    /// Another process keeps the journal locked.
    Busy,
    /// The journal belongs to another book.
    OtherJournal,
    /// The book is an older copy than the one that the journal belongs to.
    OldBook,
    /// The book is not the expected one.
    OtherBook,
    /// The learn field of the entry at this offset, in bytes, holds something other than games and half-points.
    OtherFields(u64),
    /// A record would be longer than a journal allows.
    TooLong,
    /// What failed could not be taken back: it is in the journal.
    Unfinished(Box<Self>),
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

impl LearnError {
    /// The error as users see it, of this book and a process that waits so long for others.
    pub(super) fn worded(self, book: &Path, patience: Duration) -> Error {
        let name = book.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}{JOURNAL_SUFFIX}");
        let format = |what: String| Error::format(book, what);
        let until_reset = |what: String| format(what).remedied_by(Remedy::ResetLearned);
        match self {
            Self::Other(error) => error,
            Self::Unfinished(error) => error.worded(book, patience).advice(format!(
                "it could not be taken back, and is finished by the next command that opens the book: its \
                 journal {name} has it"
            )),
            Self::Journal(error) => Error::file(book, format!("cannot write its journal {name}"), error),
            Self::Busy => {
                let seconds = patience.as_secs_f32();
                let what = format!("its journal is locked by another process (waited {seconds} s)");
                Error::new(ErrorKind::File, what).at_path(book).advice("try again, or end that process")
            }
            Self::TooLong => Error::new(ErrorKind::Usage, "this is too much for one record of the journal")
                .at_path(book)
                .advice("do it in smaller steps"),
            Self::Foreign => format(format!("the file {name} is not a journal of tabiya"))
                .at_offset(0)
                .advice("move it away: tabiya records the results that the book learns under this name"),
            Self::Newer(version) => {
                format(format!("its journal {name} was written by a newer tabiya, in version {version}"))
                    .at_offset(8)
                    .advice(format!("use that tabiya, or {MOVE_AWAY}"))
            }
            Self::Damaged(at) => {
                until_reset(format!("its journal {name} is damaged")).at_offset(at).advice(MOVE_AWAY)
            }
            Self::OtherJournal => {
                until_reset(format!("the journal {name} belongs to another book")).advice(MOVE_AWAY)
            }
            Self::OldBook => until_reset(format!(
                "this is an older copy of the book: what its journal {name} says was learned last is not in \
                 it"
            ))
            .advice(format!("put the newer copy back, or {MOVE_AWAY}")),
            Self::OtherBook => format("this is not the book that the game was played from".to_owned())
                .advice("put that book back, and the game will be learned")
                .remedied_by(Remedy::DropGames),
            Self::OtherFields(offset) => until_reset(
                "the learn field of an entry holds something other than games and half-points".to_owned(),
            )
            .at_offset(offset),
        }
    }
}
