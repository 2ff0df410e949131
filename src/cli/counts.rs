//! What the commands do with count files.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::check::ended;
use super::exit::Exit;
use super::info::{FileLine, file_lines};
use super::means_args::MeansArgs;
use super::out::Stop;
use super::{out, written};
use crate::base::error::{Error, Result};
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::base::replace::keep_inputs;
use crate::build::counts::{CountFile, CountWriter, CountsWritten, Sum, split, sum};
use crate::build::report::many;
use crate::build::{self, Filter, Input};
use crate::games;

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
    let inputs: Vec<_> = files.iter().map(|file| file.path().to_owned()).collect();
    keep_inputs(&[output.to_owned()], &inputs)?;
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

/// What is in a count file, or in a folder of them.
struct Found {
    files: Vec<CountFile>,
    sum: Sum,
    damages: Vec<Error>,
    oddities: Vec<String>,
}

impl Found {
    fn read(path: &Path, names: &[PathBuf]) -> Result<Self> {
        let files = names.iter().map(|name| CountFile::open(name)).collect::<Result<Vec<_>>>()?;
        interrupt::watch();
        let (mut damages, mut oddities) = (Vec::new(), Vec::new());
        let mut whole: Option<Sum> = None;
        for file in &files {
            let progress = Progress::terminal(file.path().to_string_lossy());
            let sum = sum(file, &progress, |damage| damages.push(damage))?;
            let within =
                |odd| if file.path() == path { odd } else { format!("{}: {odd}", file.path().display()) };
            oddities.extend(sum.oddities().into_iter().map(within));
            match &mut whole {
                Some(whole) => whole.add(&sum),
                None => whole = Some(sum),
            }
        }
        Ok(Self { files, sum: whole.unwrap_or_default(), damages, oddities })
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
    let found = Found::read(path, files)?;
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
        damages: found.damages.iter().map(Error::to_string).collect(),
        oddities: found.oddities.clone(),
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
        row("file", &format!("{} ({} bytes)", file.path().display(), file.len()))?;
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
    for damage in &found.damages {
        row("damaged", damage)?;
    }
    for odd in &found.oddities {
        row("odd", odd)?;
    }
    Ok(())
}

/// Prints what is wrong with a count file or a folder of them; `true` where nothing is damaged.
///
/// # Errors
/// When one cannot be opened, or standard output cannot be written.
pub fn check(path: &Path, files: &[PathBuf], out: &mut dyn Write) -> std::result::Result<bool, Stop> {
    let found = Found::read(path, files)?;
    let name = path.display();
    for damage in &found.damages {
        let damage = damage.to_string();
        // An error begins with the file's name.
        let what = damage.strip_prefix(&format!("{name}: ")).unwrap_or(&damage);
        writeln!(out, "{name}: damaged: {what}")?;
    }
    for odd in &found.oddities {
        writeln!(out, "{name}: odd: {odd}")?;
    }
    ended(path, found.damages.len() as u64, found.oddities.len() as u64, out)?;
    Ok(found.damages.is_empty())
}
