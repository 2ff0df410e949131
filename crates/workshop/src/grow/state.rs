//! How a book grows, for those who watch it: `BOOK.growth` beside the book, as JSON.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Move};

use tabiya_base::error::Result;
use tabiya_base::folder;
use tabiya_base::replace::Replacement;
use tabiya_book::Moves as _;
use tabiya_chess::{MoveCode, Position, Variant};

use crate::view::PositionLine;

use super::book::Grown;
use super::dossier::{self, DossierLine};
use super::figures::{Figures, KnownPosition};
use super::growth::Task;
use super::play::Play;

/// What the file's name adds to that of the book.
const SUFFIX: &str = ".growth";

/// Positions of which the file says something, for each side: the most probable ones.
const MAX_POSITIONS: usize = 1000;

/// Searches of which the file says that they are next, and errors of each side.
const MAX_NEXT: usize = 10;

/// The longest file that is read, in bytes. One of ours has 100 for a position, and as many for a move of a line.
const MAX_BYTES: u64 = 1 << 20;

/// How far a book has grown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GrowthState {
    /// Searches so far.
    pub searches: u64,
    /// Each side that the book is for.
    pub sides: Vec<Figures>,
    /// What is searched next.
    pub next: Vec<NextSearch>,
    /// The most probable positions.
    pub positions: Vec<KnownPosition>,
    /// Errors that the opponent is expected to make, for each side: the most promising ones.
    #[serde(default)]
    pub errors: Vec<ExpectedError>,
}

/// An error that the opponent is expected to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpectedError {
    /// The moves to the position after it, in UCI.
    pub play: Vec<String>,
    /// The same as people write them.
    pub line: String,
    /// How probable it is that he comes there.
    pub chance: f64,
    /// What it costs him, in centipawns.
    pub loss: u32,
    /// How often he made it, and his games in the position before it.
    pub games: Option<(u64, u64)>,
}

impl ExpectedError {
    fn new(variant: Variant, found: DossierLine) -> Self {
        let moves = found.moves.into_iter().take(found.error + 1).collect();
        let NextSearch { play, line } = NextSearch::new(variant, moves);
        Self { play, line, chance: found.chance, loss: found.loss, games: found.games }
    }
}

/// A search that is to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextSearch {
    /// The moves to the position, in UCI.
    pub play: Vec<String>,
    /// The same as people write them.
    pub line: String,
}

impl NextSearch {
    fn new(variant: Variant, moves: Vec<MoveCode>) -> Self {
        let uci = |(_, mv): (_, Move)| mv.to_uci(CastlingMode::Standard).to_string();
        let play = Position::start_of(variant).replay(moves.iter().copied()).map(uci).collect();
        Self { play, line: PositionLine::of_variant(variant, moves).text }
    }
}

impl GrowthState {
    /// The state of a book after `searches` searches; those of `next` come after them.
    pub fn new<'a>(grown: &Grown<'_>, searches: u64, next: impl Iterator<Item = &'a Task>) -> Self {
        let sides = grown.plays().iter().map(Play::figures).collect();
        let next =
            next.take(MAX_NEXT).map(|task| NextSearch::new(grown.variant(), grown.line(task))).collect();
        let positions = grown.plays().iter().flat_map(|play| play.most_probable(MAX_POSITIONS)).collect();
        let errors = grown.plays().iter().flat_map(|play| dossier::errors(grown, play, MAX_NEXT));
        let errors = errors.map(|found| ExpectedError::new(grown.variant(), found)).collect();
        Self { searches, sides, next, positions, errors }
    }

    /// Where the state of a book is.
    pub fn beside(book: &Path) -> PathBuf {
        folder::with_suffix(book, SUFFIX)
    }

    /// Replaces the state beside a book.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, book: &Path) -> Result<()> {
        Replacement::new(Self::beside(book), true)?.commit_json(self)
    }

    /// Reads the state beside a book; `None` if it is missing or damaged.
    pub fn read(book: &Path) -> Option<Self> {
        let mut text = Vec::new();
        File::open(Self::beside(book)).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// What is known of a position, for each side that the book is for.
    pub fn find(&self, position: &Position) -> impl Iterator<Item = &KnownPosition> {
        let key = position.whole_key();
        self.positions.iter().filter(move |known| known.key == key)
    }
}
