//! What colours and marks mean in tournaments, where they act.

use shakmaty::Move;

use super::{Annotation, MoveFacts, Moves, PositionRecord, Recommendation};
use crate::chess::Position;

/// Turns a position's weights into those that colours and marks leave in tournaments: 0 for what is not played, at
/// least 1 for what the author chose, and unchanged for the rest. For formats without colours and marks.
///
/// ```
/// use tabiya::book::{MoveFacts, PositionRecord, Recommendation, plain_weights};
/// use tabiya::chess::MoveCode;
/// let green = MoveFacts { recommended: Some(Recommendation::Green), ..MoveFacts::new(MoveCode(1), 0) };
/// let moves = vec![green, MoveFacts::new(MoveCode(2), 40)];
/// let mut known = PositionRecord { moves, ..PositionRecord::default() };
/// plain_weights(&mut known);
/// assert_eq!(known.moves.iter().map(|known| known.weight).collect::<Vec<_>>(), [1, 0]);
/// ```
pub fn plain_weights(known: &mut PositionRecord) {
    let rest = Rest::of(&known.moves);
    for known in &mut known.moves {
        known.weight = match rest.leaves(known) {
            true if known.is_chosen() => known.weight.max(1),
            true => known.weight,
            false => 0,
        };
    }
}

/// The move of [`crate::book::Book::best`], by the moves that the book gives.
pub fn best<B: Moves + ?Sized>(book: &B, at: &Position) -> Option<Move> {
    let moves = book.moves_in(at);
    let rest = Rest::of(&moves);
    // Backwards, because `max_by_key` takes the last of equal ones.
    let left = moves.iter().rev().filter(|facts| rest.leaves(facts));
    left.max_by_key(|facts| facts.weight).map(|facts| facts.mv)
}

/// The move of [`crate::book::Book::heaviest`], by the moves that the book gives.
pub fn heaviest<B: Moves + ?Sized>(book: &B, at: &Position) -> Option<Move> {
    let moves = book.moves_in(at);
    let weighed = moves.iter().rev().map(|facts| (facts.weight as f64 * facts.mark_factor(), facts.mv));
    let playable = weighed.filter(|(weight, _)| *weight > 0.0);
    playable.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, mv)| mv)
}

impl<M> MoveFacts<M> {
    /// The factor of the author's mark on the weight outside tournaments: those that readers of CTG books publish.
    pub(crate) fn mark_factor(&self) -> f64 {
        match self.annotation {
            Some(Annotation::Good) => 1.23,
            Some(Annotation::Brilliant) => 1.46,
            Some(Annotation::Bad | Annotation::Blunder | Annotation::Dubious) => 0.0,
            Some(
                Annotation::Interesting | Annotation::Only | Annotation::Zugzwang | Annotation::Other(_),
            )
            | None => 1.0,
        }
    }

    fn is_only(&self) -> bool {
        self.annotation == Some(Annotation::Only)
    }

    fn is_green(&self) -> bool {
        self.recommended == Some(Recommendation::Green)
    }

    /// Whether the author says anything of playing the move, by a mark or a colour.
    pub(crate) fn has_verdict(&self) -> bool {
        let marked = self.annotation.is_some_and(|mark| !matches!(mark, Annotation::Other(_)));
        marked || self.recommended.is_some()
    }

    /// Whether the author chose the move for tournaments, whatever its statistics: it is green, or the only one.
    pub(crate) fn is_chosen(&self) -> bool {
        self.is_green() || self.is_only()
    }

    /// Whether colours and marks let it be played in tournaments at all.
    fn is_sound(&self) -> bool {
        let marked =
            matches!(self.annotation, Some(Annotation::Bad | Annotation::Blunder | Annotation::Dubious));
        (self.weight > 0 || self.is_chosen()) && self.recommended != Some(Recommendation::Red) && !marked
    }
}

/// What the sound moves of a position leave of the others in tournaments.
#[derive(Clone, Copy)]
pub(crate) struct Rest {
    only: bool,
    green: bool,
}

impl Rest {
    /// Looks at all moves of a position.
    pub fn of<M>(moves: &[MoveFacts<M>]) -> Self {
        let sound = || moves.iter().filter(|facts| facts.is_sound());
        Self { only: sound().any(MoveFacts::is_only), green: sound().any(MoveFacts::is_green) }
    }

    /// Whether a move is played: beside an only move just such moves are, otherwise beside a green move just green ones.
    pub fn leaves<M>(self, facts: &MoveFacts<M>) -> bool {
        facts.is_sound()
            && match self {
                Self { only: true, .. } => facts.is_only(),
                Self { green: true, .. } => facts.is_green(),
                _ => true,
            }
    }
}
