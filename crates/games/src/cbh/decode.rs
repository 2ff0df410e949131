//! The moves of a game: bytes become legal moves, in the order in which they are stored.
#![allow(
    clippy::cast_possible_truncation,
    reason = "moves are counted modulo 256, and the low bits of a word are a square"
)]
#![allow(clippy::indexing_slicing, reason = "a table of 256 elements has one for each byte")]

use std::ops::ControlFlow;

use shakmaty::{File, Move, Rank, Role};

use super::board::Board;
use super::codes::{CODES, Code};
use super::error::{DecodeError, MoveError};
use super::layout::{MOVES_MOST, NESTING_MOST, POP, PUSH};
use super::mode::Mode;
use super::start::square;
use crate::export::Tree;

/// Receives the moves of a game in the order in which they are stored: from each position its first continuation to
/// the end, then the next one.
pub trait Sink {
    /// Whether variations are wanted. Without them a game ends with its main line.
    fn wants_variations(&self) -> bool {
        false
    }

    /// Plays a legal move on the board. Breaking off ends the game.
    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()>;

    /// The side to move has passed. Breaking off ends the game.
    fn pass(&mut self) -> ControlFlow<()>;

    /// An alternative to the next move follows later.
    fn push(&mut self) {}

    /// The line ends. An alternative to the move after the last [`push`](Sink::push) follows.
    fn pop(&mut self) {}
}

/// Adds the moves to a tree.
pub(crate) struct Collector<'a, M, F> {
    /// The tree.
    pub tree: &'a mut Tree<M>,
    /// Whether it gets the variations.
    pub variations: bool,
    /// Plays a move, and returns what the tree keeps of it.
    pub play: F,
    /// What the tree keeps of a pass.
    pub pass: M,
}

impl<M: Copy + Default, F: FnMut(&mut Board, Move) -> M> Sink for Collector<'_, M, F> {
    fn wants_variations(&self) -> bool {
        self.variations
    }

    #[inline(always)]
    fn play(&mut self, board: &mut Board, mv: Move) -> ControlFlow<()> {
        self.tree.add((self.play)(board, mv));
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.tree.add(self.pass);
        ControlFlow::Continue(())
    }

    fn push(&mut self) {
        self.tree.push();
    }

    fn pop(&mut self) {
        self.tree.pop();
    }
}

/// Plays the moves of a game from the position of `board`; `kept` is memory for positions to go back to.
///
/// A game without its last end mark ends with its bytes. Bytes after that mark are ignored.
///
/// # Errors
/// When a move is not legal or cannot be read. The sink has received those before it.
pub fn decode<S: Sink>(
    data: &[u8],
    mode: Mode,
    board: &mut Board,
    kept: &mut Vec<Board>,
    sink: &mut S,
) -> Result<(), DecodeError> {
    kept.clear();
    let decoder = Decoder { data, mode, at: 0, moves: 0, fresh: false, kept, board };
    if mode.compact { decoder.compact(sink) } else { decoder.simple(sink) }
}

struct Decoder<'a> {
    data: &'a [u8],
    mode: Mode,
    /// The next byte.
    at: usize,
    /// Moves read so far.
    moves: u32,
    /// Whether no move was made since a position was kept.
    fresh: bool,
    kept: &'a mut Vec<Board>,
    board: &'a mut Board,
}

