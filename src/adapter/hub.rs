//! What the adapter's threads share: the session, the bytes on their way, and the end.
//!
//! A line's way is one read, one decision under the lock, one write by the thread that read it: no line is handed from
//! thread to thread. Whoever finds a side's bytes being written leaves its own to the writer, so that order holds.
//! Nobody waits for the engine but the keeper: bytes that a pipe might not take at once go through it.

use std::fs::File;
use std::io;
use std::mem;
use std::process::ChildStdin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::config::Config;
use super::engine::Engine;
use super::library::{BookProblem, Library};
use super::log as logfile;
use super::session::{Output, Session};
use super::sink::{Side, Sink};
use super::stderr;
use super::study::{Job, Study, spool_path, spool_paths};
use crate::base::cut;
use crate::book::Shelf;
use crate::learn;

/// Bytes for the GUI above which nothing more is read: 1 MiB.
const GUI_PENDING_MAX: usize = 1 << 20;

/// Bytes for the engine above which the GUI is not read: 32 MiB.
const ENGINE_PENDING_MAX: usize = 32 << 20;

/// How long the GUI is not read because of an engine that neither reads nor answers, before that engine is given up.
const BRAKE_TIME: Duration = Duration::from_secs(10);

/// How long lines may wait for books: clients that wait for a `readyok` give up after ten seconds at the earliest.
const BOOKS_TIME: Duration = Duration::from_secs(8);

/// How long an engine that closed one of its pipes may live on.
const DEAF_TIME: Duration = Duration::from_millis(500);

/// Bytes that an engine's pipe takes even when the engine does not read: a quarter of Linux's and Windows's default.
const PIPE_SAFE: usize = 16 << 10;

/// Room that is kept for pending bytes between writes.
const ROOM_KEPT: usize = 64 << 10;

/// How long the engine may take to go after `quit`.
const QUIT_TIME: Duration = Duration::from_secs(2);

/// Why the adapter ends.
#[derive(Debug)]
pub(super) enum End {
    /// The GUI wants it, or is gone, or a signal came.
    Asked,
    /// Books that are needed cannot be opened: a sentence on each.
    Books(Vec<String>),
    /// The engine failed.
    Engine(String),
}

/// What the lock guards.
pub(super) struct State {
    pub(super) session: Session,
    /// What the session said and nobody has written yet.
    pub(super) out: Output,
    /// Whether a thread is writing, for each side.
    writing: [bool; 2],
    /// Bytes sent to the engine since it was last known to read.
    unread: usize,
    /// The session's count of proofs that the engine reads, when `unread` was set back.
    proofs: u64,
    /// The engine has closed its input.
    deaf: bool,
    /// Why we end, once that is decided.
    pub(super) end: Option<End>,
    /// Whether the engine's input is to be closed once all is written.
    close: bool,
    /// Whether the child's process has ended.
    pub(super) child_gone: bool,
    /// Whether the engine's output has ended.
    pub(super) engine_silent: bool,
    /// Whether the engine's standard error has ended, and all of it was carried on.
    pub(super) complaints_ended: bool,
    /// Whether a thread is writing to our own standard error.
    pub(super) complaining: bool,
    /// Writes that have ended.
    pub(super) writes: u64,
    /// Whether the end of the engine's time to answer `uci` is watched.
    uci_watched: bool,
    /// How often books were to be opened: only the last time counts.
    openings: u64,
    /// When the books that lines wait for are late.
    books_due: Option<Instant>,
    /// Threads that wait for [`Hub::changed`].
    waiters: u32,
    /// Where games are learned.
    pub(super) study: Study,
}

/// A lock on the state.
pub(super) type Locked<'a> = MutexGuard<'a, State>;

