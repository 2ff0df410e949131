//! Every entry of a book, as a table, lines of JSON, or games.

mod json;
mod lines;
mod pgn;
mod tree;
mod tsv;

use std::io::Write;
use std::path::Path;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_base::replace::keep_inputs;
use tabiya_base::visit::Break;
use tabiya_book::traits::Book;
use tabiya_book::{PositionRecord, Scope};
use tabiya_chess::Variant;
use tabiya_games::compress::Compression;
use tabiya_learn as learn;

use super::{Form, to_file};
use crate::args::variant::open_warned;
use crate::output::exit::Exit;
use crate::output::rows::many;
use crate::output::{self, Printed, damage};

/// What was written of a book.
#[derive(Default)]
struct Entries {
    count: u64,
    /// What is counted.
    kind: &'static str,
    /// Moves that are left out because no line reaches their positions.
    left_out: u64,
}

/// What of a book is written.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Books")]
pub(super) struct BookArgs {
    /// Only entries that the book's moves reach from the starting position, each with its position
    ///
    /// Without this, every entry is written. A Polyglot book holds only keys, so its entries then have no positions. PGN
    /// has a game for the starting position, and one with a FEN for each other position that it does not reach. It includes
    /// replies that are not in the book if they lead back into it, as in a book for one side.
    #[arg(long)]
    reachable: bool,
    /// As PGN: one game for each line, with weights and counts as comments
    ///
    /// If several lines reach a position, the shortest one goes on; the others end there with the comment "transposes".
    #[arg(long)]
    pub lines: bool,
    /// As JSON: one object, a tree of the lines from the starting position
    ///
    /// The moves of each position are written once, where its first line reaches it; on other lines it is marked.
    #[arg(long)]
    pub tree: bool,
}

impl BookArgs {
    /// The first of these options that is given.
    pub fn given(&self) -> Option<&'static str> {
        let options = [("--reachable", self.reachable), ("--lines", self.lines), ("--tree", self.tree)];
        options.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Writes a book to a file, or to standard output.
    ///
    /// # Errors
    /// When the book cannot be read or the output not be written, or the work is interrupted: then no file is written.
    pub fn write(
        &self,
        (path, variant): (&Path, Variant),
        form: Form,
        to: Option<(&Path, Compression)>,
        force: bool,
    ) -> Result<Exit> {
        let book = open_warned(path, variant)?;
        let mut entries = Entries::default();
        let exit = match to {
            Some(to) => {
                keep_inputs(&[to.0.to_owned()], &learn::files_of([&*book]))?;
                entries = to_file(to, force, |out| self.entries(&*book, form, out))?;
                let written = format!("{}: {}", to.0.display(), many(entries.count, entries.kind));
                damage::report([&book], output::print_lines(&[written], Exit::Done)?)?
            }
            None => output::print(|out| {
                entries = self.entries(&*book, form, out)?;
                // What is damaged matters unless the output is closed.
                out.flush()?;
                Ok(damage::report([&book], Exit::Done)?)
            })?,
        };
        let unreached = entries.left_out;
        if unreached > 0 {
            let are = if unreached == 1 { "is" } else { "are" };
            output::warn(&format!(
                "{}: {} {are} left out: no line from the starting position reaches their positions (--format tsv has them)",
                path.display(),
                many(unreached, "move")
            ));
        }
        let unlisted = if self.reachable { 0 } else { unlisted(&*book)? };
        if unlisted > 0 {
            let are = if unlisted == 1 { "is" } else { "are" };
            output::warn(&format!(
                "{}: {} {are} left out: the book holds only their keys, and no line from the starting position reaches them",
                path.display(),
                many(unlisted, "position")
            ));
        }
        Ok(exit)
    }

    /// Writes the entries.
    fn entries(&self, book: &dyn Book, form: Form, out: &mut dyn Write) -> Printed<Entries> {
        let scope = if self.reachable { Scope::Reachable } else { Scope::All };
        if form == Form::Pgn {
            return if self.lines { lines::games(book, scope, out) } else { pgn::tree(book, scope, out) };
        }
        if self.tree {
            return tree::trees(book, scope, out);
        }
        let castlings =
            if scope == Scope::All { tsv::Castlings::find(book)? } else { tsv::Castlings::default() };
        let mut count = 0;
        if form == Form::Json {
            each(book, scope, out, |known, out| {
                count += 1;
                json::line(known, book.variant(), &castlings, out)
            })?;
            return Ok(Entries { count, kind: "position", left_out: 0 });
        }
        tsv::heading(out)?;
        let mut text = Vec::new();
        each(book, scope, out, |known, out| {
            count += known.moves.len() as u64;
            text.clear();
            tsv::entries(known, &castlings, &mut text);
            out.write_all(&text)
        })?;
        Ok(Entries { count, kind: "move", left_out: 0 })
    }
}

/// Positions that look-ups find and that cannot be listed: most formats list all that they hold.
fn unlisted(book: &dyn Book) -> Result<u64> {
    match book.format().lists_all() {
        false => book.each(Scope::All, &Progress::none(), &mut |_| Ok(())),
        true => Ok(0),
    }
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
