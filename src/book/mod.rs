//! Books: the trait that each format implements, and what a book can know of a move.

pub mod abk;
pub mod ctg;
mod game;
mod groups;
mod known;
pub mod kvetka;
mod open;
pub mod polyglot;
mod reach;
mod shelf;
pub mod tour;
mod write;

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use shakmaty::Move;

pub use game::{CBH_RECORD, LinkedGame, SourceKind};
pub use known::{Known, KnownMove, Scope};
pub use open::{create, in_any_case, open, open_bytes, parts};
pub use shelf::Shelf;
pub use write::{BookWriter, Green, WriteOptions, Written};

use crate::base::error::Result;
use crate::base::progress::Progress;
use crate::chess::Position;

/// The book inside the executable, which is used where none is named: see `books/README.md`.
const STARTER: &[u8] = include_bytes!("../../books/starter.bin");

/// Opens the book inside the executable.
///
/// # Errors
/// Never with the book that is shipped.
pub fn starter() -> Result<Arc<dyn Book>> {
    open_bytes("starter book", STARTER)
}

/// The book formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Polyglot `.bin`.
    Polyglot,
    /// ChessBase `.ctg` with its `.cto` and `.ctb`.
    Ctg,
    /// Arena's `.abk`.
    Abk,
    /// Kvetka's `.kob` with its `.kin` and `.ksf`.
    Kvetka,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Polyglot => "polyglot",
            Format::Ctg => "ctg",
            Format::Abk => "abk",
            Format::Kvetka => "kvetka",
        })
    }
}

/// Games that went through a move, counted for the side that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// All games, unfinished ones too.
    pub games: u64,
    /// Games that the mover won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that the mover lost.
    pub losses: u64,
}

impl Counts {
    /// The rating that the mover performed at against opponents of this average: theirs and the difference that its
    /// score is expected at, no more than 800 points; `None` where no game ended.
    ///
    /// ```
    /// use tabiya::book::Counts;
    /// let counts = Counts { games: 4, wins: 3, draws: 0, losses: 1 };
    /// assert_eq!(counts.performance(2500), Some(2691));
    /// ```
    pub fn performance(self, opponents: u32) -> Option<u32> {
        let points = self.wins as f64 + self.draws as f64 / 2.0;
        let ended = self.wins as f64 + self.draws as f64 + self.losses as f64;
        if ended == 0.0 {
            return None;
        }
        let difference = rating_difference(points, ended).clamp(-800.0, 800.0);
        Some((f64::from(opponents) + difference).max(0.0).round() as u32)
    }
}

/// The difference of ratings at which so many points of so many games (more than 0) are expected; infinite where all
/// or none were won.
///
/// It is the logistic curve by which chess ratings are made: ten times the odds are 400 points.
pub fn rating_difference(points: f64, games: f64) -> f64 {
    400.0 * (points / (games - points).max(0.0)).log10()
}

/// How strong those were who made a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratings {
    /// The average rating of the side that makes the move.
    pub average: Option<u32>,
    /// The rating that it performed at.
    pub performance: Option<u32>,
}

/// What an author wrote behind a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Annotation {
    /// `!`
    Good,
    /// `?`
    Bad,
    /// `!!`
    Brilliant,
    /// `??`
    Blunder,
    /// `!?`
    Interesting,
    /// `?!`
    Dubious,
    /// The only move.
    Only,
    /// Zugzwang.
    Zugzwang,
}

impl Annotation {
    /// The word that `show --json` promises for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Annotation::Good => "!",
            Annotation::Bad => "?",
            Annotation::Brilliant => "!!",
            Annotation::Blunder => "??",
            Annotation::Interesting => "!?",
            Annotation::Dubious => "?!",
            Annotation::Only => "only",
            Annotation::Zugzwang => "zugzwang",
        }
    }
}

/// What the book learned from results of its own games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    /// Games in which the move was played and the result learned.
    pub games: u32,
    /// Half-points of the side that moved: 2 a win, 1 a draw.
    pub halfpoints: u32,
}

/// A legal move that a book has in a position, with all that the book knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookMove {
    /// The move, legal in the position that was asked for.
    pub mv: Move,
    /// The book's own weight; 0 means never play.
    pub weight: u64,
    /// Games, where the format counts them.
    pub counts: Option<Counts>,
    /// The author's mark, where the format has marks.
    pub annotation: Option<Annotation>,
    /// Green (`true`) or red (`false`), where the format has colours or limits and the move has a verdict.
    pub recommended: Option<bool>,
    /// What was learned, where the format keeps it and it can be trusted.
    pub learned: Option<Learned>,
    /// How strong the players were, where the format says.
    pub ratings: Option<Ratings>,
}

