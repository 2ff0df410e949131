//! The encoding modes: how to read the bytes of a game's moves (docs/formats/cbh.md, Encoding modes).
#![allow(clippy::indexing_slicing, reason = "a table of 256 elements has one for each byte")]

use super::tables::{TABLES, Table};

/// How the moves of a game are written.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// The number that the game's first byte holds.
    pub number: u8,
    /// The permutation of the bytes.
    table: &'static Table,
    /// Whether the number of moves read is subtracted before the lookup in the table or after it.
    before: bool,
    /// Whether a move is one byte that names a piece and its step, or two bytes that name squares.
    pub compact: bool,
    /// Whether pieces are numbered from h8 down instead of from a1 up.
    pub reversed: bool,
    /// Whether it is Chess960.
    pub chess960: bool,
}

impl Mode {
    /// The mode of this number; `None` for those of other kinds of chess, of illegal positions, and unknown ones.
    pub fn of(number: u8) -> Option<Self> {
        let index = match number {
            0..=7 => number,
            10 | 11 => number - 2,
            _ => return None,
        };
        let table = TABLES.get(usize::from(index))?;
        let chess960 = number >= 10;
        let compact = chess960 || number.is_multiple_of(2);
        let reversed = matches!(number, 2 | 3 | 6 | 7 | 11);
        Some(Self { number, table, before: number < 4, compact, reversed, chess960 })
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

    /// The byte that means this after so many moves: the inverse of [`Mode::plain`].
    #[cfg(test)]
    pub(crate) fn hidden(&self, plain: u8, moves: u8) -> u8 {
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
    fn only_known_modes_are_read() {
        let numbers: Vec<u8> = (0..=63).filter(|&number| Mode::of(number).is_some()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 10, 11]);
    }
}
