//! Talks UCI to the adapter as a GUI does, and says what is wrong with the answers.

use std::fs::File;
use std::io::Read as _;
use std::process::Command;
use std::time::Duration;

use tempfile::NamedTempFile;

use tabiya_adapter::session::{About, Event};
use tabiya_uci::engine::{self, NoLine};

use super::Problem;
use crate::output::advice::worded;
use crate::output::exit::Exit;
use crate::output::{UNDER_DOCTOR, warned};

/// How long the adapter may take to end after `quit`: its own two seconds for the engine, and some more.
const QUIT_TIME: Duration = Duration::from_secs(5);

/// How many lines of one answer are kept.
const LINES_KEPT: usize = 4096;

pub(super) struct Client {
    adapter: engine::Client,
    /// How long an answer may take that needs no search.
    patience: Duration,
    /// The file to which the adapter writes what happens, and the part of it that was not read as a whole line.
    written: NamedTempFile,
    read: File,
    rest: Vec<u8>,
    notices: Vec<(About, String)>,
}

impl Client {
    /// Starts this executable again, as the adapter.
    pub(super) fn start(arguments: &[String], patience: Duration) -> Result<Self, Problem> {
        let own = std::env::current_exe()
            .map_err(|error| Problem::engine(format!("cannot start tabiya again: {error}")))?;
        let mut command = Command::new(&own);
        let cannot = |error| Problem::engine(format!("cannot write a temporary file: {error}"));
        let written = NamedTempFile::new().map_err(cannot)?;
        let read = File::open(written.path()).map_err(cannot)?;
        command.args(arguments).env(UNDER_DOCTOR, written.path());
        let adapter =
            engine::Client::spawn(&own, command).map_err(|error| Problem::engine(worded(&error)))?;
        Ok(Self { adapter, patience, written, read, rest: Vec::new(), notices: Vec::new() })
    }

    /// The adapter's warnings so far.
    pub(super) fn notices(&self) -> &[(About, String)] {
        &self.notices
    }

    /// What has happened since the last call, warnings left out.
    pub(super) fn events(&mut self) -> Vec<Event> {
        let _ = self.read.read_to_end(&mut self.rest);
        let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        let lines = whole.split(|byte| *byte == b'\n');
        let mut events = Vec::new();
        for event in lines.filter_map(|line| serde_json::from_slice(line).ok()) {
            match event {
                Event::Notice { about, text } => self.notices.push((about, text)),
                event => events.push(event),
            }
        }
        events
    }

    /// Sends a line and returns the lines up to and including the one that begins with `end`; if they are very many, the
    /// first and the last of them. Before the answer the engine may search as long as `search`.
    pub(super) fn ask(&mut self, line: &str, end: &str, search: Duration) -> Result<Vec<String>, Problem> {
        let patience = self.patience + search;
        let mut lines = Vec::new();
        let answered = self.adapter.ask(line, end, patience, |line| {
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
        let ended = self.adapter.quit(QUIT_TIME);
        // Its writer has ended.
        drop(self.written);
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Problem::engine(format!("tabiya ended with {status} after quit"))),
            Err(None) => Err(Problem::engine("tabiya does not end after quit")),
            Err(Some(error)) => Err(Problem::engine(format!("cannot wait for tabiya: {error}"))),
        }
    }

    /// Why the adapter ended: its last message.
    fn why_ended(&mut self) -> Problem {
        self.events();
        let lines = self.adapter.errors();
        let own = lines.iter().rev().find_map(|line| warned(line));
        let what = own
            .or(self.notices.last().map(|(_, text)| text.as_str()))
            .unwrap_or("tabiya ended without a message")
            .to_owned();
        // The GUI gets the same message.
        self.notices.retain(|(_, text)| *text != what);
        let code = self.adapter.wait(QUIT_TIME).ok().flatten().and_then(|status| status.code());
        let exit = [Exit::Usage, Exit::File].into_iter().find(|exit| code == Some(*exit as i32));
        Problem { what, exit: exit.unwrap_or(Exit::Engine) }
    }
}
