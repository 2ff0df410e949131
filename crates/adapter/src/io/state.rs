//! The state that the threads share under one lock.

use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use tabiya_base::task_thread::TaskThread;
use tabiya_book::traits::Book;
use tabiya_uci::engine::LastWords;

use super::lines_file::Task;
use crate::learning::Learning;
use crate::session::{Output, Session};

/// Bytes for the GUI above which nothing more is read: 1 MiB.
const MAX_GUI_PENDING: usize = 1 << 20;

/// Bytes for the engine above which the GUI is not read: 32 MiB.
const MAX_ENGINE_PENDING: usize = 32 << 20;

/// Bytes that an engine's pipe takes even if the engine does not read: a quarter of the default on Linux and Windows.
const PIPE_SAFE: usize = 16 << 10;

/// Bytes that the smallest pipe takes, a page: Linux makes no others for users who have many.
const PIPE_LEAST: usize = 4 << 10;

/// The two sides of the adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Gui,
    Engine,
}

/// How much to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    /// The bytes that are pending now.
    Once,
    /// All bytes, including those that are added meanwhile.
    UntilEmpty,
}

/// Why the adapter ends.
#[derive(Debug)]
pub(super) enum End {
    /// The GUI has sent `quit` or has gone, or a signal came.
    Asked,
    /// Required books cannot be opened: a message for each.
    Books(Vec<String>),
    Engine(String),
}

/// The state under the lock.
pub(super) struct AdapterState {
    pub(super) session: Session,
    /// The session's output that has not been carried out yet.
    pub(super) out: Output,
    pub(super) writing: Writing,
    pub(super) engine: EngineEnds,
    /// Why the adapter ends, once that is decided: the engine's input is then closed after the last write.
    pub(super) end: Option<End>,
    pub(super) due: Due,
    /// Until when the clock's thread sleeps; `None` if nothing was due.
    pub(super) sleeps_until: Option<Duration>,
    /// Whether a thread is telling the session that a deadline has passed.
    pub(super) telling_time: bool,
    /// The number of requests for books: only the last request counts.
    pub(super) requests: u64,
    /// The number of threads that wait for a change.
    pub(super) waiters: u32,
    pub(super) learning: Learning,
    /// The thread that shares played lines with other processes, once there is something to share.
    pub(super) lines: Option<TaskThread<Task>>,
    /// The thread that looks at books, once there is one to look at.
    pub(super) looking: Option<TaskThread<Arc<dyn Book>>>,
}

/// Deadlines, as [`Shared::now`](super::shared::Shared::now) counts them.
#[derive(Default)]
pub(super) struct Due {
    /// For the engine to answer `uci`.
    pub(super) uci: Option<Duration>,
    /// For the check of a book move.
    pub(super) check: Option<Duration>,
    /// For the lines that wait for books.
    pub(super) books: Option<Duration>,
    /// For the lines that wait for what other processes have played.
    pub(super) lines: Option<Duration>,
    /// For a failed engine to exit by itself, and why it failed.
    pub(super) useless: Option<(Duration, &'static str)>,
    /// For the engine to exit after `quit`.
    pub(super) exit: Option<Duration>,
}

/// A lock on the state.
pub(super) type Locked<'a> = MutexGuard<'a, AdapterState>;

/// Which pipes are being written to.
#[derive(Default)]
pub(super) struct Writing {
    pub(super) gui: bool,
    pub(super) engine: bool,
    /// Whether a thread was started for bytes for the engine that have to wait.
    pub(super) later: bool,
    /// Our own standard error.
    pub(super) stderr: bool,
    /// The number of writes that have ended.
    pub(super) count: u64,
    /// Bytes sent to the engine since it was last known to read.
    unread: usize,
    /// [`Session::proofs`] at that time.
    proofs: u64,
}

/// Which parts of the engine have ended.
#[derive(Default)]
pub(super) struct EngineEnds {
    pub(super) process: bool,
    pub(super) output: bool,
    /// Its standard error, all of which was forwarded.
    pub(super) stderr: bool,
    /// What it wrote last to its output.
    pub(super) last_stdout: LastWords,
    /// What it wrote last to standard error.
    pub(super) last_stderr: LastWords,
}

impl AdapterState {
    pub(super) fn new(session: Session, out: Output) -> Self {
        Self {
            session,
            out,
            writing: Writing::default(),
            engine: EngineEnds::default(),
            end: None,
            due: Due::default(),
            sleeps_until: None,
            telling_time: false,
            requests: 0,
            waiters: 0,
            learning: Learning::default(),
            lines: None,
            looking: None,
        }
    }

