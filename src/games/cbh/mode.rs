//! The encoding modes: how the bytes of a game's moves are to be read (docs/formats/cbh.md, Encoding modes).
#![allow(clippy::indexing_slicing, reason = "a table of 256 elements has one for each byte")]

use super::tables::{
    MODE_0, MODE_1, MODE_2, MODE_3, MODE_4, MODE_5, MODE_6, MODE_7, MODE_10, MODE_11, Table,
};

/// The bits of a game's first byte that hold its mode (docs/formats/cbh.md, Game).
pub const MODE_BITS: u8 = 0x3f;

/// How the moves of a game are written.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// The number that the game's first byte holds.
    pub number: u8,
    /// The permutation of the bytes.
    table: &'static Table,
    /// Whether the number of moves read is taken off before the table is asked, or after it.
    before: bool,
    /// Whether a move is one byte that names a piece and where it goes, or two that name squares.
    pub compact: bool,
    /// Whether pieces are numbered from h8 down instead of from a1 up.
    pub reversed: bool,
    /// Whether it is Chess960.
    pub chess960: bool,
}

impl Mode {
    /// The mode of this number; `None` for those of other kinds of chess, of illegal positions, and unknown ones.
    pub const fn of(number: u8) -> Option<Self> {
        let (table, compact) = match number {
            0 => (&MODE_0, true),
            1 => (&MODE_1, false),
            2 => (&MODE_2, true),
            3 => (&MODE_3, false),
            4 => (&MODE_4, true),
            5 => (&MODE_5, false),
            6 => (&MODE_6, true),
            7 => (&MODE_7, false),
            10 => (&MODE_10, true),
            11 => (&MODE_11, true),
            _ => return None,
        };
        let reversed = matches!(number, 2 | 3 | 6 | 7 | 11);
        Some(Self { number, table, before: number < 4, compact, reversed, chess960: number >= 10 })
    }

    /// What a byte means after so many moves, modulo 256.
    #[inline]
    pub const fn plain(&self, byte: u8, moves: u8) -> u8 {
        if self.before {
            self.table[byte.wrapping_sub(moves) as usize]
        } else {
            self.table[byte as usize].wrapping_sub(moves)
        }
    }

    /// The byte that means this after so many moves: what [`Mode::plain`] undoes.
    pub fn hidden(&self, plain: u8, moves: u8) -> u8 {
        (0..=u8::MAX).find(|&byte| self.plain(byte, moves) == plain).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_a_permutation() {
        for mode in (0..=63).filter_map(Mode::of) {
            for moves in [0, 1, 200, 255] {
                let mut seen = [false; 256];
                (0..=u8::MAX).for_each(|byte| seen[usize::from(mode.plain(byte, moves))] = true);
                assert!(seen.iter().all(|&seen| seen), "mode {}", mode.number);
                for plain in 0..=u8::MAX {
                    assert_eq!(mode.plain(mode.hidden(plain, moves), moves), plain);
                }
            }
        }
    }

    #[test]
    fn the_modes_are_those_that_can_be_read() {
        let numbers: Vec<u8> = (0..=63).filter(|&number| Mode::of(number).is_some()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 10, 11]);
    }
}
