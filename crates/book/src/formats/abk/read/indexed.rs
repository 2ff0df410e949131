//! What all records of a move say together.
#![allow(clippy::cast_possible_truncation, reason = "a ply is limited before")]

use shakmaty::{Color, Position as _};

use tabiya_chess::{MoveCode, Position};

use super::super::layout::HIGHEST_PRIORITY;
use super::super::records::AbkRecord;
use crate::Counts;

/// A move of a position, with the sum of all its records. The counts are White's, as in the file.
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
    /// The sum of what each record counts in the mean of the priorities: its games, at least 1.
    pub base: u32,
    /// The move.
    pub mv: MoveCode,
    /// Plies from the start up to and including this move, on the shortest path.
    pub ply: u16,
    /// The mean of the priorities of its records, rounded; 0 only if all are.
    pub priority: u8,
    /// Whether White moves.
    pub white: bool,
    /// Whether the header's limits keep it from being played.
    pub limited: bool,
}

impl IndexedMove {
    /// What one record says. Counts below 0 are 0.
    pub(super) fn new(record: &AbkRecord, at: &Position, mv: MoveCode, ply: u32) -> Self {
        let count = |number: i32| u32::try_from(number).unwrap_or_default();
        let base = count(record.games).max(1);
        Self {
            key: at.key(),
            // Until all records are added up: the numerator of the mean of the priorities.
            weight: u64::from(record.priority.min(HIGHEST_PRIORITY)) * u64::from(base),
            games: count(record.games),
            white_wins: count(record.white_wins),
            white_losses: count(record.white_losses),
            base,
            mv,
            ply: ply.min(u16::MAX.into()) as u16,
            priority: 0,
            white: at.chess().turn() == Color::White,
            limited: false,
        }
    }

    /// Adds another record of the same move.
    pub(super) fn add(&mut self, other: &Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.games = self.games.saturating_add(other.games);
        self.white_wins = self.white_wins.saturating_add(other.white_wins);
        self.white_losses = self.white_losses.saturating_add(other.white_losses);
        self.base = self.base.saturating_add(other.base);
        self.ply = self.ply.min(other.ply);
    }

    /// Games that the mover won and lost.
    pub(crate) fn wins_and_losses(&self) -> (u32, u32) {
        match self.white {
            true => (self.white_wins, self.white_losses),
            false => (self.white_losses, self.white_wins),
        }
    }

    /// The mover's counts. Games without a winner are drawn, unless the book has no results at all: then it is unknown
    /// how they ended.
    pub fn counts(&self, has_results: bool) -> Counts {
        let (wins, losses) = self.wins_and_losses();
        let draws = self.games.saturating_sub(wins).saturating_sub(losses);
        Counts {
            games: self.games.into(),
            wins: wins.into(),
            draws: if has_results { draws.into() } else { 0 },
            losses: losses.into(),
        }
    }
}
