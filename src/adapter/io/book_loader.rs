//! Opens the books that the user named.

use std::sync::Arc;

use crate::adapter::config::books::{BookFiles, BookList};
use crate::adapter::config::search_paths::SearchPaths;
use crate::adapter::session::BookProblem;
use crate::book::{self, Book, BookSet};

/// Opens books for the session, which does no I/O itself.
pub trait BookLoader: Send + Sync {
    /// Opens the books of these lists; returns those that could be opened, and the problems with books.
    fn open(&self, files: &BookFiles) -> (BookSet, Vec<BookProblem>);
}

/// Loads books from files.
pub struct FileLoader {
    search_paths: SearchPaths,
}

impl FileLoader {
    /// A loader that looks relative paths up in `search_paths`.
    pub fn new(search_paths: SearchPaths) -> Self {
        Self { search_paths }
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
        let found = self.search_paths.find(name);
        let found = found.or_else(|tried| tried.iter().find_map(|path| book::in_any_case(path)).ok_or(tried));
        let path = found.map_err(|tried| {
            let tried: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
            format!("{name}: no such book; looked for it at {}", tried.join(", "))
        })?;
        book::open(&path).map_err(|error| error.to_string())
    }
}

impl BookLoader for FileLoader {
    fn open(&self, files: &BookFiles) -> (BookSet, Vec<BookProblem>) {
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
        (BookSet::new(&white, &black, &both), problems)
    }
}
