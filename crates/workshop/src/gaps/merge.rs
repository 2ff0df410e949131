//! What reaches a position on several lines.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

use tabiya_book::traverse::KeyHasher;

use super::ReachedPosition;

/// Positions by [`tabiya_chess::Position::whole_key`].
pub(super) type ByKey<T> = HashMap<u64, T, BuildHasherDefault<KeyHasher>>;

/// Adds what reaches a position to what is known of it.
pub(super) fn add(all: &mut ByKey<ReachedPosition>, key: u64, other: ReachedPosition) {
    match all.entry(key) {
        Entry::Vacant(place) => _ = place.insert(other),
        Entry::Occupied(mut place) => {
            let known = place.get_mut();
            known.share += other.share;
            known.games = known.games.zip(other.games).map(|(one, other)| one.saturating_add(other));
            // Of equally probable lines the first counts.
            if other.best > known.best {
                (known.before, known.best, known.ply) = (other.before, other.best, other.ply);
            }
        }
    }
}
