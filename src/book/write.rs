//! What every writer of books has in common.

use std::path::PathBuf;

use super::{LinkedGame, PositionRecord};
use crate::base::error::Result;

/// Which moves of a position without colours become green, in a format that has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Green {
    /// Where the position's moves have only weights, those of at least half the weight of the heaviest: without them a
    /// format of counts would hold nothing of the weights.
    #[default]
    Weights,
    /// Those that have at least so many per mille of their position's weight; 0 for no colours.
    PerMille(u32),
}

/// What is asked of a writer, whatever its format.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// A file that stands there may be replaced.
    pub force: bool,
    /// A book without a move is not written.
    pub needs_moves: bool,
    /// Where a format has colours and a position's moves have none: which moves become green.
    pub green: Green,
    /// What the book says of itself, where its format has a place for it.
    pub caption: String,
    /// Half-moves from the start of a game that were taken in; `None`: all.
    pub plies: Option<u32>,
    /// The Elo that White, Black, the stronger and the weaker player needed; 0 where none.
    pub least_elo: [u16; 4],
    /// Bytes that the writer may hold in memory; as far as its format needs more, it takes a little.
    pub memory: usize,
    /// The folder for what does not fit; `None`: the system's.
    pub temp: Option<PathBuf>,
}

impl WriteOptions {
    /// The folder for temporary files.
    pub fn temp(&self) -> PathBuf {
        self.temp.clone().unwrap_or_else(std::env::temp_dir)
    }
}

/// A book that is being written. Dropped before [`BookWriter::finish`], it leaves nothing behind.
pub trait BookWriter {
    /// Whether each position must come with the position itself, not only its key.
    fn needs_positions(&self) -> bool;

    /// Whether the format has colours and marks, or something that stands for them; where it has not, weights should
    /// come as [`crate::book::plain_weights`] makes them.
    fn holds_verdicts(&self) -> bool {
        false
    }

    /// Whether games are wanted, as [`BookWriter::game`] takes them in.
    fn wants_games(&self) -> bool {
        false
    }

    /// Bytes that it may hold in memory, as [`WriteOptions::memory`] says, besides what whoever hands positions over
    /// holds.
    fn memory(&self) -> usize {
        0
    }

    /// Takes in a game that the book is made of: all of them come before the first position, in the order of their
    /// numbers.
    ///
    /// # Errors
    /// When the disk is full or fails.
    fn game(&mut self, game: &LinkedGame) -> Result<()> {
        let _ = game;
        Ok(())
    }

    /// Takes in the next position: their keys ascend, and each comes once. What the format cannot hold is left out
    /// and counted in [`Written::left_out`].
    ///
    /// # Errors
    /// When the disk is full or fails.
    fn add(&mut self, known: &PositionRecord) -> Result<()>;

    /// Writes out what is left, syncs, and puts the book's files in their places.
    ///
    /// Where [`WriteOptions::needs_moves`] is set, a book without a move is not put there: what stood there before still
    /// does, and [`Written::files`] is empty.
    ///
    /// # Errors
    /// When the disk is full or fails: what stood there before still does.
    fn finish(self: Box<Self>) -> Result<Written>;
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The files, the one that opens the book first; none where the book would have no move.
    pub files: Vec<PathBuf>,
    /// Positions in the book.
    pub positions: u64,
    /// Moves in the book.
    pub moves: u64,
    /// What the format could not hold, as a clause such as "positions that no line from the start reaches", and how
    /// often.
    pub left_out: Vec<(String, u64)>,
    /// Moves whose weight is lost because the format computes it from their results; [`Green::PerMille`] would keep it as
    /// a colour.
    pub lost_weights: u64,
    /// Moves that became green by [`Green::Weights`].
    pub greens: u64,
}

/// What a format could not hold, for [`Written::left_out`]: of all that it cannot hold, what came.
pub fn left_out<'a>(lost: impl IntoIterator<Item = (&'a str, u64)>) -> Vec<(String, u64)> {
    lost.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| (what.to_owned(), count)).collect()
}
