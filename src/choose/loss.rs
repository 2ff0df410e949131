//! What a book's moves lose, by the evaluations that are known of the positions after them.

use shakmaty::Move;

use crate::book::Evaluations;
use crate::chess::Position;

/// What a move loses against the best that its position offers. Values are centipawns for the side that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// The value of the move.
    pub(crate) value: i64,
    /// The value of the position.
    pub(crate) best: i64,
}

impl Loss {
    /// The loss in centipawns; 0 for a move that is better than what was the best.
    pub(crate) fn centipawns(self) -> u32 {
        u32::try_from(self.best.saturating_sub(self.value)).unwrap_or(0)
    }
}

/// The values of the moves of a position, in a buffer that is kept.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    best: i64,
    values: Vec<(Move, i64)>,
}

impl Losses {
    /// Looks up each of a book's moves in a position, and the position itself: the best that it offers is the greatest of
    /// these values. A move after which nothing is known has no value.
    pub(crate) fn look_up(
        &mut self,
        known: Option<&dyn Evaluations>,
        at: &Position,
        moves: impl Iterator<Item = Move>,
    ) {
        self.clear();
        let Some(known) = known else { return };
        self.values.extend(moves.filter_map(|mv| Some((mv, -known.value(&at.after(mv))?))));
        let own = known.value(at).into_iter();
        self.best = own.chain(self.values.iter().map(|(_, value)| *value)).max().unwrap_or(0);
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.values.clear();
    }

    /// What a move loses; `None` if nothing is known after it.
    pub(crate) fn of(&self, mv: Move) -> Option<Loss> {
        let (_, value) = self.values.iter().find(|(known, _)| *known == mv)?;
        Some(Loss { value: *value, best: self.best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Game;
    use proptest::prelude::*;
    use shakmaty::Position as _;
    use std::collections::HashMap;

    /// Values by FEN.
    struct Known(HashMap<String, i64>);

    impl Evaluations for Known {
        fn value(&self, at: &Position) -> Option<i64> {
            self.0.get(&at.fen()).copied()
        }
    }

    fn mv(text: &str) -> Move {
        let mut game = Game::start();
        assert!(game.push_uci(text.as_bytes()));
        game.moves()[0]
    }

    fn known(own: Option<i64>, moves: &[(&str, i64)]) -> Known {
        let start = Position::start();
        let after = moves.iter().map(|(text, value)| (start.after(mv(text)).fen(), -value));
        Known(after.chain(own.map(|value| (start.fen(), value))).collect())
    }

    fn losses(known: &Known, moves: &[&str]) -> Vec<Option<u32>> {
        let mut losses = Losses::default();
        losses.look_up(Some(known), &Position::start(), moves.iter().map(|text| mv(text)));
        moves.iter().map(|text| losses.of(mv(text)).map(Loss::centipawns)).collect()
    }

    #[test]
    fn a_move_is_compared_with_the_best_that_is_known() {
        let moves = ["e2e4", "d2d4", "a2a3"];
        let both = [("e2e4", 30), ("d2d4", -20)];
        assert_eq!(losses(&known(None, &both), &moves), [Some(0), Some(50), None]);
        assert_eq!(losses(&known(Some(45), &both), &moves), [Some(15), Some(65), None]);
        // What the position is worth may be less than its best move.
        assert_eq!(losses(&known(Some(0), &both), &moves), [Some(0), Some(50), None]);
        assert_eq!(losses(&known(Some(45), &[]), &moves), [None, None, None]);
        // The values of moves that the book does not have are not looked up.
        assert_eq!(losses(&known(None, &both), &["d2d4"]), [Some(0)]);
    }

    #[test]
    fn without_evaluations_nothing_is_known() {
        let mut losses = Losses::default();
        losses.look_up(Some(&known(None, &[("e2e4", 3)])), &Position::start(), [mv("e2e4")].into_iter());
        assert!(losses.of(mv("e2e4")).is_some());
        losses.look_up(None, &Position::start(), [mv("e2e4")].into_iter());
        assert_eq!(losses.of(mv("e2e4")), None);
    }

    proptest! {
        #[test]
        fn the_best_known_move_loses_no_more_than_the_position_is_worth(
            own in prop::option::of(-10_000..=10_000_i64),
            values in prop::collection::vec(prop::option::of(-10_000..=10_000_i64), 20),
        ) {
            let legal = Position::start().chess().legal_moves();
            let texts: Vec<String> =
                legal.iter().map(|mv| mv.to_uci(shakmaty::CastlingMode::Standard).to_string()).collect();
            let valued: Vec<(&str, i64)> = texts
                .iter()
                .zip(&values)
                .filter_map(|(text, value)| Some((text.as_str(), (*value)?)))
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let found = losses(&known(own, &valued), &texts);
            for (loss, value) in found.iter().zip(&values) {
                prop_assert_eq!(loss.is_some(), value.is_some());
            }
            let best = valued.iter().map(|(_, value)| *value).max();
            if let Some(best) = best {
                let least = u32::try_from(own.unwrap_or(best).max(best) - best).unwrap();
                prop_assert_eq!(found.iter().flatten().min().copied(), Some(least));
            }
        }
    }
}
