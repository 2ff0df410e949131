//! What a program, or a user, wants of the moves that are played from a book.

use std::sync::Arc;

use tabiya_chess::openings::ChosenOpenings;

/// Of what the weights of a position's moves are made where the book counts the games of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weights {
    /// What the moves scored, as the book has it: most formats count two for a win and one for a draw.
    #[default]
    Points,
    /// How often the moves were played, whatever came of it.
    Games,
}

impl Weights {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Points, Self::Games];

    /// The names of all of them.
    pub const NAMES: [&str; 2] = [Self::ALL[0].as_str(), Self::ALL[1].as_str()];

    /// The name in options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Games => "games",
        }
    }
}

#[doc(hidden)]
impl Weights {
    /// Those of this name; `None` if there are none.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|weights| weights.as_str() == name)
    }
}

/// What decides which of a book's moves may be played, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// 0 the best move, 50 by weight, 100 any playable move alike. In between the
    /// weights are raised to the power of `(100 - variety) / variety`.
    pub variety: u32,
    /// Last full move that the book answers; 0 = no limit.
    pub depth: u32,
    /// How much of the position's weight a move needs, per mille.
    pub threshold: u32,
    /// Games that a move needs, where the format counts them.
    pub games: u32,
    /// Of what the weights are made, where the format counts games.
    pub weights: Weights,
    /// A move is not played when its line has fewer plies than this, including the move.
    pub reserve: u32,
    #[doc(hidden)]
    /// Only moves count that lead to these openings or stay in them; `None` = all. Before them those count that lead
    /// there soonest, or else those along their lines. In games of other variants all count.
    pub openings: Option<Arc<ChosenOpenings>>,
    #[doc(hidden)]
    /// A move that loses more centipawns, by the evaluations beside the book, is not played; 0 = no limit.
    pub max_loss: u32,
    #[doc(hidden)]
    /// How long the engine checks a move without an evaluation, in milliseconds; 0 = not at all.
    pub guard: u32,
    /// The verdicts of the format count: colours, marks and limits.
    pub tournament: bool,
    /// In tournaments, factors of CTG books multiply the weights.
    pub factor: bool,
    /// A move may lead to a position for the third time.
    pub threefold: bool,
    /// Learned results change the weights.
    pub learn: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            variety: 50,
            depth: 0,
            threshold: 5,
            games: 0,
            weights: Weights::Points,
            reserve: 0,
            openings: None,
            max_loss: 0,
            guard: 0,
            tournament: true,
            factor: true,
            threefold: false,
            learn: false,
        }
    }
}
