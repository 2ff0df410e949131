//! `tabiya check`: what is wrong with a book or database, and at which offset.

use std::path::PathBuf;

use tabiya_base::error::Result;
use tabiya_book as book;

use crate::args::screens::{CHECKED_SOURCES, Screen, VARIANT};
use crate::args::variant::VariantArgs;
use crate::output::advice;
use crate::output::exit::Exit;
use crate::output::findings::{list, of_other_rules};
use crate::output::{self, sources};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "check",
    shown: &[
        ("books", CHECKED_SOURCES),
        ("variant", VARIANT),
        ("json", "Print one line of JSON for each problem"),
    ],
    examples: &["tabiya check books/*.bin"],
    pages: &[("look-into-a-book.md", "")],
}];

/// Read whole books, and report all damage with its offset
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books, count files (.parquet), folders of count files, or databases (.cbh, .cbv, .si4, .si5)
    #[arg(required = true, value_name = "SOURCE")]
    books: Vec<PathBuf>,
    #[command(flatten)]
    variant: VariantArgs,
    /// Print one line of JSON for each problem, and one for each book with the number of errors and warnings
    #[arg(long)]
    json: bool,
}

/// Reads each book to its end and reports what is wrong with it.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let variant = args.variant.variant();
    output::each_file(&args.books, |path, out| {
        if let Some(exit) = sources::check(path, variant, args.json, out)? {
            return Ok(exit);
        }
        let book = book::open_as(path, variant).map_err(|error| advice::no_book(path, error))?;
        list(path, args.json, out, |progress, report| {
            if let Some(other) = book.other_rules(variant, progress) {
                report(of_other_rules(&other, None));
            }
            book.check(progress, report);
            Ok(())
        })
    })
}
