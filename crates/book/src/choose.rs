//! Turns the moves of a book and a policy into a chance for each move, and chances and a random number into one move.
//!
//! Pure: no clock, no files, no global random numbers.

mod in_book;
mod refused;
mod worth;

use std::borrow::Cow;

use shakmaty::{Color, Move, Position as _};

use tabiya_chess::Game;
use tabiya_chess::openings::Opening;

use crate::verdict::{self, Rest};
use crate::{BookSet, Learned, MoveFacts, Reading};

pub use crate::policy::{Policy, Weights};
pub use in_book::{Chances, chances_in};
pub use in_book::{by_chance, likeliest_first};
pub use refused::Refused;
pub use worth::Loss;
pub use worth::Worth;

/// The greatest limit of a loss: what a decided game is worth.
pub const MAX_LOSS_LIMIT: u32 = 10_000;

#[doc(hidden)]
impl Policy {
    /// Whether a move that is legal in the game may be played in view of what follows: no threefold repetition, and a
    /// line of the book set that is long enough. The line is looked up in the mover's books `from` this one on.
    pub fn admits(&self, book_set: &mut BookSet, from: usize, game: &Game, mv: Move) -> bool {
        let position = game.position();
        let reading = self.reading(position.chess().turn(), from);
        self.objection(game, mv).is_none()
            // Every move is a line of one ply.
            && (self.reserve <= 1
                || book_set.line_of(reading, position, mv, 0, &mut Vec::new()) >= self.reserve)
    }

    /// Takes out the moves that do not lead to the openings that were chosen.
    pub fn take_off_course(&self, game: &Game, moves: &mut Vec<MoveFacts>) -> Vec<MoveFacts> {
        let Some(chosen) = &self.openings else { return Vec::new() };
        let is_in = || Opening::from_game(game).is_some_and(|it| chosen.has(it));
        let mut on = chosen.on_course(game.position(), moves.iter().map(|m| m.mv), is_in).into_iter();
        moves.extract_if(.., |_| on.next() == Some(false)).collect()
    }

    /// Why a legal move is not played in this game, whatever the book says of it.
    fn objection(&self, game: &Game, mv: Move) -> Option<Refusal> {
        (!self.threefold && game.repeats(mv)).then_some(Refusal::Repeats)
    }

    /// Whether a move loses so much that it is not played.
    pub fn refuses(&self, loss: Loss) -> bool {
        self.max_loss > 0 && loss.centipawns() > self.max_loss
    }

    /// Whether the engine checks moves without an evaluation.
    pub fn guards(&self) -> bool {
        self.guard > 0 && self.max_loss > 0
    }

    /// How lines are looked up in a colour's books `from` this one on.
    pub fn reading(&self, color: Color, from: usize) -> Reading {
        let Self { tournament, factor, weights, .. } = *self;
        Reading { color, tournament, factor, weights, from }
    }

    /// Whether the book answers in this full move of the game (1 is the first).
    pub fn covers(&self, fullmove: u32) -> bool {
        self.depth == 0 || fullmove <= self.depth
    }
}

/// Why a move of a book is not played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The book's colours, marks or limits rule it out.
    Verdict,
    /// It weighs nothing.
    Weight,
    /// It has too small a share of the position's weight.
    Threshold,
    /// It was played in too few games.
    Games,
    /// The book does not answer so late in the game.
    Depth,
    /// It loses too much.
    Loss,
    /// It leads to a position for the third time.
    Repeats,
    /// It does not lead to the openings that were chosen.
    Opening,
    /// Its line has this number of plies, which is too small.
    Reserve {
        /// The plies, the move included.
        plies: u32,
    },
    /// Only the best move is played.
    NotBest,
}

#[doc(hidden)]
impl Refusal {
    /// What is said of moves that are not played, after their number.
    pub fn words(self, policy: &Policy) -> String {
        match self {
            Self::Verdict => "ruled out by the book's colors, marks or limits".to_owned(),
            Self::Weight => "of weight 0".to_owned(),
            Self::Threshold => format!("below Threshold ({} %)", f64::from(policy.threshold) / 10.0),
            Self::Games => format!("played in fewer than {} games", policy.games),
            Self::Depth => format!("after Depth (move {})", policy.depth),
            Self::Loss => format!("above Max Loss ({} centipawns)", policy.max_loss),
            Self::Repeats => "repeating the position".to_owned(),
            Self::Opening => match &policy.openings {
                Some(chosen) => format!("not leading to {chosen}"),
                None => "leading elsewhere".to_owned(),
            },
            Self::NotBest => "not the best".to_owned(),
            Self::Reserve { plies } => format!("with a line of {plies} of {} plies", policy.reserve),
        }
    }
}

/// The moves of a position under a policy.
#[derive(Debug)]
pub struct Judge<'a> {
    policy: &'a Policy,
    /// The moves with the weights that the policy asks for.
    moves: Cow<'a, [MoveFacts]>,
    total: f64,
    rest: Option<Rest>,
}

