//! Records that are found by their keys, of which memory holds only one in many.
#![allow(clippy::cast_possible_truncation, reason = "a block has few records")]

use std::path::Path;

use super::error::Result;
use super::scratch::Scratch;

/// Bytes that are read for one look-up.
const BLOCK: usize = 1 << 10;

/// Bytes of a key, in big-endian order at the start of a record.
const KEY_LEN: usize = 8;

/// Records of `N` bytes in ascending order of their keys, each key once. Records that do not fit into memory are in a
/// temporary file.
#[derive(Debug)]
pub struct Table<const N: usize> {
    records: Scratch,
    /// The first key of each block.
    keys: Vec<u64>,
    last: Option<u64>,
}

impl<const N: usize> Table<N> {
    /// Records of a block.
    const OF_A_BLOCK: usize = BLOCK / N;

    /// No records yet: up to `memory` bytes of records are held in memory, and the rest goes to `folder`.
    pub fn new(folder: &Path, memory: usize) -> Self {
        Self { records: Scratch::new(folder, memory), keys: Vec::new(), last: None }
    }

    /// How many records there are.
    pub fn len(&self) -> u64 {
        self.records.size() / N as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.size() == 0
    }

    /// Whether a record of this key can follow: the key is above the last one.
    pub fn takes(&self, key: u64) -> bool {
        self.last.is_none_or(|last| last < key)
    }

    /// Appends a record; returns `false`, and does nothing, where its key is not above the last one.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn push(&mut self, record: &[u8; N]) -> Result<bool> {
        let key = key(record);
        if !self.takes(key) {
            return Ok(false);
        }
        if self.len().is_multiple_of(Self::OF_A_BLOCK as u64) {
            self.keys.push(key);
        }
        self.last = Some(key);
        self.records.push(record)?;
        Ok(true)
    }

    /// The record of a number.
    ///
    /// # Errors
    /// When there is none, or the temporary file cannot be read.
    pub fn get(&self, number: u64) -> Result<[u8; N]> {
        let mut record = [0; N];
        self.records.read(number * N as u64, &mut record)?;
        Ok(record)
    }

    /// The record of a key, and its number.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn find(&self, wanted: u64) -> Result<Option<(u64, [u8; N])>> {
        let Some(block) = self.keys.partition_point(|key| *key <= wanted).checked_sub(1) else {
            return Ok(None);
        };
        let first = (block * Self::OF_A_BLOCK) as u64;
        let count = (self.len() - first).min(Self::OF_A_BLOCK as u64) as usize;
        let (at, mut read) = (first * N as u64, [0; BLOCK]);
        let bytes = match self.records.held(at, count * N) {
            Some(held) => held,
            None => {
                let bytes = read.get_mut(..count * N).unwrap_or_default();
                self.records.read(at, bytes)?;
                bytes
            }
        };
        let (records, _) = bytes.as_chunks::<N>();
        let found = records.binary_search_by_key(&wanted, key).ok();
        Ok(found.and_then(|at| Some((first + at as u64, *records.get(at)?))))
    }
}

fn key<const N: usize>(record: &[u8; N]) -> u64 {
    record.first_chunk::<KEY_LEN>().map_or(0, |key| u64::from_be_bytes(*key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn only_the_pushed_records_are_found(
            known in prop::collection::btree_map(prop_oneof![0..500_u64, any::<u64>()], any::<u8>(), 0..400),
            others in prop::collection::vec(prop_oneof![0..500_u64, any::<u64>()], 0..50),
            memory in prop::sample::select(vec![0, 1000, 1 << 20]),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut table = Table::<11>::new(folder.path(), memory);
            let record = |key: u64, value: u8| {
                let mut record = [value; 11];
                record[..8].copy_from_slice(&key.to_be_bytes());
                record
            };
            for (&key, &value) in &known {
                prop_assert!(table.push(&record(key, value)).unwrap());
                prop_assert!(!table.push(&record(key, value)).unwrap());
            }
            prop_assert_eq!(table.len(), known.len() as u64);
            let numbers: BTreeMap<u64, u64> = known.keys().copied().zip(0..).collect();
            for key in known.keys().chain(&others) {
                let expected = known.get(key).map(|value| (numbers[key], record(*key, *value)));
                prop_assert_eq!(table.find(*key).unwrap(), expected);
                if let Some((number, record)) = expected {
                    prop_assert_eq!(table.get(number).unwrap(), record);
                }
            }
        }
    }
}