/// The threads' meeting point.
pub(super) struct Hub {
    state: Mutex<State>,
    /// Something that a thread waits for may have changed.
    changed: Condvar,
    /// The keeper has work.
    work: Condvar,
    gui: Sink<File>,
    engine: Sink<ChildStdin>,
    library: Arc<dyn Library>,
    pub(super) child: Engine,
    /// How long the engine may take to answer `uci`.
    uci_limit: Duration,
    /// Whether the adapter ends where a book of the configuration cannot be opened.
    books_needed: bool,
    /// When the adapter's time began.
    started: Instant,
}

impl Hub {
    pub(super) fn new(
        session: Session,
        out: Output,
        library: Arc<dyn Library>,
        gui: File,
        engine: ChildStdin,
        child: Engine,
        config: &Config,
    ) -> Self {
        Self {
            state: Mutex::new(State {
                session,
                out,
                writing: [false; 2],
                unread: 0,
                proofs: 0,
                deaf: false,
                end: None,
                close: false,
                child_gone: false,
                engine_silent: false,
                complaints_ended: false,
                complaining: false,
                writes: 0,
                uci_watched: false,
                openings: 0,
                books_due: None,
                waiters: 0,
                study: Study::default(),
            }),
            changed: Condvar::new(),
            work: Condvar::new(),
            gui: Sink::new(gui),
            engine: Sink::new(engine),
            library,
            child,
            uci_limit: config.engine_timeout,
            books_needed: !config.book_optional,
            started: Instant::now(),
        }
    }

