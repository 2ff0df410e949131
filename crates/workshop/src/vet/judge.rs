//! Which moves of a position are played on, and how often.
#![allow(clippy::cast_possible_truncation, reason = "a float that does not fit becomes the greatest number")]

use shakmaty::Color;

use tabiya_book::choose::{Policy, Worth, chances};
use tabiya_book::{Decision, MoveFacts, PositionRecord, plain_weights};
use tabiya_chess::MoveCode;

/// The greatest weight that moves are scaled to: a Polyglot book's.
const MAX_WEIGHT: f64 = 65_535.0;

/// Weights from this on are not scaled: rounding changes them little.
const FINE_WEIGHT: f64 = 16.0;

/// The greatest factor by which weights are scaled.
const MAX_SCALE: f64 = 1000.0;

/// How moves are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VetLimits {
    /// Moves that lose more are not played.
    pub max_loss: u32,
    /// Where all moves lose more than that, the best one stays if it loses no more than this.
    pub exit_loss: u32,
    /// The loss, in centipawns, that divides a weight by e; `None` leaves weights as they are.
    pub temperature: Option<f64>,
    /// Only moves of this side are judged.
    pub side: Option<Color>,
}

/// What becomes of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// It is no longer played.
    pub dropped: bool,
    /// Its new weight.
    pub weight: u64,
}

impl VetLimits {
    /// What becomes of the moves of a position where this side is to move.
    pub fn judge(&self, turn: Color, moves: &[MoveFacts], worth: &Worth) -> Vec<Fate> {
        let stay = |facts: &MoveFacts| Fate { dropped: false, weight: facts.weight };
        let mut fates: Vec<_> = moves.iter().map(stay).collect();
        if self.side.is_some_and(|side| side != turn) {
            return fates;
        }
        let mut shares = Vec::new();
        let mut policy = Policy::default();
        policy.threshold = 0;
        chances(moves, &policy, |_| true, &mut shares);
        let losses: Vec<_> = moves.iter().map(|facts| worth.loss(facts.mv)).collect();
        let bad =
            |place: usize| losses.get(place).copied().flatten().is_some_and(|loss| loss > self.max_loss);
        let played: Vec<_> =
            shares.iter().enumerate().filter(|(_, share)| **share > 0.0).map(|(place, _)| place).collect();
        // Nothing else is left: the best one, if it is good enough.
        let loss = |place: &usize| losses.get(*place).copied().flatten();
        let last = if played.iter().all(|place| bad(*place)) {
            played.iter().copied().min_by_key(loss).filter(|place| loss(place) <= Some(self.exit_loss))
        } else {
            None
        };
        for (place, fate) in fates.iter_mut().enumerate() {
            fate.dropped = bad(place) && last != Some(place);
        }
        let Some(temperature) = self.temperature else { return fates };
        let factor = |loss: u32| (-f64::from(loss) / temperature).exp();
        // What is never played does not count.
        let is_left = |fate: &Fate| !fate.dropped && fate.weight > 0;
        let left: Vec<_> = (0..moves.len()).filter(|place| fates.get(*place).is_some_and(is_left)).collect();
        let known = left.iter().filter_map(|place| losses.get(*place).copied().flatten());
        // A move of which nothing is known must not gain by that.
        let Some(most) = known.max() else { return fates };
        let all_alike = left.iter().all(|place| loss(place).unwrap_or(most) == most);
        if all_alike {
            return fates;
        }
        let weights = moves.iter().enumerate().map(|(place, facts)| {
            facts.weight as f64 * factor(losses.get(place).copied().flatten().unwrap_or(most))
        });
        let weights: Vec<_> = weights.collect();
        let of_left =
            || left.iter().filter_map(|place| weights.get(*place).copied()).filter(|weight| *weight > 0.0);
        let (least, most) = (of_left().fold(f64::MAX, f64::min), of_left().fold(0.0, f64::max));
        let scale = if least < FINE_WEIGHT { (MAX_WEIGHT / most).clamp(1.0, MAX_SCALE) } else { 1.0 };
        for place in left {
            if let (Some(fate), Some(weight)) = (fates.get_mut(place), weights.get(place)) {
                fate.weight = ((weight * scale).round() as u64).max(1);
            }
        }
        fates
    }
}

