//! The GUI's requests: each `go` is answered once, in its turn, by the book or by the child.

use std::sync::Arc;
use std::time::Duration;

use log::Level;
use shakmaty::Position as _;

use tabiya_chess::Game;
use tabiya_uci::{Command, Go};

use super::backlog::is_stop;
use super::child::SearchState;
use super::event::{Event, Silence};
use super::lines::Scope;
use super::request::{BookAnswer, BookMove, Drawn, EndOfLine, GoRequest, Request, Until};
use super::watch::Answer;
use super::{MAX_WAITING, Output, Session, lossy};

/// What becomes of a move that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// It is checked if there is time, then played.
    Check,
    Play,
    /// It answers a request about a position that did not come.
    Miss,
}

impl Session {
    pub(super) fn go(&mut self, line: &[u8], rest: &[u8], out: &mut Output) {
        let go = Go::parse(rest);
        if go.perft {
            // A count of moves, not a request: the engine's lines are the answer.
            self.child.counting = true;
            return self.forward(line, out);
        }
        self.note_idle(out);
        let analysis = go.infinite || go.mate || self.modes.are_analysis();
        let until = match (go.ponder, go.infinite) {
            (true, _) => Until::PonderHit,
            (false, true) => Until::Stop,
            (false, false) => Until::Now,
        };
        self.watch_go(&go, analysis);
        let mut end = None;
        self.silence = match self.board.game() {
            _ if !self.options.own_book => Silence::Off,
            _ if self.is_other_variant() => Silence::Variant,
            _ if analysis => Silence::Analysis,
            None => Silence::Position,
            Some(_) => Silence::NoMove,
        };
        if self.uses_books()
            && let Some(game) = self.board.shared_game()
        {
            let asked = GoRequest { game, go, line: line.to_vec() };
            let known = self.books.ask(&asked, &self.options.policy, &[]);
            if !known && !analysis {
                let for_once = self.books.advice.is_cut;
                self.silence = if for_once { Silence::ForOnce } else { Silence::NoMove };
                let ended = |scope| Box::new(EndOfLine { game: Arc::clone(&asked.game), scope, for_once });
                end = self.scope(&asked.game).map(ended);
            }
            if known && !analysis && asked.go.ponder {
                let child = self.options.ponder;
                self.request = Some(Request::Pondering { asked: Box::new(asked), child, early: None });
                self.gui.trace("the book answers here: its move is sent on ponderhit", out);
                if child {
                    self.forward_go(line, out);
                }
                return;
            }
            self.explain_silence(&asked, known, out);
            if known && !analysis && self.play_drawn(asked, Use::Check, out) {
                return;
            }
        } else {
            self.trace_silence(None, out);
        }
        if until == Until::Now {
            self.end_line(end.take(), out);
        }
        self.request = Some(Request::Child { until, early: None, end });
        self.forward_go(line, out);
    }

    /// Answers with one of the moves that [`Books::ask`](super::books::Books::ask) found, after the readyok that the child
    /// owes, or lets the child check it first if it may; returns whether there is a move.
    fn play_drawn(&mut self, asked: GoRequest, use_of_move: Use, out: &mut Output) -> bool {
        let Some(chosen) = self.draw(&asked.game) else { return false };
        if use_of_move == Use::Check
            && let Some(times) = self.times_of_check(&asked, chosen.mv)
        {
            self.begin_check(asked, chosen, times, out);
            return true;
        }
        let answer = self.books.answer(asked.game, chosen, self.modes.castling, self.options.score);
        let Some(mut answer) = answer else { return false };
        if use_of_move == Use::Miss {
            answer.played = None;
        }
        if self.child.ready_owed > 0 {
            self.request = Some(Request::Due(answer));
        } else {
            self.send_book_move(answer, out);
        }
        true
    }

    /// Draws one of the moves that [`Books::ask`](super::books::Books::ask) found.
    pub(super) fn draw(&mut self, game: &Game) -> Option<Drawn> {
        let scope = self.scope(game);
        self.books.draw(game, scope)
    }

    /// Whose lines a game belongs to; `None` if *Book Fresh* is off.
    pub(super) fn scope(&self, game: &Game) -> Option<Scope> {
        let color = game.position().chess().turn();
        let player = || (self.name.player(), self.engine_options.configured_values());
        self.options.fresh.then(|| self.books.scope(player(), color, &self.options.policy))
    }

    /// A line of the books ends here, or is cut short.
    fn end_line(&mut self, end: Option<Box<EndOfLine>>, out: &mut Output) {
        if let Some(EndOfLine { game, scope, for_once }) = end.as_deref() {
            self.books.lines.silent(*scope, game.position(), *for_once);
            self.say_lines(out);
        }
    }

    /// Lets other processes know what was played.
    fn say_lines(&mut self, out: &mut Output) {
        out.lines.append(&mut self.books.lines.take_unsaid());
        if std::mem::take(&mut self.books.lines.is_full) && !std::mem::replace(&mut self.lines_reported, true)
        {
            let what = "Book Fresh: no more lines can be remembered: they may come again";
            self.gui.notify(what.to_owned(), out);
        }
    }

