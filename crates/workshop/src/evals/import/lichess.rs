//! Lines of Lichess's dump of evaluations: a JSON object in each (docs/formats/evals.md, Lichess's dump).

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use shakmaty::uci::UciMove;

use tabiya_chess::{MoveCode, Position};
use tabiya_search::evals::Wanted;
use tabiya_uci::Score;

use super::problems::{Problem, Wrong};
use super::{EvaluationLine, ImportedEvaluation, Parsed, position};

/// What comes before the position in each line.
const FEN: &[u8] = b"\"fen\":\"";

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    fen: Cow<'a, str>,
    #[serde(borrow)]
    evals: Vec<Evaluations<'a>>,
}

/// An evaluation with its lines, the best first.
#[derive(Deserialize)]
struct Evaluations<'a> {
    #[serde(borrow)]
    pvs: Vec<Variation<'a>>,
    #[serde(default)]
    knodes: u64,
    depth: u64,
}

#[derive(Deserialize)]
struct Variation<'a> {
    cp: Option<i64>,
    mate: Option<i64>,
    #[serde(borrow, default)]
    line: Cow<'a, str>,
}

/// Reads a line: the deepest evaluation in it, and its first variation. If only some positions are wanted and this is not
/// one of them, the rest of the line is skipped.
pub(super) fn line(text: &[u8], wanted: Option<&Wanted>) -> Parsed {
    if text.is_empty() {
        return Ok(None);
    }
    let mut known = None;
    if let (Some(wanted), Some(fen)) = (wanted, quick_fen(text)) {
        let at = position(fen)?;
        if !wanted.contains(&at) {
            return Ok(Some(EvaluationLine::Unwanted));
        }
        known = Some(at);
    }
    let unreadable = |error: serde_json::Error| {
        // Its place is within this line.
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        Problem::new(Wrong::Unreadable, 0, format!("the line is not from Lichess's dump: {what}"))
    };
    let object: Object<'_> = serde_json::from_slice(text).map_err(unreadable)?;
    let position = known.map_or_else(|| position(object.fen.as_bytes()), Ok)?;
    let deepest = object.evals.iter().max_by_key(|evals| (evals.depth, evals.knodes));
    let best = deepest.and_then(|evals| Some((evals, evals.pvs.first()?)));
    let (evals, variation) = best.ok_or_else(|| no_score("the line has no evaluation"))?;
    found(position, (variation.cp, variation.mate), evals.depth, evals.knodes, &variation.line).map(Some)
}

/// The position in a line, if it is written as always, without a look at the rest of the line.
fn quick_fen(text: &[u8]) -> Option<&[u8]> {
    let rest = text.get(memmem::find(text, FEN)? + FEN.len()..)?;
    let fen = rest.get(..memchr::memchr(b'"', rest)?)?;
    (!fen.contains(&b'\\')).then_some(fen)
}

/// An evaluation from White's point of view, as Lichess has them.
pub(super) fn found(
    position: Position,
    score: (Option<i64>, Option<i64>),
    depth: u64,
    knodes: u64,
    line: &str,
) -> Result<EvaluationLine, Problem> {
    let score = match score {
        (_, Some(mate)) => Score::Mate(mate),
        (Some(cp), None) => Score::Centipawns(cp),
        (None, None) => return Err(no_score("the evaluation has no score")),
    };
    let best = match line.split_ascii_whitespace().next() {
        None => MoveCode::NULL,
        Some(word) => {
            let mv = UciMove::from_ascii(word.as_bytes()).ok();
            let mv = mv.and_then(|mv| mv.to_move(position.chess()).ok());
            MoveCode::from_move(mv.ok_or_else(|| illegal(word))?)
        }
    };
    let nodes = knodes.saturating_mul(1000);
    Ok(EvaluationLine::Found(
        ImportedEvaluation { position, score, depth, nodes, wdl: None, best }.of_white(),
    ))
}

fn no_score(what: &str) -> Problem {
    Problem::new(Wrong::Score, 0, what)
}

/// The problem of a best move that is not legal.
pub(super) fn illegal(word: &str) -> Problem {
    let word: String = word.chars().take(20).collect();
    Problem::new(Wrong::Move, 0, format!("the best move {word:?} is not legal"))
}
