//! Count files that are added up into one.

use std::path::{Path, PathBuf};

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::replace::keep_inputs;
use tabiya_book::By;
use tabiya_book::counts::{CountFile, CountWriter, CountsWritten, Shape};
use tabiya_games as games;
use tabiya_workshop::bookmaker::{self, BuildReport, Damage, Filter, Input, Repeated, Resources};
use tabiya_workshop::source::Sorted;

use super::Args;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::{self, advice, counts, damage, progress, written};

/// Adds up the rows of count files that pass the filter, except those that are counted separately, into one file.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: then no file is written.
pub(super) fn merge(args: &Args) -> Result<Exit> {
    let (output, by, filter) = (&args.to.output, args.counts.by.by(), args.counts.slices.filter());
    let mut sorted = Sorted::new(&args.books)?;
    if let Some((path, other)) = sorted.others.first() {
        return Err(advice::not_counts(path, other));
    }
    let (files, unopened) = sorted.count_files()?;
    let inputs: Vec<_> = files.iter().map(|file| file.path().to_owned()).collect();
    keep_inputs(std::slice::from_ref(output), &inputs)?;
    let variant = bookmaker::variant_of(&files, args.variant.named())?;
    let resources = args.resources.resolve()?;
    interrupts::watch();
    let lacking = files.iter().find(|file| !file.has_positions());
    let shape = Shape { positions: lacking.is_none(), by };
    let writer =
        CountWriter::create(output, shape, args.to.force).map(|writer| writer.of_variant(variant))?;
    let progress = progress::on_terminal(output.to_string_lossy());
    let damage = Damage::default();
    let (report, written) = add_up(&files, (&filter, &damage), &resources, writer, &progress)?;
    drop(progress);
    let mut lines = counts::read_lines(&files, false, report.rows_left);
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
    let exit = exit.max(damage::of_counts(&files, damage));
    if written.plies == 0 {
        let what =
            if filter.slices().any() { "no row passed the filters" } else { "the count files have no moves" };
        return Ok(written::nothing(output, what, None));
    }
    Ok(exit)
}

/// Adds up whole count files for a command that goes on with the sums; returns the plies. Damage is reported by whoever reads
/// the files as books.
///
/// # Errors
/// As [`merge`].
pub(super) fn join(
    inputs: &[PathBuf],
    output: &Path,
    resources: &Resources,
    progress: &Progress,
) -> Result<u64> {
    let (files, _) = Sorted::new(inputs)?.count_files()?;
    let positions = files.iter().all(CountFile::has_positions);
    let shape = Shape { positions, by: By::default() };
    let variant = bookmaker::variant_of(&files, None)?;
    let writer = CountWriter::create(output, shape, false).map(|writer| writer.of_variant(variant))?;
    let all = (&Filter::default(), &Damage::default());
    add_up(&files, all, resources, writer, progress).map(|(_, written)| written.plies)
}

fn add_up(
    files: &[CountFile],
    (filter, damage): (&Filter, &Damage),
    resources: &Resources,
    writer: CountWriter,
    progress: &Progress,
) -> Result<(BuildReport, CountsWritten)> {
    let games = games::open_files(&[])?.of_variant(bookmaker::variant_of(files, None)?);
    let (mut games, repeated) = (games?, Repeated::default());
    let input = Input { games: &mut games, repeated: &repeated, counts: files, work: None, damage };
    bookmaker::write_counts(input, filter, resources, writer, progress)
}
