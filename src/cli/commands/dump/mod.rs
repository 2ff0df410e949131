//! `tabiya dump`: every entry of a book.

mod json;
mod pgn;
mod tsv;

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::book::{self, Book, PositionRecord, Scope};
use crate::bookmaker::report::many;
use crate::cli::output::exit::Exit;
use crate::cli::output::{self, Stop};

/// `tabiya dump`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The book
    #[arg(value_name = "BOOK")]
    book: PathBuf,
    /// How to write the entries
    #[arg(long, value_enum, default_value_t = Form::Tsv)]
    format: Form,
    /// Only what the book's moves reach from the starting position, each entry with its position
    ///
    /// Without it every entry is written, without its position if the format holds only keys, as Polyglot's does. PGN is
    /// always written from the starting position; it includes replies that the book does not have if they lead back into
    /// the book, as in a book for one side.
    #[arg(long)]
    reachable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A table with a heading, one line for each move, columns separated by tabs
    Tsv,
    /// One line of JSON for each position
    Json,
    /// One game in PGN, a tree of variations
    Pgn,
}

/// Writes the entries.
///
/// # Errors
/// When the book cannot be read, or standard output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let book = book::open(&args.book)?;
    let scope = if args.reachable { Scope::Reachable } else { Scope::All };
    let castlings = if scope == Scope::All && args.format != Form::Pgn {
        tsv::Castlings::of(&*book)
    } else {
        tsv::Castlings::default()
    };
    let mut unreached = 0;
    let exit = output::print(|out| {
        match args.format {
            Form::Tsv => {
                tsv::heading(out)?;
                let mut text = Vec::new();
                each(&*book, scope, out, |known, out| {
                    text.clear();
                    tsv::entries(known, &castlings, &mut text);
                    out.write_all(&text)
                })?;
            }
            Form::Json => each(&*book, scope, out, |known, out| json::line(known, &castlings, out))?,
            Form::Pgn => unreached = pgn::tree(&*book, out)?,
        }
        Ok(Exit::Done)
    })?;
    if unreached > 0 {
        let moves = many(unreached, "move is", "moves are");
        let what =
            "left out: no line from the starting position reaches their positions (--format tsv has them)";
        output::warn(&format!("{}: {moves} {what}", args.book.display()));
    }
    Ok(exit)
}

/// Writes each position, until the output is closed.
fn each(
    book: &dyn Book,
    scope: Scope,
    out: &mut dyn Write,
    mut write: impl FnMut(&PositionRecord, &mut dyn Write) -> std::io::Result<()>,
) -> std::result::Result<(), Stop> {
    let mut result = Ok(());
    book.each(scope, &Progress::none(), &mut |known| {
        result = write(known, out);
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    Ok(result?)
}
