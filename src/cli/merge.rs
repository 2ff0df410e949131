//! `tabiya merge`: several books into one, or several count files.

use std::path::PathBuf;
use std::sync::Arc;

use super::exit::Exit;
use super::means_args::MeansArgs;
use super::{counts, out, written};
use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::progress::Progress;
use crate::base::replace::keep_inputs;
use crate::book::{self, Book, Scope, WriteOptions};
use crate::build;
use crate::build::counts::is_named;
use crate::build::report::many;

/// `tabiya merge`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books to read: weights, games and results are added up, marks are taken from the first that has them; or
    /// count files (.parquet)
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    to: To,
    #[command(flatten)]
    means: MeansArgs,
}

/// What is to be written, and how much of what is read.
#[derive(clap::Args, Debug)]
pub struct To {
    /// The book to write; the end of its name says the format
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the book where there is one
    #[arg(long)]
    force: bool,
    /// Take everything that the files hold, not only what the books' moves reach from the starting position
    ///
    /// A Polyglot book that becomes another Polyglot book is always taken whole. A format that needs positions cannot
    /// take more of a Polyglot book than what is reached, for that holds only their keys.
    #[arg(long)]
    all: bool,
    /// Where CTG is written and a position's moves have no colours: make those green that have at least so many per
    /// mille of its weight; 0 for none [default: where only weights are known, those of at least half the weight of the
    /// heaviest]
    #[arg(long, value_name = "PERMILLE", value_parser = clap::value_parser!(u32).range(0..=1000))]
    green: Option<u32>,
}

/// Merges the books.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: the new book is then not there.
pub fn run(args: &Args) -> Result<Exit> {
    make(&args.inputs, &args.to, &args.means)
}

/// Makes one book of one or several.
///
/// # Errors
/// As [`run`].
pub fn make(inputs: &[PathBuf], to: &To, means: &MeansArgs) -> Result<Exit> {
    if is_named(&to.output) {
        return counts::merge(inputs, &to.output, to.force, means);
    }
    let books = inputs.iter().map(book::open).collect::<Result<Vec<Arc<dyn Book>>>>()?;
    keep_inputs(&book::parts(&to.output), &written::books(books.iter().map(|book| &**book)))?;
    let means = means.means()?;
    interrupt::watch();
    let options =
        WriteOptions { green: written::green(to.green), ..written::options(&to.output, to.force, &means) };
    let writer = book::create(&to.output, &options)?;
    let progress = Progress::terminal(to.output.to_string_lossy());
    let needs_positions = writer.needs_positions();
    let scope = |book: &dyn Book| match (book.holds_positions(), needs_positions) {
        (true, _) if to.all => Scope::All,
        (false, false) => Scope::All,
        _ => Scope::Reachable,
    };
    let scoped: Vec<_> = books.iter().map(|book| (&**book, scope(&**book))).collect();
    // Of such positions nothing more than the key is known, whatever is asked for.
    let keys_only = books.iter().all(|book| !book.holds_positions());
    let (merged, book) = build::merge(&scoped, &means, writer, &progress)?;
    drop(progress);
    let exit = out::print(|out| {
        writeln!(out, "{} read", many(merged.read, "position", "positions"))?;
        if merged.unreached > 0 {
            let all = merged.read + merged.unreached;
            writeln!(
                out,
                "left out: {} of {all}, which no line from the starting position reaches ({})",
                many(merged.unreached, "position", "positions"),
                if keys_only { "the book holds only their keys" } else { "--all takes them" },
            )?;
        }
        if merged.unplaced > 0 {
            let positions = many(merged.unplaced, "position", "positions");
            writeln!(out, "left out: {positions} with more pieces than a game has")?;
        }
        if merged.ruled_out > 0 {
            let moves = many(merged.ruled_out, "move", "moves");
            writeln!(out, "left out: {moves} that colours or marks rule out, for the format has neither")?;
        }
        written::tell(&book, out)?;
        Ok(Exit::Done)
    })?;
    if book.moves == 0 {
        let what = match merged.read {
            0 => "no line from the starting position reaches a move of the book",
            _ => "the format can hold none of the moves",
        };
        return Ok(written::nothing(&to.output, what, None));
    }
    Ok(exit)
}
