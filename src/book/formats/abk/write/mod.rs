//! Writing a book: a tree from the starting position, made ready beside its place before it is shown.
//!
//! Memory holds what [`WriteOptions::memory`] says and a few bits for each position; the rest is in temporary files.

mod draft;
mod file;
mod link;
mod tree;

use std::io::Write as _;
use std::path::{Path, PathBuf};

pub use draft::Draft;
pub use file::{Contents, write};

use crate::base::error::Result;
use crate::base::replace::Replacement;
use crate::book::{BookWriter, PositionRecord, WriteOptions, Written};

/// An Arena book that is being written.
#[derive(Debug)]
pub struct Writer {
    draft: Draft,
    path: PathBuf,
    file: Replacement,
    needs_moves: bool,
    memory: usize,
}

impl Writer {
    /// Begins a book at `path`.
    ///
    /// # Errors
    /// As [`Replacement::new`].
    pub fn new(path: &Path, options: &WriteOptions) -> Result<Self> {
        let file = Replacement::new(path, options.force)?;
        let draft = Draft::new(&options.temp(), options.memory);
        let (needs_moves, memory) = (options.needs_moves, options.memory);
        Ok(Self { draft, path: path.to_owned(), file, needs_moves, memory })
    }
}

impl BookWriter for Writer {
    fn needs_positions(&self) -> bool {
        true
    }

    /// As priorities.
    fn holds_verdicts(&self) -> bool {
        true
    }

    fn memory(&self) -> usize {
        self.memory
    }

    fn add(&mut self, known: &PositionRecord) -> Result<()> {
        self.draft.add(known)
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { draft, path, mut file, needs_moves, .. } = *self;
        let Contents { positions, moves, left_out } =
            write(draft, |bytes| file.write_all(bytes).map_err(|error| file.error(error)))?;
        if moves == 0 && needs_moves {
            return Ok(Written { left_out, ..Written::default() });
        }
        file.commit()?;
        Ok(Written { files: vec![path], positions, moves, left_out, ..Written::default() })
    }
}
