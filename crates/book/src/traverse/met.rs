//! The positions that a walk has met, by all that their rules need.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use shakmaty::Move;

use tabiya_chess::{MoveCode, Position};

use crate::MoveFacts;

/// Where keys do not tell positions apart: positions that are followed although another one of their key was met. This bounds memory
/// whatever a book holds, to about 30 MB of keys.
const MAX_OTHERS: usize = 1 << 20;

/// Keys of positions that play reaches are random numbers already, so they are their own hashes; what follows a key is mixed into it.
/// Keys that a file holds may be none: [`super::HeldKeys`].
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A set of keys.
pub type Keys = HashSet<u64, BuildHasherDefault<KeyHasher>>;

/// How a position is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// No position of its key was met before.
    First,
    /// Another position of its key was met: other pieces are in hand, or other checks are left.
    Other,
    /// It was met before, or too many others are followed already.
    Again,
}

/// The positions that a walk has met. Books find positions by keys; where these do not tell positions apart, as in crazyhouse and
/// three-check, other moves are legal in each position of a key, so each one is followed.
#[derive(Clone, Debug, Default)]
pub struct Met {
    keys: Keys,
    /// [`Position::whole_key`] of each, where keys do not tell positions apart.
    whole: Keys,
    /// The moves that were shown of each key, where keys do not tell positions apart.
    shown: Keys,
    is_cut: bool,
}

impl Met {
    /// Notes a position, and says how it is met.
    pub fn meet(&mut self, at: &Position) -> Meeting {
        let is_first = self.keys.insert(at.key());
        if at.is_known_by_key() {
            return if is_first { Meeting::First } else { Meeting::Again };
        }
        if is_first {
            self.whole.insert(at.whole_key());
            return Meeting::First;
        }
        if self.whole.len() - self.keys.len() >= MAX_OTHERS {
            self.is_cut |= !self.whole.contains(&at.whole_key());
            return Meeting::Again;
        }
        if self.whole.insert(at.whole_key()) { Meeting::Other } else { Meeting::Again }
    }

    /// Notes a position; returns whether it is to be followed.
    pub fn insert(&mut self, at: &Position) -> bool {
        self.meet(at) != Meeting::Again
    }

    /// Whether a position was met.
    pub fn contains(&self, at: &Position) -> bool {
        if at.is_known_by_key() {
            self.keys.contains(&at.key())
        } else {
            self.whole.contains(&at.whole_key())
        }
    }

    /// Whether the position after a legal move may be new, as far as its key shows it.
    pub fn may_be_new(&self, at: &Position, mv: Move) -> bool {
        !at.is_known_by_key() || !self.keys.contains(&at.key_after(mv))
    }

    /// The keys of the positions.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The keys of the positions.
    pub fn into_keys(self) -> Keys {
        self.keys
    }

    /// How many positions were met.
    pub fn len(&self) -> usize {
        self.keys.len().max(self.whole.len())
    }

    /// Whether none was met.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether some positions were not followed because there are too many of their keys.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Forgets all positions.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.whole.clear();
    }

    /// Leaves of a position's moves only those that were not shown for another position of its key, and notes them. Returns whether
    /// they are the first that are shown of the key.
    pub fn show(&mut self, at: &Position, moves: &mut Vec<MoveFacts>) -> bool {
        if at.is_known_by_key() || moves.is_empty() {
            return !moves.is_empty();
        }
        moves.retain(|facts| self.shown.insert(of_move(at.key(), MoveCode::from_move(facts.mv))));
        self.shown.insert(of_move(at.key(), MoveCode::NULL))
    }

    /// Whether a move was shown of a key; always, where keys tell positions apart.
    pub(super) fn has_shown(&self, key: u64, mv: MoveCode) -> bool {
        self.whole.is_empty() || self.shown.contains(&of_move(key, mv))
    }

    /// A set without positions that knows of the same moves that they were shown.
    pub(super) fn go_on(&self) -> Self {
        Self { shown: self.shown.clone(), ..Self::default() }
    }
}

/// The hash of a move of a key. The odd number spreads the bits of the move: 2^64 divided by the golden ratio.
fn of_move(key: u64, mv: MoveCode) -> u64 {
    key ^ (u64::from(mv.0) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use shakmaty::Position as _;
    use tabiya_chess::Variant;

    use super::*;

    #[test]
    fn positions_of_one_key_are_told_apart() {
        let at = |variant, fen: &str| Position::from_any_fen_of(variant, fen.as_bytes()).unwrap();
        let board = "rnbqkbnr/ppp1pppp/8/8/8/8/PPPP1PPP/RNBQKBNR";
        let hand = |hand: &str| at(Variant::Crazyhouse, &format!("{board}{hand} w KQkq - 0 3"));
        let checks = |left: &str| at(Variant::ThreeCheck, &format!("{board} w KQkq - {left} 0 3"));
        for [one, other] in [[hand("[Pp]"), hand("[PP]")], [checks("3+3"), checks("2+3")]] {
            let mut met = Met::default();
            let meetings = [&one, &other, &one, &other].map(|at| met.meet(at));
            assert_eq!(meetings, [Meeting::First, Meeting::Other, Meeting::Again, Meeting::Again]);
            assert_eq!((met.len(), met.keys().len(), met.is_cut()), (2, 1, false));
            assert!(met.contains(&one) && met.contains(&other));
            let moves = |at: &Position| -> Vec<MoveFacts> {
                at.chess().legal_moves().into_iter().map(|mv| MoveFacts::new(mv, 1)).collect()
            };
            let (mut first, mut again) = (moves(&one), moves(&one));
            assert!(met.show(&one, &mut first) && !first.is_empty());
            assert!(!met.show(&one, &mut again) && again.is_empty());
        }
    }
}
