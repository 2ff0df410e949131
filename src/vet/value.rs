//! Scores as numbers that can be compared, subtracted and negated.
#![allow(clippy::cast_possible_truncation, reason = "numbers are clamped before")]

use crate::uci::Score;

/// What a position or a move is worth, in hundredths of a pawn: above [`MOST`] a mate, the nearer the greater.
pub type Value = i16;

/// The greatest value that is no mate. Nobody plays on to find out what a greater one is worth.
pub const MOST: Value = 30_000;

/// A mate in no moves; each further move is one less.
const MATE: Value = Value::MAX;

/// The value of a score, for the same side.
///
/// ```
/// use tabiya::uci::Score;
/// use tabiya::vet::value;
/// assert_eq!(value(Score::Centipawns(-31)), -31);
/// assert!(value(Score::Mate(1)) > value(Score::Mate(2)) && value(Score::Mate(2)) > value(Score::Centipawns(9999)));
/// assert_eq!(value(Score::Mate(-2)), -value(Score::Mate(2)));
/// ```
pub fn value(score: Score) -> Value {
    let most = i64::from(MOST);
    let mate = |moves: i64| (i64::from(MATE) - moves).max(most + 1) as Value;
    match score {
        Score::Centipawns(score) => score.clamp(-most, most) as Value,
        Score::Mate(moves) if moves > 0 => mate(moves),
        Score::Mate(moves) => -mate(moves.saturating_neg()),
    }
}

/// A value in words: pawns, or the moves to the mate.
///
/// ```
/// assert_eq!(tabiya::vet::in_words(-31), "-0.31");
/// assert_eq!(tabiya::vet::in_words(-tabiya::vet::value(tabiya::uci::Score::Mate(3))), "#-3");
/// ```
pub fn in_words(value: Value) -> String {
    let moves = MATE - value.saturating_abs();
    match value {
        0 => "0.00".to_owned(),
        _ if value > MOST => format!("#{moves}"),
        _ if value < -MOST => format!("#-{moves}"),
        _ => format!("{:+.2}", f64::from(value) / 100.0),
    }
}

/// How much less one value is than another, which is at least as great.
pub fn loss(best: Value, of: Value) -> u32 {
    u32::try_from(i32::from(best) - i32::from(of)).unwrap_or_default()
}
