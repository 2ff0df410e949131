//! Evaluations in the comments of games: `[%eval 0.17]`, `[%eval #-3]`, `[%eval 0.17,22]`.

use std::ops::ControlFlow;
use std::sync::Mutex;

use memchr::memmem;
use shakmaty::Move;

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_chess::{MoveCode, Position};
use tabiya_games::{GameEnd, GameError, GameHeader, GameLocation, Visitor};
use tabiya_search::evals::{Collector, EngineId, Wanted};
use tabiya_uci::Score;

use super::problems::{Problem, Problems, Wrong};
use super::{EvaluationLine, ImportReader, ImportedEvaluation, Tally};

/// What an evaluation in a comment begins with.
const EVAL: &[u8] = b"[%eval";

/// What is read between two times that a thread hands over what it found.
const GAMES: u64 = 64;

/// Whether a game is to be read.
pub(crate) type Admits<'a> = &'a (dyn Fn(&GameHeader) -> bool + Sync);

/// The last move of a line, and the position before it.
type Last = Option<(Position, Move)>;

/// Collects the evaluations in the comments of games, of one thread. The comment after a move is about the position after
/// it.
pub(crate) struct PgnEvals<'a> {
    admits: Option<Admits<'a>>,
    engine: EngineId,
    wanted: Option<&'a Wanted>,
    collector: &'a Mutex<Collector>,
    problems: &'a Mutex<Problems>,
    reader: ImportReader,
    /// Where the game is.
    place: Option<GameLocation>,
    /// The position that the game starts from.
    start: Option<Position>,
    last: Last,
    /// The same of the lines around the present one.
    lines: Vec<Last>,
    /// Whether a variation has begun, and has no move yet.
    in_between: bool,
    goes_on: bool,
}

impl<'a> PgnEvals<'a> {
    /// Nothing has been read yet. With `admits` only games that it lets through are read, and games that cannot be read are
    /// not reported: the code that counts the games does that.
    pub fn new(
        admits: Option<Admits<'a>>,
        engine: EngineId,
        wanted: Option<&'a Wanted>,
        collector: &'a Mutex<Collector>,
        problems: &'a Mutex<Problems>,
    ) -> Self {
        Self {
            admits,
            engine,
            wanted,
            collector,
            problems,
            reader: ImportReader::default(),
            place: None,
            start: None,
            last: None,
            lines: Vec::new(),
            in_between: false,
            goes_on: true,
        }
    }

    /// What was read.
    ///
    /// # Errors
    /// When a temporary file could not be written.
    pub fn finish(mut self) -> Result<Tally> {
        self.reader.hand_over(self.collector, self.problems);
        self.reader.finish()
    }

    fn wrong(&mut self, error: &GameError) {
        if self.admits.is_some() {
            return;
        }
        let wrong = if error.reason.is_of_file() { Wrong::File } else { Wrong::Game };
        let problem = Problem::new(wrong, error.place.offset, format!("{}: {}", error.place.spot, error.why));
        self.reader.problems.push(problem.in_file(error.place.file.clone()));
    }
}

impl Visitor for PgnEvals<'_> {
    fn begin(&mut self, game: &GameHeader) -> bool {
        self.reader.tally.games += 1;
        if self.reader.tally.games.is_multiple_of(GAMES) {
            self.goes_on = self.reader.hand_over(self.collector, self.problems);
        }
        if !self.goes_on || self.admits.is_some_and(|admits| !admits(game)) {
            return false;
        }
        self.place = Some(game.place.clone());
        self.start = game.start.clone();
        (self.last, self.in_between) = (None, false);
        self.lines.clear();
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        (self.last, self.in_between) = (Some((at.clone(), mv)), false);
        ControlFlow::Continue(())
    }

    fn end(&mut self, end: GameEnd) {
        end.error.iter().chain(&end.cut).for_each(|error| self.wrong(error));
    }

    fn unreadable(&mut self, error: GameError) {
        self.wrong(&error);
    }

    fn wants_variations(&self) -> bool {
        true
    }

    fn begin_variation(&mut self) {
        self.lines.push(self.last.clone());
        self.in_between = true;
    }

    fn end_variation(&mut self) {
        self.last = self.lines.pop().flatten();
        self.in_between = false;
    }

    fn wants_remarks(&self) -> bool {
        true
    }

    fn comment(&mut self, text: &[u8]) {
        if self.in_between {
            return;
        }
        let Some(words) = eval_in(text) else { return };
        let parsed = match score(words) {
            Some((score, depth)) => {
                let position = match &self.last {
                    Some((at, mv)) => at.after(*mv),
                    None => self.start.clone().unwrap_or_else(Position::start),
                };
                let found =
                    ImportedEvaluation { position, score, depth, nodes: 0, wdl: None, best: MoveCode::NULL };
                Ok(Some(EvaluationLine::Found(found.of_white())))
            }
            None => {
                let words = String::from_utf8_lossy(words.part(..words.len().min(20)));
                Err(Problem::new(Wrong::Score, 0, format!("{words:?} is not a score")))
            }
        };
        let before = self.reader.problems.len();
        let at = self.place.as_ref().map_or(0, |place| place.offset);
        self.reader.take(parsed, at, self.engine, self.wanted);
        if let (Some(problem), Some(place)) = (self.reader.problems.get_mut(before), &self.place) {
            problem.file = Some(place.file.clone());
            problem.what = format!("the game of {}: {}", place.spot, problem.what);
        }
    }

    fn has_failed(&self) -> bool {
        !self.goes_on
    }
}

