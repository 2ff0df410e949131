//! The file's layout: entries of 16 bytes, big-endian, ascending by key. The field order, the move's bits and the
//! promotion numbers are those of the published description of PolyGlot's book format; the halves of the learn field
//! are what PolyGlot 2.0.4 writes there.

use std::fmt;

use shakmaty::{Move, Rank, Role, Square};

use crate::base::bytes;

/// Bytes of one entry: key 8, move 2, weight 2, learn 4.
pub const ENTRY_LEN: usize = 16;

/// Offset of the key in an entry, in bytes.
const KEY: u64 = 0;
/// Offset of the move.
const MOVE: u64 = 8;
/// Offset of the weight.
const WEIGHT: u64 = 10;
/// Offset of the learn field: games, then half-points, 16 bits each.
pub const LEARN: u64 = 12;

/// Bits 0 to 5 of a move: the square that it goes to; the six above them: the square that it comes from.
const SQUARE_BITS: u32 = 6;
/// The first of the three bits that hold the promotion.
const PROMOTION_SHIFT: u32 = 12;
/// The promotion pieces by their number in the book, 0 being none.
const PROMOTIONS: [Option<Role>; 5] =
    [None, Some(Role::Knight), Some(Role::Bishop), Some(Role::Rook), Some(Role::Queen)];

/// One entry of the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The position.
    pub key: u64,
    /// The move.
    pub mv: RawMove,
    /// The move's weight; 0 means never play.
    pub weight: u16,
    /// Learned games.
    pub games: u16,
    /// Learned half-points of the side that moved: 2 a win, 1 a draw.
    pub halfpoints: u16,
}

impl Entry {
    /// Reads an entry.
    pub fn from_bytes(bytes: &[u8; ENTRY_LEN]) -> Self {
        let u16_at = |at| bytes::u16_be(bytes, at).unwrap_or_default();
        // Read at once: who learns into the file meanwhile writes both halves at once.
        let learn = bytes::u32_be(bytes, LEARN).unwrap_or_default();
        Self {
            key: key_of(bytes),
            mv: RawMove(u16_at(MOVE)),
            weight: u16_at(WEIGHT),
            games: (learn >> 16) as u16,
            halfpoints: learn as u16,
        }
    }

    /// The entry as it stands in the file.
    pub fn to_bytes(&self) -> [u8; ENTRY_LEN] {
        let mut bytes = [0; ENTRY_LEN];
        let (key, rest) = bytes.split_at_mut(MOVE as usize);
        key.copy_from_slice(&self.key.to_be_bytes());
        let fields = [self.mv.0, self.weight, self.games, self.halfpoints];
        for (into, field) in rest.chunks_exact_mut(2).zip(fields) {
            into.copy_from_slice(&field.to_be_bytes());
        }
        bytes
    }

    /// Whether the learn field can be what PolyGlot writes: nobody wins more than two half-points a game.
    ///
    /// Other programs keep a score and a depth in these bytes, which mostly cannot.
    pub fn learn_is_plausible(&self) -> bool {
        u32::from(self.halfpoints) <= 2 * u32::from(self.games)
    }
}

/// The key alone, for searching.
pub fn key_of(bytes: &[u8; ENTRY_LEN]) -> u64 {
    bytes::u64_be(bytes, KEY).unwrap_or_default()
}

/// A move as the book writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawMove(pub u16);

impl RawMove {
    /// a1a1, which is no move and to be passed over.
    pub const NULL: Self = Self(0);

    /// A move from its squares; castling is the king taking its own rook. A king or a pawn as promotion is none.
    pub fn new(from: Square, to: Square, promotion: Option<Role>) -> Self {
        let number = PROMOTIONS.iter().position(|&role| role == promotion).unwrap_or_default() as u16;
        Self(number << PROMOTION_SHIFT | u16::from(u8::from(from)) << SQUARE_BITS | u16::from(u8::from(to)))
    }

    /// The code of a legal move; [`RawMove::NULL`] for a drop, which ordinary chess does not have.
    pub fn from_move(mv: Move) -> Self {
        match mv.from() {
            Some(from) => Self::new(from, mv.to(), mv.promotion()),
            None => Self::NULL,
        }
    }

    /// The square that it comes from.
    pub fn from(self) -> Square {
        Square::new(u32::from(self.0 >> SQUARE_BITS) % 64)
    }

    /// The square that it goes to.
    pub fn to(self) -> Square {
        Square::new(u32::from(self.0) % 64)
    }

    /// What the pawn becomes; `Err` where the number, or the bit above it, means nothing.
    #[allow(clippy::result_unit_err, reason = "RawMove::fault names the faults")]
    pub fn promotion(self) -> Result<Option<Role>, ()> {
        PROMOTIONS.get(usize::from(self.0 >> PROMOTION_SHIFT)).copied().ok_or(())
    }

