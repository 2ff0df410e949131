//! The code in which ChessBase's and Kvetka's books write the squares of a board: short for what is frequent.
#![allow(clippy::cast_possible_truncation, reason = "the low word is wanted")]

use shakmaty::{Color, File, Piece, Rank, Role, Setup, Square};

use super::normal::Normal;

/// The code of a square and its length in bits, by the kind of piece: pawn, knight, bishop, rook, queen, king, each for
/// the side to move; the last bit is set for the other side. An empty square is one zero bit.
///
/// Source: docs/formats/ctg.md, Signature; docs/formats/kvetka.md, Key.
pub(crate) const PIECES: [(u32, u32); 6] =
    [(0b110, 3), (0b10010, 5), (0b10100, 5), (0b10110, 5), (0b100010, 6), (0b100000, 6)];

/// Writes bits, the highest of a byte first.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    words: [u64; 4],
    /// Bits so far, including those that did not fit.
    count: u32,
}

impl BitWriter {
    /// The squares of a position in their order.
    pub fn of_board(normal: &Normal) -> Self {
        let [pawns, knights, bishops, rooks, queens, kings] = normal.roles;
        let mut bits = Self::default();
        let mut next = 0;
        let mut rest = pawns | knights | bishops | rooks | queens | kings;
        while rest != 0 {
            let square = rest.trailing_zeros();
            rest &= rest - 1;
            bits.zeros(square - next);
            next = square + 1;
            let has = |set: u64| (set >> square & 1) as usize;
            let kind = has(knights) + 2 * has(bishops) + 3 * has(rooks) + 4 * has(queens) + 5 * has(kings);
            if let Some((code, len)) = PIECES.get(kind) {
                bits.push(code | u32::from(has(normal.us) == 0), *len);
            }
        }
        bits.zeros(64 - next);
        bits
    }

    /// Appends the last `len` bits of `value`, 1 to 32; its other bits must be zero.
    pub fn push(&mut self, value: u32, len: u32) {
        let (at, used) = ((self.count / 64) as usize, self.count % 64);
        // Shifted so that it ends where it should in the 128 bits of two words.
        let wide = u128::from(value) << (128 - used - len);
        if let Some(word) = self.words.get_mut(at) {
            *word |= (wide >> 64) as u64;
        }
        if let Some(word) = self.words.get_mut(at + 1) {
            *word |= wide as u64;
        }
        self.count += len;
    }

    pub fn zeros(&mut self, count: u32) {
        self.count += count;
    }

    /// How many bits there are; only the first 256 are kept.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The bytes, with zeros after the last bit.
    pub fn to_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(self.words) {
            *place = word.to_be_bytes();
        }
        bytes
    }
}

/// Reads bits from bytes, the highest of a byte first.
#[derive(Clone, Copy, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    count: usize,
}

impl<'a> BitReader<'a> {
    /// Reads from the first bit on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, count: 0 }
    }

    /// How many bits were read.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The next bit, 0 or 1; `None` at the end.
    pub fn bit(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.count / 8)?;
        let bit = byte >> (7 - self.count % 8) & 1;
        self.count += 1;
        Some(bit)
    }

    /// The next `count` bits as a number, no more than eight; `None` at the end.
    pub fn bits(&mut self, count: u32) -> Option<u8> {
        (0..count).try_fold(0, |value, _| Some(value << 1 | self.bit()?))
    }

    /// A board with White to move, and nothing else; `None` where the bits end too early, or are not the code of a piece.
    pub fn board(&mut self) -> Option<Setup> {
        let mut setup = Setup::empty();
        for at in 0..64 {
            if let Some(piece) = self.piece()? {
                let square = Square::from_coords(File::new(at / 8), Rank::new(at % 8));
                setup.board.set_piece_at(square, piece);
            }
        }
        Some(setup)
    }

    /// One square: a piece, or none; `None` at the end of the bits.
    fn piece(&mut self) -> Option<Option<Piece>> {
        let (mut code, mut len) = (0, 0);
        loop {
            code = code << 1 | u32::from(self.bit()?);
            len += 1;
            if (code, len) == (0, 1) {
                return Some(None);
            }
            let kind = PIECES.iter().position(|&piece| (code & !1, len) == piece);
            if let Some(role) = kind.and_then(|kind| Role::ALL.get(kind)) {
                return Some(Some(role.of(Color::from_white(code & 1 == 0))));
            }
            // No code is longer than six bits.
            if len >= 6 {
                return None;
            }
        }
    }
}
