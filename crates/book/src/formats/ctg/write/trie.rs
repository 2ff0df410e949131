//! Which entries share a page: the trie that V7-Unix `dbm` would have grown, and its two files.
//!
//! dbm splits a page that is too small for its entries by the next bit of their hashes, from the lowest bit on. Entries are
//! never deleted, so the final splits do not depend on the order of entries: a node is split exactly if the entries under
//! it do not fit into one page. Entries in the order of their hashes, the lowest bit first, come page by page; the end of
//! a page is known from the entries that fit into it and one more.
#![allow(
    clippy::cast_possible_truncation,
    reason = "page numbers have 32 bits, and nodes are not deeper than DEEPEST"
)]

use super::super::layout::{
    CTB_HEADER, CTB_START, CTO_HEADER, CTO_START, DEEPEST, NO_PAGE, NUMBER_LEN, PAGE_HEADER, PAGE_LEN, SPARE,
};

/// Bytes of a page for entries.
pub(crate) const ROOM: usize = PAGE_LEN as usize - PAGE_HEADER;

/// An entry without a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrieEntry {
    /// Its hash, the lowest bit first, so entries under one node follow each other.
    pub order: u32,
    /// Bytes of the entry.
    pub len: usize,
}

/// The index to the pages of a book, as they are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trie {
    deepest: u32,
    /// An entry of the page before.
    last: Option<u32>,
    /// How many pages there are.
    pub pages: u32,
    /// A page number for each node up to the last leaf.
    numbers: Vec<u32>,
    bitmap: Vec<u8>,
}

/// A page: how many of the next entries are in it, and which others have no room anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Entries in the page.
    pub entries: usize,
    /// An entry of it, and how many of its first bits all entries under its node share.
    order: u32,
    level: u32,
}

impl Leaf {
    /// Whether an entry belongs under the page's node.
    pub fn has(&self, order: u32) -> bool {
        alike(self.order, order) >= self.level
    }
}

/// How many of their first bits two orders share.
fn alike(one: u32, other: u32) -> u32 {
    (one ^ other).leading_zeros()
}

impl Trie {
    /// For entries of this many bytes in total.
    pub fn new(total: u64) -> Self {
        let deepest = ((total / ROOM as u64).max(1).ilog2() + SPARE).min(DEEPEST);
        Self { deepest, last: None, pages: 0, numbers: vec![NO_PAGE], bitmap: Vec::new() }
    }

    /// Makes a page of the next entries. `next` are those that fit into one page and one more, or all that are left;
    /// there are no more entries under the node of the page before.
    pub fn page(&mut self, next: impl Iterator<Item = TrieEntry> + Clone) -> Leaf {
        let order = next.clone().next().map_or(0, |item| item.order);
        let ends = next.clone().scan(0, |end, item| {
            *end += item.len;
            Some(*end)
        });
        let in_room = ends.take_while(|end| *end <= ROOM).count();
        // The nodes above have entries of the page before, so they are split.
        let mut level = self.last.map_or(0, |last| alike(last, order) + 1);
        let under = |level: u32| next.clone().take_while(|item| alike(item.order, order) >= level).count();
        while under(level) > in_room && level < self.deepest {
            self.split(node(order, level), level);
            level += 1;
        }
        let entries = under(level).min(in_room);
        if let Some(place) = self.numbers.get_mut(node(order, level)).filter(|_| entries > 0) {
            *place = self.pages;
            self.pages += 1;
        }
        self.last = Some(order);
        Leaf { entries, order, level }
    }

    fn split(&mut self, number: usize, level: u32) {
        let at = number / 8;
        if self.bitmap.len() <= at {
            self.bitmap.resize(at + 1, 0);
        }
        if let Some(byte) = self.bitmap.get_mut(at) {
            *byte |= 1 << (number % 8);
        }
        // Nodes of the next level: the same low bits, and the next one clear or set.
        let high = number + (2 << level);
        if self.numbers.len() <= high {
            self.numbers.resize(high + 1, NO_PAGE);
        }
    }

    /// The lower bound: the number of the bitmap's first byte that is not all ones, in bits.
    fn low(&self) -> u32 {
        self.bitmap.iter().take_while(|byte| **byte == 0xff).count() as u32 * 8
    }

    pub fn cto(&self) -> Vec<u8> {
        let mut file = Vec::with_capacity(CTO_HEADER as usize + self.numbers.len() * NUMBER_LEN as usize);
        file.extend(CTO_START);
        file.extend((self.numbers.len() as u32).to_be_bytes());
        file.extend([0; 4]);
        file.extend(self.low().to_be_bytes());
        file.extend(self.numbers.iter().flat_map(|number| number.to_be_bytes()));
        file
    }

    pub fn ctb(&self) -> Vec<u8> {
        let mut file = Vec::with_capacity(CTB_HEADER as usize + self.bitmap.len());
        file.extend(CTB_START);
        file.extend(self.low().to_be_bytes());
        file.extend((self.bitmap.len() as u32 * 8).to_be_bytes());
        file.extend(&self.bitmap);
        file
    }
}

