//! Moves of the notation, found fast.
//!
//! shakmaty's own way collects candidates and looks for pins before it knows whether that matters. Nearly every move
//! of a game is made by the only piece that can go there, while no check is given and no line leads from that piece to
//! its king: such a one is found here, and shakmaty is asked for all others.

use shakmaty::san::{San, SanError};
use shakmaty::{Bitboard, Chess, Color, File, Move, Position as _, Rank, Role, Square, attacks};

/// The legal move that the notation means.
///
/// # Errors
/// When it means no legal move, or several.
///
/// ```
/// use shakmaty::{Chess, Square, san::San};
/// use tabiya::chess::move_of_san;
/// let start = Chess::default();
/// let mv = move_of_san(&start, San::from_ascii(b"Nf3").unwrap()).unwrap();
/// assert_eq!((mv.from(), mv.to()), (Some(Square::G1), Square::F3));
/// assert!(move_of_san(&start, San::from_ascii(b"Nf4").unwrap()).is_err());
/// ```
pub fn move_of_san(position: &Chess, san: San) -> Result<Move, SanError> {
    plain_move(position, san).map_or_else(|| san.to_move(position), Ok)
}

/// The move where it is a plain one.
fn plain_move(position: &Chess, san: San) -> Option<Move> {
    let San::Normal { role, file, rank, capture, to, promotion } = san else { return None };
    let board = position.board();
    let victim = board.role_at(to);
    if position.checkers().any() || capture != victim.is_some() || position.us().contains(to) {
        return None;
    }
    let from = match role {
        Role::Pawn => pawn(position, file, to, promotion)?,
        Role::King => return None,
        _ if promotion.is_some() => return None,
        _ => {
            let reach = attacks::attacks(to, role.of(position.turn()), board.occupied());
            let mut able = reach & position.our(role);
            if let Some(file) = file {
                able &= Bitboard::from_file(file);
            }
            if let Some(rank) = rank {
                able &= Bitboard::from_rank(rank);
            }
            able.single_square()?
        }
    };
    if rank.is_some_and(|rank| rank != from.rank()) {
        return None;
    }
    let king = board.king_of(position.turn())?;
    let free = attacks::ray(king, from).is_empty() || attacks::aligned(king, from, to);
    free.then_some(Move::Normal { role, from, capture: victim, to, promotion })
}

/// Where the pawn comes from that goes or captures there, but for captures in passing.
fn pawn(position: &Chess, file: Option<File>, to: Square, promotion: Option<Role>) -> Option<Square> {
    let (behind, last, fourth) = match position.turn() {
        Color::White => (-8, Rank::Eighth, Rank::Fourth),
        Color::Black => (8, Rank::First, Rank::Fifth),
    };
    let fits = match promotion {
        None => to.rank() != last,
        Some(role) => to.rank() == last && !matches!(role, Role::Pawn | Role::King),
    };
    if !fits {
        return None;
    }
    let pawns = position.our(Role::Pawn);
    let one = to.offset(behind)?;
    let from = if position.them().contains(to) {
        let from = Square::from_coords(file?, one.rank());
        (from.file().distance(to.file()) == 1).then_some(from)?
    } else if file.is_some_and(|file| file != to.file()) {
        return None;
    } else if to.rank() == fourth && !position.board().occupied().contains(one) {
        one.offset(behind)?
    } else {
        one
    };
    pawns.contains(from).then_some(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use proptest::prelude::*;
    use shakmaty::CastlingMode;

    /// Every move that the notation can write for these pieces and squares, legal or not.
    fn everything(to: Square) -> impl Iterator<Item = San> {
        let files = || std::iter::once(None).chain(File::ALL.map(Some));
        let ranks = || std::iter::once(None).chain(Rank::ALL.map(Some));
        let promotions = || std::iter::once(None).chain(Role::ALL.map(Some));
        Role::ALL.into_iter().flat_map(move |role| {
            files().flat_map(move |file| {
                ranks().flat_map(move |rank| {
                    promotions().flat_map(move |promotion| {
                        [false, true].map(|capture| San::Normal { role, file, rank, capture, to, promotion })
                    })
                })
            })
        })
    }

    fn as_shakmaty(position: &Chess) {
        for san in Square::ALL.into_iter().flat_map(everything) {
            assert_eq!(move_of_san(position, san), san.to_move(position), "{san} in {:?}", position.board());
        }
    }

    #[test]
    fn all_is_as_shakmaty_has_it_in_special_positions() {
        for fen in [
            "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
            "4k3/4r3/8/8/4N1b1/3P4/4K3/8 w - - 0 1",
            "1n1nk3/P1P5/8/8/8/8/p1p5/1N1NK3 b - - 0 1",
            "r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "7k/8/8/3N4/8/N3N3/8/4K2r w - - 0 1",
            "k2r4/8/3P4/8/3K4/3p4/8/3r4 w - - 0 1",
            "7k/8/8/3N4/8/N3N3/8/4K3 w - - 0 1",
        ] {
            as_shakmaty(Position::from_fen(fen.as_bytes(), CastlingMode::Standard).unwrap().chess());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4))]
        #[test]
        fn all_is_as_shakmaty_has_it(steps in prop::collection::vec(any::<prop::sample::Index>(), 0..120)) {
            let mut position = Chess::default();
            for (ply, step) in steps.iter().enumerate() {
                let legal = position.legal_moves();
                if legal.is_empty() {
                    break;
                }
                for &mv in &legal {
                    let san = San::from_move(&position, mv);
                    prop_assert_eq!(move_of_san(&position, san), Ok(mv));
                }
                if ply % 20 == 19 {
                    as_shakmaty(&position);
                }
                position.play_unchecked(*step.get(&legal));
            }
        }
    }
}
