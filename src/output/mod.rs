//! What commands print, and where it goes.

pub(crate) mod advice;
pub(crate) mod browser;
pub mod counts;
pub mod damage;
pub mod database;
pub mod exit;
pub mod findings;
pub mod interrupts;
pub mod lines;
pub(crate) mod pager;
pub(crate) mod progress;
pub mod report;
pub mod rows;
pub(crate) mod sources;
pub mod store;
pub(crate) mod window;
pub mod written;

use std::io::{self, BufWriter, IsTerminal, LineWriter, Write};
use std::path::{Path, PathBuf};

use tabiya_adapter::io::stderr;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_games::Sources;
use tabiya_learn as learn;

use self::advice::worded;
use self::exit::Exit;

/// The start of each line on standard error.
const PREFIX: &str = "tabiya: ";

/// The environment variable with which doctor starts the adapter: the file to which that writes its events.
pub(crate) const UNDER_DOCTOR: &str = "TABIYA_UNDER_DOCTOR";

/// Why printing stopped early.
#[derive(Debug)]
pub enum Stop {
    /// Standard output cannot be written, usually because its reader has ended.
    Output(io::Error),
    Error(Error),
}

/// The result of something that prints.
pub(crate) type Printed<T> = std::result::Result<T, Stop>;

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Runs `body` with standard output, which is written in blocks unless it is a terminal.
///
/// # Errors
/// When the body fails, or when standard output cannot be written for another reason than that its reader has ended.
pub fn print(body: impl FnOnce(&mut dyn Write) -> Printed<Exit>) -> Result<Exit> {
    let stdout = io::stdout().lock();
    if stdout.is_terminal() {
        print_to(&mut LineWriter::new(stdout), body)
    } else {
        print_to(&mut BufWriter::new(stdout), body)
    }
}

fn print_to(out: &mut dyn Write, body: impl FnOnce(&mut dyn Write) -> Printed<Exit>) -> Result<Exit> {
    let ended = body(out);
    // What was printed before an error must be seen too.
    let flushed = out.flush();
    match (ended, flushed) {
        (Err(Stop::Error(error)), _) => Err(error),
        (Err(Stop::Output(error)), _) | (Ok(_), Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(unwritable(&error))
        }
        (Err(Stop::Output(_)), _) => Ok(Exit::Done),
        (Ok(exit), _) => Ok(exit),
    }
}

/// Runs `body` with standard output, as [`print()`], for work that changes files while it prints. It is done to its end whether or not
/// its output can be written.
///
/// # Errors
/// When the body fails, or, once it is done, when standard output could not be written for another reason than that its reader
/// has ended.
pub(crate) fn print_work(body: impl FnOnce(&mut dyn Write) -> Printed<Exit>) -> Result<Exit> {
    print(|out| {
        let mut heedless = Heedless { out, failed: None };
        let exit = body(&mut heedless)?;
        heedless.flush()?;
        match heedless.failed.filter(|error| error.kind() != io::ErrorKind::BrokenPipe) {
            Some(error) => Err(unwritable(&error).advice("the work is done, but not reported").into()),
            None => Ok(exit),
        }
    })
}

/// An output that takes what cannot be written, and keeps the first error.
struct Heedless<'a> {
    out: &'a mut dyn Write,
    failed: Option<io::Error>,
}

impl Write for Heedless<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
        Ok(())
    }
}

/// Prints lines about work that is done, and returns how the command ends.
///
/// # Errors
/// As [`print_work`].
pub(crate) fn print_lines(lines: &[String], exit: Exit) -> Result<Exit> {
    print_work(|out| {
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        Ok(exit)
    })
}

/// The error for a standard output that cannot be written.
pub fn unwritable(error: &io::Error) -> Error {
    Error::new(ErrorKind::File, format!("cannot write to standard output: {error}"))
}

