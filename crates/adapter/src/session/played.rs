//! Books that learn, and games that they are to learn.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use shakmaty::Color;

use tabiya_book::traits::Book;
use tabiya_book::{BookSet, Learnable};
use tabiya_learn::{Fingerprint, FinishedGame, Source, fingerprint_of};

/// A book that can learn, as it is when a game is played from it.
pub struct LearnableBook {
    book: Arc<dyn Book>,
    fingerprint: OnceLock<Option<Fingerprint>>,
}

impl LearnableBook {
    /// A book from which a game begins.
    pub fn new(book: &Arc<dyn Book>) -> Self {
        Self { book: Arc::clone(book), fingerprint: OnceLock::new() }
    }

    /// The book's file. Links were followed when the book was opened.
    pub fn file(&self) -> &Path {
        self.book.as_learnable().map_or(self.book.path(), Learnable::file)
    }

    /// What distinguishes the book from others. The first call reads the book: make it when the game begins.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        *self.fingerprint.get_or_init(|| self.book.as_learnable().map(fingerprint_of))
    }
}

/// The books that can learn the games of a colour, each file once.
pub(super) fn sources(book_set: &BookSet, color: Color) -> Arc<[LearnableBook]> {
    let mut sources: Vec<LearnableBook> = Vec::new();
    for book in book_set.books(color).iter().filter(|book| book.as_learnable().is_some()) {
        let source = LearnableBook::new(book);
        if !sources.iter().any(|other| other.file() == source.file()) {
            sources.push(source);
        }
    }
    sources.into()
}

/// A game to learn into the books from which it was played.
#[derive(Clone)]
pub struct PlayedGame {
    /// The books, by priority.
    pub sources: Arc<[LearnableBook]>,
    pub game: FinishedGame,
    /// Who says what its result is.
    pub source: Source,
    /// The message to report once the game is on a disk.
    pub verdict: String,
}
