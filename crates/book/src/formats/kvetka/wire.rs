//! Numbers and strings as the files of Kvetka write them.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a digit has seven bits, and texts are shorter than 4 GB"
)]

use std::cmp::Reverse;

use tabiya_base::bytes;

use super::layout::MAX_COMPACT;

/// A value, or why it cannot be read: a clause that follows the name of a thing.
pub type Result<T> = std::result::Result<T, &'static str>;

/// A thing continues after the end of the data.
pub(crate) const TOO_LONG: &str = "continues past the end";
/// A CompactInt does not end, or is greater than 64 bits.
pub(crate) const ENDLESS: &str = "has a number that does not end";
/// A string claims to be longer than the data left.
pub(crate) const LONG_TEXT: &str = "has a text that is longer than the rest";

/// Reads one thing after the other.
#[derive(Clone, Copy, Debug)]
pub struct KvetkaReader<'a> {
    data: &'a [u8],
    at: u64,
}

impl<'a> KvetkaReader<'a> {
    /// Starts at an offset; nothing can be read after the end.
    pub fn at(data: &'a [u8], at: u64) -> Self {
        Self { data, at }
    }

    /// The offset of the next thing; after an error, of the thing that cannot be read.
    pub fn offset(&self) -> u64 {
        self.at
    }

    pub fn rest(&self) -> &'a [u8] {
        usize::try_from(self.at).ok().and_then(|at| self.data.get(at..)).unwrap_or_default()
    }

    /// So many bytes.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn bytes(&mut self, len: u64) -> Result<&'a [u8]> {
        let bytes = bytes::slice(self.data, self.at, len).ok_or(TOO_LONG)?;
        self.at += len;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = bytes::array(self.data, self.at).ok_or(TOO_LONG)?;
        self.at += N as u64;
        Ok(bytes)
    }

    /// One byte.
    ///
    /// # Errors
    /// When none is left; so for the others.
    pub fn u8(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    /// A number of 16 bits.
    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// A number of 32 bits.
    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn compact(&mut self) -> Result<u64> {
        let start = self.at;
        let mut value = 0_u64;
        for _ in 0..MAX_COMPACT {
            let byte = self.u8()?;
            if value >> 57 != 0 {
                break;
            }
            value = value << 7 | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        self.at = start;
        Err(ENDLESS)
    }

    /// The bytes of a string with characters of `width` bytes.
    fn string(&mut self, width: u64) -> Result<&'a [u8]> {
        let start = self.at;
        let len = u64::from(self.u32()?) * width;
        self.bytes(len).map_err(|_| {
            self.at = start;
            LONG_TEXT
        })
    }

    pub(crate) fn unicode(&mut self) -> Result<String> {
        self.string(2).map(from_utf16)
    }

    /// An ANSI string: its bytes.
    pub(crate) fn ansi(&mut self) -> Result<&'a [u8]> {
        self.string(1)
    }
}

/// Text of 16-bit characters in either byte order (docs/formats/kvetka.md, Open points): the order that breaks fewer pairs
/// of surrogates, then has more zero high bytes, then fewer different high bytes; else big-endian, as all numbers.
fn from_utf16(text: &[u8]) -> String {
    let pairs = text.as_chunks::<2>().0;
    let big: Vec<u16> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
    let little: Vec<u16> = big.iter().map(|unit| unit.swap_bytes()).collect();
    let rank = |units: &[u16]| {
        let broken = char::decode_utf16(units.iter().copied()).filter(std::result::Result::is_err).count();
        let zeros = units.iter().filter(|unit| **unit < 0x100).count();
        let mut high = [false; 256];
        for unit in units {
            high.get_mut(usize::from(unit >> 8)).into_iter().for_each(|high| *high = true);
        }
        (broken, Reverse(zeros), high.iter().filter(|high| **high).count())
    };
    String::from_utf16_lossy(if rank(&little) < rank(&big) { &little } else { &big })
}

