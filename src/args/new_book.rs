//! The book that a command writes.

use std::path::PathBuf;
use std::sync::Arc;

use tabiya_base::error::Result;
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::{BookWriter, Written};
use tabiya_learn::files_of;
use tabiya_workshop::bookmaker::{self, Merged, Resources};

use super::resources::ResourcesArgs;
use super::share;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::written::{lines, merged_lines};
use crate::output::{damage, print_lines, progress, written};

/// The book to write from others.
#[derive(clap::Args, Debug)]
pub(crate) struct NewBook {
    /// The book to write; its extension selects the format
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the book if it exists
    #[arg(long)]
    pub force: bool,
    /// In a CTG book, if a position has no colored moves: mark moves green from this share of its weight on, in percent;
    /// 0 = none [default: if only weights are known, moves with at least half the weight of the heaviest]
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    green: Option<u16>,
}

impl NewBook {
    /// The book as the library has it.
    pub fn book(&self) -> bookmaker::NewBook {
        let mut new = bookmaker::NewBook::new(&self.output);
        (new.force, new.green) = (self.force, self.green);
        new
    }

    /// Begins the book, and the work from which an interrupt returns.
    ///
    /// # Errors
    /// When it would replace a book that is read, there is no folder for temporary files, or as [`tabiya_book::create_book`].
    pub fn begin<'a>(
        &self,
        read: impl IntoIterator<Item = &'a dyn Book>,
        resources: &ResourcesArgs,
    ) -> Result<(Resources, Box<dyn BookWriter>, Progress)> {
        let mut book = self.book();
        let read: Vec<_> = read.into_iter().collect();
        book.variant = read.first().map(|read| read.variant()).unwrap_or_default();
        book.keep(&files_of(read))?;
        let resources = resources.resolve()?;
        interrupts::watch();
        let writer = book.create(None, &resources)?;
        Ok((resources, writer, progress::on_terminal(self.output.to_string_lossy())))
    }

    /// Prints these lines and what was written and left out, and what `damage` reports of what was read. `why` says
    /// of positions that no line reaches why they are left out, and `nothing` why the book has no move.
    ///
    /// # Errors
    /// As [`print_lines`] and `damage`.
    pub fn end(
        &self,
        mut all: Vec<String>,
        (merged, why): (&Merged, &str),
        written: &Written,
        exit: Exit,
        (damage, nothing): (impl FnOnce(Exit) -> Result<Exit>, &str),
    ) -> Result<Exit> {
        all.extend(merged_lines(merged, why));
        all.extend(lines(written));
        let exit = damage(print_lines(&all, exit)?)?;
        Ok(if written.moves == 0 { written::nothing(&self.output, nothing, None) } else { exit })
    }

    /// Reports that there is no book to write, and why, as [`NewBook::end`] does.
    ///
    /// # Errors
    /// As [`print_lines`] and [`damage::report`].
    pub fn nothing(&self, lines: Vec<String>, read: &[Arc<dyn Book>], why: &str) -> Result<Exit> {
        damage::report(read, print_lines(&lines, Exit::Done)?)?;
        Ok(written::nothing(&self.output, why, None))
    }
}