impl<'a> Judge<'a> {
    /// Looks at all moves of a position.
    pub fn new(moves: &'a [MoveFacts], policy: &'a Policy) -> Self {
        let by_games = if policy.weights == Weights::Games { verdict::by_games(moves) } else { None };
        let moves = by_games.map_or(Cow::Borrowed(moves), Cow::Owned);
        let total = moves.iter().map(|m| weight(m, policy)).sum();
        let rest = policy.tournament.then(|| Rest::from_moves(&moves, policy.factor));
        Self { policy, moves, total, rest }
    }

    /// Why the move of this index is not played, as far as the moves of its position show it; `None` if nothing in the position
    /// speaks against it.
    pub fn refuses(&self, index: usize) -> Option<Refusal> {
        let m = self.moves.get(index)?;
        let Self { policy, total, rest, .. } = *self;
        let weight = weight(m, policy);
        let heavy =
            || policy.tournament && m.is_chosen() || weight * 1000.0 >= total * f64::from(policy.threshold);
        if rest.is_some_and(|rest| !rest.leaves(m)) && (weight > 0.0 || m.has_verdict()) {
            Some(Refusal::Verdict)
        } else if weight <= 0.0 || rest.is_some_and(|rest| !rest.leaves(m)) {
            Some(Refusal::Weight)
        } else if !heavy() {
            Some(Refusal::Threshold)
        } else if m.counts.is_some_and(|counts| counts.games < u64::from(policy.games)) {
            Some(Refusal::Games)
        } else {
            None
        }
    }
}

/// The power to which weights are raised before a move is drawn: `(100 - variety) / variety`.
///
/// It is 1 at 50 (the chances of the book), 0 at 100 (all playable moves alike) and infinite at 0 (only the best move),
/// and falls smoothly in between: 3 at 25, a third at 75.
pub(crate) fn exponent(variety: u32) -> f64 {
    let variety = f64::from(variety.min(100));
    (100.0 - variety) / variety
}

/// Writes the chance of each move into `out`: 0 for a move that may not be played, else above 0. The sum is 1, or 0
/// where no move may be played.
///
/// `allowed` is called last, and only for moves that pass everything else: it checks what needs the position, such as
/// repetitions and the length of the line after a move.
pub fn chances(
    moves: &[MoveFacts],
    policy: &Policy,
    mut allowed: impl FnMut(Move) -> bool,
    out: &mut Vec<f64>,
) {
    let judge = Judge::new(moves, policy);
    let mut best = 0.0_f64;
    out.clear();
    out.extend(judge.moves.iter().enumerate().map(|(index, m)| {
        if judge.refuses(index).is_none() && allowed(m.mv) {
            let weight = weight(m, policy);
            best = best.max(weight);
            weight
        } else {
            0.0
        }
    }));
    if best == 0.0 {
        return;
    }
    let exponent = exponent(policy.variety);
    for chance in out.iter_mut().filter(|chance| **chance > 0.0) {
        // Divided by the greatest weight first: no power overflows, and the best stays 1.
        let share = *chance / best;
        *chance = if exponent == 1.0 {
            share
        } else if exponent.is_infinite() {
            if share < 1.0 { 0.0 } else { 1.0 }
        } else {
            share.powf(exponent)
        };
    }
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|chance| *chance /= sum);
}

/// What a move weighs under a policy.
///
/// In tournaments it is the weight in the book, at least 1 for a move that the author chose, multiplied by the factor: 0 at
/// -125, twice as much at 125. Otherwise colours do
/// not count, and the marks are factors: those that readers of CTG books publish.
fn weight(m: &MoveFacts, policy: &Policy) -> f64 {
    let learned = m.learned.filter(|_| policy.learn).map_or(1.0, learned_factor);
    let weight = m.weight as f64 * learned;
    if policy.tournament {
        let weight = if m.is_chosen() { weight.max(1.0) } else { weight };
        return if policy.factor { weight * m.factor_share() } else { weight };
    }
    weight * m.mark_factor()
}

/// The factor of results on a weight: the odds of the mover's half-points against the opponent's, with four more for
/// each side, so few games change little. This is PolyGlot's rule.
fn learned_factor(learned: Learned) -> f64 {
    let own = f64::from(learned.halfpoints);
    let theirs = (2.0 * f64::from(learned.games) - own).max(0.0);
    (own + 4.0) / (theirs + 4.0)
}

/// Draws an index by its chance; `None` where all chances are 0.
///
/// `random` is the next number of any generator of random bits. The same numbers draw the same moves, so a generator with a
/// seed gives the same game again.
///
/// ```
/// use tabiya_book::choose::draw;
/// assert_eq!(draw(&[0.25, 0.0, 0.75], 0), Some(0));
/// assert_eq!(draw(&[0.25, 0.0, 0.75], u64::MAX / 2), Some(2));
/// assert_eq!(draw(&[0.0], 0), None);
/// ```
pub fn draw(chances: &[f64], random: u64) -> Option<usize> {
    // From 0 to 1, of as many of its bits as the number can have.
    let mut rest = (random >> (u64::BITS - f64::MANTISSA_DIGITS)) as f64 * f64::EPSILON / 2.0;
    let mut last = None;
    for (index, &chance) in chances.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
        last = Some(index);
        if rest < chance {
            break;
        }
        rest -= chance;
    }
    last
}

#[cfg(test)]
mod tests;
