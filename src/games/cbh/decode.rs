//! The moves of a game: bytes become legal moves, in the order in which they are stored.
#![allow(clippy::indexing_slicing, reason = "a table of 256 elements has one for each byte")]

use std::fmt;
use std::ops::ControlFlow;

use shakmaty::{Move, Role};

use super::board::{Board, Fault};
use super::codes::{CODES, Code};
use super::layout::{MOVES_MOST, NESTING_MOST};
use super::mode::Mode;
use super::start::square;
use crate::games::Reason;

/// What receives the moves, in the order in which they are stored: at each position its first continuation to the
/// end, then the next.
pub trait Sink {
    /// Whether variations are wanted: without, the game is over when its main line is.
    const VARIATIONS: bool;

    /// What is made of a move before it is played.
    type Before;

    /// A legal move that is not yet played.
    fn before(&mut self, board: &Board, mv: Move) -> Self::Before;

    /// The move is played. Breaking off ends the game.
    fn after(&mut self, board: &Board, mv: Move, before: Self::Before) -> ControlFlow<()>;

    /// The side to move passes.
    fn pass(&mut self) -> ControlFlow<()>;

    /// Another move instead of the next one comes later.
    fn push(&mut self);

    /// The line is over: a move follows that is played instead of the one after the last [`push`](Sink::push).
    fn pop(&mut self);
}

/// What ends a game before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where, in bytes from the start of the moves.
    pub at: u64,
    /// Moves read before.
    pub moves: u32,
    /// What is wrong.
    pub what: Wrong,
}

/// What can be wrong with the moves of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A move is not legal.
    Illegal(Fault),
    /// A move of two bytes is cut off.
    CutOff,
    /// There are more moves than any game has.
    TooMany,
    /// Variations are nested deeper than any are.
    TooDeep,
    /// A variation begins or ends without a move between.
    Empty,
}

impl Damage {
    /// The kind of reason.
    pub fn reason(&self) -> Reason {
        match self.what {
            Wrong::Illegal(_) => Reason::IllegalMove,
            Wrong::TooMany | Wrong::TooDeep => Reason::TooLong,
            Wrong::CutOff | Wrong::Empty => Reason::Damaged,
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.what {
            Wrong::Illegal(Fault::NoPiece) => "the piece that moves is not there",
            Wrong::Illegal(Fault::Way) => "the piece cannot go there",
            Wrong::Illegal(Fault::King) => "the king would be in check",
            Wrong::Illegal(Fault::NoRight { .. }) => "castling without the right to",
            Wrong::Illegal(Fault::Castling) => "castling is barred",
            Wrong::Illegal(Fault::Pass) => "a side in check passes",
            Wrong::CutOff => "the last move is cut off",
            Wrong::TooMany => "too many moves",
            Wrong::TooDeep => "variations are nested too deep",
            Wrong::Empty => "a variation without a move",
        })?;
        write!(f, " after {} stored moves", self.moves)
    }
}

/// Plays the moves of a game, from the position of `board`; `kept` is memory for positions to go back to.
///
/// A game whose last end is missing ends with its bytes; what follows the last end is no part of it.
///
/// # Errors
/// When a move is not legal or cannot be read: those before it were handed over.
pub fn decode<S: Sink>(
    data: &[u8],
    mode: Mode,
    board: &mut Board,
    kept: &mut Vec<Board>,
    sink: &mut S,
) -> Result<(), Damage> {
    kept.clear();
    let reading = Reading { data, mode, at: 0, moves: 0, fresh: false, kept, board };
    if mode.compact { reading.compact(sink) } else { reading.simple(sink) }
}

/// What comes of a code that is no ordinary move.
enum Rare {
    /// A move, be it legal.
    Move(Result<Move, Fault>),
    /// Nothing more: the next code follows.
    Next,
    /// The end of the game.
    Over,
}

struct Reading<'a> {
    data: &'a [u8],
    mode: Mode,
    /// The byte to be read next.
    at: usize,
    /// Moves read so far.
    moves: u32,
    /// Whether a position was kept and no move was made since.
    fresh: bool,
    kept: &'a mut Vec<Board>,
    board: &'a mut Board,
}

