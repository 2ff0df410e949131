//! `tabiya convert`, also called `merge` and `trim`: one book of any format from one or several, whole or less of it.

mod counts;
mod joined;
mod limits;

use std::path::PathBuf;
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_book::BookWriter;
use tabiya_book::counts::is_named;
use tabiya_book::traits::Book;
use tabiya_workshop::bookmaker::trim::{Trim, Trimmed};
use tabiya_workshop::bookmaker::{self, Resources, takes_weights};

use self::joined::Joined;
use self::limits::TrimLimits;
use crate::args::new_book::NewBook;
use crate::args::resources::ResourcesArgs;
use crate::args::screens::{BOOK_OUT, COUNTS, FORCE, Screen, VARIANT};
use crate::args::slices::{ByArgs, SliceArgs};
use crate::args::variant::{VariantArgs, open_warned};
use crate::output::exit::Exit;
use crate::output::rows::many;
use crate::output::{damage, written};

/// What `-h` shows, and which pages describe it.
pub(crate) const SCREENS: &[Screen] = &[Screen {
    command: "convert",
    shown: &[
        ("books", "The books to read; several are added up"),
        ("output", BOOK_OUT),
        ("force", FORCE),
        ("green", "In a CTG book: green from this share of weight on"),
        ("variant", VARIANT),
    ],
    examples: &["tabiya convert book.ctg -o book.bin"],
    pages: &[("change-a-book.md", "## convert, merge and trim"), COUNTS],
}];

/// Write a book in another format; merge and trim take the same options
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The books to read, or count files (.parquet). Of several, weights, games and results are added up; marks are taken
    /// from the first book that has them
    #[arg(required = true, value_name = "BOOK")]
    books: Vec<PathBuf>,
    #[command(flatten)]
    to: NewBook,
    #[command(flatten)]
    variant: VariantArgs,
    #[command(flatten)]
    limits: TrimLimits,
    #[command(flatten)]
    counts: CountsArgs,
    #[command(flatten)]
    resources: ResourcesArgs,
}

/// `tabiya merge`: the same with other options first.
pub mod merge {
    use super::*;
    pub use super::{Args, run};

    pub(crate) const SCREENS: &[Screen] = &[Screen {
        command: "merge",
        shown: &[
            ("books", "The books; weights, games and results are added up"),
            ("output", BOOK_OUT),
            ("force", FORCE),
            ("min_games", "Only moves with at least N games, where they are counted"),
            ("reachable", "Only what is reached from the starting position"),
            ("variant", VARIANT),
        ],
        examples: &["tabiya merge a.bin b.abk -o both.bin"],
        pages: &[("change-a-book.md", "## convert, merge and trim"), COUNTS],
    }];
}

/// `tabiya trim`: the same with other options first.
pub mod trim {
    use super::*;
    pub use super::{Args, run};

    pub(crate) const SCREENS: &[Screen] = &[Screen {
        command: "trim",
        shown: &[
            ("books", "The book; of several, all together"),
            ("output", BOOK_OUT),
            ("force", FORCE),
            ("max_ply", "Only the first N plies of each line; 0 = all [default: 0]"),
            ("top", "Only the N heaviest moves of each position"),
            ("min_share", "Only moves with this share of their position's weight"),
            ("only", "Only this side's moves, for every reply in the book"),
            ("below", "Only what follows this line, such as \"e4 c5\""),
            ("opening", "Only moves that lead to this opening or stay in it"),
            ("without", "Remove this line's last move, and what only it reaches"),
        ],
        examples: &["tabiya trim book.bin -o short.bin --max-ply 16 --min-share 10"],
        pages: &[("change-a-book.md", "## convert, merge and trim"), COUNTS],
    }];
}

/// What only count files can keep apart.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Count files, if the output is one")]
struct CountsArgs {
    #[command(flatten)]
    by: ByArgs,
    #[command(flatten)]
    slices: SliceArgs,
}

/// Writes one book of all that stays.
///
/// # Errors
/// When the moves of a line are not legal, a file cannot be read or written, or the work is interrupted: then no book is
/// written.
pub fn run(args: &Args) -> Result<Exit> {
    written::whole(make(args))
}

