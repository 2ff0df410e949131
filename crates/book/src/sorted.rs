//! Sorted tables that are looked up by key, without an index beside them.
//!
//! Keys of positions are spread evenly, so where one is follows from the key, which reads fewer places of a large table than a binary
//! search does. Whatever the keys are, a look-up reads no more than twice as many.

/// Guesses of where a key is before the search around it: the first is off by about the square root of the count of rows, the
/// second by the root of that.
const GUESSES: usize = 2;

/// How far from the last guess the search looks first, in rows.
const NEAR: usize = 8;

/// A table whose rows ascend by key. In one that is out of order look-ups may miss keys.
pub(crate) trait SortedTable {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// The key of a row, from 0; `None` after the last.
    fn key_at(&self, row: usize) -> Option<u64>;

    /// The number of the first row whose key is at least `key`, or the count of rows if all keys are lower. In a table that is out of
    /// order it is any number up to that count.
    fn lower_bound(&self, key: u64) -> usize {
        let guess = (1..GUESSES).fold(self.share(key), |at, _| self.nearer(at, key));
        self.lower_bound_near(guess, key)
    }

    /// The number of the first row of a key.
    fn first_of_key(&self, key: u64) -> Option<usize> {
        Some(self.lower_bound(key)).filter(|first| self.key_at(*first) == Some(key))
    }

    /// Appends [`SortedTable::first_of_key`] of each key. All are guessed before the first is looked for: of a large table the
    /// processor reads what the guesses need at once, rather than wait for each.
    fn first_of_keys(&self, keys: &[u64], out: &mut Vec<Option<usize>>) {
        let mut guesses: Vec<usize> = keys.iter().map(|key| self.share(*key)).collect();
        for _ in 1..GUESSES {
            guesses.iter_mut().zip(keys).for_each(|(at, key)| *at = self.nearer(*at, *key));
        }
        out.extend(guesses.into_iter().zip(keys).map(|(guess, &key)| {
            let first = self.lower_bound_near(guess, key);
            Some(first).filter(|first| self.key_at(*first) == Some(key))
        }));
    }

    /// As [`SortedTable::lower_bound`], from a guess of it on.
    fn lower_bound_near(&self, guess: usize, key: u64) -> usize {
        let is_below = |row: usize| self.key_at(row).is_some_and(|found| found < key);
        let (mut low, mut high) = (0, self.rows());
        let mut step = NEAR;
        let mut at = guess.min(high.saturating_sub(1));
        // Steps away from the guess, each twice as long, until the place is between two of them.
        if is_below(at) {
            while is_below(at) {
                (low, at) = (at + 1, at.saturating_add(step));
                step *= 2;
            }
            high = high.min(at);
        } else {
            while !is_below(at) && at > 0 {
                (high, at) = (at, at.saturating_sub(step));
                step *= 2;
            }
            (low, high) = if is_below(at) { (at + 1, high) } else { (0, 0) };
        }
        while low < high {
            let middle = low + (high - low) / 2;
            (low, high) = if is_below(middle) { (middle + 1, high) } else { (low, middle) };
        }
        low
    }

    /// Which of the rows would be at `part`, if that were a key and keys were spread evenly.
    #[expect(clippy::cast_possible_truncation, reason = "at most the count of rows")]
    fn share(&self, part: u64) -> usize {
        ((u128::from(part) * self.rows() as u128) >> u64::BITS) as usize
    }

    /// A better guess of where a key is; the same beyond the last row.
    fn nearer(&self, at: usize, key: u64) -> usize {
        let Some(found) = self.key_at(at) else { return at };
        let off = self.share(key.abs_diff(found));
        if found < key { at + off } else { at.saturating_sub(off) }
    }
}

/// A list of keys alone.
impl SortedTable for Vec<u64> {
    fn rows(&self) -> usize {
        self.len()
    }

    fn key_at(&self, row: usize) -> Option<u64> {
        self.get(row).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(64, 256)))]

        #[test]
        fn keys_are_found_as_by_a_binary_search(
            mut keys in prop::collection::vec(prop_oneof![0..20_u64, Just(u64::MAX), any::<u64>()], 0..200),
            absent: u64,
        ) {
            keys.sort_unstable();
            for key in keys.iter().copied().chain([absent, 0, u64::MAX]) {
                prop_assert_eq!(keys.lower_bound(key), keys.partition_point(|other| *other < key));
            }
        }

        #[test]
        fn keys_are_found_together_as_one_by_one(
            mut keys in prop::collection::vec(prop_oneof![0..20_u64, any::<u64>()], 0..200),
            absent: u64,
            is_sorted: bool,
        ) {
            let wanted = [&keys[..], &[absent, 0, u64::MAX]].concat();
            if is_sorted {
                keys.sort_unstable();
            }
            let mut found = Vec::new();
            keys.first_of_keys(&wanted, &mut found);
            prop_assert_eq!(&found, &wanted.iter().map(|key| keys.first_of_key(*key)).collect::<Vec<_>>());
            prop_assert!(found.iter().zip(&wanted).all(|(row, key)| row.is_none_or(|row| keys[row] == *key)));
        }
    }
}
