//! What books did in games: where each game left them, and what came of it.
//!
//! | step | module |
//! |---|---|
//! | what a comment says of a move: its score, its time | [`remark`] |
//! | one game: where it left the books | [`Game`], [`Reader`] |
//! | sums: openings, exits, lines | [`Sums`] |
//! | players: who scored what against whom, in pairs of games | [`Players`] |
//! | Elo differences and their limits | [`elo`] |

pub mod elo;
mod game;
mod players;
pub mod remark;
mod sums;

pub use game::{BookMove, ERRORS_KEPT, Exit, Game, Kept, Left, Reader};
pub use players::{Match, Players};
pub use sums::{Group, Leave, Step, Sums};

/// Games won, drawn and lost by one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

impl Score {
    /// Counts a game by its points for the side, in halves: 2, 1 or 0.
    pub fn add(&mut self, halves: u8) {
        match halves {
            0 => self.losses += 1,
            1 => self.draws += 1,
            _ => self.wins += 1,
        }
    }

    /// Games.
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Points for each game; `None` without games.
    pub fn share(&self) -> Option<f64> {
        let games = self.games();
        (games > 0).then(|| (self.wins as f64 + self.draws as f64 / 2.0) / games as f64)
    }

    /// Games by their points, the fewest points first.
    pub fn by_points(&self) -> [u64; 3] {
        [self.losses, self.draws, self.wins]
    }
}
