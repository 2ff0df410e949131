//! What of the books that a command has read is damaged.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::exit::Exit;
use super::warn;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::findings::Finding;
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::book::Book;

/// How often the wait for a check looks whether the user asked to stop.
const TICK: Duration = Duration::from_millis(50);

/// Reports what is damaged in books that a command has read, and returns how the command ends, which is `exit` if they are
/// sound: its result lacks what could not be read.
///
/// # Errors
/// When the user asks to stop before the books are checked.
pub fn report<'a>(books: impl IntoIterator<Item = &'a Arc<dyn Book>>, exit: Exit) -> Result<Exit> {
    books.into_iter().try_fold(exit, |exit, book| Ok(exit.max(complain(book.path(), &find(book)?))))
}

/// Reports what is damaged in a file.
pub fn complain(path: &Path, damage: &[Finding]) -> Exit {
    for finding in damage {
        warn(&format!("{}: damaged: {finding}", path.display()));
    }
    if damage.is_empty() { Exit::Done } else { Exit::Findings }
}

/// Checks a book on another thread, so that the user can stop at any time.
fn find(book: &Arc<dyn Book>) -> Result<Vec<Finding>> {
    let (done, found) = channel();
    let (path, book) = (book.path().to_owned(), Arc::clone(book));
    let check = move || {
        let progress = Progress::terminal(book.path().to_string_lossy());
        let damage = book.damage(&progress);
        drop(progress);
        // Nobody waits after an interrupt.
        let _ = done.send(damage);
    };
    let unchecked = |kind, what: &str| Error::new(kind, what).at_path(&path);
    thread::Builder::new()
        .name("check".to_owned())
        .spawn(check)
        .map_err(|error| Error::file(&path, "cannot start a thread to check the book", error))?;
    loop {
        match found.recv_timeout(TICK) {
            Ok(damage) => return Ok(damage),
            Err(RecvTimeoutError::Timeout) if interrupt::asked() => {
                return Err(unchecked(
                    ErrorKind::Interrupted,
                    "interrupted before the book was checked for damage; the output is complete",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(unchecked(ErrorKind::Format, "the book could not be checked for damage"));
            }
        }
    }
}
