//! What all writers of books share.

use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use tabiya_base::error::Result;
use tabiya_base::replace::Replacement;
use tabiya_base::resources::Resources;
use tabiya_chess::{MoveCode, rating_number};

use super::{About, Format, GameReference, Heading, MoveFacts, PositionRecord, Variant};

/// Which moves become green in positions without colours, if the format has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Green {
    /// If the position's moves have only weights: those with at least half the weight of the heaviest. Otherwise a format
    /// of counts would lose all weights.
    #[default]
    Weights,
    /// Those with at least this many per mille of their position's weight; 0 for no colours.
    PerMille(u32),
}

impl Green {
    /// Those with at least this share of their position's weight, in thousandths; by default what the weights say.
    pub fn from_share(share: Option<u16>) -> Self {
        share.map_or(Self::Weights, |share| Self::PerMille(share.into()))
    }
}

/// The Elo that each player of a game needed for the game to count, where one was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeastElo {
    /// White.
    pub white: Option<NonZeroU16>,
    /// Black.
    pub black: Option<NonZeroU16>,
    /// The stronger player.
    pub stronger: Option<NonZeroU16>,
    /// The weaker player.
    pub weaker: Option<NonZeroU16>,
}

impl LeastElo {
    /// The numbers in this order, 0 for none.
    pub(crate) fn numbers(self) -> [u16; 4] {
        let Self { white, black, stronger, weaker } = self;
        [white, black, stronger, weaker].map(rating_number)
    }
}

/// Options of writers of all formats.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The variant whose moves the book gets. Polyglot books, text and count files hold any, others standard chess only.
    pub variant: Variant,
    /// An existing file may be replaced.
    pub force: bool,
    /// A book without a move is not written.
    pub needs_moves: bool,
    /// Which moves become green in positions without colours.
    pub green: Green,
    /// What the book says of itself, if its format has room for it.
    pub caption: String,
    /// Plies from the start of each game that the book has; `None`: all.
    pub plies: Option<u32>,
    /// The Elo that the players of the book's games needed.
    pub least_elo: LeastElo,
    /// Bytes that the writer may hold in memory. It takes a little more if its format needs that.
    pub memory: usize,
    /// The folder for temporary files; `None`: the system's.
    pub temp: Option<PathBuf>,
}

/// What must be true of a book so that it is written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    moves: bool,
}

impl Needs {
    /// Whether a book is written.
    pub(crate) fn are_met(self, written: &Written) -> bool {
        !self.moves || written.moves > 0
    }

    /// Puts the one file of a book in its place, if a book is written.
    pub(crate) fn commit(self, file: Replacement, mut written: Written) -> Result<Written> {
        if self.are_met(&written) {
            file.commit()?;
        } else {
            written.files.clear();
        }
        Ok(written)
    }
}

impl WriteOptions {
    /// Those of a book at this path that must have a move, whose caption is the name of the file.
    pub fn new(output: &Path, force: bool, resources: &Resources) -> Self {
        Self {
            force,
            needs_moves: true,
            caption: output.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            memory: resources.of_writer(),
            temp: Some(resources.temp.clone()),
            ..Self::default()
        }
    }

    /// What must be true of the book.
    pub(crate) fn needs(&self) -> Needs {
        Needs { moves: self.needs_moves }
    }

    /// The folder for temporary files.
    pub(crate) fn temp(&self) -> PathBuf {
        self.temp.clone().unwrap_or_else(std::env::temp_dir)
    }
}

/// A book that is being written. If it is dropped before [`BookWriter::finish`], no file remains.
pub trait BookWriter: Send {
    /// Whether records must have the position itself, not just its key.
    fn needs_positions(&self) -> bool;

    /// Whether the format has colours and marks, or a substitute. Otherwise the caller should pass weights through
    /// [`crate::plain_weights`].
    fn holds_verdicts(&self) -> bool {
        false
    }

    /// Whether the format has comments on positions.
    fn holds_comments(&self) -> bool {
        false
    }

    /// Whether the format has factors of moves. Otherwise they act in the weights alone.
    fn holds_factors(&self) -> bool {
        false
    }

    /// Whether the writer uses what only books of this format keep: [`PositionRecord::extras`].
    fn takes_extras(&self, _of: Format) -> bool {
        false
    }

    /// Whether the writer uses games, which [`BookWriter::game`] takes in.
    fn wants_games(&self) -> bool {
        false
    }

