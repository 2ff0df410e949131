//! What `info` and `check` say of a ChessBase database.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::Stop;
use super::exit::Exit;
use super::files::{FileLine, file_lines};
use super::findings::list;
use crate::base::error::Result;
use crate::base::findings::{Finding, listed};
use crate::base::interrupt;
use crate::base::parallel;
use crate::base::progress::Progress;
use crate::games::cbh::check::check as check_all;
use crate::games::cbh::info::{Summary, summary};
use crate::games::cbh::{Cbh, Mode};

#[derive(Serialize)]
struct Line<'a> {
    /// As of books and count files; `database` is its older name here.
    book: &'a str,
    database: &'a str,
    format: &'a str,
    files: Vec<FileLine>,
    records: u64,
    games: u64,
    texts: u64,
    deleted: u64,
    annotated: u64,
    set_up: u64,
    players: u64,
    tournaments: u64,
    annotators: u64,
    sources: u64,
    teams: u64,
    media_bytes: u64,
    first_date: Option<String>,
    last_date: Option<String>,
    modes: Vec<ModeLine>,
    oddities: Vec<String>,
}

#[derive(Serialize)]
struct ModeLine {
    mode: u8,
    games: u64,
}

/// Work that shows how far it is, and stops when it is asked to.
fn at(progress: &Progress, game: u32) -> Result<()> {
    progress.at(game.into());
    interrupt::check()
}

/// Sums a database up.
pub fn info(path: &Path, json: bool, out: &mut dyn Write) -> std::result::Result<Exit, Stop> {
    let db = Cbh::open(path)?;
    interrupt::watch();
    let progress = Progress::terminal(path.to_string_lossy());
    progress.things(db.count().into(), "games");
    let summary = summary(&db, &|game| at(&progress, game))?;
    drop(progress);
    let files = file_lines(db.files().to_vec());
    if !json {
        return text(&db, files, &summary, out);
    }
    let dates = summary.dates.map(|(first, last)| (first.to_string(), last.to_string()));
    let line = Line {
        book: &db.path().to_string_lossy(),
        database: &db.path().to_string_lossy(),
        format: "cbh",
        files,
        records: summary.records,
        games: summary.games,
        texts: summary.texts,
        deleted: summary.deleted,
        annotated: summary.annotated,
        set_up: summary.set_up,
        players: summary.players,
        tournaments: summary.tournaments,
        annotators: summary.annotators,
        sources: summary.sources,
        teams: summary.teams,
        media_bytes: summary.media,
        first_date: dates.as_ref().map(|(first, _)| first.clone()),
        last_date: dates.map(|(_, last)| last),
        modes: summary.modes.iter().map(|(&mode, &games)| ModeLine { mode, games }).collect(),
        oddities: summary.findings.iter().map(Finding::to_string).collect(),
    };
    serde_json::to_writer(&mut *out, &line).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(Exit::Done)
}

fn text(
    db: &Cbh,
    files: Vec<FileLine>,
    summary: &Summary,
    out: &mut dyn Write,
) -> std::result::Result<Exit, Stop> {
    writeln!(out, "{}", db.path().display())?;
    let mut row = |name: &str, value: String| writeln!(out, "  {name:<16} {value}");
    row("format", "cbh".to_owned())?;
    for file in files {
        let size = file.bytes.map_or_else(|| "gone".to_owned(), |bytes| format!("{bytes} bytes"));
        row("file", format!("{} ({size})", file.path))?;
    }
    for (name, count) in [
        ("games", summary.games),
        ("texts", summary.texts),
        ("deleted", summary.deleted),
        ("annotated", summary.annotated),
        ("set-up starts", summary.set_up),
        ("players", summary.players),
        ("tournaments", summary.tournaments),
        ("annotators", summary.annotators),
        ("sources", summary.sources),
        ("teams", summary.teams),
    ] {
        row(name, count.to_string())?;
    }
    row("media", format!("{} bytes", summary.media))?;
    if let Some((first, last)) = summary.dates {
        row("dates", format!("{first} to {last}"))?;
    }
    for (&number, games) in &summary.modes {
        let kind = match Mode::of(number) {
            None => ", not read",
            Some(mode) if mode.chess960 => ", Chess960",
            Some(_) => "",
        };
        row("mode", format!("{number} ({games} games{kind})"))?;
    }
    for finding in &summary.findings {
        row(&finding.severity.to_string(), finding.to_string())?;
    }
    Ok(Exit::Done)
}

/// Reads a database whole and reports what is wrong with it, each with its game, file and offset.
pub fn check(path: &Path, out: &mut dyn Write) -> std::result::Result<Exit, Stop> {
    let db = Cbh::open(path)?;
    interrupt::watch();
    list(path, out, |progress, report| {
        progress.things(db.count().into(), "games");
        listed(report, |findings| {
            check_all(&db, parallel::processors(), &|game| at(progress, game), findings)
        })
    })
}
