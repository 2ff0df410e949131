//! Books: the trait that each format implements, and what a book knows of a move.
#![allow(clippy::cast_possible_truncation, reason = "a float that does not fit becomes the nearest number")]

mod book_set;
pub mod edit;
mod evaluations;
pub mod formats;
mod game;
mod open;
mod record;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod traverse;
pub mod verdict;
mod write;

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use shakmaty::{Move, Position as _};

pub use book_set::BookSet;
pub(crate) use book_set::Reading;
pub use evaluations::Evaluations;
pub use formats::{abk, counts, ctg, kvetka, polyglot};
pub(crate) use game::CBH_RECORD;
pub use game::{GameReference, SourceKind};
pub use open::{create, open, open_among, open_bytes, parts};
pub(crate) use open::{format_of, in_any_case};
pub use record::{PositionRecord, Scope};
pub use verdict::plain_weights;
pub use write::{BookWriter, Green, WriteOptions, Written, left_out};

use crate::base::error::Result;
use crate::base::findings::{Finding, Findings, listed, summed};
use crate::base::progress::Progress;
use crate::chess::{MoveCode, Position};

/// The book inside the executable, which is used if none is named: see `books/README.md`.
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
    /// Count files, `.parquet`.
    Counts,
}

impl Format {
    /// Whether it has comments on positions.
    pub(crate) fn holds_comments(self) -> bool {
        self == Self::Kvetka
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Polyglot => "polyglot",
            Format::Ctg => "ctg",
            Format::Abk => "abk",
            Format::Kvetka => "kvetka",
            Format::Counts => "counts",
        })
    }
}

/// Games that went through a move, counted for the side that makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// The same games counted for the other side.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { wins: self.losses, losses: self.wins, ..self }
    }

    /// Half-points of the mover: two for a win, one for a draw.
    pub fn points(self) -> u64 {
        self.wins.saturating_mul(2).saturating_add(self.draws)
    }

    /// Whether any game has a result.
    pub(crate) fn has_results(self) -> bool {
        self.wins | self.draws | self.losses != 0
    }

    /// These games and others.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            games: self.games.saturating_add(other.games),
            wins: self.wins.saturating_add(other.wins),
            draws: self.draws.saturating_add(other.draws),
            losses: self.losses.saturating_add(other.losses),
        }
    }

    /// The points that the mover scored, and the games that ended; `None` if none did.
    pub fn results(self) -> Option<(f64, f64)> {
        let points = self.wins as f64 + self.draws as f64 / 2.0;
        let ended = self.wins as f64 + self.draws as f64 + self.losses as f64;
        (ended > 0.0).then_some((points, ended))
    }

    /// The rating that the mover performed at against opponents of this average: theirs plus the difference at which
    /// its score is expected, at most 800 points; `None` if no game ended.
    ///
    /// ```
    /// use tabiya::book::Counts;
    /// let counts = Counts { games: 4, wins: 3, draws: 0, losses: 1 };
    /// assert_eq!(counts.performance(2500), Some(2691));
    /// ```
    pub fn performance(self, opponents: u32) -> Option<u32> {
        let (points, ended) = self.results()?;
        let difference = rating_difference(points, ended).clamp(-800.0, 800.0);
        Some((f64::from(opponents) + difference).max(0.0).round() as u32)
    }
}

/// The difference of ratings at which so many points of so many games (more than 0) are expected; infinite if all or
/// none were won.
///
/// This is the logistic curve of chess ratings: ten times the odds are 400 points.
pub(crate) fn rating_difference(points: f64, games: f64) -> f64 {
    400.0 * (points / (games - points).max(0.0)).log10()
}

/// How strong the players of a move were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Ratings {
    /// The average rating of the side that makes the move.
    pub average: Option<u32>,
    /// The rating that it performed at.
    pub performance: Option<u32>,
}

