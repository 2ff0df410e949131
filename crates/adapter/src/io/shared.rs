//! What the adapter's threads share: the session, the bytes that wait to be written, and the end.
//!
//! A line costs one read, one decision under the lock, and one write by the thread that has read it: no line is handed from
//! thread to thread. A thread that finds another one writing to the same side leaves its bytes to that one, which keeps the
//! order. Only a thread that is started for it waits for the engine: it writes the bytes that a pipe might not take immediately.

use std::fs::File;
use std::io::Write as _;
use std::process::ChildStdin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tabiya_base::task_thread::TaskThread;
use tabiya_base::truncated;
use tabiya_learn as learn;
use tabiya_uci::engine::Engine;

use super::book_loader::BookLoader;
use super::lines_file::{self, LinesFileEvent, Task};
use super::log as logfile;
use super::state::{AdapterState, Locked, Side};
use super::stderr;
use crate::learning::{ReportMessage, Work, spool_path, spool_paths};
use crate::session::{Output, PlayedNode, Session};
use crate::settings::Config;

/// How long the GUI is not read because of an engine that neither reads nor answers, before that engine is given up.
const UNRESPONSIVE_TIME: Duration = Duration::from_secs(10);

/// How long lines may wait for what other processes have played, as for books.
const LINES_TIME: Duration = Duration::from_secs(8);

/// The state that the threads share, and the pipes.
pub(super) struct Shared {
    state: Mutex<AdapterState>,
    /// Signals that something that a thread waits for may have changed.
    pub(super) changed: Condvar,
    /// Signals that something is due before the clock's thread would look.
    pub(super) clock: Condvar,
    /// Our standard output, which one thread at a time writes to.
    pub(super) gui: File,
    /// The engine's input, until it is closed. A write that has begun is not interrupted.
    pub(super) engine: Mutex<Option<ChildStdin>>,
    pub(super) loader: BookLoader,
    pub(super) child: Engine,
    /// How long the engine may take to answer `uci`.
    pub(super) uci_limit: Duration,
    /// Whether the adapter ends if a book of the configuration cannot be opened.
    pub(super) books_required: bool,
    /// Where events are written.
    events: Option<File>,
    /// When the adapter started.
    started: Instant,
}

impl Shared {
    pub(super) fn new(
        (session, out): (Session, Output),
        gui: File,
        (child, engine): (Engine, ChildStdin),
        config: &Config,
        events: Option<File>,
    ) -> Self {
        Self {
            state: Mutex::new(AdapterState::new(session, out)),
            changed: Condvar::new(),
            clock: Condvar::new(),
            gui,
            engine: Mutex::new(Some(engine)),
            loader: BookLoader { search_paths: config.search_paths.clone() },
            child,
            uci_limit: config.engine_timeout,
            books_required: !config.book_optional,
            events,
            started: Instant::now(),
        }
    }

    /// Starts a thread, or else ends the adapter.
    pub(super) fn spawn(self: &Arc<Self>, name: &str, work: impl FnOnce(&Arc<Self>) + Send + 'static) {
        let for_thread = Arc::clone(self);
        let started = thread::Builder::new().name(name.to_owned()).spawn(move || work(&for_thread));
        if let Err(error) = started {
            self.give_up(&format!("cannot start a thread: {error}"));
        }
    }

