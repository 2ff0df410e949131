//! A proxy that only copies: the least that any proxy costs on this machine.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use crate::peer::Result;

/// The argument that makes the bench a relay; the engine's command line follows it.
pub const RELAY: &str = "--relay";

/// One read takes up to this many bytes: the capacity of a pipe on Linux.
const BUFFER: usize = 65536;

/// Starts the engine and copies both ways until it ends.
pub fn run(mut line: impl Iterator<Item = OsString>) -> Result<()> {
    let engine = line.next().ok_or("the relay needs an engine")?;
    let mut child = Command::new(engine).args(line).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let to_engine = child.stdin.take().ok_or("no standard input")?;
    let from_engine = child.stdout.take().ok_or("no standard output")?;
    let to_gui = unbuffered_stdout()?;
    thread::spawn(move || copy(io::stdin().lock(), to_engine));
    copy(from_engine, to_gui);
    child.wait()?;
    Ok(())
}

fn copy(mut from: impl Read, mut to: impl Write) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(count) = from.read(&mut buffer)
        && count > 0
        && to.write_all(&buffer[..count]).is_ok()
    {}
}

/// Standard output without the buffer that splits blocks at their last line.
fn unbuffered_stdout() -> io::Result<File> {
    #[cfg(unix)]
    let stdout = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?;
    #[cfg(windows)]
    let stdout = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?;
    Ok(File::from(stdout))
}
