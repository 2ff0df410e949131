//! A piece of a text of games, and the places in it.

use tabiya_base::bytes::Parts as _;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use tabiya_chess::Variant;

use super::look::memchr;
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
    /// Its first zero bytes that are at most [`MAX_ZEROS`].
    pub(super) zeros: Option<Zeros>,
    /// The first that are more.
    pub(super) gap: Option<Zeros>,
    /// Whether those are the first such of the file, and have to be reported.
    pub(super) is_first: ByZeros,
}

/// Something of zero bytes that are few, and of those that are more than [`MAX_ZEROS`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByZeros {
    pub few: bool,
    pub gap: bool,
}

/// A run of zero bytes: its first, and how many they are.
pub(super) type Zeros = (usize, usize);

/// More zero bytes than this are in place of text, as after a loss of power, and what follows them is another part of it.
const MAX_ZEROS: usize = 15;

/// The next run of zero bytes from this byte on, of at most [`MAX_ZEROS`], or of more.
pub(super) fn zeros_after(text: &[u8], from: usize, are_more: bool) -> Option<Zeros> {
    let mut from = from;
    loop {
        let at = from + memchr(0, text.get(from..)?)?;
        let rest = text.part(at..);
        let len = rest.iter().position(|byte| *byte != 0).unwrap_or(rest.len());
        if (len > MAX_ZEROS) == are_more {
            return Some((at, len));
        }
        from = at + len;
    }
}

impl PgnBatch {
    pub(super) fn new(
        file: Arc<Path>,
        piece: PgnPiece,
        (variant, untagged): (Variant, Variant),
        (zeros, gap): (Option<Zeros>, Option<Zeros>),
        is_first: ByZeros,
    ) -> Self {
        Self { file, piece, variant, untagged, lines_at: Cell::default(), zeros, gap, is_first }
    }

    /// The place of a byte of the piece in the file.
    pub(super) fn place(&self, at: usize) -> GameLocation {
        // Places mostly ascend, and there may be as many as games.
        let (from, before) = self.lines_at.get();
        let end = at.min(self.piece.text.len());
        let lines_in = |from: usize, to: usize| lines(self.piece.text.part(from..to));
        let before = (before + lines_in(from, end.max(from))).saturating_sub(lines_in(end, from.max(end)));
        self.lines_at.set((end, before));
        let spot = LineOrGame::Line(self.piece.line + before);
        GameLocation { file: self.file.clone(), spot, offset: self.piece.offset + at as u64, length: 0 }
    }
}