    /// The time since the adapter started.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn lock(&self) -> Locked<'_> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, mut state: Locked<'a>) -> Locked<'a> {
        state.waiters += 1;
        let mut state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiters -= 1;
        state
    }

    /// Waits until `done` holds, or until this much time has passed.
    pub(super) fn wait_for<'a>(
        &self,
        mut state: Locked<'a>,
        time: Duration,
        done: impl Fn(&AdapterState) -> bool,
    ) -> Locked<'a> {
        state.waiters += 1;
        let waited = self.changed.wait_timeout_while(state, time, |state| !done(state));
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiters -= 1;
        state
    }

    /// Wakes the threads that wait for a change.
    pub(super) fn wake(&self, state: &AdapterState) {
        if state.waiters > 0 {
            self.changed.notify_all();
        }
    }

    /// Holds the engine's reader while the GUI does not read.
    pub(super) fn pause_engine_reader<'a>(&self, mut state: Locked<'a>) -> Locked<'a> {
        while state.end.is_none() && state.gui_is_full() {
            state = self.wait(state);
        }
        state
    }

    /// Holds the GUI's reader while its earlier lines cannot be handled. The engine may search as long as it likes, but
    /// an engine that does not read, or owes an immediate answer, is given up: the GUI's `quit` would never be read.
    pub(super) fn pause_gui_reader(self: &Arc<Self>, mut state: Locked<'_>) {
        while state.end.is_none() && (state.gui_is_full() || state.engine_is_full()) {
            let stuck = |state: &AdapterState| {
                state.end.is_none()
                    && !state.gui_is_full()
                    && state.engine_is_full()
                    && state.engine_is_late()
            };
            if !stuck(&state) {
                state = self.wait(state);
                continue;
            }
            state = self.wait_for(state, UNRESPONSIVE_TIME, |state| !stuck(state));
            if stuck(&state) {
                drop(state);
                return self.give_up("the engine neither reads nor answers");
            }
        }
    }

    /// Carries out what the session asks for after lines from this side.
    pub(super) fn settle<'a>(self: &'a Arc<Self>, mut state: Locked<'a>, from: Side) -> Locked<'a> {
        self.carry_out(&mut state);
        self.open_books(&mut state);
        self.set_clock(&mut state);
        self.write_events(&mut state.out);
        state = self.write_pending(state, from);
        // The GUI has its answer by now.
        self.look_at_books(&mut state);
        log_notes(&mut state.out);
        self.wake(&state);
        state
    }

    /// Carries out what the session asks for at any time, also at the end: all but its bytes and its books.
    pub(super) fn carry_out(self: &Arc<Self>, state: &mut AdapterState) {
        report_cut_files(state);
        switch_log(state);
        for message in state.out.messages.drain(..) {
            stderr::say(&message);
        }
        self.learn(state);
        self.share_lines(state);
    }

    /// Writes the bytes for both sides.
    fn write_pending<'a>(self: &'a Arc<Self>, mut state: Locked<'a>, from: Side) -> Locked<'a> {
        if !state.out.engine.is_empty() {
            state = self.write_to_engine(state, from);
        }
        if !state.out.gui.is_empty() {
            state = self.flush_gui(state);
        }
        state
    }

    /// Reports something that happened on another thread.
    pub(super) fn report(self: &Arc<Self>, level: log::Level, message: String) {
        let mut state = self.lock();
        state.update(|session, out| session.gui.report(level, message, out));
        drop(self.settle(state, Side::Engine));
    }

    /// Whether the adapter is only tried.
    pub(super) fn is_tried(&self) -> bool {
        self.events.is_some()
    }

    /// Warns the user of something that happened on another thread, at once.
    pub(super) fn notify(self: &Arc<Self>, message: String) {
        let mut state = self.lock();
        state.update(|session, out| session.gui.notify(message, out));
        drop(self.settle(state, Side::Engine));
    }

    /// Writes events before the lines for the GUI that belong to them.
    pub(super) fn write_events(&self, out: &mut Output) {
        let events = out.events.drain(..);
        let Some(mut file) = self.events.as_ref() else { return };
        let lines = events.filter_map(|event| serde_json::to_string(&event).ok());
        // Who reads them finds out by itself that some are missing.
        let _ = file.write_all(lines.map(|line| line + "\n").collect::<String>().as_bytes());
    }

    /// Hands what the session says of played lines to the thread that shares them.
    fn share_lines(self: &Arc<Self>, state: &mut AdapterState) {
        let AdapterState { out, lines, .. } = state;
        let (file, nodes) = (out.lines_file.take(), std::mem::take(&mut out.lines));
        let reads = std::mem::take(&mut out.reads_lines);
        if file.is_none() && !reads && (lines.is_none() || nodes.is_empty()) {
            return;
        }
        let shared = Arc::clone(self);
        let work = move |tasks| {
            let see = &mut |nodes: &[PlayedNode]| shared.lock().session.played_elsewhere(nodes);
            let say = |what| match what {
                LinesFileEvent::Wrong(what) => shared.notify(what),
                LinesFileEvent::Known(what) => shared.report(log::Level::Info, what),
            };
            // Whoever only tries the adapter leaves no trace.
            let writes = !shared.is_tried();
            lines_file::exchange(&tasks, &shared.loader.search_paths, writes, see, &say);
        };
        match TaskThread::started(lines, "lines", work) {
            Ok(thread) => {
                file.into_iter().for_each(|name| thread.send(Task::To(name)));
                if reads || !nodes.is_empty() {
                    thread.send(Task::Add(nodes));
                }
                if reads {
                    state.due.lines = Some(self.now() + LINES_TIME);
                    let shared = Arc::clone(self);
                    thread.send(Task::Then(Box::new(move || shared.lines_read())));
                    self.wake_clock(state);
                }
            }
            Err(error) => {
                let what =
                    format!("cannot learn which lines other processes play: cannot start a thread: {error}");
                state.update(|session, out| {
                    session.gui.notify(what, out);
                    session.lines_read(out);
                });
            }
        }
    }

    /// What other processes have played was read.
    fn lines_read(self: &Arc<Self>) {
        let mut state = self.lock();
        state.due.lines = None;
        state.session.at(self.now());
        state.update(Session::lines_read);
        drop(self.settle(state, Side::Engine));
    }

    /// Hands the games and books of the session's output to the learning threads.
    fn learn(self: &Arc<Self>, state: &mut AdapterState) {
        let AdapterState { out, learning, .. } = state;
        if !out.resume_learning && out.opened.is_empty() && out.begun.is_empty() && out.finished.is_empty() {
            return;
        }
        log_notes(out);
        let shared = Arc::clone(self);
        let report: ReportMessage = Arc::new(move |level, message| shared.report(level, message));
        let log = || logfile::base().map(|log| log.to_string_lossy().into_owned()).unwrap_or_default();
        for book in out.opened.drain(..).filter(|book| learn::has_journal(book)) {
            learning.submit(Work::Settle(book), &report);
        }
        if std::mem::take(&mut out.resume_learning) {
            learning.submit(Work::Resume(spool_paths(&log())), &report);
        }
        out.begun.drain(..).for_each(|sources| learning.identify(sources));
        for game in out.finished.drain(..) {
            learning.learn(game, spool_path(&log()), &report);
        }
    }
}

/// Reports the books whose files were truncated while in use.
fn report_cut_files(state: &mut AdapterState) {
    for path in truncated::take() {
        let what = "the file was truncated while in use: moves in the missing part are not played";
        let message = format!("{}: {what}; to replace a book, rename the new file over it", path.display());
        state.update(|session, out| session.gui.notify(message, out));
    }
}

/// Opens the log that the session asks for.
fn switch_log(state: &mut AdapterState) {
    if let Some(name) = state.out.log_to.take()
        && let Err(problem) = logfile::open(&name)
    {
        state.update(|session, out| session.gui.notify(problem, out));
    }
}

/// Writes the session's notes to the log.
pub(super) fn log_notes(out: &mut Output) {
    for (level, note) in out.notes.drain(..) {
        log::log!(level, "{note}");
    }
}
