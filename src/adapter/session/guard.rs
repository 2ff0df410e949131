//! The guard: the child checks a book move of which nothing is known before it is played.
//!
//! It searches the position, then the position with that move alone, each for half the time of *Book Guard*. A move that
//! loses too much is passed over for the next choice, and in the end the child answers the question itself. The GUI hears
//! nothing of these searches. Whatever happens meanwhile, the move under check is the answer: at `stop`, when the time is
//! up, and when the engine ends.

use std::time::Duration;

use log::Level;
use shakmaty::uci::UciMove;
use shakmaty::{Color, Move, Position as _};

use super::advice::refusal;
use super::questions::{Question, Until};
use super::{Output, Session};
use crate::chess::{Game, Value};
use crate::choose::Loss;
use crate::evals;
use crate::uci::{Clock, Go, Score, info_string, words};

/// The most moves that are passed over for one answer.
const PASSED_OVER_MAX: usize = 3;

/// Checks take this part of our clock at most.
const CLOCK_PART: u32 = 10;

/// The least time of a search that is worth starting.
const SEARCH_MIN: Duration = Duration::from_millis(5);

/// How long checks may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// Each search.
    search: Duration,
    /// All of them: then the move under check is played.
    all: Duration,
}

impl Times {
    /// The times for a question; `None` if there is no time for a check.
    fn of(guard: Duration, clock: Clock, color: Color) -> Option<Self> {
        let left = color.fold_wb(clock.white, clock.black).into_iter().chain(clock.movetime).min();
        let part = left.map(|left| Duration::from_millis(left) / CLOCK_PART);
        // Twice the time: the position is searched once, and up to three moves.
        let all = part.unwrap_or(Duration::MAX).min(guard * 2);
        // A quarter is left for an engine that needs longer than it was given.
        let search = (guard / 2).min(all * 3 / 8);
        (search >= SEARCH_MIN).then_some(Self { search, all })
    }
}

/// A check that runs.
pub(super) struct Check {
    /// The question: the game, its arguments and its line.
    game: Game,
    go: Go,
    line: Vec<u8>,
    /// The move under check.
    chosen: Move,
    began: Duration,
    times: Times,
    /// The value of the position and the child's best move, once it has been searched.
    found: Option<(Value, Option<Move>)>,
    /// The last exact score of the search that runs.
    heard: Option<Score>,
    passed_over: Vec<Move>,
}

impl Session {
    /// How long the child may check a move that was drawn for this question; `None` if it is played unchecked.
    pub(super) fn times_of_check(&self, game: &Game, go: &Go, chosen: Move) -> Option<Times> {
        let policy = &self.books.advice.policy;
        if !policy.guards() || go.searchmoves.is_some() || !self.child.may_check() {
            return None;
        }
        let chess = game.position().chess();
        if self.books.advice.knows(chosen) || chess.legal_moves().len() == 1 {
            return None;
        }
        Times::of(Duration::from_millis(policy.guard.into()), go.clock, chess.turn())
    }

    /// Starts to check a move that was drawn for the question about the position on the board.
    pub(super) fn begin_check(
        &mut self,
        (game, go, line): (Game, Go, Vec<u8>),
        chosen: Move,
        times: Times,
        out: &mut Output,
    ) {
        self.trace("the engine checks the book's move", out);
        let began = self.play.watch.now;
        let passed_over = Vec::new();
        let check = Check { game, go, line, chosen, began, times, found: None, heard: None, passed_over };
        self.question = Some(Question::Checking(Box::new(check)));
        let search = format!("go movetime {}\n", times.search.as_millis());
        self.forward_go(search.as_bytes(), out);
    }

    /// Whether the child checks a move.
    pub(super) fn is_checking(&self) -> bool {
        matches!(self.question, Some(Question::Checking(_)))
    }

