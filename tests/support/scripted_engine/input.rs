//! Lines from standard input: read directly where nothing else can happen meanwhile, else through a thread.

use std::io::{self, Read, StdinLock};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Instant;

/// One read takes up to this many bytes: the capacity of a pipe on Linux.
const BUFFER: usize = 65536;

/// Lines that the reading thread may be ahead; more would be a queue that grows.
const AHEAD: usize = 16;

/// What came.
#[derive(PartialEq, Eq)]
pub enum Event {
    /// A line, now in the caller's buffer without its `\n`.
    Line,
    /// The time is up.
    Timeout,
    /// Standard input has ended.
    End,
}

/// The source of lines.
pub enum Input {
    /// Reads when it is asked for a line: no other thread has to be woken.
    Direct(Lines),
    /// A thread reads, so that waiting can end without a line.
    Threaded(Receiver<Vec<u8>>),
}

impl Input {
    /// Standard input; `timed` where [`Input::next`] will be given deadlines.
    pub fn new(timed: bool) -> Self {
        if !timed {
            return Input::Direct(Lines::new());
        }
        let (sender, receiver) = sync_channel(AHEAD);
        thread::spawn(move || {
            let mut lines = Lines::new();
            let mut line = Vec::new();
            while lines.next(&mut line) && sender.send(std::mem::take(&mut line)).is_ok() {}
        });
        Input::Threaded(receiver)
    }

    /// Whether a line is there already, so that [`Input::next`] will not wait.
    pub fn ready(&self) -> bool {
        matches!(self, Input::Direct(lines) if lines.ready())
    }

    /// Waits for a line. A direct source knows no deadlines.
    pub fn next(&mut self, line: &mut Vec<u8>, deadline: Option<Instant>) -> Event {
        let received = match (self, deadline) {
            (Input::Direct(lines), _) => return if lines.next(line) { Event::Line } else { Event::End },
            (Input::Threaded(lines), None) => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (Input::Threaded(lines), Some(at)) => {
                lines.recv_timeout(at.saturating_duration_since(Instant::now()))
            }
        };
        match received {
            Ok(received) => {
                *line = received;
                Event::Line
            }
            Err(RecvTimeoutError::Timeout) => Event::Timeout,
            Err(RecvTimeoutError::Disconnected) => Event::End,
        }
    }
}

/// Splits standard input into lines; a last one without an end counts.
pub struct Lines {
    stdin: StdinLock<'static>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Lines {
    fn new() -> Self {
        Self { stdin: io::stdin().lock(), buffer: vec![0; BUFFER], start: 0, end: 0 }
    }

    fn ready(&self) -> bool {
        self.buffer[self.start..self.end].contains(&b'\n')
    }

    fn next(&mut self, line: &mut Vec<u8>) -> bool {
        line.clear();
        loop {
            let waiting = &self.buffer[self.start..self.end];
            if let Some(length) = waiting.iter().position(|&byte| byte == b'\n') {
                line.extend_from_slice(&waiting[..length]);
                self.start += length + 1;
                return true;
            }
            line.extend_from_slice(waiting);
            self.start = 0;
            // A buffer larger than the standard library's own is read into directly: one system call.
            match self.stdin.read(&mut self.buffer) {
                Ok(0) => {
                    self.end = 0;
                    return !line.is_empty();
                }
                Ok(count) => self.end = count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => self.end = 0,
                Err(_) => {
                    self.end = 0;
                    return false;
                }
            }
        }
    }
}
