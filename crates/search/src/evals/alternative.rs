//! What a search found that was not to choose some moves of its position.

use std::collections::BTreeMap;

use tabiya_base::check::check;
use tabiya_chess::{MoveCode, Packed};
use tabiya_uci::Score;

use super::evaluation::{Limit, number};

/// Bits of a limit's length after its power of two.
const FRACTION: u32 = 3;

/// The best move of a position apart from some others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The score for the side to move.
    pub score: Score,
    /// The move.
    pub best: MoveCode,
    /// Which moves it was not to choose, and what limited the search.
    pub(crate) without: u32,
    /// How long the search lasted: greater is longer.
    pub(crate) effort: u8,
}

/// Which moves a search is not to choose, and what limits it: the first bytes of the SHA-256 of the kind of the limit and the
/// moves in the order of their numbers.
pub(crate) fn without(moves: &[MoveCode], limit: Limit) -> u32 {
    let mut codes: Vec<u16> = moves.iter().map(|mv| mv.0).collect();
    codes.sort_unstable();
    codes.dedup();
    let kind = [limit.parts().0];
    let bytes: Vec<u8> = kind.into_iter().chain(codes.into_iter().flat_map(u16::to_be_bytes)).collect();
    u32::from_be_bytes(check(&bytes))
}

/// How long a search is, in a byte: a depth in plies; of nodes and milliseconds the power of two and the next three bits.
#[expect(clippy::cast_possible_truncation, reason = "limited before")]
pub(crate) fn effort(limit: Limit) -> u8 {
    match limit {
        Limit::Depth(depth) => depth.min(u8::MAX.into()) as u8,
        Limit::Nodes(length) | Limit::Movetime(length) => {
            let length = length.clamp(1, u32::MAX.into());
            let power = length.ilog2();
            let fraction = (length << FRACTION >> power) & ((1 << FRACTION) - 1);
            ((u64::from(power) << FRACTION) + fraction) as u8
        }
    }
}

impl Alternative {
    /// What a search with this limit found that was not to choose these moves.
    pub fn new(moves: &[MoveCode], limit: Limit, score: Score, best: MoveCode) -> Self {
        Self { score, best, without: without(moves, limit), effort: effort(limit) }
    }

    /// Whether a search with this limit need not be made.
    pub(crate) fn meets(&self, limit: Limit) -> bool {
        self.effort >= effort(limit)
    }

    /// Notes it, unless a longer search of the same position without the same moves is known.
    pub(crate) fn put(self, position: Packed, all: &mut BTreeMap<(Packed, u32), Self>) {
        let rank = |of: &Self| (of.effort, number(of.score), of.best.0);
        let known = all.entry((position, self.without)).or_insert(self);
        if rank(&self) > rank(known) {
            *known = self;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_searches_have_greater_efforts() {
        let efforts: Vec<u8> = [1, 2, 3, 4, 1000, 1100, 20_000, 640_000, u64::MAX]
            .map(|nodes| effort(Limit::Nodes(nodes)))
            .to_vec();
        assert!(efforts.is_sorted() && efforts[0] == 0 && efforts[8] == 255, "{efforts:?}");
        assert_eq!((efforts[1], efforts[2], efforts[3]), (8, 12, 16));
        assert_eq!(effort(Limit::Depth(20)), 20);
        let moves = [MoveCode(5), MoveCode(3)];
        let limit = Limit::Nodes(20);
        assert_eq!(without(&moves, limit), without(&[MoveCode(3), MoveCode(5), MoveCode(3)], limit));
        assert_ne!(without(&moves, limit), without(&moves, Limit::Depth(20)));
        assert_ne!(without(&moves, limit), without(&moves[..1], limit));
    }
}
