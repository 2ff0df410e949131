//! What every kind of database of games is, and what their readers share. `crate::databases` has the list of the kinds.
//!
//! A database is several files, of which one lists the games by their numbers from 1. [`DatabaseKind`] says by which names a kind is
//! known and opens it, [`Database`] is one that is open. [`export`] writes games as PGN, [`DatabaseSource`] hands them to visitors.

mod error;
pub mod export;
mod file;
mod legal;
mod parallel;
mod sink;
mod source;
mod summary;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabiya_base::error::Result;
use tabiya_base::file_kind::FileKind;
use tabiya_base::findings::Findings;

pub use error::{DecodeError, MoveError};
pub(crate) use file::GamesFile;
pub(crate) use legal::{castling, passed, stepped};
pub(crate) use parallel::in_order;
pub(crate) use sink::{KeyedLine, MainLine};
pub use sink::{NumberedBoard, Sink};
pub use source::DatabaseSource;
pub use summary::{Fact, Mode, Summary};

use crate::{Batch, GameError};
use export::{ExportOptions, Written};

/// A kind of database, as a row of the list.
pub struct DatabaseKind {
    /// The kinds of its files; their table has the extensions, and what a file is called.
    pub files: &'static [FileKind],
    /// The extensions of the one file that means the database where several are in a folder.
    pub main: &'static [&'static str],
    /// The extension of the games, and that of the file without which they are of no use: who has lost it is told so.
    pub games: &'static [[&'static str; 2]],
    /// Opens a database by the name of any of its files.
    pub open: fn(&Path) -> Result<Arc<dyn Database>>,
    /// All files of the database that a file belongs to.
    pub parts: fn(&Path) -> Vec<PathBuf>,
}

impl fmt::Debug for DatabaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(f)
    }
}

/// Receives how many games are done; an error ends the work.
pub type Progress<'a> = dyn Fn(u32) -> Result<()> + 'a;

/// An open database.
pub trait Database: fmt::Debug + Send + Sync {
    /// The name of its format.
    fn format(&self) -> &'static str;

    /// The file that it is named by.
    fn path(&self) -> &Path;

    /// The file in which the offsets of games are: places name it.
    fn games_path(&self) -> &Path;

    /// The file in which other programs find a game by its number, if there is one.
    fn linked(&self) -> Option<&Path> {
        None
    }

    /// Every file of it that was found.
    fn files(&self) -> &[PathBuf];

    /// How many records it has: games are numbered from 1 to this.
    fn count(&self) -> u32;

    /// Bytes of what is read of it from the first game to the last.
    fn size(&self) -> u64;

    /// What is wrong with its files, one clause each.
    fn findings(&self) -> &[String];

    /// The games from the first to the last of these numbers, without deleted ones.
    fn batch(self: Arc<Self>, games: (u32, u32)) -> Box<dyn Batch>;

    /// Writes games as PGN, on one thread.
    fn exporter<'a>(&'a self, options: &'a ExportOptions) -> Box<dyn Exporter + 'a>;

    /// What it holds; `at` receives the progress.
    ///
    /// # Errors
    /// When `at` fails, or the list of games cannot be read.
    fn summary(&self, at: &Progress<'_>) -> Result<Summary>;

    /// Reads everything and adds what is wrong to `findings`: the files first, then the games in their order.
    ///
    /// # Errors
    /// When `at` fails, because the work is to stop.
    fn check(&self, threads: usize, at: &Progress<'_>, findings: &mut Findings<'_>) -> Result<()>;

    /// Its texts, if its kind has any besides games.
    fn texts(&self) -> Option<Box<dyn Texts + '_>> {
        None
    }
}

/// Writes games of a database as PGN.
pub trait Exporter {
    /// Writes the game with this number, or counts why not.
    fn one(&mut self, number: u32, written: &mut Written);
}

/// Reads the texts of a database.
pub trait Texts {
    /// The text with this number; `None` where that is a game.
    ///
    /// # Errors
    /// When its record cannot be read.
    fn text(&mut self, number: u32) -> Result<Option<Text>>;
}

/// A text of a database.
#[derive(Debug)]
pub struct Text {
    /// Whether it is marked as deleted.
    pub is_deleted: bool,
    /// It in each of its languages: a name for a file, and the page as HTML.
    pub pages: Vec<(String, String)>,
    /// What of it cannot be read.
    pub error: Option<GameError>,
}
