//! PGN: texts of games.
//!
//! [`split`] cuts the text between games, so that several threads can read it. [`lex`] finds the words of a piece, and
//! [`read`] makes games of them.

mod head;
pub mod lex;
mod piece;
mod read;
pub mod split;
#[cfg(test)]
mod tests;
mod variations;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;

pub(crate) use piece::PgnBatch;

use super::{Batch, GameError, Place, Reason, Spot, Visitor};
use read::GameReader;
use split::{FIRST_TAG, Pieces};

/// A text of games, cut into batches.
pub struct Pgn<R> {
    file: Arc<Path>,
    pieces: Pieces<R>,
    /// An error of reading, reported after the games before it.
    failed: Option<GameError>,
}

impl<R: Read> Pgn<R> {
    /// The games in the text that `from` reads, under the name of `file`.
    pub fn new(file: Arc<Path>, from: R) -> Self {
        Self { file, pieces: Pieces::new(from), failed: None }
    }

    /// The next batch; `None` at the end. If reading fails, the last batch reports it.
    pub fn next_batch(&mut self) -> Option<Box<dyn Batch>> {
        if let Some(error) = self.failed.take() {
            return Some(Box::new(Failure(error)));
        }
        let (piece, result) = self.pieces.next_piece();
        if let Err(error) = result {
            let (offset, line) = self.pieces.end();
            let place = Place { file: self.file.clone(), spot: Spot::Line(line), offset, length: 0 };
            self.failed = Some(GameError {
                reason: Reason::Unreadable,
                place,
                why: format!("cannot read the rest of the file ({error}): what comes before is used"),
            });
        }
        match piece {
            Some(piece) => Some(Box::new(PgnBatch::new(self.file.clone(), piece))),
            None => self.failed.take().map(|error| Box::new(Failure(error)) as Box<dyn Batch>),
        }
    }
}

impl Batch for PgnBatch {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) -> u64 {
        let text: &[u8] = &self.piece.text;
        let first_tag = memmem::Finder::new(FIRST_TAG);
        let mut start = 0;
        if self.piece.begins_inside {
            // The rest of a game that was reported as too long.
            start = memmem::find(text, b"\n[").map_or(text.len(), |at| at + 1);
        }
        let mut reader = GameReader::new(&self, visitor);
        while start < text.len() {
            let rest = text.get(start..).unwrap_or_default();
            let end = first_tag.find(rest).map_or(text.len(), |at| start + at + 1);
            reader.read(start, end);
            start = end;
        }
        reader.games
    }
}

/// A batch without games that reports an error.
struct Failure(GameError);

impl Batch for Failure {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) -> u64 {
        visitor.unreadable(self.0);
        0
    }
}
