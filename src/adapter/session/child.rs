//! What is sent to the child engine, and when: only what it expects in its state.

use std::collections::VecDeque;
use std::time::Duration;

use log::Level;

use super::questions::{Question, Until};
use super::{Output, Session, is_stop, lossy};

/// Room that a line held for the engine takes in addition to its bytes.
const LINE_ROOM: usize = 64;

/// The child engine's search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Search {
    #[default]
    Idle,
    Running,
    /// `stop` was sent.
    Stopped,
    /// `stop` was sent, and nobody waits for the bestmove: it will be dropped.
    Abandoned,
}

/// A line for the child that waits for the end of an abandoned search.
struct Held {
    line: Vec<u8>,
    /// Whether it starts a search.
    is_go: bool,
}

impl Held {
    fn room(&self) -> usize {
        self.line.len() + LINE_ROOM
    }
}

/// The protocol state of the child engine, and the lines that wait for it.
#[derive(Default)]
pub(super) struct Child {
    search: Search,
    held: VecDeque<Held>,
    /// Bytes that `held` takes.
    held_room: usize,
    /// `go perft` was sent: the engine counts moves, or treats it as a search that ends with a bestmove.
    pub(super) counting: bool,
    /// `isready` lines that it has not answered yet.
    pub(super) ready_owed: u32,
    /// `uci` lines that it has not answered yet.
    pub(super) uci_owed: u32,
    /// Answers that prove that it has read all lines sent before.
    pub(super) proofs: u64,
    /// Whether it has nothing to do before a search: it has answered `isready`, or searched, since options were set or a
    /// game began.
    pub(super) is_ready: bool,
    /// Whether it has not ended a check in time, and not since.
    pub(super) is_late: bool,
    /// When a search was started in answer to a bestmove.
    followed_at: Option<Duration>,
    /// Whether the last bytes sent are not a whole line.
    pub(super) mid_line: bool,
}

impl Child {
    pub(super) fn is_idle(&self) -> bool {
        self.search == Search::Idle
    }

    /// Whether its lines belong to a search that nobody waits for.
    pub(super) fn is_abandoned(&self) -> bool {
        self.search == Search::Abandoned
    }

    /// Whether it must send a bestmove soon.
    pub(super) fn is_stopped(&self) -> bool {
        matches!(self.search, Search::Stopped | Search::Abandoned)
    }

    /// Bytes of the lines that wait for it.
    pub(super) fn held_room(&self) -> usize {
        self.held_room
    }

    /// Whether it may check a move at once, or as soon as it has ended its pondering.
    pub(super) fn may_check(&self) -> bool {
        let owes = self.ready_owed > 0 || self.uci_owed > 0;
        self.is_ready && !self.is_late && !owes && !self.counting && (self.is_idle() || self.is_abandoned())
    }

    /// Whether it searches, or will once it has the lines that wait.
    fn is_to_search(&self) -> bool {
        matches!(self.search, Search::Running | Search::Stopped) || self.held.iter().any(|held| held.is_go)
    }

    /// Sends a line at once.
    fn write(&mut self, line: &[u8], out: &mut Output) {
        if std::mem::take(&mut self.mid_line) {
            out.engine.push(b'\n');
        }
        out.engine.extend_from_slice(line);
    }

    /// Sends a line, after the end of an abandoned search.
    pub(super) fn send(&mut self, line: &[u8], out: &mut Output) {
        if self.is_abandoned() {
            self.hold(line, false);
        } else {
            self.write(line, out);
        }
    }

    /// Starts a search, after the end of an abandoned one.
    fn send_go(&mut self, line: &[u8], out: &mut Output) {
        if self.is_abandoned() {
            self.hold(line, true);
        } else {
            self.write(line, out);
            self.search = Search::Running;
            self.counting = false;
        }
    }

    /// Starts a search in answer to a bestmove that came now.
    pub(super) fn follow_up(&mut self, line: &[u8], now: Duration, out: &mut Output) {
        self.send_go(line, out);
        self.followed_at = Some(now);
    }

    /// Sends `stop`, once for each search.
    pub(super) fn stop(&mut self, line: &[u8], out: &mut Output) {
        match self.search {
            Search::Running => {
                self.search = Search::Stopped;
                self.write(line, out);
            }
            Search::Stopped | Search::Idle => {}
            Search::Abandoned => self.hold(line, false),
        }
    }

    /// Ends a search whose bestmove nobody waits for; returns whether one was running. A `go` that waits is removed.
    pub(super) fn abandon(&mut self, out: &mut Output) -> bool {
        if self.search == Search::Running {
            self.write(b"stop\n", out);
            self.search = Search::Abandoned;
            return true;
        }
        let go = self.held.iter().position(|held| held.is_go);
        if let Some(held) = go.and_then(|index| self.held.remove(index)) {
            self.held_room = self.held_room.saturating_sub(held.room());
        }
        false
    }

    fn hold(&mut self, line: &[u8], is_go: bool) {
        let held = Held { line: line.to_vec(), is_go };
        self.held_room += held.room();
        self.held.push_back(held);
    }

    /// Sends the lines that have waited for the end of an abandoned search.
    fn send_held(&mut self, out: &mut Output) {
        while let Some(held) = self.held.pop_front() {
            self.held_room = self.held_room.saturating_sub(held.room());
            if is_stop(&held.line) {
                self.stop(&held.line, out);
                continue;
            }
            self.write(&held.line, out);
            if held.is_go {
                self.search = Search::Running;
            }
        }
    }
}

impl Session {
    pub(super) fn engine_best_move(&mut self, line: &[u8], out: &mut Output) {
        // Read together with the bestmove before: the child cannot have seen the new search.
        if self.child.search == Search::Running && self.child.followed_at == Some(self.play.watch.now) {
            out.notes.push((Level::Warn, format!("dropped a second answer: {}", lossy(line))));
            return;
        }
        match std::mem::take(&mut self.child.search) {
            // The engine has treated `go perft` as a search.
            Search::Idle if std::mem::take(&mut self.child.counting) => self.say(line, out),
            Search::Idle => {
                out.notes.push((Level::Warn, format!("dropped an unexpected line: {}", lossy(line))));
            }
            Search::Abandoned => {
                self.child.proofs += 1;
                self.child.is_late = false;
                self.child.send_held(out);
            }
            Search::Running | Search::Stopped => {
                self.child.proofs += 1;
                self.child.is_ready = true;
                self.answer_of_child(line, out);
            }
        }
    }

    /// Answers the GUI's question with the bestmove of the child, or keeps it until the answer may be sent.
    fn answer_of_child(&mut self, line: &[u8], out: &mut Output) {
        match &mut self.question {
            Some(Question::Child { until: Until::Now, .. }) => {
                self.question = None;
                self.say_best_move(line, out);
            }
            Some(Question::Child { early, .. } | Question::Pondering { early, .. }) => {
                *early = Some(line.to_vec());
                out.notes.push((Level::Warn, format!("held back, too early: {}", lossy(line))));
            }
            Some(Question::Checking(_)) => self.checked(line, out),
            Some(Question::Due(_)) | None => {}
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
}
