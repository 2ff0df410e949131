//! Ends of games that the PGN reader does not recognise.

use super::read::GameReader;
use super::words::rest_of_moves;
use crate::games::{GameResult, Reason};

impl GameReader<'_> {
    /// The result at the end of a game's text, in a form that the PGN reader ignores.
    pub(super) fn trailing_result(&self) -> Option<Option<GameResult>> {
        let text = self.text().trim_ascii_end();
        let start = text.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
        let word = text.get(start..).unwrap_or_default();
        let result = GameResult::from_pgn(word);
        (result.is_some() || word == b"0:0").then_some(result)
    }

    /// Whether the move of this number is written `0-0` and is the last word: both players lost.
    pub(super) fn is_result(&mut self, number: u32) -> bool {
        let Some((at, _)) = self.found.clone().find_move(number) else { return false };
        let rest = rest_of_moves(self.slice().get(at..).unwrap_or_default());
        let found = rest.trim_ascii_end() == b"0-0";
        self.game.ended |= found;
        found
    }

    /// Whether the file ends in the head of this game.
    pub(super) fn is_cut_in_head(&self) -> bool {
        let piece = &self.batch.piece;
        piece.last && self.slice_end == piece.text.len() && is_head(self.slice())
    }

    /// Refuses a game without its moves, and perhaps without the end of its head.
    pub(super) fn refuse_cut(&mut self) {
        let why = "the file ends in the head of this game: the games before are used";
        self.refuse(Reason::Unreadable, why);
    }
}

/// Whether a text consists of tags alone, without even an empty line; the last one may be cut off.
fn is_head(text: &[u8]) -> bool {
    let mut rest = text;
    while rest.starts_with(b"[") {
        rest = memchr::memchr(b'\n', rest).and_then(|end| rest.get(end + 1..)).unwrap_or_default();
    }
    rest.is_empty() && !text.is_empty()
}
