//! The signature by which a CTG book knows a position, and back (docs/formats/ctg.md, Signature).
#![allow(clippy::cast_possible_truncation, reason = "a signature was found to be short enough")]

use tabiya_base::bytes::Parts as _;

use shakmaty::{Chess, File, Rank, Square};

use tabiya_chess::huffman::{BitReader, BitWriter};
use tabiya_chess::normal::{CASTLES, Normal, playable};

use super::layout::{CASTLING, EN_PASSANT, HASH, LENGTH_BITS, MAX_SIGNATURE};

/// The bytes by which a book knows a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    bytes: [u8; 1 + 32],
    len: usize,
}

impl Signature {
    /// The signature of a position. It has an en-passant file if a pawn is beside the pushed one, whether or not it may
    /// capture. `None` if the format has no signature for the position.
    ///
    /// ```
    /// use tabiya_book::ctg::Signature;
    /// use tabiya_chess::Position;
    /// let start = Signature::from_chess(Position::start().standard().unwrap()).unwrap();
    /// assert_eq!((start.bytes().len(), start.bytes()[0]), (22, 0x56));
    /// ```
    pub fn from_chess(chess: &Chess) -> Option<Self> {
        Self::of_normal(&Normal::from_chess(chess)?)
    }

    /// The signature of a position in the normal form; `None` if it has too many pieces.
    pub(crate) fn of_normal(normal: &Normal) -> Option<Self> {
        let mut bits = BitWriter::of_board(normal);
        let mut head = 0;
        let mut tail = 0;
        if normal.en_passant.is_some() {
            head |= EN_PASSANT;
            tail += 3;
        }
        if normal.castles != 0 {
            head |= CASTLING;
            tail += 4;
        }
        if tail == 0 {
            bits.push(0, 1);
        }
        bits.zeros((8 - bits.count() % 8 + 8 - tail) % 8);
        if let Some(file) = normal.en_passant {
            bits.push(file, 3);
        }
        if normal.castles != 0 {
            bits.push(normal.castles.into(), 4);
        }
        let len = 1 + bits.count().div_ceil(8) as usize;
        if len > MAX_SIGNATURE {
            return None;
        }
        let mut bytes = [0; 1 + 32];
        let (first, rest) = bytes.split_first_mut()?;
        *first = head | len as u8;
        rest.copy_from_slice(&bits.to_bytes());
        Some(Self { bytes, len })
    }

    /// The bytes as they are in a page.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.part(..self.len)
    }

    /// The hash for the index.
    pub fn hash(&self) -> u32 {
        hash(self.bytes())
    }
}

/// The hash of a signature: the sum of table words, each chosen by the sum of the half-bytes so far.
pub fn hash(signature: &[u8]) -> u32 {
    let (mut hash, mut sum) = (0_u32, 0_u32);
    for byte in signature {
        for step in [0x0f - (byte & 0x0f), 0x0f - (byte >> 4)] {
            sum = sum.wrapping_add(u32::from(step) * 4 + 1);
            hash = hash.wrapping_add(HASH.get(sum as usize % HASH.len()).copied().unwrap_or_default());
        }
    }
    hash
}

/// The position of a signature, with White to move.
///
/// # Errors
/// When it has none: why, as a clause.
pub fn decode(signature: &[u8]) -> Result<Chess, &'static str> {
    const BITS: &str = "these bits are not a position";
    let (head, rest) = signature.split_first().ok_or(BITS)?;
    let mut bits = BitReader::new(rest);
    let mut setup = bits.board().ok_or(BITS)?;
    // The rest is at the end of the last byte.
    let last = rest.last().copied().unwrap_or_default();
    let mut tail = 0;
    if head & CASTLING != 0 {
        tail += 4;
        for (bit, (_, _, corner)) in CASTLES.into_iter().enumerate() {
            if last & (8 >> bit) != 0 {
                setup.castling_rights.add(corner);
            }
        }
    }
    if head & EN_PASSANT != 0 {
        setup.ep_square = Some(Square::from_coords(File::new(u32::from(last >> tail) & 7), Rank::Sixth));
        tail += 3;
    }
    // Without both there is one bit of padding.
    if usize::from(head & LENGTH_BITS) != signature.len() || bits.count() + tail.max(1) > rest.len() * 8 {
        return Err(BITS);
    }
    playable(setup).ok_or("this position is not legal")
}
