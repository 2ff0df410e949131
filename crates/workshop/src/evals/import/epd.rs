//! Lines of EPD: a position, and operations on it (docs/formats/evals.md, EPD).

use tabiya_base::bytes::Parts as _;

use shakmaty::Position as _;

use tabiya_chess::notation::parts;
use tabiya_chess::{MoveCode, Position, read_move};
use tabiya_search::evals::Wanted;
use tabiya_uci::{Score, Wdl};

use super::lichess::illegal;
use super::problems::{Problem, Wrong};
use super::{EvaluationLine, ImportedEvaluation, Parsed, position};
use crate::evals::export::{MATED, MIN_MATE};

/// Fields of a position.
const FIELDS: usize = 4;

pub(super) fn line(text: &[u8], wanted: Option<&Wanted>) -> Parsed {
    if text.is_empty() || text.starts_with(b"#") {
        return Ok(None);
    }
    let (fen, rest) = split(text);
    let at = position(fen)?;
    if wanted.is_some_and(|wanted| !wanted.contains(&at)) {
        return Ok(Some(EvaluationLine::Unwanted));
    }
    let rest = String::from_utf8_lossy(rest);
    let mut operations = Operations::default();
    for operation in parts(&rest, ';') {
        operations.take(operation)?;
    }
    let Operations { centipawns, mate, depth, nodes, wdl, predicted, best } = operations;
    let score = match (mate, centipawns) {
        (Some(moves), _) => Score::Mate(moves),
        (None, Some(score)) if score.saturating_abs() > MATED || score == MATED => {
            return Err(Problem::new(Wrong::Score, 0, format!("the score (ce) is impossible: {score}")));
        }
        (None, Some(score)) if score > MIN_MATE => Score::Mate((MATED - score + 1) / 2),
        (None, Some(score)) if score < -MIN_MATE => Score::Mate(-((MATED + score) / 2)),
        (None, Some(score)) => Score::Centipawns(score),
        (None, None) => return Err(Problem::new(Wrong::Score, 0, "the line has no score (ce or dm)")),
    };
    let best = match predicted.or(best) {
        Some(word) => MoveCode::from_move(legal(&word, &at)?),
        None => MoveCode::NULL,
    };
    Ok(Some(EvaluationLine::Found(ImportedEvaluation { position: at, score, depth, nodes, wdl, best })))
}

fn legal(word: &str, at: &Position) -> Result<shakmaty::Move, Problem> {
    read_move(word, at).ok().filter(|mv| at.chess().is_legal(*mv)).ok_or_else(|| illegal(word))
}

/// The position of a line, without counters of moves, and what follows them.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 0;
    let mut fields = 0;
    let mut fen = text.len();
    for word in text.split(|byte| *byte == b' ') {
        // Some programs leave the counters of a FEN in the line.
        let counter = fields < FIELDS + 2 && !word.is_empty() && word.iter().all(u8::is_ascii_digit);
        if fields >= FIELDS && !counter && !word.is_empty() {
            return (text.get(..fen).unwrap_or(text), text.part(end..));
        }
        fields += usize::from(!word.is_empty());
        end += word.len() + 1;
        if fields == FIELDS && !word.is_empty() {
            fen = end - 1;
        }
    }
    (text.get(..fen).unwrap_or(text), &[])
}

/// What the operations of a line say.
#[derive(Default)]
struct Operations {
    centipawns: Option<i64>,
    mate: Option<i64>,
    depth: u64,
    nodes: u64,
    wdl: Option<Wdl>,
    predicted: Option<String>,
    /// The only best move.
    best: Option<String>,
}

impl Operations {
    fn take(&mut self, operation: &str) -> Result<(), Problem> {
        let mut words = parts(operation, ' ');
        let (code, first) = (words.next().unwrap_or_default(), words.next());
        let number = || {
            let word = first.unwrap_or_default();
            let number = word.parse::<i64>().ok();
            number.ok_or_else(|| {
                let what = format!("{:?} is not a number", operation.chars().take(40).collect::<String>());
                Problem::new(Wrong::Unreadable, 0, what)
            })
        };
        let count = || number().map(|number| u64::try_from(number).unwrap_or(0));
        match code {
            "ce" => self.centipawns = Some(number()?),
            "dm" => self.mate = Some(number()?),
            "acd" => self.depth = count()?,
            "acn" => self.nodes = count()?,
            "wdl" => self.wdl = Wdl::of_text(first.unwrap_or_default().trim_matches('"')),
            "pm" | "pv" if self.predicted.is_none() || code == "pm" => {
                self.predicted = first.map(str::to_owned);
            }
            "bm" if words.next().is_none() => self.best = first.map(str::to_owned),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

    fn read(operations: &str) -> Result<Option<(Score, u64, u64, String)>, String> {
        match line(format!("{START} {operations}").as_bytes(), None) {
            Ok(Some(EvaluationLine::Found(found))) => {
                Ok(Some((found.score, found.depth, found.nodes, found.best.to_string())))
            }
            Ok(_) => Ok(None),
            Err(problem) => Err(problem.what),
        }
    }

    #[test]
    fn operations_are_read_in_any_order_and_others_are_ignored() {
        let full = Ok(Some((Score::Centipawns(-31), 20, 900, "e2e4".to_owned())));
        assert_eq!(read("acd 20; acn 900; ce -31; pm e4;"), full);
        assert_eq!(read("0 1 ce -31;pv e4 e5 Nf3; c0 \"a; ce 7;\"; acn 900 ;acd 20"), full);
        assert_eq!(read("bm e4; id \"x; y\"; ce -31; acd 20; acn 900"), full);
        assert_eq!(read("pv d4; pm e2e4; acd 20; acn 900; ce -31"), full);
        assert_eq!(read("bm e4 d4; ce +5"), Ok(Some((Score::Centipawns(5), 0, 0, "a1a1".to_owned()))));
    }

    #[test]
    fn mates_are_read_from_both_operations() {
        let score = |operations: &str| read(operations).map(|found| found.unwrap().0);
        for (operations, moves) in [
            ("ce 32766", 1),
            ("ce 32758; acd 9", 5),
            ("ce -32765", -1),
            ("ce -32757", -5),
            ("dm 7", 7),
            ("ce 32766; dm 3", 3),
        ] {
            assert_eq!(score(operations), Ok(Score::Mate(moves)), "{operations}");
        }
        assert_eq!(score("ce 32000"), Ok(Score::Centipawns(32000)));
        assert_eq!(score("ce -32767"), Ok(Score::Mate(0)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(read("").unwrap_err().contains("no score"));
        for score in ["32767", "99999", "-32768", "9223372036854775807", "-9223372036854775808"] {
            assert!(read(&format!("ce {score}")).unwrap_err().contains("impossible"), "{score}");
        }
        assert!(read("ce x").unwrap_err().contains("is not a number"));
        assert!(read("ce 5; pm e5").unwrap_err().contains("\"e5\" is not legal"));
        assert!(line(b"8/8/8/8/8/8/8/8 w - - ce 5;", None).unwrap_err().what.contains("illegal"));
        assert!(matches!(line(b"# a comment", None), Ok(None)));
    }
}
