//! The `.kin` file: the first key of each block.

use std::path::{Path, PathBuf};

use super::super::layout::KEY_LEN;
use super::parts::{Parts, last_true};
use crate::base::bytes;
use crate::base::error::{Error, Result};
use crate::base::map::Map;

/// What to do with an index that does not belong to the blocks.
const ADVICE: &str = "the book is read without it; delete it, or copy it again with the .kob files";

/// Blocks that are compared with the index when a book is opened.
const COMPARED: u64 = 4;

/// The keys of a `.kin` file.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    map: Map,
}

impl Index {
    /// Takes a file for the index of these blocks.
    ///
    /// # Errors
    /// When it has another number of keys than there are blocks, or one of some that are compared is another than
    /// that of its block.
    pub fn new(path: PathBuf, map: Map, parts: &Parts) -> Result<Self> {
        let blocks = parts.blocks();
        let len = map.len() as u64;
        let error = |at: u64, what: String| Err(Error::format(&path, what).at_offset(at).advice(ADVICE));
        if len != blocks * KEY_LEN as u64 {
            let what = format!(
                "the index has {len} bytes, and for {blocks} blocks it needs {}",
                blocks * KEY_LEN as u64
            );
            return error(len.min(blocks * KEY_LEN as u64), what);
        }
        let index = Self { path: path.clone(), map };
        for step in 0..COMPARED {
            let block = blocks.saturating_sub(1) * step / (COMPARED - 1);
            // A block that has no key says nothing of its index.
            if parts.first_key(block).is_some_and(|key| index.key(block) != Some(key)) {
                let what = format!("the index has another first key than block {block}");
                return error(block * KEY_LEN as u64, what);
            }
        }
        Ok(index)
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key that it has for a block.
    pub fn key(&self, block: u64) -> Option<&[u8; KEY_LEN]> {
        bytes::slice(&self.map, block.checked_mul(KEY_LEN as u64)?, KEY_LEN as u64)?.first_chunk()
    }

    /// The last of the blocks from `low` to `high` whose key is this one or one before it.
    pub fn last_from(&self, key: &[u8; KEY_LEN], low: u64, high: u64) -> Option<u64> {
        last_true(low, high, |block| self.key(block).is_some_and(|first| first <= key))
    }
}
