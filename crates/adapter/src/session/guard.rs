//! The guard: the child checks a book move of which nothing is known before it is played.
//!
//! It searches the position, then the position with that move alone, each for half the time of *Book Guard*. A move that
//! loses too much is passed over for the next choice, and in the end the child answers the request itself. The GUI is
//! sent nothing of these searches. Whatever happens meanwhile, the move under check is the answer: at `stop`, when the time is
//! up, and when the engine ends.

use std::sync::Arc;
use std::time::Duration;

use log::Level;
use shakmaty::{Move, Position as _};

use tabiya_book::choose::Loss;
use tabiya_uci::info_string;

use super::advice::refusal;
use super::request::{Check, Drawn, GoRequest, Request, Searched, Times, Until};
use super::{Output, Phase, Session};

/// The most moves that are passed over for one answer.
const MAX_PASSED_OVER: usize = 3;

impl Session {
    /// How long the child may check a move that was drawn for this request; `None` if it is played unchecked.
    pub(super) fn times_of_check(&self, asked: &GoRequest, chosen: Move) -> Option<Times> {
        if asked.go.searchmoves.is_some() || !self.child.may_check() || !self.books.advice.guards(chosen) {
            return None;
        }
        let chess = asked.game.position().chess();
        let guard = Duration::from_millis(self.books.advice.policy.guard.into());
        Times::within(guard, asked.go.clock, chess.turn()).filter(|_| chess.legal_moves().len() > 1)
    }

    /// Starts to check a move that was drawn for the request about the position on the board.
    pub(super) fn begin_check(&mut self, asked: GoRequest, chosen: Drawn, times: Times, out: &mut Output) {
        self.gui.trace("the engine checks the book's move", out);
        let search = format!("go movetime {}\n", times.search.as_millis());
        let check = Check::new(asked, chosen, times, self.watch.now);
        self.request = Some(Request::Checking(Box::new(check)));
        self.forward_go(search.as_bytes(), out);
    }

    /// The check that runs.
    pub(super) fn check(&mut self) -> Option<&mut Check> {
        match &mut self.request {
            Some(Request::Checking(check)) => Some(check),
            _ => None,
        }
    }

    /// The time, as in [`Session::at`], at which [`Session::time_is_up`] must be called; `None` if nothing depends on it.
    pub fn due(&self) -> Option<Duration> {
        match &self.request {
            Some(Request::Checking(check)) => Some(check.due()),
            _ => None,
        }
    }

    /// Ends a check whose time is up, with the move under check. Does nothing before [`Session::due`].
    pub fn time_is_up(&mut self, out: &mut Output) {
        if self.phase == Phase::Dead || out.quit || self.due().is_none_or(|due| self.watch.now < due) {
            return;
        }
        out.note(Level::Warn, "the engine did not finish checking a book move in time: the move is played");
        self.end_check(out);
        self.child.is_late = self.child.is_abandoned();
        self.resume(out);
    }

    /// Ends a check, if one runs, with the move under check. The child's bestmove will be dropped.
    pub(super) fn end_check(&mut self, out: &mut Output) {
        if self.check().is_some() {
            self.child.abandon(out);
            self.play_unchecked(out);
        }
    }

    /// Answers with the move under check or the one that waits for `readyok`, if there is one.
    pub(super) fn play_unchecked(&mut self, out: &mut Output) {
        match self.request.take() {
            Some(Request::Checking(check)) => self.play_checked(*check, out),
            Some(Request::Due(answer)) => self.send_book_move(answer, out),
            other => self.request = other,
        }
    }

    /// The child has ended a search of the check.
    pub(super) fn checked(&mut self, mut check: Box<Check>, line: &[u8], out: &mut Output) {
        match check.searched(line) {
            Searched::Position => self.check_chosen(check, out),
            Searched::Loss(loss) if self.books.advice.policy.refuses(loss) => {
                self.pass_over(check, loss, out)
            }
            // Without a score there is nothing to say against the move.
            Searched::Loss(_) | Searched::Nothing => self.play_checked(*check, out),
        }
    }

    /// Searches the move under check, if that can change anything and there is time; else plays it.
    fn check_chosen(&mut self, check: Box<Check>, out: &mut Output) {
        // The next choice may be of another book, under another policy.
        let time = check.time_of_search(self.watch.now).filter(|_| self.books.advice.guards(check.chosen.mv));
        let Some(time) = time else { return self.play_checked(*check, out) };
        let mv = check.chosen.mv.to_uci(self.modes.castling);
        let search = format!("go movetime {} searchmoves {mv}\n", time.as_millis());
        self.request = Some(Request::Checking(check));
        // The child has the position.
        self.child.follow_up(search.as_bytes(), self.watch.now, out);
    }

    /// The move under check loses too much: the next choice is checked, or the child answers.
    fn pass_over(&mut self, mut check: Box<Check>, loss: Loss, out: &mut Output) {
        let (mut text, mut line) = (String::new(), Vec::new());
        refusal(&mut text, check.chosen.mv, loss, self.modes.castling);
        text.push_str(" in the engine's check");
        info_string(&mut line, &text);
        self.gui.send(&line, out);
        out.note(Level::Info, text);
        check.passed_over.push(check.chosen.mv);
        if let Some(scope) = self.scope(&check.asked.game) {
            self.books.lines.refused(scope, check.asked.game.position(), check.chosen.mv);
        }
        let known = self.uses_books()
            && check.passed_over.len() < MAX_PASSED_OVER
            && self.books.ask(&check.asked, &self.options.policy, &check.passed_over);
        match if known { self.draw(&check.asked.game) } else { None } {
            Some(chosen) => {
                check.chosen = chosen;
                self.check_chosen(check, out);
            }
            None => {
                self.send_refused(out);
                self.hand_over(&check.later(self.watch.now), out);
            }
        }
    }

    /// Answers with a move of the book. It does not wait for a readyok: those that were owed came before the check.
    fn play_checked(&mut self, check: Check, out: &mut Output) {
        let Check { asked, chosen, .. } = check;
        let game = Arc::clone(&asked.game);
        match self.books.answer(game, chosen, self.modes.castling, self.options.score) {
            Some(answer) => self.send_book_move(answer, out),
            None => self.hand_over(&asked.later(self.watch.now.saturating_sub(check.began)), out),
        }
    }

    /// The child answers the request, with the time that is left.
    fn hand_over(&mut self, go: &[u8], out: &mut Output) {
        self.gui.trace("the book's moves are passed over: the engine answers", out);
        self.request = Some(Request::Child { until: Until::Now, early: None, end: None });
        self.child.follow_up(go, self.watch.now, out);
    }
}