/// The number of an entry's node at a level: the low bits of its hash, plus as many ones.
fn node(order: u32, level: u32) -> usize {
    let ones = (1_u64 << level) - 1;
    ((u64::from(order.reverse_bits()) & ones) + ones) as usize
}

#[cfg(test)]
mod tests {
    use super::super::super::read::index::CtgIndex;
    use super::*;
    use proptest::prelude::*;
    use std::ops::Range;

    /// The pages of a book, and how many entries had no room.
    struct Placed {
        trie: Trie,
        pages: Vec<Range<usize>>,
        left_out: u64,
    }

    impl Placed {
        fn cto(&self) -> Vec<u8> {
            self.trie.cto()
        }

        fn ctb(&self) -> Vec<u8> {
            self.trie.ctb()
        }
    }

    /// Places hashes, each an entry of this length.
    fn placed(hashes: &mut [u32], len: usize) -> Placed {
        hashes.sort_unstable_by_key(|hash| hash.reverse_bits());
        let items: Vec<_> = hashes.iter().map(|hash| TrieEntry { order: hash.reverse_bits(), len }).collect();
        let mut placed =
            Placed { trie: Trie::new((len * items.len()) as u64), pages: Vec::new(), left_out: 0 };
        let mut at = 0;
        while at < items.len() {
            let leaf = placed.trie.page(items[at..].iter().take(ROOM / len + 1).copied());
            placed.pages.push(at..at + leaf.entries);
            at += leaf.entries;
            while items.get(at).is_some_and(|item| leaf.has(item.order)) {
                placed.left_out += 1;
                at += 1;
            }
        }
        assert_eq!(placed.pages.len(), placed.trie.pages as usize);
        placed
    }

    /// dbm itself: entries come one by one, and a page without room for one more is split until it has.
    fn grown(hashes: &[u32], len: usize) -> Vec<(u64, Vec<u32>)> {
        let mut leaves: Vec<(u64, u32, Vec<u32>)> = vec![(0, 0, vec![])];
        for &hash in hashes {
            loop {
                let (number, level, held) = leaves
                    .iter_mut()
                    .find(|(number, level, _)| {
                        let mask = (1_u64 << level) - 1;
                        (u64::from(hash) & mask) + mask == *number
                    })
                    .unwrap();
                if (held.len() + 1) * len <= ROOM {
                    held.push(hash);
                    break;
                }
                let (number, level, held) = (*number, *level, std::mem::take(held));
                leaves.retain(|leaf| leaf.0 != number);
                for bit in [0_u32, 1] {
                    let half = held.iter().copied().filter(|hash| hash >> level & 1 == bit).collect();
                    leaves.push((number + (1 << level << bit), level + 1, half));
                }
            }
        }
        let mut leaves: Vec<_> = leaves.into_iter().map(|(number, _, held)| (number, held)).collect();
        leaves.sort_unstable();
        leaves
    }

    #[test]
    fn nothing_has_one_leaf_and_no_page() {
        let trie = placed(&mut [], 1);
        assert_eq!((trie.pages.len(), trie.cto().len(), trie.ctb().len()), (0, 20, 12));
        assert_eq!(trie.cto()[16..], [0xff; 4]);
        let one = placed(&mut [7, 9], ROOM / 2);
        assert_eq!((one.pages.len(), one.pages.first(), &one.cto()[16..]), (1, Some(&(0..2)), &[0; 4][..]));
    }

    #[test]
    fn hashes_that_are_alike_have_the_room_of_one_page_and_a_small_index() {
        let mut hashes = vec![0x8000_0000_u32; 100];
        hashes.extend(vec![0; 100]);
        let trie = placed(&mut hashes, 100);
        assert_eq!((trie.pages.len(), trie.left_out), (1, 200 - (ROOM / 100) as u64));
        assert!(trie.cto().len() < 4096 * 2, "{}", trie.cto().len());
    }

    proptest! {
        #[test]
        fn pages_split_as_those_of_dbm(
            mut hashes in prop::collection::vec(any::<u32>(), 0..600),
            len in 60..=ROOM / 4,
        ) {
            let leaves = grown(&hashes, len);
            let trie = placed(&mut hashes, len);
            prop_assert_eq!(trie.left_out, 0);
            let (cto, ctb) = (trie.cto(), trie.ctb());
            let index = CtgIndex::new(&cto, &ctb).unwrap();
            prop_assert_eq!(index.count, leaves.last().unwrap().0 + 1);
            prop_assert_eq!(index.last_leaf() + 1, index.count);
            prop_assert_eq!(index.low_copy(), Some(index.low));
            prop_assert_eq!((index.held(), index.bits()), (index.count, index.high));
            let named = (0..index.count).filter(|&node| index.page(node).is_some()).count();
            prop_assert_eq!(named, trie.pages.len());
            for (number, mut held) in leaves {
                held.sort_unstable_by_key(|hash| hash.reverse_bits());
                match index.page(number) {
                    None => prop_assert!(held.is_empty()),
                    Some(page) => prop_assert_eq!(&hashes[trie.pages[page as usize].clone()], &held),
                }
            }
        }
    }
}
