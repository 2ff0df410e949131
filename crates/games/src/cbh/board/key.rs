//! The key of the position on a board, kept up to date move by move.
#![allow(clippy::indexing_slicing, reason = "the tables have an element for each piece, square and file")]

use std::sync::LazyLock;

use shakmaty::attacks::pawn_attacks;
use shakmaty::zobrist::{Zobrist64, ZobristValue};
use shakmaty::{Bitboard, CastlingSide, Color, Move, Piece, Role, Square};

use super::{Board, other};

/// What each piece adds to the key, by its byte and its square; an empty square adds nothing.
static PIECES: LazyLock<[[u64; 64]; 16]> = LazyLock::new(|| {
    let mut pieces = [[0; 64]; 16];
    for color in Color::ALL {
        for role in Role::ALL {
            for at in Square::ALL {
                let Zobrist64(value) = Zobrist64::zobrist_for_piece(at, Piece { color, role });
                pieces[role as usize | (color as usize) << 3][at as usize] = value;
            }
        }
    }
    pieces
});

/// The Polyglot key of a board's position.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pieces: &'static [[u64; 64]; 16],
    key: u64,
    /// What the rights to castle and the en-passant file add to it.
    rights: u64,
    file: u64,
    /// The rooks whose rights those are.
    castling: Bitboard,
}

impl Key {
    /// The key of a board, as computed otherwise.
    pub fn new(board: &Board, key: u64) -> Self {
        Self {
            pieces: &PIECES,
            key,
            rights: board.rights(),
            file: board.file(),
            castling: board.castles.castling_rights(),
        }
    }

    /// The key.
    #[inline]
    pub fn get(&self) -> u64 {
        self.key
    }

    /// What a legal move, not yet played, changes in the key by moving pieces.
    #[inline(always)]
    pub(crate) fn moved(&self, board: &Board, mv: Move) -> u64 {
        let of = |piece: u8, at: Square| self.pieces[usize::from(piece & 15)][at as usize];
        let on = |at: Square| board.squares[at as usize];
        let own = |role: Role| role as u8 | (board.turn as u8) << 3;
        match mv {
            Move::Normal { from, to, promotion, .. } => {
                of(on(from), from) ^ of(promotion.map_or(on(from), own), to) ^ of(on(to), to)
            }
            Move::EnPassant { from, to } => {
                let pawn = Square::from_coords(to.file(), from.rank());
                of(on(from), from) ^ of(on(from), to) ^ of(on(pawn), pawn)
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_king_side(king < rook);
                of(own(Role::King), king)
                    ^ of(own(Role::King), side.king_to(board.turn))
                    ^ of(own(Role::Rook), rook)
                    ^ of(own(Role::Rook), side.rook_to(board.turn))
            }
            Move::Put { .. } => 0,
        }
    }

    /// Updates the key after a move was played on the board; `moved` is from before the move.
    #[inline]
    pub fn play(&mut self, board: &Board, moved: u64) {
        let Zobrist64(turn) = Zobrist64::zobrist_for_white_turn();
        let file = board.file();
        self.key ^= moved ^ turn ^ self.file ^ file;
        self.file = file;
        if self.castling != board.castles.castling_rights() {
            let rights = board.rights();
            self.key ^= self.rights ^ rights;
            (self.rights, self.castling) = (rights, board.castles.castling_rights());
        }
    }
}

impl Board {
    /// What the rights to castle add to the key.
    fn rights(&self) -> u64 {
        let mut key = Zobrist64::default();
        for color in Color::ALL {
            for side in CastlingSide::ALL.into_iter().filter(|&side| self.castles.has(color, side)) {
                key ^= Zobrist64::zobrist_for_castling_right(color, side);
            }
        }
        key.0
    }

    /// What the en-passant file adds to the key: nothing where no pawn is beside the one that was pushed.
    #[inline]
    fn file(&self) -> u64 {
        let Some(to) = self.en_passant.first() else { return 0 };
        let beside = pawn_attacks(other(self.turn), to) & self.own() & self.roles[Role::Pawn as usize];
        if beside.is_empty() {
            return 0;
        }
        let Zobrist64(value) = Zobrist64::zobrist_for_en_passant_file(to.file());
        value
    }
}
