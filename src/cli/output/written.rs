//! What commands that write a book have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::exit::Exit;
use super::rows::many;
use super::{damage, print_lines, warn};
use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::base::replace::keep_inputs;
use crate::book::{self, Book, BookWriter, Green, WriteOptions, Written};
use crate::bookmaker::{Merged, Resources};
use crate::cli::args::resources::ResourcesArgs;
use crate::cli::args::share;
use crate::games::cbh;
use crate::learn::Disk;

/// The book to write from others.
#[derive(clap::Args, Debug)]
pub(crate) struct NewBook {
    /// The book to write; its extension selects the format
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the book if it exists
    #[arg(long)]
    pub force: bool,
    /// In a CTG book, where the moves of a position have no colours: mark moves green that have at least this share of the
    /// position's weight, in per cent; 0 = none [default: if only weights are known, moves with at least half the
    /// weight of the heaviest]
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    green: Option<u16>,
}

impl NewBook {
    /// The options of its writer.
    pub fn options(&self, resources: &Resources) -> WriteOptions {
        options(&self.output, self.force, self.green, resources)
    }

    /// Begins the book, and the work from which an interrupt returns.
    ///
    /// # Errors
    /// When it would replace a book that is read, there is no folder for temporary files, or as [`book::create`].
    pub fn begin<'a>(
        &self,
        read: impl IntoIterator<Item = &'a dyn Book>,
        resources: &ResourcesArgs,
    ) -> Result<(Resources, Box<dyn BookWriter>, Progress)> {
        keep_inputs(&book::parts(&self.output), &books(read))?;
        let resources = resources.resolve()?;
        interrupt::watch();
        let writer = book::create(&self.output, &self.options(&resources))?;
        Ok((resources, writer, Progress::terminal(self.output.to_string_lossy())))
    }

    /// Prints these lines and what was written and left out, and reports what of the books that were read is damaged. `why` says
    /// of positions that no line reaches why they are left out, and `nothing` why the book has no move.
    ///
    /// # Errors
    /// As [`print_lines`] and [`damage::report`].
    pub fn end<'a>(
        &self,
        mut all: Vec<String>,
        (merged, why): (&Merged, &str),
        written: &Written,
        exit: Exit,
        (read, nothing): (impl IntoIterator<Item = &'a Arc<dyn Book>>, &str),
    ) -> Result<Exit> {
        all.extend(merged_lines(merged, why));
        all.extend(lines(written));
        let exit = damage::report(read, print_lines(&all, exit)?)?;
        Ok(if written.moves == 0 { self::nothing(&self.output, nothing, None) } else { exit })
    }
}

/// The options of any writer of a book: its caption is the file's name, and `green` the share that the command line names, in
/// thousandths.
pub fn options(output: &Path, force: bool, green: Option<u16>, resources: &Resources) -> WriteOptions {
    let name = output.file_stem().unwrap_or_default();
    WriteOptions {
        force,
        needs_moves: true,
        caption: name.to_string_lossy().into_owned(),
        memory: resources.of_writer(),
        temp: Some(resources.temp.clone()),
        green: green.map_or(Green::Weights, |share| Green::PerMille(share.into())),
        ..WriteOptions::default()
    }
}

/// The files of books, including the journals of what they have learned.
pub fn books<'a>(books: impl IntoIterator<Item = &'a dyn Book>) -> Vec<PathBuf> {
    let with_journal = |path: PathBuf| {
        let journal = Disk::new(&path).ok().map(|disk| disk.journal);
        journal.into_iter().chain([path])
    };
    books.into_iter().flat_map(Book::files).flat_map(with_journal).collect()
}

/// The files that games are read from: all parts of a database.
pub fn sources(files: &[PathBuf]) -> Vec<PathBuf> {
    let parts = |path: &PathBuf| if cbh::is_named(path) { cbh::parts(path) } else { vec![path.clone()] };
    files.iter().flat_map(parts).collect()
}

/// What was written and what was left out, in lines for people.
pub fn lines(written: &Written) -> Vec<String> {
    let left_out = written.left_out.iter();
    let mut lines: Vec<_> = left_out.map(|(what, count)| format!("left out: {count} {what}")).collect();
    if written.moves == 0 {
        return lines;
    }
    if written.lost_weights > 0 {
        let moves = many(written.lost_weights, "move");
        lines.push(format!(
            "left out: weights of {moves} that do not follow from the results (--green turns them into colours)"
        ));
    }
    if written.greens > 0 {
        let (moves, are) = (many(written.greens, "move"), if written.greens == 1 { "is" } else { "are" });
        lines.push(format!(
            "{moves} {are} marked green: of at least half the weight of the heaviest in the position (--green changes that)"
        ));
    }
    let names: Vec<_> = written.files.iter().map(|file| file.display().to_string()).collect();
    let (positions, moves) = (many(written.positions, "position"), many(written.moves, "move"));
    lines.push(format!("{}: {positions}, {moves}", names.join(", ")));
    lines
}

/// What merging left out, in lines for people; `why` says it of positions that no line reaches.
pub(crate) fn merged_lines(merged: &Merged, why: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if merged.unreached > 0 {
        lines.push(format!(
            "left out: {} of {}, which no line from the starting position reaches ({why})",
            many(merged.unreached, "position"),
            merged.read + merged.unreached,
        ));
    }
    if merged.unplaced > 0 {
        let positions = many(merged.unplaced, "position");
        lines.push(format!("left out: {positions} with more pieces than a game has"));
    }
    if merged.ruled_out > 0 {
        let moves = many(merged.ruled_out, "move");
        lines.push(format!("left out: {moves} that colours or marks rule out: the format has neither"));
    }
    lines
}

/// Reports that nothing was written, why, and what to do. A file that existed before is unchanged.
pub fn nothing(output: &Path, what: &str, advice: Option<&str>) -> Exit {
    let advice = advice.map_or_else(String::new, |advice| format!(": {advice}"));
    warn(&format!("{}: not written: {what}{advice}", output.display()));
    Exit::Findings
}
