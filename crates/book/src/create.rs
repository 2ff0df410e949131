//! Writing a book as other programs do.

use std::fmt;
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error as BaseError, ErrorKind};
use tabiya_chess::{Position, Variant};

use crate::internal::{BookWriter, PositionRecord, WriteOptions, create_book, plain_weights};
use crate::{MoveFacts, Result, Written};

/// Memory that a writer may take where the program does not say.
const MEMORY: usize = 64 << 20;

/// How a book is written.
#[derive(Clone, Debug)]
pub struct CreateOptions(WriteOptions);

impl Default for CreateOptions {
    fn default() -> Self {
        Self(WriteOptions { needs_moves: true, memory: MEMORY, ..WriteOptions::default() })
    }
}

impl CreateOptions {
    /// A book of standard chess that replaces no file.
    pub fn new() -> Self {
        Self::default()
    }

    /// The variant whose moves the book gets. Polyglot books and text hold any, others standard chess only.
    #[must_use]
    pub fn variant(mut self, variant: Variant) -> Self {
        self.0.variant = variant;
        self
    }

    /// Whether a file that exists may be replaced.
    #[must_use]
    pub fn replace(mut self, replace: bool) -> Self {
        self.0.force = replace;
        self
    }

    /// What the book says of itself, if its format has room for it.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.0.caption = caption.into();
        self
    }

    /// Bytes of memory that writing may take, by default 64 MiB; the rest goes to temporary files.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.0.memory = bytes;
        self
    }

    /// The folder for temporary files, by default the system's.
    #[must_use]
    pub fn temporary_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.0.temp = Some(folder.into());
        self
    }

    /// Begins the book, in the format of its extension: `.bin`, `.ctg`, `.abk`, `.kob`, `.epd` or `.fen`.
    ///
    /// # Errors
    /// When the extension is of no format that can be written, the file exists, or the folder cannot be written.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<NewBook> {
        let path = path.as_ref();
        Ok(NewBook { writer: create_book(path, &self.0)?, path: path.to_owned(), last: None })
    }
}

/// Begins a book that replaces no file: see [`CreateOptions`].
///
/// ```
/// use tabiya_book::{MoveFacts, create};
/// # let folder = tempfile::tempdir().expect("a folder");
/// # let path = folder.path().join("small.bin");
/// let start = shakmaty::Chess::default();
/// let e4 = "e4".parse::<shakmaty::san::San>().expect("a move").to_move(&start).expect("legal");
/// let mut book = create(&path)?;
/// book.add(&start, &[MoveFacts::new(e4, 1)])?;
/// assert_eq!(book.finish()?.moves, 1);
/// assert_eq!(tabiya_book::open(&path)?.moves(&start)[0].mv, e4);
/// # Ok::<_, tabiya_book::Error>(())
/// ```
///
/// # Errors
/// As [`CreateOptions::create`].
pub fn create(path: impl AsRef<Path>) -> Result<NewBook> {
    CreateOptions::new().create(path)
}

/// A book that is being written. If it is dropped before [`NewBook::finish`], no file remains.
pub struct NewBook {
    writer: Box<dyn BookWriter>,
    path: PathBuf,
    last: Option<u64>,
}

impl NewBook {
    /// Adds a position with its moves. Positions come in the order of their [keys](Position::key), each once. What the format cannot
    /// hold is left out, and [`Written::left_out`] counts it.
    ///
    /// # Errors
    /// When the key is not above the last one, and when the disk is full or fails.
    pub fn add(&mut self, at: impl Into<Position>, moves: &[MoveFacts]) -> Result<()> {
        let mut record = PositionRecord::from_moves(&at.into(), moves);
        if self.last.is_some_and(|last| record.key <= last) {
            let what = "positions must be added in the order of their keys, each once";
            return Err(BaseError::new(ErrorKind::Usage, what).at_path(&self.path).into());
        }
        self.last = Some(record.key);
        if !self.writer.holds_verdicts() {
            plain_weights(&mut record);
        }
        Ok(self.writer.add(&record)?)
    }

    /// Writes the rest, syncs, and puts the book's files in place. A book without a move is not written.
    ///
    /// # Errors
    /// When the disk is full or fails: existing files stay as they were.
    pub fn finish(self) -> Result<Written> {
        Ok(self.writer.finish()?)
    }
}

impl fmt::Debug for NewBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewBook").field("path", &self.path).finish_non_exhaustive()
    }
}
