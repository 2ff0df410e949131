//! What a suite is drawn from: books, and games, which are counted first.

use std::path::PathBuf;
use std::sync::Arc;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::progress::Progress;
use tabiya_book::traits::Book;
use tabiya_book::{self as book, CountsGames};
use tabiya_chess::Variant;
use tabiya_learn as learn;
use tabiya_workshop::bookmaker::{
    BuildReport, Filter, Input, OpenCounts, PositionCounts, Repeated, Resources,
};
use tabiya_workshop::source::{Sorted, open_games};
use tabiya_workshop::suite::SuiteSource;

use crate::args::variant::open_warned;
use crate::output::exit::Exit;
use crate::output::rows::many;
use crate::output::{self, report};

/// Games that reach a position if no number is named, as moves of a book that is built need.
const MIN_GAMES: u64 = 3;

/// What a suite is drawn from, and what became of the games.
pub(super) struct Sources {
    all: Vec<SuiteSource>,
    /// The files of the games.
    games: Vec<PathBuf>,
    report: Option<BuildReport>,
    /// Games that went on from a position.
    min_games: u64,
    /// How the command ends because of files in folders that cannot be read.
    passed_over: Exit,
}

impl Sources {
    /// Opens books, and counts games up to this many plies.
    ///
    /// # Errors
    /// When a source cannot be read or is neither a book nor games, when games are asked for and none are counted, when a
    /// temporary file cannot be written, or the work is interrupted.
    pub fn open(
        sources: &[PathBuf],
        variant: Variant,
        (plies, asked): (u32, Option<u64>),
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Self> {
        let mut sorted = Sorted::new(sources)?;
        let (mut books, unopened) = sorted.open_counts(|path| book::open_as(path, variant))?;
        let passed_over = output::passed_over(&unopened);
        let mut paths = Vec::new();
        for (path, source) in sorted.others {
            match source.holds_games() {
                true => paths.push(path),
                false => books.push(open_warned(&path, variant)?),
            }
        }
        let min_games = min_games(&books, !paths.is_empty(), asked)?;
        let all = books.into_iter().map(SuiteSource::Book).collect();
        let mut sources = Self { all, games: Vec::new(), report: None, min_games, passed_over };
        if !paths.is_empty() {
            sources.count((&paths, variant), plies, resources, progress)?;
        }
        Ok(sources)
    }

    fn count(
        &mut self,
        (paths, variant): (&[PathBuf], Variant),
        plies: u32,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<()> {
        let mut source = open_games(paths)?.of_variant(variant)?;
        self.passed_over = self.passed_over.max(output::sources_passed_over(&source));
        self.games = source.parts();
        let (repeated, counts) = (Repeated::default(), OpenCounts::default());
        let input = Input { games: &mut source, repeated: &repeated, counts: &counts, work: None };
        let mut filter = Filter::default();
        filter.max_ply = Some(plies);
        let (report, counts) = PositionCounts::count(input, &filter, self.min_games, resources, progress)?;
        if !counts.is_empty() {
            self.all.push(SuiteSource::Games(counts));
        }
        self.report = Some(report);
        Ok(())
    }

    pub fn all(&self) -> &[SuiteSource] {
        &self.all
    }

    /// The books that are named.
    pub fn books(&self) -> impl Iterator<Item = &Arc<dyn Book>> {
        self.all.iter().filter_map(|source| match source {
            SuiteSource::Book(book) => Some(book),
            SuiteSource::Games(_) => None,
        })
    }

    /// The files that are read.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = learn::files_of(self.books().map(|book| &**book));
        files.extend(self.games.iter().cloned());
        files
    }

    /// The least number of games of a position.
    pub fn min_games(&self) -> u64 {
        self.min_games
    }

    /// What became of the games.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.report.as_ref().map(report::read_lines).unwrap_or_default();
        lines.extend(self.set_up());
        lines
    }

    /// Of the games, how many cannot give a line, if some cannot.
    pub fn set_up(&self) -> Option<String> {
        let games = self.report.as_ref().map_or(0, |report| report.set_up);
        let begin = if games == 1 { "begins" } else { "begin" };
        let what = "a position of their own: lines to it come from other sources";
        let what = if games == 1 { what.replace("their", "its") } else { what.to_owned() };
        (games > 0).then(|| format!("{} {begin} with {what}", many(games, "game")))
    }

    /// Whether all games could be read.
    pub fn exit(&self) -> Exit {
        let incomplete = self.report.as_ref().is_some_and(BuildReport::is_incomplete);
        if incomplete { Exit::Findings } else { self.passed_over }
    }
}

/// The least number of games of a position: the one that is asked for, or else the default for games and count files.
///
/// # Errors
/// When games are asked for, and nothing counts them.
fn min_games(books: &[Arc<dyn Book>], has_games: bool, asked: Option<u64>) -> Result<u64> {
    let counts = has_games || books.iter().any(|book| book.format().games() == CountsGames::Only);
    let Some(asked) = asked else { return Ok(if counts { MIN_GAMES } else { 0 }) };
    let knows_games = has_games || books.iter().any(|book| book.format().games() != CountsGames::No);
    let Some(first) = books.first().filter(|_| !knows_games) else { return Ok(asked) };
    let noun = first.format().noun();
    let what = format!("{noun} has weights and counts no games, which --min-games asks for");
    Err(Error::new(ErrorKind::Usage, what)
        .at_path(first.path())
        .advice("leave out --min-games, or name the games that the book was made of"))
}
