//! A piece of a text of games, and the places in it.

use tabiya_base::bytes::Parts as _;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use tabiya_chess::Variant;

use super::split::{PgnPiece, lines};
use crate::{GameLocation, LineOrGame};

/// A piece of a text of games.
pub(crate) struct PgnBatch {
    pub(super) file: Arc<Path>,
    pub(super) piece: PgnPiece,
    /// The variant whose games are read.
    pub(super) variant: Variant,
    /// The variant of games that do not say it.
    pub(super) untagged: Variant,
    /// A byte of the piece and the line ends before it: of the last place.
    lines_at: Cell<(usize, u64)>,
    /// Its first zero byte.
    pub(super) zeros: Option<usize>,
    /// Whether that is the first of the file.
    pub(super) is_first_zeros: bool,
}

impl PgnBatch {
    pub(super) fn new(
        file: Arc<Path>,
        piece: PgnPiece,
        (variant, untagged): (Variant, Variant),
        zeros: Option<usize>,
        is_first_zeros: bool,
    ) -> Self {
        Self { file, piece, variant, untagged, lines_at: Cell::default(), zeros, is_first_zeros }
    }

    /// The place of a byte of the piece in the file.
    pub(super) fn place(&self, at: usize) -> GameLocation {
        // Places mostly ascend, and there may be as many as games.
        let (from, before) = Some(self.lines_at.get()).filter(|(from, _)| *from <= at).unwrap_or_default();
        let end = at.min(self.piece.text.len());
        let before = before + lines(self.piece.text.part(from..end));
        self.lines_at.set((end, before));
        let spot = LineOrGame::Line(self.piece.line + before);
        GameLocation { file: self.file.clone(), spot, offset: self.piece.offset + at as u64, length: 0 }
    }
}