    /// Shows what the books have to say of a request that the engine answers, and explains why it does.
    fn explain_silence(&mut self, asked: &GoRequest, known: bool, out: &mut Output) {
        if known && self.silence == Silence::Analysis {
            let mut shown = Vec::new();
            self.books.advice.list(self.modes.castling, None, None, &mut shown);
            self.gui.send(&shown, out);
        } else if known {
            return;
        } else {
            self.send_refused(out);
        }
        self.trace_rules(out);
        self.trace_silence(Some(asked), out);
    }

    /// Explains why the engine answers: a request about which the books were asked may have met limits.
    fn trace_silence(&mut self, asked: Option<&GoRequest>, out: &mut Output) {
        if !self.gui.is_traced() {
            return;
        }
        let asked = asked.filter(|_| matches!(self.silence, Silence::NoMove | Silence::ForOnce));
        let refused = asked.map(|asked| self.books.refused(asked, &self.options.policy)).unwrap_or_default();
        let mut why: Vec<String> = refused.iter().map(ToString::to_string).collect();
        if why.is_empty() || self.silence == Silence::ForOnce {
            why.insert(0, self.silence.to_string());
        }
        self.gui.trace(&format!("{}: the engine answers", why.join("; ")), out);
    }

    /// Explains which rules did not let their books answer.
    fn trace_rules(&mut self, out: &mut Output) {
        if let Some(objections) = self.books.advice.objections() {
            self.gui.trace(&objections, out);
        }
    }

    /// Explains which moves are not played because of what they lose.
    pub(super) fn send_refused(&mut self, out: &mut Output) {
        let mut lines = Vec::new();
        self.books.advice.list_refused(self.modes.castling, &mut lines);
        if !lines.is_empty() {
            self.gui.send(&lines, out);
        }
    }

    /// Answers the GUI's request with a move of the book, and remembers it if it is played: nothing else does.
    pub(super) fn send_book_move(&mut self, answer: BookAnswer, out: &mut Output) {
        let BookAnswer { lines, mv, played } = answer;
        self.request = None;
        self.trace_rules(out);
        self.gui.send(&lines, out);
        self.books.reuse(lines);
        if let Some(played) = played {
            self.books.played(&played, &self.options.policy);
            self.say_lines(out);
            let BookMove { book, rule, chance, .. } = &*played;
            let file = book.path().to_owned();
            out.events.push(Event::Book { file, rule: *rule, chance: *chance });
            if log::log_enabled!(Level::Info) {
                out.note(Level::Info, played.note());
            }
        }
        self.watch.answered(Answer::Book(mv));
        self.books.look(out);
    }

    /// Answers the GUI's request with the engine's `bestmove` line.
    pub(super) fn send_best_move(&mut self, line: &[u8], out: &mut Output) {
        self.request = None;
        self.gui.send(line, out);
        out.events.push(Event::Engine { why: self.silence });
        self.watch.answered(Answer::Engine(line));
        self.books.look(out);
    }

    pub(super) fn engine_best_move(&mut self, line: &[u8], out: &mut Output) {
        // Read together with the bestmove before: the child cannot have seen the new search.
        if self.child.has_not_seen_search(self.watch.now) {
            return out.note(Level::Warn, format!("dropped a second answer: {}", lossy(line)));
        }
        match self.child.ended(out) {
            SearchState::Running | SearchState::Stopped => self.answer_of_child(line, out),
            SearchState::Abandoned => {}
            // It has treated `go perft` as a search.
            SearchState::Idle if std::mem::take(&mut self.child.counting) => self.gui.send(line, out),
            SearchState::Idle => {
                out.note(Level::Warn, format!("dropped an unexpected line: {}", lossy(line)))
            }
        }
    }

    /// Answers the GUI's request with the bestmove of the child, or keeps it until the answer may be sent.
    fn answer_of_child(&mut self, line: &[u8], out: &mut Output) {
        match self.request.take() {
            Some(Request::Child { until: Until::Now, .. }) => self.send_best_move(line, out),
            Some(Request::Checking(check)) => self.checked(check, line, out),
            mut other => {
                if let Some(Request::Child { early, .. } | Request::Pondering { early, .. }) = &mut other {
                    *early = Some(line.to_vec());
                    out.note(Level::Warn, format!("held back, too early: {}", lossy(line)));
                }
                self.request = other;
            }
        }
    }

    /// Forwards a line, after the position that the child needs first.
    pub(super) fn forward(&mut self, line: &[u8], out: &mut Output) {
        // No position is sent during a search; the next go brings it.
        if !self.child.is_to_search() {
            self.send_position(out);
        }
        self.child.send(line, out);
    }

    pub(super) fn forward_go(&mut self, line: &[u8], out: &mut Output) {
        self.send_position(out);
        self.child.send_go(line, out);
    }

    fn send_position(&mut self, out: &mut Output) {
        if !self.board.sent {
            self.board.sent = true;
            self.child.send(self.board.line(), out);
        }
    }

