//! What the records of a book say of one move of one position.

use shakmaty::{Color, Position as _};

use super::layout::HIGHEST_PRIORITY;
use super::records::Record;
use crate::chess::{MoveCode, Position};

/// A move of a position, with what all records of it say together. The counts are White's, as in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexedMove {
    /// The position.
    pub key: u64,
    /// The move's weight, 0 for never.
    pub weight: u64,
    /// Games.
    pub games: u32,
    /// Games that White won.
    pub white_wins: u32,
    /// Games that White lost.
    pub white_losses: u32,
    /// The sum of what each record counts for in the mean of the priorities: its games, at least 1.
    pub base: u32,
    /// The move.
    pub mv: MoveCode,
    /// Plies from the start to this move, it included, on the shortest way.
    pub ply: u16,
    /// Whether White moves.
    pub white: bool,
    /// Whether the header's limits keep it from being played.
    pub limited: bool,
}

impl IndexedMove {
    /// What one record says. Counts below 0 are 0.
    pub fn new(record: &Record, at: &Position, mv: MoveCode, ply: u32) -> Self {
        let count = |number: i32| u32::try_from(number).unwrap_or_default();
        let base = count(record.games).max(1);
        Self {
            key: at.key(),
            // Until all records are summed up: what the mean of the priorities is made from.
            weight: u64::from(record.priority.min(HIGHEST_PRIORITY)) * u64::from(base),
            games: count(record.games),
            white_wins: count(record.white_wins),
            white_losses: count(record.white_losses),
            base,
            mv,
            ply: ply.min(u16::MAX.into()) as u16,
            white: at.chess().turn() == Color::White,
            limited: false,
        }
    }

    /// Adds what another record of the same move says. Sums stop at the greatest number there is.
    pub fn add(&mut self, other: &Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.games = self.games.saturating_add(other.games);
        self.white_wins = self.white_wins.saturating_add(other.white_wins);
        self.white_losses = self.white_losses.saturating_add(other.white_losses);
        self.base = self.base.saturating_add(other.base);
        self.ply = self.ply.min(other.ply);
    }

    /// Games that the mover won and lost.
    pub fn wins_and_losses(&self) -> (u32, u32) {
        match self.white {
            true => (self.white_wins, self.white_losses),
            false => (self.white_losses, self.white_wins),
        }
    }
}
