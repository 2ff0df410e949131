//! What is sent to the child engine, and when: only what it expects in its state.

use std::collections::VecDeque;
use std::time::Duration;

use super::backlog::is_stop;
use super::output::Output;

/// Bytes of memory that a line held for the engine takes in addition to its text.
const LINE_OVERHEAD: usize = 64;

/// The child engine's search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SearchState {
    #[default]
    Idle,
    Running,
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
    fn size(&self) -> usize {
        self.line.len() + LINE_OVERHEAD
    }
}

/// The protocol state of the child engine, and the lines that wait for it.
#[derive(Default)]
pub(super) struct Child {
    search: SearchState,
    held: VecDeque<Held>,
    /// Bytes that `held` takes.
    held_bytes: usize,
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
        self.search == SearchState::Idle
    }

    /// Whether a bestmove that comes now, together with the one before, cannot be of the search that was started since.
    pub(super) fn has_not_seen_search(&self, now: Duration) -> bool {
        self.search == SearchState::Running && self.followed_at == Some(now)
    }

    /// It has answered one of the `isready` lines; whether that was the last.
    pub(super) fn answered_ready(&mut self) -> bool {
        self.proofs += 1;
        self.ready_owed = self.ready_owed.saturating_sub(1);
        self.is_ready |= self.ready_owed == 0;
        self.ready_owed == 0
    }

    /// It has sent `uciok`; whether it was asked.
    pub(super) fn answered_uci(&mut self) -> bool {
        self.proofs += 1;
        let owed = self.uci_owed > 0;
        self.uci_owed -= u32::from(owed);
        owed
    }

    /// It has sent a bestmove; what it was doing until then. After an abandoned search it gets the lines that have waited.
    pub(super) fn ended(&mut self, out: &mut Output) -> SearchState {
        let search = std::mem::take(&mut self.search);
        match search {
            SearchState::Idle => return search,
            SearchState::Running | SearchState::Stopped => self.is_ready = true,
            SearchState::Abandoned => {
                self.is_late = false;
                self.send_held(out);
            }
        }
        self.proofs += 1;
        search
    }

    /// Whether its lines belong to a search that nobody waits for.
    pub(super) fn is_abandoned(&self) -> bool {
        self.search == SearchState::Abandoned
    }

    /// Whether it must send a bestmove soon.
    pub(super) fn is_stopped(&self) -> bool {
        matches!(self.search, SearchState::Stopped | SearchState::Abandoned)
    }

    /// Bytes of the lines that wait for it.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Whether it may check a move at once, or as soon as it has ended its pondering.
    pub(super) fn may_check(&self) -> bool {
        let owes = self.ready_owed > 0 || self.uci_owed > 0;
        self.is_ready && !self.is_late && !owes && !self.counting && (self.is_idle() || self.is_abandoned())
    }

    /// Whether it searches, or will once it has the lines that wait.
    pub(super) fn is_to_search(&self) -> bool {
        matches!(self.search, SearchState::Running | SearchState::Stopped)
            || self.held.iter().any(|held| held.is_go)
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
    pub(super) fn send_go(&mut self, line: &[u8], out: &mut Output) {
        if self.is_abandoned() {
            self.hold(line, true);
        } else {
            self.write(line, out);
            self.search = SearchState::Running;
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
            SearchState::Running => {
                self.search = SearchState::Stopped;
                self.write(line, out);
            }
            SearchState::Stopped | SearchState::Idle => {}
            SearchState::Abandoned => self.hold(line, false),
        }
    }

    /// Ends a search whose bestmove nobody waits for; returns whether one was running. A `go` that waits is removed.
    pub(super) fn abandon(&mut self, out: &mut Output) -> bool {
        if self.search == SearchState::Running {
            self.write(b"stop\n", out);
            self.search = SearchState::Abandoned;
            return true;
        }
        let go = self.held.iter().position(|held| held.is_go);
        if let Some(held) = go.and_then(|index| self.held.remove(index)) {
            self.held_bytes = self.held_bytes.saturating_sub(held.size());
        }
        false
    }

    fn hold(&mut self, line: &[u8], is_go: bool) {
        let held = Held { line: line.to_vec(), is_go };
        self.held_bytes += held.size();
        self.held.push_back(held);
    }

    /// Sends the lines that have waited for the end of an abandoned search.
    fn send_held(&mut self, out: &mut Output) {
        while let Some(held) = self.held.pop_front() {
            self.held_bytes = self.held_bytes.saturating_sub(held.size());
            if is_stop(&held.line) {
                self.stop(&held.line, out);
                continue;
            }
            self.write(&held.line, out);
            if held.is_go {
                self.search = SearchState::Running;
            }
        }
    }
}
