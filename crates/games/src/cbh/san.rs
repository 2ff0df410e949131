//! A move as PGN writes it.
//!
//! Why not shakmaty's: it takes 440 ns of processor time to write and play a move, and with this module all of `export`
//! takes 76 ns (measured as described in [`super::board`]).
#![allow(clippy::indexing_slicing, reason = "the index is masked to the table's length")]

use shakmaty::{Move, Role, Square};

use super::board::Board;
use crate::export::San;

/// The letters of the kinds of pieces, by their numbers from 1.
const LETTERS: [u8; 8] = *b"?PNBRQK?";

/// The letter of a kind of piece.
#[inline]
const fn letter(role: Role) -> u8 {
    LETTERS[role as usize & 7]
}

/// A word under construction.
#[derive(Default)]
struct Word {
    characters: u64,
    bits: u32,
}

impl Word {
    #[inline]
    fn push(&mut self, character: u8) {
        self.characters |= u64::from(character) << self.bits;
        self.bits += 8;
    }

    #[inline]
    fn square(&mut self, square: Square) {
        self.characters |= (u64::from(file(square)) | u64::from(rank(square)) << 8) << self.bits;
        self.bits += 16;
    }
}

/// Plays a legal move, and returns it as PGN writes it.
#[inline(always)]
pub fn play(board: &mut Board, mv: Move) -> San {
    let mut san = unmarked(board, mv);
    board.play(mv);
    if board.is_check() {
        san.push(if board.is_mate() { b'#' } else { b'+' });
    }
    san
}

/// A legal move that is not yet played, without the mark of check or mate.
#[inline]
fn unmarked(board: &Board, mv: Move) -> San {
    let mut san = Word::default();
    let (role, from, to, captures, promotion) = match mv {
        Move::Normal { role, from, capture, to, promotion } => (role, from, to, capture.is_some(), promotion),
        Move::EnPassant { from, to } => (Role::Pawn, from, to, true, None),
        Move::Castle { king, rook } => return San::new(if king < rook { b"O-O" } else { b"O-O-O" }),
        Move::Put { to, .. } => (Role::Pawn, to, to, false, None),
    };
    if role != Role::Pawn {
        san.push(letter(role));
        let others = board.others(role, from, to);
        if others.any() {
            let same_file = others.into_iter().any(|other: Square| other.file() == from.file());
            let same_rank = others.into_iter().any(|other: Square| other.rank() == from.rank());
            if !same_file || same_rank {
                san.push(file(from));
            }
            if same_file {
                san.push(rank(from));
            }
        }
    } else if captures {
        san.push(file(from));
    }
    if captures {
        san.push(b'x');
    }
    san.square(to);
    if let Some(promotion) = promotion {
        san.push(b'=');
        san.push(letter(promotion));
    }
    San::from_word(san.characters, san.bits / 8)
}

const fn file(square: Square) -> u8 {
    b'a' + (square as u8 & 7)
}

const fn rank(square: Square) -> u8 {
    b'1' + (square as u8 >> 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shakmaty::fen::Fen;
    use shakmaty::san::SanPlus;
    use shakmaty::{CastlingMode, Chess, Position as _};

    fn compare(chess: &Chess) {
        for mv in chess.legal_moves() {
            let mut board = Board::new(chess, false);
            let san = play(&mut board, mv);
            let expected = SanPlus::from_move(chess.clone(), mv).to_string();
            assert_eq!(san.to_text(), expected);
        }
    }

    #[test]
    fn ambiguous_moves_name_their_origin() {
        for fen in [
            "4k3/8/8/1N3N2/8/1N3N2/8/K7 w - - 0 1",
            "k7/8/8/8/3Q3Q/8/8/K6Q w - - 0 1",
            "4r1k1/8/8/8/8/4N3/8/N3K3 w - - 0 1",
            "7k/5KQ1/8/8/8/8/8/8 w - - 0 1",
            "1n5k/P1P5/8/8/8/8/8/K7 w - - 0 1",
            "8/8/8/1k1pP3/8/8/8/K7 w - d6 0 1",
            "R6R/8/8/8/8/8/1k6/R6K w - - 0 1",
        ] {
            if let Ok(chess) = fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard) {
                compare(&chess);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn moves_are_written_as_by_shakmaty(steps in prop::collection::vec(any::<prop::sample::Index>(), 0..150)) {
            let mut chess = Chess::default();
            for step in steps {
                compare(&chess);
                let moves = chess.legal_moves();
                if moves.is_empty() {
                    break;
                }
                chess.play_unchecked(*step.get(&moves));
            }
        }
    }
}
