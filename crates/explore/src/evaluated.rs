//! What a store of evaluations says of the moves of a position.

use serde_json::{Value, json};
use shakmaty::Move;

use tabiya_chess::Position;
use tabiya_search::evals::Store;
use tabiya_uci::Score;

/// The score of a move for the side that makes it.
pub(super) fn of_move(store: &Store, at: &Position, mv: Move) -> Option<Score> {
    store.get(&at.after(mv)).map(|found| turned(found.score))
}

/// A score of the position after a move, for the side that made it: a mate takes it one move more.
fn turned(score: Score) -> Score {
    match score {
        Score::Mate(moves) if moves <= 0 => Score::Mate(1 - moves),
        _ => score.negated(),
    }
}

/// A score as JSON.
pub(super) fn json_of(score: Score) -> Value {
    match score {
        Score::Centipawns(score) => json!({ "cp": score }),
        Score::Mate(moves) => json!({ "mate": moves }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_turned_to_the_side_that_made_the_move() {
        for (after, before) in [
            (Score::Centipawns(31), Score::Centipawns(-31)),
            (Score::Mate(0), Score::Mate(1)),
            (Score::Mate(-2), Score::Mate(3)),
            (Score::Mate(2), Score::Mate(-2)),
        ] {
            assert_eq!(turned(after), before);
        }
    }
}