    /// The child has answered `isready`: the book's answer may have waited for it.
    pub(super) fn engine_ready(&mut self, line: &[u8], out: &mut Output) {
        self.gui.send(line, out);
        self.books.look(out);
        if !self.child.answered_ready() {
            return;
        }
        match self.request.take() {
            Some(Request::Due(answer)) => self.send_book_move(answer, out),
            other => self.request = other,
        }
    }

    pub(super) fn stop(&mut self, line: &[u8], out: &mut Output) {
        match &mut self.request {
            None if self.child.counting => self.child.send(line, out),
            None | Some(Request::Due(_)) => {}
            Some(Request::Pondering { .. }) => self.end_pondering(line, out),
            Some(Request::Checking(_)) => self.end_check(out),
            Some(Request::Child { until, early, .. }) => {
                *until = Until::Now;
                match early.take() {
                    Some(answer) => self.send_best_move(&answer, out),
                    None => self.child.stop(line, out),
                }
            }
        }
    }

    /// Whether a request waits for `ponderhit`.
    pub(super) fn ponders(&self) -> bool {
        matches!(
            self.request,
            Some(Request::Pondering { .. } | Request::Child { until: Until::PonderHit, .. })
        )
    }

    pub(super) fn ponderhit(&mut self, line: &[u8], out: &mut Output) {
        self.watch.ponderhit(self.learns().then_some(&self.books.set));
        match &mut self.request {
            Some(Request::Pondering { .. }) => self.end_pondering(line, out),
            Some(Request::Child { until, early, end }) => {
                if *until == Until::PonderHit {
                    *until = Until::Now;
                }
                let (early, end) = (early.take_if(|_| *until == Until::Now), end.take());
                self.end_line(end, out);
                match early {
                    Some(answer) => self.send_best_move(&answer, out),
                    None => self.child.send(line, out),
                }
            }
            None | Some(Request::Checking(_) | Request::Due(_)) => {}
        }
    }

    /// `ponderhit` or `stop` while the book answers: sends its move, and abandons the child's search.
    fn end_pondering(&mut self, line: &[u8], out: &mut Output) {
        let Some(Request::Pondering { asked, child, early }) = self.request.take() else { return };
        let is_stop = is_stop(line);
        if self.uses_books() && self.books.ask(&asked, &self.options.policy, &[]) {
            if self.child.abandon(out) {
                self.gui.trace("the engine stops pondering; its bestmove is dropped", out);
            }
            // The child may get another position only if the GUI has sent one meanwhile, against the protocol.
            let on_board = self.board.game().map(|game| game.position().chess());
            let use_of_move = match on_board == Some(asked.game.position().chess()) {
                // The opponent has played another move: the GUI plays none of ours.
                _ if is_stop => Use::Miss,
                true => Use::Check,
                false => Use::Play,
            };
            self.play_drawn(*asked, use_of_move, out);
            return;
        }
        // The book was changed while the opponent was thinking: the child's search continues as the answer.
        if child {
            self.request = Some(Request::Child { until: Until::PonderHit, early, end: None });
        } else {
            self.request = Some(Request::Child { until: Until::Now, early, end: None });
            self.forward_go(&asked.later(Duration::ZERO), out);
        }
        if is_stop {
            self.stop(line, out);
        } else if child {
            self.ponderhit(line, out);
        }
    }

    /// Makes a line wait for the answer to the request, or for books.
    pub(super) fn wait(&mut self, line: &[u8], out: &mut Output) {
        self.backlog.push(line);
        self.end_if_stuck(out);
    }

    /// Ends a search that only the GUI can end, once too many lines wait for it and the GUI is no longer read.
    fn end_if_stuck(&mut self, out: &mut Output) {
        let waits_for_gui = match &self.request {
            Some(Request::Pondering { .. }) => true,
            Some(Request::Child { until, .. }) => *until != Until::Now,
            Some(Request::Checking(_) | Request::Due(_)) | None => false,
        };
        if waits_for_gui && self.is_full() {
            let mebibytes = MAX_WAITING >> 20;
            self.gui.notify(
                format!("{mebibytes} MiB of lines are waiting for an endless search: it is stopped"),
                out,
            );
            self.stop(b"stop\n", out);
        }
    }

    /// Handles the lines that have waited for an answer, up to the next `go` that must wait.
    pub(super) fn resume(&mut self, out: &mut Output) {
        while !out.quit && !self.is_waiting() {
            let Some(next) = self.backlog.front() else { break };
            let go_waits = self.request.is_some() || self.awaits_options();
            if go_waits && Command::parse(next).0 == Command::Go {
                break;
            }
            let Some(line) = self.backlog.pop() else { break };
            let (command, text, rest) = Command::parse(&line);
            self.obey(command, text, rest, out);
            if command == Command::Go && self.backlog.stops() {
                self.stop(b"stop\n", out);
            }
            self.end_if_stuck(out);
        }
        self.conclude(out);
    }

    /// Handles the lines that have waited for books.
    pub(super) fn resume_after_books(&mut self, out: &mut Output) {
        self.resume(out);
        if self.is_waiting() {
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
        self.leave(out);
    }
}
