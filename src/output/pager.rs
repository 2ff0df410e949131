//! More than a screen of text, on a terminal.

use std::env;
use std::io::{self, BufWriter, IsTerminal};
use std::process::{Child, Command, Stdio};

use tabiya_base::error::Result;

use super::exit::Exit;
use super::{Printed, interrupts, print, print_to};

/// The pager of people who have named none, and how it behaves as it does under git: it ends at once if the text fits the screen,
/// shows colours, and leaves the text there.
const USUAL: &str = "less";
const LESS: &str = "FRX";

/// Runs `body` with a pager: the program in PAGER, else less. Where standard output is no terminal, there is no such program, or
/// PAGER is `cat` or empty, as [`print()`].
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_paged(body: impl FnOnce(&mut dyn io::Write) -> Printed<Exit>) -> Result<Exit> {
    let Some(mut pager) = io::stdout().is_terminal().then(start).flatten() else { return print(body) };
    // Ctrl-C is for the pager, which ends on its own terms.
    interrupts::watch();
    let ended = match pager.stdin.take() {
        Some(input) => print_to(&mut BufWriter::new(input), body),
        None => Ok(Exit::Done),
    };
    let _ = pager.wait();
    ended
}

fn start() -> Option<Child> {
    let named = env::var("PAGER").ok();
    let line = named.as_deref().unwrap_or(USUAL).trim();
    if line.is_empty() || line == "cat" {
        return None;
    }
    let mut command = shell(line);
    if env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    command.stdin(Stdio::piped()).spawn().ok()
}

/// A command line as the user's shell reads it.
#[cfg(unix)]
fn shell(line: &str) -> Command {
    let words: Vec<&str> = line.split_whitespace().collect();
    // Without a shell it is known whether there is such a program.
    if let [program] = words.as_slice() {
        return Command::new(program);
    }
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

/// A program and its arguments.
#[cfg(not(unix))]
fn shell(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}
