//! What moves are worth by a store of evaluations.

use std::path::Path;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::Book;
use tabiya_workshop::vet::Look;

use crate::output::interrupts;
use crate::output::progress;

/// That a store of evaluations is missing, and what to do.
pub(crate) fn no_store(path: &Path, advice: &str) -> Error {
    Error::new(ErrorKind::File, "there is no store of evaluations").at_path(path).advice(advice)
}

/// The store with its values backed up through a book.
///
/// # Errors
/// When there is no such store, when it cannot be read, and when the work is interrupted.
pub(crate) fn backed_up(store: &Path, book: &dyn Book) -> Result<Look> {
    let Some(mut look) = Look::open(store)? else {
        return Err(no_store(store, "make one with `tabiya vet` or `tabiya import`"));
    };
    interrupts::watch();
    look.back_up(book, &progress::on_terminal(book.path().to_string_lossy()))?;
    Ok(look)
}
