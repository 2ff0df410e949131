//! What tests of several modules share.

use proptest::sample::Index;
use shakmaty::{Chess, Position as _};

/// The position after random legal moves; the game may end before the steps do.
pub(crate) fn played(mut chess: Chess, steps: &[Index]) -> Chess {
    for step in steps {
        let moves = chess.legal_moves();
        if moves.is_empty() {
            break;
        }
        chess.play_unchecked(*step.get(&moves));
    }
    chess
}
