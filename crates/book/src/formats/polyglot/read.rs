//! The entries of a book, and those of one key.

use tabiya_base::bytes::Parts as _;
use tabiya_chess::{Position, variant_facts};

use super::entry::{PolyglotEntry, key_of};
use super::layout::ENTRY_LEN;
use crate::sorted::SortedTable;

/// Entries of one key that a look-up reads. No position has more than 218 legal moves, so only a damaged book has more.
/// The rest is ignored: a book of one key must not hold up a game.
pub const MAX_OF_ONE_KEY: usize = 1024;

/// The entries of a book, over its bytes.
///
/// ```
/// use tabiya_book::polyglot::PolyglotEntries;
/// assert_eq!(PolyglotEntries::new(&[0; 33]).len(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PolyglotEntries<'a> {
    entries: &'a [[u8; ENTRY_LEN]],
    /// Bytes after the last whole entry.
    pub trailing: usize,
}

impl<'a> PolyglotEntries<'a> {
    /// As many whole entries as the bytes hold.
    pub fn new(bytes: &'a [u8]) -> Self {
        let (entries, rest) = bytes.as_chunks();
        Self { entries, trailing: rest.len() }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.entries.is_empty()
    }

    /// At most `count` of them, from number `first` on.
    pub(super) fn some_from(self, first: usize, count: usize) -> Self {
        let end = self.len().min(first.saturating_add(count));
        Self { entries: self.entries.part(first..end), trailing: 0 }
    }

    /// Their keys.
    pub(super) fn keys(self) -> impl Iterator<Item = u64> + Clone + 'a {
        self.entries.iter().map(key_of)
    }

    /// The runs of one key.
    pub fn runs(self) -> impl Iterator<Item = Self> {
        let runs = self.entries.chunk_by(|a, b| key_of(a) == key_of(b));
        runs.map(|entries| Self { entries, trailing: 0 })
    }

    /// How many positions there are.
    pub fn positions(self) -> u64 {
        self.runs().count() as u64
    }

    /// The entry of this number, from 0.
    pub fn get(self, index: usize) -> Option<PolyglotEntry> {
        self.entries.get(index).map(PolyglotEntry::from_bytes)
    }

    /// All entries, in the order of the file.
    pub fn iter(self) -> impl ExactSizeIterator<Item = PolyglotEntry> + 'a {
        self.entries.iter().map(PolyglotEntry::from_bytes)
    }

    /// The entries of `key` in the order of the file, at most [`MAX_OF_ONE_KEY`]. In a book that is out of order
    /// some or all may be missed.
    pub fn find(self, key: u64) -> impl Iterator<Item = PolyglotEntry> + 'a {
        self.find_from(self.lower_bound(key), key)
    }

    /// The number of a position's first entry, and its key: mostly that of the position. Books of antichess may have castling rights
    /// in their keys; the first of these keys with entries counts.
    pub(crate) fn first_of(self, at: &Position) -> Option<(usize, u64)> {
        let first = |key: u64| self.first_of_key(key).map(|first| (first, key));
        first(at.key()).or_else(|| at.keys_with_castling().find_map(first))
    }

    /// The entries of a position, as [`PolyglotEntries::find`] has those of a key.
    pub(crate) fn find_at(self, at: &Position) -> impl Iterator<Item = PolyglotEntry> + 'a {
        let key = at.key();
        let first = self.lower_bound(key);
        let is_there = || self.entries.get(first).is_some_and(|entry| key_of(entry) == key);
        let (first, key) = if !variant_facts(at.variant()).has_common_kings || is_there() {
            (first, key)
        } else {
            self.first_of(at).unwrap_or((first, key))
        };
        self.find_from(first, key)
    }

    /// The entries from this number on that have the key of the first, as [`PolyglotEntries::find`] has those of a key.
    pub(crate) fn run_from(self, first: usize) -> impl Iterator<Item = PolyglotEntry> + 'a {
        self.find_from(first, self.entries.get(first).map(key_of).unwrap_or_default())
    }

    /// As [`PolyglotEntries::find`], if the number of the first one is known.
    pub fn find_from(self, first: usize, key: u64) -> impl Iterator<Item = PolyglotEntry> + 'a {
        let rest = self.entries.part(first..);
        rest.iter()
            .take(MAX_OF_ONE_KEY)
            .take_while(move |entry| key_of(entry) == key)
            .map(PolyglotEntry::from_bytes)
    }
}

impl SortedTable for PolyglotEntries<'_> {
    fn rows(&self) -> usize {
        self.entries.len()
    }

    fn key_at(&self, row: usize) -> Option<u64> {
        self.entries.get(row).map(key_of)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabiya_chess::MoveCode;

    use super::*;

    fn bytes(keys: &[u64]) -> Vec<u8> {
        let entry = |(index, &key): (usize, &u64)| {
            PolyglotEntry { key, mv: MoveCode(1), weight: index as u16, games: 0, halfpoints: 0 }.to_bytes()
        };
        keys.iter().enumerate().flat_map(entry).collect()
    }

    #[test]
    fn only_whole_entries_count() {
        for len in 0..50 {
            let bytes = vec![0; len];
            let entries = PolyglotEntries::new(&bytes);
            assert_eq!((entries.len(), entries.trailing), (len / 16, len % 16));
            assert_eq!(entries.is_empty(), len < 16);
            assert!(entries.get(len / 16).is_none());
        }
    }

    #[test]
    fn the_run_of_one_key_is_bounded() {
        let bytes = bytes(&vec![7; 5000]);
        let found: Vec<_> = PolyglotEntries::new(&bytes).find(7).collect();
        assert_eq!(found.len(), MAX_OF_ONE_KEY);
        assert_eq!(found[0].weight, 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(64, 256)))]

        #[test]
        fn a_sorted_books_entries_are_all_found_in_their_order(
            mut keys in prop::collection::vec(prop_oneof![0..20_u64, Just(u64::MAX), any::<u64>()], 0..200),
            absent: u64,
        ) {
            keys.sort_unstable();
            let bytes = bytes(&keys);
            let entries = PolyglotEntries::new(&bytes);
            for &key in keys.iter().chain([&absent, &0, &u64::MAX]) {
                let model: Vec<_> = entries.iter().filter(|entry| entry.key == key).collect();
                prop_assert_eq!(entries.find(key).collect::<Vec<_>>(), model);
            }
        }

        #[test]
        fn an_unsorted_book_gives_entries_of_the_key_or_none(
            keys in prop::collection::vec(0..20_u64, 0..200),
            key in 0..20_u64,
        ) {
            let bytes = bytes(&keys);
            prop_assert!(PolyglotEntries::new(&bytes).find(key).all(|entry| entry.key == key));
        }
    }
}
