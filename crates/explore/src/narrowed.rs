//! A book of which only games of some speeds and ratings are seen.

use std::path::Path;

use tabiya_base::error::Result;
use tabiya_base::findings::Findings;
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::{Among, BookSummary, Format, MoveFacts, Moves, Scope, Sliced, Variant, Visit};
use tabiya_chess::{Position, RatingBand, Speed};

/// A book that counts games separately, and which of them are seen.
pub(super) struct Narrowed<'a> {
    book: &'a dyn Book,
    among: &'a Among,
}

impl<'a> Narrowed<'a> {
    /// The games that are meant in this book; `None` where all of them are seen, because all are meant or because it does not
    /// tell these apart.
    pub(super) fn new(book: &'a dyn Book, among: &'a Among) -> Option<Self> {
        let can_tell_apart = book.as_sliced().is_some_and(|book| book.by().covers(among.by()));
        (can_tell_apart && among.by().any()).then_some(Self { book, among })
    }
}

/// The speeds and the lowest ratings of the bands that a book counts separately, of those that count in it at all.
pub(super) fn told_apart(book: &dyn Book, among: &Among) -> (Vec<&'static str>, Vec<u16>) {
    let by = book.as_sliced().map(Sliced::by).unwrap_or_default();
    let speeds = Speed::NAMES
        .into_iter()
        .filter(|(_, speed)| by.speed && (among.speeds.is_empty() || among.speeds.contains(speed)));
    let ratings = RatingBand::all()
        .filter(|band| by.rating && (among.ratings.is_empty() || among.ratings.contains(band)));
    (speeds.map(|(name, _)| name).collect(), ratings.map(RatingBand::lowest).collect())
}

impl Moves for Narrowed<'_> {
    fn variant(&self) -> Variant {
        self.book.variant()
    }

    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        if let Some(book) = self.book.as_sliced() {
            book.moves_among(at, self.among, out);
        }
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> Result<u64> {
        self.book.each(scope, progress, visit)
    }
}

impl Book for Narrowed<'_> {
    fn path(&self) -> &Path {
        self.book.path()
    }

    fn format(&self) -> Format {
        self.book.format()
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
        self.book.survey(progress, findings)
    }
}
