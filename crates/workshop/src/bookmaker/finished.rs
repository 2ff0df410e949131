//! The end of writing a book.

use tabiya_base::error::Result;
use tabiya_book::{BookWriter, Written};
use tabiya_learn::set_aside;

/// Puts the files of a book in their places, and sets the journal of the book that it replaces aside.
///
/// # Errors
/// As [`BookWriter::finish`].
pub(super) fn finished(writer: Box<dyn BookWriter>) -> Result<Written> {
    let mut written = writer.finish()?;
    written.old_journal = written.files.first().and_then(|file| set_aside(file));
    Ok(written)
}
