//! Unpacks a block (docs/formats/cbv.md, LZ; docs/formats/cbv.md, Huffman).
#![allow(clippy::cast_possible_truncation, reason = "codes have at most 15 bits, and a block 65,536 bytes")]

use tabiya_base::bytes;

use super::layout::MAX_BLOCK;

/// Bits of the longest code.
const MAX_CODE: u32 = 15;

/// Bits that the last code may take beyond the end, read as zeros; and bits that may be left over.
const SLACK: usize = 7;

/// Why a block is damaged.
type Wrong = &'static str;

const CUT: Wrong = "a packed block ends within an item";

/// Unpacks the content of a block, at most [`MAX_BLOCK`] bytes, into `out`, which is empty.
///
/// # Errors
/// When the block is damaged, as a clause.
pub(crate) fn unpack(content: &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
    let Some((mode, payload)) = content.split_first() else { return Err("a block is empty") };
    match mode {
        0 if payload.len() > MAX_BLOCK => Err("a block is too long"),
        0 => {
            out.extend_from_slice(payload);
            Ok(())
        }
        1 => lz(payload, out),
        2 => huffman(payload, out),
        3 => {
            let mut packed = Vec::new();
            huffman(payload, &mut packed)?;
            lz(&packed, out)
        }
        _ => Err("a block is packed in an unknown way"),
    }
}

/// The sum that a block's head has of its content: of its 16-bit numbers, without a last odd byte.
pub(crate) fn checksum(content: &[u8]) -> u16 {
    let words = content.as_chunks().0.iter().map(|word| u16::from_le_bytes(*word));
    words.fold(0, u16::wrapping_add)
}

/// The bytes of a payload, one after another.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Result<usize, Wrong> {
        let (first, rest) = self.0.split_first().ok_or(CUT)?;
        self.0 = rest;
        Ok(usize::from(*first))
    }
}

/// Literals, runs of one byte, and copies of earlier bytes, 16 after each control word.
fn lz(payload: &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
    let mut from = Bytes(payload);
    while !from.0.is_empty() {
        let mut control = from.next()? | from.next()? << 8;
        for _ in 0..16 {
            if from.0.is_empty() {
                break;
            }
            let is_coded = control & 0x8000 != 0;
            control <<= 1;
            if is_coded {
                item(&mut from, out)?;
            } else {
                room(out, 1)?;
                out.push(from.next()? as u8);
            }
        }
    }
    Ok(())
}

fn room(out: &[u8], len: usize) -> Result<(), Wrong> {
    if out.len() + len > MAX_BLOCK { Err("a block unpacks to too many bytes") } else { Ok(()) }
}

fn item(from: &mut Bytes<'_>, out: &mut Vec<u8>) -> Result<(), Wrong> {
    let first = from.next()?;
    let (kind, low) = (first >> 4, first & 15);
    match kind {
        0 | 1 => {
            let len = if kind == 0 { low + 3 } else { low + 16 * from.next()? + 19 };
            let byte = from.next()? as u8;
            room(out, len)?;
            out.resize(out.len() + len, byte);
        }
        _ => {
            let distance = 16 * from.next()? + low + 3;
            let len = if kind == 2 { from.next()? + 16 } else { kind };
            room(out, len)?;
            let start = out.len().checked_sub(distance).ok_or("a block refers to bytes before its start")?;
            for at in start..start + len {
                out.extend(out.get(at).copied());
            }
        }
    }
    Ok(())
}

/// Bits, the most significant of each byte first, with zeros after the end.
struct Bits<'a> {
    bytes: &'a [u8],
    /// Bits that were taken.
    taken: usize,
}

impl Bits<'_> {
    /// The next bits, at most 16, without taking them.
    fn peek(&self, count: u32) -> u32 {
        let at = self.taken / 8;
        let byte = |at| self.bytes.get(at).copied().map_or(0, u32::from);
        let word = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
        word << (8 + self.taken % 8) >> (u32::BITS - count)
    }

    fn take(&mut self, count: u32) -> u32 {
        let bits = if count == 0 { 0 } else { self.peek(count) };
        self.taken += count as usize;
        bits
    }
}