    /// Bytes of [`WriteOptions::memory`] that it may hold while positions come in.
    fn memory(&self) -> usize {
        0
    }

    /// Whether the format holds what such a book says of itself.
    fn takes(&self, _heading: &Heading) -> bool {
        false
    }

    /// Takes what the books say of themselves that are written into this one. It comes before everything else.
    fn describe(&mut self, _about: &About) {}

    /// The weights that the new book will have for the moves of a position, where the writer knows that before
    /// [`BookWriter::finish`].
    fn held_weights(&self, _known: &PositionRecord) -> Option<Vec<u64>> {
        None
    }

    /// Takes in a game of the book. All games come before the first position, in the order of their numbers.
    ///
    /// # Errors
    /// When the disk is full or fails.
    fn game(&mut self, _game: &GameReference) -> Result<()> {
        Ok(())
    }

    /// Takes in the next position. Keys ascend, and each position comes once. What the format cannot hold is left out and
    /// counted in [`Written::left_out`].
    ///
    /// # Errors
    /// When the disk is full or fails.
    fn add(&mut self, known: &PositionRecord) -> Result<()>;

    /// Writes the rest, syncs, and puts the book's files in place.
    ///
    /// If [`WriteOptions::needs_moves`] is set and the book has no move, existing files stay as they were, and
    /// [`Written::files`] is empty.
    ///
    /// # Errors
    /// When the disk is full or fails: existing files stay as they were.
    fn finish(self: Box<Self>) -> Result<Written>;
}

/// A writer of any format.
pub(crate) fn boxed(writer: Result<impl BookWriter + 'static>) -> Result<Box<dyn BookWriter>> {
    writer.map(|writer| Box::new(writer) as _)
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The files, the one that opens the book first; none if a book without moves was not written.
    pub files: Vec<PathBuf>,
    /// Positions in the book.
    pub positions: u64,
    /// Moves in the book.
    pub moves: u64,
    /// What the format could not hold, such as "positions that no line from the start reaches", and how often.
    pub left_out: Vec<(String, u64)>,
    /// What the book has otherwise than what was read, such as "moves whose chance changes by more than 0.1 %", and how
    /// often.
    pub changed: Vec<(String, u64)>,
    /// Moves whose weight is lost because the format computes weights from results; [`Green::PerMille`] would keep it as a
    /// colour.
    #[doc(hidden)]
    pub lost_weights: u64,
    /// Moves that became green by [`Green::Weights`].
    #[doc(hidden)]
    pub greens: u64,
    /// The journal of the book that was replaced, if that had one.
    #[doc(hidden)]
    pub old_journal: Option<OldJournal>,
}

/// The journal of a Polyglot book that another book has replaced. It does not belong to the new one, which cannot be edited or
/// learn while it has the journal's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OldJournal {
    /// Where it is now.
    pub file: PathBuf,
    /// Whether it has another name than before; otherwise another process has it, or the folder cannot be written.
    pub is_moved: bool,
    /// Games that the old book had learned.
    pub games: u64,
    /// Edits of the old book that could be undone.
    pub edits: u64,
}

/// What formats with weights alone do not hold of moves.
#[derive(Debug, Default)]
pub(crate) struct BesidesWeights {
    counts: u64,
    marks: u64,
    ratings: u64,
}

impl BesidesWeights {
    /// Counts what these moves have besides their weights.
    pub(crate) fn add<'a>(&mut self, moves: impl Iterator<Item = &'a MoveFacts<MoveCode>>) {
        for known in moves {
            self.counts += u64::from(known.counts.is_some());
            self.marks += u64::from(known.is_marked());
            self.ratings += u64::from(known.ratings.is_some());
        }
    }

    /// What was lost, for [`left_out`].
    pub(crate) fn named(&self) -> [(&'static str, u64); 3] {
        [
            ("counts of games: the format has weights only, and every move keeps its own", self.counts),
            ("marks or colors of moves, which act only through the weights", self.marks),
            ("ratings of moves", self.ratings),
        ]
    }
}

/// What a format could not hold, for [`Written::left_out`]: the losses that occurred.
pub fn left_out<'a>(lost: impl IntoIterator<Item = (&'a str, u64)>) -> Vec<(String, u64)> {
    lost.into_iter().filter(|(_, count)| *count > 0).map(|(what, count)| (what.to_owned(), count)).collect()
}
