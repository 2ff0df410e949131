//! Book files named by the user become a shelf.

use std::sync::Arc;

use super::books::{BookFiles, BookList};
use super::paths::Places;
use crate::book::{self, Book, Shelf};

/// What is wrong with a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookProblem {
    /// A sentence that names the book.
    pub what: String,
    /// Whether the book could not be opened at all; otherwise it is played without what is damaged.
    pub unopened: bool,
}

/// Opens books for the session, which does no I/O itself.
pub trait Library: Send + Sync {
    /// The shelf for these lists, and what is wrong with books: those that could be opened stand on it.
    fn open(&self, files: &BookFiles) -> (Shelf, Vec<BookProblem>);
}

/// The library of files.
pub struct Files {
    places: Places,
}

impl Files {
    /// Looks relative paths up in `places`.
    pub fn new(places: Places) -> Self {
        Self { places }
    }

    /// Opens each file of a list.
    fn list(&self, list: &BookList, problems: &mut Vec<BookProblem>) -> Vec<Arc<dyn Book>> {
        let mut books = Vec::new();
        for name in list.files() {
            match self.open_one(name) {
                Ok(book) => {
                    log::info!("book: {} ({})", book.path().display(), book.format());
                    let warnings = book.warnings().into_iter();
                    problems.extend(warnings.map(|what| BookProblem { what, unopened: false }));
                    books.push(book);
                }
                Err(what) => problems.push(BookProblem { what, unopened: true }),
            }
        }
        books
    }

    fn open_one(&self, name: &str) -> Result<Arc<dyn Book>, String> {
        let found = self.places.find(name);
        let found = found.or_else(|tried| tried.iter().find_map(|path| book::in_any_case(path)).ok_or(tried));
        let path = found.map_err(|tried| {
            let tried: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
            format!("{name}: no such book; looked for it at {}", tried.join(", "))
        })?;
        book::open(&path).map_err(|error| error.to_string())
    }
}

impl Library for Files {
    fn open(&self, files: &BookFiles) -> (Shelf, Vec<BookProblem>) {
        let mut problems = Vec::new();
        let white = self.list(&files.white, &mut problems);
        let black = self.list(&files.black, &mut problems);
        let both = match &files.both {
            BookList::Unnamed => book::starter()
                .map_err(|error| problems.push(BookProblem { what: error.to_string(), unopened: true }))
                .into_iter()
                .collect(),
            BookList::None => Vec::new(),
            list => self.list(list, &mut problems),
        };
        (Shelf::new(&white, &black, &both), problems)
    }
}
