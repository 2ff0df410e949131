//! The `go` of the GUI that has not been answered yet, and the check of a book move by the child: it searches the
//! position, then the position with that move alone.

use std::sync::Arc;
use std::time::Duration;

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Color, Move, Position as _};

use tabiya_book::choose::Loss;
use tabiya_book::traits::Book;
use tabiya_chess::openings::Opening;
use tabiya_chess::{Game, Value};
use tabiya_search::evals;
use tabiya_uci::{Clock, Go, Score, words};

use super::lines::{Choice, Scope};
use crate::settings::rules::rule_name;

/// Checks take this part of our clock at most.
const CLOCK_PART: u32 = 10;

/// The least time of a search that is worth starting.
const MIN_SEARCH: Duration = Duration::from_millis(5);

/// The `go` that has not been answered yet.
pub(super) enum Request {
    /// The child's search answers it.
    Child {
        /// What must happen before the answer may be sent.
        until: Until,
        /// A bestmove that came too early.
        early: Option<Vec<u8>>,
        /// Where a line of the books ends once the request counts.
        end: Option<Box<EndOfLine>>,
    },
    /// `go ponder` in a position that the book answers: the book's move is sent on `ponderhit`.
    Pondering {
        asked: Box<GoRequest>,
        /// Whether the child ponders too.
        child: bool,
        early: Option<Vec<u8>>,
    },
    /// A move of the book that the child checks.
    Checking(Box<Check>),
    /// The book's answer, which waits for a readyok.
    Due(BookAnswer),
}

/// What the answer to a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    Now,
    PonderHit,
    Stop,
}

/// Where the books are silent in a line.
pub(super) struct EndOfLine {
    pub(super) game: Arc<Game>,
    /// Whose line it is.
    pub(super) scope: Scope,
    /// Whether they are silent for once only.
    pub(super) for_once: bool,
}

/// The book's answer to a request.
pub(super) struct BookAnswer {
    /// The lines for the GUI.
    pub(super) lines: Vec<u8>,
    /// The move in them.
    pub(super) mv: Move,
    /// What is remembered of it; `None` if the GUI does not play it.
    pub(super) played: Option<Box<BookMove>>,
}

/// A move that a book plays.
pub(super) struct BookMove {
    /// The game before it.
    pub(super) game: Arc<Game>,
    pub(super) mv: Move,
    pub(super) book: Arc<dyn Book>,
    /// The number of the rule under which the book answers, if there is one.
    pub(super) rule: Option<usize>,
    /// The chance that it had.
    pub(super) chance: f64,
    /// The opening that is announced with it.
    pub(super) opening: Option<Opening>,
    /// What *Book Fresh* is to remember.
    pub(super) choice: Option<Choice>,
}

impl BookMove {
    /// A line for the log.
    pub(super) fn note(&self) -> String {
        let (mv, path) = (self.mv.to_uci(CastlingMode::Standard), self.book.path());
        let rule = self.rule.map(|number| format!(", {}", rule_name(number, path))).unwrap_or_default();
        let fresh = self
            .choice
            .as_ref()
            .map(|Choice { left, choices, .. }| format!(", {left} of {} lines left here", choices.len()));
        let (chance, fresh) = (self.chance * 100.0, fresh.unwrap_or_default());
        format!("book move {mv} from {}, chance {chance:.1}%{rule}{fresh}", path.display())
    }
}

/// A move that was drawn.
pub(super) struct Drawn {
    pub(super) mv: Move,
    /// What *Book Fresh* is to remember if it is played.
    pub(super) choice: Option<Choice>,
}

/// A `go` that the book may answer.
pub(super) struct GoRequest {
    /// The game on the board.
    pub(super) game: Arc<Game>,
    pub(super) go: Go,
    pub(super) line: Vec<u8>,
}

impl GoRequest {
    /// The line of the request when it is sent after so much time.
    pub(super) fn later(&self, used: Duration) -> Vec<u8> {
        shortened(&self.line, self.game.position().chess().turn(), used)
    }
}

/// How long checks may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) search: Duration,
    /// All of them: then the move under check is played.
    all: Duration,
}

