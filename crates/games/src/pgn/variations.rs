//! Variations: alternatives to the last move, in parentheses.

use shakmaty::Move;

use tabiya_chess::Position;

use super::numbers::Numbering;
use crate::GameError;

/// Variations within each other that are read. More are not, because each takes memory.
const MAX_DEPTH: usize = 256;

/// Where the reader is in the variations of a game.
#[derive(Default)]
pub(super) struct Variations {
    /// The last move of the present line, if it has one and variations are wanted, and the position before it; no move where a
    /// side passed.
    pub before: Option<(Position, Option<Move>)>,
    /// Whether the present line has ended before its text: a word in it is not a move that can be played, or no more moves
    /// of it are wanted.
    pub ended: bool,
    /// The lines around the present one.
    around: Vec<VariationStart>,
    /// Variations that are open and not read, because they are not wanted, within a line that has ended, or too deep.
    unread: u32,
    /// Why moves of a variation are lost, of the first of them.
    pub cut: Option<GameError>,
}

/// A line, as it is when a variation of its last move begins.
struct VariationStart {
    before: Option<(Position, Option<Move>)>,
    at: Position,
    ended: bool,
    numbering: Numbering,
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

    /// A variation of the last move, or of the first, begins: its position comes back. Returns whether it is read, which it is where moves of
    /// the game are `wanted` at all.
    pub fn open(&mut self, wanted: bool, position: &mut Position, numbering: Numbering) -> bool {
        if !wanted || !self.takes_moves() || self.around.len() >= MAX_DEPTH {
            self.unread += 1;
            return false;
        }
        // Before the first move of a line it replaces that.
        let before = self.before.take();
        let start = before.as_ref().map_or(&*position, |(before, _)| before).clone();
        let at = std::mem::replace(position, start);
        self.around.push(VariationStart { before, at, ended: false, numbering });
        true
    }

    /// The variation ends, and the line around it continues at its own position; where a side passed in the variation, with its own
    /// numbers too. Returns whether the variation was read.
    pub fn close(&mut self, position: &mut Position, numbers: &mut Numbering) -> bool {
        if self.unread > 0 {
            self.unread -= 1;
            return false;
        }
        let Some(VariationStart { before, at, ended, numbering }) = self.around.pop() else { return false };
        if numbers.passed {
            *numbers = numbering;
        }
        (self.before, self.ended, *position) = (before, ended, at);
        true
    }

    /// The last move of the line around a variation that has no move yet.
    pub fn last_of_line_around(&self) -> Option<Move> {
        let (_, last) = self.around.last()?.before.as_ref()?;
        last.filter(|_| self.before.is_none())
    }

    /// The position after that move.
    pub fn after_line_around(&self) -> Option<&Position> {
        self.last_of_line_around()?;
        self.around.last().map(|line| &line.at)
    }

    /// Closes the variations that are open at the end of the text: one item for each that was read.
    pub fn close_all(&mut self) -> impl Iterator<Item = ()> {
        self.around.drain(..).map(drop)
    }
}
