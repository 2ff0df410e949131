//! The `.kob` files of a book as one sequence of blocks.

use std::path::PathBuf;
use std::sync::OnceLock;

use tabiya_base::bytes;
use tabiya_base::error::Result;
use tabiya_base::map::{Access, Map};

use super::super::block::Block;
use super::super::header::KvetkaHeader;
use super::super::layout::{BLOCK_LEN, KEY_LEN};

/// Blocks, evenly spaced, whose first keys are kept once a search has read them: 128 KB, so that most steps of a search
/// stay within the caches.
const FENCES: u64 = 1 << 12;

/// Blocks before one without a key whose first key may replace it.
const NEIGHBOURS: usize = 64;

#[derive(Debug)]
pub struct KvetkaPart {
    pub path: PathBuf,
    /// The number in its name.
    pub number: u32,
    pub map: Map,
    /// The offset of its first block.
    pub start: u64,
    /// The number of its first block in the book.
    pub first: u64,
}

impl KvetkaPart {
    /// How many blocks it has; the last may be cut off.
    pub fn blocks(&self) -> u64 {
        (self.map.len() as u64).saturating_sub(self.start).div_ceil(BLOCK_LEN)
    }
}

/// All `.kob` files of a book.
#[derive(Debug)]
pub(crate) struct Parts {
    /// The files in order.
    pub files: Vec<KvetkaPart>,
    /// The header, if the first file exists.
    pub header: Option<KvetkaHeader>,
    /// Blocks of all files.
    pub blocks: u64,
    /// Blocks from one fence to the next.
    apart: u64,
    /// The first key at each fence, once it was read.
    fences: Vec<OnceLock<Option<[u8; KEY_LEN]>>>,
}

impl Parts {
    /// The files with the numbers in their names, in the order of these.
    ///
    /// # Errors
    /// When the first file has no header that can be read. A book whose first file is missing has no header.
    pub fn new(files: Vec<(u32, PathBuf, Map)>) -> Result<Self> {
        let mut parts = Vec::with_capacity(files.len());
        let (mut header, mut blocks) = (None, 0);
        for (number, path, map) in files {
            let mut start = 0;
            if parts.is_empty() {
                match KvetkaHeader::read(&map) {
                    // The number may belong to the name of a book of one file.
                    Ok((found, len)) if number == 0 || (map.len() as u64 - len).is_multiple_of(BLOCK_LEN) => {
                        (header, start) = (Some(found), len);
                    }
                    Err(error) if number == 0 => return Err(error.at_path(&path)),
                    _ => {}
                }
            }
            let part = KvetkaPart { path, number, map, start, first: blocks };
            blocks += part.blocks();
            parts.push(part);
        }
        let apart = blocks.div_ceil(FENCES).max(1);
        let fences = (0..blocks.div_ceil(apart)).map(|_| OnceLock::new()).collect();
        Ok(Self { files: parts, header, blocks, apart, fences })
    }

    /// Advises the operating system how the files will be read.
    pub fn expect(&self, access: Access) {
        self.files.iter().for_each(|part| part.map.expect(access));
    }

    /// The file that has a block, and the offset of the block in it.
    pub fn place(&self, block: u64) -> Option<(&KvetkaPart, u64)> {
        let at = self.files.partition_point(|part| part.first <= block).checked_sub(1)?;
        let part = self.files.get(at)?;
        Some((part, part.start + (block - part.first) * BLOCK_LEN))
    }

    /// A block by its number.
    pub fn block(&self, number: u64) -> Option<Block<'_>> {
        let (part, at) = self.place(number)?;
        let held = (part.map.len() as u64).checked_sub(at)?.min(BLOCK_LEN);
        bytes::slice(&part.map, at, held).map(Block::new)
    }

    /// The first key of a block.
    pub fn first_key(&self, block: u64) -> Option<&[u8; KEY_LEN]> {
        self.block(block)?.first_key()
    }

    /// The last of the blocks from `low` to `high` whose first key is not above this one, by binary search. A block without
    /// a key counts as the nearest one before it that has one.
    pub(crate) fn last_from(&self, key: &[u8; KEY_LEN], low: u64, high: u64) -> Option<u64> {
        let known = |block: u64| {
            let neighbours = (low..=block).rev().take(NEIGHBOURS);
            neighbours.filter_map(|block| self.first_key(block)).next().copied()
        };
        let first = low.div_ceil(self.apart);
        let fence = last_true(first, high / self.apart, |fence| {
            let slot = usize::try_from(fence).ok().and_then(|fence| self.fences.get(fence));
            let first = slot.map(|slot| slot.get_or_init(|| known(fence * self.apart)));
            first.is_none_or(|first| first.is_none_or(|first| first <= *key))
        });
        let low = fence.map_or(low, |fence| if fence == first { low } else { fence * self.apart });
        let high = fence.map_or(high, |fence| high.min((fence + 1) * self.apart - 1));
        last_true(low, high, |block| known(block).is_none_or(|first| first <= *key))
    }
}

/// The last of the numbers from `low` to `high` for which `holds` is true, if it is true up to some number and false after
/// it; `low` if it is false for all. `None` if there is no number.
pub(crate) fn last_true(low: u64, high: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut end) = (low, high.checked_add(1)?);
    if low >= end {
        return None;
    }
    while end - low > 1 {
        let middle = low + (end - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            end = middle;
        }
    }
    Some(low)
}
