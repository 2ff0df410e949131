//! Who receives the moves of a game as they are decoded.

use std::ops::ControlFlow;

use shakmaty::{Move, Position as _};

use tabiya_chess::{MoveCode, Position};

use crate::{KeyedPly, Visitor};

/// A position with what a format needs besides to decode the next move, such as numbers of the pieces.
pub trait NumberedBoard {
    /// The position.
    fn position(&self) -> &Position;

    /// Plays a move that is legal here.
    fn play(&mut self, mv: Move);
}

/// Receives the moves of a game in the order in which they are stored.
///
/// Formats store variations in one of two orders. From each position its first continuation to the end, then the next one: `push` and
/// `pop`. Or as in PGN, where a variation follows the move that it replaces: `open` and `close`.
pub trait Sink<B> {
    /// Whether variations are wanted. Without them a game ends with its main line.
    fn wants_variations(&self) -> bool {
        false
    }

    /// Plays a legal move on the board. Breaking off ends the game.
    fn play(&mut self, board: &mut B, mv: Move) -> ControlFlow<()>;

    /// The side to move has passed. Breaking off ends the game.
    fn pass(&mut self) -> ControlFlow<()>;

    /// An alternative to the next move follows later.
    fn push(&mut self) {}

    /// The line ends. An alternative to the move after the last [`push`](Sink::push) follows.
    fn pop(&mut self) {}

    /// A variation begins: its first move replaces the last one.
    fn open(&mut self) {}

    /// The variation ends: the line around it continues.
    fn close(&mut self) {}

    /// The last move has this numeric annotation glyph.
    fn glyph(&mut self, _number: u8) {}

    /// A comment after the last move, or before the first one of the line.
    fn comment(&mut self, _text: &[u8]) {}
}

/// Hands the main line over as it is decoded.
pub(crate) struct MainLine<'a> {
    pub visitor: &'a mut dyn Visitor,
    /// Whether a side passed, which ended it.
    pub passed: bool,
}

impl<B: NumberedBoard> Sink<B> for MainLine<'_> {
    #[inline(always)]
    fn play(&mut self, board: &mut B, mv: Move) -> ControlFlow<()> {
        self.visitor.ply(board.position(), mv)?;
        board.play(mv);
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.passed = true;
        ControlFlow::Break(())
    }
}

/// Keeps the main line with the keys of its positions.
pub(crate) struct KeyedLine<'a> {
    /// That of the position after the last move.
    pub key: u64,
    pub plies: &'a mut Vec<KeyedPly>,
    /// Plies that are wanted.
    pub most: usize,
    /// Whether a side passed, which ended it.
    pub passed: bool,
}

impl<B: NumberedBoard> Sink<B> for KeyedLine<'_> {
    #[inline(always)]
    fn play(&mut self, board: &mut B, mv: Move) -> ControlFlow<()> {
        if self.plies.len() < self.most {
            let side = board.position().chess().turn();
            self.plies.push(KeyedPly { key: self.key, side, mv: MoveCode::from_move(mv) });
        }
        board.play(mv);
        self.key = board.position().key();
        if self.plies.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.passed = true;
        ControlFlow::Break(())
    }
}
