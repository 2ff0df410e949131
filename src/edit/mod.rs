//! Changes moves of a position by hand, in books of every format.
//!
//! A Polyglot book is edited in its place, through its journal. Books of the other formats are written anew beside their
//! place, and replaced in one step.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::base::map::Map;
use crate::base::progress::Progress;
use crate::base::replace::Replacement;
use crate::book::edit::Edit;
use crate::book::{self, Book, Format, Green, Scope, WriteOptions, Written, abk};
use crate::bookmaker::edit::Edited;
use crate::bookmaker::{self, Merged, Resources};
use crate::chess::{MoveCode, Position};
use crate::learn::{EntryEdit, Learner};

/// Bytes of a book that are written at a time.
const WRITTEN_AT_ONCE: usize = 1 << 22;

/// Bytes of a position's name that are kept with an edit.
pub(crate) const NOTE_MAX: usize = 255;

/// What became of an edit.
pub(crate) enum Outcome {
    /// The book has it, on the disk.
    Made,
    /// The book is unchanged, because its format could not hold all of it, or nothing would be left.
    NotWritten(Box<(Merged, Written)>),
}

/// Refuses a book of which a file may only be read.
///
/// # Errors
/// When there is such a file.
pub(crate) fn refuse_read_only(book: &dyn Book) -> Result<()> {
    let is_read_only = |file: &PathBuf| fs::metadata(file).is_ok_and(|data| data.permissions().readonly());
    match book.files().into_iter().find(is_read_only) {
        None => Ok(()),
        Some(file) => Err(Error::new(ErrorKind::File, "the file may only be read")
            .at_path(file)
            .advice("make it writable, or edit a copy")),
    }
}

/// Edits of a position of a Polyglot book, as its journal takes them.
pub(crate) fn of_entries(at: &Position, edits: &[Edit]) -> Vec<EntryEdit> {
    let entry = |edit: &Edit| EntryEdit {
        key: at.key(),
        codes: MoveCode::codes(edit.mv, at.chess()),
        edit: edit.clone(),
    };
    edits.iter().map(entry).collect()
}

/// Edits moves of a position. `note` is the position in words, at most [`NOTE_MAX`] bytes, which a journal keeps.
///
/// # Errors
/// When an edit does not fit the moves or the format, or the book cannot be written: it is unchanged then.
pub(crate) fn apply(
    book: std::sync::Arc<dyn Book>,
    at: &Position,
    edits: &[Edit],
    note: &str,
    resources: &Resources,
    progress: impl FnOnce() -> Progress,
) -> Result<Outcome> {
    let path = book.path().to_owned();
    match book.format() {
        Format::Polyglot => {
            // While the book is written, a map of it could get in the way.
            drop(book);
            Learner::new(&path)?.edit(&of_entries(at, edits), note)?;
            Ok(Outcome::Made)
        }
        Format::Abk => {
            drop(book);
            rewrite_abk(&path, at, edits, &progress())
        }
        Format::Ctg | Format::Kvetka => rewrite(&*book, at, edits, resources, &progress()),
        Format::Counts => Err(Error::new(ErrorKind::Usage, "counts of games are not edited by hand")
            .at_path(path)
            .advice("make a book of them with tabiya build, and edit that")),
    }
}

fn rewrite_abk(path: &Path, at: &Position, edits: &[Edit], progress: &Progress) -> Result<Outcome> {
    let data = Map::open(path)?;
    let edited = abk::edited(&data, at, edits, progress).map_err(|error| error.at_path(path))?;
    let mut file = Replacement::new(path, true)?;
    for part in edited.chunks(WRITTEN_AT_ONCE) {
        interrupt::check()?;
        file.write_all(part).map_err(|error| file.error(error))?;
    }
    drop(data);
    file.commit()?;
    Ok(Outcome::Made)
}

/// Writes the book anew, unless its format cannot hold all that was read.
fn rewrite(
    book: &dyn Book,
    at: &Position,
    edits: &[Edit],
    resources: &Resources,
    progress: &Progress,
) -> Result<Outcome> {
    let edited = Edited::new(book, at, edits).map_err(|error| error.at_path(book.path()))?;
    write(&edited, resources, progress)
}

/// Writes a book of a format that is written anew so that it says this of a move, or (`None`) does not have it.
///
/// # Errors
/// When the book cannot be written: it is unchanged then.
#[cfg(feature = "explore")]
pub(crate) fn restore(
    book: &dyn Book,
    at: &Position,
    mv: shakmaty::Move,
    facts: Option<book::MoveFacts>,
    resources: &Resources,
) -> Result<Outcome> {
    write(&Edited::restored(book, at, mv, facts), resources, &Progress::none())
}

fn write(edited: &Edited<'_>, resources: &Resources, progress: &Progress) -> Result<Outcome> {
    let path = edited.path();
    let options = WriteOptions {
        force: true,
        needs_moves: true,
        whole: true,
        caption: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        memory: resources.of_writer(),
        temp: Some(resources.temp.clone()),
        green: Green::PerMille(0),
        ..WriteOptions::default()
    };
    let writer = book::create(path, &options)?;
    let (merged, new) = bookmaker::merge(&[(edited, Scope::All)], resources, writer, progress)?;
    Ok(if new.files.is_empty() { Outcome::NotWritten(Box::new((merged, new))) } else { Outcome::Made })
}