impl Decoder<'_> {
    /// An error in the last `len` bytes that were read.
    #[cold]
    fn error(&self, kind: MoveError, len: usize) -> DecodeError {
        DecodeError { at: self.at.saturating_sub(len) as u64, moves: self.moves, kind }
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.data.get(self.at)?;
        self.at += 1;
        Some(self.mode.plain(byte, self.moves as u8))
    }

    fn compact<S: Sink>(mut self, sink: &mut S) -> Result<(), DecodeError> {
        while let Some(code) = self.byte() {
            let code = CODES[self.board.turn() as usize][usize::from(code)];
            let flow = if let Code::Piece { role, number, right, up } = code {
                let mv = self.board.piece(role, number, right, up);
                self.play(sink, mv, 1)?
            } else {
                self.rare(sink, code)?
            };
            if flow.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Acts on a code that is not an ordinary move.
    #[inline(never)]
    fn rare<S: Sink>(&mut self, sink: &mut S, code: Code) -> Result<ControlFlow<()>, DecodeError> {
        let (mv, len) = match code {
            Code::Piece { role, number, right, up } => (self.board.piece(role, number, right, up), 1),
            Code::Castle { short } => (self.board.castling(short), 1),
            Code::TwoBytes => {
                let word = self.byte().zip(self.byte());
                let Some((high, low)) = word else { return Err(self.error(MoveError::CutOff, 1)) };
                (self.squares(u16::from_be_bytes([high, low])), 3)
            }
            Code::Null => return self.pass(sink, 1),
            Code::Nothing => return Ok(ControlFlow::Continue(())),
            Code::Push => return self.push(sink, 1).map(ControlFlow::Continue),
            Code::Pop => return self.pop(sink, 1),
        };
        self.play(sink, mv, len)
    }

    fn simple<S: Sink>(mut self, sink: &mut S) -> Result<(), DecodeError> {
        while let Some(high) = self.byte() {
            let Some(low) = self.byte() else { return Err(self.error(MoveError::CutOff, 1)) };
            let mut word = u16::from_be_bytes([high, low]);
            if word & PUSH != 0 {
                self.push(sink, 2)?;
            }
            let pops = word & POP != 0;
            if self.mode.reversed {
                word = word & 0xf000 | word >> 6 & 0x3f | (word & 0x3f) << 6;
            }
            let flow = if word & 0xfff == 0 {
                self.pass(sink, 2)?
            } else {
                let mv = self.squares(word);
                self.play(sink, mv, 2)?
            };
            if flow.is_break() || pops && self.pop(sink, 2)?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A move given by its squares.
    fn squares(&self, word: u16) -> Result<Move, MoveError> {
        let (from, to) = (square(word as u8 & 63), square((word >> 6) as u8 & 63));
        let promotion = match word >> 12 & 3 {
            0 => Role::Queen,
            1 => Role::Rook,
            2 => Role::Bishop,
            _ => Role::Knight,
        };
        let home = self.board.turn().fold_wb(Rank::First, Rank::Eighth);
        let short = to.file() == File::G;
        let castles = if self.mode.chess960 {
            from == to
        } else {
            // The king moves two squares.
            let two = from.file() == File::E && to.rank() == home;
            two && self.board.find(Role::King, 0) == Ok(from)
        };
        if castles && from.rank() == home && (short || to.file() == File::C) {
            return self.board.castling(short);
        }
        self.board.between(from, to, Some(promotion))
    }

    #[inline(always)]
    fn play<S: Sink>(
        &mut self,
        sink: &mut S,
        mv: Result<Move, MoveError>,
        len: usize,
    ) -> Result<ControlFlow<()>, DecodeError> {
        let mv = mv.map_err(|error| self.error(error, len))?;
        self.count(len)?;
        Ok(sink.play(self.board, mv))
    }

    fn pass<S: Sink>(&mut self, sink: &mut S, len: usize) -> Result<ControlFlow<()>, DecodeError> {
        self.board.pass().map_err(|error| self.error(error, len))?;
        self.count(len)?;
        Ok(sink.pass())
    }

    #[inline]
    fn count(&mut self, len: usize) -> Result<(), DecodeError> {
        if self.moves >= MOVES_MOST {
            return Err(self.error(MoveError::TooMany, len));
        }
        self.moves += 1;
        self.fresh = false;
        Ok(())
    }

    fn push<S: Sink>(&mut self, sink: &mut S, len: usize) -> Result<(), DecodeError> {
        if !sink.wants_variations() {
            return Ok(());
        }
        if self.fresh {
            return Err(self.error(MoveError::Empty, len));
        }
        if self.kept.len() >= NESTING_MOST {
            return Err(self.error(MoveError::TooDeep, len));
        }
        self.fresh = true;
        self.kept.push(self.board.clone());
        sink.push();
        Ok(())
    }

    fn pop<S: Sink>(&mut self, sink: &mut S, len: usize) -> Result<ControlFlow<()>, DecodeError> {
        if self.fresh {
            return Err(self.error(MoveError::Empty, len));
        }
        let Some(board) = self.kept.pop() else { return Ok(ControlFlow::Break(())) };
        *self.board = board;
        sink.pop();
        Ok(ControlFlow::Continue(()))
    }
}
