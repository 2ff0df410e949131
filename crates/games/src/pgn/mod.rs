//! PGN: texts of games.
//!
//! [`split`] cuts the text between games, so that several threads can read it. [`lex`] finds the words of a piece, and
//! [`read`] makes games of them.

mod board;
mod head;
pub mod lex;
mod look;
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

use look::memchr2;
use tabiya_chess::Variant;

pub(crate) use piece::PgnBatch;
use piece::{ByZeros, zeros_after};

use super::{Batch, GameError, GameLocation, GameResult, LineOrGame, Reason, Visitor};
use lex::heads::{next_head, tag_lines};
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
    /// Which zero bytes were found and reported.
    found: ByZeros,
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
            found: ByZeros::default(),
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
                let [zeros, gap] = [false, true].map(|are_more| zeros_after(&piece.text, 0, are_more));
                let (has_few, has_gap) = (zeros.is_some(), gap.is_some());
                let is_first = ByZeros { few: has_few && !self.found.few, gap: has_gap && !self.found.gap };
                self.found = ByZeros { few: self.found.few || has_few, gap: self.found.gap || has_gap };
                let variants = (self.variant, self.untagged);
                Some(Box::new(PgnBatch::new(self.file.clone(), piece, variants, (zeros, gap), is_first)))
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
            start = head_after(text, 0, &mut 0);
        }
        let mut reader = GameReader::new(&self, visitor);
        if let Some((at, len)) = self.zeros.filter(|_| self.is_first.few) {
            reader.has_zeros(at, len);
        }
        let mut gap = self.gap;
        // The next brace.
        let mut brace = 0;
        // The next head, once it was looked for.
        let mut next: Option<Option<usize>> = None;
        loop {
            // Where zeros take the place of text, as after a loss of power, that text is lost.
            let limit = gap.map_or(text.len(), |(at, _)| whole_words(text.part(..at)));
            while start < limit {
                if next.is_none_or(|next| next.is_some_and(|next| next <= start)) {
                    next = Some(next_head(text, start));
                }
                let end = next.flatten().filter(|end| *end < limit).unwrap_or(limit);
                start = reader.read(start, end, limit);
            }
            let Some((at, len)) = gap else { break };
            start = head_after(text, at + len, &mut brace);
            if self.is_first.gap && gap == self.gap {
                reader.lost(at, len, start < text.len() || !self.piece.last);
            }
            gap = zeros_after(text, start, true);
        }
        reader.games
    }
}

/// Where the next head begins: here, or else at the start of a line. `brace`: the next one, if it was looked for.
fn head_after(text: &[u8], at: usize, brace: &mut usize) -> usize {
    let rest = text.part(at..);
    if lex::tags::is_tag(rest) {
        return at;
    }
    if *brace <= at {
        *brace = memchr2(b'{', b'}', rest).map_or(text.len(), |brace| at + brace);
    }
    // A comment may end here first.
    let from = if text.get(*brace) == Some(&b'}') { *brace } else { at };
    tag_lines(text.part(from..)).next().map_or(text.len(), |line| from + line)
}

/// Bytes of a text without its last word, if that may have been cut off.
fn whole_words(text: &[u8]) -> usize {
    let start = text.iter().rposition(|byte| matches!(byte, 0..=b' ')).map_or(0, |at| at + 1);
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