pub(crate) fn put_compact(value: u64, out: &mut Vec<u8>) {
    let digits = (64 - value.leading_zeros()).div_ceil(7).max(1);
    for digit in (0..digits).rev() {
        let more = if digit > 0 { 0x80 } else { 0 };
        out.push((value >> (7 * digit)) as u8 & 0x7f | more);
    }
}

/// Appends a Unicode string.
pub(crate) fn put_unicode(text: &str, out: &mut Vec<u8>) {
    let units: Vec<u16> = text.encode_utf16().collect();
    out.extend((units.len() as u32).to_be_bytes());
    out.extend(units.iter().flat_map(|unit| unit.to_be_bytes()));
}

/// Appends an ANSI string: in the Western code page if that has all letters and the bytes are not valid UTF-8, else in
/// UTF-8.
#[cfg(any(test, feature = "write"))]
pub(crate) fn put_ansi(text: &str, out: &mut Vec<u8>) {
    let western = tabiya_base::encoding::western(text);
    let bytes = western.as_deref().unwrap_or(text.as_bytes());
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabiya_base::encoding::decode_text;

    use super::*;

    fn compact(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        put_compact(value, &mut out);
        out
    }

    #[test]
    fn compact_numbers_are_digits_to_the_base_128() {
        assert_eq!(compact(0), [0]);
        assert_eq!(compact(127), [0x7f]);
        assert_eq!(compact(128), [0x81, 0]);
        assert_eq!(compact(300), [0x82, 0x2c]);
        assert_eq!(compact(u64::MAX).len(), 10);
        // A digit of zero before the others changes nothing.
        assert_eq!(KvetkaReader::at(&[0x80, 0x80, 5], 0).compact(), Ok(5));
    }

    #[test]
    fn numbers_that_do_not_end_or_are_too_great_are_refused() {
        for bad in [&[0x80; 10][..], &[0xff; 40], &[0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]]
        {
            let mut reader = KvetkaReader::at(bad, 0);
            assert_eq!((reader.compact(), reader.offset()), (Err(ENDLESS), 0), "{bad:?}");
        }
        assert_eq!(KvetkaReader::at(&[0x80; 9], 0).compact(), Err(TOO_LONG));
    }

    #[test]
    fn texts_are_read_in_either_byte_order() {
        for text in ["Queen's Pawn", "Дебют", "Защита Каро-Канн", "é", "王翼", "a\u{1f600}b", ""]
        {
            let mut big = Vec::new();
            put_unicode(text, &mut big);
            assert_eq!(KvetkaReader::at(&big, 0).unicode().unwrap(), text);
        }
        for text in ["Queen's Pawn", "Дебют", "Защита Каро-Канн", "é", "a\u{1f600}b"] {
            let mut little = Vec::new();
            put_unicode(text, &mut little);
            little[4..].as_chunks_mut::<2>().0.iter_mut().for_each(|pair| pair.reverse());
            assert_eq!(KvetkaReader::at(&little, 0).unicode().unwrap(), text);
        }
    }

    #[test]
    fn a_text_of_four_billion_letters_is_refused() {
        for width in [1, 2] {
            let data = [0xff, 0xff, 0xff, 0xff, 0, b'a'];
            let mut reader = KvetkaReader::at(&data, 0);
            let read = if width == 1 { reader.ansi().err() } else { reader.unicode().err() };
            assert_eq!((read, reader.offset()), (Some(LONG_TEXT), 0));
        }
        assert_eq!(KvetkaReader::at(&[0, 0], 0).unicode(), Err(TOO_LONG));
        assert_eq!(KvetkaReader::at(&[0, 0], u64::MAX).unicode(), Err(TOO_LONG));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value: u64, bits in 0..64_u32, text: String) {
            let value = value >> bits;
            let mut out = compact(value);
            put_ansi(&text, &mut out);
            let mut reader = KvetkaReader::at(&out, 0);
            prop_assert_eq!(reader.compact(), Ok(value));
            prop_assert_eq!(decode_text(reader.ansi().unwrap()), text);
            prop_assert!(reader.rest().is_empty());
        }
    }
}
