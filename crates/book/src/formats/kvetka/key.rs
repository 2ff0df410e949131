//! The 22 bytes by which a Kvetka book finds a position (docs/formats/kvetka.md, Key).

use shakmaty::{Chess, File, Rank, Square};

use tabiya_chess::huffman::{BitReader, BitWriter};
use tabiya_chess::normal::{CASTLES, Normal, playable};

use super::layout::KEY_LEN;

/// Bits of the en-passant file, and of the castling rights.
const TAIL_BITS: u32 = 4;

/// The key of a position, in the order of books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; KEY_LEN]);

impl Key {
    /// The key of a position; `None` if it has more pieces than 176 bits hold, or castling that ordinary chess does not
    /// have.
    ///
    /// ```
    /// use tabiya_book::kvetka::Key;
    /// use tabiya_chess::Position;
    /// let start = Key::from_chess(Position::start().standard().unwrap()).unwrap();
    /// // a1 has a rook (10110), a2 a pawn (110), the next four squares are empty, a7 has a black pawn (111).
    /// assert_eq!(start.0[..2], [0b1011_0110, 0b0000_1111]);
    /// ```
    pub fn from_chess(chess: &Chess) -> Option<Self> {
        Self::of_normal(&Normal::from_chess(chess)?)
    }

    /// The key of a position in the normal form; `None` if it has more pieces than 176 bits hold.
    pub(crate) fn of_normal(normal: &Normal) -> Option<Self> {
        let mut bits = BitWriter::of_board(normal);
        bits.push(normal.en_passant.map_or(0, |file| file + 1), TAIL_BITS);
        bits.push(normal.castles.into(), TAIL_BITS);
        if bits.count() as usize > 8 * KEY_LEN {
            return None;
        }
        bits.to_bytes().first_chunk().copied().map(Self)
    }

    /// Its position, with White to move.
    ///
    /// # Errors
    /// When it has none, or look-ups use another key for the position: why, as a clause.
    pub fn position(&self) -> Result<Chess, &'static str> {
        const BITS: &str = "these bits are not a position";
        let mut bits = BitReader::new(&self.0);
        let mut setup = bits.board().ok_or(BITS)?;
        let file = bits.bits(TAIL_BITS).ok_or(BITS)?;
        let castles = bits.bits(TAIL_BITS).ok_or(BITS)?;
        if file > 8 {
            return Err(BITS);
        }
        if let Some(file) = file.checked_sub(1) {
            setup.ep_square = Some(Square::from_coords(File::new(file.into()), Rank::Sixth));
        }
        for (bit, (_, _, corner)) in CASTLES.into_iter().enumerate() {
            if castles & (8 >> bit) != 0 {
                setup.castling_rights.add(corner);
            }
        }
        let chess = playable(setup).ok_or("this position is not legal")?;
        if Self::from_chess(&chess) == Some(*self) {
            Ok(chess)
        } else {
            Err("this position is not in its normal form, so look-ups do not find it")
        }
    }
}
