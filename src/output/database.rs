//! What `info` and `check` print about a database.

use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use tabiya_base::error::Result;
use tabiya_base::findings::listed;
use tabiya_base::interrupt;
use tabiya_base::parallel;
use tabiya_base::progress::Progress;
use tabiya_games::database::{Fact, Mode};
use tabiya_games::databases;

use super::Printed;
use super::exit::Exit;
use super::findings::list;
use super::rows::Sheet;
use crate::output::interrupts;
use crate::output::progress;

/// Shows how far the work is, and stops it on request.
fn at(progress: &Progress, game: u32) -> Result<()> {
    progress.at(game.into());
    interrupt::check()
}

/// Prints what a database holds.
pub fn info(path: &Path, json: bool, out: &mut dyn Write) -> Printed<Exit> {
    let db = databases::open(path)?;
    interrupts::watch();
    let progress = progress::on_terminal(path.to_string_lossy());
    progress.things(db.count().into(), "games");
    let summary = db.summary(&|game| at(&progress, game))?;
    drop(progress);

    let mut sheet = Sheet::new(db.path(), json, out)?;
    // The older name of `book`.
    sheet.key("database", db.path().to_string_lossy())?;
    sheet.key("format", db.format())?;
    sheet.row("format", db.format())?;
    sheet.files(db.files().to_vec())?;
    sheet.key("records", summary.records)?;
    for (key, name, fact) in &summary.facts {
        print(&mut sheet, (key, name), fact)?;
    }
    sheet.findings("oddities", &summary.findings)?;
    sheet.end()?;
    Ok(Exit::Done)
}

/// Prints a fact of a database.
fn print(sheet: &mut Sheet<'_>, (key, name): (&str, &str), fact: &Fact) -> io::Result<()> {
    match fact {
        Fact::Count(count) => sheet.number(key, name, *count),
        Fact::Bytes(bytes) => {
            sheet.key(key, bytes)?;
            sheet.row(name, format_args!("{bytes} bytes"))
        }
        Fact::Text(text) => {
            sheet.key(key, text)?;
            if text.is_empty() { Ok(()) } else { sheet.row(name, text) }
        }
        Fact::Dates(dates) => {
            if let Some((first, last)) = dates {
                sheet.row(name, format_args!("{first} to {last}"))?;
            }
            sheet.key(&format!("first_{key}"), dates.map(|(first, _)| first.to_string()))?;
            sheet.key(&format!("last_{key}"), dates.map(|(_, last)| last.to_string()))
        }
        Fact::Modes(modes) => {
            for Mode { number, games, means } in modes {
                let means = if means.is_empty() { String::new() } else { format!(", {means}") };
                sheet.row(name, format_args!("{number} ({games} games{means})"))?;
            }
            let modes = modes.iter().map(|mode| json!({ "mode": mode.number, "games": mode.games }));
            sheet.key(key, modes.collect::<Vec<_>>())
        }
        _ => Ok(()),
    }
}

/// Reads a whole database and reports what is wrong with it, with game, file and offset.
pub fn check(path: &Path, json: bool, out: &mut dyn Write) -> Printed<Exit> {
    let db = databases::open(path)?;
    interrupts::watch();
    list(path, json, out, |progress, report| {
        progress.things(db.count().into(), "games");
        listed(report, |findings| db.check(parallel::processors(), &|game| at(progress, game), findings))
    })
}
