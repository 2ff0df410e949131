//! A piece of a text of games, game by game.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;
use pgn_reader::Reader;

use super::read::GameReader;
use super::split::{FIRST_TAG, Piece};
use crate::games::{Batch, Place, Spot, Visitor};

/// Bytes of a line of the head that are read. The standard allows 255; longer ones are met, of texts and addresses.
const MOST_TAG_LEN: usize = 1 << 13;

/// A piece of a text of games.
pub struct PgnBatch {
    file: Arc<Path>,
    piece: Piece,
}

impl PgnBatch {
    /// The games of a piece of this file.
    pub fn new(file: Arc<Path>, piece: Piece) -> Self {
        Self { file, piece }
    }

    /// Where the byte of this number in the piece is in the file.
    pub(super) fn place(&self, at: usize) -> Place {
        let before = self.piece.text.get(..at).unwrap_or(&self.piece.text);
        let line = self.piece.line + memchr::memchr_iter(b'\n', before).count() as u64;
        Place {
            file: self.file.clone(),
            spot: Spot::Line(line),
            offset: self.piece.offset + at as u64,
            length: 0,
        }
    }

    /// Whether the piece's last byte is the file's.
    pub(super) fn is_last(&self) -> bool {
        self.piece.last
    }

    /// The piece's bytes.
    pub(super) fn text(&self) -> &[u8] {
        &self.piece.text
    }

    /// Where the piece begins in the file, in bytes.
    pub(super) fn offset(&self) -> u64 {
        self.piece.offset
    }

    /// The line that the piece begins in.
    pub(super) fn line(&self) -> u64 {
        self.piece.line
    }

    /// The file.
    pub(super) fn file(&self) -> &Arc<Path> {
        &self.file
    }
}

impl Batch for PgnBatch {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) {
        let text = self.text();
        let mut start = 0;
        if self.piece.begins_inside {
            // What is left of a game that was reported as too long.
            start = memmem::find(text, b"\n[").map_or(text.len(), |at| at + 1);
        }
        let feed = Feed(Cell::new(&[]));
        let reader = || Reader::build(&feed).set_supported_tag_line_length(MOST_TAG_LEN).finish();
        let mut pgn = reader();
        let mut game = GameReader::new(&self, visitor);
        while start < text.len() {
            let rest = text.get(start..).unwrap_or_default();
            let end = memmem::find(rest, FIRST_TAG).map_or(text.len(), |at| start + at + 1);
            feed.0.set(text.get(start..end).unwrap_or_default());
            game.enter(start, end, self.piece.cut && end == text.len());
            loop {
                let left = |pgn: &Reader<&Feed<'_>>| feed.0.get().len() + pgn.buffer().len();
                let more = pgn.has_more();
                game.at(end - left(&pgn));
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
                    // What it holds back of this game is not to come before the next one.
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

/// Text for the PGN reader, which is given a game at a time: where one ends without its sign, the next is safe.
struct Feed<'a>(Cell<&'a [u8]>);

impl Read for &Feed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut text = self.0.get();
        let read = text.read(into)?;
        self.0.set(text);
        Ok(read)
    }
}
