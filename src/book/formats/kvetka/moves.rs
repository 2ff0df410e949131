//! Codes of moves: a piece by its number, and a step on a board whose edges are joined (docs/formats/kvetka.md, Moves).
#![allow(clippy::cast_possible_truncation, reason = "squares and codes have 8 bits")]
#![allow(clippy::indexing_slicing, reason = "tables are made at compile time")]

use shakmaty::{Chess, Move, Role};

use super::layout::{CASTLE_LONG, CASTLE_SHORT};
use crate::chess::normal::{Normal, Step};
use crate::chess::step_codes::StepCodes;

/// Files to the right and ranks up, each modulo 8.
type Steps = [(u8, u8)];

/// The steps of a pawn's four codes.
const PAWN: [(u8, u8); 4] = [(0, 1), (0, 2), (1, 1), (7, 1)];

/// The steps of a knight's eight codes.
const KNIGHT: [(u8, u8); 8] = [(1, 2), (7, 2), (2, 1), (6, 1), (2, 7), (6, 7), (1, 6), (7, 6)];

/// The steps of the king's eight codes.
const KING: [(u8, u8); 8] = [(0, 1), (1, 1), (7, 1), (1, 0), (7, 0), (0, 7), (1, 7), (7, 7)];

/// The steps of a rook's fourteen codes: up, then to the right.
const ROOK: [(u8, u8); 14] = {
    let mut steps = [(0, 0); 14];
    let mut at = 0;
    while at < 7 {
        steps[at] = (0, at as u8 + 1);
        steps[at + 7] = (at as u8 + 1, 0);
        at += 1;
    }
    steps
};

/// The steps of a bishop's fourteen codes: up to the right, then up to the left. The fourth step of both is the same, so
/// one of them is not a code.
const BISHOP: [(u8, u8); 14] = {
    let mut steps = [(0, 0); 14];
    let mut at = 0;
    while at < 7 {
        steps[at] = (at as u8 + 1, at as u8 + 1);
        if at != 3 {
            steps[at + 7] = (7 - at as u8, at as u8 + 1);
        }
        at += 1;
    }
    steps
};

/// Each kind of piece: how many have codes, the first code, and the steps of each; a queen has a rook's and a bishop's.
const GROUPS: [(Role, u8, u8, &[&Steps]); 6] = [
    (Role::Pawn, 8, 0x00, &[&PAWN]),
    (Role::Knight, 2, 0x20, &[&KNIGHT]),
    (Role::Bishop, 2, 0x30, &[&BISHOP]),
    (Role::Rook, 2, 0x4c, &[&ROOK]),
    (Role::Queen, 3, 0x68, &[&ROOK, &BISHOP]),
    (Role::King, 1, 0xbc, &[&KING]),
];

/// The codes of the format.
pub(super) static CODES: StepCodes = {
    let mut steps = [None; 256];
    let mut group = 0;
    while group < GROUPS.len() {
        let (role, count, mut code, lists) = GROUPS[group];
        let mut number = 0;
        while number < count {
            let mut list = 0;
            while list < lists.len() {
                let mut at = 0;
                while at < lists[list].len() {
                    let (right, up) = lists[list][at];
                    if right | up != 0 {
                        steps[code as usize] = Some(Step { role, number, right, up });
                    }
                    code += 1;
                    at += 1;
                }
                list += 1;
            }
            number += 1;
        }
        group += 1;
    }
    StepCodes::new(steps, CASTLE_SHORT, CASTLE_LONG)
};

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
            assert_eq!(CODES.step(code), Some(Step { role, number, right, up }), "0x{code:02x}");
        }
    }

    #[test]
    fn no_two_codes_mean_the_same() {
        let steps = (0..=255).filter_map(|code| CODES.step(code));
        let places = steps.map(|Step { role, number, right, up }| (role, number, right, up));
        assert_eq!(places.collect::<std::collections::HashSet<_>>().len(), 0xc4 - 5);
    }
}
