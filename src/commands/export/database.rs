//! A database as PGN.

mod texts;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_base::parallel;
use tabiya_base::progress::Progress;
use tabiya_base::replace::{Replacement, keep_inputs};
use tabiya_games::compress::{Compression, Compressor};
use tabiya_games::database::Database;
use tabiya_games::database::export::{ExportOptions, ExportTotals, export};
use tabiya_games::databases;

use self::texts::Texts;
use crate::args::ends;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{progress, unwritable, warn, written};

/// How many damaged games or texts are reported one by one.
const MAX_ERRORS: u64 = 20;

/// What of a database is written.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Databases")]
pub(super) struct DatabaseArgs {
    /// Only games with these numbers: 1-100, 17, 500-
    #[arg(long, value_name = "FROM-TO", value_parser = range)]
    numbers: Option<Range>,
    /// Leave out variations
    #[arg(long)]
    mainline: bool,
    /// Leave out all annotations of moves: texts, symbols, clock times and so on
    #[arg(long)]
    no_annotations: bool,
    /// Include games that are marked as deleted
    #[arg(long)]
    deleted: bool,
    /// Write the database's texts into this folder, as HTML; without -o, no games are written
    #[arg(long, value_name = "DIR")]
    texts: Option<PathBuf>,
    /// Threads to use [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// The first and the last number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range(u32, u32);

fn range(text: &str) -> std::result::Result<Range, &'static str> {
    let open = text.strip_suffix('-').map(|from| format!("{from}-{}", u32::MAX));
    let range = ends(open.as_deref().unwrap_or(text), "-").map(|ends| Range(*ends.start(), *ends.end()));
    range.filter(|Range(from, _)| *from > 0).ok_or("write numbers of games, such as 1-100, 17 or 500-")
}

/// Where the games go.
pub(super) struct DatabaseGames<'a> {
    pub args: &'a DatabaseArgs,
    pub path: &'a Path,
    /// A file, and how it is compressed; else standard output.
    pub to: Option<(&'a Path, Compression)>,
    /// Standard output is named.
    pub to_stdout: bool,
    pub force: bool,
}

impl DatabaseArgs {
    /// The first of these options that is given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--numbers", self.numbers.is_some()),
            ("--mainline", self.mainline),
            ("--no-annotations", self.no_annotations),
            ("--deleted", self.deleted),
            ("--texts", self.texts.is_some()),
            ("--threads", self.threads.is_some()),
        ];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// What is exported of a database.
    ///
    /// # Errors
    /// When it has no game with the first number.
    fn options(&self, db: &dyn Database) -> Result<ExportOptions> {
        let Range(from, to) = self.numbers.unwrap_or(Range(1, u32::MAX));
        if from > db.count() && (from, to) != (1, u32::MAX) {
            let what = format!("there is no game {from}: the last one is {}", db.count());
            return Err(Error::new(ErrorKind::Usage, what).at_path(db.path()));
        }
        let mut options = ExportOptions::new((from, to));
        options.main_line = self.mainline;
        options.bare = self.no_annotations;
        options.deleted = self.deleted;
        options.threads = self.threads.map_or_else(parallel::processors, usize::from);
        Ok(options)
    }
}

impl DatabaseGames<'_> {
    /// Writes the database, and reports what could not be written.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the work is interrupted: then no PGN file is written.
    pub fn write(&self) -> Result<Exit> {
        let db = databases::open(self.path)?;
        let db = &*db;
        if let Some((path, _)) = self.to {
            keep_inputs(&[path.to_owned()], &databases::parts(db.path()))?;
        }
        let options = self.args.options(db)?;
        interrupts::watch();
        for what in db.findings() {
            warn(&format!("{}: {what}", db.path().display()));
        }
        let texts =
            self.args.texts.as_ref().map(|folder| texts::write(db, &options, folder, self.force)).transpose();
        let texts = texts.map_err(|error| interrupt::after("not all texts are written", error))?;
        if let Some(texts) = &texts {
            let folder = self.args.texts.as_deref().unwrap_or(Path::new(""));
            texts.lines(folder).iter().for_each(|line| warn(line));
            if self.to.is_none() && !self.to_stdout {
                return Ok(texts.exit());
            }
        }
        let progress = progress::on_terminal(self.path.to_string_lossy());
        let (from, to) = options.games;
        progress.things(u64::from(to.min(db.count())) + 1 - u64::from(from.min(db.count())), "games");
        match self.to {
            Some(to) => self.to_file(to, db, &options, texts, progress),
            None => to_stdout(db, &options, texts, progress),
        }
    }

    fn to_file(
        &self,
        (path, compression): (&Path, Compression),
        db: &dyn Database,
        options: &ExportOptions,
        texts: Option<Texts>,
        progress: Progress,
    ) -> Result<Exit> {
        let mut file = Compressor::new(Replacement::new(path, self.force)?, compression);
        let totals = games(db, options, &progress, &mut |text| {
            file.write_all(text).map_err(|error| file.get_ref().error(error))
        });
        let totals = totals.map_err(|error| match texts.as_ref().and(self.args.texts.as_deref()) {
            Some(folder) => written::in_part(folder, "the texts are written, the games are not", error),
            None => interrupt::after("nothing was written", error),
        })?;
        if totals.games == 0 {
            drop(progress);
            lines(None, &totals).iter().for_each(|line| warn(line));
            let advice = (totals.deleted > 0).then_some("--deleted writes deleted games");
            return Ok(written::nothing(path, "there is no game to write", advice));
        }
        file.finish()?.commit()?;
        drop(progress);
        Ok(ended(Some(path), totals, texts))
    }
}

