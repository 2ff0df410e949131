//! The journal: a header, the store of old games, and records (docs/formats/learn.md, Journal). All numbers are
//! big-endian, as in the book.

mod edit_record;
mod header;
mod record;
mod state;
mod store;

pub use self::edit_record::{EditRecord, EntryChange};
pub use self::header::{JournalHeader, Owner};
pub use self::record::{Change, CorrectionRecord, GameRecord, JournalRecord};

pub(super) use self::header::HEADER_LEN;
pub(super) use self::record::FIRST_DELETED;
pub(super) use self::state::{JournalState, KnownEdit, LearnedGame, record_at, record_of};
pub(super) use self::store::SoundPages;

/// Bytes of a check.
const CHECK_LEN: usize = 8;

/// Bytes of a note.
pub(super) const MAX_NOTE: usize = 255;

/// A checksum: it guards a record, and the next one repeats it.
pub type Check = [u8; CHECK_LEN];

/// The first 8 bytes of the SHA-256.
fn check(data: &[u8]) -> Check {
    tabiya_base::check::check(data)
}

/// Appends a note with its length; `None` where it is too long.
fn put_note(data: &mut Vec<u8>, note: &str) -> Option<()> {
    data.push(u8::try_from(note.len()).ok()?);
    data.extend(note.as_bytes());
    Some(())
}

/// The note at the start of `data`, and what follows it.
fn note(data: &[u8]) -> Option<(String, &[u8])> {
    let (&len, rest) = data.split_first()?;
    let (note, rest) = rest.split_at_checked(len.into())?;
    Some((String::from_utf8(note.to_vec()).ok()?, rest))
}
