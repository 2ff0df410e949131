//! The key of the position that a move leads to, without playing it.
//!
//! shakmaty's `update_zobrist_hash` returns `None` for castling, other moves of kings, double steps of pawns, and whatever
//! follows these, so that the whole board has to be hashed again. This has an answer for every move but the captures of
//! atomic chess, and costs a quarter of playing it.

use shakmaty::zobrist::{Zobrist64, ZobristValue as _};
use shakmaty::{
    Bitboard, CastlingSide, Color, EnPassantMode, Move, Piece, Position, Rank, Role, Square, attacks,
};

/// The key after a legal move; `key` is that of the position. In atomic chess a capture takes more from the board than is
/// counted here.
#[inline]
pub(super) fn key_after<P: Position>(at: &P, key: u64, mv: Move) -> u64 {
    let us = at.turn();
    // What the pieces change, and the squares of rooks with which nobody castles then.
    let (pieces, lost) = match mv {
        Move::Normal { role, from, capture, to, promotion } => {
            let mut pieces = piece(from, role.of(us)) ^ piece(to, promotion.unwrap_or(role).of(us));
            if let Some(capture) = capture {
                pieces ^= piece(to, capture.of(us.other()));
            } else if role == Role::Pawn
                && let Some(square) = passed(at, from, to)
            {
                pieces ^= passing(square);
            }
            let squares = if role == Role::King { us.backrank().into() } else { from.into() };
            (pieces, Bitboard::with(squares, to))
        }
        mv => of_special(us, mv),
    };
    let mut key = key ^ pieces ^ Zobrist64::zobrist_for_white_turn().0;
    if let Some(square) = at.ep_square(EnPassantMode::PseudoLegal) {
        key ^= passing(square);
    }
    let lost = lost & at.castles().castling_rights();
    if lost.any() { key ^ losing(at, lost) } else { key }
}

/// What a piece on a square changes.
fn piece(square: Square, piece: Piece) -> u64 {
    Zobrist64::zobrist_for_piece(square, piece).0
}

/// What pieces change in a move that is not one piece's step, and the squares of rooks with which nobody castles then.
#[inline(never)]
fn of_special(us: Color, mv: Move) -> (u64, Bitboard) {
    match mv {
        Move::EnPassant { from, to } => {
            let taken = Square::from_coords(to.file(), from.rank());
            (piece(from, us.pawn()) ^ piece(to, us.pawn()) ^ piece(taken, us.other().pawn()), Bitboard::EMPTY)
        }
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            let king_to = Square::from_coords(side.king_to_file(), king.rank());
            let rook_to = Square::from_coords(side.rook_to_file(), rook.rank());
            let pieces = piece(king, us.king()) ^ piece(king_to, us.king());
            (pieces ^ piece(rook, us.rook()) ^ piece(rook_to, us.rook()), us.backrank().into())
        }
        Move::Put { role, to } => (piece(to, role.of(us)), Bitboard::EMPTY),
        Move::Normal { .. } => (0, Bitboard::EMPTY),
    }
}

/// What a square changes that a pawn has passed and may be taken on.
fn passing(square: Square) -> u64 {
    Zobrist64::zobrist_for_en_passant_file(square.file()).0
}

/// What the right to castle with each of these rooks changes.
#[cold]
fn losing<P: Position>(at: &P, rooks: Bitboard) -> u64 {
    let rights = Color::ALL.into_iter().flat_map(|color| CastlingSide::ALL.map(|side| (color, side)));
    let is_lost = |(color, side): &(Color, CastlingSide)| {
        at.castles().rook(*color, *side).is_some_and(|rook| rooks.contains(rook))
    };
    let key = |(color, side)| Zobrist64::zobrist_for_castling_right(color, side).0;
    rights.filter(is_lost).map(key).fold(0, std::ops::BitXor::bitxor)
}

/// The square that a pawn passes which goes from here to there, if a pawn may take it there.
fn passed<P: Position>(at: &P, from: Square, to: Square) -> Option<Square> {
    let us = at.turn();
    // A pawn of horde that goes two squares from the first rank passes none.
    if (to - from).abs() != 16 || from.rank() != us.fold_wb(Rank::Second, Rank::Seventh) {
        return None;
    }
    let square = Square::from_coords(from.file(), us.fold_wb(Rank::Third, Rank::Sixth));
    let takers = attacks::pawn_attacks(us, square) & at.board().by_piece(us.other().pawn());
    takers.any().then_some(square)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Variant;

    fn check(mut at: crate::Position, steps: &[prop::sample::Index]) {
        for step in steps {
            let legal = at.chess().legal_moves();
            for mv in &legal {
                let mut next = at.chess().clone();
                next.play_unchecked(*mv);
                let next = crate::Position::from_chess(next);
                assert_eq!(at.key_after(*mv), next.key(), "{mv:?} in {}", at.fen());
            }
            if legal.is_empty() {
                break;
            }
            at.play(*step.get(&legal));
            assert_eq!(at.key(), crate::Position::from_chess(at.chess().clone()).key(), "{}", at.fen());
        }
    }

    proptest! {
        #[test]
        fn the_key_is_kept_through_any_game(
            start in prop::sample::select(vec![
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
                // Castling, en passant and promotions are near.
                "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
                "1rk3r1/p2p1p1p/8/2pPp3/5pP1/8/P3P2P/1RK3R1 b GBgb g3 0 1",
                "rk5r/8/8/8/8/8/8/RK5R b AHah - 0 1",
                "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            ]),
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..150),
        ) {
            check(crate::Position::from_any_fen(start.as_bytes()).unwrap(), &steps);
        }

        #[test]
        fn the_key_is_kept_through_any_game_of_a_variant(
            variant in prop::sample::select(&Variant::ALL[..]),
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..150),
        ) {
            check(crate::Position::start_of(variant), &steps);
        }
    }
}
