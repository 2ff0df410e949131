//! A client that talks UCI to the adapter, as a GUI does, and never waits for ever.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::adapter::run::SEE_DOCTOR;

/// How long the adapter may take to end after `quit`: its own two seconds for the engine, and some.
const QUIT_TIME: Duration = Duration::from_secs(5);

/// Lines of the engine's standard error that are shown when it fails.
const ENGINE_WORDS: usize = 5;

/// What stands before the adapter's own messages.
const NOTICE: &str = "info string tabiya: ";

/// The adapter does not answer any more.
pub(super) struct Gone {
    /// What it said last, or what it failed to do.
    pub(super) said: String,
}

/// A running adapter.
pub(super) struct Client {
    adapter: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    complaints: Receiver<String>,
    notices: Vec<String>,
}

impl Client {
    /// Starts this executable again, as the adapter.
    pub(super) fn start(arguments: &[String]) -> Result<Self, String> {
        let program =
            std::env::current_exe().map_err(|error| format!("cannot find tabiya itself: {error}"))?;
        let mut adapter = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start tabiya again: {error}"))?;
        let input = adapter.stdin.take();
        let lines = read_lines(adapter.stdout.take());
        let complaints = read_lines(adapter.stderr.take());
        Ok(Self { adapter, input, lines, complaints, notices: Vec::new() })
    }

    /// What the adapter had to tell on its own.
    pub(super) fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Sends a line and gives the lines up to the one that begins with `end`, that one included.
    pub(super) fn ask(&mut self, line: &str, end: &str, patience: Duration) -> Result<Vec<String>, Gone> {
        self.send(line);
        let until = Instant::now() + patience;
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(notice) = line.strip_prefix(NOTICE) {
                        self.notices.push(notice.trim().to_owned());
                    }
                    let is_last = line.split_whitespace().next() == Some(end);
                    lines.push(line.trim_end().to_owned());
                    if is_last {
                        return Ok(lines);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let said = format!("no {end} within {} s after `{line}`", patience.as_secs());
                    return Err(Gone { said });
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
        let told: Vec<String> = self.complaints.iter().map(|line| line.trim_end().to_owned()).collect();
        let own = told.iter().rev().find_map(|line| line.strip_prefix("tabiya: "));
        let said = own
            .or(self.notices.last().map(String::as_str))
            .unwrap_or("tabiya ended without a word")
            .to_owned();
        // The same was told to the GUI.
        self.notices.retain(|notice| *notice != said);
        let engine: Vec<&String> = told.iter().filter(|line| !line.starts_with("tabiya: ")).collect();
        let last = engine.get(engine.len().saturating_sub(ENGINE_WORDS)..).unwrap_or_default();
        let heard: String = last.iter().map(|line| format!("\n      the engine wrote: {line}")).collect();
        let said = said.strip_suffix(&format!(": {SEE_DOCTOR}")).unwrap_or(&said);
        Gone { said: format!("{said}{heard}") }
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

/// Reads a pipe's lines on a thread of its own.
fn read_lines(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(pipe) = pipe {
        thread::spawn(move || {
            let mut reader = BufReader::new(pipe);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
                line.clear();
            }
        });
    }
    receiver
}
