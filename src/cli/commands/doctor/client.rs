//! A client that talks UCI to the adapter, as a GUI does, and never waits for ever.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::output::exit::Exit;
use crate::cli::output::{UNDER_DOCTOR, warned};
use crate::uci::noticed;

/// How long the adapter may take to end after `quit`: its own two seconds for the engine, and some.
const QUIT_TIME: Duration = Duration::from_secs(5);

/// Lines of the engine's standard error that are shown when it fails.
const ENGINE_WORDS: usize = 5;

/// Lines of one answer that are kept.
const LINES_KEPT: usize = 4096;

/// Lines of a standard error that are kept.
const COMPLAINTS_KEPT: usize = 100;

/// The longest line that is kept whole, in bytes.
const LINE_MAX: u64 = 1 << 20;

/// Lines that may wait to be read: the adapter, and so the engine, waits meanwhile.
const LINES_UNREAD: usize = 1024;

/// The adapter does not answer any more.
pub(super) struct Gone {
    /// What it said last, or what it failed to do.
    pub(super) said: String,
    /// The exit code that this leads to.
    pub(super) exit: Exit,
}

/// A running adapter.
pub(super) struct Client {
    adapter: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    complaints: Complaints,
    notices: Vec<String>,
}

impl Client {
    /// Starts this executable again, as the adapter.
    pub(super) fn start(arguments: &[String]) -> Result<Self, String> {
        let program =
            std::env::current_exe().map_err(|error| format!("cannot find tabiya itself: {error}"))?;
        let mut adapter = Command::new(program)
            .args(arguments)
            .env(UNDER_DOCTOR, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start tabiya again: {error}"))?;
        let input = adapter.stdin.take();
        let lines = read_lines(adapter.stdout.take());
        let complaints = Complaints::read(adapter.stderr.take());
        Ok(Self { adapter, input, lines, complaints, notices: Vec::new() })
    }

    /// What the adapter had to tell on its own.
    pub(super) fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Sends a line and gives the lines up to the one that begins with `end`, that one included; of very many the
    /// first and the last.
    pub(super) fn ask(&mut self, line: &str, end: &str, patience: Duration) -> Result<Vec<String>, Gone> {
        self.send(line);
        let until = Instant::now() + patience;
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
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
                    let said = format!("no {end} within {} s after `{line}`", patience.as_secs());
                    return Err(Gone { said, exit: Exit::Engine });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.last_words()),
            }
        }
    }

    /// Sends a line that has no answer.
    pub(super) fn send(&mut self, line: &str) {
        // A closed pipe is found out by the next answer that does not come.
        if let Some(input) = &mut self.input {
            let _ = writeln!(input, "{line}").and_then(|()| input.flush());
        }
    }

    /// Says `quit` and waits for the end.
    pub(super) fn quit(mut self) -> Result<(), String> {
        self.send("quit");
        self.input = None;
        let until = Instant::now() + QUIT_TIME;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Err("tabiya does not end after quit".to_owned()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        match self.adapter.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("tabiya ended with {status} after quit")),
            Err(error) => Err(format!("tabiya's end cannot be seen: {error}")),
        }
    }

    /// What the adapter complained of when it ended, and what the engine wrote to its standard error.
    fn last_words(&mut self) -> Gone {
        let told = self.complaints.all();
        let own = told.iter().rev().find_map(|line| warned(line));
        let said = own
            .or(self.notices.last().map(String::as_str))
            .unwrap_or("tabiya ended without a word")
            .to_owned();
        // The same was told to the GUI.
        self.notices.retain(|notice| *notice != said);
        let engine: Vec<&String> = told.iter().filter(|line| warned(line).is_none()).collect();
        let last = engine.get(engine.len().saturating_sub(ENGINE_WORDS)..).unwrap_or_default();
        let heard: String = last.iter().map(|line| format!("\n      the engine wrote: {line}")).collect();
        // It reads nothing any more, so it has ended or is about to.
        self.input = None;
        let code = self.adapter.wait().ok().and_then(|status| status.code());
        let exit = [Exit::Usage, Exit::File].into_iter().find(|exit| code == Some(*exit as i32));
        Gone { said: format!("{said}{heard}"), exit: exit.unwrap_or(Exit::Engine) }
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

/// The last lines of a standard error, read all the time: who writes there must never wait.
struct Complaints {
    last: Arc<Mutex<VecDeque<String>>>,
    /// Closed when the last line has been read.
    open: Receiver<()>,
}

impl Complaints {
    fn read(pipe: Option<impl Read + Send + 'static>) -> Self {
        let (sender, open) = sync_channel(0);
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let lines = Arc::clone(&last);
        if let Some(pipe) = pipe {
            thread::spawn(move || {
                let _open = sender;
                each_line(pipe, |line| {
                    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
                    if lines.len() >= COMPLAINTS_KEPT {
                        lines.pop_front();
                    }
                    lines.push_back(line.trim_end().to_owned());
                    true
                });
            });
        }
        Self { last, open }
    }

    /// The last lines, once there will be no more.
    fn all(&self) -> Vec<String> {
        let _ = self.open.recv_timeout(QUIT_TIME);
        self.last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Reads a pipe's lines on a thread of its own.
fn read_lines(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = sync_channel(LINES_UNREAD);
    if let Some(pipe) = pipe {
        thread::spawn(move || each_line(pipe, |line| sender.send(line).is_ok()));
    }
    receiver
}

/// Gives each line of a pipe, as long as more are wanted; of an endless line pieces.
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
