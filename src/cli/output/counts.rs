//! What commands report of count files.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Stop;
use super::exit::Exit;
use super::files::{FileLine, file_lines};
use super::findings::list;
use crate::base::error::Result;
use crate::base::findings::{Finding, Severity, listed, summed};
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::book::counts::{CountFile, CountsWritten, Sum, sum};
use crate::bookmaker::report::many;

/// What `info --json` prints.
#[derive(Serialize)]
struct Line<'a> {
    book: &'a str,
    format: &'a str,
    files: Vec<FileLine>,
    entries: u64,
    positions: Option<u64>,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    holds_positions: bool,
    version: Option<u32>,
    created_by: Option<&'a str>,
    row_groups: usize,
    damages: Vec<String>,
    oddities: Vec<String>,
}

/// Prints what was written, where that is anything.
pub fn print_written(written: &CountsWritten, out: &mut dyn Write) -> io::Result<()> {
    if written.plies == 0 {
        return Ok(());
    }
    let CountsWritten { file, rows, positions, plies } = written;
    let positions = many(*positions, "position", "positions");
    let plies = many(*plies, "half-move", "half-moves");
    writeln!(out, "{}: {}, {positions}, {plies}", file.display(), many(*rows, "row", "rows"))
}

/// Prints what was read of count files; `filtered`: among games that are filtered.
pub fn print_read(files: &[CountFile], filtered: bool, out: &mut dyn Write) -> io::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let rows = many(files.iter().map(CountFile::rows).sum(), "row", "rows");
    writeln!(out, "{rows} read from {}", many(files.len() as u64, "count file", "count files"))?;
    if filtered {
        writeln!(out, "what filters games did not act on them")?;
    }
    Ok(())
}

/// What is in a count file, or in a folder of them.
struct Found {
    files: Vec<CountFile>,
    sum: Sum,
    findings: Vec<Finding>,
}

impl Found {
    fn read(names: &[PathBuf]) -> Result<Self> {
        let files = open(names)?;
        let (sum, findings) = summed(|findings| {
            let mut whole: Option<Sum> = None;
            for file in &files {
                let progress = Progress::terminal(file.path().to_string_lossy());
                let sum = sum(file, &progress, findings)?;
                match &mut whole {
                    Some(whole) => whole.add(&sum),
                    None => whole = Some(sum),
                }
            }
            Ok(whole.unwrap_or_default())
        });
        Ok(Self { files, sum: sum?, findings })
    }

    /// The errors or the warnings among the findings.
    fn of(&self, severity: Severity) -> Vec<String> {
        let findings = self.findings.iter().filter(|finding| finding.severity == severity);
        findings.map(Finding::to_string).collect()
    }

    fn rows(&self) -> u64 {
        self.files.iter().map(CountFile::rows).sum()
    }

    fn groups(&self) -> usize {
        self.files.iter().map(CountFile::groups).sum()
    }

    /// Whether all have positions.
    fn has_positions(&self) -> bool {
        self.files.iter().all(CountFile::has_positions)
    }

    /// The version that all have.
    fn version(&self) -> Option<u32> {
        let first = self.files.first().and_then(CountFile::version);
        first.filter(|_| self.files.iter().all(|file| file.version() == first))
    }

    fn created_by(&self) -> Option<&str> {
        self.files.first().and_then(CountFile::created_by)
    }

    fn file_lines(&self) -> Vec<FileLine> {
        file_lines(self.files.iter().map(|file| file.path().to_owned()).collect())
    }
}

/// Prints what a count file holds, or a folder of them.
///
/// # Errors
/// When one cannot be opened, or standard output cannot be written.
pub fn info(
    path: &Path,
    files: &[PathBuf],
    json: bool,
    out: &mut dyn Write,
) -> std::result::Result<Exit, Stop> {
    let found = Found::read(files)?;
    if !json {
        text(path, &found, out)?;
        return Ok(Exit::Done);
    }
    let line = Line {
        book: &path.to_string_lossy(),
        format: "counts",
        files: found.file_lines(),
        entries: found.rows(),
        positions: found.sum.positions,
        games: found.sum.games,
        wins: found.sum.wins,
        draws: found.sum.draws,
        losses: found.sum.losses,
        holds_positions: found.has_positions(),
        version: found.version(),
        created_by: found.created_by(),
        row_groups: found.groups(),
        damages: found.of(Severity::Error),
        oddities: found.of(Severity::Warning),
    };
    serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(Exit::Done)
}

fn text(path: &Path, found: &Found, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", path.display())?;
    let mut row = |name: &str, value: &dyn Display| writeln!(out, "  {name:<16} {value}");
    let version = found.version().map_or_else(String::new, |version| format!(", version {version}"));
    row("format", &format!("counts (Parquet{version})"))?;
    for file in &found.files {
        row("file", &format!("{} ({} bytes)", file.path().display(), file.bytes()))?;
    }
    if let Some(by) = found.created_by() {
        row("written by", &by)?;
    }
    let groups = many(found.groups() as u64, "row group", "row groups");
    row("rows", &format!("{} in {groups}", found.rows()))?;
    if let Some(positions) = found.sum.positions {
        row("positions", &positions)?;
    }
    row("held are", if found.has_positions() { &"keys and positions" } else { &"keys" })?;
    row("games", &format!("{} from the starting position", found.sum.games))?;
    let Sum { wins, draws, losses, .. } = found.sum;
    row("half-moves", &format!("{} ({wins} won, {draws} drawn, {losses} lost)", found.sum.plies()))?;
    for finding in &found.findings {
        row(&finding.severity.to_string(), finding)?;
    }
    Ok(())
}

/// Prints what is wrong with a count file or a folder of them.
///
/// # Errors
/// When one cannot be opened, or standard output cannot be written.
pub fn check(path: &Path, files: &[PathBuf], out: &mut dyn Write) -> std::result::Result<Exit, Stop> {
    list(path, out, |progress, report| {
        let files = open(files)?;
        listed(report, |findings| files.iter().try_for_each(|file| sum(file, progress, findings).map(|_| ())))
    })
}

fn open(names: &[PathBuf]) -> Result<Vec<CountFile>> {
    let files = names.iter().map(|name| CountFile::open(name)).collect();
    interrupt::watch();
    files
}
