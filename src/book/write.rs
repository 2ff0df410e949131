//! What every writer of books has in common.

use std::path::PathBuf;

use super::Known;
use crate::base::error::Result;

/// What is asked of a writer, whatever its format.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// A file that stands there may be replaced.
    pub force: bool,
    /// Where a format has colours and a position's moves have none: the per mille of the position's weight from which
    /// on a move becomes green; 0 for no colours.
    pub green: u32,
}

/// A book that is being written. Dropped before [`BookWriter::finish`], it leaves nothing behind.
pub trait BookWriter {
    /// Whether each position must come with the position itself, not only its key.
    fn needs_positions(&self) -> bool;

    /// Whether the format has colours and marks; where it has none, weights should come as
    /// [`crate::choose::plain_weights`] makes them.
    fn holds_verdicts(&self) -> bool {
        false
    }

    /// Takes in the next position: their keys ascend, and each comes once. What the format cannot hold is left out
    /// and counted in [`Written::left_out`].
    ///
    /// # Errors
    /// When the disk is full or fails.
    fn add(&mut self, known: &Known) -> Result<()>;

    /// Writes out what is left, syncs, and puts the book's files in their places.
    ///
    /// # Errors
    /// When the disk is full or fails: what stood there before still does.
    fn finish(self: Box<Self>) -> Result<Written>;
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The files, the one that opens the book first.
    pub files: Vec<PathBuf>,
    /// Positions in the book.
    pub positions: u64,
    /// Moves in the book.
    pub moves: u64,
    /// What the format could not hold, as a clause such as "positions that no line from the start reaches", and how
    /// often.
    pub left_out: Vec<(String, u64)>,
}
