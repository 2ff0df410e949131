//! A position with its pieces numbered as the moves name them.

use shakmaty::{ByColor, CastlingSide, Color, Move, Position as _, Role, Square};
use tabiya_chess::Position;

use super::layout::MOST_PIECES;
use crate::database::{MoveError, NumberedBoard, castling, passed, stepped};

/// The squares of a side's pieces, by their numbers.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    squares: [Square; MOST_PIECES],
    len: usize,
}

/// A position with its pieces numbered.
#[derive(Clone, Debug)]
pub struct Board {
    position: Position,
    pieces: ByColor<Numbered>,
}

impl Numbered {
    const NONE: Self = Self { squares: [Square::A1; MOST_PIECES], len: 0 };

    /// The next piece has the next number, but the king has the first one. `None` if there are too many.
    fn add(&mut self, role: Role, square: Square) -> Option<()> {
        let place = self.squares.get_mut(self.len)?;
        *place = square;
        if role == Role::King {
            self.squares.swap(0, self.len);
        }
        self.len += 1;
        Some(())
    }

    fn get(&self, number: u8) -> Option<Square> {
        self.squares.get(..self.len)?.get(usize::from(number)).copied()
    }

    fn place(&mut self, square: Square) -> Option<&mut Square> {
        self.squares.get_mut(..self.len)?.iter_mut().find(|place| **place == square)
    }

    fn shift(&mut self, from: Square, to: Square) {
        if let Some(place) = self.place(from) {
            *place = to;
        }
    }

    /// Removes a piece, whose number the side's last piece gets.
    fn take(&mut self, square: Square) {
        let Some(last) = self.len.checked_sub(1).and_then(|last| self.squares.get(last)).copied() else {
            return;
        };
        if let Some(place) = self.place(square) {
            *place = last;
            self.len -= 1;
        }
    }
}

impl Board {
    /// The position that ordinary games start from: king, then the pieces from the a file on, then the pawns.
    pub fn ordinary() -> Self {
        let side = |pieces: u32, pawns: u32| {
            let mut numbered = Numbered { len: MOST_PIECES, ..Numbered::NONE };
            let order = [4, 0, 1, 2, 3, 5, 6, 7];
            let squares = order.map(|file| pieces + file).into_iter().chain(pawns..pawns + 8);
            numbered.squares.iter_mut().zip(squares).for_each(|(place, at)| *place = Square::new(at));
            numbered
        };
        Self { position: Position::start(), pieces: ByColor { white: side(0, 8), black: side(56, 48) } }
    }

    /// Any other position, numbered in the order of its FEN; `None` if a side has more pieces than have numbers.
    pub fn new(position: Position) -> Option<Self> {
        let mut pieces = ByColor { white: Numbered::NONE, black: Numbered::NONE };
        let board = position.chess().board();
        for rank in (0..8).rev() {
            for square in (0..8).map(|file| Square::new(8 * rank + file)) {
                if let Some(piece) = board.piece_at(square) {
                    pieces.get_mut(piece.color).add(piece.role, square)?;
                }
            }
        }
        Some(Self { position, pieces })
    }

    pub fn turn(&self) -> Color {
        self.position.chess().turn()
    }

    /// The square and the kind of a piece of the side to move, by its number.
    ///
    /// # Errors
    /// When there is no such piece.
    #[inline]
    pub fn find(&self, number: u8) -> Result<(Square, Role), MoveError> {
        let at = self.pieces.get(self.turn()).get(number);
        at.and_then(|at| Some((at, self.position.chess().board().role_at(at)?))).ok_or(MoveError::NoPiece)
    }

    /// The move of a piece that was [found](Self::find), if it is legal; not castling.
    ///
    /// # Errors
    /// When it is not legal.
    #[inline]
    pub fn step(
        &self,
        (from, role): (Square, Role),
        to: Square,
        promotion: Option<Role>,
    ) -> Result<Move, MoveError> {
        let mv = stepped(&self.position, role, from, to, promotion)?;
        // Pawns promote to what is named, and nothing else does.
        if mv.promotion() == promotion { Ok(mv) } else { Err(MoveError::Unreachable) }
    }

    /// The legal castling to the g file or to the c file.
    ///
    /// # Errors
    /// When it is not legal.
    pub fn castling(&self, short: bool) -> Result<Move, MoveError> {
        castling(&self.position, short)
    }

    /// Lets the side to move pass.
    ///
    /// # Errors
    /// When it is in check.
    pub fn pass(&mut self) -> Result<(), MoveError> {
        self.position = passed(&self.position)?;
        Ok(())
    }
}

impl NumberedBoard for Board {
    #[inline(always)]
    fn position(&self) -> &Position {
        &self.position
    }

    #[inline]
    fn play(&mut self, mv: Move) {
        let color = self.turn();
        let (own, other) = match color {
            Color::White => (&mut self.pieces.white, &mut self.pieces.black),
            Color::Black => (&mut self.pieces.black, &mut self.pieces.white),
        };
        match mv {
            Move::Normal { from, to, capture, .. } => {
                if capture.is_some() {
                    other.take(to);
                }
                own.shift(from, to);
            }
            Move::EnPassant { from, to } => {
                other.take(Square::from_coords(to.file(), from.rank()));
                own.shift(from, to);
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                let king_number = own.squares.iter().position(|square| *square == king);
                // In Chess960 either may go to the square of the other.
                own.shift(rook, side.rook_to(color));
                if let Some(place) = king_number.and_then(|number| own.squares.get_mut(number)) {
                    *place = side.king_to(color);
                }
            }
            Move::Put { .. } => {}
        }
        self.position.play(mv);
    }
}
