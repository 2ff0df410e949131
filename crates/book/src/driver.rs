//! What opens and writes the files of a format.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::Result;
use tabiya_base::map::Map;
#[cfg(feature = "write")]
use tabiya_chess::MoveCode;
use tabiya_chess::Variant;

use super::traits::Book;
use super::{Among, Format};
#[cfg(feature = "write")]
use super::{BookWriter, WriteOptions};

/// A format of books. Each folder of `formats` has one, and `formats/mod.rs` lists them.
pub(crate) trait Driver: Sync {
    /// What is known of it.
    fn format(&self) -> Format;

    /// Whether a file may be of this format. The bytes are all that there are, or as many as are known of its start.
    fn sniff(&self, path: &Path, bytes: &[u8]) -> Certainty;

    /// Opens a book.
    ///
    /// # Errors
    /// When it is none of this format.
    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Book>>;

    /// Opens what is at a path, if it is a book of this format whatever its name: for formats that may be folders, that count games
    /// separately, or that state their variant.
    ///
    /// # Errors
    /// When it cannot be read, or it is a book that cannot be opened.
    fn open_at(&self, _path: &Path, _among: &Among) -> Result<Option<Arc<dyn Book>>> {
        Ok(None)
    }

    /// The file that a path means if it does not exist itself, as in another letter case; or that path, if the format knows what
    /// it means.
    fn locate(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// What begins a book; `None` where none is written of the records of other books.
    #[cfg(feature = "write")]
    fn writer(&self) -> Option<Create> {
        None
    }

    /// Whether what a book keeps of a position for others of its format says what people would miss in another format.
    fn is_missed(&self, _extra: &[u8]) -> bool {
        false
    }

    /// Whether that says of a move how it is to be played, so that its weight is not only that of its results.
    #[cfg(feature = "write")]
    fn decides(&self, _extra: &[u8], _mv: MoveCode) -> bool {
        false
    }

    /// The other files that a new book of this name may replace.
    #[cfg(feature = "write")]
    fn others(&self, _path: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Begins a book at a path.
#[cfg(feature = "write")]
pub(crate) type Create = fn(&Path, &WriteOptions) -> Result<Box<dyn BookWriter>>;

/// A file that is to be opened as a book.
pub(crate) struct Opening<'a> {
    /// Its path; that of a file in memory is only its name.
    pub path: &'a Path,
    /// Its bytes; none where the path is no file, but the format knows what it means.
    pub bytes: Map,
    /// Whether there is no file.
    pub in_memory: bool,
    /// The variant that is wanted.
    pub variant: Variant,
}

/// How certain it is that a file is of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Certainty {
    /// It is not.
    No,
    /// Nothing speaks against it.
    Possible,
    /// Its content is such as no other format would have by chance.
    Likely,
    /// Its name says so, and its content is not that of another.
    Named,
    /// It has the format's mark.
    Marked,
}

/// Bytes from the start that decide whether a file is text.
const TEXT_LEN: usize = 256;

/// Whether the file begins like text: without control characters, which books of bytes have.
pub(crate) fn is_text(data: &[u8]) -> bool {
    data.iter().take(TEXT_LEN).all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace())
}

/// Whether the name of a file that is not empty has an extension of a format.
pub(crate) fn named(format: Format, path: &Path, bytes: &[u8]) -> Certainty {
    if !bytes.is_empty() && format.has_name(path) { Certainty::Named } else { Certainty::No }
}
