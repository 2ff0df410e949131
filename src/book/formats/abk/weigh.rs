//! What a move weighs, and which moves the book's header keeps from being played (docs/formats/abk.md, Weights).
//!
//! Arena's help says which three factors make a move likely (priority, number of games, percentage of wins), that
//! the book's settings say how much each of them counts, and that a factor whose slider stands at the left does not
//! act; it gives no formula. Ours keeps to all of that:
//!
//! ```text
//! weight = 100 * priority ^ (p / m) * games ^ (g / m) * score ^ (s / m)
//! ```
//!
//! `p`, `g` and `s` are the header's three numbers (0 to 15) and `m` the greatest of them, so that what counts most
//! acts in full and the others as much less as they are set lower; a factor set to 0 does not act, and where all
//! three are 0 all moves of a priority above 0 weigh the same. Games count as at least 1. The score is the mover's,
//! with one drawn game added so that no move is ruled out by a few lost ones; where the whole book has neither a won
//! nor a lost game its results are unknown and the score is a half for all.
//!
//! A move of priority 0 weighs 0, and any other at least 1. A move with several records has the mean of their
//! priorities, weighted by games: so with priority and games counting alike (what most books say) its weight is the
//! sum of those of its records, and one that is struck out on one path only becomes rarer.

use super::indexed::IndexedMove;
use super::records::Header;

/// What a weight is multiplied with, so that fractions are not lost.
const SCALE: f64 = 100.0;

/// The highest setting of a factor.
const MOST: i32 = 15;

/// How a book weighs its moves, and what it asks of them.
#[derive(Clone, Copy, Debug)]
pub struct Weighing {
    priority: f64,
    games: f64,
    score: f64,
    has_results: bool,
    min_games: u32,
    min_wins: u32,
    min_percent: [u32; 2],
    last_ply: u32,
}

impl Weighing {
    /// As a header says. Settings out of their range are brought into it; limits below 0 are none, and so is a last
    /// half-move of 0.
    pub fn new(header: &Header, has_results: bool) -> Self {
        let factors =
            [header.by_priority, header.by_games, header.by_score].map(|factor| factor.clamp(0, MOST));
        let most = factors.into_iter().max().unwrap_or_default().max(1);
        let [priority, games, score] = factors.map(|factor| f64::from(factor) / f64::from(most));
        let limit = |number: i32| u32::try_from(number).unwrap_or_default();
        Self {
            priority,
            games,
            score,
            has_results,
            min_games: limit(header.min_games),
            min_wins: limit(header.min_wins),
            min_percent: header.min_percent.map(limit),
            last_ply: Some(limit(header.last_ply)).filter(|ply| *ply > 0).unwrap_or(u32::MAX),
        }
    }

    /// The weight of a move of this mean priority.
    pub fn weight(&self, priority: f64, known: &IndexedMove) -> u64 {
        if priority <= 0.0 {
            return 0;
        }
        let games = f64::from(known.games.max(1));
        let weight = SCALE
            * power(priority, self.priority)
            * power(games, self.games)
            * power(self.score_of(known), self.score);
        (weight.round() as u64).max(1)
    }

    /// The mover's share of the points, one drawn game added.
    fn score_of(&self, known: &IndexedMove) -> f64 {
        if !self.has_results {
            return 0.5;
        }
        let (wins, losses) = known.wins_and_losses();
        let (wins, losses) = (f64::from(wins), f64::from(losses));
        let games = f64::from(known.games).max(wins + losses);
        let draws = games - wins - losses;
        (wins + draws / 2.0 + 0.5) / (games + 1.0)
    }

    /// Whether the header keeps a move from being played: too few games, too few of them won by the mover (in number
    /// or per cent of all), or too late a half-move.
    pub fn limits(&self, known: &IndexedMove) -> bool {
        let (wins, _) = known.wins_and_losses();
        let [white, black] = self.min_percent;
        let percent = u64::from(if known.white { white } else { black });
        known.games < self.min_games
            || wins < self.min_wins
            || (percent > 0 && (known.games == 0 || u64::from(wins) * 100 < percent * u64::from(known.games)))
            || u32::from(known.ply) > self.last_ply
    }
}

/// A power, without the cost of one where there is nothing to do.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent == 1.0 {
        base
    } else if exponent == 0.0 {
        1.0
    } else {
        base.powf(exponent)
    }
}
