//! A book that is made of others, or of games.

use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::findings::Finding;
use tabiya_base::progress::Progress;
use tabiya_base::replace::keep_inputs;
use tabiya_book::{self as book, BookWriter, CountsGames, Format, Green, Weights, WriteOptions, Written};
use tabiya_chess::Variant;
use tabiya_learn::{files_of, open_settled_as};

use crate::source::{Sorted, open_games};

use super::{
    BuildReport, Filter, Input, Merged, Names, OpenCounts, Plan, Repeated, Resources, Weigh, merge_books,
};

/// Bytes of memory that building and merging need at least.
const MIN_MEMORY: usize = 16 << 20;

/// What is damaged, and in which file.
pub type Damaged = (PathBuf, Finding);

/// A book that is to be written: its name, and what the work may use of the machine.
///
/// ```
/// use tabiya_workshop::bookmaker::{Filter, NewBook, Weigh};
///
/// let folder = tempfile::tempdir().expect("a folder");
/// let games = folder.path().join("three.pgn");
/// std::fs::write(&games, "1. e4 e5 1/2-1/2\n\n".repeat(3)).expect("a file");
/// let mut new = NewBook::new(folder.path().join("three.bin"));
/// new.threads = Some(1);
/// let (_, written) = new.build(&[games], &Filter::default(), &Weigh::default(), &[])?;
/// assert_eq!(written.positions, 2);
/// # Ok::<_, tabiya_workshop::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NewBook {
    /// Its path, whose extension says the format: `.bin`, `.ctg`, `.kob` or `.abk`.
    pub output: PathBuf,
    /// The variant of chess of its games, and of the books that are merged. A book of count files alone has theirs.
    pub variant: Variant,
    /// Whether it may replace a book.
    pub force: bool,
    /// The share of a position's weight that makes a move green in a CTG book, in thousandths.
    pub green: Option<u16>,
    /// Of what the weights are made where books that are merged count games.
    pub weights: Weights,
    /// Threads; by default one for each processor.
    pub threads: Option<usize>,
    /// Bytes of memory; by default a quarter of the machine's.
    pub memory: Option<usize>,
    /// The folder for temporary files; by default the system's.
    pub temp: Option<PathBuf>,
}

/// Refuses weights by games for a book whose format has no weights of its own, but the games of each move.
///
/// # Errors
/// As said.
pub fn takes_weights(output: &Path, weights: Weights) -> Result<()> {
    let counts = Format::of_name(output).filter(|format| format.games() != CountsGames::No);
    let Some(format) = counts.filter(|_| weights == Weights::Games) else { return Ok(()) };
    let noun = format.noun();
    let what = format!("{noun} keeps the games of each move, and has no place for weights by games");
    Err(Error::new(ErrorKind::Usage, what).at_path(output).advice("write a .bin"))
}

impl NewBook {
    /// A book at this path, which must not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { output: path.into(), ..Self::default() }
    }

    fn resources(&self) -> Result<Resources> {
        if self.memory.is_some_and(|memory| memory < MIN_MEMORY) {
            return Err(Error::new(ErrorKind::Usage, "memory must be at least 16 MiB"));
        }
        Resources::new(self.threads, self.memory, self.temp.as_deref())
    }

    /// Refuses to write over what is read.
    ///
    /// # Errors
    /// When the book, or a part of it, is one of these files.
    pub fn keep(&self, inputs: &[PathBuf]) -> Result<()> {
        keep_inputs(&book::parts(&self.output), inputs)
    }

    /// Begins the book; `filter` says of which games, if it is made of games.
    ///
    /// # Errors
    /// As [`book::create_book`].
    pub fn create(&self, filter: Option<&Filter>, resources: &Resources) -> Result<Box<dyn BookWriter>> {
        let mut options = WriteOptions::new(&self.output, self.force, resources);
        options.variant = self.variant;
        options.green = Green::from_share(self.green);
        if let Some(filter) = filter {
            options.plies = filter.max_ply;
            options.least_elo.weaker = NonZeroU16::new(filter.min_elo);
        }
        book::create_book(&self.output, &options)
    }

    /// Writes the contents of books into one; with `reachable` only what their moves reach from the start. One book is converted
    /// so. Returns also what of them is damaged.
    ///
    /// ```
    /// use tabiya_workshop::bookmaker::NewBook;
    ///
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let new = NewBook::new(folder.path().join("starter.ctg"));
    /// let (_, written, damage) = new.merge(&["../book/books/starter.bin".into()], true)?;
    /// assert!(written.positions > 1000 && damage.is_empty());
    /// # Ok::<_, tabiya_workshop::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a file cannot be read or written, or the work is interrupted: then no book is written.
    pub fn merge(&self, inputs: &[PathBuf], reachable: bool) -> Result<(Merged, Written, Vec<Damaged>)> {
        let books =
            inputs.iter().map(|path| open_settled_as(path, self.variant)).collect::<Result<Vec<_>>>()?;
        self.keep(&files_of(books.iter().map(|book| &**book)))?;
        takes_weights(&self.output, self.weights)?;
        let resources = self.resources()?;
        let writer = self.create(None, &resources)?;
        let progress = Progress::none();
        let (merged, written) = merge_books(&books, reachable, self.weights, &resources, writer, &progress)?;
        let mut damage = Vec::new();
        for book in &books {
            let found = book.damage(&progress).into_iter();
            damage.extend(found.map(|finding| (book.path().to_owned(), finding)));
        }
        Ok((merged, written, damage))
    }

    /// Builds a book from games and count files: `sources` are those that `tabiya build` takes, `eco` files of openings' names
    /// for Kvetka books. A move needs three games unless [`Weigh`] says otherwise.
    ///
    /// # Errors
    /// When a file, also one in a folder, cannot be read or written, or the work is interrupted: then no book is written.
    pub fn build(
        &self,
        sources: &[PathBuf],
        filter: &Filter,
        weigh: &Weigh,
        eco: &[PathBuf],
    ) -> Result<(BuildReport, Written)> {
        takes_weights(&self.output, weigh.weights)?;
        let resources = self.resources()?;
        let mut sorted = Sorted::new(sources)?;
        let (counts, mut unopened) = OpenCounts::of(&mut sorted)?;
        unopened.pop().map_or(Ok(()), Err)?;
        let named = Some(self.variant).filter(|variant| *variant != Variant::Chess);
        let variant = counts.variant(named)?;
        let mut games = open_games(&sorted.paths())?.whole()?.of_variant(variant)?;
        if filter.unique {
            games = games.once();
        }
        self.keep(
            &games.parts().into_iter().chain(counts.paths()).chain(eco.iter().cloned()).collect::<Vec<_>>(),
        )?;
        let names = Names::read(eco)?;
        let progress = Progress::none();
        let writer = Self { variant, ..self.clone() }.create(Some(filter), &resources)?;
        let repeated = Repeated::among(&games, filter, &resources, &progress)?;
        let input = Input { games: &mut games, repeated: &repeated, counts: &counts, work: None };
        let plan = Plan { filter, weigh, names: &names, resources: &resources, progress: &progress };
        super::build(input, &plan, writer)
    }
}