/// The mark that an author gave a move.
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
    /// Its name in `show --json`.
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

    /// The mark of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        let all = [
            Self::Good,
            Self::Bad,
            Self::Brilliant,
            Self::Blunder,
            Self::Interesting,
            Self::Dubious,
            Self::Only,
            Self::Zugzwang,
        ];
        all.into_iter().find(|mark| mark.as_str() == name)
    }
}

/// What the book learned from results of its own games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Learned {
    /// Games in which the move was played and the result learned.
    pub games: u32,
    /// Half-points of the side that moved: 2 a win, 1 a draw.
    pub halfpoints: u32,
}

impl Learned {
    /// These results and others.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            games: self.games.saturating_add(other.games),
            halfpoints: self.halfpoints.saturating_add(other.halfpoints),
        }
    }
}

/// A move with everything that a book knows of it: a legal move of some position, or just its code from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveFacts<M = Move> {
    /// The move. Castling is the king taking its own rook in either form.
    pub mv: M,
    /// The book's own weight; 0 means never play.
    pub weight: u64,
    /// Games, counted for the mover, if the format counts them.
    pub counts: Option<Counts>,
    /// The author's mark, if the format has marks.
    pub annotation: Option<Annotation>,
    /// Green (`true`) or red (`false`), if the format has colours or limits and they say something of the move.
    pub recommended: Option<bool>,
    /// What was learned, if the format keeps it and it can be trusted.
    pub learned: Option<Learned>,
    /// How strong the players were, if the format says so.
    pub ratings: Option<Ratings>,
}

impl<M> MoveFacts<M> {
    /// A move of which only the weight is known.
    pub fn new(mv: M, weight: u64) -> Self {
        Self { mv, weight, counts: None, annotation: None, recommended: None, learned: None, ratings: None }
    }

    /// The same facts of the same move in another form.
    fn with<N>(self, mv: N) -> MoveFacts<N> {
        let Self { mv: _, weight, counts, annotation, recommended, learned, ratings } = self;
        MoveFacts { mv, weight, counts, annotation, recommended, learned, ratings }
    }
}

impl MoveFacts<MoveCode> {
    /// The move in its position; `None` if it is not legal there.
    pub fn at(self, at: &Position) -> Option<MoveFacts> {
        let mv = self.mv.resolve(at.chess()).filter(|&mv| at.chess().is_legal(mv))?;
        Some(self.with(mv))
    }
}

impl From<MoveFacts> for MoveFacts<MoveCode> {
    fn from(facts: MoveFacts) -> Self {
        facts.with(MoveCode::from_move(facts.mv))
    }
}

/// What distinguishes one book from others, whatever it has learned.
pub(crate) type Fingerprint = [u8; 32];

/// What a book as a whole holds, for `tabiya info`. `None` means that the format does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Entries or elements that the file holds.
    pub entries: u64,
    /// Different positions.
    pub positions: Option<u64>,
    /// Moves, duplicates counted once.
    pub moves: Option<u64>,
    /// Games.
    pub games: Option<u64>,
    /// Plies from the starting position to the end of the deepest line.
    pub deepest: Option<u32>,
    /// Positions that play reaches from the starting position.
    pub reachable: Option<u64>,
    /// Entries with something learned.
    pub learned: Option<u64>,
    /// What is wrong with the book, one finding for each kind.
    pub findings: Vec<Finding>,
    /// What else the file says of itself, such as its author: lines for people, each with a name.
    pub notes: Vec<(&'static str, String)>,
}

/// Takes positions one by one, until it breaks off.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(&PositionRecord) -> ControlFlow<()>;

/// A book: it turns a position into moves.
///
/// An open book never fails: look-ups do not find what is damaged, and [`Book::check`] reports it.
pub trait Book: Send + Sync {
    /// The file that was opened.
    fn path(&self) -> &Path;

    /// Every file of the book, the opened one first.
    fn files(&self) -> Vec<PathBuf> {
        vec![self.path().to_owned()]
    }

    /// Its format.
    fn format(&self) -> Format;

