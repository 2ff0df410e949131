//! `tabiya export`: a book, a database or a store of evaluations, written out.

mod book;
mod database;
mod store;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::interrupt;
use tabiya_base::replace::Replacement;
use tabiya_games::compress::{Compression, Compressor};
use tabiya_workshop::source::Source;

use self::book::BookArgs;
use self::database::{DatabaseArgs, DatabaseGames};
use crate::args::screens::{FORCE, Screen};
use crate::args::variant::VariantArgs;
use crate::output::exit::Exit;
use crate::output::interrupts;
use crate::output::{Printed, Stop};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "export",
    shown: &[
        ("source", "A book, a database (.cbh, .cbv, .si4, .si5), or a store"),
        ("output", "The file to write (.pgn, .tsv, .json, .epd) [default: -]"),
        ("force", FORCE),
        ("format", "pgn, tsv, json or epd [default: as the file's name says]"),
        ("lines", "Of a book, as PGN: one game for each line"),
        ("tree", "Of a book, as JSON: a tree of its lines"),
        ("reachable", "Of a book: what is reached from the start, with positions"),
        ("numbers", "Of a database: only games 1-100, 17, 500-"),
        ("mainline", "Of a database: leave out variations"),
    ],
    examples: &["tabiya export book.ctg -o book.pgn --lines", "tabiya export games.cbh -o games.pgn"],
    pages: &[("databases.md", ""), ("look-into-a-book.md", "")],
}];

/// Write a book, a database or a store as PGN, a table, JSON or EPD
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A book, a store of evaluations, or a database (.cbh, .cbv, .si4, .si5)
    #[arg(value_name = "SOURCE")]
    source: PathBuf,
    /// The file to write (.pgn, .tsv, .json, .epd, also with .gz or .zst), or - for standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How to write it [default: as the name of the file says, else a book as tsv, a database as pgn, a store as epd]
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    book: BookArgs,
    #[command(flatten)]
    variant: VariantArgs,
    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A database's games; a book as a game with variations, or with --lines as one game for each line
    Pgn,
    /// A book as a table with a heading, one line per move, columns separated by tabs
    Tsv,
    /// A book as one line of JSON per position, or with --tree as one object
    Json,
    /// A store's positions with their evaluations
    Epd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Book,
    Database,
    Store,
}

impl Kind {
    fn find(path: &Path) -> Result<Self> {
        Ok(match Source::at(path)? {
            Source::Database => Self::Database,
            Source::Store => Self::Store,
            _ => Self::Book,
        })
    }

    /// The forms that it is written in, the usual one first.
    fn forms(self) -> &'static [Form] {
        match self {
            Self::Book => &[Form::Tsv, Form::Pgn, Form::Json],
            Self::Database => &[Form::Pgn],
            Self::Store => &[Form::Epd],
        }
    }

    /// What is written how, and what to do.
    fn needs(self) -> (&'static str, &'static str) {
        match self {
            Self::Book => (
                "a book is written as PGN, a table or JSON",
                "end the name with .pgn, .tsv or .json; `tabiya suite` writes positions of a book as EPD",
            ),
            Self::Database => ("games are written as PGN", "end the name with .pgn, .pgn.gz or .pgn.zst"),
            Self::Store => ("a store of evaluations is written as EPD", "end the name with .epd"),
        }
    }
}

/// Writes the source, and reports what could not be written.
///
/// # Errors
/// When a file cannot be read or written, or the work is interrupted: then no file is written.
pub fn run(args: &Args) -> Result<Exit> {
    let kind = Kind::find(&args.source)?;
    let target = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let form = args.form(kind, target)?;
    args.check(kind, form)?;
    let to = target.map(|path| (path, named(path).1));
    match kind {
        Kind::Book => args.book.write((&args.source, args.variant.variant()), form, to, args.force),
        Kind::Store => store::write(&args.source, to, args.force),
        Kind::Database => {
            let (to_stdout, force) = (args.output.is_some() || args.format.is_some(), args.force);
            DatabaseGames { args: &args.database, path: &args.source, to, to_stdout, force }.write()
        }
    }
}