impl Times {
    /// The times for a request; `None` if there is no time for a check.
    pub(super) fn within(guard: Duration, clock: Clock, color: Color) -> Option<Self> {
        let left = color.fold_wb(clock.white, clock.black).into_iter().chain(clock.movetime).min();
        let part = left.map(|left| Duration::from_millis(left) / CLOCK_PART);
        // Twice the time: the position is searched once, and up to three moves.
        let all = part.unwrap_or(Duration::MAX).min(guard * 2);
        // A quarter is left for an engine that needs longer than it was given.
        let search = (guard / 2).min(all * 3 / 8);
        (search >= MIN_SEARCH).then_some(Self { search, all })
    }
}

/// What a search of a check has shown.
pub(super) enum Searched {
    /// The value of the position.
    Position,
    /// What the move under check loses.
    Loss(Loss),
    /// Nothing that can be compared.
    Nothing,
}

/// A check that runs.
pub(super) struct Check {
    pub(super) asked: GoRequest,
    /// The move under check.
    pub(super) chosen: Drawn,
    /// Moves that were checked before, and lose too much.
    pub(super) passed_over: Vec<Move>,
    pub(super) began: Duration,
    times: Times,
    /// The value of the position and the child's best move, once it has been searched.
    found: Option<(Value, Option<Move>)>,
    /// The last exact score of the search that runs.
    last_score: Option<Score>,
}

impl Check {
    /// A check that begins at `now`.
    pub(super) fn new(asked: GoRequest, chosen: Drawn, times: Times, now: Duration) -> Self {
        Self { asked, chosen, passed_over: Vec::new(), began: now, times, found: None, last_score: None }
    }

    /// When its time is up.
    pub(super) fn due(&self) -> Duration {
        self.began + self.times.all
    }

    /// The time of the next search; `None` where it would show nothing, or there is no time for it.
    pub(super) fn time_of_search(&self, now: Duration) -> Option<Duration> {
        let is_best = self.found.is_some_and(|(_, best)| best == Some(self.chosen.mv));
        let time = self.times.search.min(self.due().saturating_sub(now) * 3 / 4);
        (!is_best && time >= MIN_SEARCH).then_some(time)
    }

    /// Takes an `info` line of the child.
    pub(super) fn read_score(&mut self, line: &[u8]) {
        self.last_score = Score::parse(line).or(self.last_score);
    }

    /// Takes the `bestmove` line that ends a search.
    pub(super) fn searched(&mut self, line: &[u8]) -> Searched {
        let best = words(line).nth(1).and_then(|mv| UciMove::from_ascii(mv).ok());
        let best = best.and_then(|mv| mv.to_move(self.asked.game.position().chess()).ok());
        let value = self.last_score.take().map(evals::value);
        match (self.found, value) {
            (None, Some(value)) => {
                self.found = Some((value, best));
                Searched::Position
            }
            // An engine that does not know `searchmoves` plays another move.
            (Some((of_position, _)), Some(value)) if best == Some(self.chosen.mv) => {
                Searched::Loss(Loss::new(value, of_position))
            }
            _ => Searched::Nothing,
        }
    }

    /// The request as it is sent later: with the time that is left.
    pub(super) fn later(&self, now: Duration) -> Vec<u8> {
        self.asked.later(now.saturating_sub(self.began))
    }
}

