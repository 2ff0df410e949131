//! The meaning of a byte of the compact encoding, after unscrambling.
//!
//! The order of the codes (docs/formats/cbh.md, Compact moves): null move, king, each piece with its steps, pawns, second
//! queens and third pieces, marks.
#![allow(clippy::cast_possible_truncation, reason = "a board has 64 squares")]
#![allow(clippy::indexing_slicing, reason = "the tables are computed at compile time")]

use shakmaty::{Color, Role};

/// The meaning of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The side passes.
    Null,
    /// The king castles to the side of the g file, or to that of the c file.
    Castle {
        /// Whether it is the g file.
        short: bool,
    },
    /// A piece goes so many files to the right and ranks up, both modulo 8.
    Piece {
        /// Its kind.
        role: Role,
        /// Which of its kind, from 0.
        number: u8,
        /// Files to the right.
        right: u8,
        /// Ranks up.
        up: u8,
    },
    /// The move is in the next two bytes.
    TwoBytes,
    /// Nothing; it does not count as a move.
    Nothing,
    /// The position is kept: an alternative to the next move follows later.
    Push,
    /// The line ends, and the last position that was kept returns.
    Pop,
}

/// The meaning of each code for a side, by [`Color`] as a number: steps of pawns are as their player sees them.
pub(crate) static CODES: [[Code; 256]; 2] = {
    let mut both = [[Code::Nothing; 256]; 2];
    both[Color::White as usize] = codes(PAWN);
    both[Color::Black as usize] = codes([turned(PAWN[0]), turned(PAWN[1]), turned(PAWN[2]), turned(PAWN[3])]);
    both
};

/// A step as the other player sees it.
const fn turned((right, up): (u8, u8)) -> (u8, u8) {
    ((8 - right) % 8, (8 - up) % 8)
}

/// The steps of a pawn: one square, two, a capture to the right, and one to the left.
const PAWN: [(u8, u8); 4] = [(0, 1), (0, 2), (1, 1), (7, 1)];

/// The steps of a king: all its neighbours clockwise from the one above.
const KING: [(u8, u8); 8] = [(0, 1), (1, 1), (1, 0), (1, 7), (0, 7), (7, 7), (7, 0), (7, 1)];

/// The steps of a rook.
const ROOK: [(u8, u8); 14] = lines([(0, 1), (1, 0)]);

/// The steps of a bishop.
const BISHOP: [(u8, u8); 14] = lines([(1, 1), (1, 7)]);

/// The steps of a knight.
const KNIGHT: [(u8, u8); 8] = [(2, 1), (1, 2), (7, 2), (6, 1), (6, 7), (7, 6), (1, 6), (2, 7)];

/// A table under construction.
struct Filled {
    codes: [Code; 256],
    len: usize,
}

impl Filled {
    const fn add(mut self, code: Code) -> Self {
        self.codes[self.len] = code;
        self.len += 1;
        self
    }

    const fn steps<const N: usize>(mut self, role: Role, number: u8, steps: [(u8, u8); N]) -> Self {
        let mut at = 0;
        while at < N {
            let (right, up) = steps[at];
            self = self.add(Code::Piece { role, number, right, up });
            at += 1;
        }
        self
    }

    const fn queen(self, number: u8) -> Self {
        self.steps(Role::Queen, number, ROOK).steps(Role::Queen, number, BISHOP)
    }
}

/// The steps along two lines: one to seven squares in each direction.
const fn lines(directions: [(u8, u8); 2]) -> [(u8, u8); 14] {
    let mut steps = [(0, 0); 14];
    let mut at = 0;
    while at < 14 {
        let ((right, up), far) = (directions[at / 7], at as u8 % 7 + 1);
        steps[at] = (right * far % 8, up * far % 8);
        at += 1;
    }
    steps
}

const fn codes(pawn: [(u8, u8); 4]) -> [Code; 256] {
    let mut table = Filled { codes: [Code::Nothing; 256], len: 0 }
        .add(Code::Null)
        .steps(Role::King, 0, KING)
        .add(Code::Castle { short: true })
        .add(Code::Castle { short: false })
        .queen(0)
        .steps(Role::Rook, 0, ROOK)
        .steps(Role::Rook, 1, ROOK)
        .steps(Role::Bishop, 0, BISHOP)
        .steps(Role::Bishop, 1, BISHOP)
        .steps(Role::Knight, 0, KNIGHT)
        .steps(Role::Knight, 1, KNIGHT);
    let mut number = 0;
    while number < 8 {
        table = table.steps(Role::Pawn, number, pawn);
        number += 1;
    }
    let mut codes = table
        .queen(1)
        .queen(2)
        .steps(Role::Rook, 2, ROOK)
        .steps(Role::Bishop, 2, BISHOP)
        .steps(Role::Knight, 2, KNIGHT)
        .add(Code::TwoBytes)
        .codes;
    codes[0xfe] = Code::Push;
    codes[0xff] = Code::Pop;
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_the_meaning_of_the_description() {
        let piece = |role, number, right, up| Code::Piece { role, number, right, up };
        for (code, meaning) in [
            (0x00, Code::Null),
            (0x01, piece(Role::King, 0, 0, 1)),
            (0x08, piece(Role::King, 0, 7, 1)),
            (0x09, Code::Castle { short: true }),
            (0x0a, Code::Castle { short: false }),
            (0x0b, piece(Role::Queen, 0, 0, 1)),
            (0x24, piece(Role::Queen, 0, 5, 3)),
            (0x27, piece(Role::Rook, 0, 0, 1)),
            (0x35, piece(Role::Rook, 1, 0, 1)),
            // From here on the numbers of the Russian text are one higher.
            (0x40, piece(Role::Rook, 1, 5, 0)),
            (0x43, piece(Role::Bishop, 0, 1, 1)),
            (0x51, piece(Role::Bishop, 1, 1, 1)),
            (0x5f, piece(Role::Knight, 0, 2, 1)),
            (0x67, piece(Role::Knight, 1, 2, 1)),
            (0x6f, piece(Role::Pawn, 0, 0, 1)),
            (0x70, piece(Role::Pawn, 0, 0, 2)),
            (0x8d, piece(Role::Pawn, 7, 1, 1)),
            (0x8e, piece(Role::Pawn, 7, 7, 1)),
            (0x8f, piece(Role::Queen, 1, 0, 1)),
            (0xab, piece(Role::Queen, 2, 0, 1)),
            (0xc7, piece(Role::Rook, 2, 0, 1)),
            (0xd5, piece(Role::Bishop, 2, 1, 1)),
            (0xea, piece(Role::Knight, 2, 2, 7)),
            (0xeb, Code::TwoBytes),
            (0xec, Code::Nothing),
            (0xfd, Code::Nothing),
            (0xfe, Code::Push),
            (0xff, Code::Pop),
        ] {
            assert_eq!(CODES[Color::White as usize][code], meaning, "{code:#04x}");
            let meaning = match meaning {
                Code::Piece { role: Role::Pawn, number, right, up } => {
                    piece(Role::Pawn, number, (8 - right) % 8, 8 - up)
                }
                other => other,
            };
            assert_eq!(CODES[Color::Black as usize][code], meaning, "{code:#04x}");
        }
    }
}
