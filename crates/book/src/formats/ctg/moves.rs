//! Codes of moves: a piece by its number, and a step on a board whose edges are joined
//! (docs/formats/ctg.md, Move table).

use std::sync::LazyLock;

use shakmaty::{Chess, Move, Position as _, Role};

use tabiya_chess::normal::{Normal, PieceStep};
use tabiya_chess::step_codes::StepCodes;

use super::layout::{CASTLE_LONG, CASTLE_SHORT, UNSURE};

/// The codes (docs/formats/ctg.md, Move table): code, kind, number, files to the right, ranks up.
#[rustfmt::skip]
const STEPS: [(u8, Role, u8, u8, u8); 164] = [
    (0xec, Role::Pawn, 0, 0, 1), (0xdb, Role::Pawn, 0, 0, 2), (0x8b, Role::Pawn, 0, 1, 1), (0x0c, Role::Pawn, 0, 7, 1),
    (0x04, Role::Pawn, 1, 0, 1), (0x62, Role::Pawn, 1, 0, 2), (0x96, Role::Pawn, 1, 1, 1), (0xd1, Role::Pawn, 1, 7, 1),
    (0x55, Role::Pawn, 2, 0, 1), (0x9b, Role::Pawn, 2, 0, 2), (0x7c, Role::Pawn, 2, 1, 1), (0x27, Role::Pawn, 2, 7, 1),
    (0xcf, Role::Pawn, 3, 0, 1), (0xe6, Role::Pawn, 3, 0, 2), (0xeb, Role::Pawn, 3, 1, 1), (0x06, Role::Pawn, 3, 7, 1),
    (0xbb, Role::Pawn, 4, 0, 1), (0x5f, Role::Pawn, 4, 0, 2), (0x00, Role::Pawn, 4, 1, 1), (0xde, Role::Pawn, 4, 7, 1),
    (0xcb, Role::Pawn, 5, 0, 1), (0xb1, Role::Pawn, 5, 0, 2), (0x2d, Role::Pawn, 5, 1, 1), (0x82, Role::Pawn, 5, 7, 1),
    (0x18, Role::Pawn, 6, 0, 1), (0xc8, Role::Pawn, 6, 0, 2), (0x5c, Role::Pawn, 6, 1, 1), (0xc7, Role::Pawn, 6, 7, 1),
    (0xa3, Role::Pawn, 7, 0, 1), (0x4a, Role::Pawn, 7, 0, 2), (0x14, Role::Pawn, 7, 1, 1), (0x24, Role::Pawn, 7, 7, 1),
    (0x34, Role::Knight, 0, 1, 2), (0x85, Role::Knight, 0, 7, 2), (0x36, Role::Knight, 0, 2, 1), (0xf7, Role::Knight, 0, 6, 1),
    (0xe9, Role::Knight, 0, 2, 7), (0x0f, Role::Knight, 0, 6, 7), (0x8a, Role::Knight, 0, 1, 6), (0xda, Role::Knight, 0, 7, 6),
    (0x4c, Role::Knight, 1, 1, 2), (0xf3, Role::Knight, 1, 7, 2), (0xd2, Role::Knight, 1, 2, 1), (0xd3, Role::Knight, 1, 6, 1),
    (0xe0, Role::Knight, 1, 2, 7), (0x01, Role::Knight, 1, 6, 7), (0x2a, Role::Knight, 1, 1, 6), (0x30, Role::Knight, 1, 7, 6),
    (0x2e, Role::Bishop, 0, 1, 1), (0xc1, Role::Bishop, 0, 2, 2), (0x0d, Role::Bishop, 0, 3, 3), (0x6a, Role::Bishop, 0, 4, 4),
    (0x15, Role::Bishop, 0, 5, 5), (0x3a, Role::Bishop, 0, 6, 6), (0x12, Role::Bishop, 0, 7, 7), (0x1b, Role::Bishop, 0, 7, 1),
    (0xc3, Role::Bishop, 0, 6, 2), (0x66, Role::Bishop, 0, 5, 3), (0x3c, Role::Bishop, 0, 3, 5), (0xb2, Role::Bishop, 0, 2, 6),
    (0x26, Role::Bishop, 0, 1, 7), (0xf5, Role::Bishop, 1, 1, 1), (0xc2, Role::Bishop, 1, 2, 2), (0xb9, Role::Bishop, 1, 3, 3),
    (0x9f, Role::Bishop, 1, 4, 4), (0x32, Role::Bishop, 1, 5, 5), (0x09, Role::Bishop, 1, 6, 6), (0x1d, Role::Bishop, 1, 7, 7),
    (0x54, Role::Bishop, 1, 7, 1), (0x22, Role::Bishop, 1, 6, 2), (0xca, Role::Bishop, 1, 5, 3), (0xcc, Role::Bishop, 1, 3, 5),
    (0x79, Role::Bishop, 1, 2, 6), (0x72, Role::Bishop, 1, 1, 7), (0x81, Role::Rook, 0, 0, 1), (0xe8, Role::Rook, 0, 0, 2),
    (0x7a, Role::Rook, 0, 0, 3), (0x99, Role::Rook, 0, 0, 4), (0x87, Role::Rook, 0, 0, 5), (0x50, Role::Rook, 0, 0, 6),
    (0xe1, Role::Rook, 0, 0, 7), (0x7f, Role::Rook, 0, 1, 0), (0xcd, Role::Rook, 0, 2, 0), (0x98, Role::Rook, 0, 3, 0),
    (0xef, Role::Rook, 0, 4, 0), (0x6e, Role::Rook, 0, 5, 0), (0x52, Role::Rook, 0, 6, 0), (0x86, Role::Rook, 0, 7, 0),
    (0x7d, Role::Rook, 1, 0, 1), (0xf4, Role::Rook, 1, 0, 2), (0xe3, Role::Rook, 1, 0, 3), (0xc5, Role::Rook, 1, 0, 4),
    (0xa5, Role::Rook, 1, 0, 5), (0x7b, Role::Rook, 1, 0, 6), (0x69, Role::Rook, 1, 0, 7), (0xc4, Role::Rook, 1, 1, 0),
    (0xa9, Role::Rook, 1, 2, 0), (0x0e, Role::Rook, 1, 3, 0), (0xad, Role::Rook, 1, 4, 0), (0xb5, Role::Rook, 1, 5, 0),
    (0xd8, Role::Rook, 1, 6, 0), (0x21, Role::Rook, 1, 7, 0), (0x05, Role::Queen, 0, 0, 1), (0x9d, Role::Queen, 0, 0, 2),
    (0x94, Role::Queen, 0, 0, 3), (0x37, Role::Queen, 0, 0, 4), (0xb7, Role::Queen, 0, 0, 5), (0x9a, Role::Queen, 0, 0, 6),
    (0xfd, Role::Queen, 0, 0, 7), (0x2f, Role::Queen, 0, 1, 0), (0x74, Role::Queen, 0, 2, 0), (0x31, Role::Queen, 0, 3, 0),
    (0xe5, Role::Queen, 0, 4, 0), (0x39, Role::Queen, 0, 5, 0), (0x29, Role::Queen, 0, 6, 0), (0x8f, Role::Queen, 0, 7, 0),
    (0xf1, Role::Queen, 0, 1, 1), (0xa2, Role::Queen, 0, 2, 2), (0x45, Role::Queen, 0, 3, 3), (0xe7, Role::Queen, 0, 4, 4),
    (0x28, Role::Queen, 0, 5, 5), (0x61, Role::Queen, 0, 6, 6), (0xed, Role::Queen, 0, 7, 7), (0xd7, Role::Queen, 0, 7, 1),
    (0xd9, Role::Queen, 0, 6, 2), (0x7e, Role::Queen, 0, 5, 3), (0x4b, Role::Queen, 0, 3, 5), (0x80, Role::Queen, 0, 2, 6),
    (0x42, Role::Queen, 0, 1, 7), (0x4d, Role::Queen, 1, 0, 1), (0xbd, Role::Queen, 1, 0, 2), (0xa0, Role::Queen, 1, 0, 3),
    (0xb0, Role::Queen, 1, 0, 4), (0xc6, Role::Queen, 1, 0, 5), (0x1a, Role::Queen, 1, 0, 6), (0xc9, Role::Queen, 1, 0, 7),
    (0xf8, Role::Queen, 1, 1, 0), (0x03, Role::Queen, 1, 2, 0), (0xfa, Role::Queen, 1, 3, 0), (0x08, Role::Queen, 1, 4, 0),
    (0xbc, Role::Queen, 1, 5, 0), (0xf9, Role::Queen, 1, 6, 0), (0xf0, Role::Queen, 1, 7, 0), (0x92, Role::Queen, 1, 1, 1),
    (0xfb, Role::Queen, 1, 2, 2), (0xae, Role::Queen, 1, 3, 3), (0x38, Role::Queen, 1, 4, 4), (0x41, Role::Queen, 1, 5, 5),
    (0x23, Role::Queen, 1, 6, 6), (0x6f, Role::Queen, 1, 7, 7), (0xee, Role::Queen, 1, 7, 1), (0x8e, Role::Queen, 1, 6, 2),
    (0xfe, Role::Queen, 1, 5, 3), (0x3b, Role::Queen, 1, 3, 5), (0xab, Role::Queen, 1, 2, 6), (0x63, Role::Queen, 1, 1, 7),
    (0x13, Role::King, 0, 0, 1), (0x67, Role::King, 0, 1, 1), (0xdf, Role::King, 0, 7, 1), (0xbe, Role::King, 0, 1, 0),
    (0x97, Role::King, 0, 7, 0), (0x0a, Role::King, 0, 0, 7), (0x44, Role::King, 0, 1, 7), (0x8c, Role::King, 0, 7, 7),
];