/// Prints what `examine` has to say about each file. If it fails on a file, the error is reported and the other files
/// follow. The most serious end counts.
///
/// # Errors
/// When standard output cannot be written, or the work is interrupted.
pub(crate) fn each_file(
    paths: &[PathBuf],
    mut examine: impl FnMut(&Path, &mut dyn Write) -> Printed<Exit>,
) -> Result<Exit> {
    print(|out| {
        let mut exit = Exit::Done;
        for path in paths {
            learn::settle(path);
            let ended = match examine(path, out) {
                Err(Stop::Error(error)) if error.kind() != ErrorKind::Interrupted => {
                    out.flush()?;
                    complain(&error);
                    error.kind().into()
                }
                ended => ended?,
            };
            exit = exit.max(ended);
        }
        Ok(exit)
    })
}

/// Reports an error that does not end the command.
pub fn complain(error: &Error) {
    warn(&worded(error));
}

/// Reports the files in folders that cannot be read, and returns how a command ends that has read the rest.
pub(crate) fn passed_over(errors: &[Error]) -> Exit {
    errors.iter().for_each(complain);
    if errors.is_empty() { Exit::Done } else { Exit::Findings }
}

/// Names the archives of folders that hold no games, and reports the files that cannot be read, as [`passed_over`].
pub(crate) fn sources_passed_over(sources: &Sources) -> Exit {
    for archive in sources.skipped() {
        warn(&format!("{}: skipped: this archive holds no PGN files", archive.display()));
    }
    for file in sources.named_again() {
        warn(&format!("{}: named before: its games count once", file.display()));
    }
    passed_over(sources.passed_over())
}

/// Writes a message to standard error as one line, and returns once it is written: a command that exits before that would
/// lose it.
pub(crate) fn warn(text: &str) {
    // Names of files may contain line ends.
    let text = text.replace(['\n', '\r'], " ");
    // If standard error is closed, nobody can read it.
    let _ = writeln!(io::stderr(), "{PREFIX}{text}");
}

/// The message in a line that tabiya has written to standard error; `None` for any other line.
pub(crate) fn warned(line: &str) -> Option<&str> {
    line.strip_prefix(PREFIX)
}

/// Reports the error that ends the adapter. A client that never reads a full standard error must not keep alive a process
/// whose engine has ended.
pub(crate) fn complain_at_end(error: &Error) {
    stderr::say(&worded(error));
    stderr::finish();
}

/// Columns of standard output if neither the environment nor a terminal limits them.
const COLUMNS: usize = 100;

/// The fewest columns that are used: with fewer nothing is readable.
const MIN_COLUMNS: usize = 40;

/// How many columns standard output has: the value of the variable `COLUMNS`, else those of the terminal, else 100.
pub fn columns() -> usize {
    let variable = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    variable.or_else(terminal).filter(|columns| *columns > 0).unwrap_or(COLUMNS).max(MIN_COLUMNS)
}

/// As [`columns`]; `None` where a file or a program reads standard output, unless the environment has a limit.
pub fn columns_of_reader() -> Option<usize> {
    let is_limited = io::stdout().is_terminal() || std::env::var_os("COLUMNS").is_some();
    is_limited.then(columns)
}

/// The lines and columns of the terminal that standard output is; `None` where it is none.
pub(crate) fn screen() -> Option<Screen> {
    let size = terminal_size::terminal_size_of(io::stdout()).filter(|_| io::stdout().is_terminal());
    size.map(|(width, height)| Screen { lines: height.0.into(), columns: width.0.into() })
}

/// The size of a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub lines: usize,
    pub columns: usize,
}

/// The end of a text of words, if it has more than `most` characters.
pub(crate) fn end_of(text: &str, most: usize) -> String {
    let surplus = text.chars().count().saturating_sub(most);
    if surplus == 0 {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(surplus + 4).collect();
    format!("... {}", kept.split_once(' ').map_or("", |(_, rest)| rest))
}

/// The text, cut at its end if it has more than `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// How standard output may look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// It is a terminal: pictures are welcome.
    pub terminal: bool,
    /// Colours may be used.
    pub colour: bool,
    /// Characters beyond ASCII may be used.
    pub unicode: bool,
}

