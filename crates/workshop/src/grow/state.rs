//! How a book grows, for those who watch it: `BOOK.growth` beside the book, as JSON.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Color, Move};

use tabiya_base::error::Result;
use tabiya_base::folder;
use tabiya_base::replace::Replacement;
use tabiya_chess::{MoveCode, Position, Value};

use crate::view::PositionLine;

use super::book::Grown;
use super::growth::Task;
use super::play::Figures;

/// What the file's name adds to that of the book.
const SUFFIX: &str = ".growth";

/// Positions of which the file says something, for each side: the most probable ones.
const MOST_PLACES: usize = 1000;

/// Searches of which the file says that they are next.
const MOST_NEXT: usize = 10;

/// The longest file that is read, in bytes. One of ours has 100 for a position, and as many for a move of a line.
const MOST_BYTES: u64 = 1 << 20;

/// How far a book has grown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GrowthState {
    /// Searches so far.
    pub searches: u64,
    /// Each side that the book is for.
    pub sides: Vec<SideState>,
    /// What is searched next.
    pub next: Vec<NextSearch>,
    /// The most probable positions.
    pub positions: Vec<PlaceState>,
}

/// How far games go in a book for one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideState {
    /// The side.
    #[serde(with = "side")]
    pub side: Color,
    /// What the starting position is worth for it, in centipawns.
    pub value: Option<Value>,
    /// The plies that a game is expected to stay in the book.
    pub plies: f64,
    /// The probability that the book has an answer to what the opponent plays.
    pub covered: f64,
    /// Positions in which the book has a move.
    pub positions: u64,
}

/// A search that is to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextSearch {
    /// The moves to the position, in UCI.
    pub play: Vec<String>,
    /// The same as people write them.
    pub line: String,
}

/// A position that was searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceState {
    /// Its Polyglot key.
    pub key: u64,
    /// The side of the book.
    #[serde(with = "side")]
    pub side: Color,
    /// What it is worth for that side, in centipawns.
    pub value: Value,
    /// How probable it is that a game reaches it.
    pub reach: f64,
}

/// Sides as `white` and `black`.
mod side {
    use serde::{Deserialize as _, Deserializer, Serializer, de};
    use shakmaty::Color;

    pub(super) fn serialize<S: Serializer>(side: &Color, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(if side.is_white() { "white" } else { "black" })
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Color, D::Error> {
        match String::deserialize(from)?.as_str() {
            "white" => Ok(Color::White),
            "black" => Ok(Color::Black),
            other => Err(de::Error::unknown_variant(other, &["white", "black"])),
        }
    }
}

impl SideState {
    /// How far games go in a book for a side.
    pub fn new(side: Color, figures: &Figures) -> Self {
        let Figures { positions, covered, plies, value } = *figures;
        Self { side, value, plies, covered, positions }
    }
}

impl NextSearch {
    fn new(moves: Vec<MoveCode>) -> Self {
        let uci = |(_, mv): (_, Move)| mv.to_uci(CastlingMode::Standard).to_string();
        let play = Position::start().replay(moves.iter().copied()).map(uci).collect();
        Self { play, line: PositionLine::from_moves(moves).text }
    }
}

impl GrowthState {
    /// The state of a book after so many searches. `next` are searches that are to be made.
    pub fn new<'a>(grown: &Grown<'_>, searches: u64, next: impl Iterator<Item = &'a Task>) -> Self {
        let sides = grown.plays().iter().map(|play| SideState::new(play.side(), &play.figures())).collect();
        let next = next.take(MOST_NEXT).map(|task| NextSearch::new(grown.line(task))).collect();
        let positions = grown.plays().iter().flat_map(|play| {
            let place = |(key, value, reach)| PlaceState { key, side: play.side(), value, reach };
            play.most_probable(MOST_PLACES).into_iter().map(place)
        });
        let positions = positions.collect();
        Self { searches, sides, next, positions }
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

    /// The state beside a book; `None` if there is none that can be read.
    pub fn read(book: &Path) -> Option<Self> {
        let mut text = Vec::new();
        File::open(Self::beside(book)).ok()?.take(MOST_BYTES).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// What is known of a position, for each side that the book is for.
    pub fn at(&self, at: &Position) -> impl Iterator<Item = &PlaceState> {
        let key = at.key();
        self.positions.iter().filter(move |place| place.key == key)
    }
}