/// A number of bytes, the code of each of the 256 values, and the codes.
fn huffman(payload: &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
    let mut bits = Bits { bytes: payload, taken: 0 };
    let all = payload.len() * 8;
    let len = bits.take(16) as usize;
    // For all bits that may come next, the value whose code they begin with, and the bits of that.
    let mut table = vec![(0_u8, 0_u8); 1 << MAX_CODE];
    for value in 0..=u8::MAX {
        let count = bits.take(4);
        let code = bits.take(count);
        if count == 0 {
            continue;
        }
        let first = (code << (MAX_CODE - count)) as usize;
        for slot in table.iter_mut().skip(first).take(1 << (MAX_CODE - count)) {
            if slot.1 != 0 {
                return Err("a block has codes that begin with each other");
            }
            *slot = (value, count as u8);
        }
    }
    if bits.taken > all {
        return Err(CUT);
    }
    if table.iter().any(|(_, count)| *count == 0) {
        return Err("a block has bits that are no code");
    }
    for _ in 0..len {
        let next = bits.peek(MAX_CODE) as usize;
        let Some((value, count)) = table.get(next) else { return Err(CUT) };
        if bits.taken >= all {
            return Err(CUT);
        }
        bits.taken += usize::from(*count);
        out.push(*value);
    }
    match bits.taken {
        taken if taken > all + SLACK => Err(CUT),
        taken if taken + SLACK < all => Err("a block has bytes that are not used"),
        _ => Ok(()),
    }
}

/// A 16-bit number of a block's head.
pub(crate) fn head(head: &[u8]) -> Option<(u16, u16)> {
    Some((bytes::u16_le(head, 0)?, bytes::u16_le(head, 2)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(content: &[u8]) -> Result<Vec<u8>, Wrong> {
        let mut out = Vec::new();
        unpack(content, &mut out).map(|()| out)
    }

    #[test]
    fn the_vectors_of_the_page_are_unpacked() {
        let payload = [
            0xf8, 0, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x02, 0x78, 0x11, 0x02, 0x79, 0x30, 0,
            0x85, 0x03, 0x26, 0x03, 0x04, 0x21,
        ];
        let expected = format!("abcdefghxxxxx{}xyyyyyyy{}!", "y".repeat(55), "y".repeat(20));
        assert_eq!(unpacked(&[&[1], &payload[..]].concat()).unwrap(), expected.as_bytes());
        assert_eq!(unpacked(b"\0stored!").unwrap(), b"stored!");
        assert_eq!(checksum(b"\0stored!"), 0x694a);
        assert_eq!(checksum(b"\0stored!?"), 0x694a);
        // Every payload that ends within an item is refused.
        for len in 0..payload.len() {
            let cut = unpacked(&[&[1], &payload[..len]].concat());
            assert!(
                cut.is_ok() == [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 17, 19, 22].contains(&len),
                "{len} {cut:?}"
            );
        }
    }

    #[test]
    fn blocks_have_a_limit() {
        // Runs of 4,114 bytes.
        let runs = [&[1, 0xff, 0xff][..], &[0x1f, 0xff, 7].repeat(16)].concat();
        assert_eq!(unpacked(&runs), Err("a block unpacks to too many bytes"));
        assert_eq!(unpacked(&[&[0][..], &vec![0; MAX_BLOCK + 1]].concat()), Err("a block is too long"));
        assert_eq!(unpacked(&[1, 0, 0x80, 0x30, 1]), Err("a block refers to bytes before its start"));
        assert_eq!(
            (unpacked(&[4, 0]), unpacked(&[])),
            (Err("a block is packed in an unknown way"), Err("a block is empty"))
        );
    }
}
