//! Keys that files hold.

use super::KeyFilter;
use crate::sorted::SortedTable as _;

/// Keys that a file holds, 8 bytes each beside those of a [`KeyFilter`], which rejects most others at once. They are sorted, not hashed by
/// their own bits as the keys of positions that play reaches: whoever made the file may have chosen keys of which all hashes are equal.
#[derive(Clone, Debug, Default)]
pub struct HeldKeys {
    sorted: Vec<u64>,
    filter: KeyFilter,
}

impl From<Vec<u64>> for HeldKeys {
    fn from(mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self { filter: KeyFilter::new(keys.iter().copied()), sorted: keys }
    }
}

impl HeldKeys {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Whether a key is one of them.
    pub fn contains(&self, key: u64) -> bool {
        self.number(key).is_some()
    }

    /// The number of a key, from 0, in ascending order.
    pub fn number(&self, key: u64) -> Option<usize> {
        if self.filter.may_have(key) { self.sorted.first_of_key(key) } else { None }
    }

    /// Keeps those of some things whose keys are among these.
    pub fn retain<T>(&self, things: &mut Vec<T>, mut key: impl FnMut(&T) -> u64) {
        self.filter.retain(things, &mut key);
        things.retain(|thing| self.sorted.first_of_key(key(thing)).is_some());
    }
}