fn to_stdout(
    db: &dyn Database,
    options: &ExportOptions,
    texts: Option<Texts>,
    progress: Progress,
) -> Result<Exit> {
    let mut stdout = io::stdout().lock();
    let mut closed = false;
    let totals = games(db, options, &progress, &mut |text| {
        let written = stdout.write_all(text).and_then(|()| stdout.flush());
        closed |= written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        written.map_err(|error| unwritable(&error))
    });
    if closed {
        // The reader needs no more.
        return Ok(Exit::Done);
    }
    let totals = totals.map_err(|error| interrupt::after("not all games are written", error))?;
    drop(progress);
    Ok(ended(None, totals, texts))
}

/// Writes the games. Damaged ones are reported on standard error, because the PGN may go to standard output.
fn games(
    db: &dyn Database,
    options: &ExportOptions,
    progress: &Progress,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<ExportTotals> {
    let mut damaged = 0;
    export(db, options, &mut |text, errors, last| {
        write(text)?;
        for error in errors {
            damaged += 1;
            if damaged <= MAX_ERRORS {
                progress.aside(|| warn(&error.to_string()));
            }
        }
        progress.at(u64::from(last + 1 - options.games.0));
        interrupt::check()
    })
}

/// Reports what became of the games, and returns how the command ends.
fn ended(to: Option<&Path>, mut totals: ExportTotals, texts: Option<Texts>) -> Exit {
    if texts.is_some() {
        // They are written elsewhere.
        totals.texts = 0;
    }
    lines(to, &totals).iter().for_each(|line| warn(line));
    let sound = totals.damaged.is_empty() && totals.notes_damaged == 0;
    let exit = if sound { Exit::Done } else { Exit::Findings };
    texts.map_or(exit, |texts| exit.max(texts.exit()))
}

/// What became of the games, in lines for people.
fn lines(to: Option<&Path>, totals: &ExportTotals) -> Vec<String> {
    let to = to.map_or_else(String::new, |path| format!("{}: ", path.display()));
    let mut first = format!("{to}{} written", many(totals.games, "game"));
    for (count, what) in
        [(totals.deleted, "deleted game"), (totals.texts, "text"), (totals.unknown, "unknown record")]
    {
        if count > 0 {
            first.push_str(&format!(", {} left out", many(count, what)));
        }
    }
    let mut lines = vec![first];
    for (reason, count) in &totals.damaged {
        lines.push(format!("{} with moves lost: {reason}", many(*count, "game")));
    }
    if totals.notes_damaged > 0 {
        lines.push(format!("{} with annotations lost: damaged", many(totals.notes_damaged, "game")));
    }
    for ((kind, name), count) in &totals.left_out {
        let annotations = many(*count, "annotation");
        lines.push(format!("{annotations} left out that PGN cannot express: type {kind:#04x}, {name}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        for (text, expected) in [
            ("1-100", Some(Range(1, 100))),
            ("17", Some(Range(17, 17))),
            ("500-", Some(Range(500, u32::MAX))),
            ("0", None),
            ("-5", None),
            ("9-3", None),
            ("a-b", None),
            ("", None),
        ] {
            assert_eq!(range(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn everything_lost_is_reported() {
        let mut totals =
            ExportTotals { games: 1, texts: 2, deleted: 1, notes_damaged: 3, ..ExportTotals::default() };
        totals.damaged.insert(tabiya_games::Reason::IllegalMove, 2);
        totals.left_out.extend([((0x11, "picture"), 1), ((0x1c, "unknown"), 5)]);
        assert_eq!(
            lines(Some("a.pgn".as_ref()), &totals),
            [
                "a.pgn: 1 game written, 1 deleted game left out, 2 texts left out",
                "2 games with moves lost: illegal move",
                "3 games with annotations lost: damaged",
                "1 annotation left out that PGN cannot express: type 0x11, picture",
                "5 annotations left out that PGN cannot express: type 0x1c, unknown",
            ]
        );
    }
}
