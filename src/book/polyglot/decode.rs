//! What a book's move code means in a position.

use shakmaty::{CastlingSide, Chess, File, Move, Position as _, Role, Square};

use super::layout::RawMove;

/// The move that a code means in a position, or `None` where no piece of the side to move could be meant.
///
/// Its legality is still to be asked: [`shakmaty::Position::is_legal`]. Castling is read as the king taking its own
/// rook, in ordinary chess and in Chess960, and in the form of old books too: e1g1, where a king with the right to
/// castle stands on e1, for no king makes that step otherwise.
pub fn meant(raw: RawMove, chess: &Chess) -> Option<Move> {
    let (from, to) = (raw.from(), raw.to());
    let promotion = raw.promotion().ok()?;
    let role = chess.us().contains(from).then(|| chess.board().role_at(from)).flatten()?;
    if role == Role::King
        && promotion.is_none()
        && let Some(rook) = castling_rook(chess, from, to)
    {
        return Some(Move::Castle { king: from, rook });
    }
    let capture = chess.board().role_at(to);
    if role == Role::Pawn && capture.is_none() && from.file() != to.file() {
        return promotion.is_none().then_some(Move::EnPassant { from, to });
    }
    Some(Move::Normal { role, from, capture, to, promotion })
}

/// Whether a code that means this castling names the square that the king goes to instead of its rook.
pub fn is_old_castling(raw: RawMove, mv: Move) -> bool {
    matches!(mv, Move::Castle { rook, .. } if rook != raw.to())
}

/// The codes under which a book can hold a legal move: the usual one, and the old one of castling in ordinary chess,
/// else the usual one twice.
pub fn codes(mv: Move, chess: &Chess) -> [RawMove; 2] {
    let from = mv.from().unwrap_or(mv.to());
    let usual = RawMove::new(from, mv.to(), mv.promotion());
    let Move::Castle { king, rook } = mv else { return [usual; 2] };
    let file = if rook > king { File::G } else { File::C };
    let old = RawMove::new(king, Square::from_coords(file, king.rank()), None);
    [usual, if meant(old, chess) == Some(mv) { old } else { usual }]
}

