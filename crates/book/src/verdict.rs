//! What colours and marks mean in tournaments, where they act.

use shakmaty::Move;

use tabiya_chess::{MoveCode, Position};

#[cfg(feature = "write")]
use super::Decision;
use super::{Annotation, MoveFacts, Moves, PositionRecord, Recommendation};

/// The greatest factor; its opposite means never.
const MAX_FACTOR: i32 = 125;

/// Turns a position's weights into those that colours and marks leave in tournaments: 0 for what is not played, at
/// least 1 for what the author chose, and for the rest the weight multiplied by the factor; all are scaled up where a factor
/// would leave a fraction. For formats without colours and marks.
///
/// ```
/// use tabiya_book::{MoveFacts, PositionRecord, Recommendation, plain_weights};
/// use tabiya_chess::MoveCode;
/// let green = MoveFacts { recommended: Some(Recommendation::Green), ..MoveFacts::new(MoveCode(1), 0) };
/// let moves = vec![green, MoveFacts::new(MoveCode(2), 40)];
/// let mut known = PositionRecord { moves, ..PositionRecord::default() };
/// plain_weights(&mut known);
/// assert_eq!(known.moves.iter().map(|known| known.weight).collect::<Vec<_>>(), [1, 0]);
/// ```
pub fn plain_weights(known: &mut PositionRecord) {
    let rest = Rest::from_moves(&known.moves, true);
    for known in &mut known.moves {
        known.weight = match rest.leaves(known) {
            true if known.is_chosen() => known.weight.max(1),
            true => known.weight,
            false => 0,
        };
    }
    let scale = scale(&known.moves);
    known.moves.iter_mut().for_each(|known| known.weight = known.by_factor(known.weight, scale));
}

/// The least number by which weights are multiplied so that the factors leave no fractions; 1 if some would not fit then.
fn scale(moves: &[MoveFacts<MoveCode>]) -> u64 {
    let whole = u128::from(MAX_FACTOR.unsigned_abs());
    let products = || moves.iter().map(|known| u128::from(known.weight) * u128::from(known.factor_parts()));
    let common = products().fold(whole, greatest_common_divisor);
    let scale = whole / common.max(1);
    let fits = products().all(|product| product / common.max(1) <= u64::MAX.into());
    if fits { u64::try_from(scale).unwrap_or(1) } else { 1 }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The moves of a position with how often they were played as their weights; `None` where the weights stay: the book does not count
/// the games of each, it was decided what is played, or no game came here. A move that is never played stays so.
pub fn by_games<M: Copy>(moves: &[MoveFacts<M>]) -> Option<Vec<MoveFacts<M>>> {
    let games = |known: &MoveFacts<M>| known.counts.map(|counts| counts.games);
    let is_counted = moves.iter().all(|known| games(known).is_some() && known.decision.is_none())
        && moves.iter().any(|known| games(known) > Some(0));
    let weighed = |known: &MoveFacts<M>| {
        let weight = if known.is_rejected() { 0 } else { games(known).unwrap_or_default() };
        MoveFacts { weight, ..*known }
    };
    is_counted.then(|| moves.iter().map(weighed).collect())
}

/// The move of [`crate::traits::Book::best`], by the moves that the book gives.
pub fn best<B: Moves + ?Sized>(book: &B, at: &Position, factors: bool) -> Option<Move> {
    best_of(&book.moves_in(at), factors)
}

/// The best of a position's moves in tournaments.
pub fn best_of(moves: &[MoveFacts], factors: bool) -> Option<Move> {
    let rest = Rest::from_moves(moves, factors);
    // Backwards, because `max_by_key` takes the last of equal ones.
    let left = moves.iter().rev().filter(|facts| rest.leaves(facts));
    let parts = |facts: &MoveFacts| if factors { facts.factor_parts() } else { 1 };
    left.max_by_key(|facts| u128::from(facts.weight) * u128::from(parts(facts))).map(|facts| facts.mv)
}

/// The move of [`crate::traits::Book::heaviest`], by the moves that the book gives.
pub fn heaviest<B: Moves + ?Sized>(book: &B, at: &Position) -> Option<Move> {
    heaviest_of(&book.moves_in(at))
}

/// The heaviest of a position's moves outside tournaments.
pub fn heaviest_of(moves: &[MoveFacts]) -> Option<Move> {
    let weighed = moves.iter().rev().map(|facts| (facts.weight as f64 * facts.mark_factor(), facts.mv));
    let playable = weighed.filter(|(weight, _)| *weight > 0.0);
    playable.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, mv)| mv)
}

impl<M> MoveFacts<M> {
    /// The factor of the author's mark on the weight outside tournaments: those that readers of CTG books publish.
    pub(crate) fn mark_factor(&self) -> f64 {
        match self.annotation.filter(|_| self.decision.is_none()) {
            Some(Annotation::Good) => 1.23,
            Some(Annotation::Brilliant) => 1.46,
            Some(Annotation::Bad | Annotation::Blunder | Annotation::Dubious) => 0.0,
            Some(
                Annotation::Interesting | Annotation::Only | Annotation::Zugzwang | Annotation::Other(_),
            )
            | None => 1.0,
        }
    }