    /// The file that can take results, with the links followed that existed when the book was opened; `None` if the book
    /// has no room for results.
    fn learns_at(&self) -> Option<&Path> {
        None
    }

    /// Whether the file that takes results may only be read.
    fn is_read_only(&self) -> bool {
        false
    }

    /// What distinguishes this book from others, if the format can learn.
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    /// Appends the book's moves in a position to `out`: legal ones only, each once, in any order.
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>);

    /// The priority of a move, 0 to 9, if the format has priorities: what an edit sets there.
    fn priority(&self, _at: &Position, _mv: Move) -> Option<u8> {
        None
    }

    /// Appends the moves as [`Book::moves`] does, with counts and weights of these games alone. Returns whether the book can
    /// tell these games apart; if not, it appends nothing.
    fn moves_among(&self, at: &Position, among: &counts::Among, out: &mut Vec<MoveFacts>) -> bool {
        let all = !among.by().any();
        if all {
            self.moves(at, out);
        }
        all
    }

    /// The heaviest legal move, the first in the book's order among equals; where the format has colours, marks or limits,
    /// of those that they let be played in tournaments.
    fn best(&self, at: &Position) -> Option<Move> {
        verdict::best(self, at)
    }

    /// The legal move of the greatest weight where colours and limits do not count, and marks are factors of the weight.
    fn heaviest(&self, at: &Position) -> Option<Move> {
        let mut moves = Vec::new();
        self.moves(at, &mut moves);
        let weighed = moves.iter().rev().map(|facts| (facts.weight as f64 * facts.mark_factor(), facts.mv));
        let playable = weighed.filter(|(weight, _)| *weight > 0.0);
        playable.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, mv)| mv)
    }

    /// What was wrong when the book was opened, a line each. The book is played without its damaged parts.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the book says of a position in words: mostly the name of its opening.
    fn comment(&self, _at: &Position) -> Option<String> {
        None
    }

    /// A game with the position, if the book names one.
    fn game(&self, _at: &Position) -> Option<GameReference> {
        None
    }

    /// Shows every game that the book names, until `see` breaks off.
    fn games(&self, _see: &mut dyn FnMut(GameReference) -> ControlFlow<()>) {}

    /// Shows the book's positions one by one, each with its moves and everything that the book knows of them, until
    /// `visit` breaks off. With [`Scope::All`] a damaged book may show the same position more than once.
    ///
    /// Returns how many positions [`Scope::Reachable`] leaves out because play does not reach them; 0 for
    /// [`Scope::All`].
    ///
    /// By default both scopes show what is reachable.
    fn each(&self, _scope: Scope, progress: &Progress, visit: Visit<'_>) -> u64 {
        traverse::each_reachable(self, 0, progress, visit);
        0
    }

    /// Whether the file holds the positions themselves. Then [`Scope::All`] has them too.
    fn holds_positions(&self) -> bool {
        true
    }

    /// Reads the whole book, adds what is wrong with it to `findings`, and sums up the book.
    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> Summary;

    /// Reads the whole book and adds what is wrong with it to `findings`. Formats may do this faster than
    /// [`Book::survey`].
    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        self.survey(progress, findings);
    }

    /// Reads the whole book and sums it up, including its findings.
    fn summary(&self, progress: &Progress) -> Summary {
        let (summary, findings) = summed(|findings| self.survey(progress, findings));
        Summary { findings, ..summary }
    }

    /// Reads the whole book and sums up what is lost in it or cannot be used, which every command that reads the book
    /// reports.
    fn damage(&self, progress: &Progress) -> Vec<Finding> {
        let ((), mut findings) = summed(|findings| self.inspect(progress, findings));
        findings.retain(Finding::is_error);
        findings
    }

    /// Reads the whole book and reports what is wrong with it: the first findings of each kind one by one, the others in
    /// one line at the end.
    fn check(&self, progress: &Progress, report: &mut dyn FnMut(Finding)) {
        listed(report, |findings| self.inspect(progress, findings));
    }
}