/// A `go` line that is sent later: without `ponder`, and with less time for this side.
fn shortened(line: &[u8], color: Color, used: Duration) -> Vec<u8> {
    let used = i64::try_from(used.as_millis()).unwrap_or(i64::MAX);
    let ours: &[u8] = color.fold_wb(b"wtime", b"btime");
    let mut shorter = Vec::new();
    let mut is_time = false;
    for word in words(line).filter(|word| *word != b"ponder") {
        let time = std::str::from_utf8(word).ok().and_then(|word| word.parse::<i64>().ok());
        match time.filter(|time| is_time && *time > 0) {
            Some(time) => {
                let left = time.saturating_sub(used).max(1);
                shorter.extend_from_slice(left.to_string().as_bytes());
            }
            None => shorter.extend_from_slice(word),
        }
        shorter.push(b' ');
        is_time = word == ours || word == b"movetime";
    }
    shorter.pop();
    shorter.push(b'\n');
    shorter
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn searches_take_half_the_time_and_all_of_them_a_tenth_of_the_clock() {
        let of = |guard, white, movetime| {
            let clock = Clock { white, black: Some(7), movetime };
            let times = Times::within(ms(guard), clock, Color::White);
            times.map(|times| (times.search.as_millis(), times.all.as_millis()))
        };
        assert_eq!(of(500, None, None), Some((250, 1000)));
        assert_eq!(of(500, Some(60_000), None), Some((250, 1000)));
        assert_eq!(of(500, Some(5_000), None), Some((187, 500)));
        assert_eq!(of(500, Some(60_000), Some(1_000)), Some((37, 100)));
        assert_eq!(of(500, Some(100), None), None);
        assert_eq!(of(500, Some(0), None), None);
        assert_eq!(of(9, None, None), None);
        assert!(Times::within(ms(60_000), Clock::default(), Color::Black).is_some());
    }

    proptest! {
        #[test]
        fn no_check_takes_more_than_its_part(guard in 0..=60_000_u64, left: u64, movetime in prop::option::of(0..100_000_u64)) {
            let clock = Clock { white: Some(left), black: None, movetime };
            if let Some(Times { search, all }) = Times::within(ms(guard), clock, Color::White) {
                prop_assert!(all <= ms(left.min(movetime.unwrap_or(u64::MAX))) / 10 && all <= ms(guard) * 2);
                prop_assert!(search * 2 <= all && search * 2 <= ms(guard) && search >= MIN_SEARCH);
            }
        }
    }

    #[test]
    fn a_later_request_has_less_time() {
        let after =
            |line: &str, color| String::from_utf8(shortened(line.as_bytes(), color, ms(300))).unwrap();
        let line = "go ponder wtime 5000  btime 4000 winc 300 binc 200 movestogo 9\r\n";
        assert_eq!(after(line, Color::White), "go wtime 4700 btime 4000 winc 300 binc 200 movestogo 9\n");
        assert_eq!(after(line, Color::Black), "go wtime 5000 btime 3700 winc 300 binc 200 movestogo 9\n");
        assert_eq!(after("go movetime 200 depth 300", Color::White), "go movetime 1 depth 300\n");
        assert_eq!(after("go wtime -5 btime x movetime", Color::White), "go wtime -5 btime x movetime\n");
        assert_eq!(after("go nodes 1000", Color::White), "go nodes 1000\n");
    }

    /// A check of a move from the start, with a tenth of a second for each search.
    fn check(chosen: &str) -> Check {
        let game = Arc::new(Game::start());
        let mv = chosen.parse::<UciMove>().unwrap().to_move(game.position().chess()).unwrap();
        let asked = GoRequest { game, go: Go::default(), line: b"go wtime 1000\n".to_vec() };
        Check::new(asked, Drawn { mv, choice: None }, Times { search: ms(100), all: ms(400) }, ms(50))
    }

    #[test]
    fn the_engines_own_move_is_not_searched_again() {
        let mut check = check("e2e4");
        assert_eq!((check.due(), check.time_of_search(ms(50))), (ms(450), Some(ms(100))));
        check.read_score(b"info depth 9 score cp 30 pv e2e4");
        assert!(matches!(check.searched(b"bestmove e2e4\n"), Searched::Position));
        assert_eq!(check.time_of_search(ms(150)), None);
        assert_eq!(check.later(ms(150)), b"go wtime 900\n");
    }

    #[test]
    fn a_move_that_is_not_the_engines_loses_what_it_is_worth_less() {
        let mut check = check("a2a3");
        check.read_score(b"info depth 9 score cp 30 pv e2e4");
        assert!(matches!(check.searched(b"bestmove e2e4\n"), Searched::Position));
        assert_eq!(check.time_of_search(ms(150)), Some(ms(100)));
        assert_eq!(check.time_of_search(ms(447)), None, "the time is nearly up");
        check.read_score(b"info depth 9 score cp -45 pv a2a3");
        let Searched::Loss(loss) = check.searched(b"bestmove a2a3\n") else { panic!("no loss") };
        assert_eq!(loss.centipawns(), 75);
        // Without a score, or from an engine that plays another move than it should, nothing is known.
        assert!(matches!(check.searched(b"bestmove a2a3\n"), Searched::Nothing));
        check.read_score(b"info depth 9 score cp -45 pv d2d4");
        assert!(matches!(check.searched(b"bestmove d2d4\n"), Searched::Nothing));
    }
}
