//! What the comment after a move says of it, in the styles of fastchess, Cute Chess, Arena and Lichess.
//!
//! | program | comment | score for |
//! |---|---|---|
//! | fastchess, Cute Chess | `+0.31/20 0.532s`, `-M10/7 0s` | the side that moved |
//! | Cute Chess, of a move without a search | `0.005s` | none |
//! | both, of a move that they play themselves | `book` | none |
//! | fastchess with `match_line`, of a move of tabiya's book | `0.00/0 0.000s, line="info string book a.bin: 3 of 5 moves"` | none |
//! | Arena | `+0.31/20 5` | the side that moved |
//! | Lichess | `[%eval 0.31] [%emt 0:00:05]` | White |

use shakmaty::Color;

use tabiya_uci::Score;

use crate::evals::import::{centipawns, eval_of, signed};

/// What a comment says of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Remark<'a> {
    /// The score for White.
    pub score: Option<Score>,
    /// How long the move took, in seconds.
    pub seconds: Option<f64>,
    /// The path of the book that the move came from.
    pub book: Option<&'a str>,
    /// Whether the runner has a time of the engine's, but no score: it moved without a search.
    pub is_unsearched: bool,
    /// Whether the runner has played the move itself, from its own book.
    pub is_given: bool,
}

impl<'a> Remark<'a> {
    /// Reads the comment after a move of this side.
    pub fn read(text: &'a str, mover: Color) -> Self {
        let mut remark = Self { score: eval_of(text.as_bytes()).map(|(score, _)| score), ..Self::default() };
        remark.seconds = text.split_once("[%emt").and_then(|(_, rest)| clock(rest.split(']').next()?.trim()));
        let mut words = text.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        if let Some((score, depth)) = scored(first) {
            // A move of a book, as fastchess writes it, has the depth 0.
            let known = (depth > 0).then(|| mover.fold_wb(score, score.negated()));
            remark.score = remark.score.or(known);
            let time = words.next().and_then(|word| seconds(word.trim_end_matches(',')));
            remark.is_unsearched = depth == 0 && matches!(score, Score::Centipawns(_)) && time.is_some();
            remark.seconds = remark.seconds.or(time);
        } else {
            let word = first.trim_end_matches(',');
            remark.is_given = word == "book";
            remark.is_unsearched = !remark.is_given && without_search(word).is_some();
            remark.seconds = remark.seconds.or_else(|| without_search(word));
        }
        remark.is_unsearched &= remark.score.is_none();
        remark.book = book(text);
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

/// The seconds of a move for which Cute Chess has no score: `0.005s`; its own `book` takes no time.
fn without_search(word: &str) -> Option<f64> {
    if word == "book" { Some(0.0) } else { seconds(word).filter(|_| word.ends_with('s')) }
}

/// The path in the line with which tabiya names its book: `info string book PATH: 3 of 5 moves`.
fn book(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("info string book ")?;
    let is_count = |rest: &str| {
        let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
        let mut words = rest.split_ascii_whitespace();
        words.next().is_some_and(is_number)
            && words.next() == Some("of")
            && words.next().is_some_and(is_number)
    };
    let ends =
        rest.match_indices(": ").filter(|(at, colon)| rest.get(at + colon.len()..).is_some_and(is_count));
    let (end, _) = ends.last()?;
    rest.get(..end)
}

fn clock(text: &str) -> Option<f64> {
    text.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + seconds(part)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_runners_are_read() {
        let read = |text: &str, mover| {
            let Remark { score, seconds, .. } = Remark::read(text, mover);
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
        assert_eq!(read("0.005s", white), (None, Some(0.005)));
        assert_eq!(read("0s, White mates", black), (None, Some(0.0)));
        assert_eq!(read("book", black), (None, Some(0.0)));
        assert_eq!(read("0 s", black), (None, None));
        assert_eq!(read("books", black), (None, None));
        let is_unsearched = |text: &str| Remark::read(text, white).is_unsearched;
        for text in ["0s", "0.005s, White mates", "0.00/0 0.000s", "0.00/0 0.000s, line=\"x\""] {
            assert!(is_unsearched(text), "{text}");
        }
        for text in [
            "book",
            "+0.31/20 0.5s",
            "-M10/7 0s",
            "0.00/9 0s",
            "[%eval 0.31] [%emt 0:00:05]",
            "0s [%eval 0.1]",
            "",
        ] {
            assert!(!is_unsearched(text), "{text}");
        }
        for text in ["", "book", "a good move", "1/2", "e4/e5", "+/- 3", "M/3", "9e9/3 1s", "\u{1F600}"] {
            assert_eq!(read(text, white).0, if text == "1/2" { cp(100) } else { None }, "{text}");
        }
    }

    #[test]
    fn the_book_of_a_move_is_read() {
        let read = |text: &'static str| Remark::read(text, Color::White).book;
        let line = r#"0.00/0 0.000s, line="info string book C:\a: 2 b.bin: 3 of 13 moves, line ends in 1 ply, rule 2""#;
        assert_eq!(read(line), Some(r"C:\a: 2 b.bin"));
        assert_eq!(read("0s, line=\"info string book a.bin: 1 of 1 moves\", White mates"), Some("a.bin"));
        for other in ["info string book a.bin", "info string book a.bin: silent", "book a.bin: 1 of 1 moves"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_comment_is_read(comment in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            let text = tabiya_games::decode_text(&comment);
            let remark = Remark::read(&text, Color::Black);
            assert!(remark.seconds.is_none_or(f64::is_finite));
        }
    }
}
