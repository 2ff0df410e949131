//! What a move weighs, and which moves the book's header keeps from being played (docs/formats/abk.md, Weights).
//!
//! Arena's help names three factors that make a move likely (priority, number of games, percentage of wins). It says that
//! the book's settings decide how much each of them counts, and that a factor whose slider is at the left does not act. It
//! gives no formula. Ours agrees with all of that:
//!
//! ```text
//! weight = 100 * priority ^ (p / m) * games ^ (g / m) * score ^ (s / m)
//! ```
//!
//! `p`, `g` and `s` are the header's three numbers (0 to 15), and `m` is the greatest of them: the factor that counts most
//! acts in full, the others in proportion. A factor set to 0 does not act; if all three are 0, all moves of a priority
//! above 0 weigh the same. Games count as at least 1. The score is the mover's, with one drawn game added because a few
//! lost games must not rule a move out; if the whole book has neither a won nor a lost game, its results are unknown and
//! every score is a half.
//!
//! A move of priority 0 weighs 0, any other at least 1. A move with several records has the mean of their priorities,
//! weighted by games. If priority and games count alike, as in most books, its weight is the sum of the weights of its
//! records, and a move that is struck out on one path just becomes rarer.
#![allow(clippy::cast_possible_truncation, reason = "a float that does not fit becomes the greatest number")]

use super::super::records::AbkHeader;
use super::indexed::IndexedMove;

/// All weights are multiplied by this, because fractions must not be lost.
const SCALE: f64 = 100.0;

/// The highest setting of a factor.
const MAX: i32 = 15;

/// How a book weighs its moves, and what it asks of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighing<'a> {
    header: &'a AbkHeader,
    /// The exponents of priority, games and score.
    exponents: [f64; 3],
    has_results: bool,
}

impl<'a> Weighing<'a> {
    /// As a header says. Settings out of their range are brought into it.
    pub fn new(header: &'a AbkHeader, has_results: bool) -> Self {
        let factors =
            [header.by_priority, header.by_games, header.by_score].map(|factor| factor.clamp(0, MAX));
        let most = factors.into_iter().max().unwrap_or_default().max(1);
        let exponents = factors.map(|factor| f64::from(factor) / f64::from(most));
        Self { header, exponents, has_results }
    }

    /// The weight of a move of this mean priority.
    pub fn weight(&self, priority: f64, known: &IndexedMove) -> u64 {
        if priority <= 0.0 {
            return 0;
        }
        let IndexedMove { white, games, white_wins, white_losses, .. } = *known;
        let score = if self.has_results { score(white, games, white_wins, white_losses) } else { 0.5 };
        let [by_priority, by_games, by_score] = self.exponents;
        let games = f64::from(games.max(1));
        let weight = SCALE * power(priority, by_priority) * power(games, by_games) * power(score, by_score);
        (weight.round() as u64).max(1)
    }

    /// Whether the header keeps a move from being played: too few games, too few of them won by the mover (in number or
    /// per cent), or too late a ply. Limits below 0 do not count, nor does a last ply of 0.
    pub(crate) fn limits(&self, known: &IndexedMove) -> bool {
        let AbkHeader { min_games, min_wins, min_percent: [white, black], last_ply, .. } = *self.header;
        let [games, wins] = [known.games, known.wins_and_losses().0].map(i64::from);
        let percent = i64::from(if known.white { white } else { black });
        games < min_games.into()
            || wins < min_wins.into()
            || (percent > 0 && (games == 0 || wins * 100 < percent * games))
            || (last_ply > 0 && i32::from(known.ply) > last_ply)
    }
}

/// The mover's share of the points, with one drawn game added, from White's wins and losses.
pub fn score(white: bool, games: u32, white_wins: u32, white_losses: u32) -> f64 {
    let (wins, losses) = if white { (white_wins, white_losses) } else { (white_losses, white_wins) };
    let [games, wins, losses] = [games, wins, losses].map(f64::from);
    let games = games.max(wins + losses);
    let draws = games - wins - losses;
    (wins + draws / 2.0 + 0.5) / (games + 1.0)
}

/// A power, without its cost if there is nothing to do.
fn power(base: f64, exponent: f64) -> f64 {
    match exponent {
        1.0 => base,
        0.0 => 1.0,
        _ => base.powf(exponent),
    }
}
