//! Book files named by the user become a shelf.

use std::sync::Arc;

use super::options::{BookFiles, FILE_SEPARATOR};
use super::paths::Places;
use crate::book::{self, Book, Shelf};

/// Opens books for the session, which does no I/O itself.
pub trait Library: Send + Sync {
    /// The shelf for these lists, and a sentence for each book that could not be opened, or not whole; the others stand on it.
    fn open(&self, files: &BookFiles) -> (Shelf, Vec<String>);
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
    fn list(&self, list: &str, problems: &mut Vec<String>) -> Vec<Arc<dyn Book>> {
        let mut books = Vec::new();
        for name in names(list) {
            let found = self.places.find(name);
            let found =
                found.or_else(|tried| tried.iter().find_map(|path| book::in_any_case(path)).ok_or(tried));
            match found {
                Ok(path) => match book::open(&path) {
                    Ok(book) => {
                        log::info!("book: {} ({})", path.display(), book.format());
                        problems.extend(book.warnings());
                        books.push(book);
                    }
                    Err(error) => problems.push(error.to_string()),
                },
                Err(tried) => {
                    let tried: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
                    problems.push(format!("{name}: no such book; looked for it at {}", tried.join(", ")));
                }
            }
        }
        books
    }
}

/// The names in a list of files.
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(FILE_SEPARATOR).map(str::trim).filter(|name| !name.is_empty())
}

impl Library for Files {
    fn open(&self, files: &BookFiles) -> (Shelf, Vec<String>) {
        let mut problems = Vec::new();
        let white = self.list(&files.white, &mut problems);
        let black = self.list(&files.black, &mut problems);
        let both = if names(&files.both).next().is_some() {
            self.list(&files.both, &mut problems)
        } else {
            book::starter().map_err(|error| problems.push(error.to_string())).into_iter().collect()
        };
        (Shelf::new(&white, &black, &both), problems)
    }
}