    /// Why it can be no legal move of any position; `None` where it may be one of some.
    pub fn fault(self) -> Option<MoveFault> {
        let (from, to) = (self.from(), self.to());
        let (files, ranks) = (from.file().distance(to.file()), from.rank().distance(to.rank()));
        if self == Self::NULL {
            return Some(MoveFault::Null);
        }
        let Ok(promotion) = self.promotion() else { return Some(MoveFault::Code) };
        if from == to {
            return Some(MoveFault::Still);
        }
        let line = files == 0 || ranks == 0 || files == ranks;
        let jump = files + ranks == 3;
        if !line && !jump {
            return Some(MoveFault::Geometry);
        }
        let promotes = files <= 1
            && matches!(
                (from.rank(), to.rank()),
                (Rank::Seventh, Rank::Eighth) | (Rank::Second, Rank::First)
            );
        (promotion.is_some() && !promotes).then_some(MoveFault::Promotion)
    }
}

impl fmt::Display for RawMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.promotion() {
            Ok(promotion) => {
                write!(f, "{}{}", self.from(), self.to())?;
                promotion.map_or(Ok(()), |role| write!(f, "{}", role.char()))
            }
            Err(()) => write!(f, "0x{:04x}", self.0),
        }
    }
}

/// Why a move code can be no legal move of any position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveFault {
    /// a1a1: a placeholder that the format allows.
    Null,
    /// The promotion number is above 4, or the highest bit is set.
    Code,
    /// It ends where it starts.
    Still,
    /// No piece moves so.
    Geometry,
    /// It promotes on a square where no pawn can.
    Promotion,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use shakmaty::{Chess, Position};

    #[test]
    fn an_entry_is_read_field_by_field() {
        let bytes = [0x46, 0x3b, 0x96, 0x18, 0x16, 0x91, 0xfc, 0x9c, 0x03, 0x1c, 1, 2, 3, 4, 5, 6];
        let entry = Entry::from_bytes(&bytes);
        assert_eq!(entry.key, 0x463b_9618_1691_fc9c);
        assert_eq!(entry.mv.to_string(), "e2e4");
        assert_eq!((entry.weight, entry.games, entry.halfpoints), (0x0102, 0x0304, 0x0506));
        assert_eq!(entry.to_bytes(), bytes);
    }

    #[test]
    fn promotions_are_numbered_from_the_knight() {
        for (number, text) in [(0, "a7b8"), (1, "a7b8n"), (2, "a7b8b"), (3, "a7b8r"), (4, "a7b8q")] {
            let mv = RawMove(number << 12 | 48 << 6 | 57);
            assert_eq!(mv.to_string(), text);
            assert_eq!(mv.fault(), None);
            assert_eq!(RawMove::new(mv.from(), mv.to(), mv.promotion().unwrap()), mv);
        }
    }

    #[test]
    fn what_can_never_be_legal_has_a_fault() {
        let queen = Some(Role::Queen);
        for (mv, fault) in [
            (RawMove(0), MoveFault::Null),
            (RawMove(5 << 12 | 48 << 6 | 57), MoveFault::Code),
            (RawMove(0x8000 | 0x031c), MoveFault::Code),
            (RawMove::new(Square::E4, Square::E4, None), MoveFault::Still),
            (RawMove::new(Square::A1, Square::B4, None), MoveFault::Geometry),
            (RawMove::new(Square::E2, Square::E4, queen), MoveFault::Promotion),
            (RawMove::new(Square::A7, Square::H8, queen), MoveFault::Geometry),
            (RawMove::new(Square::E8, Square::E7, queen), MoveFault::Promotion),
        ] {
            assert_eq!(mv.fault(), Some(fault), "{mv}");
        }
        assert_eq!(RawMove::new(Square::E1, Square::A1, None).fault(), None);
    }

    proptest! {
        #[test]
        fn entries_go_through_bytes_unchanged(key: u64, mv: u16, weight: u16, games: u16, halfpoints: u16) {
            let entry = Entry { key, mv: RawMove(mv), weight, games, halfpoints };
            prop_assert_eq!(Entry::from_bytes(&entry.to_bytes()), entry);
        }

        #[test]
        fn no_legal_move_has_a_fault(steps in prop::collection::vec(any::<prop::sample::Index>(), 0..150)) {
            let mut position = Chess::default();
            for step in steps {
                let legal = position.legal_moves();
                if legal.is_empty() {
                    break;
                }
                for mv in &legal {
                    let raw = RawMove::new(mv.from().unwrap(), mv.to(), mv.promotion());
                    prop_assert_eq!(raw.fault(), None);
                }
                position.play_unchecked(*step.get(&legal));
            }
        }
    }
}