impl Args {
    /// The form that is asked for, or that the name of the file says.
    ///
    /// # Errors
    /// When this kind of source is not written so.
    fn form(&self, kind: Kind, target: Option<&Path>) -> Result<Form> {
        let usual = kind.forms().first().copied();
        let asked = self.format.or_else(|| target.map_or(usual, |path| named(path).0));
        if let Some(form) = asked.filter(|form| kind.forms().contains(form)) {
            return Ok(form);
        }
        // What is missing or unreadable is no book that is written as something else.
        if kind == Kind::Book {
            tabiya_book::open_as(&self.source, self.variant.variant())?;
        }
        let (what, advice) = kind.needs();
        Err(Error::new(ErrorKind::Usage, what).advice(advice).at_path(target.unwrap_or(&self.source)))
    }

    /// Refuses options that are for another kind of source or another form.
    fn check(&self, kind: Kind, form: Form) -> Result<()> {
        let variant = self.variant.named().map(|_| "--variant");
        let of_books =
            self.book.given().or(variant).filter(|_| kind != Kind::Book).map(|option| (option, "a book"));
        let of_databases = self.database.given().filter(|_| kind != Kind::Database);
        if let Some((option, what)) = of_books.or(of_databases.map(|option| (option, "a database"))) {
            let what = format!("{option} is for {what}, which this source is not");
            return Err(Error::new(ErrorKind::Usage, what).at_path(&self.source).advice("leave it out"));
        }
        if self.book.lines && form != Form::Pgn {
            return Err(Error::new(ErrorKind::Usage, "--lines writes games")
                .advice("end the name with .pgn, or write --format pgn --lines"));
        }
        if self.book.tree && form != Form::Json {
            return Err(Error::new(ErrorKind::Usage, "--tree writes JSON")
                .advice("end the name with .json, or write --format json --tree"));
        }
        Ok(())
    }
}

/// What the name of a file says: the form, and how it is compressed.
fn named(path: &Path) -> (Option<Form>, Compression) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let (name, compression) = match (name.strip_suffix(".gz"), name.strip_suffix(".zst")) {
        (Some(name), _) => (name, Compression::Gzip),
        (_, Some(name)) => (name, Compression::Zstd),
        _ => (&*name, Compression::None),
    };
    let ends = [(".pgn", Form::Pgn), (".tsv", Form::Tsv), (".json", Form::Json), (".epd", Form::Epd)];
    let form = ends.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, form)| form);
    (form, compression)
}

/// Refuses to be written once the user asks to stop.
struct UntilInterrupted<W>(W);

impl<W: Write> Write for UntilInterrupted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if interrupt::asked() { Err(io::Error::other("interrupted")) } else { self.0.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes a file, and puts it in its place.
///
/// # Errors
/// When the file cannot be written, `body` fails, or the work is interrupted: then no file is written.
fn to_file<T>(
    (path, compression): (&Path, Compression),
    force: bool,
    body: impl FnOnce(&mut dyn Write) -> Printed<T>,
) -> Result<T> {
    interrupts::watch();
    let write = || {
        let file = Compressor::new(Replacement::new(path, force)?, compression);
        let mut out = UntilInterrupted(BufWriter::new(file));
        let done = body(&mut out).and_then(|done| out.flush().map(|()| done).map_err(Stop::from));
        let file =
            out.0.into_inner().map_err(|error| Error::file(path, "cannot write the file", error.into()));
        match done {
            Ok(done) => {
                file?.finish()?.commit()?;
                Ok(done)
            }
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Output(error)) => {
                interrupt::check()?;
                Err(Error::file(path, "cannot write the file", error))
            }
        }
    };
    write().map_err(|error| interrupt::after("nothing was written", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_the_form_and_the_compression() {
        for (name, form, compression) in [
            ("a.PGN", Some(Form::Pgn), Compression::None),
            ("a.tsv.gz", Some(Form::Tsv), Compression::Gzip),
            ("a.b.json.zst", Some(Form::Json), Compression::Zstd),
            ("a.epd", Some(Form::Epd), Compression::None),
            ("a.txt", None, Compression::None),
            ("pgn", None, Compression::None),
        ] {
            assert_eq!(named(name.as_ref()), (form, compression), "{name}");
        }
    }
}
