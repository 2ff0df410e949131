//! Games out of files: a stream of batches, each of which any thread can play through.
//!
//! A [`GameSource`] is read by one thread, which only cuts the file into [`Batch`]es. Whoever takes a batch decodes it
//! and hands its games, move by move, to a [`Visitor`]. What cannot be read is never fatal: the visitor gets
//! the place and the reason, and the next game comes.

pub mod cbh;
pub mod compress;
mod decompress;
pub mod export;
mod header;
mod open;
pub mod pgn;
mod pipe;
mod player;
mod problem;
mod zip;

use std::ops::ControlFlow;
use std::path::PathBuf;

use shakmaty::{Color, Move};

pub use header::{Date, Header, Place, Spot, decode_text};
pub use open::{Sources, open};
pub use player::PlayerName;
pub use problem::{Problem, Reason};

use crate::base::error::Result;
use crate::chess::MoveCode;
use crate::chess::Position;

/// A stream of games.
pub trait GameSource: Send {
    /// The next batch of games; `None` at the end.
    ///
    /// The batches of a file are the same whoever reads it, and so are the games in them: they depend on its bytes
    /// alone.
    ///
    /// # Errors
    /// When a file cannot be opened or read, or is no file of games.
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>>;

    /// The files, by the names that the games' places give.
    fn files(&self) -> Vec<PathBuf>;

    /// Bytes of all files together, as they lie on the disk; `None` where that is not known, as of a pipe.
    fn size(&self) -> Option<u64>;

    /// Bytes of them that were read so far.
    fn done(&self) -> u64;
}

/// Some games of one file, not yet decoded.
pub trait Batch: Send {
    /// Plays through the games in their order.
    fn play(self: Box<Self>, visitor: &mut dyn Visitor);
}

/// What receives a game, in this order: [`begin`](Visitor::begin), then each
/// [`ply`](Visitor::ply), then [`end`](Visitor::end). A game whose head cannot be read is only
/// [`unreadable`](Visitor::unreadable).
pub trait Visitor {
    /// A game begins. `false`: its moves are not wanted, and nothing more of it comes.
    fn begin(&mut self, game: &Header) -> bool;

    /// A move of the main line, legal in the position that it is made in; or, between
    /// [`begin_variation`](Visitor::begin_variation) and its end, one of that variation.
    ///
    /// Breaking off means that no more moves of this game are wanted: [`end`](Visitor::end) comes next.
    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()>;

    /// The game's moves are over. In PGN the result follows the moves, and may be known where the header's is not.
    fn end(&mut self, end: End);

    /// A game, or what should have been one, that could not be read at all.
    fn unreadable(&mut self, problem: Problem);

    /// Whether variations are wanted where the source has them.
    fn wants_variations(&self) -> bool {
        false
    }

    /// Moves follow that are played instead of the last one.
    fn begin_variation(&mut self) {}

    /// The variation is over: the line that it belongs to goes on.
    fn end_variation(&mut self) {}

    /// The visitor itself, where the keys of the positions are enough for it.
    fn keyed(&mut self) -> Option<&mut dyn KeyedVisitor> {
        None
    }
}

/// A visitor for whom keys are enough: a source that can find them without the positions calls
/// [`line`](KeyedVisitor::line) once for each game, and [`ply`](Visitor::ply) never.
pub trait KeyedVisitor: Visitor {
    /// How many plies of each main line are wanted.
    fn plies_wanted(&self) -> usize;

    /// The main line, as far as it is wanted and can be read; [`end`](Visitor::end) comes next.
    fn line(&mut self, plies: &[KeyedPly]);
}

/// A move with the key of the position that it is made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyedPly {
    /// The Polyglot key.
    pub key: u64,
    /// The side to move.
    pub side: Color,
    /// The legal move, as Polyglot's books code it.
    pub mv: MoveCode,
}

/// How the moves of a game ended.
#[derive(Debug)]
pub struct End {
    /// The result as the header or the moves give it, where either does.
    pub result: Option<GameResult>,
    /// What cut the game short: the moves before were given, those after it are lost.
    pub problem: Option<Problem>,
}

/// The result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// White won.
    White,
    /// Black won.
    Black,
    /// Nobody did.
    Draw,
}

impl GameResult {
    /// The result that a PGN tag or the end of a game's moves names; `None` for `*`, for `0-0` (a game that both
    /// lost), and for all else.
    ///
    /// ```
    /// use tabiya::games::GameResult;
    /// assert_eq!(GameResult::from_pgn(b"1/2-1/2"), Some(GameResult::Draw));
    /// assert_eq!(GameResult::from_pgn("½-½".as_bytes()), Some(GameResult::Draw));
    /// assert_eq!(GameResult::from_pgn(b"1:0"), Some(GameResult::White));
    /// assert_eq!(GameResult::from_pgn(b"*"), None);
    /// ```
    pub fn from_pgn(text: &[u8]) -> Option<Self> {
        match text.trim_ascii() {
            b"1-0" | b"1:0" => Some(Self::White),
            b"0-1" | b"0:1" => Some(Self::Black),
            b"1/2-1/2" | b"1/2" | b"1/2:1/2" => Some(Self::Draw),
            text if ["½-½", "½:½", "½"].iter().any(|draw| draw.as_bytes() == text) => Some(Self::Draw),
            _ => None,
        }
    }

    /// As PGN writes it.
    pub fn as_pgn(self) -> &'static str {
        match self {
            Self::White => "1-0",
            Self::Black => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }
}
