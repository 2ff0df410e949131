//! The book that another one grows from: a book, several as one, or one that is built from games.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::Result;
use tabiya_book::traits::Book;
use tabiya_book::{Moves, Variant};
use tabiya_learn as learn;
use tabiya_workshop::bookmaker::{Filter, NewBook, Resources, Weigh};
use tabiya_workshop::source::books_and_games;

use crate::args::variant::open_of;

/// The book, if there is one.
#[derive(Default)]
pub(super) struct Seed {
    book: Option<Arc<dyn Book>>,
    files: Vec<PathBuf>,
    /// Where it was made.
    folder: Option<tempfile::TempDir>,
}

impl Seed {
    /// Opens a book; makes one of several books, and of games as `build` does.
    ///
    /// # Errors
    /// When a source cannot be read, or a temporary file cannot be written.
    pub fn open(sources: &[PathBuf], variant: Variant, resources: &Resources) -> Result<Self> {
        let (books, games) = books_and_games(sources, |_| true);
        let books = books.iter().map(|path| open_of(path, variant)).collect::<Result<Vec<_>>>()?;
        let mut files = learn::files_of(books.iter().map(|book| &**book));
        files.extend(games.iter().cloned());
        if let (true, [book]) = (games.is_empty(), books.as_slice()) {
            return Ok(Self { book: Some(Arc::clone(book)), files, folder: None });
        }
        if sources.is_empty() {
            return Ok(Self::default());
        }
        let folder = resources.temporary_folder()?;
        let new = |name: &str| {
            let mut new = NewBook::new(folder.path().join(name));
            (new.threads, new.memory) = (Some(resources.threads), Some(resources.memory));
            (new.temp, new.variant) = (Some(resources.temp.clone()), variant);
            new
        };
        let mut parts: Vec<PathBuf> = books.iter().map(|book| book.path().to_owned()).collect();
        if !games.is_empty() {
            let built = new("games.bin");
            let (_, written) = built.build(&games, &Filter::default(), &Weigh::default(), &[])?;
            parts.extend((written.moves > 0).then_some(built.output));
        }
        let made = made(&parts, &new("seed.bin"))?;
        let book = made.map(|path| learn::open_settled_as(&path, variant)).transpose()?;
        Ok(Self { book, files, folder: Some(folder) })
    }

    /// The moves of the book.
    pub fn book(&self) -> Option<&dyn Moves> {
        self.book.as_deref().map(|book| book as &dyn Moves)
    }

    /// The book, if it was opened and not made.
    pub fn opened(&self) -> impl Iterator<Item = &Arc<dyn Book>> {
        self.book.iter().filter(|_| self.folder.is_none())
    }

    /// The files that it is made of.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }
}

/// One book of several.
fn made(parts: &[PathBuf], new: &NewBook) -> Result<Option<PathBuf>> {
    match parts {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        _ => {
            let (_, written, _) = new.merge(parts, false)?;
            Ok((written.moves > 0).then(|| Path::new(&new.output).to_owned()))
        }
    }
}
