//! A process that speaks UCI, and the system's facts about it.

use std::error::Error;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::flood::Flood;

/// The result of a step; an error is fatal, and is a sentence.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One read takes up to this many bytes: the capacity of a pipe on Linux.
const BUFFER: usize = 65536;

/// A peer that sends nothing for this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The number of reads, by which the watchdog sees progress.
static READS: AtomicU64 = AtomicU64::new(0);

/// Ends the bench with code 1 if no peer has sent anything for [`PATIENCE`].
pub fn watch() {
    thread::spawn(|| {
        loop {
            let before = READS.load(Ordering::Relaxed);
            thread::sleep(PATIENCE);
            if READS.load(Ordering::Relaxed) == before {
                eprintln!("bench: nothing was said for {} s: a process hangs", PATIENCE.as_secs());
                std::process::exit(1);
            }
        }
    });
}

/// A running process with its pipes.
pub struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    line: Vec<u8>,
}

impl Peer {
    /// Starts a process; nothing is sent to it yet.
    pub fn start(command: &mut Command) -> Result<Self> {
        let name = command.get_program().display().to_string();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {name}: {error}"))?;
        let stdin = child.stdin.take().ok_or("no standard input")?;
        let stdout = child.stdout.take().ok_or("no standard output")?;
        Ok(Self { child, stdin, stdout, buffer: vec![0; BUFFER], start: 0, end: 0, line: Vec::new() })
    }

    /// Starts a process and waits until it is ready to play.
    pub fn ready(command: &mut Command) -> Result<Self> {
        let mut peer = Self::start(command)?;
        peer.ask(b"uci\nisready\n", b"readyok")?;
        Ok(peer)
    }

    /// Writes the bytes in one write.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stdin.write_all(bytes)?)
    }

    /// Writes the bytes and reads until a line starts with `prefix`: the time between, and the line.
    pub fn ask(&mut self, bytes: &[u8], prefix: &[u8]) -> Result<(Duration, &[u8])> {
        let asked = Instant::now();
        self.stdin.write_all(bytes)?;
        self.read_until(prefix)?;
        Ok((asked.elapsed(), &self.line))
    }

    /// Reads until a line starts with `prefix`, and returns it without its end.
    pub fn read_until(&mut self, prefix: &[u8]) -> Result<&[u8]> {
        loop {
            self.read_line()?;
            if self.line.starts_with(prefix) {
                return Ok(&self.line);
            }
        }
    }

    /// The next line, without its end.
    pub fn read_line(&mut self) -> Result<&[u8]> {
        self.line.clear();
        loop {
            let waiting = &self.buffer[self.start..self.end];
            if let Some(length) = waiting.iter().position(|&byte| byte == b'\n') {
                self.line.extend_from_slice(&waiting[..length]);
                self.start += length + 1;
                if self.line.ends_with(b"\r") {
                    self.line.pop();
                }
                return Ok(&self.line);
            }
            self.line.extend_from_slice(waiting);
            self.start = self.end;
            self.fill()?;
        }
    }

    /// Reads `count` lines of a flood and compares every byte; `each` is called with the number of whole lines
    /// read so far, whenever a read has been used up.
    pub fn read_flood(&mut self, count: u64, mut each: impl FnMut(u64) -> Result<()>) -> Result<()> {
        let mut flood = Flood::new(false);
        let mut done = 0;
        let mut expected = flood.next_line();
        while done < count {
            if self.start == self.end {
                each(done)?;
                self.fill()?;
            }
            let waiting = &self.buffer[self.start..self.end];
            let length = waiting.len().min(expected.len());
            if waiting[..length] != expected[..length] {
                let got = String::from_utf8_lossy(&waiting[..length]);
                return Err(format!("line {} of the flood came changed: {got}", done + 1).into());
            }
            self.start += length;
            expected = &expected[length..];
            if expected.is_empty() {
                done += 1;
                expected = flood.next_line();
            }
        }
        Ok(())
    }

    /// Sends quit and waits for the end of the process: the time between.
    pub fn quit(mut self) -> Result<Duration> {
        let asked = Instant::now();
        self.stdin.write_all(b"quit\n")?;
        let status = self.child.wait()?;
        let time = asked.elapsed();
        if !status.success() {
            return Err(format!("a process ended with {status} after quit").into());
        }
        Ok(time)
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn fill(&mut self) -> Result<()> {
        READS.fetch_add(1, Ordering::Relaxed);
        self.start = 0;
        self.end = 0;
        loop {
            match self.stdout.read(&mut self.buffer) {
                Ok(0) => return Err("a process closed its output".into()),
                Ok(count) => {
                    self.end = count;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A bench that fails leaves no process running.
impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
