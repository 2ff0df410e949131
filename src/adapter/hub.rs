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

use super::engine::Engine;
use super::log as logfile;
use super::session::{Output, Session};
use super::sink::{Side, Sink};

/// Bytes for the GUI above which nothing more is read: 1 MiB.
const GUI_PENDING_MAX: usize = 1 << 20;

/// Bytes for the engine above which the GUI is not read: 32 MiB.
const ENGINE_PENDING_MAX: usize = 32 << 20;

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
    /// Bytes sent to the engine since it was last heard.
    unheard: usize,
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
    /// Since when the engine owes an `uciok`.
    uci_since: Option<Instant>,
    /// Threads that wait for [`Hub::changed`].
    waiters: u32,
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
    pub(super) child: Engine,
}

impl Hub {
    pub(super) fn new(session: Session, out: Output, gui: File, engine: ChildStdin, child: Engine) -> Self {
        Self {
            state: Mutex::new(State {
                session,
                out,
                writing: [false; 2],
                unheard: 0,
                end: None,
                close: false,
                child_gone: false,
                engine_silent: false,
                complaints_ended: false,
                uci_since: None,
                waiters: 0,
            }),
            changed: Condvar::new(),
            work: Condvar::new(),
            gui: Sink::new(gui),
            engine: Sink::new(engine),
            child,
        }
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

    /// Holds the GUI's reader while what it said before cannot be worked off.
    pub(super) fn brake_gui<'a>(&self, mut state: Locked<'a>) -> Locked<'a> {
        while state.end.is_none()
            && (state.session.is_full() || state.gui_is_full() || state.out.engine.len() > ENGINE_PENDING_MAX)
        {
            state = self.wait(state);
        }
        state
    }

    /// The engine was heard: it reads again, as far as one can tell.
    pub(super) fn heard(&self, state: &mut State) {
        state.unheard = 0;
    }

    /// Carries out what the session wants after lines of the GUI (`by_gui`) or of the engine.
    pub(super) fn settle<'a>(self: &'a Arc<Self>, mut state: Locked<'a>, by_gui: bool) -> Locked<'a> {
        if let Some(name) = state.out.log_to.take()
            && let Err(problem) = logfile::open(&name)
        {
            let State { session, out, .. } = &mut *state;
            session.notify(problem, out);
        }
        for (level, note) in state.out.notes.drain(..) {
            log::log!(level, "{note}");
        }
        self.watch_uci(&mut state);
        let pending = state.out.engine.len();
        if pending > 0 {
            if by_gui && state.unheard + pending <= PIPE_SAFE {
                state.unheard += pending;
                state = self.flush_engine(state);
            } else {
                self.work.notify_all();
            }
        }
        if !state.out.gui.is_empty() {
            state = self.flush_gui(state);
        }
        self.wake(&state);
        state
    }

    /// Writes a block of the engine's that nobody must look at straight to the GUI.
    pub(super) fn pass<'a>(self: &'a Arc<Self>, mut state: Locked<'a>, block: &[u8]) -> Locked<'a> {
        if state.is_writing(Side::Gui) {
            state.out.gui.extend_from_slice(block);
            return state;
        }
        if !state.out.gui.is_empty() {
            state = self.flush_gui(state);
        }
        state.writing[Side::Gui as usize] = true;
        drop(state);
        let written = self.gui.write(block);
        if written.is_err() {
            self.end(End::Asked);
        }
        let mut state = self.lock();
        state.writing[Side::Gui as usize] = false;
        self.flush_gui(state)
    }

    fn flush_gui<'a>(self: &'a Arc<Self>, state: Locked<'a>) -> Locked<'a> {
        let (state, written) = self.flush(state, Side::Gui, |bytes| self.gui.write(bytes));
        if written.is_ok() {
            return state;
        }
        // A GUI that does not listen any more is gone.
        drop(state);
        self.end(End::Asked);
        self.lock()
    }

    fn flush_engine<'a>(&'a self, state: Locked<'a>) -> Locked<'a> {
        // That an engine does not listen any more is found out by those who wait for its end.
        self.flush(state, Side::Engine, |bytes| self.engine.write(bytes)).0
    }

    /// Writes a side's pending bytes, unless another thread is at it: that one goes on until none are left.
    fn flush<'a>(
        &'a self,
        mut state: Locked<'a>,
        side: Side,
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
        }
        // The room is given back for the next time.
        bytes.clear();
        bytes.shrink_to(ROOM_KEPT);
        if state.pending(side).capacity() < bytes.capacity() {
            *state.pending(side) = bytes;
        }
        state.writing[side as usize] = false;
        self.wake(&state);
        if state.close {
            self.work.notify_all();
        }
        (state, result)
    }

    /// Begins the clock of an answer to `uci`, or stops it.
    fn watch_uci(&self, state: &mut State) {
        match (state.session.owes_uciok(), state.uci_since) {
            (true, None) => {
                state.uci_since = Some(Instant::now());
                self.work.notify_all();
            }
            (false, Some(_)) => state.uci_since = None,
            _ => {}
        }
    }

    /// The keeper's work: writes to the engine what might have to wait for it, closes its input in the end, and ends an
    /// engine that does not answer `uci` within `limit`.
    pub(super) fn keep(self: &Arc<Self>, limit: Duration) {
        let mut state = self.lock();
        loop {
            if !state.is_writing(Side::Engine) {
                if !state.out.engine.is_empty() {
                    state = self.flush_engine(state);
                    continue;
                }
                if state.close {
                    drop(state);
                    return self.engine.close();
                }
            }
            let due = state.uci_since.filter(|_| state.end.is_none()).map(|since| since + limit);
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            state = match left {
                None => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => {
                    drop(state);
                    let seconds = limit.as_secs();
                    self.end(End::Engine(format!("no uciok within {seconds} s: is it a UCI engine?")));
                    self.child.kill();
                    self.lock()
                }
                Some(left) => self.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
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
