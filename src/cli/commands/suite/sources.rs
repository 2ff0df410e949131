//! What a suite is drawn from: books, and games, which are counted first.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::progress::Progress;
use crate::book::counts::{CountWriter, Shape, split};
use crate::book::{self, Book, By, Format};
use crate::bookmaker::{self, Damage, Filter, Input, Repeated, Report, Resources};
use crate::cli::output::exit::Exit;
use crate::cli::output::{self, report, written};
use crate::games;
use crate::learn;

/// The name that means standard input.
const STDIN: &str = "-";

/// Games that reach a position if no number is named, as moves of a book that is built need.
const MIN_GAMES: u64 = 3;

/// The books, and what became of the games.
pub(super) struct Books {
    /// The books that are named; after them the one that was made of games.
    all: Vec<Arc<dyn Book>>,
    named: usize,
    /// The files of the games.
    games: Vec<PathBuf>,
    report: Option<Report>,
    /// Where the counts of games are until the suite is written.
    _folder: Option<TempDir>,
}

impl Books {
    /// Opens books, and counts games up to this many plies.
    ///
    /// # Errors
    /// When a source cannot be read or is neither a book nor games, a temporary file cannot be written, or the work is
    /// interrupted.
    pub fn open(sources: &[PathBuf], plies: u32, resources: &Resources, progress: &Progress) -> Result<Self> {
        let (others, counted) = split(sources)?;
        let (mut all, mut paths) = (Vec::new(), Vec::new());
        for path in &counted {
            all.push(book::open(path)?);
        }
        for path in others {
            match book_at(&path) {
                Some(book) => all.push(book?),
                None => paths.push(path),
            }
        }
        let named = all.len();
        let mut books = Self { all, named, games: Vec::new(), report: None, _folder: None };
        if !paths.is_empty() {
            books.count(&paths, plies, resources, progress)?;
        }
        Ok(books)
    }

    /// Counts games, and opens the counts as a book.
    fn count(
        &mut self,
        paths: &[PathBuf],
        plies: u32,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<()> {
        let mut source = games::open(paths)?;
        source.passed_over().iter().for_each(output::complain);
        self.games = written::sources(&source.files());
        let temporary = |error| Error::temporary(&resources.temp, error);
        let folder = tempfile::Builder::new()
            .prefix("tabiya-suite-")
            .tempdir_in(&resources.temp)
            .map_err(temporary)?;
        let path = folder.path().join("games.parquet");
        let writer = CountWriter::create(&path, Shape { positions: false, by: By::default() }, false)?;
        let damage = Damage::default();
        let input = Input {
            games: &mut source,
            repeated: &Repeated::default(),
            counts: &[],
            work: None,
            damage: &damage,
        };
        let filter = Filter { max_ply: Some(plies), ..Filter::default() };
        let (report, written) = bookmaker::write_counts(input, &filter, resources, writer, progress)?;
        if written.plies > 0 {
            self.all.push(book::open(&path)?);
        }
        self.report = Some(report);
        self._folder = Some(folder);
        Ok(())
    }

    /// All books.
    pub fn all(&self) -> &[Arc<dyn Book>] {
        &self.all
    }

    /// The books that are named.
    pub fn named(&self) -> &[Arc<dyn Book>] {
        self.all.get(..self.named).unwrap_or_default()
    }

    /// The files that are read.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = written::books(self.named().iter().map(|book| &**book));
        files.extend(self.games.iter().cloned());
        files
    }

    /// The least number of games of a position: the one that is asked for, or else the default for games and count files.
    ///
    /// # Errors
    /// When games are asked for, and no book counts them.
    pub fn min_games(&self, asked: Option<u64>) -> Result<u64> {
        let counts = self.all.iter().any(|book| book.format() == Format::Counts);
        let knows_games = |book: &Arc<dyn Book>| !matches!(book.format(), Format::Polyglot);
        if let Some(asked) = asked {
            let Some(first) = self.all.first().filter(|_| !self.all.iter().any(knows_games)) else {
                return Ok(asked);
            };
            let what = "a Polyglot book has weights and counts no games, which --min-games asks for";
            return Err(Error::new(ErrorKind::Usage, what)
                .at_path(first.path())
                .advice("leave out --min-games, or name the games that the book was made of"));
        }
        Ok(if counts { MIN_GAMES } else { 0 })
    }

    /// What became of the games.
    pub fn lines(&self) -> Vec<String> {
        self.report.as_ref().map(report::read_lines).unwrap_or_default()
    }

    /// Whether all games could be read.
    pub fn exit(&self) -> Exit {
        if self.report.as_ref().is_some_and(Report::is_incomplete) { Exit::Findings } else { Exit::Done }
    }
}

/// The book at a path, or why it cannot be opened; `None` where games are.
fn book_at(path: &Path) -> Option<Result<Arc<dyn Book>>> {
    if path.as_os_str() == STDIN {
        return None;
    }
    match learn::open_settled(path) {
        // What is no book may hold games.
        Err(error) if path.is_dir() || error.kind() == ErrorKind::Format => {
            let is_games = path.is_dir() || has_games_name(path) || games::open(&[path.to_owned()]).is_ok();
            if is_games { None } else { Some(Err(error)) }
        }
        opened => Some(opened),
    }
}

/// Whether a file is named like games.
fn has_games_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.ends_with(".pgn") || name.contains(".pgn.")
}
