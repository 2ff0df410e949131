//! `tabiya info`: what each book, count file, database or store of evaluations holds.

use std::io::{self, Write};
use std::path::PathBuf;

use tabiya_base::error::Result;
use tabiya_book::traits::Book;
use tabiya_book::{self as book, BookSummary, Variant};

use crate::args::screens::{SOURCES, Screen};
use crate::args::variant::VariantArgs;
use crate::output::advice;
use crate::output::exit::Exit;
use crate::output::rows::Sheet;
use crate::output::{self, progress, sources};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "info",
    shown: &[("books", SOURCES), ("json", "")],
    examples: &["tabiya info book.bin games.cbh"],
    pages: &[("look-into-a-book.md", "")],
}];

/// Show what each book, database or store contains
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books, count files (.parquet), folders of count files, databases (.cbh, .cbv, .si4, .si5), or stores of evaluations
    #[arg(required = true, value_name = "SOURCE")]
    books: Vec<PathBuf>,
    #[command(flatten)]
    variant: VariantArgs,
    /// Print one line of JSON for each
    #[arg(long)]
    json: bool,
}

/// Prints what each book holds.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    output::each_file(&args.books, |path, out| {
        if let Some(exit) = sources::info(path, args.json, out)? {
            return Ok(exit);
        }
        let book =
            &*book::open_as(path, args.variant.variant()).map_err(|error| advice::no_book(path, error))?;
        let progress = progress::on_terminal(path.to_string_lossy());
        let summary = book.summary(&progress);
        // Most books are for standard chess, and obey some other rules too: for people that is no news, and takes a look at each.
        let news = || book.other_rules(Variant::Chess, &progress).map(|other| other.rules);
        let rules = if args.json { book.rules(&progress) } else { news().unwrap_or_default() };
        print(book, &summary, &rules, args.json, out)?;
        Ok(Exit::Done)
    })
}

fn print(
    book: &dyn Book,
    summary: &BookSummary,
    rules: &[Variant],
    json: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let format = book.format().to_string();
    let mut sheet = Sheet::new(book.path(), json, out)?;
    sheet.key("format", &format)?;
    sheet.row("format", &format)?;
    sheet.files(book.files())?;
    sheet.number("entries", "entries", summary.entries)?;
    sheet.number("positions", "positions", summary.positions)?;
    sheet.number("moves", "moves", summary.moves)?;
    sheet.number("games", "games", summary.games)?;
    sheet.key("deepest", summary.deepest)?;
    if let Some(plies) = summary.deepest {
        sheet.row("deepest line", format_args!("{plies} plies"))?;
    }
    sheet.key("reachable", summary.reachable)?;
    if let Some(reached) = summary.reachable {
        let of = summary.positions.map_or_else(String::new, |all| format!(" of {all} positions"));
        sheet.row("reached in play", format_args!("{reached}{of}"))?;
    }
    sheet.number("learned", "learned entries", summary.learned)?;
    let names: Vec<_> = rules.iter().map(|variant| variant.uci()).collect();
    sheet.key("rules", &names)?;
    if !rules.is_empty() {
        sheet.row("rules of", names.join(", "))?;
    }
    for (name, text) in &summary.notes {
        sheet.row(name, text)?;
    }
    sheet.findings("oddities", &summary.findings)?;
    sheet.end()
}
