//! Several books as one, for limits that depend on all of them: a temporary book.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::{self as book, CountsGames, Format, Weights};
use tabiya_workshop::bookmaker::{self, Resources};

use super::Args;
use crate::output::rows::many;
use crate::output::written::{KEYS_ONLY, left_out, merged_lines};

/// A book of several, in a folder of its own.
pub(super) struct Joined {
    /// None if nothing of the books can be joined.
    book: Option<Arc<dyn Book>>,
    /// What became of the books, for people.
    pub lines: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Joined {
    /// Merges the books. If all have one format, the book has that too, and so all that they hold; otherwise the format that
    /// is asked for.
    ///
    /// # Errors
    /// When a file cannot be written, or the work is interrupted.
    pub fn new(
        args: &Args,
        books: &[Arc<dyn Book>],
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Self> {
        let folder = resources.temporary_folder()?;
        let format = books.first().map(|book| book.format());
        let format = format.filter(|format| books.iter().all(|book| book.format() == *format));
        let are_counts = format.is_some_and(|format| format.games() == CountsGames::Only);
        // Books of a format that is only read become one of the format of the output.
        let format = format.filter(|format| are_counts || format.is_writable());
        let path = place(folder.path(), format, &args.to.output);
        let mut lines = Vec::new();
        let moves = if are_counts {
            bookmaker::join(&args.books, &path, resources, progress)?
        } else {
            let mut joined = args.to.book();
            joined.output.clone_from(&path);
            let writer = joined.create(None, resources)?;
            let (merged, written) =
                bookmaker::merge_books(books, false, Weights::Points, resources, writer, progress)?;
            lines.push(format!("{} read", many(merged.read, "position")));
            lines.extend(merged_lines(&merged, KEYS_ONLY));
            lines.extend(left_out(&written));
            written.moves
        };
        let book = if moves == 0 { None } else { Some(book::open_as(&path, args.variant.variant())?) };
        Ok(Self { book, lines, _folder: folder })
    }

    pub fn book(&self) -> Option<&dyn Book> {
        self.book.as_deref()
    }
}

/// Where the book is written: under the name of the output, from which some formats take a caption.
fn place(folder: &Path, format: Option<Format>, output: &Path) -> PathBuf {
    let name = Path::new(output.file_name().unwrap_or_default());
    match format.map(Format::extension) {
        Some(end) => folder.join(name.with_extension(end)),
        None => folder.join(name),
    }
}
