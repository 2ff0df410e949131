//! What books did in games: where each game left them, and what came of it.
//!
//! | step | module |
//! |---|---|
//! | what a comment says of a move: its score, its time | [`remark`] |
//! | the books, and whose they are | [`Shelf`] |
//! | one game: where it left the books | [`ReportGame`], [`ReportReader`] |
//! | sums: openings, exits, lines | [`Sums`] |
//! | players: who scored what against whom, in pairs of games | [`Players`] |
//! | Elo differences and their limits | [`elo`] |

pub mod elo;
mod game;
mod players;
pub mod remark;
mod shelf;
mod sums;

pub use game::{BookMove, ERRORS_KEPT, Exit, GameFacts, LeaveReason, ReportGame, ReportReader};
pub use players::{Match, Players};
pub use shelf::{Own, Shelf};
pub use sums::{Leave, ReportGroup, ReportMove, Sums};
