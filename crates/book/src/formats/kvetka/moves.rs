//! Codes of moves: a piece by its number, and a step on a board whose edges are joined (docs/formats/kvetka.md, Moves).

use std::sync::LazyLock;

use shakmaty::{Chess, Move, Role};

use tabiya_chess::normal::{Normal, PieceStep};
use tabiya_chess::step_codes::StepCodes;

use super::layout::{CASTLE_LONG, CASTLE_SHORT};

/// No step: files to the right and ranks up, each modulo 8, as in all steps.
const NO_STEP: (u8, u8) = (0, 0);

/// The steps of a pawn's four codes.
const PAWN: [(u8, u8); 4] = [(0, 1), (0, 2), (1, 1), (7, 1)];

/// The steps of a knight's eight codes.
const KNIGHT: [(u8, u8); 8] = [(1, 2), (7, 2), (2, 1), (6, 1), (2, 7), (6, 7), (1, 6), (7, 6)];

/// The steps of the king's eight codes.
const KING: [(u8, u8); 8] = [(0, 1), (1, 1), (7, 1), (1, 0), (7, 0), (0, 7), (1, 7), (7, 7)];

/// The codes of the format.
pub(super) static CODES: LazyLock<StepCodes> = LazyLock::new(|| {
    // A rook goes up, then to the right.
    let rook: Vec<_> = (1..8).map(|up| (0, up)).chain((1..8).map(|right| (right, 0))).collect();
    // A bishop goes up to the right, then up to the left. The fourth step of both is the same, so one of them is not a code.
    let left = (1..8).map(|up| if up == 4 { NO_STEP } else { (8 - up, up) });
    let bishop: Vec<_> = (1..8).map(|up| (up, up)).chain(left).collect();
    let queen = [&rook[..], &bishop[..]].concat();
    // Each kind of piece: how many have codes, the first code, and the steps of each.
    let groups = [
        (Role::Pawn, 8, 0x00, &PAWN[..]),
        (Role::Knight, 2, 0x20, &KNIGHT),
        (Role::Bishop, 2, 0x30, &bishop),
        (Role::Rook, 2, 0x4c, &rook),
        (Role::Queen, 3, 0x68, &queen),
        (Role::King, 1, 0xbc, &KING),
    ];
    let known = groups.into_iter().flat_map(|(role, count, first, steps)| {
        let pieces = (0..count).flat_map(move |number| steps.iter().map(move |step| (number, *step)));
        let codes = (first..).zip(pieces).filter(|(_, (_, step))| *step != NO_STEP);
        codes.map(move |(code, (number, (right, up)))| (code, PieceStep { role, number, right, up }))
    });
    StepCodes::new(known, CASTLE_SHORT, CASTLE_LONG)
});

/// The legal move of a code in a position and its normal form.
pub fn legal(code: u8, normal: &Normal, chess: &Chess) -> Option<Move> {
    CODES.legal(code, normal, chess)
}

/// The code of a legal move in the position of a normal form; `None` for a promotion to anything but a queen, and for a
/// move of a fourth queen or of a third rook, bishop or knight.
pub fn code(mv: Move, normal: &Normal) -> Option<u8> {
    CODES.code(mv, normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_those_of_the_description() {
        let known: Vec<u8> = (0..=255).filter(|&code| CODES.is_known(code)).collect();
        let gaps = [0x3a, 0x48, 0x80, 0x9c, 0xb8];
        assert!(known.iter().copied().eq((0..=0xc5).filter(|code| !gaps.contains(code))));
        for (code, role, number, right, up) in [
            (0x01, Role::Pawn, 0, 0, 2),
            (0x0f, Role::Pawn, 3, 7, 1),
            (0x1e, Role::Pawn, 7, 1, 1),
            (0x23, Role::Knight, 0, 6, 1),
            (0x2f, Role::Knight, 1, 7, 6),
            (0x36, Role::Bishop, 0, 7, 7),
            (0x39, Role::Bishop, 0, 5, 3),
            (0x3b, Role::Bishop, 0, 3, 5),
            (0x4b, Role::Bishop, 1, 1, 7),
            (0x52, Role::Rook, 0, 0, 7),
            (0x53, Role::Rook, 0, 1, 0),
            (0x67, Role::Rook, 1, 7, 0),
            (0x68, Role::Queen, 0, 0, 1),
            (0x7f, Role::Queen, 0, 5, 3),
            (0x84, Role::Queen, 1, 0, 1),
            (0x9f, Role::Queen, 1, 1, 7),
            (0xad, Role::Queen, 2, 7, 0),
            (0xb7, Role::Queen, 2, 5, 3),
            (0xbb, Role::Queen, 2, 1, 7),
            (0xbc, Role::King, 0, 0, 1),
            (0xc3, Role::King, 0, 7, 7),
        ] {
            assert_eq!(CODES.step(code), Some(PieceStep { role, number, right, up }), "0x{code:02x}");
        }
    }

    #[test]
    fn no_two_codes_mean_the_same() {
        let steps = (0..=255).filter_map(|code| CODES.step(code));
        let places = steps.map(|PieceStep { role, number, right, up }| (role, number, right, up));
        assert_eq!(places.collect::<std::collections::HashSet<_>>().len(), 0xc4 - 5);
    }
}