/// The codes of the format.
pub(super) static CODES: LazyLock<StepCodes> = LazyLock::new(|| {
    let step = |(code, role, number, right, up)| (code, PieceStep { role, number, right, up });
    StepCodes::new(STEPS.into_iter().map(step), CASTLE_SHORT, CASTLE_LONG)
});

/// The code of a legal move in a position with this normal form. The format has none for third pieces of a kind, for
/// promotions to anything but a queen, and if the code would be read as another move.
pub fn code(mv: Move, normal: &Normal, chess: &Chess) -> Option<u8> {
    let code = CODES.code(mv, normal)?;
    (!UNSURE.contains(&code) || legal(code, normal, chess) == Some(mv)).then_some(code)
}

/// The legal move that a code means in a position with this normal form.
pub fn legal(code: u8, normal: &Normal, chess: &Chess) -> Option<Move> {
    if !UNSURE.contains(&code) {
        return CODES.legal(code, normal, chess);
    }
    let step = CODES.step(code)?;
    let (up, right) = (PieceStep { right: 0, up: 6, ..step }, PieceStep { right: 6, up: 0, ..step });
    let legal = |step: PieceStep| step.resolve(normal, chess).filter(|&mv| chess.is_legal(mv));
    legal(up).or_else(|| legal(right))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::{Position, Square};
    use tabiya_testing::played;

    use super::*;

    #[test]
    fn each_code_occurs_once_and_no_two_mean_the_same() {
        let known = (0..=255).filter(|&code| CODES.step(code).is_some()).count();
        assert_eq!(known, STEPS.len());
        for (at, (_, role, number, right, up)) in STEPS.iter().enumerate() {
            let mut others = STEPS.iter().skip(at + 1);
            assert!(
                others.all(|other| (&other.1, &other.2, &other.3, &other.4) != (role, number, right, up))
            );
            assert!(*right < 8 && *up < 8 && right + up > 0);
        }
        assert!(CODES.is_known(CASTLE_SHORT) && CODES.is_known(CASTLE_LONG) && !CODES.is_known(0x02));
    }

    /// Whether the format has a code for this legal move.
    fn has_code(mv: Move, normal: &Normal) -> bool {
        let Move::Normal { role, from, promotion, .. } = mv else { return true };
        let most = match role {
            Role::Pawn => 8,
            Role::King => 1,
            _ => 2,
        };
        let is_on_square = |number| {
            normal.nth(role, number).is_some_and(|(file, rank)| normal.frame.square(file, rank) == from)
        };
        promotion.is_none_or(|role| role == Role::Queen) && (0..most).any(is_on_square)
    }

    #[test]
    fn a_move_whose_code_is_read_as_another_is_not_written() {
        // The second queen can go six squares up and six to the right.
        let fen = b"8/5k2/8/8/8/8/1Q6/Q6K w - - 0 1";
        let position = tabiya_chess::Position::from_fen(fen, shakmaty::CastlingMode::Standard).unwrap();
        let (chess, normal) =
            (position.standard().unwrap(), Normal::from_chess(position.standard().unwrap()).unwrap());
        let queen =
            |to| Move::Normal { role: Role::Queen, from: Square::B2, capture: None, to, promotion: None };
        let (up, right) = (queen(Square::B8), queen(Square::H2));
        assert_eq!(code(up, &normal, chess), Some(0x1a));
        assert_eq!(code(right, &normal, chess), None);
    }

    proptest! {
        #[test]
        fn every_move_that_can_be_written_is_read_from_one_code(
            steps in prop::collection::vec(any::<prop::sample::Index>(), 0..150),
        ) {
            let chess = played(Chess::default(), &steps);
            let normal = Normal::from_chess(&chess).unwrap();
            let read: Vec<Move> = (0..=255).filter_map(|code| legal(code, &normal, &chess)).collect();
            for &mv in &chess.legal_moves() {
                let codes = read.iter().filter(|&&read| read == mv).count();
                // The second queen's step six to the right, where six up is legal too.
                let shadowed = codes == 0 && mv.role() == Role::Queen && {
                    let up = legal(UNSURE[0], &normal, &chess);
                    up.is_some_and(|up| up.from() == mv.from() && up.to() != mv.to())
                };
                prop_assert_eq!(codes > 0, has_code(mv, &normal) && !shadowed, "{:?}", mv);
                prop_assert!(codes <= 2, "{:?}", mv);
                let written = code(mv, &normal, &chess);
                prop_assert_eq!(written.is_some(), codes > 0, "{:?}", mv);
                prop_assert!(written.is_none_or(|code| legal(code, &normal, &chess) == Some(mv)), "{:?}", mv);
            }
            prop_assert!(read.iter().all(|&mv| chess.is_legal(mv)));
        }
    }
}
