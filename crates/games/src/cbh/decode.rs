//! The moves of a game: bytes become legal moves, in the order in which they are stored.
#![allow(
    clippy::cast_possible_truncation,
    reason = "moves are counted modulo 256, and the low bits of a word are a square"
)]
#![allow(
    clippy::indexing_slicing,
    reason = "a table of 256 elements has one for each byte, and the tables are computed at compile time"
)]

use std::ops::ControlFlow;

use shakmaty::{Color, File, Move, Rank, Role};

use super::board::Board;
use super::layout::{MAX_MOVES, MAX_NESTING, POP, PUSH};
use super::mode::Mode;
use super::start::square;
use crate::database::{DecodeError, MoveError, Sink};
use crate::export::MoveTree;

/// Adds the moves to a tree.
pub(crate) struct Collector<'a, M, F> {
    pub tree: &'a mut MoveTree<M>,
    /// Whether it gets the variations.
    pub variations: bool,
    /// Plays a move, and returns what the tree keeps of it.
    pub play: F,
    /// What the tree keeps of a pass.
    pub pass: M,
}

impl<M: Copy + Default, F: FnMut(&mut Board, Move) -> M> Sink<Board> for Collector<'_, M, F> {
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
pub fn decode<S: Sink<Board>>(
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

    fn compact<S: Sink<Board>>(mut self, sink: &mut S) -> Result<(), DecodeError> {
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
    fn rare<S: Sink<Board>>(&mut self, sink: &mut S, code: Code) -> Result<ControlFlow<()>, DecodeError> {
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

    fn simple<S: Sink<Board>>(mut self, sink: &mut S) -> Result<(), DecodeError> {
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
    fn play<S: Sink<Board>>(
        &mut self,
        sink: &mut S,
        mv: Result<Move, MoveError>,
        len: usize,
    ) -> Result<ControlFlow<()>, DecodeError> {
        let mv = mv.map_err(|error| self.error(error, len))?;
        self.count(len)?;
        Ok(sink.play(self.board, mv))
    }

    fn pass<S: Sink<Board>>(&mut self, sink: &mut S, len: usize) -> Result<ControlFlow<()>, DecodeError> {
        self.board.pass().map_err(|error| self.error(error, len))?;
        self.count(len)?;
        Ok(sink.pass())
    }

    #[inline]
    fn count(&mut self, len: usize) -> Result<(), DecodeError> {
        if self.moves >= MAX_MOVES {
            return Err(self.error(MoveError::TooMany, len));
        }
        self.moves += 1;
        self.fresh = false;
        Ok(())
    }

    fn push<S: Sink<Board>>(&mut self, sink: &mut S, len: usize) -> Result<(), DecodeError> {
        if !sink.wants_variations() {
            return Ok(());
        }
        if self.fresh {
            return Err(self.error(MoveError::Empty, len));
        }
        if self.kept.len() >= MAX_NESTING {
            return Err(self.error(MoveError::TooDeep, len));
        }
        self.fresh = true;
        self.kept.push(self.board.clone());
        sink.push();
        Ok(())
    }

    fn pop<S: Sink<Board>>(&mut self, sink: &mut S, len: usize) -> Result<ControlFlow<()>, DecodeError> {
        if self.fresh {
            return Err(self.error(MoveError::Empty, len));
        }
        let Some(board) = self.kept.pop() else { return Ok(ControlFlow::Break(())) };
        *self.board = board;
        sink.pop();
        Ok(ControlFlow::Continue(()))
    }
}

/// The meaning of a byte of the compact encoding, after unscrambling.
///
/// The order of the codes (docs/formats/cbh.md, Compact moves): null move, king, each piece with its steps, pawns, second
/// queens and third pieces, marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Null,
    /// The king castles to the side of the g file, or to that of the c file.
    Castle {
        /// Whether it is the g file.
        short: bool,
    },
    /// A step of a piece: how many files to the right and how many ranks up, each modulo 8.
    Piece {
        role: Role,
        /// Which of its kind, from 0.
        number: u8,
        /// Files to the right.
        right: u8,
        up: u8,
    },
    /// The move is in the next two bytes.
    TwoBytes,
    /// Nothing; it does not count as a move.
    Nothing,
    /// The position is kept: an alternative to the next move follows later.
    Push,
    /// The line ends, and the last position that was kept returns.
    Pop,
}

/// The meaning of each code for a side, by [`Color`] as a number: steps of pawns are as their player sees them.
pub(crate) static CODES: [[Code; 256]; 2] = {
    let mut both = [[Code::Nothing; 256]; 2];
    both[Color::White as usize] = codes(PAWN);
    both[Color::Black as usize] = codes([turned(PAWN[0]), turned(PAWN[1]), turned(PAWN[2]), turned(PAWN[3])]);
    both
};

/// A step as the other player sees it.
const fn turned((right, up): (u8, u8)) -> (u8, u8) {
    ((8 - right) % 8, (8 - up) % 8)
}

/// The steps of a pawn: one square, two, a capture to the right, and one to the left.
const PAWN: [(u8, u8); 4] = [(0, 1), (0, 2), (1, 1), (7, 1)];

/// The steps of a king: all its neighbours clockwise from the one above.
const KING: [(u8, u8); 8] = [(0, 1), (1, 1), (1, 0), (1, 7), (0, 7), (7, 7), (7, 0), (7, 1)];

/// The steps of a rook.
const ROOK: [(u8, u8); 14] = lines([(0, 1), (1, 0)]);

/// The steps of a bishop.
const BISHOP: [(u8, u8); 14] = lines([(1, 1), (1, 7)]);

/// The steps of a knight.
const KNIGHT: [(u8, u8); 8] = [(2, 1), (1, 2), (7, 2), (6, 1), (6, 7), (7, 6), (1, 6), (2, 7)];

/// A table under construction.
struct Filled {
    codes: [Code; 256],
    len: usize,
}

impl Filled {
    const fn add(mut self, code: Code) -> Self {
        self.codes[self.len] = code;
        self.len += 1;
        self
    }

    const fn steps<const N: usize>(mut self, role: Role, number: u8, steps: [(u8, u8); N]) -> Self {
        let mut at = 0;
        while at < N {
            let (right, up) = steps[at];
            self = self.add(Code::Piece { role, number, right, up });
            at += 1;
        }
        self
    }

    const fn queen(self, number: u8) -> Self {
        self.steps(Role::Queen, number, ROOK).steps(Role::Queen, number, BISHOP)
    }
}

/// The steps along two lines: one to seven squares in each direction.
const fn lines(directions: [(u8, u8); 2]) -> [(u8, u8); 14] {
    let mut steps = [(0, 0); 14];
    let mut at = 0;
    while at < 14 {
        let ((right, up), far) = (directions[at / 7], at as u8 % 7 + 1);
        steps[at] = (right * far % 8, up * far % 8);
        at += 1;
    }
    steps
}

const fn codes(pawn: [(u8, u8); 4]) -> [Code; 256] {
    let mut table = Filled { codes: [Code::Nothing; 256], len: 0 }
        .add(Code::Null)
        .steps(Role::King, 0, KING)
        .add(Code::Castle { short: true })
        .add(Code::Castle { short: false })
        .queen(0)
        .steps(Role::Rook, 0, ROOK)
        .steps(Role::Rook, 1, ROOK)
        .steps(Role::Bishop, 0, BISHOP)
        .steps(Role::Bishop, 1, BISHOP)
        .steps(Role::Knight, 0, KNIGHT)
        .steps(Role::Knight, 1, KNIGHT);
    let mut number = 0;
    while number < 8 {
        table = table.steps(Role::Pawn, number, pawn);
        number += 1;
    }
    let mut codes = table
        .queen(1)
        .queen(2)
        .steps(Role::Rook, 2, ROOK)
        .steps(Role::Bishop, 2, BISHOP)
        .steps(Role::Knight, 2, KNIGHT)
        .add(Code::TwoBytes)
        .codes;
    codes[0xfe] = Code::Push;
    codes[0xff] = Code::Pop;
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_the_meaning_of_the_description() {
        let piece = |role, number, right, up| Code::Piece { role, number, right, up };
        for (code, meaning) in [
            (0x00, Code::Null),
            (0x01, piece(Role::King, 0, 0, 1)),
            (0x08, piece(Role::King, 0, 7, 1)),
            (0x09, Code::Castle { short: true }),
            (0x0a, Code::Castle { short: false }),
            (0x0b, piece(Role::Queen, 0, 0, 1)),
            (0x24, piece(Role::Queen, 0, 5, 3)),
            (0x27, piece(Role::Rook, 0, 0, 1)),
            (0x35, piece(Role::Rook, 1, 0, 1)),
            // From here on the numbers of the Russian text are one higher.
            (0x40, piece(Role::Rook, 1, 5, 0)),
            (0x43, piece(Role::Bishop, 0, 1, 1)),
            (0x51, piece(Role::Bishop, 1, 1, 1)),
            (0x5f, piece(Role::Knight, 0, 2, 1)),
            (0x67, piece(Role::Knight, 1, 2, 1)),
            (0x6f, piece(Role::Pawn, 0, 0, 1)),
            (0x70, piece(Role::Pawn, 0, 0, 2)),
            (0x8d, piece(Role::Pawn, 7, 1, 1)),
            (0x8e, piece(Role::Pawn, 7, 7, 1)),
            (0x8f, piece(Role::Queen, 1, 0, 1)),
            (0xab, piece(Role::Queen, 2, 0, 1)),
            (0xc7, piece(Role::Rook, 2, 0, 1)),
            (0xd5, piece(Role::Bishop, 2, 1, 1)),
            (0xea, piece(Role::Knight, 2, 2, 7)),
            (0xeb, Code::TwoBytes),
            (0xec, Code::Nothing),
            (0xfd, Code::Nothing),
            (0xfe, Code::Push),
            (0xff, Code::Pop),
        ] {
            assert_eq!(CODES[Color::White as usize][code], meaning, "{code:#04x}");
            let meaning = match meaning {
                Code::Piece { role: Role::Pawn, number, right, up } => {
                    piece(Role::Pawn, number, (8 - right) % 8, 8 - up)
                }
                other => other,
            };
            assert_eq!(CODES[Color::Black as usize][code], meaning, "{code:#04x}");
        }
    }
}
