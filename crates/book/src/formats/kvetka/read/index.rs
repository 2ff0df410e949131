//! The `.kin` file: the first key of each block.

use std::path::PathBuf;

use tabiya_base::bytes;
use tabiya_base::error::{Error, Result};
use tabiya_base::map::Map;

use super::super::layout::KEY_LEN;
use super::parts::{Parts, last_true};

/// What to do with the index of other blocks.
const ADVICE: &str = "the book is read without it; delete it, or copy it again with the .kob files";

/// Blocks that are compared with the index when a book is opened.
const COMPARED: u64 = 4;

/// The keys of a `.kin` file.
#[derive(Debug)]
pub struct KvetkaIndex {
    pub path: PathBuf,
    map: Map,
}

impl KvetkaIndex {
    /// The index of these blocks.
    ///
    /// # Errors
    /// When the number of keys differs from that of the blocks, or a key that is compared differs from that of its block.
    pub fn new(path: PathBuf, map: Map, parts: &Parts) -> Result<Self> {
        let blocks = parts.blocks;
        let (len, needed) = (map.len() as u64, blocks * KEY_LEN as u64);
        let index = Self { path, map };
        let error =
            |at: u64, what: String| Err(Error::format(&index.path, what).at_offset(at).advice(ADVICE));
        if len != needed {
            let what = format!("the index has {len} bytes, but {blocks} blocks need {needed}");
            return error(len.min(needed), what);
        }
        for step in 0..COMPARED {
            let block = blocks.saturating_sub(1) * step / (COMPARED - 1);
            // A block without a key cannot be compared.
            if parts.first_key(block).is_some_and(|key| index.key(block) != Some(key)) {
                let what = format!("the index has a different first key for block {block}");
                return error(block * KEY_LEN as u64, what);
            }
        }
        Ok(index)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// The key of a block.
    pub fn key(&self, block: u64) -> Option<&[u8; KEY_LEN]> {
        bytes::slice(&self.map, block.checked_mul(KEY_LEN as u64)?, KEY_LEN as u64)?.first_chunk()
    }

    /// The last of the blocks from `low` to `high` whose key is not above this one.
    pub(crate) fn last_from(&self, key: &[u8; KEY_LEN], low: u64, high: u64) -> Option<u64> {
        last_true(low, high, |block| self.key(block).is_some_and(|first| first <= key))
    }
}
