//! What of the books that a command has read is damaged.

use std::path::Path;
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::findings::Finding;
use tabiya_base::interrupt;
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_workshop::bookmaker::OpenCounts;

use super::exit::Exit;
use super::warn;
use crate::output::progress;

/// Reports what is damaged in books that a command has read, and returns how the command ends, which is `exit` if they are
/// sound: its result lacks what could not be read.
///
/// # Errors
/// When the user asks to stop before the books are checked.
pub fn report<'a>(books: impl IntoIterator<Item = &'a Arc<dyn Book>>, exit: Exit) -> Result<Exit> {
    with(books, exit, <dyn Book>::damage)
}

/// As [`report`], for a command that has only looked positions up.
///
/// # Errors
/// As [`report`].
pub fn of_look_ups<'a>(books: impl IntoIterator<Item = &'a Arc<dyn Book>>, exit: Exit) -> Result<Exit> {
    with(books, exit, <dyn Book>::damage_to_look_ups)
}

/// As [`report`], for a command that has only walked a book, and found this on the way.
///
/// # Errors
/// As [`report`].
pub fn of_walk(book: &Arc<dyn Book>, found: &[Finding], exit: Exit) -> Result<Exit> {
    let damage = [&find(book, <dyn Book>::damage_to_look_ups)?, found].concat();
    Ok(exit.max(complain(book.path(), &damage)))
}

/// What checks a book for damage.
type Check = fn(&(dyn Book + 'static), &Progress) -> Vec<Finding>;

fn with<'a>(books: impl IntoIterator<Item = &'a Arc<dyn Book>>, exit: Exit, check: Check) -> Result<Exit> {
    books.into_iter().try_fold(exit, |exit, book| Ok(exit.max(complain(book.path(), &find(book, check)?))))
}

/// Reports what could not be read of count files.
pub fn of_counts(counts: &OpenCounts) -> Exit {
    let complain = |(path, found): (&Path, Vec<Finding>)| complain(path, &found);
    counts.damage().into_iter().map(complain).max().unwrap_or(Exit::Done)
}

/// Reports what is damaged in a file.
fn complain(path: &Path, damage: &[Finding]) -> Exit {
    for finding in damage {
        warn(&format!("{}: damaged: {finding}", path.display()));
    }
    if damage.is_empty() { Exit::Done } else { Exit::Findings }
}

/// Checks a book, until the user asks to stop.
fn find(book: &Arc<dyn Book>, check: Check) -> Result<Vec<Finding>> {
    let checked = Arc::clone(book);
    let check = move || check(&*checked, &progress::on_terminal(checked.path().to_string_lossy()));
    let damage = interrupt::wait_for("check", check)
        .map_err(|error| Error::file(book.path(), "the book could not be checked for damage", error))?;
    // What stopped early knows only a part.
    damage.filter(|_| !interrupt::asked()).ok_or_else(|| {
        let what = "interrupted before the book was checked for damage; the output is complete";
        Error::new(ErrorKind::Interrupted, what).at_path(book.path())
    })
}
