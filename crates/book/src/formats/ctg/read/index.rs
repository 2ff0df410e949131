//! The index of a CTG book: a trie over the hashes of positions, as the V7-Unix database `dbm` grows one
//! (docs/formats/ctg.md, Index).
//!
//! Node `i` was split where bit `i` of the bitmap is set; level `k` of the trie begins at node `2^k - 1`, and a node's
//! place in its level is the low `k` bits of the hashes that lead to it.

use tabiya_base::bytes;

use super::super::layout::{
    CTB_HEADER, CTB_HIGH, CTB_LOW, CTO_COUNT, CTO_HEADER, CTO_LOW, NO_PAGE, NUMBER_LEN,
};

/// The two files of an index, over their bytes.
#[derive(Clone, Copy, Debug)]
pub struct CtgIndex<'a> {
    cto: &'a [u8],
    bitmap: &'a [u8],
    /// Page numbers that the `.cto` file claims to hold.
    pub count: u64,
    /// The lower bound of the `.ctb` file.
    pub low: u32,
    /// The bits that the bitmap should have.
    pub high: u64,
}

impl<'a> CtgIndex<'a> {
    /// Reads the headers; `None` if a file is shorter than its header.
    pub fn new(cto: &'a [u8], ctb: &'a [u8]) -> Option<Self> {
        // The whole header, although this reader does not use all of it.
        bytes::slice(cto, 0, CTO_HEADER)?;
        Some(Self {
            cto,
            bitmap: bytes::slice(ctb, CTB_HEADER, (ctb.len() as u64).checked_sub(CTB_HEADER)?)?,
            count: bytes::u32_be(cto, CTO_COUNT)?.into(),
            low: bytes::u32_be(ctb, CTB_LOW)?,
            high: bytes::u32_be(ctb, CTB_HIGH)?.into(),
        })
    }

    /// Page numbers that the `.cto` file does hold, up to [`CtgIndex::count`].
    pub fn held(self) -> u64 {
        self.count.min((self.cto.len() as u64).saturating_sub(CTO_HEADER) / NUMBER_LEN)
    }

    /// The lower bound of the `.cto` file.
    pub(crate) fn low_copy(self) -> Option<u32> {
        bytes::u32_be(self.cto, CTO_LOW)
    }

    /// The bits that the bitmap has.
    pub fn bits(self) -> u64 {
        self.bitmap.len() as u64 * 8
    }

    /// Whether a node was split.
    pub fn split(self, node: u64) -> bool {
        let byte = usize::try_from(node / 8).ok().and_then(|at| self.bitmap.get(at));
        byte.is_some_and(|byte| byte >> (node % 8) & 1 != 0)
    }

    /// The leaf that the positions of a hash belong to.
    pub(crate) fn leaf(self, hash: u32) -> u64 {
        let mut mask = 0;
        loop {
            let node = (u64::from(hash) & mask) + mask;
            // This ends, because 64 masks reach beyond the bits of any file.
            if !self.split(node) {
                return node;
            }
            mask = 2 * mask + 1;
        }
    }

    /// The page that a node names, if it names one.
    pub fn page(self, node: u64) -> Option<u32> {
        let number = (node < self.count).then(|| bytes::u32_be(self.cto, offset(node)))??;
        (number != NO_PAGE).then_some(number)
    }

    /// The parent of a node; `None` for the root.
    pub fn parent(node: u64) -> Option<u64> {
        let mask = mask_of(node);
        let above = mask >> 1;
        (mask > 0).then(|| ((node - mask) & above) + above)
    }

    /// The leaf of the greatest number, by the last split of the bitmap. In an intact index it is [`CtgIndex::count`] - 1.
    ///
    /// Reads the bitmap from its end to the last byte that is not zero.
    pub(crate) fn last_leaf(self) -> u64 {
        let Some(at) = self.bitmap.iter().rposition(|&byte| byte != 0) else { return 0 };
        let byte = self.bitmap.get(at).copied().unwrap_or_default();
        let node = at as u64 * 8 + u64::from(7 - byte.leading_zeros());
        node + 2 * mask_of(node) + 2
    }
}

/// Offset of a node's page number in the `.cto` file.
pub fn offset(node: u64) -> u64 {
    CTO_HEADER + node * NUMBER_LEN
}

/// Offset of the byte of a node's bit in the `.ctb` file.
pub(crate) fn bit_offset(node: u64) -> u64 {
    CTB_HEADER + node / 8
}