impl Look {
    /// How standard output may look in this environment.
    pub(crate) fn of_stdout() -> Self {
        Self::choose(io::stdout().is_terminal(), cfg!(windows), |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(|value| value.to_string_lossy().into_owned())
        })
    }

    fn choose(terminal: bool, windows: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        // On Windows only Windows Terminal, and shells ported from other systems, are known to support both.
        let new = variable("WT_SESSION").is_some();
        let term = variable("TERM");
        let able = term.is_some() || windows && new;
        let dumb = term.as_deref() == Some("dumb");
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(&variable).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        Self {
            terminal,
            colour: terminal && able && !dumb && variable("NO_COLOR").is_none(),
            unicode: new || locale.contains("utf-8") || locale.contains("utf8"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe whose reader goes away after some bytes, or a disk that becomes full.
    struct Breaking(usize, io::ErrorKind);

    impl Write for Breaking {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.min(bytes.len()) {
                0 => Err(self.1.into()),
                written => {
                    self.0 -= written;
                    Ok(written)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            if self.0 == 0 { Err(self.1.into()) } else { Ok(()) }
        }
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is_one() {
        for (room, expected) in [(3, Exit::Done), (4, Exit::Findings), (9, Exit::Findings)] {
            let mut gone = false;
            let exit = print_to(&mut Breaking(room, io::ErrorKind::BrokenPipe), |out| {
                out.write_all(b"text")?;
                gone = true;
                Ok(Exit::Findings)
            });
            assert_eq!((exit.unwrap(), gone), (expected, room >= 4));
            let full = print_to(&mut Breaking(room, io::ErrorKind::StorageFull), |out| {
                out.write_all(b"text")?;
                Ok(Exit::Done)
            });
            assert_eq!(full.is_err(), room < 9);
        }
    }

    #[test]
    fn of_a_long_line_the_end_is_kept() {
        assert_eq!(end_of("1. e4 e5 2. Nf3", 15), "1. e4 e5 2. Nf3");
        assert_eq!(end_of("1. e4 e5 2. Nf3 Nc6", 15), "... 2. Nf3 Nc6");
        assert_eq!(end_of("1. e4 e5", 3), "... ");
    }

    #[test]
    fn an_error_of_the_body_comes_after_what_was_printed() {
        let mut written = BufWriter::new(Vec::new());
        let error = print_to(&mut written, |out| {
            out.write_all(b"text")?;
            Err(Error::new(ErrorKind::Usage, "no").into())
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Usage);
        assert_eq!(written.get_ref(), b"text");
    }

    fn look(terminal: bool, windows: bool, variables: &[(&str, &str)]) -> (bool, bool) {
        let look = Look::choose(terminal, windows, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        assert_eq!(look.terminal, terminal);
        (look.colour, look.unicode)
    }

    #[test]
    fn colours_are_used_only_on_a_terminal_that_allows_them() {
        let term = ("TERM", "xterm");
        assert!(look(true, false, &[term]).0);
        assert!(!look(false, false, &[term]).0);
        assert!(!look(true, false, &[term, ("NO_COLOR", "1")]).0);
        assert!(!look(true, false, &[("TERM", "dumb")]).0);
        assert!(!look(true, true, &[]).0);
        assert!(look(true, true, &[("WT_SESSION", "1")]).0);
    }

    #[test]
    fn chess_pieces_are_used_only_if_the_locale_has_them() {
        assert!(look(true, false, &[("LANG", "de_DE.UTF-8")]).1);
        assert!(look(true, false, &[("LC_ALL", "C.utf8"), ("LANG", "C")]).1);
        assert!(!look(true, false, &[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]).1);
        assert!(!look(true, false, &[]).1);
    }
}