/// The rook that a king's move from one square to another castles with.
fn castling_rook(chess: &Chess, from: Square, to: Square) -> Option<Square> {
    if chess.us().contains(to) {
        return chess.board().rooks().contains(to).then_some(to);
    }
    let side = match (from.file(), to.file()) {
        (File::E, File::G) => CastlingSide::KingSide,
        (File::E, File::C) => CastlingSide::QueenSide,
        _ => return None,
    };
    let rook = chess.castles().rook(chess.turn(), side)?;
    (from.rank() == rook.rank() && to.rank() == rook.rank()).then_some(rook)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use proptest::prelude::*;
    use shakmaty::CastlingMode;

    fn at(fen: &str, mode: CastlingMode) -> Chess {
        Position::from_fen(fen.as_bytes(), mode).unwrap().chess().clone()
    }

    #[test]
    fn a_move_has_the_codes_that_mean_it() {
        for (fen, mode) in [
            ("r3k2r/P7/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1", CastlingMode::Standard),
            ("5k2/p7/8/8/8/8/8/1R3KR1 w GB - 0 1", CastlingMode::Chess960),
            ("4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", CastlingMode::Chess960),
        ] {
            let chess = at(fen, mode);
            let mut castlings = 0;
            for mv in chess.legal_moves() {
                let [usual, old] = codes(mv, &chess);
                assert_eq!((meant(usual, &chess), meant(old, &chess)), (Some(mv), Some(mv)), "{fen} {mv:?}");
                castlings += usize::from(usual != old);
            }
            let ordinary = chess.board().king_of(chess.turn()) == Some(Square::E1);
            assert_eq!(castlings > 0, ordinary, "{fen}");
        }
    }

    fn legal(raw: RawMove, chess: &Chess) -> Option<Move> {
        meant(raw, chess).filter(|&mv| chess.is_legal(mv))
    }

    fn raw(from: Square, to: Square) -> RawMove {
        RawMove::new(from, to, None)
    }

    #[test]
    fn castling_is_read_in_both_forms() {
        let chess = at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", CastlingMode::Standard);
        for (to, rook) in [
            (Square::H1, Square::H1),
            (Square::G1, Square::H1),
            (Square::A1, Square::A1),
            (Square::C1, Square::A1),
        ] {
            let castling = Move::Castle { king: Square::E1, rook };
            assert_eq!(legal(raw(Square::E1, to), &chess), Some(castling));
            assert_eq!(is_old_castling(raw(Square::E1, to), castling), rook != to);
        }
        assert_eq!(legal(raw(Square::E8, Square::G8), &chess), None);
    }

    #[test]
    fn castling_in_chess960_is_the_king_taking_its_rook() {
        let chess = at("5k2/p7/8/8/8/8/8/1R3KR1 w GB - 0 1", CastlingMode::Chess960);
        let castling = Move::Castle { king: Square::F1, rook: Square::G1 };
        assert_eq!(legal(raw(Square::F1, Square::G1), &chess), Some(castling));
        let castling = Move::Castle { king: Square::F1, rook: Square::B1 };
        assert_eq!(legal(raw(Square::F1, Square::B1), &chess), Some(castling));
        assert_eq!(legal(raw(Square::F1, Square::C1), &chess), None);
    }

    #[test]
    fn a_king_step_is_no_castling_and_a_rook_on_e1_does_not_castle() {
        let chess = at("7k/8/8/8/8/8/8/R3RK2 w - - 0 1", CastlingMode::Standard);
        let step = legal(raw(Square::F1, Square::G1), &chess);
        assert!(matches!(step, Some(Move::Normal { role: Role::King, .. })));
        let rook = legal(raw(Square::E1, Square::C1), &chess);
        assert!(matches!(rook, Some(Move::Normal { role: Role::Rook, .. })));
        // A king beside its own rook without the right to castle.
        let chess = at("4k3/8/8/8/8/8/8/4K2R w - - 0 1", CastlingMode::Standard);
        assert_eq!(legal(raw(Square::E1, Square::H1), &chess), None);
        assert_eq!(legal(raw(Square::E1, Square::G1), &chess), None);
    }

    #[test]
    fn a_promotion_goes_with_promotions_only() {
        let chess = at("1n2k3/P7/8/8/8/8/4P3/4K3 w - - 0 1", CastlingMode::Standard);
        assert!(legal(RawMove::new(Square::A7, Square::B8, Some(Role::Rook)), &chess).is_some());
        assert!(legal(raw(Square::A7, Square::A8), &chess).is_none());
        assert!(legal(RawMove::new(Square::E2, Square::E4, Some(Role::Queen)), &chess).is_none());
        assert!(legal(RawMove::new(Square::E1, Square::D1, Some(Role::Queen)), &chess).is_none());
    }

    proptest! {
        /// Every legal move has a code, that code means it, and no code means a move that is not in the list.
        #[test]
        fn codes_mean_the_legal_moves_and_no_others(
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..120),
            chess960: bool,
            codes in prop::collection::vec(any::<u16>(), 0..200),
        ) {
            let start = "brnkqrnb/pppppppp/8/8/8/8/PPPPPPPP/BRNKQRNB w FBfb - 0 1";
            let mut chess = if chess960 { at(start, CastlingMode::Chess960) } else { Chess::default() };
            for step in steps {
                let moves = chess.legal_moves();
                if moves.is_empty() {
                    break;
                }
                chess.play_unchecked(*step.get(&moves));
            }
            let moves = chess.legal_moves();
            for &mv in &moves {
                let raw = RawMove::new(mv.from().unwrap(), mv.to(), mv.promotion());
                prop_assert_eq!(legal(raw, &chess), Some(mv));
            }
            for code in codes {
                if let Some(mv) = legal(RawMove(code), &chess) {
                    prop_assert!(moves.contains(&mv));
                }
            }
        }
    }
}