impl Reading<'_> {
    /// Damage in what ends before the byte to be read next.
    #[cold]
    fn damage(&self, what: Wrong, len: usize) -> Damage {
        Damage { at: self.at.saturating_sub(len) as u64, moves: self.moves, what }
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.data.get(self.at)?;
        self.at += 1;
        Some(self.mode.plain(byte, self.moves as u8))
    }

    fn compact<S: Sink>(mut self, sink: &mut S) -> Result<(), Damage> {
        while let Some(code) = self.byte() {
            let start = self.at;
            let code = CODES[self.board.turn() as usize][usize::from(code)];
            let mv = if let Code::Piece { role, number, right, up } = code {
                self.board.piece(role, number, right, up)
            } else {
                match self.rare(sink, code)? {
                    Rare::Move(mv) => mv,
                    Rare::Next => continue,
                    Rare::Over => return Ok(()),
                }
            };
            let len = self.at - start + 1;
            let mv = mv.map_err(|fault| self.damage(Wrong::Illegal(fault), len))?;
            if self.play(sink, mv, len)?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// What a code means that is no ordinary move.
    #[inline(never)]
    fn rare<S: Sink>(&mut self, sink: &mut S, code: Code) -> Result<Rare, Damage> {
        let going = match code {
            Code::Piece { role, number, right, up } => {
                return Ok(Rare::Move(self.board.piece(role, number, right, up)));
            }
            Code::Castle { short } => return Ok(Rare::Move(self.board.castling(short))),
            Code::TwoBytes => {
                let word = self.byte().zip(self.byte());
                let Some((high, low)) = word else { return Err(self.damage(Wrong::CutOff, 1)) };
                return Ok(Rare::Move(self.squares(u16::from_be_bytes([high, low]))));
            }
            Code::Null => self.passed(sink, 1)?,
            Code::Nothing => ControlFlow::Continue(()),
            Code::Push => {
                self.push(sink, 1)?;
                ControlFlow::Continue(())
            }
            Code::Pop => self.pop(sink, 1)?,
        };
        Ok(if going.is_break() { Rare::Over } else { Rare::Next })
    }

    fn simple<S: Sink>(mut self, sink: &mut S) -> Result<(), Damage> {
        while let Some(high) = self.byte() {
            let Some(low) = self.byte() else { return Err(self.damage(Wrong::CutOff, 1)) };
            let mut word = u16::from_be_bytes([high, low]);
            if word & 0x8000 != 0 {
                self.push(sink, 2)?;
            }
            let pops = word & 0x4000 != 0;
            if self.mode.reversed {
                word = word & 0xf000 | word >> 6 & 0x3f | (word & 0x3f) << 6;
            }
            let going = if word & 0xfff == 0 {
                self.passed(sink, 2)?
            } else {
                let mv = self.squares(word);
                let mv = mv.map_err(|fault| self.damage(Wrong::Illegal(fault), 2))?;
                self.play(sink, mv, 2)?
            };
            if going.is_break() || pops && self.pop(sink, 2)?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A move that names its squares.
    fn squares(&self, word: u16) -> Result<Move, Fault> {
        let (from, to) = (square(word as u8 & 63), square((word >> 6) as u8 & 63));
        let promotion = match word >> 12 & 3 {
            0 => Role::Queen,
            1 => Role::Rook,
            2 => Role::Bishop,
            _ => Role::Knight,
        };
        let at_home = from.rank() == self.board.turn().fold_wb(shakmaty::Rank::First, shakmaty::Rank::Eighth);
        let short = match to.file() {
            shakmaty::File::G => Some(true),
            shakmaty::File::C => Some(false),
            _ => None,
        };
        if let Some(short) = short.filter(|_| at_home) {
            if self.mode.chess960 && from == to {
                return self.board.castling(short);
            }
            // The king of ordinary chess goes two squares.
            let two = from.file() == shakmaty::File::E && from.rank() == to.rank();
            if !self.mode.chess960 && two && self.board.find(Role::King, 0) == Ok(from) {
                return self.board.castling(short);
            }
        }
        self.board.between(from, to, Some(promotion))
    }

    #[inline(always)]
    fn play<S: Sink>(&mut self, sink: &mut S, mv: Move, len: usize) -> Result<ControlFlow<()>, Damage> {
        self.count(len)?;
        let before = sink.before(self.board, mv);
        self.board.play(mv);
        Ok(sink.after(self.board, mv, before))
    }

    fn passed<S: Sink>(&mut self, sink: &mut S, len: usize) -> Result<ControlFlow<()>, Damage> {
        self.board.pass().map_err(|fault| self.damage(Wrong::Illegal(fault), len))?;
        self.count(len)?;
        Ok(sink.pass())
    }

    #[inline]
    fn count(&mut self, len: usize) -> Result<(), Damage> {
        if self.moves >= MOVES_MOST {
            return Err(self.damage(Wrong::TooMany, len));
        }
        self.moves += 1;
        self.fresh = false;
        Ok(())
    }

    fn push<S: Sink>(&mut self, sink: &mut S, len: usize) -> Result<(), Damage> {
        if !S::VARIATIONS {
            return Ok(());
        }
        if self.fresh {
            return Err(self.damage(Wrong::Empty, len));
        }
        if self.kept.len() >= NESTING_MOST {
            return Err(self.damage(Wrong::TooDeep, len));
        }
        self.fresh = true;
        self.kept.push(self.board.clone());
        sink.push();
        Ok(())
    }

    fn pop<S: Sink>(&mut self, sink: &mut S, len: usize) -> Result<ControlFlow<()>, Damage> {
        if self.fresh {
            return Err(self.damage(Wrong::Empty, len));
        }
        let Some(board) = self.kept.pop() else { return Ok(ControlFlow::Break(())) };
        *self.board = board;
        sink.pop();
        Ok(ControlFlow::Continue(()))
    }
}