fn make(args: &Args) -> Result<Exit> {
    args.check()?;
    if is_named(&args.to.output) {
        return counts::merge(args);
    }
    takes_weights(&args.to.output, args.limits.weights().unwrap_or_default())?;
    let variant = args.variant.variant();
    let trim = args.limits.trim(variant)?;
    let books =
        args.books.iter().map(|path| open_warned(path, variant)).collect::<Result<Vec<Arc<dyn Book>>>>()?;
    let (resources, writer, progress) = args.to.begin(books.iter().map(|book| &**book), &args.resources)?;
    match (trim, &books[..]) {
        (None, _) => args.whole(&books, &resources, writer, progress),
        (Some(trim), [book]) => {
            args.part((&**book, &trim), (&books, Vec::new()), &resources, writer, progress)
        }
        (Some(trim), _) => {
            let joined = Joined::new(args, &books, &resources, &progress)?;
            let Some(book) = joined.book() else {
                drop(progress);
                return args.to.nothing(joined.lines, &books, "the books have no move that can be joined");
            };
            args.part((book, &trim), (&books, joined.lines.clone()), &resources, writer, progress)
        }
    }
}

impl Args {
    /// Refuses options that do not act on this kind of output.
    fn check(&self) -> Result<()> {
        let (what, advice) = if is_named(&self.to.output) {
            let Some(option) = self.limits.given() else { return Ok(()) };
            (
                format!("{option} works only for books: the output is a count file, which keeps every row"),
                "write a book, such as one whose name ends with .bin",
            )
        } else {
            let by = self.counts.by.by().any().then_some("--by");
            let Some(option) = self.counts.slices.given().or(by) else { return Ok(()) };
            (
                format!("{option} works only for count files: books do not count games separately"),
                "end the name of the output with .parquet, or build a book from the count files with tabiya \
                 build",
            )
        };
        Err(Error::new(ErrorKind::Usage, what).advice(advice))
    }

    /// Writes everything that the books hold.
    fn whole(
        &self,
        books: &[Arc<dyn Book>],
        resources: &Resources,
        writer: Box<dyn BookWriter>,
        progress: Progress,
    ) -> Result<Exit> {
        let reachable = self.limits.reachable();
        let (merged, written) = bookmaker::merge_books(
            books,
            reachable,
            self.limits.weights().unwrap_or_default(),
            resources,
            writer,
            &progress,
        )?;
        drop(progress);
        let lines = vec![format!("{} read", many(merged.read, "position"))];
        let why = if reachable { "--reachable" } else { written::KEYS_ONLY };
        let nothing = match merged.read {
            0 => "no line from the starting position reaches a move of the book",
            _ => "the format can hold none of the moves",
        };
        let damage = |exit| damage::report(books, exit);
        self.to.end(lines, (&merged, why), &written, Exit::Done, (damage, nothing))
    }

    /// Writes what stays of a book, which is made of `read`; `lines` say what became of them.
    fn part(
        &self,
        (book, trim): (&dyn Book, &Trim),
        (read, mut lines): (&[Arc<dyn Book>], Vec<String>),
        resources: &Resources,
        writer: Box<dyn BookWriter>,
        progress: Progress,
    ) -> Result<Exit> {
        let trimmed = Trimmed::new(book, trim, &progress)?;
        let scope = bookmaker::widest(&trimmed, &*writer);
        let (merged, written) = bookmaker::merge(
            &[(&trimmed, scope)],
            self.limits.weights().unwrap_or_default(),
            resources,
            writer,
            &progress,
        )?;
        drop(progress);
        let tally = trimmed.tally();
        lines.extend(limits::lines(&tally, trim));
        lines.extend(self.limits.missing(&trimmed.missing()));
        let nothing = match (tally.moves, tally.kept_moves) {
            (0, _) => "the book has no moves",
            (_, 0) => "no move of the book is left",
            _ => "the format can hold none of the moves that are left",
        };
        // Of a book that was walked, what was not read is not judged.
        let walked = trimmed.damage();
        let damage = |exit| match (read, walked) {
            ([book], Some(found)) => damage::of_walk(book, &found, exit),
            _ => damage::report(read, exit),
        };
        self.to.end(lines, (&merged, written::KEYS_ONLY), &written, Exit::Done, (damage, nothing))
    }
}
