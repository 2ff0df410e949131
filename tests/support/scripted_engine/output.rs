//! Lines to standard output, few writes and little memory, whatever has to be printed.

use std::io::{self, Write};

/// Output is written at the latest when so many bytes wait.
const CHUNK: usize = 65536;

/// Lines that wait to be written.
pub struct Output {
    waiting: Vec<u8>,
    end: &'static [u8],
    stubborn: bool,
    closed: bool,
    random: u64,
}

impl Output {
    /// Lines that end as `crlf` says; `stubborn` when a peer that has gone is no error.
    pub fn new(crlf: bool, stubborn: bool) -> Self {
        let end = if crlf { "\r\n" } else { "\n" };
        Self { waiting: Vec::new(), end: end.as_bytes(), stubborn, closed: false, random: 1 }
    }

    /// Prints a line.
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.put(line)?;
        self.put(self.end)
    }

    /// Prints a line of `count` bytes in all that starts with `start`.
    pub fn long_line(&mut self, start: &[u8], count: usize) -> io::Result<()> {
        self.put(start)?;
        self.fill(count.saturating_sub(start.len()))?;
        self.put(self.end)
    }

    /// Prints a line of `count` pseudo-random bytes, NUL and 0xff first, always the same sequence.
    pub fn rubbish(&mut self, count: usize) -> io::Result<()> {
        for index in 0..count {
            let byte = match index {
                0 => 0,
                1 => 0xff,
                _ => self.random_byte(),
            };
            self.put(&[byte])?;
        }
        self.put(self.end)
    }

    /// Prints `count` bytes without an end of line.
    pub fn fill(&mut self, count: usize) -> io::Result<()> {
        let block = [b'x'; 4096];
        let mut left = count;
        while left > 0 {
            let part = left.min(block.len());
            self.put(&block[..part])?;
            left -= part;
        }
        Ok(())
    }

    /// Prints a line that brings its end along, and writes when `limit` bytes wait.
    pub fn raw_line(&mut self, line: &[u8], limit: usize) -> io::Result<()> {
        self.waiting.extend_from_slice(line);
        if self.waiting.len() >= limit { self.flush() } else { Ok(()) }
    }

    /// Writes what waits. A peer that has gone ends us, unless only killing may.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let written = if self.closed { Ok(()) } else { write(&self.waiting) };
        self.waiting.clear();
        if self.stubborn { Ok(()) } else { written }
    }

    /// Closes standard output: the peer sees its end while we live on.
    pub fn close(&mut self) -> io::Result<()> {
        self.flush()?;
        self.closed = true;
        close_stdout();
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.raw_line(bytes, CHUNK)
    }

    /// A byte of a fixed sequence (xorshift64), never the end of a line.
    fn random_byte(&mut self) -> u8 {
        loop {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            let byte = (self.random >> 32) as u8;
            if byte != b'\n' && byte != b'\r' {
                return byte;
            }
        }
    }
}

/// One system call where the bytes end with a line.
fn write(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Writes `count` bytes to standard error, in lines of 80.
pub fn complain(count: usize) -> io::Result<()> {
    let mut block = [b'e'; 4000];
    block.iter_mut().skip(79).step_by(80).for_each(|byte| *byte = b'\n');
    let mut left = count;
    while left > 0 {
        let part = left.min(block.len());
        io::stderr().write_all(&block[..part])?;
        left -= part;
    }
    Ok(())
}

#[cfg(unix)]
fn close_stdout() {
    // A failure would mean that it is closed already.
    let _ = nix::unistd::close(1);
}

#[cfg(windows)]
#[allow(unsafe_code, reason = "std closes no standard stream")]
fn close_stdout() {
    use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
    // SAFETY: the handle is open, and `Output` never writes to it again.
    drop(unsafe { OwnedHandle::from_raw_handle(io::stdout().as_raw_handle()) });
}
