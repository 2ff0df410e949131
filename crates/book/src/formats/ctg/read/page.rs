//! The pages of a `.ctg` file and the entries in them.
#![allow(clippy::cast_possible_truncation, reason = "a page has 4096 bytes")]

use shakmaty::Chess;

use tabiya_base::bytes;
use tabiya_chess::normal::Normal;

use super::super::entry::Statistics;
use super::super::layout::{LENGTH_BITS, PAGE_HEADER, PAGE_LEN, SHORTEST_ENTRY, STATISTICS_LEN};
use super::super::signature::{Signature, decode};

/// A page of entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    start: u64,
    /// The bytes of it that the file has.
    pub data: &'a [u8],
    /// How many entries it claims to have.
    pub count: u16,
    /// Where it claims that its last entry ends.
    pub length: u16,
}

/// An entry as it is in its page.
#[derive(Clone, Copy, Debug)]
pub struct CtgPageEntry<'a> {
    /// Offset in the page.
    pub at: usize,
    /// Offset in the file.
    pub offset: u64,
    /// The position.
    pub signature: &'a [u8],
    /// Code and mark of each move.
    pub moves: &'a [[u8; 2]],
    statistics: &'a [u8; STATISTICS_LEN],
    /// Offset in the page of what follows it.
    pub end: usize,
}

impl CtgPageEntry<'_> {
    /// Its bytes after the signature.
    pub(crate) fn rest(&self) -> Vec<u8> {
        let len = u8::try_from(1 + 2 * self.moves.len()).unwrap_or(u8::MAX);
        [&[len], self.moves.as_flattened(), self.statistics].concat()
    }

    /// What is known of the position.
    pub fn statistics(&self) -> Statistics {
        Statistics::from_bytes(self.statistics)
    }

    /// What is kept of it for other books, where marks have these bits.
    pub(crate) fn kept(&self, mask: u8) -> Vec<u8> {
        let mut bytes = vec![!mask];
        bytes.extend(self.rest());
        let marks = bytes.iter_mut().skip(3).step_by(2).take(self.moves.len());
        marks.for_each(|mark| *mark &= mask);
        bytes
    }

    /// The position, which must be in the normal form of look-ups.
    ///
    /// # Errors
    /// When there is none in this form: why, as a clause.
    pub fn position(&self) -> Result<(Chess, Normal), &'static str> {
        let chess = decode(self.signature)?;
        let normal = Normal::from_chess(&chess).ok_or("this position has no normal form")?;
        let same = Signature::of_normal(&normal).is_some_and(|signature| signature.bytes() == self.signature);
        if same {
            Ok((chess, normal))
        } else {
            Err("this position is not in its normal form, so look-ups do not find it")
        }
    }
}

/// The number of data pages in a `.ctg` file of this length; the last one may be cut off.
pub fn pages_in(len: u64) -> u64 {
    len.saturating_sub(PAGE_LEN).div_ceil(PAGE_LEN)
}

/// Offset of a data page in the file.
pub fn offset(number: u64) -> u64 {
    (number + 1) * PAGE_LEN
}

impl<'a> Page<'a> {
    /// The data page of this number, from 0, or as much of it as the file has, if that includes its header.
    pub fn get(ctg: &'a [u8], number: u32) -> Option<Self> {
        let at = offset(number.into());
        let len = (ctg.len() as u64).checked_sub(at)?.min(PAGE_LEN);
        Self::in_bytes(bytes::slice(ctg, at, len)?, number)
    }

    /// The data page of this number in its own bytes.
    pub(crate) fn in_bytes(data: &'a [u8], number: u32) -> Option<Self> {
        let start = offset(number.into());
        Some(Self { start, data, count: bytes::u16_be(data, 0)?, length: bytes::u16_be(data, 2)? })
    }

    /// The data pages of a file, in its order.
    pub(crate) fn all(ctg: &'a [u8]) -> impl Iterator<Item = Self> {
        let numbers = u32::try_from(pages_in(ctg.len() as u64)).unwrap_or(u32::MAX);
        (0..numbers).filter_map(|number| Self::get(ctg, number))
    }

    /// The offset after its last entry, if it has as many entries as it claims, and they end where it claims.
    pub(crate) fn sound_end(&self) -> Option<usize> {
        let (mut end, mut count) = (PAGE_HEADER, 0);
        for entry in self.entries() {
            end = entry.end;
            count += 1;
        }
        (count == self.count && end == usize::from(self.length)).then_some(end)
    }

