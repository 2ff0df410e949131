//! The games in a piece of a text.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;

use super::read::GameReader;
use super::split::{FIRST_TAG, Piece};
use crate::games::{Batch, Place, Spot, Visitor};

/// A piece of a text of games.
pub(crate) struct PgnBatch {
    pub(super) file: Arc<Path>,
    pub(super) piece: Piece,
    /// A byte of the piece and the line ends before it: of the last place.
    lines_at: Cell<(usize, u64)>,
}

impl PgnBatch {
    pub(super) fn new(file: Arc<Path>, piece: Piece) -> Self {
        Self { file, piece, lines_at: Cell::default() }
    }

    /// The place of a byte of the piece in the file.
    pub(super) fn place(&self, at: usize) -> Place {
        // Places mostly ascend, and there may be as many as games.
        let (from, before) = Some(self.lines_at.get()).filter(|(from, _)| *from <= at).unwrap_or_default();
        let end = at.min(self.piece.text.len());
        let before = before + lines(self.piece.text.get(from..end).unwrap_or_default());
        self.lines_at.set((end, before));
        let spot = Spot::Line(self.piece.line + before);
        Place { file: self.file.clone(), spot, offset: self.piece.offset + at as u64, length: 0 }
    }
}

impl Batch for PgnBatch {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) {
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
    }
}

/// The number of line ends in a text.
pub(super) fn lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}
