//! Variations: alternatives to the last move, in parentheses.

use super::read::{GameReader, State};
use crate::chess::Position;
use crate::games::GameError;

/// Variations within each other that are read. More are not, because each takes memory.
const MOST_DEPTH: usize = 256;

/// Where the reader is in the variations of a game.
#[derive(Default)]
pub(super) struct Variations {
    /// The position before the last move of the present line, if it has one and variations are wanted.
    pub before: Option<Position>,
    /// Whether the present line has ended before its text: a word in it is not a move that can be played, or no more moves
    /// of it are wanted.
    pub ended: bool,
    /// The lines around the present one.
    around: Vec<Line>,
    /// Variations that are open and not read, because they are not wanted, within a line that has ended, or too deep.
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
    /// A variation begins, of the last move.
    pub(super) fn open_variation(&mut self) {
        let lines = &mut self.lines;
        let readable = self.state == State::Moves && lines.takes_moves() && lines.around.len() < MOST_DEPTH;
        match lines.before.take_if(|_| readable) {
            Some(before) => {
                let at = std::mem::replace(&mut self.position, before.clone());
                lines.around.push(Line { before: Some(before), at, ended: false });
                self.visitor.begin_variation();
            }
            None => lines.unread += 1,
        }
    }

    /// The variation ends, and the line around it continues.
    pub(super) fn close_variation(&mut self) {
        let lines = &mut self.lines;
        if lines.unread > 0 {
            lines.unread -= 1;
        } else if let Some(Line { before, at, ended }) = lines.around.pop() {
            (lines.before, lines.ended, self.position) = (before, ended, at);
            self.visitor.end_variation();
        }
    }

    /// Closes the variations that are open at the end of the text.
    pub(super) fn close_variations(&mut self) {
        self.lines.around.drain(..).for_each(|_| self.visitor.end_variation());
    }
}