    /// The entry at an offset.
    ///
    /// # Errors
    /// When there is none: why, as a clause that follows "the entry".
    pub fn entry(&self, at: usize) -> Result<CtgPageEntry<'a>, &'static str> {
        const TOO_LONG: &str = "ends after its page";
        let used = self.data.get(..usize::from(self.length)).unwrap_or(self.data);
        let rest = used.get(at..).ok_or(TOO_LONG)?;
        let head = *rest.first().ok_or(TOO_LONG)?;
        let len = usize::from(head & LENGTH_BITS);
        if len == 0 {
            return Err("has no position");
        }
        let (signature, rest) = rest.split_at_checked(len).ok_or(TOO_LONG)?;
        let moves = usize::from(*rest.first().ok_or(TOO_LONG)?);
        if moves % 2 == 0 {
            return Err("ends inside a move");
        }
        let (moves, rest) = rest.split_at_checked(moves).ok_or(TOO_LONG)?;
        let statistics = rest.first_chunk().ok_or(TOO_LONG)?;
        let end = at + signature.len() + moves.len() + STATISTICS_LEN;
        let offset = self.start + at as u64;
        let moves = moves.get(1..).unwrap_or_default().as_chunks().0;
        Ok(CtgPageEntry { at, offset, signature, moves, statistics, end })
    }

    /// Its entries, up to the first that cannot be read.
    pub fn entries(&self) -> impl Iterator<Item = CtgPageEntry<'a>> + use<'a> {
        let page = *self;
        let mut at = PAGE_HEADER;
        let most = self.count.min((PAGE_LEN / SHORTEST_ENTRY) as u16);
        (0..most).map_while(move |_| {
            let entry = page.entry(at).ok()?;
            at = entry.end;
            Some(entry)
        })
    }

    /// The entry of a position.
    pub fn find(&self, signature: &[u8]) -> Option<CtgPageEntry<'a>> {
        self.entries().find(|entry| entry.signature == signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file with one data page, with these two numbers in its header.
    fn file(count: u16, length: u16, entries: &[u8]) -> Vec<u8> {
        let mut file = vec![0; PAGE_LEN as usize];
        file.extend(count.to_be_bytes());
        file.extend(length.to_be_bytes());
        file.extend(entries);
        file.resize(2 * PAGE_LEN as usize, 0xee);
        file
    }

    /// An entry of this signature with as many moves.
    fn entry(signature: &[u8], moves: u8) -> Vec<u8> {
        let mut entry = signature.to_vec();
        entry.push(2 * moves + 1);
        entry.extend(vec![7; 2 * usize::from(moves)]);
        entry.extend([9; STATISTICS_LEN]);
        entry
    }

    #[test]
    fn entries_follow_each_other_to_the_pages_length() {
        let two = [entry(&[3, 1, 2], 2), entry(&[1], 0)].concat();
        let length = 4 + two.len() as u16;
        let data = file(2, length, &two);
        let page = Page::get(&data, 0).unwrap();
        let seen: Vec<_> =
            page.entries().map(|entry| (entry.at, entry.signature, entry.moves.len())).collect();
        assert_eq!(seen, [(4, &[3, 1, 2][..], 2), (4 + 3 + 5 + 33, &[1][..], 0)]);
        assert_eq!(page.entries().last().unwrap().end, usize::from(length));
        assert_eq!(page.find(&[1]).unwrap().statistics, &[9; STATISTICS_LEN]);
        assert!(page.find(&[1, 2]).is_none());
        assert!(Page::get(&data, 1).is_none() && Page::get(&data, u32::MAX).is_none());
        assert_eq!((pages_in(0), pages_in(4096), pages_in(4097), pages_in(8192)), (0, 0, 1, 1));
    }

    #[test]
    fn a_broken_entry_has_a_reason() {
        let reason =
            |length, entries: &[u8]| Page::get(&file(1, length, entries), 0).unwrap().entry(4).unwrap_err();
        assert_eq!(reason(60, &[0x40, 1]), "has no position");
        assert_eq!(reason(60, &[1, 2]), "ends inside a move");
        assert_eq!(reason(60, &[1, 255]), "ends after its page");
        assert_eq!(reason(20, &entry(&[1], 0)), "ends after its page");
        assert_eq!(reason(0, &entry(&[1], 0)), "ends after its page");
        // A length past the page ends with the page.
        let data = file(2, u16::MAX, &entry(&[1], 0));
        assert_eq!(Page::get(&data, 0).unwrap().entries().count(), 1);
    }

    #[test]
    fn a_page_that_is_cut_off_keeps_its_whole_entries() {
        let data = file(2, 4 + 70, &[entry(&[1], 0), entry(&[1], 0)].concat());
        let page = |len: usize| Page::get(&data[..len], 0).map(|page| page.entries().count());
        assert_eq!((page(4096), page(4099), page(4100), page(4096 + 39)), (None, None, Some(0), Some(1)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tabiya_testing::times(64, 256)))]

        #[test]
        fn any_bytes_have_a_bounded_number_of_entries(
            data in prop::collection::vec(prop_oneof![Just(1_u8), any::<u8>()], 0..4096),
            count: u16,
            length: u16,
        ) {
            let data = file(count, length, &data);
            let entries: Vec<_> = Page::get(&data, 0).unwrap().entries().collect();
            prop_assert!(entries.len() <= usize::from(count) && entries.len() <= 4096 / 35);
            prop_assert!(entries.windows(2).all(|pair| pair[0].end == pair[1].at));
        }
    }
}
