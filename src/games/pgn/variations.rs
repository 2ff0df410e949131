//! Variations: alternatives to the last move, in parentheses.

use super::read::{GameReader, State};
use crate::chess::Position;
use crate::games::GameError;

/// Variations within each other that are read. More are not, because each takes memory.
const MOST_DEPTH: usize = 256;

/// Where the reader is in the variations of a game.
#[derive(Default)]
pub(super) struct Variations {
    /// The position before the last move of the present line, if it has one.
    pub before: Option<Position>,
    /// Whether the present line has ended before its text: a word in it is not a move that can be played, or no more moves
    /// of it are wanted.
    pub ended: bool,
    /// The lines around the present one.
    around: Vec<Line>,
    /// Variations that are open and not read, because they are within a line that has ended, or too deep.
    unread: u32,
    /// Why moves of a variation are lost, of the first of them.
    pub cut: Option<GameError>,
}

/// A line, as it is when a variation of its last move begins.
struct Line {
    before: Option<Position>,
    at: Position,
    ended: bool,
}

impl Variations {
    /// Whether the present line is a variation.
    pub fn is_inside(&self) -> bool {
        !self.around.is_empty() || self.unread > 0
    }

    /// Whether moves are played.
    pub fn takes_moves(&self) -> bool {
        !self.ended && self.unread == 0
    }
}

impl GameReader<'_> {
    /// Whether the next move belongs to a line that is read.
    pub(super) fn takes_moves(&self) -> bool {
        self.state == State::Moves && self.variations.as_ref().is_none_or(Variations::takes_moves)
    }

    /// A variation begins, of the last move.
    pub(super) fn open_variation(&mut self) {
        self.take_strange_before_bracket();
        let (Some(variations), State::Moves) = (&mut self.variations, self.state) else { return };
        let readable = variations.takes_moves() && variations.around.len() < MOST_DEPTH;
        match &variations.before {
            Some(before) if readable => {
                let at = std::mem::replace(&mut self.position, before.clone());
                let before = variations.before.take();
                variations.around.push(Line { before, at, ended: false });
                self.visitor.begin_variation();
            }
            _ => variations.unread += 1,
        }
    }

    /// The variation ends, and the line around it continues.
    pub(super) fn close_variation(&mut self) {
        self.take_strange_before_bracket();
        let (Some(variations), State::Moves) = (&mut self.variations, self.state) else { return };
        if variations.unread > 0 {
            variations.unread -= 1;
        } else if let Some(Line { before, at, ended }) = variations.around.pop() {
            (variations.before, variations.ended, self.position) = (before, ended, at);
            self.visitor.end_variation();
        }
    }

    /// Closes the variations that are open at the end of the text.
    pub(super) fn close_variations(&mut self) {
        let Some(variations) = &mut self.variations else { return };
        variations.around.drain(..).for_each(|_| self.visitor.end_variation());
    }

    /// Takes the words that the PGN reader ignored before the parenthesis that it has just read.
    fn take_strange_before_bracket(&mut self) {
        if self.variations.is_none() {
            return;
        }
        while self.state == State::Moves
            && self.game.looked_until <= self.game.given
            && self.game.strange.is_none_or(|strange| strange.brackets <= self.game.brackets)
        {
            let _ = self.take_strange();
        }
        self.game.brackets += 1;
    }
}