    /// By how many of [`MAX_FACTOR`] parts the factor multiplies the weight in tournaments: 0 for never, twice as many at most.
    fn factor_parts(&self) -> u32 {
        let factor = self.factor.filter(|_| self.decision.is_none()).unwrap_or_default();
        let factor = i32::from(factor).clamp(-MAX_FACTOR, MAX_FACTOR);
        (MAX_FACTOR + factor).unsigned_abs()
    }

    /// The same as a number from 0 to 2; 1 without a factor.
    pub(crate) fn factor_share(&self) -> f64 {
        f64::from(self.factor_parts()) / f64::from(MAX_FACTOR)
    }

    /// A weight multiplied by the factor and by `scale`, rounded; 0 only if the weight or the factor is.
    fn by_factor(&self, weight: u64, scale: u64) -> u64 {
        let (parts, whole) = (u128::from(self.factor_parts()), u128::from(MAX_FACTOR.unsigned_abs()));
        let product = u128::from(weight) * parts * u128::from(scale);
        let scaled = (product + whole / 2) / whole;
        u64::try_from(scaled).unwrap_or(u64::MAX).max(u64::from(weight > 0 && parts > 0))
    }

    fn is_only(&self) -> bool {
        self.annotation == Some(Annotation::Only) && self.decision.is_none()
    }

    fn is_green(&self) -> bool {
        self.recommended == Some(Recommendation::Green) && self.decision.is_none()
    }

    /// Whether its mark alone keeps it from being played.
    pub(crate) fn is_marked_bad(&self) -> bool {
        matches!(self.annotation, Some(Annotation::Bad | Annotation::Blunder | Annotation::Dubious))
    }

    /// Whether it is never to be played, whatever its results are: it weighs nothing, and not only because it lost all its games.
    pub(crate) fn is_rejected(&self) -> bool {
        let lost = || self.counts.is_some_and(|counts| counts.losses > 0 && counts.points() == 0);
        self.weight == 0 && (self.decision.is_some() || !lost())
    }

    /// Whether the author says anything of playing the move, by a mark or a colour.
    pub(crate) fn has_verdict(&self) -> bool {
        let marked = self.annotation.is_some_and(|mark| !matches!(mark, Annotation::Other(_)));
        marked || self.recommended.is_some()
    }

    /// Whether it has a colour or any mark, also one that says nothing of playing the move.
    #[cfg(feature = "write")]
    pub(crate) fn is_marked(&self) -> bool {
        self.annotation.is_some() || self.recommended.is_some()
    }

    /// Whether its factor alone keeps it from being played.
    #[doc(hidden)]
    pub fn is_never_by_factor(&self) -> bool {
        self.factor_parts() == 0
    }

    /// Whether it was decided that it is never played.
    #[doc(hidden)]
    #[doc(hidden)]
    pub fn is_struck_out(&self) -> bool {
        self.decision.is_some() && self.weight == 0
    }

    /// Whether the author chose the move for tournaments, whatever its statistics: it is green, or the only one.
    pub(crate) fn is_chosen(&self) -> bool {
        self.is_green() || self.is_only()
    }

    /// Whether colours and marks let it be played in tournaments at all.
    fn is_sound(&self) -> bool {
        if self.decision.is_some() {
            return self.weight > 0;
        }
        let is_red = self.recommended == Some(Recommendation::Red);
        (self.weight > 0 || self.is_chosen()) && !is_red && !self.is_marked_bad()
    }
}

/// The codes of the moves that were chosen in a position, where a format holds others as the same position: what was chosen in
/// one of them is played in all, and nothing else is.
#[cfg(feature = "write")]
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen(Option<Vec<u8>>);

#[cfg(feature = "write")]
impl Chosen {
    /// The code of a move in the record of its position, if it was chosen.
    pub fn code(known: &MoveFacts<MoveCode>, code: u8) -> Option<u8> {
        (known.decision == Some(Decision::Chosen) && known.weight > 0).then_some(code)
    }

    /// Takes in the moves that were chosen in one of the positions, if any were. Of several such positions what all chose
    /// is played or, if they have nothing in common, what the first did.
    pub fn add(&mut self, codes: &[u8]) {
        match &mut self.0 {
            _ if codes.is_empty() => {}
            None => self.0 = Some(codes.to_vec()),
            Some(known) if known.iter().any(|code| codes.contains(code)) => {
                known.retain(|code| codes.contains(code));
            }
            Some(_) => {}
        }
    }

    /// Whether a move is played.
    pub fn leaves(&self, code: u8) -> bool {
        self.0.as_ref().is_none_or(|known| known.contains(&code))
    }
}

/// What the sound moves of a position leave of the others in tournaments.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    only: bool,
    green: bool,
    factors: bool,
}

impl Rest {
    /// Looks at all moves of a position; `factors` says whether factors count.
    pub fn from_moves<M>(moves: &[MoveFacts<M>], factors: bool) -> Self {
        let sound =
            || moves.iter().filter(|facts| facts.is_sound() && (!factors || facts.factor_parts() > 0));
        Self { only: sound().any(MoveFacts::is_only), green: sound().any(MoveFacts::is_green), factors }
    }

    /// Whether a move is played: beside an only move just such moves are, otherwise beside a green move just green ones.
    pub fn leaves<M>(self, facts: &MoveFacts<M>) -> bool {
        facts.is_sound()
            && (!self.factors || facts.factor_parts() > 0)
            && match self {
                Self { only: true, .. } => facts.is_only(),
                Self { green: true, .. } => facts.is_green(),
                _ => true,
            }
    }
}
