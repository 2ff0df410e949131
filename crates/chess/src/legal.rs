//! Whether one move is legal in standard chess, without a list of moves.

use shakmaty::{Bitboard, Chess, Color, Move, Position, Rank, Role, Square, attacks};

use super::san::is_safe;

/// Whether a move is legal, as [`Position::is_legal`] answers of standard chess: steps of one piece are tried on the
/// board, and the rest is asked of shakmaty.
#[inline]
pub(crate) fn is_legal(chess: &Chess, mv: Move) -> bool {
    let Move::Normal { role, from, capture, to, promotion } = mv else { return chess.is_legal(mv) };
    let (board, us) = (chess.board(), chess.turn());
    let steps = match role {
        Role::Pawn if capture.is_some() => attacks::pawn_attacks(us, from),
        Role::Pawn => pushes(us, from, board.occupied()),
        _ => attacks::attacks(from, role.of(us), board.occupied()),
    };
    board.piece_at(from) == Some(role.of(us))
        && board.role_at(to) == capture
        && (steps & !board.by_color(us)).contains(to)
        && promotes(role, to, promotion)
        && is_safe(chess, from, to)
}

/// The squares that a pawn may step to without a capture.
fn pushes(color: Color, from: Square, occupied: Bitboard) -> Bitboard {
    let ahead = color.fold_wb(8, -8);
    let free = |square: Option<Square>| square.filter(|&square| !occupied.contains(square));
    let one = free(from.offset(ahead));
    let starts = from.rank() == color.fold_wb(Rank::Second, Rank::Seventh);
    let two = one.filter(|_| starts).and_then(|one| free(one.offset(ahead)));
    one.into_iter().chain(two).collect()
}

/// Whether a piece becomes what it must on this square: a pawn on the last rank, nothing else.
fn promotes(role: Role, to: Square, promotion: Option<Role>) -> bool {
    let last = role == Role::Pawn && matches!(to.rank(), Rank::First | Rank::Eighth);
    match promotion {
        Some(promotion) => last && !matches!(promotion, Role::Pawn | Role::King),
        None => !last,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::CastlingMode;
    use tabiya_testing::played;

    use super::*;
    use crate::Position as Placed;

    /// The steps of every piece to every square, with the right and with wrong kinds, captures and promotions.
    fn steps(chess: &Chess) -> Vec<Move> {
        let board = chess.board();
        let mut all = Vec::new();
        for (from, piece) in board.iter() {
            for to in Square::ALL {
                for role in [piece.role, Role::Pawn, Role::King] {
                    for capture in [board.role_at(to), None, Some(Role::Rook)] {
                        for promotion in [None, Some(Role::Queen), Some(Role::Knight), Some(Role::King)] {
                            all.push(Move::Normal { role, from, capture, to, promotion });
                        }
                    }
                }
            }
        }
        all
    }

    fn compare(chess: &Chess) -> Result<(), TestCaseError> {
        let legal = chess.legal_moves();
        for mv in steps(chess).into_iter().chain(legal.clone()) {
            prop_assert_eq!(is_legal(chess, mv), legal.contains(&mv), "{:?} {:?}", mv, chess);
        }
        Ok(())
    }

    #[test]
    fn pins_checks_and_last_ranks_are_seen() {
        for fen in [
            "4k3/8/8/8/4r3/8/4B3/4K3 w - - 0 1",
            "4k3/4r3/8/8/7b/8/3P4/4K3 w - - 0 1",
            "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1",
            "r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R w KQkq - 0 1",
            "r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R b KQkq - 0 1",
            "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",
            "8/3k4/8/8/8/8/PP6/K6r w - - 0 1",
            "4k3/8/8/8/8/n7/P7/4K3 w - - 0 1",
        ] {
            let at = Placed::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap();
            compare(at.standard().unwrap()).unwrap();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_step_is_legal_where_shakmaty_has_it(
            choices in prop::collection::vec(any::<prop::sample::Index>(), 0..150),
        ) {
            compare(&played(Chess::default(), &choices))?;
        }
    }
}
