//! The header of a journal: its version, the book that it belongs to, and how many ids its store has
//! (docs/formats/learn.md, Journal header).

use tabiya_base::bytes;

use super::store::Store;
use super::{CHECK_LEN, Check, check};
use crate::error::LearnError;

/// Bytes of the header.
pub const HEADER_LEN: usize = 128;

/// What a journal begins with.
const MAGIC: &[u8; 8] = b"TabLearn";

/// The version.
const VERSION: u64 = 2;

/// The book that a journal belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// The book's length in bytes.
    pub book_len: u64,
    pub fingerprint: [u8; 32],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalHeader {
    pub owner: Owner,
    /// A random number that each journal gets when it replaces another; 0 where it replaced none.
    pub serial: u64,
    /// Ids in the store.
    pub ids: u64,
    /// Games that were learned and can no longer be taken back.
    pub compacted: u64,
}

impl JournalHeader {
    /// The header of a journal that begins empty.
    pub fn new(owner: Owner, serial: u64) -> Self {
        Self { owner, serial, ..Self::default() }
    }

    /// The bytes of the header.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_be_bytes());
        bytes.extend(self.owner.book_len.to_be_bytes());
        bytes.extend(self.owner.fingerprint);
        bytes.extend(self.serial.to_be_bytes());
        bytes.extend(self.ids.to_be_bytes());
        bytes.extend(self.compacted.to_be_bytes());
        bytes.resize(HEADER_LEN - CHECK_LEN, 0);
        bytes.extend(check(&bytes));
        bytes
    }

    /// Reads a header, with the check that the first record must hold.
    ///
    /// # Errors
    /// When `data` does not start with a sound header of a version that we know.
    pub fn parse(data: &[u8]) -> Result<(Self, Check), LearnError> {
        if !data.starts_with(MAGIC) {
            return Err(LearnError::Foreign);
        }
        match bytes::u64_be(data, 8) {
            Some(newer) if newer > VERSION => Err(LearnError::Newer(newer)),
            Some(VERSION) => Self::parse_sound(data).ok_or(LearnError::Damaged(0)),
            _ => Err(LearnError::Damaged(0)),
        }
    }

    fn parse_sound(data: &[u8]) -> Option<(Self, Check)> {
        let (guarded, found) = data.get(..HEADER_LEN)?.split_last_chunk::<CHECK_LEN>()?;
        (*found == check(guarded)).then_some(())?;
        let header = Self {
            owner: Owner { book_len: bytes::u64_be(data, 16)?, fingerprint: bytes::array(data, 24)? },
            serial: bytes::u64_be(data, 56)?,
            ids: bytes::u64_be(data, 64)?,
            compacted: bytes::u64_be(data, 72)?,
        };
        Some((header, *found))
    }

    /// The store that follows it.
    pub(crate) fn store(&self) -> Store {
        Store { at: HEADER_LEN as u64, ids: self.ids }
    }

    /// Whether a loss of power may have left a file of these bytes from the first header of this book's journal: each
    /// byte is that of the header, or was never written.
    pub(crate) fn is_torn(data: &[u8], owner: Owner) -> bool {
        let header = Self::new(owner, 0).to_bytes();
        data.len() <= header.len()
            && data.iter().zip(&header).all(|(found, ours)| *found == 0 || found == ours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner = Owner { book_len: 0x0102, fingerprint: [7; 32] };

    #[test]
    fn the_header_is_laid_out_as_documented() {
        let header = JournalHeader { ids: 3, compacted: 4, ..JournalHeader::new(OWNER, 5) };
        let bytes = header.to_bytes();
        assert_eq!(bytes[..8], *b"TabLearn");
        assert_eq!(bytes[8..24], [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!((bytes[24], bytes[55], bytes[63], bytes[71], bytes[79]), (7, 7, 5, 3, 4));
        assert_eq!((JournalHeader::parse(&bytes).unwrap().0, bytes.len()), (header, HEADER_LEN));
    }

    #[test]
    fn a_header_that_is_not_sound_is_refused() {
        let sound = JournalHeader::new(OWNER, 0).to_bytes();
        for at in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[at] ^= 0x40;
            let error = JournalHeader::parse(&bytes).unwrap_err();
            let expected = match at {
                0..8 => LearnError::Foreign,
                8..16 => LearnError::Newer(u64::from_be_bytes(bytes[8..16].try_into().unwrap())),
                _ => LearnError::Damaged(0),
            };
            assert_eq!(format!("{error:?}"), format!("{expected:?}"), "{at}");
            assert!(!JournalHeader::is_torn(&bytes, OWNER) || bytes[at] == 0, "{at}");
            assert!(JournalHeader::parse(&sound[..at]).is_err());
            assert!(JournalHeader::is_torn(&sound[..at], OWNER));
        }
    }

    #[test]
    fn only_what_was_never_whole_is_torn() {
        assert!(JournalHeader::is_torn(&[], OWNER) && JournalHeader::is_torn(&[0; HEADER_LEN], OWNER));
        assert!(!JournalHeader::is_torn(&[0; HEADER_LEN + 1], OWNER));
        assert!(!JournalHeader::is_torn(b"my notes", OWNER) && !JournalHeader::is_torn(b"TabLearn!", OWNER));
        let other = JournalHeader::new(Owner { book_len: 5, ..OWNER }, 0).to_bytes();
        assert!(!JournalHeader::is_torn(&other, OWNER));
    }
}
