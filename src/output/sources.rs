//! What is printed of sources that are not opened as books: each kind has a module that prints it.

use std::io::Write;
use std::path::Path;

use tabiya_chess::Variant;
use tabiya_workshop::source::Source;

use super::exit::Exit;
use super::{Printed, counts, database, store};

/// Prints what is at a path; `None` if that is to be opened as a book.
///
/// # Errors
/// When it cannot be read, or standard output cannot be written.
pub(crate) fn info(path: &Path, json: bool, out: &mut dyn Write) -> Printed<Option<Exit>> {
    match Source::at(path)? {
        Source::Database => database::info(path, json, out),
        Source::Counts(files) => counts::info(path, &files.whole()?, json, out),
        Source::Store => store::info(path, json, out),
        _ => return Ok(None),
    }
    .map(Some)
}

/// Prints what is wrong with what is at a path; `None` if that is to be opened as a book.
///
/// # Errors
/// As [`info`].
pub(crate) fn check(path: &Path, variant: Variant, json: bool, out: &mut dyn Write) -> Printed<Option<Exit>> {
    match Source::at(path)? {
        Source::Database => database::check(path, json, out),
        Source::Counts(files) => counts::check(path, &files.whole()?, variant, json, out),
        _ => return Ok(None),
    }
    .map(Some)
}
