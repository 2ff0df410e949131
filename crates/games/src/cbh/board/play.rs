//! Playing moves on a board.
#![allow(clippy::cast_possible_truncation, reason = "a board has 64 squares, and a piece a small number")]
#![allow(
    clippy::indexing_slicing,
    reason = "squares are below 64, and the numbers of pieces are below the lengths of their tables"
)]

use shakmaty::attacks::{between, ray};
use shakmaty::{Bitboard, CastlingSide, Color, Move, Role, Square};

use super::super::error::MoveError;
use super::{Board, LISTED, NONE, UNLISTED, all_if, other};

impl Board {
    /// Lets the side to move pass.
    ///
    /// # Errors
    /// When it is in check.
    pub fn pass(&mut self) -> Result<(), MoveError> {
        if self.check {
            return Err(MoveError::Pass);
        }
        self.turn = other(self.turn);
        self.en_passant = Bitboard::EMPTY;
        Ok(())
    }

    /// Plays a move that is legal here.
    #[inline(always)]
    pub fn play(&mut self, mv: Move) {
        self.en_passant = Bitboard::EMPTY;
        let enemy_king = self.king(other(self.turn));
        // Whether the move may give check or discover one.
        let mut near = true;
        match mv {
            Move::Normal { from, to, capture, promotion, role } => {
                if capture.is_some() {
                    self.take(to);
                }
                if (self.castles.castling_rights() & (Bitboard::from(from) | Bitboard::from(to))).any()
                    || role == Role::King
                {
                    self.lose_rights(from, to, role);
                }
                self.shift(role, from, to);
                if let Some(promotion) = promotion {
                    self.take(to);
                    self.add(to, self.turn, promotion as usize);
                } else {
                    let two = (role == Role::Pawn) & (from as u8 ^ to as u8 == 16);
                    self.en_passant = between(from, to) & all_if(two);
                    let uncovered = ray(enemy_king, from) & self.own() & self.sliders();
                    near = uncovered.any() & (between(enemy_king, from) & self.occupied()).is_empty()
                        | self.sees(other(self.turn), role, enemy_king, to);
                }
            }
            Move::EnPassant { from, to } => {
                if let Some(pawn) = to.offset(if self.turn.is_white() { -8 } else { 8 }) {
                    self.take(pawn);
                }
                self.shift(Role::Pawn, from, to);
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                self.lose_rights(king, king, Role::King);
                let (king_piece, rook_piece) = (self.lift(king), self.lift(rook));
                self.put(side.king_to(self.turn), king_piece);
                self.put(side.rook_to(self.turn), rook_piece);
            }
            Move::Put { .. } => {}
        }
        self.turn = other(self.turn);
        self.check = near && self.attacked(enemy_king, other(self.turn), self.occupied(), Bitboard::EMPTY);
    }

    fn lose_rights(&mut self, from: Square, to: Square, role: Role) {
        if role == Role::King {
            self.castles.discard_color(self.turn);
        }
        self.castles.discard_rook(from);
        self.castles.discard_rook(to);
    }

    /// Moves a piece of the side to move to an empty square.
    #[inline]
    fn shift(&mut self, role: Role, from: Square, to: Square) {
        let both = Bitboard::from(from) | Bitboard::from(to);
        let (role, color) = (role as usize, self.turn as usize);
        self.roles[role] ^= both;
        self.colors[color] ^= both;
        let piece = std::mem::take(&mut self.squares[from as usize]);
        self.squares[to as usize] = piece;
        let number = piece >> 4;
        if number != UNLISTED {
            self.lists[color][role][usize::from(number)] = to as u8;
        }
    }

    #[inline]
    fn lift(&mut self, from: Square) -> u8 {
        let piece = std::mem::take(&mut self.squares[from as usize]);
        self.roles[usize::from(piece & 7)].discard(from);
        self.colors[usize::from(piece >> 3 & 1)].discard(from);
        piece
    }

    #[inline]
    fn put(&mut self, to: Square, piece: u8) {
        let (role, color, number) = (usize::from(piece & 7), usize::from(piece >> 3 & 1), piece >> 4);
        self.squares[to as usize] = piece;
        self.roles[role].add(to);
        self.colors[color].add(to);
        if number != UNLISTED {
            self.lists[color][role][usize::from(number)] = to as u8;
        }
    }

    /// Takes a piece off the board. Later ones of its kind move down by one, but pawns keep their numbers.
    fn take(&mut self, at: Square) {
        let piece = self.lift(at);
        let (role, color, number) = (usize::from(piece & 7), usize::from(piece >> 3 & 1), piece >> 4);
        if number == UNLISTED {
            return;
        }
        let list = &mut self.lists[color][role];
        if role == Role::Pawn as usize {
            list[usize::from(number)] = NONE;
            return;
        }
        let count = self.counts[color][role];
        for later in usize::from(number) + 1..usize::from(count).min(16) {
            list[later - 1] = list[later];
            if let Some(piece) = self.squares.get_mut(usize::from(list[later])) {
                *piece = piece.wrapping_sub(0x10);
            }
        }
        self.counts[color][role] = count.saturating_sub(1);
        list[usize::from(self.counts[color][role] & 15)] = NONE;
    }

    /// Puts a new piece on an empty square: it gets the next number.
    pub(super) fn add(&mut self, at: Square, color: Color, role: usize) {
        let count = &mut self.counts[color as usize][role & 7];
        let number = if *count < LISTED { *count } else { UNLISTED };
        if number != UNLISTED {
            *count += 1;
        }
        self.put(at, role as u8 | (color as u8) << 3 | number << 4);
    }
}