    /// The time since the adapter began.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Tells of something that happened aside.
    pub(super) fn report(self: &Arc<Self>, level: log::Level, message: String) {
        let mut state = self.lock();
        let State { session, out, .. } = &mut *state;
        session.report(level, message, out);
        drop(self.settle(state, false));
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

    /// Waits until `done` holds, or that much time has passed.
    pub(super) fn wait_for<'a>(
        &self,
        mut state: Locked<'a>,
        time: Duration,
        done: impl Fn(&State) -> bool,
    ) -> Locked<'a> {
        let until = Instant::now() + time;
        while !done(&state) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state.waiters += 1;
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.waiters -= 1;
        }
        state
    }

    /// Tells all who wait that something has changed.
    pub(super) fn wake(&self, state: &State) {
        if state.waiters > 0 {
            self.changed.notify_all();
        }
    }

    /// Holds the engine's reader while the GUI does not read.
    pub(super) fn brake_engine<'a>(&self, mut state: Locked<'a>) -> Locked<'a> {
        while state.end.is_none() && state.gui_is_full() {
            state = self.wait(state);
        }
        state
    }

    /// Holds the GUI's reader while what it said before cannot be worked off: the engine may search as long as it
    /// likes. One that does not read, or does not answer what must be answered at once, is given up: the GUI's
    /// `quit` would never be read.
    pub(super) fn brake_gui(self: &Arc<Self>, mut state: Locked<'_>) {
        while state.end.is_none() && (state.gui_is_full() || state.engine_is_full()) {
            let stuck = |state: &State| {
                state.end.is_none()
                    && !state.gui_is_full()
                    && state.engine_is_full()
                    && state.engine_is_late()
            };
            if !stuck(&state) {
                state = self.wait(state);
                continue;
            }
            state = self.wait_for(state, BRAKE_TIME, |state| !stuck(state));
            if stuck(&state) {
                drop(state);
                return self.give_up("the engine neither reads nor answers");
            }
        }
    }

    /// Ends with an engine that is of no use any more.
    pub(super) fn give_up(self: &Arc<Self>, why: &str) {
        self.end(End::Engine(why.to_owned()));
        self.child.kill();
    }

    /// Carries out what the session wants after lines of the GUI (`by_gui`) or of the engine.
    pub(super) fn settle<'a>(self: &'a Arc<Self>, mut state: Locked<'a>, by_gui: bool) -> Locked<'a> {
        for path in cut::take() {
            let State { session, out, .. } = &mut *state;
            let what = "the file was cut off while it is played from: what is missing is not played";
            session.notify(format!("{}: {what}; replace books by renaming", path.display()), out);
        }
        if let Some(name) = state.out.log_to.take()
            && let Err(problem) = logfile::open(&name)
        {
            let State { session, out, .. } = &mut *state;
            session.notify(problem, out);
        }
        for message in state.out.messages.drain(..) {
            stderr::say(&message);
        }
        self.study(&mut state);
        self.open_books(&mut state);
        self.watch_uci(&mut state);
        let proofs = state.session.proofs();
        if proofs != state.proofs {
            (state.proofs, state.unread) = (proofs, 0);
        }
        let pending = state.out.engine.len();
        if pending > 0 {
            if by_gui && state.unread + pending <= PIPE_SAFE {
                state.unread += pending;
                state = self.flush_engine(state, true);
            }
            if !state.out.engine.is_empty() {
                self.work.notify_all();
            }
        }
        if !state.out.gui.is_empty() {
            state = self.flush_gui(state);
        }
        // The GUI has its answer by now.
        for (level, note) in state.out.notes.drain(..) {
            log::log!(level, "{note}");
        }
        self.wake(&state);
        state
    }

    /// Lets the books that the session wants be opened on a thread of their own: a disk may hang.
    fn open_books(self: &Arc<Self>, state: &mut State) {
        let Some(files) = state.out.open_books.take() else { return };
        state.openings += 1;
        state.books_due = Some(Instant::now() + BOOKS_TIME);
        self.work.notify_all();
        let (hub, number) = (Arc::clone(self), state.openings);
        let work = move || {
            let (shelf, problems) = hub.library.open(&files);
            hub.books_opened(number, shelf, problems);
        };
        if thread::Builder::new().name("books".to_owned()).spawn(work).is_err() {
            let State { session, out, .. } = &mut *state;
            let what = "the system gives no thread: the books are not opened".to_owned();
            session.books_opened(Shelf::default(), vec![BookProblem { what, unopened: true }], out);
        }
    }

    fn books_opened(self: &Arc<Self>, number: u64, shelf: Shelf, problems: Vec<BookProblem>) {
        let mut state = self.lock();
        if state.openings != number {
            return;
        }
        let in_time = state.books_due.take().is_some();
        // The first are those of the configuration. A game that has begun without them goes on.
        if number == 1 && in_time && self.books_needed {
            let unopened = problems.iter().filter(|problem| problem.unopened);
            let unopened: Vec<String> = unopened.map(|problem| problem.what.clone()).collect();
            if !unopened.is_empty() {
                // Who has said `quit` already hears of it all the same.
                let ends = state.end.take_if(|end| matches!(end, End::Asked)).is_some();
                if ends {
                    state.end = Some(End::Books(unopened));
                    self.changed.notify_all();
                    return;
                }
                drop(state);
                return self.end(End::Books(unopened));
            }
        }
        self.wake(&state);
        let State { session, out, .. } = &mut *state;
        session.at(self.now());
        let before = session.books_opened(shelf, problems, out);
        drop(self.settle(state, false));
        drop(before);
    }

    /// The time up to which lines wait for books; `None` where that has passed, or none are awaited.
    fn await_books(self: &Arc<Self>, state: &mut State) -> Option<Duration> {
        let left = state.books_due?.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            return Some(left);
        }
        state.books_due = None;
        let State { session, out, .. } = &mut *state;
        session.at(self.now());
        session.books_are_late(out);
        None
    }

    /// Hands on what is to be learned.
    pub(super) fn study(self: &Arc<Self>, state: &mut State) {
        let State { out, study, .. } = &mut *state;
        let log = || logfile::base().map(|log| log.to_string_lossy().into_owned()).unwrap_or_default();
        for book in out.opened.drain(..).filter(|book| learn::has_journal(book)) {
            study.give(self, Job::Settle(book));
        }
        if std::mem::take(&mut out.resume_learning) {
            study.give(self, Job::Resume(spool_paths(&log())));
        }
        for sources in out.begun.drain(..) {
            study.give(self, Job::Bind(sources));
        }
        for taught in out.lessons.drain(..) {
            study.give(self, Job::Learn(Box::new(taught), spool_path(&log())));
        }
    }

    /// Writes a block of the engine's that nobody must look at straight to the GUI: behind what is to be said before
    /// it, and before what another thread may want to say once the lock is open.
    pub(super) fn pass<'a>(self: &'a Arc<Self>, mut state: Locked<'a>, block: &[u8]) -> Locked<'a> {
        if state.is_writing(Side::Gui) || !state.out.gui.is_empty() {
            state.out.gui.extend_from_slice(block);
            return state;
        }
        state.writing[Side::Gui as usize] = true;
        drop(state);
        let written = self.gui.write(block);
        if written.is_err() {
            self.end(End::Asked);
        }
        let mut state = self.lock();
        state.writes += 1;
        state.writing[Side::Gui as usize] = false;
        self.flush_gui(state)
    }

    fn flush_gui<'a>(self: &'a Arc<Self>, state: Locked<'a>) -> Locked<'a> {
        let (state, written) = self.flush(state, Side::Gui, false, |bytes| self.gui.write(bytes));
        if written.is_ok() {
            return state;
        }
        // A GUI that does not listen any more is gone.
        drop(state);
        self.end(End::Asked);
        self.lock()
    }

    fn flush_engine<'a>(&'a self, state: Locked<'a>, once: bool) -> Locked<'a> {
        let (mut state, written) = self.flush(state, Side::Engine, once, |bytes| self.engine.write(bytes));
        if written.is_err() {
            state.deaf = true;
            self.work.notify_all();
        }
        state
    }

    /// Writes a side's pending bytes, unless another thread is at it: that one goes on until none are left. With
    /// `once` only what is pending now is written.
    fn flush<'a>(
        &'a self,
        mut state: Locked<'a>,
        side: Side,
        once: bool,
        write: impl Fn(&[u8]) -> io::Result<()>,
    ) -> (Locked<'a>, io::Result<()>) {
        let mut result = Ok(());
        if state.is_writing(side) {
            return (state, result);
        }
        state.writing[side as usize] = true;
        let mut bytes = Vec::new();
        while !state.pending(side).is_empty() {
            bytes.clear();
            mem::swap(&mut bytes, state.pending(side));
            self.wake(&state);
            drop(state);
            if result.is_ok() {
                result = write(&bytes);
            }
            state = self.lock();
            state.writes += 1;
            if once {
                break;
            }
        }
        // The room is given back for the next time.
        bytes.clear();
        bytes.shrink_to(ROOM_KEPT);
        if state.pending(side).is_empty() && state.pending(side).capacity() < bytes.capacity() {
            *state.pending(side) = bytes;
        }
        state.writing[side as usize] = false;
        self.wake(&state);
        if state.close {
            self.work.notify_all();
        }
        (state, result)
    }

    /// Begins the clock of an answer to `uci`, on a thread that never waits for a pipe.
    fn watch_uci(self: &Arc<Self>, state: &mut State) {
        if state.uci_watched || !state.session.owes_uciok() {
            return;
        }
        state.uci_watched = true;
        let hub = Arc::clone(self);
        let watch = move || {
            let answered = |state: &State| state.end.is_some() || !state.session.owes_uciok();
            let mut state = hub.wait_for(hub.lock(), hub.uci_limit, answered);
            state.uci_watched = false;
            let late = !answered(&state);
            drop(state);
            if late {
                let seconds = hub.uci_limit.as_secs();
                hub.give_up(&format!("no uciok within {seconds} s: is it a UCI engine?"));
            }
        };
        // Where there is no thread for it, the GUI's own patience must do.
        state.uci_watched = thread::Builder::new().name("uci".to_owned()).spawn(watch).is_ok();
    }

    /// The keeper's work: writes to the engine what might have to wait for it, closes its input in the end, and gives
    /// up an engine that closed it itself and lives on.
    pub(super) fn keep(self: &Arc<Self>) {
        let mut state = self.lock();
        loop {
            if !state.is_writing(Side::Engine) {
                if !state.out.engine.is_empty() {
                    state = self.flush_engine(state, false);
                    continue;
                }
                if state.close {
                    drop(state);
                    return self.engine.close();
                }
            }
            if state.child_gone {
                return;
            }
            if state.deaf && state.end.is_none() {
                state = self.wait_for(state, DEAF_TIME, |state| state.child_gone || state.end.is_some());
                if !state.child_gone && state.end.is_none() {
                    drop(state);
                    self.give_up("the engine closed its input");
                    state = self.lock();
                }
                continue;
            }
            let due = state.books_due.is_some();
            state = match self.await_books(&mut state) {
                Some(left) => self.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None if due => self.settle(state, false),
                None => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Begins the end: the engine is told `quit`, its input is closed, and it is killed when it has not gone in time.
    /// The first reason is the one that counts.
    pub(super) fn end(self: &Arc<Self>, why: End) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        log::info!("the end: {why:?}");
        if matches!(why, End::Asked) {
            // The last game is over, and kept before anything else may keep us.
            let State { session, out, .. } = &mut *state;
            session.at(self.now());
            session.finish(out);
            for (level, note) in out.notes.drain(..) {
                log::log!(level, "{note}");
            }
            self.study(&mut state);
        }
        state.end = Some(why);
        let unfinished = state.session.unfinished();
        state.out.engine.extend_from_slice(unfinished);
        state.out.engine.extend_from_slice(b"quit\n");
        state.close = true;
        self.work.notify_all();
        self.changed.notify_all();
        drop(state);
        let hub = Arc::clone(self);
        let watch = move || {
            let state = hub.lock();
            let gone = hub.wait_for(state, QUIT_TIME, |state| state.child_gone).child_gone;
            if !gone {
                log::warn!("the engine did not go after quit; it is killed");
                hub.child.kill();
            }
        };
        if thread::Builder::new().name("end".to_owned()).spawn(watch).is_err() {
            self.child.kill();
        }
    }

    /// Writes the last message to the GUI, unless the GUI does not read: it must not keep us.
    pub(super) fn say_last(self: &Arc<Self>, text: Vec<u8>, time: Duration) {
        let hub = Arc::clone(self);
        let (told, heard) = std::sync::mpsc::channel();
        let speak = move || {
            let _ = hub.gui.write(&text);
            let _ = told.send(());
        };
        if thread::Builder::new().spawn(speak).is_ok() {
            let _ = heard.recv_timeout(time);
        }
    }
}

impl State {
    pub(super) fn is_writing(&self, side: Side) -> bool {
        self.writing[side as usize]
    }

    fn engine_is_full(&self) -> bool {
        self.session.is_full() || self.out.engine.len() > ENGINE_PENDING_MAX
    }

    /// Whether it is for the engine to go on: it does not read, or owes an answer.
    fn engine_is_late(&self) -> bool {
        self.session.is_kept_waiting() || self.out.engine.len() > ENGINE_PENDING_MAX
    }

    /// Whether the books are awaited that the adapter was started with.
    pub(super) fn awaits_first_books(&self) -> bool {
        self.openings <= 1 && self.books_due.is_some()
    }

    fn gui_is_full(&self) -> bool {
        self.out.gui.len() > GUI_PENDING_MAX && self.is_writing(Side::Gui)
    }

    fn pending(&mut self, side: Side) -> &mut Vec<u8> {
        match side {
            Side::Gui => &mut self.out.gui,
            Side::Engine => &mut self.out.engine,
        }
    }
}
