//! What positions and moves are worth, as numbers that can be compared, subtracted and negated.
#![allow(clippy::cast_possible_truncation, reason = "numbers are clamped before")]

use shakmaty::{Color, Position as _};

use super::Position;

/// What a position or a move is worth, in hundredths of a pawn: above 30,000 a mate, the nearer the greater.
pub type Value = i16;

/// The greatest value that is not a mate. A greater one makes no difference to a player.
const MAX: Value = 30_000;

/// A mate in no moves; each further move is one less.
const MATE: Value = Value::MAX;

/// The value of a score in centipawns.
pub fn centipawns(score: i64) -> Value {
    score.clamp((-MAX).into(), MAX.into()) as Value
}

/// The value of a mate in `moves` moves; the other side mates if the number is 0 or less.
///
/// ```
/// use tabiya_chess::value::{centipawns, mate};
/// assert!(mate(1) > mate(2) && mate(2) > centipawns(99_999));
/// assert_eq!(mate(-2), -mate(2));
/// ```
pub fn mate(moves: i64) -> Value {
    let value = |moves: i64| (i64::from(MATE) - moves).max(i64::from(MAX) + 1) as Value;
    if moves > 0 { value(moves) } else { -value(moves.saturating_neg()) }
}

/// The value of a position in which the side to move has no move, or that a rule of its variant ends.
pub fn result(at: &Position) -> Option<Value> {
    if let Some(outcome) = at.chess().variant_end() {
        let won = |winner: Color| if winner == at.chess().turn() { -mate(0) } else { mate(0) };
        return Some(outcome.winner().map_or(0, won));
    }
    at.chess().legal_moves().is_empty().then(|| if at.chess().is_check() { mate(0) } else { 0 })
}

/// Whether a value is a mate.
pub fn is_mate(value: Value) -> bool {
    value.saturating_abs() > MAX
}

/// A value in words: pawns, or the moves to the mate.
///
/// ```
/// use tabiya_chess::value::{in_words, mate};
/// assert_eq!((in_words(-31), in_words(-mate(3))), ("-0.31".to_owned(), "#-3".to_owned()));
/// ```
pub fn in_words(value: Value) -> String {
    let moves = MATE - value.saturating_abs();
    match value {
        0 => "0.00".to_owned(),
        _ if value > MAX => format!("#{moves}"),
        _ if value < -MAX => format!("#-{moves}"),
        _ => format!("{:+.2}", f64::from(value) / 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Game, Variant};

    #[test]
    fn games_end_by_the_rules_of_their_variant() {
        let worth = |variant, moves: &str| {
            let mut game = Game::start_of(variant);
            moves.split_whitespace().for_each(|uci| assert!(game.push_uci(uci.as_bytes()), "{uci}"));
            result(game.position())
        };
        assert_eq!(worth(Variant::Chess, "f2f3 e7e5 g2g4 d8h4"), Some(mate(0)));
        let hill = "e2e4 a7a6 e1e2 a6a5 e2e3 a5a4 e3d4";
        assert_eq!((worth(Variant::KingOfTheHill, hill), worth(Variant::Chess, hill)), (Some(mate(0)), None));
        assert_eq!(worth(Variant::Atomic, "g1f3 a7a6 f3g5 a6a5 g5f7"), Some(mate(0)));
        // Who has no piece left has won.
        let bare = Position::from_any_fen_of(Variant::Antichess, b"8/8/8/8/8/8/8/R7 b - - 0 1").unwrap();
        assert_eq!(result(&bare), Some(-mate(0)));
    }
}
