//! What games reach and a book has no answer to.
//!
//! | step | module |
//! |---|---|
//! | how probable each position is, and which of them are gaps | `walk` |
//! | adding up the lines that meet in a position | `merge` |
//! | what of the book games almost never reach | `rare` |
//! | the rows as JSON | `json` |
//! | each gap as a game of PGN | `pgn` |
//!
//! A game goes by the chances of the book's moves where the side of the book is to move, and by what is expected of the opponent
//! where that is to move. The share of a position is the chance that a game reaches it, by whatever order of moves. A gap is
//! a position with the book's side to move in which the book plays nothing.

mod json;
mod merge;
mod pgn;
mod rare;
mod walk;

use shakmaty::{Color, Move, Position as _};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::Moves;
use tabiya_book::choose::{Policy, by_chance};
use tabiya_book::traverse::Tracks;
use tabiya_chess::{Game, MoveCode, Position};

use crate::expected::Expected;
use crate::view::PositionLine;

pub use json::GapsJson;
pub use pgn::pgn;

/// Positions that are less probable than this part of the least share that is listed are not followed. Several lines that are left out
/// so could meet again in a position that would be listed.
const FOLLOWED: f64 = 0.1;

/// The least share that may be asked for: it bounds memory, to some 10 / share positions after each number of plies.
pub const LEAST_SHARE: f64 = 1e-5;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct GapSearch {
    /// The game that leads to where the walk begins.
    pub start: Game,
    /// The side of the book.
    pub side: Color,
    /// Plies that are followed from the start of the game.
    pub plies: u32,
    /// The least share of a position that is listed, at least [`LEAST_SHARE`].
    pub min_share: f64,
    /// Whether to look for what games almost never reach: that follows the whole book.
    pub rare: bool,
}

/// A position that games reach.
#[derive(Clone, Debug, PartialEq)]
pub struct ReachedPosition {
    /// The position before the last move by its number, and the move; `None` where the walk began.
    before: Option<(u32, MoveCode)>,
    /// The chance of the most probable line to it.
    best: f64,
    /// Plies from the start of the game.
    pub ply: u32,
    /// The chance that a game reaches it, on all lines.
    pub share: f64,
    /// How often the move that leads to it was played, on all lines, in the games of the first source that knows each; `None` where one
    /// does not count games.
    pub games: Option<u64>,
}

/// A position of the book that games almost never reach.
#[derive(Clone, Debug, PartialEq)]
pub struct RarePosition {
    /// Where it is.
    pub at: ReachedPosition,
    /// Positions with an answer from there on that no other line has, itself included.
    pub positions: u64,
}

/// What the book answers after some plies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlyAnswers {
    /// Plies from the start of the game.
    pub ply: u32,
    /// The chance that a game comes to a position after these plies with the book's side to move, in what is followed.
    pub reached: f64,
    /// The chance that it does, and the book has an answer.
    pub answered: f64,
}

/// What games reach of a book.
#[derive(Debug)]
pub struct Gaps {
    /// The side of the book.
    pub side: Color,
    start: Game,
    tracks: Tracks,
    /// The gaps, the most probable first.
    pub gaps: Vec<ReachedPosition>,
    /// How many gaps have a smaller share, and their share together, as far as positions were followed.
    pub smaller: (u64, f64),
    /// The positions in which the book plays more than one move, the most probable first.
    pub choices: Vec<ReachedPosition>,
    /// What games almost never reach, if it was asked for: those lines first that hold most positions.
    pub rare: Option<Vec<RarePosition>>,
    /// The share below which positions are not followed.
    pub followed: f64,
    /// What the book answers, by plies.
    pub answers: Vec<PlyAnswers>,
    /// The share of games that come to a position of the opponent.
    pub asked: f64,
    /// The share of games that come to a position of the opponent that no source knows.
    pub unknown: f64,
}

impl Gaps {
    /// Follows a book against an opponent.
    ///
    /// # Errors
    /// When the work is interrupted.
    pub fn find(
        book: &dyn Moves,
        expected: &Expected<'_>,
        search: &GapSearch,
        progress: &Progress,
    ) -> Result<Self> {
        walk::find(book, expected, search, progress)
    }

    /// The game that leads to where games were followed from.
    pub fn start(&self) -> &Game {
        &self.start
    }

    /// The moves of the most probable line to a position, from the start of the game.
    pub fn moves(&self, at: &ReachedPosition) -> Vec<MoveCode> {
        let begun = self.start.moves().iter().map(|mv| MoveCode::from_move(*mv));
        let line = at.before.map(|(number, mv)| (self.tracks.line(number), mv));
        begun.chain(line.into_iter().flat_map(|(line, mv)| line.into_iter().chain([mv]))).collect()
    }

    /// A position with the most probable line to it.
    pub fn line(&self, at: &ReachedPosition) -> PositionLine {
        PositionLine::after(self.start.start_position(), self.moves(at))
    }

    /// The share of the opponent's moves that the book answers; `None` if none is known.
    pub fn answered(&self) -> Option<f64> {
        let theirs = self.answers.iter().filter(|of| self.begun().is_none_or(|begun| of.ply > begun));
        let (answered, reached) =
            theirs.fold((0.0, 0.0), |(answered, reached), of| (answered + of.answered, reached + of.reached));
        (reached > 0.0).then_some(answered / reached)
    }

    /// The plies before the walk if it begins with the book's side to move: what it has there answers nothing.
    fn begun(&self) -> Option<u32> {
        let is_ours = self.start.position().chess().turn() == self.side;
        is_ours.then(|| u32::try_from(self.start.moves().len()).unwrap_or(u32::MAX))
    }

    /// Whether the book has a move in any position that games reach.
    pub fn has_answers(&self) -> bool {
        self.answers.iter().any(|of| of.answered > 0.0)
    }

    /// Whether no source knows what the opponent plays anywhere.
    pub fn knows_nothing(&self) -> bool {
        self.asked > 0.0 && self.unknown >= self.asked
    }
}

/// The moves that the book plays in a position, each with its chance, the most probable first.
pub fn plays(book: &dyn Moves, at: &Position) -> Vec<(Move, f64)> {
    let found = by_chance(book, at, &Policy::default(), |_| true).into_iter();
    found.filter(|(_, chance)| *chance > 0.0).map(|(facts, chance)| (facts.mv, chance)).collect()
}

/// A share of games as people say it: `1 in 14 games`.
pub fn in_words(share: f64) -> String {
    let one_in = 1.0 / share;
    match share {
        _ if share <= 0.0 => "no game".to_owned(),
        _ if one_in < 1.0 + 1e-9 => "every game".to_owned(),
        _ if one_in < 1.05 => "nearly every game".to_owned(),
        _ if one_in < 9.95 => format!("1 in {one_in:.1} games").replace(".0 ", " "),
        _ => format!("1 in {one_in:.0} games"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_said_as_people_say_them() {
        for (share, said) in [
            (0.0, "no game"),
            (1.0, "every game"),
            (0.98, "nearly every game"),
            (0.9, "1 in 1.1 games"),
            (0.5, "1 in 2 games"),
            (0.15, "1 in 6.7 games"),
            (1.0 / 14.2, "1 in 14 games"),
            (1.0 / 12_131.0, "1 in 12131 games"),
        ] {
            assert_eq!(in_words(share), said);
        }
    }
}