/// The first node of a node's level, which is also the mask of the level's hash bits.
fn mask_of(node: u64) -> u64 {
    (1 << (node + 1).ilog2()) - 1
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{ctb, cto};
    use super::*;
    use proptest::prelude::*;

    /// The loop of the published text: every entry between the bounds that a hash leads to
    /// (docs/formats/ctg.md, Index).
    fn description(index: CtgIndex<'_>, hash: u32) -> Vec<u64> {
        let mut nodes = Vec::new();
        let mut n = 0_u64;
        while n < 0x7fff_ffff {
            let node = (u64::from(hash) & n) + n;
            if node >= index.low.into() {
                nodes.push(node);
                if node >= index.high {
                    break;
                }
            }
            n = 2 * n + 1;
        }
        nodes
    }

    /// A trie grown by splitting the leaves of some hashes, with a page number for each leaf.
    fn grown(splits: &[u32]) -> (Vec<u8>, Vec<u8>) {
        let mut bits: Vec<bool> = vec![];
        let split = |bits: &[bool], node: u64| bits.get(node as usize).copied().unwrap_or(false);
        let mut leaves = vec![0_u64];
        for &hash in splits {
            let mut mask = 0_u64;
            let mut node = 0;
            while split(&bits, node) {
                mask = 2 * mask + 1;
                node = (u64::from(hash) & mask) + mask;
            }
            if mask > 0xffff {
                continue;
            }
            bits.resize(bits.len().max(node as usize + 1), false);
            bits[node as usize] = true;
            leaves.retain(|&leaf| leaf != node);
            leaves.extend([node + mask + 1, node + 2 * mask + 2]);
        }
        let mut bytes = vec![0_u8; bits.len().div_ceil(8)];
        for (at, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
            bytes[at / 8] |= 1 << (at % 8);
        }
        let mut numbers = vec![NO_PAGE; *leaves.iter().max().unwrap() as usize + 1];
        for (page, &leaf) in leaves.iter().enumerate() {
            numbers[leaf as usize] = page as u32;
        }
        let ctb = ctb(&bytes);
        let low = u32::from_be_bytes(ctb[4..8].try_into().unwrap());
        (cto(&numbers, low), ctb)
    }

    #[test]
    fn a_book_of_one_page_has_one_leaf() {
        let (cto, ctb) = (cto(&[0], 0), ctb(&[]));
        let index = CtgIndex::new(&cto, &ctb).unwrap();
        assert_eq!(
            (index.leaf(0), index.leaf(u32::MAX), index.page(0), index.page(1)),
            (0, 0, Some(0), None)
        );
        assert_eq!((index.last_leaf(), index.count, index.held()), (0, 1, 1));
    }

    #[test]
    fn a_bitmap_of_ones_alone_ends_the_look_up() {
        let (cto, ctb) = (cto(&[0], 0), ctb(&[0xff; 1000]));
        let index = CtgIndex::new(&cto, &ctb).unwrap();
        assert_eq!(index.page(index.leaf(u32::MAX)), None);
    }

    #[test]
    fn parents_are_the_nodes_that_were_split() {
        assert_eq!([1, 2, 3, 4, 5, 6].map(CtgIndex::parent), [0, 0, 1, 2, 1, 2].map(Some));
        assert_eq!(CtgIndex::parent(0), None);
    }

    proptest! {
        #[test]
        fn both_ways_of_looking_up_agree(
            splits in prop::collection::vec(any::<u32>(), 0..60),
            hashes in prop::collection::vec(any::<u32>(), 20),
        ) {
            let (cto, ctb) = grown(&splits);
            let index = CtgIndex::new(&cto, &ctb).unwrap();
            prop_assert_eq!(index.last_leaf() + 1, index.count);
            for &hash in hashes.iter().chain(&splits) {
                let page = index.page(index.leaf(hash));
                prop_assert!(page.is_some());
                let theirs: Vec<_> =
                    description(index, hash).into_iter().filter_map(|node| index.page(node)).collect();
                prop_assert_eq!(theirs, [page.unwrap()]);
                prop_assert!(CtgIndex::parent(index.leaf(hash)).is_none_or(|parent| index.split(parent)));
            }
        }

        #[test]
        fn any_bytes_are_looked_up(
            cto in prop::collection::vec(any::<u8>(), 0..100),
            ctb in prop::collection::vec(any::<u8>(), 0..100),
            hash: u32,
        ) {
            if let Some(index) = CtgIndex::new(&cto, &ctb) {
                index.page(index.leaf(hash));
                index.last_leaf();
                prop_assert!(index.held() * 4 <= cto.len() as u64);
            } else {
                prop_assert!(cto.len() < 16 || ctb.len() < 12);
            }
        }
    }
}
