//! PGN: texts of games.
//!
//! The text is cut between games by [`split`], so that several threads can read it; each piece is read by the crate
//! `pgn-reader`, and [`words`] watches over what that passes over.

mod ends;
mod moves;
mod piece;
mod read;
pub mod split;
#[cfg(test)]
mod tests;
pub mod words;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

pub use piece::PgnBatch;

use super::{Batch, Place, Problem, Reason, Spot, Visitor};
use split::Pieces;

/// A text of games that is being cut into batches.
pub struct Pgn<R> {
    file: Arc<Path>,
    pieces: Pieces<R>,
    /// A failure of reading, reported after what came before it.
    failed: Option<Problem>,
    at: (u64, u64),
}

impl<R: Read> Pgn<R> {
    /// The games in what `from` gives, under the name of `file`.
    pub fn new(file: Arc<Path>, from: R) -> Self {
        Self { file, pieces: Pieces::new(from), failed: None, at: (0, 1) }
    }

    /// The next batch; `None` at the end. Where reading fails, the last batch reports it.
    pub fn next_batch(&mut self) -> Option<Box<dyn Batch>> {
        if let Some(problem) = self.failed.take() {
            return Some(Box::new(Failure(problem)));
        }
        let (piece, result) = self.pieces.next_piece();
        if let Some(piece) = &piece {
            let lines = memchr::memchr_iter(b'\n', &piece.text).count() as u64;
            self.at = (piece.offset + piece.text.len() as u64, piece.line + lines);
        }
        if let Err(error) = result {
            let (offset, line) = self.at;
            let place = Place { file: self.file.clone(), spot: Spot::Line(line), offset, length: 0 };
            self.failed = Some(Problem {
                reason: Reason::Unreadable,
                place,
                why: format!("the file cannot be read any further ({error}): what comes before is used"),
            });
        }
        match piece {
            Some(piece) => Some(Box::new(PgnBatch::new(self.file.clone(), piece))),
            None => self.failed.take().map(|problem| Box::new(Failure(problem)) as Box<dyn Batch>),
        }
    }
}

/// A batch without games, which reports why.
struct Failure(Problem);

impl Batch for Failure {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) {
        visitor.unreadable(self.0);
    }
}