/// What `[%eval]` in a comment says: a score for White, and its depth.
pub(crate) fn eval_of(comment: &[u8]) -> Option<(Score, u64)> {
    eval_in(comment).and_then(score)
}

/// What a comment says after `[%eval`, up to the bracket.
fn eval_in(comment: &[u8]) -> Option<&[u8]> {
    let rest = comment.get(memmem::find(comment, EVAL)? + EVAL.len()..)?;
    rest.first().filter(|byte| byte.is_ascii_whitespace())?;
    Some(rest.get(..memchr::memchr(b']', rest)?)?.trim_ascii())
}

/// A score for White in pawns, or a mate after `#`, and after a comma the depth; 0 without one.
fn score(words: &[u8]) -> Option<(Score, u64)> {
    let words = str::from_utf8(words).ok()?;
    let (score, depth) = words.split_once(',').unwrap_or((words, "0"));
    let depth = depth.trim().parse().ok()?;
    let score = score.trim();
    if let Some(moves) = score.strip_prefix('#') {
        return Some((Score::Mate(moves.parse().ok()?), depth));
    }
    let (sign, digits) = signed(score);
    Some((Score::Centipawns(sign * centipawns(digits)?), depth))
}

/// The sign of a number, and its digits.
pub(crate) fn signed(number: &str) -> (i64, &str) {
    match number.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, number.strip_prefix('+').unwrap_or(number)),
    }
}

/// Hundredths of a number of pawns, such as `0.31`, `.3` or `2`.
pub(crate) fn centipawns(digits: &str) -> Option<i64> {
    let (pawns, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if pawns.len() > 9 || pawns.len() + rest.len() == 0 || !is_number(pawns) || !is_number(rest) {
        return None;
    }
    let mut hundredths = rest.bytes().chain(*b"000").map(|digit| i64::from(digit - b'0'));
    let mut next = || hundredths.next().unwrap_or_default();
    let pawns: i64 = if pawns.is_empty() { 0 } else { pawns.parse().ok()? };
    Some(pawns * 100 + next() * 10 + next() + i64::from(next() >= 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_found_in_comments() {
        let read = |text: &str| eval_in(text.as_bytes()).map(score);
        for (text, cp, depth) in [
            ("[%eval 0.17]", 17, 0),
            ("[%clk 0:01:00] [%eval -1.5] fine", -150, 0),
            ("[%eval 0.17,22][%clk 1]", 17, 22),
            ("[%eval\n+3]", 300, 0),
            ("[%eval .05, 7]", 5, 7),
            ("[%eval -0.005]", -1, 0),
            ("[%eval 12.344]", 1234, 0),
        ] {
            assert_eq!(read(text), Some(Some((Score::Centipawns(cp), depth))), "{text}");
        }
        for (text, moves) in
            [("[%eval #-3]", -3), ("[%eval #12,40]", 12), ("[%eval #0]", 0), ("[%eval #+2]", 2)]
        {
            assert_eq!(read(text).flatten().unwrap().0, Score::Mate(moves), "{text}");
        }
        for text in ["[%eval x]", "[%eval ]", "[%eval 1.2.3]", "[%eval 1,x]", "[%eval #]", "[%eval 1e9]"] {
            assert_eq!(read(text), Some(None), "{text}");
        }
        for text in ["", "[%eval", "[%evaluation 1]", "[%eval 1", "+0.3/20"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
