//! A client that talks UCI to a child process, and limits each of its waits.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::Result;
use tabiya_base::interrupt;

use super::Engine;
use super::words::{LastWords, quoted};

/// How long the last lines of standard error may take to arrive once the process has ended.
const LAST_LINES_TIME: Duration = Duration::from_secs(5);

/// How long to wait for a line before it is checked whether to stop.
const POLL: Duration = Duration::from_millis(50);

/// Bytes of standard error that are read at once.
const ERROR_BLOCK: usize = 8 << 10;

/// The longest line that is kept whole, in bytes.
const MAX_LINE: u64 = 1 << 16;

/// How many lines may wait to be read before the process has to wait.
const LINES_UNREAD: usize = 1024;

/// How many lines may wait for a process that does not read; further ones are lost.
const LINES_UNWRITTEN: usize = 1024;

/// Why there is no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoLine {
    /// It did not come in time.
    Late,
    /// The process has closed its output. It may live on.
    Ended,
    /// The user asked the work to stop, or the answer is no longer wanted.
    Interrupted,
}

/// A running process that speaks UCI. Dropped, it is killed.
pub struct Client {
    engine: Engine,
    input: Option<SyncSender<String>>,
    lines: Receiver<String>,
    said: LastWords,
    errors: Errors,
    /// Whether nobody wants an answer any more.
    is_over: Box<dyn Fn() -> bool + Send>,
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
    pub fn spawn(program: &Path, command: Command) -> Result<Self> {
        Engine::spawn(program, command).map(Self::new)
    }

    fn new((engine, pipes): (Engine, super::Pipes)) -> Self {
        let lines = read_lines(pipes.stdout);
        let (input, errors) = (Some(write_lines(pipes.stdin)), Errors::read(pipes.stderr));
        Self { engine, input, lines, said: LastWords::default(), errors, is_over: Box::new(interrupt::asked) }
    }

    /// From now on also an answer to this ends each wait, as if the user asked the work to stop.
    pub fn stop_when(&mut self, is_over: impl Fn() -> bool + Send + 'static) {
        self.is_over = Box::new(move || interrupt::asked() || is_over());
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Sends a line, and waits for nothing.
    pub fn send(&mut self, line: &str) {
        // A closed pipe, or one that is not read, shows when the next answer does not come.
        if let Some(input) = &self.input {
            let _ = input.try_send(format!("{line}\n"));
        }
    }

    /// The next line, without its end. Lines that come after `until` are late, however many they are.
    ///
    /// # Errors
    /// When no line comes: why.
    pub fn line(&mut self, until: Instant) -> Result<String, NoLine> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if (self.is_over)() {
                return Err(NoLine::Interrupted);
            }
            if left.is_zero() {
                return Err(NoLine::Late);
            }
            match self.lines.recv_timeout(left.min(POLL)) {
                Ok(line) => {
                    self.said.hear(line.as_bytes());
                    return Ok(line.trim_end().to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(NoLine::Ended),
            }
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

    /// Kills the process, and returns what it wrote last for people, as the end of a message.
    pub fn last_words(&mut self) -> String {
        self.input = None;
        self.engine.kill();
        let errors = self.errors.all();
        quoted(self.said.lines().chain(errors))
    }

    /// Closes the input and waits for the end of the process: `None` if it does not come within `patience`.
    ///
    /// # Errors
    /// When the system does not report it.
    pub fn wait(&mut self, patience: Duration) -> io::Result<Option<ExitStatus>> {
        self.input = None;
        self.engine.wait_timeout(patience)
    }

    /// Sends `quit` and waits for the end.
    ///
    /// # Errors
    /// When it does not come within `patience`, or the user asked the work to stop: `None`. When the system does not report
    /// how it ended.
    pub fn quit(mut self, patience: Duration) -> Result<ExitStatus, Option<io::Error>> {
        self.send("quit");
        self.input = None;
        let until = Instant::now() + patience;
        loop {
            match self.line(until) {
                Ok(_) => {}
                Err(NoLine::Late | NoLine::Interrupted) => return Err(None),
                Err(NoLine::Ended) => {
                    let left = until.saturating_duration_since(Instant::now());
                    return self.wait(left).map_err(Some)?.ok_or(None);
                }
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

/// The end of standard error. It is read all the time, so that the engine never waits to write there.
struct Errors {
    last: Arc<Mutex<LastWords>>,
    /// Closed once the last line is read.
    open: Receiver<()>,
}

impl Errors {
    fn read(mut pipe: impl Read + Send + 'static) -> Self {
        let (sender, open) = sync_channel(0);
        let last = Arc::new(Mutex::new(LastWords::default()));
        let words = Arc::clone(&last);
        thread::spawn(move || {
            let _open = sender;
            let mut block = vec![0; ERROR_BLOCK];
            while let Ok(count @ 1..) = pipe.read(&mut block) {
                let read = block.part(..count);
                words.lock().unwrap_or_else(PoisonError::into_inner).hear(read);
            }
        });
        Self { last, open }
    }

    /// The last lines, once no more can come.
    fn all(&self) -> Vec<String> {
        let _ = self.open.recv_timeout(LAST_LINES_TIME);
        self.last.lock().unwrap_or_else(PoisonError::into_inner).lines().collect()
    }
}

/// Writes lines to a pipe on a separate thread, until all senders, or the reader, are gone.
fn write_lines(mut pipe: impl Write + Send + 'static) -> SyncSender<String> {
    let (sender, lines) = sync_channel::<String>(LINES_UNWRITTEN);
    thread::spawn(move || {
        for line in lines {
            if pipe.write_all(line.as_bytes()).and_then(|()| pipe.flush()).is_err() {
                return;
            }
        }
    });
    sender
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
    while reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if !take(String::from_utf8_lossy(&line).into_owned()) {
            return;
        }
        line.clear();
    }
}
