//! Which entries share a page: the trie that V7-Unix `dbm` would have grown, and its two files.
//!
//! dbm splits a page whose entries have no room in it by the next bit of their hashes, from the lowest bit on. As
//! entries only come, which nodes are split at the end depends on all entries together and not on their order: a
//! node is split exactly where what lies under it has no room in one page.

use std::ops::Range;

use super::super::layout::{
    CTB_HEADER, CTB_START, CTO_HEADER, CTO_START, NO_PAGE, NUMBER_LEN, PAGE_HEADER, PAGE_LEN,
};

/// Bytes of a page that entries have.
pub const ROOM: usize = PAGE_LEN as usize - PAGE_HEADER;

/// Levels that the trie may grow beyond those that evenly spread hashes would need, so that the index stays smaller
/// than the pages whatever the hashes are.
const SPARE: u32 = 8;

/// The last level that node numbers of 32 bits reach.
const DEEPEST: u32 = 30;

/// An entry that is to be placed: the bits of its hash turned round, so that entries under one node stand side by
/// side, and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The hash, its lowest bit first.
    pub order: u32,
    /// Bytes of the entry.
    pub len: usize,
}

/// The pages of a book and the index that leads to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trie {
    /// The entries of each page, by their place among all.
    pub pages: Vec<Range<usize>>,
    /// Entries for which there was no room, because too many hashes are alike.
    pub left_out: u64,
    /// A page number for each node up to the last leaf.
    numbers: Vec<u32>,
    bitmap: Vec<u8>,
}

/// A node with the entries under it.
struct Node {
    number: u64,
    level: u32,
    entries: Range<usize>,
}

impl Trie {
    /// Places entries, which stand in ascending order.
    pub fn new(len: usize, item: impl Fn(usize) -> Item) -> Self {
        let total: usize = (0..len).map(|at| item(at).len).sum();
        let deepest = ((total / ROOM).max(1).ilog2() + SPARE).min(DEEPEST);
        let mut trie = Self::default();
        // The upper half first, for what is pushed last is taken first: pages come in the order of the entries.
        let mut waiting = vec![Node { number: 0, level: 0, entries: 0..len }];
        while let Some(Node { number, level, entries }) = waiting.pop() {
            let fits =
                entries.clone().try_fold(0, |sum, at| Some(sum + item(at).len).filter(|sum| *sum <= ROOM));
            if fits.is_some() || level == deepest {
                trie.leaf(number, entries, &item);
                continue;
            }
            trie.split(number);
            let bit = 1 << (31 - level);
            let middle = first(&entries, |at| item(at).order & bit != 0);
            // Nodes of the next level: the same low bits, and the next one clear or set.
            let low = number + (1 << level);
            let high = low + (1 << level);
            waiting.push(Node { number: high, level: level + 1, entries: middle..entries.end });
            waiting.push(Node { number: low, level: level + 1, entries: entries.start..middle });
        }
        trie
    }

    fn leaf(&mut self, number: u64, entries: Range<usize>, item: &impl Fn(usize) -> Item) {
        let mut used = 0;
        let mut end = entries.start;
        while end < entries.end && used + item(end).len <= ROOM {
            used += item(end).len;
            end += 1;
        }
        self.left_out += (entries.end - end) as u64;
        let at = number as usize;
        if self.numbers.len() <= at {
            self.numbers.resize(at + 1, NO_PAGE);
        }
        if end > entries.start
            && let (Some(place), Ok(page)) = (self.numbers.get_mut(at), u32::try_from(self.pages.len()))
        {
            *place = page;
            self.pages.push(entries.start..end);
        }
    }

    fn split(&mut self, number: u64) {
        let at = (number / 8) as usize;
        if self.bitmap.len() <= at {
            self.bitmap.resize(at + 1, 0);
        }
        if let Some(byte) = self.bitmap.get_mut(at) {
            *byte |= 1 << (number % 8);
        }
    }

    /// The lower bound: the number of the bitmap's first byte that is not all ones, in bits.
    fn low(&self) -> u32 {
        self.bitmap.iter().take_while(|byte| **byte == 0xff).count() as u32 * 8
    }

    /// The `.cto` file.
    pub fn cto(&self) -> Vec<u8> {
        let mut file = Vec::with_capacity(CTO_HEADER as usize + self.numbers.len() * NUMBER_LEN as usize);
        file.extend(CTO_START);
        file.extend((self.numbers.len() as u32).to_be_bytes());
        file.extend([0; 4]);
        file.extend(self.low().to_be_bytes());
        file.extend(self.numbers.iter().flat_map(|number| number.to_be_bytes()));
        file
    }

    /// The `.ctb` file.
    pub fn ctb(&self) -> Vec<u8> {
        let mut file = Vec::with_capacity(CTB_HEADER as usize + self.bitmap.len());
        file.extend(CTB_START);
        file.extend(self.low().to_be_bytes());
        file.extend((self.bitmap.len() as u32 * 8).to_be_bytes());
        file.extend(&self.bitmap);
        file
    }
}

/// The first of a range for which something holds that holds for all behind it.
fn first(range: &Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut end) = (range.start, range.end);
    while start < end {
        let middle = start + (end - start) / 2;
        if holds(middle) {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::ctg::index::Index;
    use proptest::prelude::*;

    /// Places hashes, each an entry of this length.
    fn placed(hashes: &mut [u32], len: usize) -> Trie {
        hashes.sort_unstable_by_key(|hash| hash.reverse_bits());
        Trie::new(hashes.len(), |at| Item { order: hashes[at].reverse_bits(), len })
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
            let index = Index::new(&cto, &ctb).unwrap();
            prop_assert_eq!(index.count(), leaves.last().unwrap().0 + 1);
            prop_assert_eq!(index.last_leaf() + 1, index.count());
            prop_assert_eq!(index.low_copy(), Some(index.low()));
            prop_assert_eq!((index.held(), index.bits()), (index.count(), index.high()));
            let named = (0..index.count()).filter(|&node| index.page(node).is_some()).count();
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
