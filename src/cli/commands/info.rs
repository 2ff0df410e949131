//! `tabiya info`: what each book, count file or database holds.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use crate::base::error::Result;
use crate::base::findings::Finding;
use crate::base::progress::Progress;
use crate::book::counts::named;
use crate::book::{self, Book, Summary};
use crate::cli::output::exit::Exit;
use crate::cli::output::files::{FileLine, file_lines};
use crate::cli::output::{self, counts, database};
use crate::games::cbh;

/// `tabiya info`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books, count files (.parquet), folders of count files, or ChessBase databases (.cbh)
    #[arg(required = true, value_name = "BOOK")]
    books: Vec<PathBuf>,
    /// Print one line of JSON for each book
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    book: &'a str,
    format: String,
    files: Vec<FileLine>,
    entries: u64,
    positions: Option<u64>,
    moves: Option<u64>,
    games: Option<u64>,
    deepest: Option<u32>,
    reachable: Option<u64>,
    learned: Option<u64>,
    oddities: Vec<String>,
}

/// Sums each book up.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    output::each_file(&args.books, |path, out| {
        if cbh::is_named(path) {
            return database::info(path, args.json, out);
        }
        if let Some(files) = named(path)? {
            return counts::info(path, &files, args.json, out);
        }
        let book = &*book::open(path)?;
        let summary = book.summary(&Progress::terminal(path.to_string_lossy()));
        if args.json { json(book, &summary, out) } else { text(book, &summary, out) }?;
        Ok(Exit::Done)
    })
}

fn files(book: &dyn Book) -> Vec<FileLine> {
    file_lines(book.files())
}

fn json(book: &dyn Book, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let line = Line {
        book: &book.path().to_string_lossy(),
        format: book.format().to_string(),
        files: files(book),
        entries: summary.entries,
        positions: summary.positions,
        moves: summary.moves,
        games: summary.games,
        deepest: summary.deepest,
        reachable: summary.reachable,
        learned: summary.learned,
        oddities: summary.findings.iter().map(Finding::to_string).collect(),
    };
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)
}

fn text(book: &dyn Book, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", book.path().display())?;
    let mut row = |name: &str, value: Option<String>| match value {
        Some(value) => writeln!(out, "  {name:<16} {value}"),
        None => Ok(()),
    };
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let of = match (summary.reachable, summary.positions) {
        (Some(_), Some(all)) => format!(" of {all} positions"),
        _ => String::new(),
    };
    row("format", Some(book.format().to_string()))?;
    for file in files(book) {
        let size = file.bytes.map_or_else(|| "gone".to_owned(), |bytes| format!("{bytes} bytes"));
        row("file", Some(format!("{} ({size})", file.path)))?;
    }
    row("entries", Some(summary.entries.to_string()))?;
    row("positions", number(summary.positions))?;
    row("moves", number(summary.moves))?;
    row("games", number(summary.games))?;
    row("deepest line", summary.deepest.map(|plies| format!("{plies} plies")))?;
    row("reached in play", summary.reachable.map(|reached| format!("{reached}{of}")))?;
    row("learned entries", number(summary.learned))?;
    for (name, text) in &summary.notes {
        row(name, Some(text.clone()))?;
    }
    for finding in &summary.findings {
        row(&finding.severity.to_string(), Some(finding.to_string()))?;
    }
    Ok(())
}
