//! A client that talks UCI to a child process, and never waits for ever.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Engine;
use crate::base::error::Result;

/// How long the last lines of standard error may take to arrive once the process has ended.
const LAST_LINES_TIME: Duration = Duration::from_secs(5);

/// How many lines of standard error are kept.
const ERROR_LINES_KEPT: usize = 100;

/// The longest line that is kept whole, in bytes.
const LINE_MAX: u64 = 1 << 20;

/// How many lines may wait to be read before the process has to wait.
const LINES_UNREAD: usize = 1024;

/// Why there is no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoLine {
    /// It did not come in time.
    Late,
    /// The process has closed its output: it has ended, or is about to.
    Ended,
}

/// A running process that speaks UCI. Dropped, it is killed.
pub struct Client {
    engine: Engine,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: ErrorLines,
}

impl Client {
    /// Starts a program with these arguments, in `folder` or else in our own. Call it from the thread that uses it: on Linux
    /// the process ends with that.
    ///
    /// # Errors
    /// As [`Engine::start`].
    pub fn start(program: &Path, args: &[String], folder: Option<&Path>) -> Result<Self> {
        Engine::start(program, args, folder).map(Self::new)
    }

    /// As [`Client::start`], with a command that is set up apart from pipes.
    ///
    /// # Errors
    /// As [`Engine::start`].
    pub(crate) fn spawn(program: &Path, command: Command) -> Result<Self> {
        Engine::spawn(program, command).map(Self::new)
    }

    fn new((engine, pipes): (Engine, super::Pipes)) -> Self {
        let lines = read_lines(pipes.stdout);
        let errors = ErrorLines::read(pipes.stderr);
        Self { engine, input: Some(pipes.stdin), lines, errors }
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        // A closed pipe shows when the next answer does not come.
        if let Some(input) = &mut self.input {
            let _ = writeln!(input, "{line}").and_then(|()| input.flush());
        }
    }

    /// The next line, without its end.
    ///
    /// # Errors
    /// When no line comes: why.
    pub fn line(&self, until: Instant) -> Result<String, NoLine> {
        let left = until.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(left) {
            Ok(line) => Ok(line.trim_end().to_owned()),
            Err(RecvTimeoutError::Timeout) => Err(NoLine::Late),
            Err(RecvTimeoutError::Disconnected) => Err(NoLine::Ended),
        }
    }

    /// Sends a line and shows those that follow to `see`, up to and including the one that begins with the word `end`.
    ///
    /// # Errors
    /// When that does not come within `patience`.
    pub fn ask(
        &mut self,
        line: &str,
        end: &str,
        patience: Duration,
        mut see: impl FnMut(String),
    ) -> Result<(), NoLine> {
        self.send(line);
        let until = Instant::now() + patience;
        loop {
            let line = self.line(until)?;
            let is_last = line.split_whitespace().next() == Some(end);
            see(line);
            if is_last {
                return Ok(());
            }
        }
    }

    /// The last lines of standard error, once the process has ended.
    pub fn errors(&self) -> Vec<String> {
        self.errors.all()
    }

    /// Closes the input, and waits for the end of a process that no longer writes.
    ///
    /// # Errors
    /// When the system does not report it.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        self.input = None;
        self.engine.wait()
    }

    /// Sends `quit` and waits for the end.
    ///
    /// # Errors
    /// When it does not come within `patience`: `None`. When the system does not report how it ended.
    pub fn quit(mut self, patience: Duration) -> Result<ExitStatus, Option<io::Error>> {
        self.send("quit");
        self.input = None;
        let until = Instant::now() + patience;
        loop {
            match self.line(until) {
                Ok(_) => {}
                Err(NoLine::Late) => return Err(None),
                Err(NoLine::Ended) => return self.wait().map_err(Some),
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        self.engine.kill();
        let _ = self.engine.wait();
    }
}

/// The last lines of standard error. They are read all the time, so that nobody has to wait to write there.
struct ErrorLines {
    last: Arc<Mutex<VecDeque<String>>>,
    /// Closed once the last line is read.
    open: Receiver<()>,
}

impl ErrorLines {
    fn read(pipe: impl Read + Send + 'static) -> Self {
        let (sender, open) = sync_channel(0);
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let lines = Arc::clone(&last);
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
        Self { last, open }
    }

    /// The last lines, once no more can come.
    fn all(&self) -> Vec<String> {
        let _ = self.open.recv_timeout(LAST_LINES_TIME);
        self.last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Reads a pipe's lines on a separate thread.
fn read_lines(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = sync_channel(LINES_UNREAD);
    thread::spawn(move || each_line(pipe, |line| sender.send(line).is_ok()));
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
