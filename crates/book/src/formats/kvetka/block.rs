//! A block: elements one after the other.
#![allow(clippy::cast_possible_truncation, reason = "a block has 2048 bytes")]

use tabiya_base::bytes;

use super::element::RawElement;
use super::key::Key;
use super::layout::{BLOCK_HEADER, BLOCK_LEN, KEY_LEN};

/// A block, or as much of it as the file has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    data: &'a [u8],
}

impl<'a> Block<'a> {
    /// The block in these bytes, no more than a block has.
    pub fn new(data: &'a [u8]) -> Self {
        Self { data: data.get(..BLOCK_LEN as usize).unwrap_or(data) }
    }

    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// How many bytes it claims to use.
    pub fn said(&self) -> Option<u16> {
        bytes::u16_be(self.data, 0)
    }

    /// The bytes in use.
    pub fn used(&self) -> &'a [u8] {
        let said = usize::from(self.said().unwrap_or_default());
        self.data.get(..said).unwrap_or(self.data)
    }

    /// Its elements, up to the first that cannot be read: then its offset in the block, and why.
    pub fn elements(&self) -> impl Iterator<Item = Result<RawElement<'a>, (usize, &'static str)>> + use<'a> {
        let (used, mut at) = (self.used(), BLOCK_HEADER);
        std::iter::from_fn(move || {
            let element = (at < used.len()).then(|| RawElement::read(used, at).map_err(|why| (at, why)))?;
            at = element.map_or(used.len(), |element| element.end);
            Some(element)
        })
    }

    /// The key of its first element.
    pub fn first_key(&self) -> Option<&'a [u8; KEY_LEN]> {
        self.elements().next()?.ok().map(|element| element.key)
    }

    /// The element of a position.
    pub fn find(&self, key: &[u8; KEY_LEN]) -> Option<RawElement<'a>> {
        let used = self.used();
        let mut at = BLOCK_HEADER;
        while let Some((&len, rest)) = used.get(at..).and_then(<[u8]>::split_first) {
            // Nearly all lengths take one byte, which the key follows.
            let end = at + 1 + usize::from(len);
            if len < KEY_LEN as u8 || len >= 0x80 || rest.starts_with(key) || end > used.len() {
                let element = RawElement::read(used, at).ok()?;
                if element.key == key {
                    return Some(element);
                }
                at = element.end;
            } else {
                at = end;
            }
        }
        None
    }
}

/// Fills blocks with elements, each as full as possible.
#[derive(Clone, Debug)]
pub struct Packer {
    block: Vec<u8>,
    first: Option<Key>,
}

impl Default for Packer {
    fn default() -> Self {
        Self { block: vec![0; BLOCK_HEADER], first: None }
    }
}

impl Packer {
    /// Takes in the next element by its key and bytes, no more than an element may have. Returns the block before it once
    /// that has no room for it, with the key of its first element.
    pub fn push(&mut self, key: Key, element: &[u8]) -> Option<(Key, [u8; BLOCK_LEN as usize])> {
        let full = if self.block.len() + element.len() > BLOCK_LEN as usize { self.finish() } else { None };
        self.first.get_or_insert(key);
        self.block.extend(element);
        full
    }

    /// The last block, unless it is empty.
    pub fn finish(&mut self) -> Option<(Key, [u8; BLOCK_LEN as usize])> {
        let first = self.first.take()?;
        let used = (self.block.len() as u16).to_be_bytes();
        let mut bytes = [0; BLOCK_LEN as usize];
        let elements = self.block.iter().skip(BLOCK_HEADER);
        bytes.iter_mut().zip(used.iter().chain(elements)).for_each(|(place, byte)| *place = *byte);
        self.block.truncate(BLOCK_HEADER);
        Some((first, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn element(key: u8, moves: u8) -> Vec<u8> {
        let mut element = vec![22 + 5 + moves];
        element.extend([key; KEY_LEN]);
        element.extend([1, 2, 3, moves]);
        element.extend(vec![0x10; moves.into()]);
        element.push(0);
        element
    }

    fn block(said: u16, elements: &[u8]) -> Vec<u8> {
        let mut block = said.to_be_bytes().to_vec();
        block.extend(elements);
        block.resize(BLOCK_LEN as usize, 0xee);
        block
    }

    #[test]
    fn elements_follow_each_other_to_the_end_of_the_used_bytes() {
        let two = [element(1, 0), element(2, 5)].concat();
        let data = block(2 + two.len() as u16, &two);
        let block = Block::new(&data);
        let seen: Vec<_> = block.elements().map(|element| element.unwrap()).collect();
        assert_eq!(
            seen.iter().map(|element| (element.at, element.end)).collect::<Vec<_>>(),
            [(2, 30), (30, 63)]
        );
        assert_eq!(block.first_key(), Some(&[1; KEY_LEN]));
        assert_eq!(block.find(&[2; KEY_LEN]).unwrap().body().unwrap().moves, [0x10; 5]);
        assert!(block.find(&[3; KEY_LEN]).is_none());
    }

    #[test]
    fn a_block_that_claims_too_much_ends_with_its_bytes() {
        let one = element(1, 0);
        for (said, faults) in [(0, 0), (1, 0), (2, 0), (29, 1), (30, 0), (31, 1), (u16::MAX, 1)] {
            let data = block(said, &one);
            let found: Vec<_> = Block::new(&data).elements().collect();
            assert_eq!(found.iter().filter(|element| element.is_err()).count(), faults, "{said}");
        }
        for len in [0, 1, 2, 20] {
            let data = block(30, &one);
            let cut = Block::new(&data[..len]);
            assert!(cut.first_key().is_none());
        }
        // No block reaches into the next one.
        assert_eq!(Block::new(&[0xff; 5000]).used().len(), 2048);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(64, 256)))]

        #[test]
        fn any_bytes_have_a_bounded_number_of_elements(
            data in prop::collection::vec(prop_oneof![Just(22_u8), Just(0_u8), any::<u8>()], 0..2100),
        ) {
            let block = Block::new(&data);
            let found: Vec<_> = block.elements().collect();
            prop_assert!(found.len() <= BLOCK_LEN as usize / 23 + 1);
            prop_assert!(found.iter().rev().skip(1).all(Result::is_ok));
        }
    }
}
