//! `tabiya merge`: one book from several, or one count file from several.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::replace::keep_inputs;
use tabiya_book::counts::{CountFile, CountWriter, Shape, is_named, split};
use tabiya_book::{Book, By};
use tabiya_games as games;
use tabiya_learn as learn;
use tabiya_workshop::bookmaker::{self, Damage, Filter, Input, Repeated};

use crate::args::new_book::NewBook;
use crate::args::resources::ResourcesArgs;
use crate::args::slices::{ByArgs, SliceArgs};
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{self, counts, damage, progress, written};

/// `tabiya merge`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books to read, or count files (.parquet). Weights, games and results are added up; marks are taken from the
    /// first book that has them
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    to: To,
    #[command(flatten)]
    by: ByArgs,
    #[command(flatten)]
    slices: SliceArgs,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// What to write, and which part of what is read.
#[derive(clap::Args, Debug)]
pub(crate) struct To {
    #[command(flatten)]
    file: NewBook,
    /// Only entries that the books' moves reach from the starting position
    ///
    /// A Polyglot book holds only keys. For a format that needs positions, only these entries can be converted.
    #[arg(long)]
    reachable: bool,
}

/// Merges the books.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: then no book is written.
pub fn run(args: &Args) -> Result<Exit> {
    let (by, filter) = (args.by.by(), args.slices.filter());
    let output = &args.to.file.output;
    if is_named(output) {
        return merge_counts(&args.inputs, output, args.to.file.force, by, &filter, &args.resources);
    }
    match args.slices.given().or(by.any().then_some("--by")) {
        None => make(&args.inputs, &args.to, &args.resources),
        Some(option) => Err(Error::new(
            ErrorKind::Usage,
            format!("{option} works only for count files: books do not count games separately"),
        )
        .advice(
            "end the name of the output with .parquet, or build a book from the count files with tabiya \
             build",
        )),
    }
}

/// Makes one book from one or more.
///
/// # Errors
/// As [`run`].
pub fn make(inputs: &[PathBuf], to: &To, resources: &ResourcesArgs) -> Result<Exit> {
    let output = &to.file.output;
    if is_named(output) {
        let (by, filter) = (By::default(), Filter::default());
        return merge_counts(inputs, output, to.file.force, by, &filter, resources);
    }
    let books =
        inputs.iter().map(|path| learn::open_settled(path)).collect::<Result<Vec<Arc<dyn Book>>>>()?;
    let (resources, writer, progress) = to.file.begin(books.iter().map(|book| &**book), resources)?;
    let (merged, book) = bookmaker::merge_books(&books, to.reachable, &resources, writer, &progress)?;
    drop(progress);
    let lines = vec![format!("{} read", many(merged.read, "position"))];
    let why = if to.reachable { "--reachable" } else { "the book holds only their keys" };
    let nothing = match merged.read {
        0 => "no line from the starting position reaches a move of the book",
        _ => "the format can hold none of the moves",
    };
    to.file.end(lines, (&merged, why), &book, Exit::Done, (&books, nothing))
}

/// Adds up the rows of count files that pass the filter, except those that are counted separately, into one file.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: then no file is written.
fn merge_counts(
    inputs: &[PathBuf],
    output: &Path,
    force: bool,
    by: By,
    filter: &Filter,
    resources: &ResourcesArgs,
) -> Result<Exit> {
    let mut split = split(inputs)?;
    if let Some(other) = split.games.first() {
        let what = "this is not a count file, and only count files can be merged into one";
        return Err(Error::format(other, what).advice("count games with tabiya build --counts"));
    }
    let mut unopened = Vec::new();
    let files = split.open(CountFile::open, &mut unopened)?;
    let inputs: Vec<_> = files.iter().map(|file| file.path().to_owned()).collect();
    keep_inputs(&[output.to_owned()], &inputs)?;
    let resources = resources.resolve()?;
    interrupts::watch();
    let lacking = files.iter().find(|file| !file.has_positions());
    let writer = CountWriter::create(output, Shape { positions: lacking.is_none(), by }, force)?;
    let progress = progress::on_terminal(output.to_string_lossy());
    let damage = Damage::default();
    let input = Input {
        games: &mut games::open(&[])?,
        repeated: &Repeated::default(),
        counts: &files,
        work: None,
        damage: &damage,
    };
    let (report, written) = bookmaker::write_counts(input, filter, &resources, writer, &progress)?;
    drop(progress);
    let mut lines = counts::read_lines(&files, false, report.rows_left);
    if let (Some(lacking), true) = (lacking, files.iter().any(CountFile::has_positions)) {
        let name = lacking.path().display();
        lines.push(format!("left out: the positions, because {name} has only their keys"));
    }
    let told = files.iter().fold(By::default(), |all, file| all.or(file.shape().by));
    let added: Vec<_> = told.columns().filter(|name| !by.columns().any(|kept| kept == *name)).collect();
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