    /// Takes an `info` line of the child if it belongs to a check; the GUI does not get it.
    pub(super) fn is_heard_by_check(&mut self, line: &[u8]) -> bool {
        let Some(Question::Checking(check)) = &mut self.question else { return false };
        check.heard = Score::parse(line).or(check.heard);
        true
    }

    /// The time, as in [`Session::at`], at which [`Session::time_is_up`] must be called; `None` if nothing depends on it.
    pub fn due(&self) -> Option<Duration> {
        match &self.question {
            Some(Question::Checking(check)) => Some(check.began + check.times.all),
            _ => None,
        }
    }

    /// Ends a check whose time is up, with the move under check. Does nothing before [`Session::due`].
    pub fn time_is_up(&mut self, out: &mut Output) {
        if self.dead || out.quit || self.due().is_none_or(|due| self.play.watch.now < due) {
            return;
        }
        let what = "the engine did not finish the check of a book move in time: the move is played";
        out.notes.push((Level::Warn, what.to_owned()));
        self.end_check(out);
        self.child.is_late = self.child.is_abandoned();
        self.resume(out);
    }

    /// Ends a check, if one runs, whatever the time.
    pub(crate) fn give_up_check(&mut self, out: &mut Output) {
        self.end_check(out);
        self.resume(out);
    }

    /// Ends a check, if one runs, with the move under check. The child's bestmove will be dropped.
    pub(super) fn end_check(&mut self, out: &mut Output) {
        if self.is_checking() {
            self.child.abandon(out);
            self.play_unchecked(out);
        }
    }

    /// Answers with the move under check, if there is one.
    pub(super) fn play_unchecked(&mut self, out: &mut Output) {
        match self.question.take() {
            Some(Question::Checking(check)) => self.play_checked(*check, out),
            other => self.question = other,
        }
    }

    /// The child has ended a search of the check.
    pub(super) fn checked(&mut self, line: &[u8], out: &mut Output) {
        let mut check = match self.question.take() {
            Some(Question::Checking(check)) => check,
            other => return self.question = other,
        };
        let best = words(line).nth(1).and_then(|mv| UciMove::from_ascii(mv).ok());
        let best = best.and_then(|mv| mv.to_move(check.game.position().chess()).ok());
        let value = check.heard.take().map(evals::value);
        match (check.found, value) {
            (None, Some(value)) => {
                check.found = Some((value, best));
                self.check_chosen(check, out);
            }
            // An engine that does not know `searchmoves` plays another move.
            (Some((of_position, _)), Some(value)) if best == Some(check.chosen) => {
                let loss = Loss::new(value, of_position);
                if self.books.advice.policy.refuses(loss) {
                    self.pass_over(check, loss, out);
                } else {
                    self.play_checked(*check, out);
                }
            }
            // Without a score there is nothing to say against the move.
            _ => self.play_checked(*check, out),
        }
    }

    /// Searches the move under check, if that can change anything and there is time; else plays it.
    fn check_chosen(&mut self, check: Box<Check>, out: &mut Output) {
        let due = check.began + check.times.all;
        let left = due.saturating_sub(self.play.watch.now);
        let time = check.times.search.min(left * 3 / 4);
        let is_best = check.found.is_some_and(|(_, best)| best == Some(check.chosen));
        // The next choice may be of another book, under another policy.
        let advice = &self.books.advice;
        if is_best || time < SEARCH_MIN || !advice.policy.guards() || advice.knows(check.chosen) {
            return self.play_checked(*check, out);
        }
        let mv = check.chosen.to_uci(self.modes.castling);
        let search = format!("go movetime {} searchmoves {mv}\n", time.as_millis());
        self.question = Some(Question::Checking(check));
        // The child has the position.
        self.child.follow_up(search.as_bytes(), self.play.watch.now, out);
    }

