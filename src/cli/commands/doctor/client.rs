//! Talks UCI to the adapter as a GUI does, and says what is wrong with the answers.

use std::process::Command;
use std::time::Duration;

use super::Problem;
use crate::cli::output::exit::Exit;
use crate::cli::output::{UNDER_DOCTOR, warned, worded};
use crate::engine::{self, NoLine};
use crate::uci::noticed;

/// How long the adapter may take to end after `quit`: its own two seconds for the engine, and some more.
const QUIT_TIME: Duration = Duration::from_secs(5);

/// How many lines of one answer are kept.
const LINES_KEPT: usize = 4096;

/// A running adapter.
pub(super) struct Client {
    adapter: engine::Client,
    /// How long an answer may take that needs no search.
    patience: Duration,
    notices: Vec<String>,
}

impl Client {
    /// Starts this executable again, as the adapter.
    pub(super) fn start(arguments: &[String], patience: Duration) -> Result<Self, Problem> {
        let own = std::env::current_exe()
            .map_err(|error| Problem::engine(format!("cannot start tabiya again: {error}")))?;
        let mut command = Command::new(&own);
        command.args(arguments).env(UNDER_DOCTOR, "1");
        let adapter =
            engine::Client::spawn(&own, command).map_err(|error| Problem::engine(worded(&error)))?;
        Ok(Self { adapter, patience, notices: Vec::new() })
    }

    /// The adapter's own messages.
    pub(super) fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Sends a line and returns the lines up to and including the one that begins with `end`; if they are very many, the
    /// first and the last of them. Before the answer the engine may search as long as `search`.
    pub(super) fn ask(&mut self, line: &str, end: &str, search: Duration) -> Result<Vec<String>, Problem> {
        let patience = self.patience + search;
        let (mut lines, notices) = (Vec::new(), &mut self.notices);
        let answered = self.adapter.ask(line, end, patience, |line| {
            if let Some(message) = noticed(&line) {
                notices.push(message.trim().to_owned());
            }
            if lines.len() >= LINES_KEPT {
                lines.drain(LINES_KEPT / 2..LINES_KEPT * 3 / 4);
            }
            lines.push(line);
        });
        match answered {
            Ok(()) => Ok(lines),
            Err(NoLine::Late) => {
                let what = format!("no {end} within {} s after `{line}`", patience.as_secs());
                Err(Problem::engine(what))
            }
            Err(NoLine::Ended) => Err(self.why_ended()),
            Err(NoLine::Interrupted) => Err(Problem::engine("interrupted")),
        }
    }

    /// Sends a line that has no answer.
    pub(super) fn send(&mut self, line: &str) {
        self.adapter.send(line);
    }

    /// Sends `quit` and waits for the end.
    pub(super) fn quit(self) -> Result<(), Problem> {
        match self.adapter.quit(QUIT_TIME) {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Problem::engine(format!("tabiya ended with {status} after quit"))),
            Err(None) => Err(Problem::engine("tabiya does not end after quit")),
            Err(Some(error)) => Err(Problem::engine(format!("cannot wait for tabiya: {error}"))),
        }
    }

    /// Why the adapter ended: its last message.
    fn why_ended(&mut self) -> Problem {
        let lines = self.adapter.errors();
        let own = lines.iter().rev().find_map(|line| warned(line));
        let what = own
            .or(self.notices.last().map(String::as_str))
            .unwrap_or("tabiya ended without a message")
            .to_owned();
        // The GUI gets the same message.
        self.notices.retain(|notice| *notice != what);
        let code = self.adapter.wait(QUIT_TIME).ok().flatten().and_then(|status| status.code());
        let exit = [Exit::Usage, Exit::File].into_iter().find(|exit| code == Some(*exit as i32));
        Problem { what, exit: exit.unwrap_or(Exit::Engine) }
    }
}
