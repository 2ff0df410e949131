//! Going through a book's positions with what their moves are worth, and what becomes of them.

use shakmaty::Position as _;

use tabiya_base::error::Result;
use tabiya_base::interrupt;
use tabiya_book::choose::Worth;
use tabiya_book::{MoveFacts, Moves};
use tabiya_chess::Position;

use crate::values::{Backed, Graph};

use super::judge::{Fate, VetLimits};

/// A book and what its moves are judged by.
#[derive(Clone, Copy, Debug)]
pub struct JudgedBook<'a> {
    /// The book.
    pub book: &'a dyn Moves,
    /// Its positions.
    pub graph: &'a Graph,
    /// Their values.
    pub backed: &'a Backed,
    /// How moves are judged.
    pub limits: VetLimits,
}

/// A position with its moves, as they were judged.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The number of the position.
    pub number: u32,
    /// Whether White is to move.
    pub white: bool,
    /// Its moves.
    pub moves: &'a [MoveFacts],
    /// What they are worth.
    pub worth: &'a Worth,
    /// What becomes of them.
    pub fates: &'a [Fate],
}

impl JudgedBook<'_> {
    /// What the moves of a position are worth, and what becomes of them; `None` if the graph does not have the position.
    pub fn fates(&self, at: &Position, moves: &[MoveFacts]) -> Option<(Worth, Vec<Fate>)> {
        let worth = self.graph.worth(self.backed, at, moves)?;
        let fates = self.limits.judge(at.chess().turn(), moves, &worth);
        Some((worth, fates))
    }

    /// Shows all positions in the order of their numbers.
    ///
    /// # Errors
    /// That of `see`, and when the work is interrupted.
    pub fn each(&self, mut see: impl FnMut(&Judged<'_>) -> Result<()>) -> Result<()> {
        let mut moves = Vec::new();
        for number in self.graph.positions().numbers() {
            interrupt::check()?;
            let Some(at) = self.graph.positions().get(number) else { continue };
            moves.clear();
            self.book.moves(&at, &mut moves);
            let Some((worth, fates)) = self.fates(&at, &moves) else { continue };
            let white = at.chess().turn().is_white();
            see(&Judged { number, white, moves: &moves, worth: &worth, fates: &fates })?;
        }
        Ok(())
    }
}
