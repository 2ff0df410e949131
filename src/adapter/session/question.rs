//! The GUI's questions: each `go` is answered once, in its turn, by the book or by the child.

use log::Level;

use super::{Books, Child, Output, Question, Session, Until, WAITING_MAX, is_stop};
use crate::chess::Game;
use crate::uci::{Command, Go, words};

impl Session {
    pub(super) fn go(&mut self, line: &[u8], rest: &[u8], out: &mut Output) {
        let go = Go::parse(rest);
        if go.perft {
            // A count of moves, and no question: the engine's lines are the answer.
            self.counting = true;
            return self.forward(line, out);
        }
        let analysis = go.infinite || go.mate || self.multipv > 1 || self.analysing;
        self.watch_go(&go, analysis, out);
        let own_book = self.options.own_book && self.books == Books::Open;
        if let Some(game) = self.board.game().filter(|_| own_book) {
            let known = self.advice.ask(&mut self.shelf, game, &go, &self.options.policy);
            if known && analysis {
                let mut shown = Vec::new();
                self.advice.show(self.mode, &mut shown);
                self.say(&shown, out);
            } else if known && go.ponder {
                let game = Box::new(game.clone());
                let child = self.options.ponder;
                let kept = line.to_vec();
                self.question = Some(Question::Pondering { game, go, line: kept, child, early: None });
                self.trace("the book answers here: its move is due on ponderhit", out);
                if child {
                    self.forward_go(line, out);
                }
                return;
            } else if known && let Some(answer) = self.book_answer(None, out) {
                return self.deliver(answer, out);
            }
            self.trace(
                if analysis { "analysis: the engine's" } else { "not in the book: the engine's" },
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

    /// The lines that answer a question from the book, for the game on the board or the one given.
    pub(super) fn book_answer(&mut self, game: Option<&Game>, out: &mut Output) -> Option<Vec<u8>> {
        let game = game.or(self.board.game())?;
        let mut answer = Vec::with_capacity(512);
        let score = self.options.score;
        if !self.advice.answer(&mut self.shelf, game, self.mode, score, &mut self.rng, &mut answer) {
            return None;
        }
        if log::log_enabled!(Level::Info) {
            out.notes.push((Level::Info, self.advice.note()));
        }
        Some(answer)
    }

    /// Answers the GUI's question from the book, after the readyok that is owed.
    pub(super) fn deliver(&mut self, answer: Vec<u8>, out: &mut Output) {
        if self.ready_owed > 0 {
            self.question = Some(Question::Due(answer));
        } else {
            self.question = None;
            self.answer(&answer, true, out);
        }
    }

    pub(super) fn stop(&mut self, line: &[u8], out: &mut Output) {
        match &mut self.question {
            None if self.counting => self.send(line, out),
            None | Some(Question::Due(_)) => {}
            Some(Question::Pondering { .. }) => self.end_pondering(line, out),
            Some(Question::Child { until, early }) => {
                *until = Until::Now;
                match early.take() {
                    Some(answer) => {
                        self.question = None;
                        self.answer(&answer, false, out);
                    }
                    None => self.stop_child(line, out),
                }
            }
        }
    }

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
                        self.answer(&answer, false, out);
                    }
                    kept => {
                        *early = kept;
                        self.send(line, out);
                    }
                }
            }
            None | Some(Question::Due(_)) => {}
        }
    }

    /// `ponderhit` or `stop` while the book answers: its move at once, and the child's search ends in vain.
    pub(super) fn end_pondering(&mut self, line: &[u8], out: &mut Output) {
        let Some(Question::Pondering { game, go, line: asked, child, early }) = self.question.take() else {
            return;
        };
        let own_book = self.options.own_book && self.books == Books::Open;
        let known = own_book && self.advice.ask(&mut self.shelf, &game, &go, &self.options.policy);
        let answer = if known { self.book_answer(Some(&game), out) } else { None };
        match answer {
            Some(answer) => {
                if let Child::Searching { stopped: false } = self.child {
                    self.write(b"stop\n", out);
                    self.child = Child::InVain;
                    self.trace("the child's pondering ends; its bestmove is swallowed", out);
                } else {
                    self.unhold_go();
                }
                self.deliver(answer, out);
            }
            // The book was changed while the opponent thought: the child's search goes on as the answer.
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

    /// Puts a line behind the question that is open, or until books are open.
    pub(super) fn wait(&mut self, line: &[u8], out: &mut Output) {
        self.backlog.push(line);
        self.end_if_stuck(out);
    }

    /// Ends a search that only the GUI can end, once so much waits behind it that the GUI is not read any more.
    fn end_if_stuck(&mut self, out: &mut Output) {
        let waits_for_gui = match &self.question {
            Some(Question::Pondering { .. }) => true,
            Some(Question::Child { until, .. }) => *until != Until::Now,
            Some(Question::Due(_)) | None => false,
        };
        if waits_for_gui && self.is_full() {
            let room = WAITING_MAX >> 20;
            self.notify(format!("{room} MiB of lines wait for a search without end: it is stopped"), out);
            self.stop(b"stop\n", out);
        }
    }

    /// Works off what waited for an answer: up to the next `go` that must wait on.
    pub(super) fn resume(&mut self, out: &mut Output) {
        while !out.quit && self.books != Books::Awaited {
            let Some(next) = self.backlog.front() else { break };
            if self.question.is_some() && Command::of(next).0 == Command::Go {
                break;
            }
            let Some(line) = self.backlog.pop() else { break };
            let (command, text, rest) = Command::of(&line);
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

    /// Works off what waited for books.
    pub(super) fn resume_after_books(&mut self, out: &mut Output) {
        self.resume(out);
        if self.awaits_books() {
            return;
        }
        // Where a `go` keeps the rest waiting, each `isready` is answered all the same.
        let waiting = std::mem::take(&mut self.backlog);
        for line in waiting.lines() {
            let (command, text, rest) = Command::of(line);
            if command == Command::IsReady {
                self.obey(command, text, rest, out);
            } else {
                self.backlog.push(line);
            }
        }
    }
}
