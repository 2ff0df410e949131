//! `tabiya dump`: every entry of a book.

mod json;
mod lines;
mod pgn;
mod tsv;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_base::visit::Break;
use tabiya_book::{Book, PositionRecord, Scope};
use tabiya_learn as learn;

use crate::output::exit::Exit;
use crate::output::rows::many;
use crate::output::{self, Printed, damage};

/// `tabiya dump`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The book
    #[arg(value_name = "BOOK")]
    book: PathBuf,
    /// How to write the entries
    #[arg(long, value_enum, default_value_t = Form::Tsv)]
    format: Form,
    /// Only entries that the book's moves reach from the starting position, each with its position
    ///
    /// Without this, every entry is written. A Polyglot book holds only keys, so its entries then have no positions. PGN
    /// has a game for the starting position, and one with a FEN for each other position that it does not reach. It includes
    /// replies that are not in the book if they lead back into it, as in a book for one side.
    #[arg(long)]
    reachable: bool,
    /// With --format pgn: one game for each line, with weights and counts as comments
    ///
    /// If several lines reach a position, the shortest one goes on; the others end there with the comment "transposes".
    #[arg(long)]
    lines: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A table with a heading, one line per move, columns separated by tabs
    Tsv,
    /// One line of JSON per position
    Json,
    /// A PGN game with variations; with --lines, one game for each line
    Pgn,
}

/// Writes the entries.
///
/// # Errors
/// When the book cannot be read, or standard output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    if args.lines && args.format != Form::Pgn {
        return Err(Error::new(ErrorKind::Usage, "--lines writes games").advice("write --format pgn --lines"));
    }
    let book = learn::open_settled(&args.book)?;
    let scope = if args.reachable { Scope::Reachable } else { Scope::All };
    let castlings = if scope == Scope::All && args.format != Form::Pgn {
        tsv::Castlings::find(&*book)?
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
            Form::Pgn if args.lines => unreached = lines::games(&*book, scope, out)?,
            Form::Pgn => unreached = pgn::tree(&*book, scope, out)?,
        }
        end(&book, out)
    })?;
    if unreached > 0 {
        let are = if unreached == 1 { "is" } else { "are" };
        output::warn(&format!(
            "{}: {} {are} left out: no line from the starting position reaches their positions (--format tsv has them)",
            args.book.display(),
            many(unreached, "move")
        ));
    }
    Ok(exit)
}

/// Reports what is damaged in the book, unless the output is closed.
fn end(book: &Arc<dyn Book>, out: &mut dyn Write) -> Printed<Exit> {
    out.flush()?;
    Ok(damage::report([book], Exit::Done)?)
}

/// Writes each position, until the output is closed.
fn each(
    book: &dyn Book,
    scope: Scope,
    out: &mut dyn Write,
    mut write: impl FnMut(&PositionRecord, &mut dyn Write) -> std::io::Result<()>,
) -> Printed<()> {
    let mut result = Ok(());
    book.each(scope, &Progress::none(), &mut |known| {
        result = write(known, out);
        if result.is_ok() { Ok(()) } else { Err(Break::Enough) }
    })?;
    Ok(result?)
}
