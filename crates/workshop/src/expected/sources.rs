//! Books, count files and games as sources of what is played. Games are counted first, into a temporary count file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use tabiya_base::error::{Error, Result};
use tabiya_base::progress::Progress;
use tabiya_base::resources::Resources;
use tabiya_book::traits::Book;
use tabiya_book::{self as book, By};
use tabiya_chess::Variant;
use tabiya_games::{PlayerName, Sources};
use tabiya_learn as learn;

use super::{Expected, SourceOfMoves};
use crate::bookmaker::{
    BuildReport, CountedMoves, Filter, Input, NewCounts, OpenCounts, Recency, Repeated, write_counts,
};
use crate::source::{Sorted, Source, open_games};

/// What of the sources counts.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The variant of chess.
    pub variant: Variant,
    /// The player whose moves alone count in the games of the first source; `None`: everybody's.
    pub player: Option<&'a PlayerName>,
    /// Plies from the start of a game that count; `None`: all.
    pub plies: Option<u32>,
    /// Years after which a game counts half, against the newest of its source; `None`: all count the same. Games without a date count
    /// as if they were four times as old, and so do count files beside games.
    pub half_life: Option<f64>,
    /// Opens a book.
    pub open: &'a dyn Fn(&Path) -> Result<Arc<dyn Book>>,
}

/// Opened sources, in order.
#[derive(Default)]
pub struct ExpectedSources {
    books: Vec<OpenSource>,
    files: Vec<PathBuf>,
    counted: Vec<CountedSource>,
    /// Where the counts are. The last field: the books in it are closed before.
    folder: Option<TempDir>,
}

/// A source as a book.
struct OpenSource {
    book: Arc<dyn Book>,
    /// The same games counted by their age, if they were.
    by_age: Option<Arc<dyn Book>>,
}

/// Games that were counted.
#[derive(Debug)]
pub struct CountedSource {
    /// The path that was named.
    pub path: PathBuf,
    /// The games, which are read; what in folders could not be read is still said.
    pub games: Sources,
    /// Why count files among them could not be opened.
    pub unopened: Vec<Error>,
    /// What became of the games.
    pub report: BuildReport,
    /// Whether no move counts.
    pub is_empty: bool,
}

impl fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variant, player, plies, half_life, open: _ } = self;
        let mut fields = f.debug_struct("Wanted");
        fields.field("variant", variant).field("player", player).field("plies", plies);
        fields.field("half_life", half_life).finish_non_exhaustive()
    }
}

impl fmt::Debug for ExpectedSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpectedSources").field("files", &self.files).finish_non_exhaustive()
    }
}

impl ExpectedSources {
    /// Opens what is at each path: a book, count files, or whatever holds games. Count files in a folder of games count with these.
    ///
    /// # Errors
    /// When a source cannot be read or is neither a book nor games, the first of them is no games though a player is wanted, a
    /// temporary file cannot be written, or the work is interrupted.
    pub fn open(
        paths: &[PathBuf],
        wanted: &Wanted<'_>,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Self> {
        let mut sources = Self::default();
        for (number, path) in paths.iter().enumerate() {
            let source = Source::at(path)?;
            let wanted = &Wanted { player: wanted.player.filter(|_| number == 0), ..*wanted };
            if source.holds_games() {
                sources.count(path, wanted, resources, progress)?;
            } else if wanted.player.is_some() {
                return Err(source.not("games of a player", path));
            } else {
                let book = (wanted.open)(path)?;
                sources.files.extend(learn::files_of([&*book]));
                sources.books.push(OpenSource { book, by_age: None });
            }
        }
        Ok(sources)
    }

    fn count(
        &mut self,
        path: &Path,
        wanted: &Wanted<'_>,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<()> {
        let mut sorted = Sorted::new(&[path.to_owned()])?;
        let (counts, unopened) = OpenCounts::of(&mut sorted)?;
        let mut games = open_games(&sorted.paths())?.of_variant(wanted.variant)?;
        self.files.extend(games.parts().into_iter().chain(counts.paths()));
        // Count files do not know who played.
        let counts = if wanted.player.is_some() { OpenCounts::default() } else { counts };
        let filter = Filter {
            max_ply: wanted.plies,
            only: wanted.player.map(|_| CountedMoves::Player),
            player: wanted.player.cloned(),
            ..Filter::default()
        };
        let write = |games: &mut Sources, target: &Path, filter: &Filter| {
            let new = NewCounts::create(target, false, By::default(), wanted.variant, false)?;
            let repeated = Repeated::default();
            let input = Input { games, repeated: &repeated, counts: &counts, work: None };
            write_counts(input, filter, resources, new, progress)
        };
        // Their newest date is known only after the first reading.
        let again = |half_life| games.twice("weighing them by age").map(|games| (half_life, games));
        let again = wanted.half_life.map(again).transpose()?;
        let target = self.target("games", resources)?;
        let (report, written) = write(&mut games, &target, &filter)?;
        let is_empty = written.rows == 0;
        let again = again.filter(|_| !is_empty && !report.newest.is_unknown());
        let mut by_age = None;
        if let Some((half_life, mut once_more)) = again {
            let recency = Some(Recency { newest: report.newest, half_life });
            let target = self.target("by-age", resources)?;
            write(&mut once_more, &target, &Filter { recency, ..filter })?;
            by_age = Some(book::open_as(&target, wanted.variant)?);
        }
        self.counted.push(CountedSource { path: path.to_owned(), games, unopened, report, is_empty });
        if !is_empty {
            let book = book::open_as(&target, wanted.variant)?;
            self.books.push(OpenSource { book, by_age });
        }
        Ok(())
    }

    /// Where the next count file goes.
    fn target(&mut self, name: &str, resources: &Resources) -> Result<PathBuf> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => resources.temporary_folder()?,
        };
        let name = format!("{name}-{}.{}", self.counted.len(), NewCounts::EXTENSION);
        Ok(self.folder.insert(folder).path().join(name))
    }

    /// What is expected by these sources.
    pub fn expected(&self) -> Expected<'_> {
        let sources = self.books.iter().map(|OpenSource { book, by_age }| match by_age {
            Some(by_age) => SourceOfMoves::Dated(&**book, &**by_age),
            None => SourceOfMoves::Book(&**book),
        });
        Expected { sources: sources.collect() }
    }

    /// The sources as books; games without a move are none.
    pub fn books(&self) -> impl Iterator<Item = &Arc<dyn Book>> {
        self.books.iter().map(|source| &source.book)
    }

    /// The books and count files among them that are named.
    pub fn opened(&self) -> impl Iterator<Item = &Arc<dyn Book>> {
        let folder = self.folder.as_ref().map(TempDir::path);
        self.books().filter(move |book| folder.is_none_or(|folder| !book.path().starts_with(folder)))
    }

    /// The files that are read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The sources that are games, with what became of them.
    pub fn counted(&self) -> &[CountedSource] {
        &self.counted
    }
}
