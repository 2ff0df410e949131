//! Trimming a book: which of its moves stay.

#[cfg(test)]
mod tests;
mod trimmed;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use shakmaty::{Color, Move};

pub use trimmed::Trimmed;

use tabiya_book::MoveFacts;
use tabiya_book::verdict::Rest;
use tabiya_chess::openings::ChosenOpenings;

/// Which moves of a book stay. By default all do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trim {
    /// Only what the moves that stay reach from the starting position.
    pub reachable: bool,
    /// The most plies from the starting position, on the shortest way.
    pub max_ply: Option<u32>,
    /// Games that a move needs, where they are counted.
    pub min_games: u64,
    /// Share of its position's weight that a move needs, in thousandths.
    pub min_share: u32,
    /// Weight that a move needs.
    pub min_weight: u64,
    /// As many moves of each position, the heaviest.
    pub top: Option<usize>,
    /// Only moves of this side. All moves of the other side are still followed.
    pub only: Option<Color>,
    /// Only the positions after one of these lines, and the moves of the lines themselves.
    pub below: Vec<Vec<Move>>,
    /// Only moves that lead to one of these openings or stay in it.
    pub openings: Option<Arc<ChosenOpenings>>,
    /// The last move of each of these lines is removed, with what only it leads to.
    pub without: Vec<Vec<Move>>,
}

/// Why a move does not stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cut {
    /// Its position is not reached by what stays.
    Unreached,
    /// It comes after too many plies.
    Ply,
    /// The other side makes it.
    Side,
    /// It was named.
    Without,
    /// It leads away from the lines that stay.
    Below,
    /// It leads elsewhere than to the openings that stay.
    Opening,
    /// It weighs too little.
    Weight,
    /// It has too few games.
    Games,
    /// It has too small a share of the position's weight.
    Share,
    /// Others are heavier.
    Top,
}

/// What became of the positions and moves of a book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Positions with moves that the book has.
    pub positions: u64,
    /// Moves that it has.
    pub moves: u64,
    /// Positions of which a move stays.
    pub kept_positions: u64,
    /// Moves that stay.
    pub kept_moves: u64,
    /// The others, by the first reason that holds.
    pub cut: BTreeMap<Cut, u64>,
    /// Moves that stay although [`Trim::min_games`] asks for games, because the book does not count theirs.
    pub uncounted: u64,
}

impl Tally {
    fn cut(&mut self, why: Cut, moves: u64) {
        if moves > 0 {
            *self.cut.entry(why).or_default() += moves;
        }
    }
}

impl Trim {
    /// Whether it takes a traversal from the starting position to know what stays.
    pub(crate) fn traverses(&self) -> bool {
        self.reachable
            || self.max_ply.is_some()
            || self.openings.is_some()
            || !self.below.is_empty()
            || !self.without.is_empty()
    }

    /// For each move of a position the reason why it is removed, by what the book says of it; `None` if it stays. The shares are
    /// those of all moves; [`Trim::top`] counts those that stay otherwise, of which those come first that colours and marks
    /// let be played. Those that are not `on` course for the openings go first.
    fn judge<M>(&self, moves: &[MoveFacts<M>], on: &[bool]) -> Vec<Option<Cut>> {
        let all: u128 = moves.iter().map(|facts| u128::from(facts.weight)).sum();
        let cut = |(index, facts): (usize, &MoveFacts<M>)| {
            if on.get(index) == Some(&false) {
                Some(Cut::Opening)
            } else if facts.weight < self.min_weight {
                Some(Cut::Weight)
            } else if facts.counts.is_some_and(|counts| counts.games < self.min_games) {
                Some(Cut::Games)
            } else if u128::from(facts.weight) * 1000 < all * u128::from(self.min_share) {
                Some(Cut::Share)
            } else {
                None
            }
        };
        let mut cuts: Vec<_> = moves.iter().enumerate().map(cut).collect();
        let Some(top) = self.top else { return cuts };
        let rest = Rest::from_moves(moves, true);
        let rank = |facts: &MoveFacts<M>| {
            let games = facts.counts.map_or(0, |counts| counts.games);
            Reverse((rest.leaves(facts), facts.weight, games))
        };
        let mut left: Vec<_> = moves
            .iter()
            .zip(&mut cuts)
            .filter(|(_, cut)| cut.is_none())
            .map(|(facts, cut)| (rank(facts), cut))
            .collect();
        // Stable: of equal ones those that come first in the book.
        left.sort_by_key(|(rank, _)| *rank);
        left.into_iter().skip(top).for_each(|(_, cut)| *cut = Some(Cut::Top));
        cuts
    }
}

#[cfg(test)]
mod limits {
    use tabiya_book::Recommendation;
    use tabiya_book::{Annotation, Counts};
    use tabiya_chess::MoveCode;

    use super::*;

    fn judged(trim: &Trim, moves: &[(u64, Option<u64>)]) -> Vec<Option<Cut>> {
        let facts = |(at, &(weight, games)): (usize, &(u64, Option<u64>))| MoveFacts {
            counts: games.map(|games| Counts { games, ..Counts::default() }),
            ..MoveFacts::new(MoveCode(at as u16), weight)
        };
        trim.judge(&moves.iter().enumerate().map(facts).collect::<Vec<_>>(), &[])
    }

    #[test]
    fn each_limit_names_its_reason() {
        let moves = [(60, Some(6)), (30, Some(9)), (10, None), (0, Some(1))];
        assert_eq!(judged(&Trim::default(), &moves), [None; 4]);
        let trim = Trim { min_weight: 1, ..Trim::default() };
        assert_eq!(judged(&trim, &moves), [None, None, None, Some(Cut::Weight)]);
        let trim = Trim { min_games: 7, ..Trim::default() };
        assert_eq!(judged(&trim, &moves), [Some(Cut::Games), None, None, Some(Cut::Games)]);
        let trim = Trim { min_share: 300, ..Trim::default() };
        assert_eq!(judged(&trim, &moves), [None, None, Some(Cut::Share), Some(Cut::Share)]);
        let trim = Trim { min_share: 1000, ..Trim::default() };
        assert_eq!(judged(&trim, &[(u64::MAX, None), (0, None)]), [None, Some(Cut::Share)]);
        let trim = Trim { top: Some(1), min_games: 7, ..Trim::default() };
        assert_eq!(judged(&trim, &moves), [Some(Cut::Games), None, Some(Cut::Top), Some(Cut::Games)]);
        // Of equal ones the first, whatever the order of the weights.
        let trim = Trim { top: Some(2), ..Trim::default() };
        assert_eq!(judged(&trim, &[(1, None), (5, None), (1, None)]), [None, None, Some(Cut::Top)]);
        assert_eq!(judged(&trim, &[]), []);
    }

    #[test]
    fn what_the_author_lets_be_played_is_heaviest() {
        let green = MoveFacts { recommended: Some(Recommendation::Green), ..MoveFacts::new(MoveCode(1), 2) };
        let bad = MoveFacts { annotation: Some(Annotation::Bad), ..MoveFacts::new(MoveCode(2), 900) };
        let trim = Trim { top: Some(1), ..Trim::default() };
        assert_eq!(
            trim.judge(&[bad, MoveFacts::new(MoveCode(3), 50), green], &[]),
            [Some(Cut::Top), Some(Cut::Top), None]
        );
    }
}
