//! What the commands do with count files.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::check::ended;
use super::exit::Exit;
use super::means_args::MeansArgs;
use super::out::Stop;
use super::{out, written};
use crate::base::error::{Error, Result};
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::build::counts::{CountFile, CountWriter, CountsWritten, Sum, split, sum};
use crate::build::report::many;
use crate::build::{self, Filter, Input};
use crate::games;

/// What `info --json` prints.
#[derive(Serialize)]
struct Line<'a> {
    book: &'a str,
    format: &'a str,
    files: [FileLine<'a>; 1],
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

#[derive(Serialize)]
struct FileLine<'a> {
    path: &'a str,
    bytes: u64,
}

/// Prints what was written, where that is anything.
pub fn tell(written: &CountsWritten, out: &mut dyn Write) -> io::Result<()> {
    if written.plies == 0 {
        return Ok(());
    }
    let CountsWritten { file, rows, positions, plies } = written;
    let positions = many(*positions, "position", "positions");
    let plies = many(*plies, "half-move", "half-moves");
    writeln!(out, "{}: {}, {positions}, {plies}", file.display(), many(*rows, "row", "rows"))
}

/// Prints what was read of count files; `filtered`: among games that are filtered.
pub fn tell_read(files: &[CountFile], filtered: bool, out: &mut dyn Write) -> io::Result<()> {
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

/// Adds count files up into one.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: the new file is then not there.
pub fn merge(inputs: &[PathBuf], output: &Path, force: bool, means: &MeansArgs) -> Result<Exit> {
    let (others, files) = split(inputs)?;
    if let Some(other) = others.first() {
        let what = "this is no count file, and only those can become one";
        return Err(Error::format(other, what).advice("count games with tabiya build --counts"));
    }
    let files = files.iter().map(|path| CountFile::open(path)).collect::<Result<Vec<_>>>()?;
    let means = means.means()?;
    interrupt::watch();
    let lacking = files.iter().find(|file| !file.has_positions());
    let writer = CountWriter::create(output, lacking.is_none(), force)?;
    let progress = Progress::terminal(output.to_string_lossy());
    let input = Input { games: &mut games::open(&[])?, counts: &files };
    let (_, written) = build::write_counts(input, &Filter::default(), &means, writer, &progress)?;
    drop(progress);
    let exit = out::print(|out| {
        tell_read(&files, false, out)?;
        if let (Some(lacking), true) = (lacking, files.iter().any(CountFile::has_positions)) {
            writeln!(
                out,
                "left out: the positions, of which {} has only the keys",
                lacking.path().display()
            )?;
        }
        tell(&written, out)?;
        Ok(Exit::Done)
    })?;
    if written.plies == 0 {
        return Ok(written::nothing(output, "the count files count no half-move", None));
    }
    Ok(exit)
}

/// Prints what a count file holds.
///
/// # Errors
/// When it cannot be opened, or standard output cannot be written.
pub fn info(path: &Path, json: bool, out: &mut dyn Write) -> std::result::Result<Exit, Stop> {
    let file = CountFile::open(path)?;
    interrupt::watch();
    let mut damages = Vec::new();
    let sum =
        sum(&file, &Progress::terminal(path.to_string_lossy()), |damage| damages.push(damage.to_string()))?;
    if json {
        let name = path.to_string_lossy();
        let line = Line {
            book: &name,
            format: "counts",
            files: [FileLine { path: &name, bytes: file.len() }],
            entries: file.rows(),
            positions: sum.positions,
            games: sum.games,
            wins: sum.wins,
            draws: sum.draws,
            losses: sum.losses,
            holds_positions: file.has_positions(),
            version: file.version(),
            created_by: file.created_by(),
            row_groups: file.groups(),
            damages,
            oddities: sum.oddities(),
        };
        serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        text(&file, &sum, &damages, out)?;
    }
    Ok(Exit::Done)
}

fn text(file: &CountFile, sum: &Sum, damages: &[String], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", file.path().display())?;
    let mut row = |name: &str, value: &dyn Display| writeln!(out, "  {name:<16} {value}");
    let version = file.version().map_or_else(String::new, |version| format!(", version {version}"));
    row("format", &format!("counts (Parquet{version})"))?;
    row("file", &format!("{} ({} bytes)", file.path().display(), file.len()))?;
    if let Some(by) = file.created_by() {
        row("written by", &by)?;
    }
    row("rows", &format!("{} in {}", file.rows(), many(file.groups() as u64, "row group", "row groups")))?;
    if let Some(positions) = sum.positions {
        row("positions", &positions)?;
    }
    row("held are", if file.has_positions() { &"keys and positions" } else { &"keys" })?;
    row("games", &format!("{} from the starting position", sum.games))?;
    let Sum { wins, draws, losses, .. } = sum;
    row("half-moves", &format!("{} ({wins} won, {draws} drawn, {losses} lost)", sum.plies()))?;
    for damage in damages {
        row("damaged", damage)?;
    }
    for odd in sum.oddities() {
        row("odd", &odd)?;
    }
    Ok(())
}

/// Prints what is wrong with a count file; `true` where nothing is damaged.
///
/// # Errors
/// When it cannot be opened, or standard output cannot be written.
pub fn check(path: &Path, out: &mut dyn Write) -> std::result::Result<bool, Stop> {
    let file = CountFile::open(path)?;
    interrupt::watch();
    let mut damages = Vec::new();
    let progress = Progress::terminal(path.to_string_lossy());
    let sum = sum(&file, &progress, |damage| damages.push(damage.to_string()))?;
    drop(progress);
    let name = path.display();
    for damage in &damages {
        // An error begins with the file's name.
        let what = damage.strip_prefix(&format!("{name}: ")).unwrap_or(damage);
        writeln!(out, "{name}: damaged: {what}")?;
    }
    let oddities = sum.oddities();
    for odd in &oddities {
        writeln!(out, "{name}: odd: {odd}")?;
    }
    ended(path, damages.len() as u64, oddities.len() as u64, out)?;
    Ok(damages.is_empty())
}
