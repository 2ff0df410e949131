//! Writing a book: a tree from the starting position, made ready beside its place before it is shown.
//!
//! What is held in memory is about 60 bytes for each move.

mod draft;
mod link;
mod tree;

use std::path::{Path, PathBuf};

pub use draft::{Draft, Told};

use crate::base::error::Result;
use crate::base::replace::Replacement;
use crate::book::{BookWriter, Known, WriteOptions, Written};

/// An Arena book that is being written.
#[derive(Debug)]
pub struct Writer {
    draft: Draft,
    path: PathBuf,
    file: Replacement,
    needs_moves: bool,
}

impl Writer {
    /// Begins a book at `path`.
    ///
    /// # Errors
    /// As [`Replacement::new`].
    pub fn new(path: &Path, options: &WriteOptions) -> Result<Self> {
        let file = Replacement::new(path, options.force)?;
        Ok(Self { draft: Draft::default(), path: path.to_owned(), file, needs_moves: options.needs_moves })
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

    fn add(&mut self, known: &Known) -> Result<()> {
        self.draft.add(known);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { draft, path, mut file, needs_moves } = *self;
        let Told { positions, moves, left_out } =
            draft.write(&mut file).map_err(|error| file.error(error))?;
        if moves == 0 && needs_moves {
            return Ok(Written { left_out, ..Written::default() });
        }
        file.commit()?;
        Ok(Written { files: vec![path], positions, moves, left_out, ..Written::default() })
    }
}