    /// The session's next deadline; `None` while a thread tells it of one, and at the end.
    pub(super) fn due_for_session(&self) -> Option<Duration> {
        let Due { check, books, lines, .. } = self.due;
        let is_told = self.telling_time || self.out.quit || self.end.is_some();
        [check, books, lines].into_iter().flatten().min().filter(|_| !is_told)
    }

    /// The next deadline of all.
    pub(super) fn next_due(&self) -> Option<Duration> {
        let Due { uci, useless, exit, .. } = self.due;
        let engine = [uci, useless.map(|(due, _)| due)].into_iter().flatten().min();
        let engine = engine.filter(|_| self.end.is_none());
        [exit, engine, self.due_for_session()].into_iter().flatten().min()
    }

    /// Whether the books of the configuration are being opened.
    pub(super) fn opens_first_books(&self) -> bool {
        self.requests <= 1 && self.due.books.is_some()
    }

    /// Something happens to the session.
    pub(super) fn update<T>(&mut self, event: impl FnOnce(&mut Session, &mut Output) -> T) -> T {
        event(&mut self.session, &mut self.out)
    }

    /// Whether a thread is writing to this side, and the bytes that wait to be written to it.
    pub(super) fn side(&mut self, side: Side) -> (&mut bool, &mut Vec<u8>) {
        match side {
            Side::Gui => (&mut self.writing.gui, &mut self.out.gui),
            Side::Engine => (&mut self.writing.engine, &mut self.out.engine),
        }
    }

    /// Counts the bytes for the engine as sent, if its pipe takes them even if it does not read. While only the GUI's reader waits,
    /// the engine's output is still read, so that the engine reads in the end; other threads must never wait.
    pub(super) fn fits_the_pipe(&mut self, from: Side) -> bool {
        let most = if from == Side::Gui { PIPE_SAFE } else { PIPE_LEAST };
        let proofs = self.session.proofs();
        if proofs != self.writing.proofs {
            (self.writing.proofs, self.writing.unread) = (proofs, 0);
        }
        let fits = self.writing.unread + self.out.engine.len() <= most;
        if fits {
            self.writing.unread += self.out.engine.len();
        }
        fits
    }

    /// Whether the GUI does not read its input.
    pub(super) fn gui_is_full(&self) -> bool {
        self.out.gui.len() > MAX_GUI_PENDING && self.writing.gui
    }

    /// Whether so much waits for the engine that the GUI must not be read.
    pub(super) fn engine_is_full(&self) -> bool {
        self.session.is_full() || self.out.engine.len() > MAX_ENGINE_PENDING
    }

    /// Whether the engine does not read, or owes an answer.
    pub(super) fn engine_is_late(&self) -> bool {
        self.session.is_kept_waiting() || self.out.engine.len() > MAX_ENGINE_PENDING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::options::Options;

    fn state() -> AdapterState {
        let mut out = Output::default();
        let session = Session::new(Options::default(), Vec::new(), &mut out);
        AdapterState::new(session, out)
    }

    #[test]
    fn only_the_guis_reader_may_find_that_a_pipe_is_full() {
        let mut state = state();
        state.out.engine = vec![b'x'; PIPE_LEAST];
        assert!(state.fits_the_pipe(Side::Engine));
        // Nothing shows yet that these bytes were read.
        state.out.engine = vec![b'x'];
        assert!(!state.fits_the_pipe(Side::Engine) && state.fits_the_pipe(Side::Gui));
        state.out.engine = vec![b'x'; PIPE_SAFE];
        assert!(!state.fits_the_pipe(Side::Gui));
    }

    #[test]
    fn what_is_due_first_is_waited_for_and_at_the_end_the_engines_exit_only() {
        let mut state = state();
        assert_eq!(state.next_due(), None);
        let at = |seconds| Some(Duration::from_secs(seconds));
        state.due = Due { books: at(8), uci: at(10), exit: at(12), ..Due::default() };
        assert_eq!((state.next_due(), state.due_for_session()), (at(8), at(8)));
        state.telling_time = true;
        assert_eq!((state.next_due(), state.due_for_session()), (at(10), None));
        (state.telling_time, state.end) = (false, Some(End::Asked));
        assert_eq!(state.next_due(), at(12));
    }
}