    /// The move under check loses too much: the next choice is checked, or the child answers.
    fn pass_over(&mut self, mut check: Box<Check>, loss: Loss, out: &mut Output) {
        let (mut text, mut line) = (String::new(), Vec::new());
        refusal(&mut text, check.chosen, loss, self.modes.castling);
        text.push_str(" in the engine's check");
        info_string(&mut line, &text);
        self.say(&line, out);
        out.notes.push((Level::Info, text));
        check.passed_over.push(check.chosen);
        let known = self.uses_books()
            && check.passed_over.len() < PASSED_OVER_MAX
            && self.books.ask(&check.game, &check.go, &self.options.policy, &check.passed_over);
        match if known { self.books.draw() } else { None } {
            Some(chosen) => {
                check.chosen = chosen;
                self.check_chosen(check, out);
            }
            None => {
                self.say_refused(out);
                self.hand_over(&check, out);
            }
        }
    }

    /// Answers with a move of the book. It does not wait for a readyok: those that were owed came before the check.
    fn play_checked(&mut self, check: Check, out: &mut Output) {
        let answer = self.books.answer(&check.game, check.chosen, self.modes.castling, &self.options);
        match answer {
            Some(answer) => {
                self.note_answer(out);
                self.say_book_move(answer, out);
            }
            None => self.hand_over(&check, out),
        }
    }

    /// The child answers the question, with the time that is left.
    fn hand_over(&mut self, check: &Check, out: &mut Output) {
        self.trace("the book's moves are passed over: the engine answers", out);
        let used = self.play.watch.now.saturating_sub(check.began);
        let color = check.game.position().chess().turn();
        self.question = Some(Question::Child { until: Until::Now, early: None });
        self.child.follow_up(&shortened(&check.line, color, used), self.play.watch.now, out);
    }
}

/// A `go` line that is asked later: without `ponder`, and with less time for this side.
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
            let times = Times::of(ms(guard), clock, Color::White);
            times.map(|times| (times.search.as_millis(), times.all.as_millis()))
        };
        assert_eq!(of(500, None, None), Some((250, 1000)));
        assert_eq!(of(500, Some(60_000), None), Some((250, 1000)));
        assert_eq!(of(500, Some(5_000), None), Some((187, 500)));
        assert_eq!(of(500, Some(60_000), Some(1_000)), Some((37, 100)));
        assert_eq!(of(500, Some(100), None), None);
        assert_eq!(of(500, Some(0), None), None);
        assert_eq!(of(9, None, None), None);
        assert!(Times::of(ms(60_000), Clock::default(), Color::Black).is_some());
    }

    proptest! {
        #[test]
        fn no_check_takes_more_than_its_part(guard in 0..=60_000_u64, left: u64, movetime in prop::option::of(0..100_000_u64)) {
            let clock = Clock { white: Some(left), black: None, movetime };
            if let Some(Times { search, all }) = Times::of(ms(guard), clock, Color::White) {
                prop_assert!(all <= ms(left.min(movetime.unwrap_or(u64::MAX))) / 10 && all <= ms(guard) * 2);
                prop_assert!(search * 2 <= all && search * 2 <= ms(guard) && search >= SEARCH_MIN);
            }
        }
    }

    #[test]
    fn a_later_question_has_less_time() {
        let after =
            |line: &str, color| String::from_utf8(shortened(line.as_bytes(), color, ms(300))).unwrap();
        let line = "go ponder wtime 5000  btime 4000 winc 300 binc 200 movestogo 9\r\n";
        assert_eq!(after(line, Color::White), "go wtime 4700 btime 4000 winc 300 binc 200 movestogo 9\n");
        assert_eq!(after(line, Color::Black), "go wtime 5000 btime 3700 winc 300 binc 200 movestogo 9\n");
        assert_eq!(after("go movetime 200 depth 300", Color::White), "go movetime 1 depth 300\n");
        assert_eq!(after("go wtime -5 btime x movetime", Color::White), "go wtime -5 btime x movetime\n");
        assert_eq!(after("go nodes 1000", Color::White), "go nodes 1000\n");
    }
}
