//! A line, or a tree of lines, that goes into a book at once or leaves it: read as people write it, and turned into edits.

mod plan;
mod read;
#[cfg(test)]
mod tests;

use shakmaty::{Color, Move};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::edit::EditValue;
use tabiya_chess::{Game, Position};

pub use self::plan::LineCounts;
pub(super) use self::plan::plan;

/// Moves that a line has at most, with its variations, and that leave a book at once.
pub const MOST: usize = 100_000;

/// A line, with its variations; or several.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Where its games begin, and whether that is another position than the usual one.
    starts: Vec<(Game, bool)>,
    moves: Vec<LineMove>,
}

/// A move of a line.
#[derive(Clone, Debug)]
struct LineMove {
    /// The position before it.
    at: Position,
    mv: Move,
    /// The move before it, by its place among all; otherwise it is the first of the game that begins at this place.
    before: Result<usize, usize>,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// It comes into the book.
    Add {
        /// Only the moves of this side.
        only: Option<Color>,
        /// What its moves get. Without it those that the book has stay as they are, and others get what lets them be played
        /// about as often as the other moves of their position.
        value: Option<EditValue>,
    },
    /// Its last move is deleted, with all moves that only this move leads to.
    Delete,
}

impl Line {
    /// The moves of a game that follow its first `from`.
    pub fn of_game(game: &Game, is_set_up: bool, from: usize) -> Self {
        let mut start = Game::from_position(game.start_position().clone());
        let mut moves = game.moves().iter().copied();
        moves.by_ref().take(from).for_each(|mv| start.push(mv));
        let mut line = Self { starts: vec![(start.clone(), is_set_up)], moves: Vec::new() };
        let (mut at, mut before) = (start.position().clone(), Err(0));
        for mv in moves {
            line.moves.push(LineMove { at: at.clone(), mv, before });
            at.play(mv);
            before = Ok(line.moves.len() - 1);
        }
        line
    }

    /// Whether it has no moves.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// The game up to the move at this place, without it, and whether it has another start than the usual one.
    fn game_before(&self, place: usize) -> (Game, bool) {
        let (mut moves, mut before) =
            (Vec::new(), self.moves.get(place).map_or(Err(0), |known| known.before));
        while let Ok(known) = before {
            let Some(LineMove { mv, before: earlier, .. }) = self.moves.get(known) else { break };
            moves.push(*mv);
            before = *earlier;
        }
        let start = before.err().and_then(|start| self.starts.get(start));
        let (mut game, is_set_up) = start.cloned().unwrap_or((Game::start(), false));
        moves.into_iter().rev().for_each(|mv| game.push(mv));
        (game, is_set_up)
    }

    /// The place of the last move of its only game, which has no variations.
    ///
    /// # Errors
    /// When there is no move, or there are several lines.
    fn last(&self) -> Result<usize> {
        let follows = |(place, known): (usize, &LineMove)| known.before == place.checked_sub(1).ok_or(0);
        let last = self.moves.len().checked_sub(1);
        last.filter(|_| self.moves.iter().enumerate().all(follows)).ok_or_else(|| {
            let what = if self.is_empty() { "there is no move to delete" } else { "there are several lines" };
            Error::new(ErrorKind::Usage, what).advice("write one line, whose last move is deleted")
        })
    }
}
