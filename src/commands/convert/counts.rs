//! Count files that are added up into one.

use std::path::Path;

use tabiya_base::error::{Error, Result};
use tabiya_base::replace::keep_inputs;
use tabiya_book::By;
use tabiya_book::counts::CountFile;
use tabiya_workshop::bookmaker::{self, NewCounts, OpenCounts};
use tabiya_workshop::source::{Sorted, Source};

use super::Args;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::{self, counts, damage, progress, written};

/// Adds up the rows of count files that pass the filter, except those that are counted separately, into one file.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: then no file is written.
pub(super) fn merge(args: &Args) -> Result<Exit> {
    let (output, by, filter) = (&args.to.output, args.counts.by.by(), args.counts.slices.filter());
    let mut sorted = Sorted::new(&args.books)?;
    if let Some((path, other)) = sorted.others.first() {
        return Err(refused(path, other));
    }
    let (counted, unopened) = OpenCounts::of(&mut sorted)?;
    let files = counted.files();
    keep_inputs(std::slice::from_ref(output), &counted.paths().collect::<Vec<_>>())?;
    let variant = counted.variant(args.variant.named())?;
    let resources = args.resources.resolve()?;
    interrupts::watch();
    let lacking = files.iter().find(|file| !file.has_positions());
    let new = NewCounts::create(output, lacking.is_none(), by, variant, args.to.force)?;
    let progress = progress::on_terminal(output.to_string_lossy());
    let (report, written) = bookmaker::add_up(&counted, &filter, &resources, new, &progress)?;
    drop(progress);
    let mut lines = counts::read_lines(files, false, report.rows_left);
    if let (Some(lacking), true) = (lacking, files.iter().any(CountFile::has_positions)) {
        let name = lacking.path().display();
        lines.push(format!("left out: the positions, because {name} has only their keys"));
    }
    let separate = files.iter().fold(By::default(), |all, file| all.or(file.shape().by));
    let added: Vec<_> = separate.columns().filter(|name| !by.columns().any(|kept| kept == *name)).collect();
    if !added.is_empty() {
        let names = added.join(" and ");
        lines.push(format!("added up: each {names} (--by keeps them apart)"));
    }
    lines.extend(counts::written_lines(&written));
    let exit = output::print_lines(&lines, output::passed_over(&unopened))?;
    let exit = exit.max(damage::of_counts(&counted));
    if written.plies == 0 {
        let what =
            if filter.slices().any() { "no row passed the filters" } else { "the count files have no moves" };
        return Ok(written::nothing(output, what, None));
    }
    Ok(exit)
}

/// The error of what is at a path where count files are to be merged.
fn refused(path: &Path, source: &Source) -> Error {
    let error = source.not("a count file", path);
    if error.has_advice() {
        return error;
    }
    error.advice("only count files can be merged into one; count games with `tabiya build -o FILE.parquet`")
}
