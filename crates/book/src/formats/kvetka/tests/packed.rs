//! The files of a book in memory, made of any elements. The fuzz target includes this file too.

use tabiya_book::kvetka::layout::{BLOCK_LEN, KEY_LEN, MAX_FILE};
use tabiya_book::kvetka::{Element, KvetkaHeader, Packer};

/// The files of a book in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    pub kob: Vec<Vec<u8>>,
    pub kin: Vec<u8>,
}

impl Packed {
    /// The files of a book with these elements, given in the order of their keys, each key once. The header's number of
    /// blocks is set.
    pub fn new(header: &KvetkaHeader, elements: &[Element]) -> Self {
        Self::with_files_of(MAX_FILE, header, elements)
    }

    /// The same with files of no more than so many bytes, as far as blocks let them be.
    pub fn with_files_of(most: u64, header: &KvetkaHeader, elements: &[Element]) -> Self {
        let mut packed = Self { kob: vec![header.to_bytes()], kin: Vec::new() };
        let (mut packer, mut bytes) = (Packer::default(), Vec::new());
        for element in elements {
            bytes.clear();
            element.write(header.has_links(), &mut bytes);
            if let Some((first, block)) = packer.push(element.key, &bytes) {
                packed.add(most, &first.0, &block);
            }
        }
        if let Some((first, block)) = packer.finish() {
            packed.add(most, &first.0, &block);
        }
        let blocks = u32::try_from(packed.kin.len() / KEY_LEN).unwrap_or(u32::MAX);
        let start = KvetkaHeader { blocks, ..header.clone() }.to_bytes();
        if let Some(place) = packed.kob.first_mut().and_then(|file| file.get_mut(..start.len())) {
            place.copy_from_slice(&start);
        }
        packed
    }

    fn add(&mut self, most: u64, first: &[u8], block: &[u8]) {
        if self.kob.last().is_none_or(|file| file.len() as u64 + BLOCK_LEN > most) {
            self.kob.push(Vec::new());
        }
        if let Some(file) = self.kob.last_mut() {
            file.extend(block);
        }
        self.kin.extend(first);
    }
}
