//! A position that is kept for a while, in few bytes where they hold everything.

use std::sync::Arc;

use super::{Packed, Position, Variant};

/// A position and its number, in 32 bytes; what a variant needs more, pieces in hand, counted checks and the pawns of horde,
/// is kept beside.
#[derive(Clone, Debug)]
pub enum HeldPosition {
    /// A position of standard chess.
    Packed(Packed, u32),
    /// A position of another variant.
    Whole(Arc<Position>, u32),
}

impl HeldPosition {
    /// Keeps a position; `None` where it has more pieces than a game of standard chess.
    pub fn new(position: &Position, number: u32) -> Option<Self> {
        Self::with(position, number, Packed::new)
    }

    /// As [`HeldPosition::new`], with en passant only where it is legal, in standard chess.
    pub fn strict(position: &Position, number: u32) -> Option<Self> {
        Self::with(position, number, Packed::strict)
    }

    fn with(position: &Position, number: u32, pack: fn(&Position) -> Option<Packed>) -> Option<Self> {
        match position.variant() {
            Variant::Chess => pack(position).map(|packed| Self::Packed(packed, number)),
            _ => Some(Self::Whole(Arc::new(position.clone()), number)),
        }
    }

    /// The position. In standard chess its counters of moves are not those of a game.
    pub fn position(&self) -> Option<Position> {
        match self {
            Self::Packed(packed, _) => packed.unpack(),
            Self::Whole(position, _) => Some(position.as_ref().clone()),
        }
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        match self {
            Self::Packed(_, number) | Self::Whole(_, number) => *number,
        }
    }

    /// The packed position; `None` for variants.
    pub fn packed(&self) -> Option<Packed> {
        match self {
            Self::Packed(packed, _) => Some(*packed),
            Self::Whole(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_of_any_variant_is_kept_in_32_bytes() {
        assert_eq!(size_of::<HeldPosition>(), 32);
        for variant in Variant::ALL {
            let at = Position::start_of(variant);
            let held = HeldPosition::new(&at, 7).unwrap();
            assert_eq!(held.position().unwrap().fen(), at.fen());
            assert_eq!((held.number(), held.packed().is_some()), (7, variant == Variant::Chess));
        }
    }
}
