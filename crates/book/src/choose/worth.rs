//! What a position's moves are worth and lose, as far as that is known.

use shakmaty::Move;

use tabiya_chess::value::result;
use tabiya_chess::{Position, Value};

use super::MAX_LOSS_LIMIT;

/// What a move loses against the best that its position offers. Values are centipawns for the side that moves, and all decided
/// games are worth the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The value of the move.
    pub value: Value,
    /// The value of the position.
    pub best: Value,
}

impl Loss {
    /// The loss of a move with this value where the position is worth `best`.
    pub fn new(value: Value, best: Value) -> Self {
        let decided = Value::try_from(MAX_LOSS_LIMIT).unwrap_or(Value::MAX);
        Self { value: value.clamp(-decided, decided), best: best.clamp(-decided, decided) }
    }

    /// The loss in centipawns; 0 for a move that is better than what was the best.
    pub fn centipawns(self) -> u32 {
        u32::try_from(i32::from(self.best) - i32::from(self.value)).unwrap_or(0)
    }
}

/// What a position and its moves are worth for the side to move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worth {
    best: Option<Value>,
    moves: Vec<(Move, Value)>,
}

impl Worth {
    /// From the position's own value and those of its moves, as far as they are known.
    pub fn new(own: Option<Value>, moves: impl IntoIterator<Item = (Move, Option<Value>)>) -> Self {
        let mut worth = Self::default();
        worth.put(own, moves);
        worth
    }

    /// From the values of a position and of those after its moves, which `known` returns for the side to move; where the game
    /// has ended, its result counts.
    pub fn at(
        at: &Position,
        moves: impl IntoIterator<Item = Move>,
        known: impl Fn(&Position) -> Option<Value>,
    ) -> Self {
        let mut worth = Self::default();
        worth.look_up(at, moves, known);
        worth
    }

    /// As [`Worth::at`], in place of what this holds.
    pub fn look_up(
        &mut self,
        at: &Position,
        moves: impl IntoIterator<Item = Move>,
        known: impl Fn(&Position) -> Option<Value>,
    ) {
        let of = |at: &Position| result(at).or_else(|| known(at));
        self.put(of(at), moves.into_iter().map(|mv| (mv, of(&at.after(mv)).map(|value| -value))));
    }

    fn put(&mut self, own: Option<Value>, moves: impl IntoIterator<Item = (Move, Option<Value>)>) {
        self.moves.clear();
        self.moves.extend(moves.into_iter().filter_map(|(mv, value)| Some((mv, value?))));
        self.best = self.moves.iter().map(|(_, value)| *value).chain(own).max();
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.put(None, []);
    }

    /// The best that the position offers: its own value or that of a move.
    pub fn best(&self) -> Option<Value> {
        self.best
    }

    /// What a move is worth; `None` if nothing is known after it.
    pub fn get(&self, mv: Move) -> Option<Value> {
        self.moves.iter().find(|(known, _)| *known == mv).map(|(_, value)| *value)
    }

    /// What a move loses against the best.
    pub fn loss_of(&self, mv: Move) -> Option<Loss> {
        Some(Loss::new(self.get(mv)?, self.best?))
    }

    /// What a move loses against the best, in centipawns.
    pub fn loss(&self, mv: Move) -> Option<u32> {
        self.loss_of(mv).map(Loss::centipawns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::Position as _;
    use std::collections::HashMap;
    use tabiya_chess::Game;
    use tabiya_chess::value::{centipawns, mate};

    use super::*;

    type Known = HashMap<String, Value>;

    fn mv(text: &str) -> Move {
        let mut game = Game::start();
        assert!(game.push_uci(text.as_bytes()));
        game.moves()[0]
    }

    fn known(own: Option<Value>, moves: &[(&str, Value)]) -> Known {
        let start = Position::start();
        let after = moves.iter().map(|(text, value)| (start.after(mv(text)).fen(), -value));
        after.chain(own.map(|value| (start.fen(), value))).collect()
    }

    fn losses(known: &Known, moves: &[&str]) -> Vec<Option<u32>> {
        let worth = Worth::at(&Position::start(), moves.iter().map(|text| mv(text)), |at| {
            known.get(&at.fen()).copied()
        });
        moves.iter().map(|text| worth.loss(mv(text))).collect()
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
    fn all_decided_games_are_worth_the_same() {
        let loss = |value, best| Loss::new(value, best).centipawns();
        assert_eq!((loss(300, mate(1)), loss(mate(-1), mate(1))), (9_700, 20_000));
        assert_eq!((loss(mate(9), mate(1)), loss(centipawns(i64::MAX), mate(1))), (0, 0));
        assert_eq!((loss(mate(-4), -300), loss(mate(0), mate(-4))), (9_700, 0));
        assert_eq!(losses(&known(None, &[("e2e4", mate(1)), ("d2d4", 300)]), &["d2d4"]), [Some(0)]);
        assert_eq!(
            losses(&known(None, &[("e2e4", mate(1)), ("d2d4", 300)]), &["e2e4", "d2d4"])[1],
            Some(9_700)
        );
    }

    #[test]
    fn a_game_that_ends_has_its_result() {
        let mut game = Game::start();
        ["f2f3", "e7e5", "g2g4"].iter().for_each(|mv| assert!(game.push_uci(mv.as_bytes())));
        let at = game.position();
        let (mates, other) =
            (at.chess().legal_moves().into_iter()).partition(|mv| at.after(*mv).chess().is_checkmate());
        let (mates, other): (Vec<_>, Vec<_>) = (mates, other);
        let worth = Worth::at(at, [mates[0], other[0]], |_| None);
        assert_eq!(
            (worth.get(mates[0]), worth.best(), worth.get(other[0])),
            (Some(-mate(0)), Some(-mate(0)), None)
        );
        let mut worth = worth;
        worth.clear();
        assert_eq!(worth, Worth::default());
    }

    proptest! {
        #[test]
        fn the_best_known_move_loses_no_more_than_the_position_is_worth(
            own in prop::option::of(-10_000..=10_000_i16),
            values in prop::collection::vec(prop::option::of(-10_000..=10_000_i16), 20),
        ) {
            let legal = Position::start().chess().legal_moves();
            let texts: Vec<String> =
                legal.iter().map(|mv| mv.to_uci(shakmaty::CastlingMode::Standard).to_string()).collect();
            let valued: Vec<(&str, Value)> = texts
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
                let least = u32::try_from(i32::from(own.unwrap_or(best).max(best)) - i32::from(best)).unwrap();
                prop_assert_eq!(found.iter().flatten().min().copied(), Some(least));
            }
        }
    }
}
