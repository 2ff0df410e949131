//! The GUI's questions: each `go` is answered once, in its turn, by the book or by the child.

use log::Level;

use super::guard::Check;
use super::output::BookAnswer;
use super::{Output, Session, WAITING_MAX, is_stop};
use crate::chess::Game;
use crate::uci::{Command, Go, words};

/// The `go` that has not been answered yet.
pub(super) enum Question {
    /// The child's search answers it.
    Child {
        /// What must happen before the answer may be sent.
        until: Until,
        /// A bestmove that came too early.
        early: Option<Vec<u8>>,
    },
    /// `go ponder` in a position that the book answers: the book's move is sent on `ponderhit`.
    Pondering {
        game: Box<Game>,
        go: Go,
        /// The line of the question.
        line: Vec<u8>,
        /// Whether the child ponders too.
        child: bool,
        early: Option<Vec<u8>>,
    },
    /// A move of the book that the child checks.
    Checking(Box<Check>),
    /// The book's answer, which waits for a readyok.
    Due(BookAnswer),
}

/// What the answer to a question waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    Now,
    PonderHit,
    Stop,
}

impl Session {
    pub(super) fn go(&mut self, line: &[u8], rest: &[u8], out: &mut Output) {
        let go = Go::parse(rest);
        if go.perft {
            // A count of moves, not a question: the engine's lines are the answer.
            self.child.counting = true;
            return self.forward(line, out);
        }
        let analysis = go.infinite || go.mate || self.modes.multipv > 1 || self.modes.analysing;
        self.watch_go(&go, analysis, out);
        if self.uses_books()
            && let Some(game) = self.board.game()
        {
            let known = self.books.ask(game, &go, &self.options.policy, &[]);
            if known && analysis {
                let mut shown = Vec::new();
                self.books.advice.list(self.modes.castling, None, None, &mut shown);
                self.say(&shown, out);
            } else if known && go.ponder {
                let game = Box::new(game.clone());
                let child = self.options.ponder;
                self.question =
                    Some(Question::Pondering { game, go, line: line.to_vec(), child, early: None });
                self.trace("the book answers here: its move is sent on ponderhit", out);
                if child {
                    self.forward_go(line, out);
                }
                return;
            } else if known && let Some(chosen) = self.books.draw() {
                if let Some(times) = self.times_of_check(game, &go, chosen) {
                    let question = (game.clone(), go, line.to_vec());
                    return self.begin_check(question, chosen, times, out);
                }
                let answer = self.books.answer(game, chosen, self.modes.castling, &self.options);
                if let Some(answer) = answer {
                    return self.deliver(answer, out);
                }
            } else {
                self.say_refused(out);
            }
            self.trace_rules(out);
            self.trace(
                if analysis { "analysis: the engine answers" } else { "not in the book: the engine answers" },
                out,
            );
        }
        let until = match (go.ponder, go.infinite) {
            (true, _) => Until::PonderHit,
            (false, true) => Until::Stop,
            (false, false) => Until::Now,
        };
        self.question = Some(Question::Child { until, early: None });
        self.forward_go(line, out);
    }

    /// Explains which rules did not let their books answer.
    fn trace_rules(&mut self, out: &mut Output) {
        if let Some(objections) = self.books.advice.objections() {
            self.trace(&objections, out);
        }
    }

    /// Explains which moves are not played because of what they lose.
    pub(super) fn say_refused(&mut self, out: &mut Output) {
        let mut lines = Vec::new();
        self.books.advice.list_refused(self.modes.castling, &mut lines);
        if !lines.is_empty() {
            self.say(&lines, out);
        }
    }

    /// Logs the book's answer, and why other rules were skipped.
    pub(super) fn note_answer(&mut self, out: &mut Output) {
        self.trace_rules(out);
        if log::log_enabled!(Level::Info) {
            out.notes.push((Level::Info, self.books.advice.note()));
        }
    }

    /// Sends the book's answer, after the readyok that the child owes.
    fn deliver(&mut self, answer: BookAnswer, out: &mut Output) {
        self.note_answer(out);
        if self.child.ready_owed > 0 {
            self.question = Some(Question::Due(answer));
        } else {
            self.question = None;
            self.say_book_move(answer, out);
        }
    }

    /// The child has answered `isready`: the book's answer may have waited for it.
    pub(super) fn engine_ready(&mut self, line: &[u8], out: &mut Output) {
        self.child.proofs += 1;
        self.say(line, out);
        self.child.ready_owed = self.child.ready_owed.saturating_sub(1);
        if self.child.ready_owed > 0 {
            return;
        }
        self.child.is_ready = true;
        match self.question.take() {
            Some(Question::Due(answer)) => self.say_book_move(answer, out),
            other => self.question = other,
        }
    }

    pub(super) fn stop(&mut self, line: &[u8], out: &mut Output) {
        match &mut self.question {
            None if self.child.counting => self.child.send(line, out),
            None | Some(Question::Due(_)) => {}
            Some(Question::Pondering { .. }) => self.end_pondering(line, out),
            Some(Question::Checking(_)) => self.end_check(out),
            Some(Question::Child { until, early }) => {
                *until = Until::Now;
                match early.take() {
                    Some(answer) => {
                        self.question = None;
                        self.say_best_move(&answer, out);
                    }
                    None => self.child.stop(line, out),
                }
            }
        }
    }