/// Decides what is played of a position's moves, if anything changes: what colours, marks and factors leave of those that
/// are not dropped, by their new weights. Every move that was played, or might be, has a decision then.
pub(crate) fn apply(moves: &mut [MoveFacts], fates: &[Fate]) {
    let is_new = |(facts, fate): (&MoveFacts, &Fate)| fate.dropped || fate.weight != facts.weight;
    if !moves.iter().zip(fates).any(is_new) {
        return;
    }
    for (facts, fate) in moves.iter_mut().zip(fates) {
        // A move that weighs nothing, of which nobody says that it is played, may have learned something.
        let is_silent = facts.weight == 0 && facts.counts.is_none() && facts.recommended.is_none();
        facts.weight = fate.weight;
        if fate.dropped && !is_silent {
            (facts.weight, facts.decision) = (0, Some(Decision::Judged));
        }
    }
    let left = moves.iter().map(|facts| MoveFacts::<MoveCode>::from(*facts)).collect();
    let mut left = PositionRecord { moves: left, ..PositionRecord::default() };
    plain_weights(&mut left);
    for (facts, left) in moves.iter_mut().zip(left.moves) {
        let has_verdict = facts.recommended.is_some() || facts.annotation.is_some();
        if facts.weight > 0 || left.weight > 0 || has_verdict {
            (facts.weight, facts.decision) = (left.weight, Some(Decision::Judged));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::Position as _;
    use tabiya_chess::Position;

    use super::*;

    const LIMITS: VetLimits = VetLimits { max_loss: 50, exit_loss: 100, temperature: Some(30.0), side: None };

    fn moves(weights: &[u64]) -> Vec<MoveFacts> {
        let legal = Position::start().chess().legal_moves();
        legal.into_iter().zip(weights).map(|(mv, weight)| MoveFacts::new(mv, *weight)).collect()
    }

    fn judged(limits: &VetLimits, weights: &[u64], own: i16, values: &[Option<i16>]) -> Vec<Option<u64>> {
        let moves = moves(weights);
        let worth = Worth::new(Some(own), moves.iter().map(|facts| facts.mv).zip(values.iter().copied()));
        let fates = limits.judge(Color::White, &moves, &worth);
        fates.iter().map(|fate| (!fate.dropped).then_some(fate.weight)).collect()
    }

    #[test]
    fn moves_that_lose_too_much_go_and_others_weigh_less() {
        let found =
            judged(&LIMITS, &[1000, 1000, 1000, 0], 20, &[Some(20), Some(-10), Some(-31), Some(-300)]);
        assert_eq!(found, [Some(1000), Some(368), None, None]);
        let kept = VetLimits { temperature: None, ..LIMITS };
        assert_eq!(judged(&kept, &[10, 10], 20, &[Some(20), Some(-10)]), [Some(10), Some(10)]);
        let black = VetLimits { side: Some(Color::Black), ..LIMITS };
        assert_eq!(judged(&black, &[10, 10], 20, &[Some(20), Some(-900)]), [Some(10), Some(10)]);
    }

    #[test]
    fn the_best_stays_unless_the_engine_does_better() {
        assert_eq!(judged(&LIMITS, &[10, 10], 100, &[Some(0), Some(-10)]), [Some(10), None]);
        assert_eq!(judged(&LIMITS, &[10, 10], 101, &[Some(0), Some(-10)]), [None, None]);
        // A move that is never played does not count as one.
        assert_eq!(judged(&LIMITS, &[10, 0], 90, &[Some(0), Some(90)]), [Some(10), Some(0)]);
    }

    #[test]
    fn what_is_not_known_stays_and_gains_nothing() {
        assert_eq!(judged(&LIMITS, &[10, 10], 90, &[None, Some(0)]), [Some(10), None]);
        let found = judged(&LIMITS, &[1000, 1000, 1000], 0, &[None, Some(0), Some(-30)]);
        assert_eq!(found, [Some(368), Some(1000), Some(368)]);
        let worth = Worth::default();
        assert!(LIMITS.judge(Color::White, &moves(&[5, 3]), &worth).iter().all(|fate| !fate.dropped));
    }

    #[test]
    fn small_weights_keep_their_shares() {
        let found = judged(&LIMITS, &[1, 1], 0, &[Some(0), Some(-30)]);
        assert_eq!(found, [Some(1000), Some(368)]);
    }

    proptest! {
        #[test]
        fn a_move_that_is_played_never_becomes_one_that_is_not(
            weights in prop::collection::vec(0..70_000_u64, 1..8),
            values in prop::collection::vec(prop::option::of(-400..400_i16), 8),
            temperature in 1.0..100.0_f64,
        ) {
            let limits = VetLimits { temperature: Some(temperature), ..LIMITS };
            let found = judged(&limits, &weights, 0, &values[..weights.len()]);
            for (before, after) in weights.iter().zip(&found) {
                prop_assert!(after.is_none_or(|after| (after > 0) == (*before > 0)));
            }
        }
    }
}
