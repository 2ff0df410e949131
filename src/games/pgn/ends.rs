//! How the text of a game ends, where the PGN reader does not know.

use super::read::{GameReader, State};
use super::words::rest_of_moves;
use crate::games::{GameResult, Reason};

impl GameReader<'_> {
    /// The result that a game's text ends with, in a form that the PGN reader passes over.
    pub(super) fn trailing_result(&self) -> Option<Option<GameResult>> {
        let text = self.text().trim_ascii_end();
        let start = text.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
        let word = text.get(start..).unwrap_or_default();
        let result = GameResult::from_pgn(word);
        (result.is_some() || word == b"0:0").then_some(result)
    }

    /// Whether the move of this number is written `0-0` and nothing follows it: both players lost.
    pub(super) fn is_result(&mut self, number: u32) -> bool {
        let Some((at, _)) = self.behind.clone().find_move(number) else { return false };
        let rest = rest_of_moves(self.slice().get(at..).unwrap_or_default());
        let found = rest.trim_ascii_end() == b"0-0";
        self.ended |= found;
        found
    }

    /// Whether the file ends in the head of this game.
    pub(super) fn is_cut_in_head(&self) -> bool {
        self.batch.is_last() && self.slice_end == self.batch.text().len() && is_head(self.slice())
    }

    /// Refuses a game whose moves, and maybe part of its head, are missing.
    pub(super) fn refuse_cut(&mut self) {
        let why = "the file ends in the head of this game: the games before are used".to_owned();
        self.problem = Some(self.problem_at(self.game_start, Reason::Unreadable, why));
        self.state = State::Unwanted;
    }
}

/// Whether a text is made of tags alone, the last of which may be cut; not even an empty line follows them.
fn is_head(text: &[u8]) -> bool {
    let mut rest = text;
    while rest.starts_with(b"[") {
        rest = memchr::memchr(b'\n', rest).and_then(|end| rest.get(end + 1..)).unwrap_or_default();
    }
    rest.is_empty() && !text.is_empty()
}