impl BookMove {
    /// A move with nothing but its weight.
    pub fn new(mv: Move, weight: u64) -> Self {
        Self { mv, weight, counts: None, annotation: None, recommended: None, learned: None, ratings: None }
    }
}

/// One damage or oddity of a book file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where, in bytes from the start of the file; of a book of several files, of the one that [`Damage::what`] names,
    /// else of the one that holds the entries.
    pub offset: u64,
    /// What is wrong there, as a clause.
    pub what: String,
    /// Whether the file is damaged, or merely odd: an oddity alone leaves a book sound.
    pub serious: bool,
}

/// What tells one book from others, whatever it has learned.
pub type Fingerprint = [u8; 32];

/// What a book as a whole holds, for `tabiya info`. `None` where the format does not say or cannot know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Entries or elements that the file holds.
    pub entries: u64,
    /// Different positions.
    pub positions: Option<u64>,
    /// Moves, duplicates counted once.
    pub moves: Option<u64>,
    /// Games, where the format counts them.
    pub games: Option<u64>,
    /// Plies from the starting position to the end of the deepest line.
    pub deepest: Option<u32>,
    /// Positions that play reaches from the starting position.
    pub reachable: Option<u64>,
    /// Entries with something learned.
    pub learned: Option<u64>,
    /// What is odd about the file, one clause each.
    pub oddities: Vec<String>,
    /// What else the file says of itself, such as its author: lines for people, each with its name.
    pub notes: Vec<(&'static str, String)>,
}

/// A book: a position becomes the book's moves.
///
/// A book never fails once it is open: what is damaged is not found, and [`Book::check`] tells where.
pub trait Book: Send + Sync {
    /// The file that was opened.
    fn path(&self) -> &Path;

    /// Every file of the book, the opened one first.
    fn files(&self) -> Vec<PathBuf> {
        vec![self.path().to_owned()]
    }

    /// Its format.
    fn format(&self) -> Format;

    /// The file that results can be written into, with the links followed that were there when the book was opened;
    /// nothing where there is no room for results.
    fn learns_at(&self) -> Option<&Path> {
        None
    }

    /// What tells this book from others, where the format can learn.
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    /// Appends the book's moves in a position to `out`: only legal ones, each once, in no promised order.
    fn moves(&self, at: &Position, out: &mut Vec<BookMove>);

    /// The legal move of the greatest weight above 0, the first in the book's order among equals.
    fn best(&self, at: &Position) -> Option<Move> {
        let mut moves = Vec::new();
        self.moves(at, &mut moves);
        let mut best: Option<&BookMove> = None;
        for candidate in moves.iter().filter(|candidate| candidate.weight > 0) {
            if best.is_none_or(|best| candidate.weight > best.weight) {
                best = Some(candidate);
            }
        }
        best.map(|best| best.mv)
    }

    /// What was found wrong when the book was opened, a line each: it is played without what is damaged.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The name of the opening at a position, or what else the book says of it in words.
    fn opening(&self, at: &Position) -> Option<String> {
        let _ = at;
        None
    }

    /// A game with the position, where the book names one.
    fn game(&self, at: &Position) -> Option<LinkedGame> {
        let _ = at;
        None
    }

    /// Shows every game that the book names, until `see` breaks off.
    fn games(&self, see: &mut dyn FnMut(LinkedGame) -> ControlFlow<()>) {
        let _ = see;
    }

    /// Hands over the book's positions one by one, each with its moves and all that the book knows of them, until
    /// `visit` breaks off. The same position may come more than once in [`Scope::All`] of a damaged book.
    ///
    /// Gives how many positions of the file play does not reach, so that [`Scope::Reachable`] leaves them out; 0 for
    /// [`Scope::All`].
    ///
    /// Without a way of its own a format gives what is reachable in either scope.
    fn each(
        &self,
        scope: Scope,
        progress: &Progress,
        visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
    ) -> u64 {
        let _ = scope;
        tour::tour(self, 0, progress, visit);
        0
    }

    /// Whether the file holds the positions themselves, so that [`Scope::All`] gives them too.
    fn holds_positions(&self) -> bool {
        true
    }

    /// Reads the whole book and sums it up.
    fn summary(&self, progress: &Progress) -> Summary;

    /// Reads the whole book and reports each damage and oddity: those of the file in its order, then those that show
    /// only when the book is played.
    fn check(&self, progress: &Progress, report: &mut dyn FnMut(Damage));
}
