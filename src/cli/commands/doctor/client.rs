//! A client that talks UCI to the adapter as a GUI does, and never waits forever.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Problem;
use crate::cli::output::exit::Exit;
use crate::cli::output::{UNDER_DOCTOR, warned};
use crate::uci::noticed;

/// How long the adapter may take to end after `quit`: its own two seconds for the engine, and some more.
const QUIT_TIME: Duration = Duration::from_secs(5);

/// How many lines of the engine's standard error are shown when it fails.
const ENGINE_LINES: usize = 5;

/// How many lines of one answer are kept.
const LINES_KEPT: usize = 4096;

/// How many lines of standard error are kept.
const ERROR_LINES_KEPT: usize = 100;

/// The longest line that is kept whole, in bytes.
const LINE_MAX: u64 = 1 << 20;

/// How many lines may wait to be read before the adapter, and so the engine, has to wait.
const LINES_UNREAD: usize = 1024;

/// A running adapter.
pub(super) struct Client {
    adapter: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: ErrorLines,
    notices: Vec<String>,
}

impl Client {
    /// Starts this executable again, as the adapter.
    pub(super) fn start(arguments: &[String]) -> Result<Self, Problem> {
        let started = std::env::current_exe().and_then(|program| {
            Command::new(program)
                .args(arguments)
                .env(UNDER_DOCTOR, "1")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        });
        let mut adapter =
            started.map_err(|error| Problem::engine(format!("cannot start tabiya again: {error}")))?;
        let input = adapter.stdin.take();
        let lines = read_lines(adapter.stdout.take());
        let errors = ErrorLines::read(adapter.stderr.take());
        Ok(Self { adapter, input, lines, errors, notices: Vec::new() })
    }

    /// The adapter's own messages.
    pub(super) fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Sends a line and returns the lines up to and including the one that begins with `end`; if they are very many, the
    /// first and the last of them.
    pub(super) fn ask(&mut self, line: &str, end: &str, patience: Duration) -> Result<Vec<String>, Problem> {
        self.send(line);
        let until = Instant::now() + patience;
        let mut lines = Vec::new();
        loop {
            match self.next_line(until) {
                Ok(line) => {
                    if let Some(message) = noticed(&line) {
                        self.notices.push(message.trim().to_owned());
                    }
                    if lines.len() >= LINES_KEPT {
                        lines.drain(LINES_KEPT / 2..LINES_KEPT * 3 / 4);
                    }
                    let is_last = line.split_whitespace().next() == Some(end);
                    lines.push(line.trim_end().to_owned());
                    if is_last {
                        return Ok(lines);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let what = format!("no {end} within {} s after `{line}`", patience.as_secs());
                    return Err(Problem::engine(what));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.why_ended()),
            }
        }
    }

    fn next_line(&self, until: Instant) -> Result<String, RecvTimeoutError> {
        self.lines.recv_timeout(until.saturating_duration_since(Instant::now()))
    }

    /// Sends a line that has no answer.
    pub(super) fn send(&mut self, line: &str) {
        // A closed pipe shows when the next answer does not come.
        if let Some(input) = &mut self.input {
            let _ = writeln!(input, "{line}").and_then(|()| input.flush());
        }
    }

    /// Sends `quit` and waits for the end.
    pub(super) fn quit(mut self) -> Result<(), Problem> {
        self.send("quit");
        self.input = None;
        let until = Instant::now() + QUIT_TIME;
        loop {
            match self.next_line(until) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Problem::engine("tabiya does not end after quit"));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        match self.adapter.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Problem::engine(format!("tabiya ended with {status} after quit"))),
            Err(error) => Err(Problem::engine(format!("cannot wait for tabiya: {error}"))),
        }
    }

    /// Why the adapter ended: its last message, and what the engine wrote to standard error.
    fn why_ended(&mut self) -> Problem {
        let lines = self.errors.all();
        let own = lines.iter().rev().find_map(|line| warned(line));
        let mut what = own
            .or(self.notices.last().map(String::as_str))
            .unwrap_or("tabiya ended without a message")
            .to_owned();
        // The GUI gets the same message.
        self.notices.retain(|notice| *notice != what);
        let engine: Vec<_> = lines.iter().filter(|line| warned(line).is_none()).collect();
        for line in engine.iter().skip(engine.len().saturating_sub(ENGINE_LINES)) {
            what.push_str(&format!("\n      the engine wrote: {line}"));
        }
        // The adapter no longer reads, so it has ended or is about to.
        self.input = None;
        let code = self.adapter.wait().ok().and_then(|status| status.code());
        let exit = [Exit::Usage, Exit::File].into_iter().find(|exit| code == Some(*exit as i32));
        Problem { what, exit: exit.unwrap_or(Exit::Engine) }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        if !matches!(self.adapter.try_wait(), Ok(Some(_))) {
            let _ = self.adapter.kill();
            let _ = self.adapter.wait();
        }
    }
}

/// The last lines of standard error. They are read all the time, so that nobody has to wait to write there.
struct ErrorLines {
    last: Arc<Mutex<VecDeque<String>>>,
    /// Closed once the last line is read.
    open: Receiver<()>,
}

impl ErrorLines {
    fn read(pipe: Option<impl Read + Send + 'static>) -> Self {
        let (sender, open) = sync_channel(0);
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let lines = Arc::clone(&last);
        if let Some(pipe) = pipe {
            thread::spawn(move || {
                let _open = sender;
                each_line(pipe, |line| {
                    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                    if lines.len() >= ERROR_LINES_KEPT {
                        lines.pop_front();
                    }
                    lines.push_back(line.trim_end().to_owned());
                    true
                });
            });
        }
        Self { last, open }
    }

    /// The last lines, once no more can come.
    fn all(&self) -> Vec<String> {
        let _ = self.open.recv_timeout(QUIT_TIME);
        self.last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Reads a pipe's lines on a separate thread.
fn read_lines(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = sync_channel(LINES_UNREAD);
    if let Some(pipe) = pipe {
        thread::spawn(move || each_line(pipe, |line| sender.send(line).is_ok()));
    }
    receiver
}

/// Passes each line of a pipe to `take` until that returns `false`; an endless line comes in pieces.
fn each_line(pipe: impl Read, mut take: impl FnMut(String) -> bool) {
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while reader.by_ref().take(LINE_MAX).read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if !take(String::from_utf8_lossy(&line).into_owned()) {
            return;
        }
        line.clear();
    }
}
