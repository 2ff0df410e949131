//! What moves that are played by chance are worth together.

use tabiya_chess::Value;

use super::UNKNOWN;

/// Winning chances by centipawns are the hyperbolic tangent of half of this times the value, from -1 to 1. This is Lichess's
/// curve, fitted to games: <https://lichess.org/page/accuracy>.
const SLOPE: f64 = 0.003_682_08;

/// Values beyond this many centipawns count as this many, as on Lichess, so that a rare mate does not outweigh all else.
const MAX_CENTIPAWNS: Value = 1000;

/// The winning chances of a value, from -1 to 1.
pub(crate) fn winning_chances(value: Value) -> f64 {
    libm::tanh(SLOPE / 2.0 * f64::from(value.clamp(-MAX_CENTIPAWNS, MAX_CENTIPAWNS)))
}

/// The value with the average winning chances of values, each with the chance of its move. The worst of them if all are beyond
/// 1,000 centipawns in the same direction. `None` if there are no values, or one is not known.
pub(super) fn average(moves: impl Iterator<Item = (Value, f64)>) -> Option<Value> {
    let (mut least, mut most, mut sum, mut chances) = (Value::MAX, Value::MIN, 0.0, 0.0);
    for (value, chance) in moves {
        if value == UNKNOWN {
            return None;
        }
        (least, most) = (least.min(value), most.max(value));
        sum += chance * winning_chances(value);
        chances += chance;
    }
    if chances <= 0.0 {
        return None;
    }
    if least == most || least >= MAX_CENTIPAWNS || most <= -MAX_CENTIPAWNS {
        return Some(least);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is between two values")]
    let value = (libm::atanh(sum / chances) * 2.0 / SLOPE).round() as Value;
    Some(value.clamp(least, most))
}
