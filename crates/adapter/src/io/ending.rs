//! The end: of the engine, then of the adapter.

use std::io::Write as _;
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::task_thread::TaskThread;
use tabiya_uci::engine::quoted;

use super::shared::{Shared, log_notes};
use super::state::{AdapterState, End, Locked, Side};
use super::stderr;
use crate::session::Session;
use crate::settings::Config;

/// How long the engine may take to exit after `quit`.
const QUIT_TIME: Duration = Duration::from_secs(2);

/// How long it may take after a signal: its sender waits, often in a terminal.
const SIGNAL_QUIT_TIME: Duration = Duration::from_millis(800);

/// How long a write may make no progress, once the engine has ended, before its reader counts as one that does not
/// read. On a busy machine a reader may well be idle for a second.
const STUCK_TIME: Duration = Duration::from_secs(2);

/// The number of such periods that forwarding the last output of an engine that failed may take.
const LAST_OUTPUT_PERIODS: u32 = 5;

/// The number of such periods that it may take after `quit`, when no one waits for it.
const QUIT_OUTPUT_PERIODS: u32 = 2;

/// How long the adapter's end waits for the books of the configuration: no longer than for the engine.
const FIRST_BOOKS_TIME: Duration = Duration::from_secs(2);

/// How long it waits until other processes can know the last lines that were played.
const LAST_LINES_TIME: Duration = Duration::from_secs(10);

impl Shared {
    /// Ends the adapter because the engine has become useless.
    pub(super) fn give_up(self: &Arc<Self>, why: &str) {
        self.end(End::Engine(why.to_owned()));
        self.child.kill();
    }

    /// Starts the end: sends `quit` to the engine, closes its input, and kills it if it does not exit in time. Only the
    /// first reason counts.
    pub(super) fn end(self: &Arc<Self>, why: End) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        log_notes(&mut state.out);
        log::info!("the adapter ends: {why:?}");
        if matches!(why, End::Asked) {
            // The last game is over; it is kept before anything else takes time.
            state.session.at(self.now());
            state.update(Session::finish);
            log_notes(&mut state.out);
            self.carry_out(&mut state);
        }
        state.end = Some(why);
        let unfinished = state.session.unfinished();
        state.out.engine.extend_from_slice(unfinished);
        state.out.engine.extend_from_slice(b"quit\n");
        self.changed.notify_all();
        self.kill_after(&mut state, QUIT_TIME);
        drop(self.write_to_engine(state, Side::Engine));
    }

    /// Starts the end because of a signal; one that has begun gets no more time than this one.
    pub(super) fn end_by_signal(self: &Arc<Self>) {
        self.end(End::Asked);
        self.kill_after(&mut self.lock(), SIGNAL_QUIT_TIME);
    }

    /// Waits for the end of the child, then ends the adapter. This is the main thread's work.
    pub(super) fn finish(self: &Arc<Self>, config: &Config, word: fn(&Error) -> String) -> Result<()> {
        let status = self.child.wait();
        self.child.kill_group();
        let mut state = self.lock();
        state.engine.process = true;
        self.wake(&state);
        if matches!(state.end, Some(End::Asked)) {
            // A missing book is reported however soon the GUI sends `quit`.
            state = self.wait_for(state, FIRST_BOOKS_TIME, |state| !state.opens_first_books());
        }
        state = self.forward_last_output(state);
        // From here on nothing else ends the adapter.
        let end = state.end.replace(End::Asked).unwrap_or_else(|| {
            End::Engine(match status {
                Ok(status) => format!("the engine ended by itself ({status})"),
                Err(error) => format!("cannot wait for the engine: {error}"),
            })
        });
        state.session.at(self.now());
        let result = report_end(end, &mut state, &config.engine, word);
        // What the session says at its end is learned and shared as what it has said before.
        self.carry_out(&mut state);
        state = self.write_last(state);
        state = self.learn_last_games(state);
        let lines = state.lines.take();
        drop(state);
        lines.map(|lines| lines.close().comes_within(LAST_LINES_TIME));
        let mut state = self.lock();
        log_notes(&mut state.out);
        drop(self.write_last(state));
        result
    }

    /// Waits until the last output of the engine has been forwarded, unless its reader does not read.
    fn forward_last_output<'a>(&self, mut state: Locked<'a>) -> Locked<'a> {
        let is_forwarded =
            |state: &AdapterState| state.engine.output && state.engine.stderr && !state.writing.gui;
        let asked = matches!(state.end, Some(End::Asked));
        let periods = if asked { QUIT_OUTPUT_PERIODS } else { LAST_OUTPUT_PERIODS };
        for _ in 0..periods {
            let writes = state.writing.count;
            state = self.wait_for(state, STUCK_TIME, is_forwarded);
            let stuck = (state.writing.gui || state.writing.stderr) && state.writing.count == writes;
            if is_forwarded(&state) || stuck {
                break;
            }
        }
        state
    }

    /// Waits until the last games have been learned, or at least kept, and reports it.
    fn learn_last_games<'a>(self: &'a Arc<Self>, mut state: Locked<'a>) -> Locked<'a> {
        if let Some(ending) = state.learning.end() {
            // The learning threads report under the lock.
            drop(state);
            let messages = ending.wait();
            state = self.lock();
            for (level, message) in messages {
                state.update(|session, out| session.gui.report(level, message, out));
            }
        }
        state.update(|session, out| session.gui.send_reports(out));
        log_notes(&mut state.out);
        state
    }

    /// Writes events, and the last bytes to the GUI. One that does not read gets nothing in the middle of a line, and nothing more.
    fn write_last<'a>(self: &'a Arc<Self>, mut state: Locked<'a>) -> Locked<'a> {
        self.write_events(&mut state.out);
        if state.writing.gui || state.out.gui.is_empty() {
            return state;
        }
        state.writing.gui = true;
        let text = mem::take(&mut state.out.gui);
        drop(state);
        let shared = Arc::clone(self);
        let write = move |_: Receiver<()>| _ = (&shared.gui).write_all(&text);
        let thread = TaskThread::start("last output", write);
        let is_written = thread.is_ok_and(|thread| thread.close().comes_within(STUCK_TIME));
        let mut state = self.lock();
        state.writing.gui = !is_written;
        state
    }
}

/// Reports to the GUI and to the log why the adapter ends; returns the error for the caller.
fn report_end(end: End, state: &mut AdapterState, engine: &str, word: fn(&Error) -> String) -> Result<()> {
    let AdapterState { session, out, engine: ends, .. } = state;
    match end {
        End::Asked => Ok(()),
        // tabiya stops rather than play a match without the requested books. The last of them is the error; the others are
        // reported before it.
        End::Books(mut unopened) => {
            let last = unopened.pop().unwrap_or_default();
            unopened.iter().for_each(|message| stderr::say(message));
            let error = Error::new(ErrorKind::File, last).remedied_by(Remedy::OptionalBooks);
            unopened.push(word(&error));
            unopened.iter().for_each(|message| log::error!("{message}"));
            session.books_refused(&unopened, out);
            Err(error)
        }
        End::Engine(what) => {
            let words = quoted(ends.last_stdout.lines().chain(ends.last_stderr.lines()));
            let error = Error::new(ErrorKind::Engine, format!("{engine}: {what}{words}"));
            let error = error.remedied_by(Remedy::TryEngine);
            let message = word(&error);
            session.engine_gone(&message, out);
            log_notes(out);
            log::error!("{message}");
            Err(error)
        }
    }
}
