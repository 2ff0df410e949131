//! What the comment after a move says of it, in the styles of fastchess, Cute Chess, Arena and Lichess.
//!
//! | program | comment | score for |
//! |---|---|---|
//! | fastchess, Cute Chess | `+0.31/20 0.532s`, `-M10/7 0s`, `book` | the side that moved |
//! | Arena | `+0.31/20 5` | the side that moved |
//! | Lichess | `[%eval 0.31] [%emt 0:00:05]` | White |

use shakmaty::Color;

use crate::evals::import::{centipawns, eval_of, signed};
use crate::uci::Score;

/// What a comment says of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Remark {
    /// The score for White.
    pub score: Option<Score>,
    /// How long the move took, in seconds.
    pub seconds: Option<f64>,
}

impl Remark {
    /// Reads the comment after a move of this side.
    pub fn read(comment: &[u8], mover: Color) -> Self {
        let mut remark = Self::default();
        if let Some((score, _)) = eval_of(comment) {
            remark.score = Some(score);
        }
        let Ok(text) = std::str::from_utf8(comment) else { return remark };
        remark.seconds = text.split_once("[%emt").and_then(|(_, rest)| clock(rest.split(']').next()?.trim()));
        let mut words = text.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        if let Some((score, depth)) = scored(first) {
            // A move of a book, as fastchess writes it, has the depth 0.
            let known = (depth > 0).then(|| mover.fold_wb(score, score.negated()));
            remark.score = remark.score.or(known);
            remark.seconds = remark.seconds.or_else(|| seconds(words.next()?.trim_end_matches(',')));
        }
        remark
    }
}

/// A score and its depth, such as `+0.31/20` or `-M10/7`.
fn scored(word: &str) -> Option<(Score, u32)> {
    let (score, depth) = word.split_once('/')?;
    let depth = depth.parse().ok()?;
    let (sign, digits) = signed(score);
    let score = match digits.strip_prefix('M') {
        Some(moves) => Score::Mate(sign * i64::from(moves.parse::<u32>().ok()?)),
        None => Score::Centipawns(sign * centipawns(digits)?),
    };
    Some((score, depth))
}

/// `0.532s`, `12s` or, as Arena writes it, `12`.
fn seconds(word: &str) -> Option<f64> {
    let number = word.strip_suffix('s').unwrap_or(word);
    number.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
}

/// `0:00:05` or `5.3`.
fn clock(text: &str) -> Option<f64> {
    text.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + seconds(part)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_runners_are_read() {
        let read = |text: &str, mover| {
            let Remark { score, seconds } = Remark::read(text.as_bytes(), mover);
            (score, seconds)
        };
        let (white, black) = (Color::White, Color::Black);
        let cp = |score| Some(Score::Centipawns(score));
        assert_eq!(read("+0.31/20 0.532s", white), (cp(31), Some(0.532)));
        assert_eq!(read("+0.31/20 0.532s", black), (cp(-31), Some(0.532)));
        assert_eq!(read("-M10/7 0s", white), (Some(Score::Mate(-10)), Some(0.0)));
        assert_eq!(read("0.00/0 0.000s", black), (None, Some(0.0)));
        assert_eq!(read("-1.05/14 12", white), (cp(-105), Some(12.0)));
        assert_eq!(read("+2.10/18 3.1s, White mates", white), (cp(210), Some(3.1)));
        assert_eq!(read("[%eval 0.31] [%clk 0:02:59]", black), (cp(31), None));
        assert_eq!(read("[%eval #-3] [%emt 0:01:05]", white), (Some(Score::Mate(-3)), Some(65.0)));
        for text in ["", "book", "a good move", "1/2", "e4/e5", "+/- 3", "M/3", "9e9/3 1s", "\u{1F600}"] {
            assert_eq!(read(text, white).0, if text == "1/2" { cp(100) } else { None }, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_comment_is_read(comment in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            let remark = Remark::read(&comment, Color::Black);
            assert!(remark.seconds.is_none_or(f64::is_finite));
        }
    }
}