    /// Whether a question waits for `ponderhit`.
    pub(super) fn ponders(&self) -> bool {
        matches!(
            self.question,
            Some(Question::Pondering { .. } | Question::Child { until: Until::PonderHit, .. })
        )
    }

    pub(super) fn ponderhit(&mut self, line: &[u8], out: &mut Output) {
        self.watch_ponderhit(out);
        match &mut self.question {
            Some(Question::Pondering { .. }) => self.end_pondering(line, out),
            Some(Question::Child { until, early }) => {
                if *until == Until::PonderHit {
                    *until = Until::Now;
                }
                match early.take() {
                    Some(answer) if *until == Until::Now => {
                        self.question = None;
                        self.say_best_move(&answer, out);
                    }
                    kept => {
                        *early = kept;
                        self.child.send(line, out);
                    }
                }
            }
            None | Some(Question::Checking(_) | Question::Due(_)) => {}
        }
    }

    /// `ponderhit` or `stop` while the book answers: sends its move, and abandons the child's search.
    fn end_pondering(&mut self, line: &[u8], out: &mut Output) {
        let Some(Question::Pondering { game, go, line: asked, child, early }) = self.question.take() else {
            return;
        };
        let known = self.uses_books() && self.books.ask(&game, &go, &self.options.policy, &[]);
        match if known { self.books.draw() } else { None } {
            Some(chosen) => {
                if self.child.abandon(out) {
                    self.trace("the child's pondering ends; its bestmove is dropped", out);
                }
                // The child may get another position only if the GUI has sent one meanwhile, against the protocol.
                let on_board = self.board.game().map(|game| game.position().chess());
                let may_check = !is_stop(line) && on_board == Some(game.position().chess());
                let times = if may_check { self.times_of_check(&game, &go, chosen) } else { None };
                if let Some(times) = times {
                    return self.begin_check((*game, go, asked), chosen, times, out);
                }
                if let Some(answer) = self.books.answer(&game, chosen, self.modes.castling, &self.options) {
                    self.deliver(answer, out);
                }
            }
            // The book was changed while the opponent was thinking: the child's search continues as the answer.
            None if child => {
                self.question = Some(Question::Child { until: Until::PonderHit, early });
                if is_stop(line) {
                    self.stop(line, out);
                } else {
                    self.ponderhit(line, out);
                }
            }
            None => {
                let mut go = words(&asked).filter(|word| *word != b"ponder").collect::<Vec<_>>().join(&b' ');
                go.push(b'\n');
                self.question = Some(Question::Child { until: Until::Now, early });
                self.forward_go(&go, out);
                if is_stop(line) {
                    self.stop(line, out);
                }
            }
        }
    }

    /// Makes a line wait for the answer to the question, or for books.
    pub(super) fn wait(&mut self, line: &[u8], out: &mut Output) {
        self.backlog.push(line);
        self.end_if_stuck(out);
    }

    /// Ends a search that only the GUI can end, if so many lines wait for it that the GUI is no longer read.
    fn end_if_stuck(&mut self, out: &mut Output) {
        let waits_for_gui = match &self.question {
            Some(Question::Pondering { .. }) => true,
            Some(Question::Child { until, .. }) => *until != Until::Now,
            Some(Question::Checking(_) | Question::Due(_)) | None => false,
        };
        if waits_for_gui && self.is_full() {
            let room = WAITING_MAX >> 20;
            self.notify(format!("{room} MiB of lines wait for an endless search: it is stopped"), out);
            self.stop(b"stop\n", out);
        }
    }

    /// Handles the lines that have waited for an answer, up to the next `go` that must wait.
    pub(super) fn resume(&mut self, out: &mut Output) {
        while !out.quit && !self.books.are_awaited() {
            let Some(next) = self.backlog.front() else { break };
            if self.question.is_some() && Command::parse(next).0 == Command::Go {
                break;
            }
            let Some(line) = self.backlog.pop() else { break };
            let (command, text, rest) = Command::parse(&line);
            if command == Command::Stop {
                self.stops_waiting = self.stops_waiting.saturating_sub(1);
            }
            self.obey(command, text, rest, out);
            if command == Command::Go && self.stops_waiting > 0 {
                self.stop(b"stop\n", out);
            }
            self.end_if_stuck(out);
        }
    }

    /// Handles the lines that have waited for books.
    pub(super) fn resume_after_books(&mut self, out: &mut Output) {
        self.resume(out);
        if self.books.are_awaited() {
            return;
        }
        // Even if a `go` makes the rest wait, each `isready` is answered.
        let waiting = std::mem::take(&mut self.backlog);
        for line in waiting.lines() {
            let (command, text, rest) = Command::parse(line);
            if command == Command::IsReady {
                self.obey(command, text, rest, out);
            } else {
                self.backlog.push(line);
            }
        }
        if self.leaving {
            self.gui_gone(out);
        }
    }
}
