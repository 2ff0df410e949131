//! The Zobrist hash of a position, kept up to date while moves are played.
//!
//! shakmaty's `update_zobrist_hash` returns `None` for castling, other moves of kings, double steps of pawns, and whatever
//! follows these, so that the whole board has to be hashed again. This has an answer for every move of ordinary chess and
//! Chess960. It uses only what shakmaty itself has, for any width of the hash and any view of en passant, so that it can be
//! offered there.

use shakmaty::zobrist::ZobristValue;
use shakmaty::{CastlingSide, Chess, Color, EnPassantMode, Move, Position as _, Square};

/// Plays a legal move, and turns the hash of the position before it into that of the position after it.
///
/// ```
/// use shakmaty::zobrist::Zobrist128;
/// use shakmaty::{Chess, EnPassantMode, Position, uci::UciMove};
/// use tabiya_chess::play_hashed;
///
/// let mode = EnPassantMode::Legal;
/// let mut chess = Chess::default();
/// let mut hash: Zobrist128 = chess.zobrist_hash(mode);
/// let e4 = UciMove::from_ascii(b"e2e4")?.to_move(&chess)?;
/// play_hashed(&mut chess, &mut hash, e4, mode);
/// assert_eq!(hash, chess.zobrist_hash(mode));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn play_hashed<V: ZobristValue>(chess: &mut Chess, hash: &mut V, mv: Move, mode: EnPassantMode) {
    let castles = chess.castles().clone();
    move_pieces(hash, mv, chess.turn());
    pass_square(hash, chess, mode);
    chess.play_unchecked(mv);
    pass_square(hash, chess, mode);
    *hash ^= V::zobrist_for_white_turn();
    let left = chess.castles();
    if left.castling_rights() != castles.castling_rights() {
        for (color, side) in
            Color::ALL.into_iter().flat_map(|color| CastlingSide::ALL.map(|side| (color, side)))
        {
            if castles.has(color, side) != left.has(color, side) {
                *hash ^= V::zobrist_for_castling_right(color, side);
            }
        }
    }
}

/// Adds, or removes, the square that a pawn has passed.
fn pass_square<V: ZobristValue>(hash: &mut V, chess: &Chess, mode: EnPassantMode) {
    if let Some(square) = chess.ep_square(mode) {
        *hash ^= V::zobrist_for_en_passant_file(square.file());
    }
}

/// Moves the pieces of a move of `us`.
fn move_pieces<V: ZobristValue>(hash: &mut V, mv: Move, us: Color) {
    let mut turn = |square, piece| *hash ^= V::zobrist_for_piece(square, piece);
    match mv {
        Move::Normal { role, from, capture, to, promotion } => {
            turn(from, role.of(us));
            turn(to, promotion.unwrap_or(role).of(us));
            if let Some(capture) = capture {
                turn(to, capture.of(us.other()));
            }
        }
        Move::EnPassant { from, to } => {
            turn(from, us.pawn());
            turn(to, us.pawn());
            turn(Square::from_coords(to.file(), from.rank()), us.other().pawn());
        }
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            turn(king, us.king());
            turn(Square::from_coords(side.king_to_file(), king.rank()), us.king());
            turn(rook, us.rook());
            turn(Square::from_coords(side.rook_to_file(), rook.rank()), us.rook());
        }
        Move::Put { role, to } => turn(to, role.of(us)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shakmaty::zobrist::{Zobrist16, Zobrist64, Zobrist128};

    use crate::Position;

    fn play<V: ZobristValue + PartialEq + std::fmt::Debug>(
        mut chess: Chess,
        steps: &[prop::sample::Index],
        mode: EnPassantMode,
    ) {
        let mut hash: V = chess.zobrist_hash(mode);
        for step in steps {
            let legal = chess.legal_moves();
            if legal.is_empty() {
                break;
            }
            play_hashed(&mut chess, &mut hash, *step.get(&legal), mode);
            assert_eq!(hash, chess.zobrist_hash(mode), "{mode:?} {chess:?}");
        }
    }

    proptest! {
        #[test]
        fn the_hash_is_kept_through_any_game(
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
            let chess = Position::from_any_fen(start.as_bytes()).unwrap().standard().unwrap().clone();
            play::<Zobrist64>(chess.clone(), &steps, EnPassantMode::PseudoLegal);
            play::<Zobrist128>(chess.clone(), &steps, EnPassantMode::Legal);
            play::<Zobrist16>(chess, &steps, EnPassantMode::Always);
        }
    }
}
