//! What moves are worth by the store of evaluations beside a book.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::interrupt;
use crate::book::Book;
use crate::cli::output::progress;
use crate::evals;
use crate::vet::Look;

/// The store beside a book, with its values backed up through the book.
///
/// # Errors
/// When there is no such store, when it cannot be read, and when the work is interrupted.
pub(crate) fn evals_beside(book: &dyn Book) -> Result<Look> {
    let path = evals::beside(book.path());
    let Some(mut look) = Look::open(&path)? else {
        return Err(Error::new(ErrorKind::File, "there is no store of evaluations")
            .at_path(path)
            .advice("make one with `tabiya vet` or `tabiya evals import`"));
    };
    interrupt::watch();
    look.back_up(book, &progress::on_terminal(book.path().to_string_lossy()))?;
    Ok(look)
}
