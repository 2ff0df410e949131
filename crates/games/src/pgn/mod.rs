//! PGN: texts of games.
//!
//! [`split`] cuts the text between games, so that several threads can read it. [`lex`] finds the words of a piece, and
//! [`read`] makes games of them.

mod board;
mod head;
pub mod lex;
mod numbers;
mod order;
mod piece;
mod read;
pub mod split;
#[cfg(test)]
mod tests;
mod variations;

use tabiya_base::bytes::Parts as _;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use memchr::{memchr, memmem};
use tabiya_chess::Variant;

pub(crate) use piece::PgnBatch;

use super::{Batch, GameError, GameLocation, GameResult, LineOrGame, Reason, Visitor};
use lex::heads::next_head;
use read::GameReader;
use split::Pieces;
pub(crate) use split::Room;

/// A text of games, cut into batches.
#[derive(Debug)]
pub struct Pgn<R> {
    file: Arc<Path>,
    pieces: Pieces<R>,
    variant: Variant,
    /// The variant of games that do not say it.
    untagged: Variant,
    /// An error of reading, reported after the games before it.
    failed: Option<GameError>,
    /// Whether zero bytes were found and reported.
    has_zeros: bool,
}

impl<R: Read> Pgn<R> {
    /// The games in the text that `from` reads, under the name of `file`.
    pub fn new(file: Arc<Path>, from: R) -> Self {
        Self {
            file,
            pieces: Pieces::new(from),
            variant: Variant::Chess,
            untagged: Variant::Chess,
            failed: None,
            has_zeros: false,
        }
    }

    /// The same, of which the games of this variant are read instead of those of standard chess and Chess960.
    #[must_use]
    pub fn of_variant(self, variant: Variant) -> Self {
        Self { variant, ..self }
    }

    /// The same, with the games that have no tag `Variant`.
    pub(crate) fn or_untagged(self) -> Self {
        Self { untagged: self.variant, ..self }
    }

    /// The same with room for longer games.
    pub(crate) fn within(self, room: Room) -> Self {
        Self { pieces: self.pieces.within(room), ..self }
    }

    /// The next batch; `None` at the end. If reading fails, the last batch reports it.
    pub fn next_batch(&mut self) -> Option<Box<dyn Batch>> {
        if let Some(error) = self.failed.take() {
            return Some(Box::new(Failure(error)));
        }
        let (piece, result) = self.pieces.next_piece();
        if let Err(error) = result {
            let (offset, line) = self.pieces.end();
            let place =
                GameLocation { file: self.file.clone(), spot: LineOrGame::Line(line), offset, length: 0 };
            self.failed = Some(GameError {
                reason: Reason::Unreadable,
                place,
                why: format!("cannot read the rest of the file ({error}): what comes before is used"),
            });
        }
        match piece {
            Some(piece) => {
                let zeros = memchr(0, &piece.text);
                let is_first = !self.has_zeros;
                self.has_zeros |= zeros.is_some();
                let variants = (self.variant, self.untagged);
                Some(Box::new(PgnBatch::new(self.file.clone(), piece, variants, zeros, is_first)))
            }
            None => self.failed.take().map(|error| Box::new(Failure(error)) as Box<dyn Batch>),
        }
    }
}

impl Batch for PgnBatch {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) -> u64 {
        let text: &[u8] = &self.piece.text;
        let mut start = 0;
        if self.piece.begins_inside {
            // The rest of a game that was reported as too large.
            start = head_after(text, 0);
        }
        let mut reader = GameReader::new(&self, visitor);
        let mut zeros = self.zeros;
        // The next head, once it was looked for.
        let mut next: Option<Option<usize>> = None;
        loop {
            // Where zeros take the place of text, as after a loss of power, that text is lost.
            let limit = zeros.map_or(text.len(), |at| whole_words(text.part(..at)));
            while start < limit {
                if next.is_none_or(|next| next.is_some_and(|next| next <= start)) {
                    next = Some(next_head(text, start));
                }
                let end = next.flatten().filter(|end| *end < limit).unwrap_or(limit);
                start = reader.read(start, end, limit);
            }
            let Some(at) = zeros.take() else { break };
            let rest = text.part(at..);
            let len = rest.iter().position(|&byte| byte != 0).unwrap_or(rest.len());
            if self.is_first_zeros && zeros.is_none() && self.zeros == Some(at) {
                reader.lost(at, len);
            }
            start = head_after(text, at + len);
            zeros = text.get(start..).and_then(|rest| memchr(0, rest)).map(|at| start + at);
        }
        reader.games
    }
}

/// Where the next head begins: here, or else at the start of a line.
fn head_after(text: &[u8], at: usize) -> usize {
    let rest = text.part(at..);
    if lex::tags::is_tag(rest) {
        return at;
    }
    // A comment may end here first.
    let comment = memchr::memchr2(b'{', b'}', rest).filter(|at| rest.get(*at) == Some(&b'}')).unwrap_or(0);
    let mut lines = memmem::find_iter(rest.part(comment..), b"\n[").map(|line| comment + line + 1);
    let head = lines.find(|line| lex::tags::is_whole_tag(rest.part(*line..)));
    head.map_or(text.len(), |line| at + line)
}

/// Bytes of a text without its last word, if that may have been cut off.
fn whole_words(text: &[u8]) -> usize {
    let start = text.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
    let last = text.part(start..);
    let is_whole = matches!(last.last(), Some(b'}' | b']' | b'*')) || GameResult::from_pgn(last).is_some();
    if is_whole { text.len() } else { start }
}

/// A batch without games that reports an error.
struct Failure(GameError);

impl Batch for Failure {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) -> u64 {
        visitor.unreadable(self.0);
        0
    }
}
