//! The games in a piece of a text.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;
use pgn_reader::Reader;

use super::read::GameReader;
use super::split::{FIRST_TAG, Piece};
use crate::games::{Batch, Place, Spot, Visitor};

/// The longest line of a head that is read, in bytes. The standard allows 255; real files have longer ones, with texts
/// and addresses.
const MOST_TAG_LEN: usize = 1 << 13;

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
        let feed = Feed(Cell::new(&[]));
        let reader = || Reader::build(&feed).set_supported_tag_line_length(MOST_TAG_LEN).finish();
        let mut pgn = reader();
        let mut game = GameReader::new(&self, visitor);
        while start < text.len() {
            let rest = text.get(start..).unwrap_or_default();
            let end = first_tag.find(rest).map_or(text.len(), |at| start + at + 1);
            game.enter(start, end, self.piece.cut && end == text.len());
            if game.take_plain() {
                start = end;
                continue;
            }
            feed.0.set(text.get(start..end).unwrap_or_default());
            loop {
                let left = |pgn: &Reader<&Feed<'_>>| feed.0.get().len() + pgn.buffer().len();
                let more = pgn.has_more();
                game.at = end - left(&pgn);
                match more {
                    Ok(true) => game.before(pgn.buffer()),
                    Ok(false) => break,
                    Err(_) => {
                        game.broken();
                        pgn = reader();
                        break;
                    }
                }
                if pgn.read_game(&mut game).is_err() {
                    game.broken();
                    // Drops the rest of this game, so that it does not precede the next one.
                    feed.0.set(&[]);
                    pgn = reader();
                    break;
                }
            }
            game.finish();
            start = end;
        }
    }
}

/// The number of line ends in a text.
pub(super) fn lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Feeds the PGN reader one game at a time, so that a game without an end cannot damage the next one.
struct Feed<'a>(Cell<&'a [u8]>);

impl Read for &Feed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut text = self.0.get();
        let read = text.read(into)?;
        self.0.set(text);
        Ok(read)
    }
}
