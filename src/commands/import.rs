//! `tabiya import`: evaluations of other programs into a store.

use std::path::PathBuf;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::replace::keep_inputs;
use tabiya_book as book;
use tabiya_learn as learn;
use tabiya_search::evals::{Wanted, repair};
use tabiya_workshop::evals::import::{Import, ImportPlan, ImportSource, Tally, split};

use crate::args::resources::ResourcesArgs;
use crate::args::screens::Screen;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::rows::many;
use crate::output::{self, progress, written};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "import",
    shown: &[
        ("store", "The store, such as book.bin.evals; created if it is missing"),
        ("files", "Lichess's dump, EPD, PGN with [%eval], other stores, folders, or -"),
        ("book", "Only positions that this book reaches"),
        ("source", "The source of the evaluations [default: Lichess, EPD, PGN]"),
    ],
    examples: &["tabiya import book.bin.evals lichess_db_eval.jsonl.zst --for book.bin"],
    pages: &[("evals.md", "")],
}];

/// Add evaluations to a store: from Lichess's dump, EPD, or games with [%eval] in their comments
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store, such as book.bin.evals; created if it is missing
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// The evaluations: Lichess's dump (lines of JSON, or Parquet), EPD, PGN with [%eval] in its comments, a folder of PGN
    /// or Parquet files, other stores, or - for standard input. Texts may be compressed (.gz, .zst, .bz2, .xz)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only positions that this book reaches from the starting position, and those after its moves
    #[arg(long = "for", value_name = "BOOK")]
    book: Option<PathBuf>,
    /// The engine or other source of the evaluations [default: Lichess, EPD or PGN]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// Reads the files, puts what they have into the store, and reports what that is.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: then the store is unchanged.
pub fn run(args: &Args) -> Result<Exit> {
    written::whole(make(args))
}

fn make(args: &Args) -> Result<Exit> {
    if args.source.as_ref().is_some_and(|name| name.trim().is_empty() || name.contains(char::is_control)) {
        return Err(Error::new(ErrorKind::Usage, "--source: this is not a name").advice("name an engine"));
    }
    let (files, unread) = split(&args.files)?;
    let stores = std::slice::from_ref(&args.store);
    keep_inputs(stores, &files.iter().map(|file| file.path.clone()).collect::<Vec<_>>())?;
    let book = args.book.as_ref().map(book::open_book).transpose()?;
    if let Some(book) = &book {
        keep_inputs(stores, &learn::files_of([&**book]))?;
    }
    let resources = args.resources.resolve()?;
    interrupts::watch();
    let progress = progress::on_terminal(args.store.to_string_lossy());
    let wanted = book.as_ref().map(|book| Wanted::from_book(&**book, &progress)).transpose()?;
    let plan = ImportPlan {
        wanted: wanted.as_ref(),
        source: args.source.as_deref().map(str::trim),
        resources: &resources,
        progress: &progress,
    };
    let mut import = Import::new(plan);
    let mut errors = unread.len() as u64;
    output::passed_over(&unread);
    for ImportSource { path, in_folder } in &files {
        let read = import.read(path, &mut |finding| {
            errors += if finding.is_error() { finding.count } else { 0 };
            let line = format!("{}: {}: {finding}", path.display(), finding.severity);
            progress.aside(|| output::warn(&line));
        });
        match read {
            Err(error) if *in_folder && error.kind() == ErrorKind::Format => {
                errors += 1;
                progress.aside(|| output::complain(&error));
            }
            read => read?,
        }
    }
    let Tally { lines, games, taken, unwanted } = import.tally();
    let put = import.finish(&args.store)?;
    let damaged = if args.store.exists() { repair(&args.store, &resources, &progress)? } else { 0 };
    drop(progress);
    let read = [(lines, "line"), (games, "game")].into_iter().filter(|(count, _)| *count > 0);
    let read: Vec<_> = read.map(|(count, noun)| format!("{} read, ", many(count, noun))).collect();
    let mut lines = vec![format!("{}{} taken", read.concat(), many(taken, "evaluation"))];
    if let Some(wanted) = &wanted {
        let (others, positions) = (many(unwanted, "evaluation"), many(wanted.len(), "position"));
        lines.push(format!("{others} of other positions left out: the book reaches {positions} (--for)"));
    }
    if damaged > 0 {
        let records = many(damaged, "damaged record");
        lines.push(format!("{}: put in order, without {records}", args.store.display()));
    }
    if taken == 0 {
        output::print_lines(&lines, Exit::Done)?;
        let what = if unwanted > 0 {
            "no evaluation is for a position of the book"
        } else {
            "no evaluations were found"
        };
        return Ok(written::nothing(&args.store, what, None));
    }
    let (new, better) = (many(put.new, "new position"), many(put.better, "position"));
    lines.push(format!("{}: {new}, {better} evaluated better than before", args.store.display()));
    output::print_lines(&lines, if errors > 0 { Exit::Findings } else { Exit::Done })
}
