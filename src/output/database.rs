//! What `info` and `check` print about a ChessBase database.

use std::io::Write;
use std::path::Path;

use serde_json::json;

use tabiya_base::error::Result;
use tabiya_base::findings::listed;
use tabiya_base::interrupt;
use tabiya_base::parallel;
use tabiya_base::progress::Progress;
use tabiya_games::cbh::check::check as check_all;
use tabiya_games::cbh::info::summary;
use tabiya_games::cbh::{Cbh, Mode};

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
    let db = Cbh::open(path)?;
    interrupts::watch();
    let progress = progress::on_terminal(path.to_string_lossy());
    progress.things(db.count().into(), "games");
    let summary = summary(&db, &|game| at(&progress, game))?;
    drop(progress);

    let mut sheet = Sheet::new(db.path(), json, out)?;
    // The older name of `book`.
    sheet.key("database", db.path().to_string_lossy())?;
    sheet.key("format", "cbh")?;
    sheet.row("format", "cbh")?;
    sheet.files(db.files().to_vec())?;
    sheet.key("records", summary.records)?;
    for (key, name, count) in [
        ("games", "games", summary.games),
        ("texts", "texts", summary.texts),
        ("deleted", "deleted", summary.deleted),
        ("annotated", "annotated", summary.annotated),
        ("set_up", "set-up starts", summary.set_up),
        ("players", "players", summary.players),
        ("tournaments", "tournaments", summary.tournaments),
        ("annotators", "annotators", summary.annotators),
        ("sources", "sources", summary.sources),
        ("teams", "teams", summary.teams),
    ] {
        sheet.number(key, name, count)?;
    }
    sheet.key("media_bytes", summary.media)?;
    sheet.row("media", format_args!("{} bytes", summary.media))?;
    if let Some((first, last)) = summary.dates {
        sheet.row("dates", format_args!("{first} to {last}"))?;
    }
    sheet.key("first_date", summary.dates.map(|(first, _)| first.to_string()))?;
    sheet.key("last_date", summary.dates.map(|(_, last)| last.to_string()))?;
    for (&number, games) in &summary.modes {
        let kind = match Mode::from_number(number) {
            None => ", not read",
            Some(mode) if mode.chess960 => ", Chess960",
            Some(_) => "",
        };
        sheet.row("mode", format_args!("{number} ({games} games{kind})"))?;
    }
    let modes = summary.modes.iter().map(|(mode, games)| json!({ "mode": mode, "games": games }));
    sheet.key("modes", modes.collect::<Vec<_>>())?;
    sheet.findings("oddities", &summary.findings)?;
    sheet.end()?;
    Ok(Exit::Done)
}

/// Reads a whole database and reports what is wrong with it, with game, file and offset.
pub fn check(path: &Path, json: bool, out: &mut dyn Write) -> Printed<Exit> {
    let db = Cbh::open(path)?;
    interrupts::watch();
    list(path, json, out, |progress, report| {
        progress.things(db.count().into(), "games");
        listed(report, |findings| {
            check_all(&db, parallel::processors(), &|game| at(progress, game), findings)
        })
    })
}
