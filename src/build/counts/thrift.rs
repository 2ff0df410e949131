//! The bytes that Parquet's own numbers are written in: Thrift's compact protocol.
//!
//! The footer is only walked here, to see that what it claims is there before the crate that understands it makes room
//! for it. The headers of pages are read, because pages are unpacked by us: see [`super::pages`].
//!
//! Source: the description of the protocol in Thrift's repository (`doc/specs/thrift-compact-protocol.md`), and
//! `parquet.thrift` in Parquet's for the fields.

/// Types of fields and elements.
mod kind {
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
    pub const UUID: u8 = 13;
}

/// Structures within one another.
const DEEPEST: u32 = 32;

/// Columns and groups of columns that a file may have, and how deep these may lie in one another.
const MOST_COLUMNS: u64 = 1 << 10;
const DEEPEST_COLUMN: usize = 16;

/// The least bytes that a row group of the five columns takes in a footer.
const ROW_GROUP_LEN: u64 = 32;

/// Bytes that are read from their start. `None` everywhere: the bytes end too early, or mean nothing.
#[derive(Clone, Debug)]
pub struct Compact<'a>(&'a [u8]);

impl<'a> Compact<'a> {
    /// Begins to read.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Bytes not read yet.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    fn skip_bytes(&mut self, len: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(len).ok()?..)?;
        Some(())
    }

    /// An unsigned number, seven bits a byte, the lowest first.
    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A signed number: 0, -1, 1, -2 are written as 0, 1, 2, 3.
    pub fn signed(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A signed number that must fit into 32 bits.
    pub fn i32(&mut self) -> Option<i32> {
        self.signed()?.try_into().ok()
    }

    /// Hands over each field of a structure, by number and type, to `see`, which reads its value and gives `Some(true)`
    /// where it has done so.
    pub fn fields(&mut self, mut see: impl FnMut(&mut Self, i16, u8) -> Option<bool>) -> Option<()> {
        let mut number = 0_i16;
        loop {
            let head = self.byte()?;
            let kind = head & 0x0f;
            if kind == 0 {
                return Some(());
            }
            number = match head >> 4 {
                0 => self.signed()?.try_into().ok()?,
                more => number.checked_add(i16::from(more))?,
            };
            if !see(self, number, kind)? {
                self.skip(kind, 0, true)?;
            }
        }
    }

    /// The number of elements of a list, and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let len = match head >> 4 {
            0x0f => self.unsigned()?,
            len => u64::from(len),
        };
        Some((len, head & 0x0f))
    }

    /// Passes over a value; `field`: of a field, whose type says which truth value it has.
    fn skip(&mut self, kind: u8, depth: u32, field: bool) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            kind::TRUE | kind::FALSE if field => Some(()),
            kind::TRUE | kind::FALSE | kind::BYTE => self.skip_bytes(1),
            kind::I16 | kind::I32 | kind::I64 => self.unsigned().map(drop),
            kind::DOUBLE => self.skip_bytes(8),
            kind::UUID => self.skip_bytes(16),
            kind::BINARY => {
                let len = self.unsigned()?;
                self.skip_bytes(len)
            }
            kind::LIST | kind::SET => {
                let (len, kind) = self.list()?;
                (0..len).try_for_each(|_| self.skip(kind, depth + 1, false))
            }
            kind::MAP => {
                let len = self.unsigned()?;
                let kinds = if len > 0 { self.byte()? } else { 0 };
                (0..len).try_for_each(|_| {
                    self.skip(kinds >> 4, depth + 1, false)?;
                    self.skip(kinds & 0x0f, depth + 1, false)
                })
            }
            kind::STRUCT => loop {
                let head = self.byte()?;
                if head & 0x0f == 0 {
                    return Some(());
                }
                if head >> 4 == 0 {
                    self.signed()?;
                }
                self.skip(head & 0x0f, depth + 1, true)?;
            },
            _ => None,
        }
    }
}

/// Why a footer is not to be given to who understands it.
pub fn fault(footer: &[u8]) -> Option<&'static str> {
    let mut crowded = None;
    let walked = Compact::new(footer).fields(|from, number, kind| {
        if kind != kind::LIST || !matches!(number, 2 | 4) {
            return Some(false);
        }
        let before = from.left();
        let (len, element) = from.list()?;
        if number == 2 {
            if len > MOST_COLUMNS {
                crowded = Some("it has more than 1000 columns");
                return None;
            }
            // How many elements each of the groups that the next one lies in still has to come.
            let mut open: Vec<u64> = Vec::new();
            for _ in 0..len {
                let mut children = 0;
                from.fields(|from, number, kind| {
                    if number != 5 || kind != kind::I32 {
                        return Some(false);
                    }
                    children = u64::try_from(from.i32()?).ok()?;
                    Some(true)
                })?;
                if let Some(open) = open.last_mut() {
                    *open = open.saturating_sub(1);
                }
                if children > 0 {
                    open.push(children);
                }
                while open.last() == Some(&0) {
                    open.pop();
                }
                if open.len() > DEEPEST_COLUMN {
                    crowded = Some("its columns lie too deep in one another");
                    return None;
                }
            }
        } else {
            (0..len).try_for_each(|_| from.skip(element, 1, false))?;
            if len > (before - from.left()) as u64 / ROW_GROUP_LEN {
                crowded = Some("it has row groups without columns");
                return None;
            }
        }
        Some(true)
    });
    crowded.or(walked.is_none().then_some("its footer is damaged"))
}

/// A page's header: what of it is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageHeader {
    /// Which kind: 0 data, 1 index, 2 dictionary, 3 data of version 2.
    pub kind: i32,
    /// Bytes of the page when it is unpacked.
    pub unpacked: i32,
    /// Bytes of the page in the file.
    pub packed: i32,
    /// Values, those that are null among them.
    pub values: i32,
    /// How the values are written.
    pub encoding: i32,
    /// How it is written which of them are null; of data of version 1.
    pub levels: [i32; 2],
    /// Values that are null, and rows; of data of version 2.
    pub nulls: i32,
    /// See [`PageHeader::nulls`].
    pub rows: i32,
    /// Bytes, never packed, that say which values are null, and which are repeated; of data of version 2.
    pub level_lens: [i32; 2],
    /// Whether data of version 2 is packed.
    pub is_packed: bool,
}

impl PageHeader {
    /// Reads a header, and says how long it is.
    pub fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut from = Compact::new(bytes);
        let mut page = Self { is_packed: true, kind: -1, ..Self::default() };
        from.fields(|from, number, kind| {
            let into = match (number, kind) {
                (1, kind::I32) => &mut page.kind,
                (2, kind::I32) => &mut page.unpacked,
                (3, kind::I32) => &mut page.packed,
                (5 | 7 | 8, kind::STRUCT) => {
                    return from
                        .fields(|from, field, kind| page.inner(from, number, field, kind))
                        .map(|()| true);
                }
                _ => return Some(false),
            };
            *into = from.i32()?;
            Some(true)
        })?;
        Some((page, bytes.len() - from.left()))
    }

    /// A field of the structure that the kind of page has.
    fn inner(&mut self, from: &mut Compact<'_>, outer: i16, field: i16, kind: u8) -> Option<bool> {
        let into = match (outer, field, kind) {
            (8, 7, kind::TRUE | kind::FALSE) => {
                self.is_packed = kind == kind::TRUE;
                return Some(true);
            }
            (_, _, kind) if kind != kind::I32 => return Some(false),
            (_, 1, _) => &mut self.values,
            (5 | 7, 2, _) | (8, 4, _) => &mut self.encoding,
            (5, 3, _) => &mut self.levels[0],
            (5, 4, _) => &mut self.levels[1],
            (8, 2, _) => &mut self.nulls,
            (8, 3, _) => &mut self.rows,
            (8, 5, _) => &mut self.level_lens[0],
            (8, 6, _) => &mut self.level_lens[1],
            _ => return Some(false),
        };
        *into = from.i32()?;
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_field_by_field() {
        // Kind 0, 100 bytes, 60 packed; a checksum; data: 7 values, RLE dictionary, RLE, RLE.
        let data =
            [0x15, 0, 0x15, 200, 1, 0x15, 120, 0x15, 9, 0x1c, 0x15, 14, 0x15, 16, 0x15, 6, 0x15, 6, 0, 0];
        let (page, len) = PageHeader::read(&data).unwrap();
        assert_eq!(len, data.len());
        let expected = PageHeader {
            kind: 0,
            unpacked: 100,
            packed: 60,
            values: 7,
            encoding: 8,
            levels: [3, 3],
            is_packed: true,
            ..PageHeader::default()
        };
        assert_eq!(page, expected);
        for len in 0..data.len() {
            assert_eq!(PageHeader::read(&data[..len]), None, "{len}");
        }
    }

    #[test]
    fn what_claims_too_much_has_a_fault() {
        // A list of 2^40 structures, a structure in a structure and so on, and no end.
        let many = [0x49, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
        assert_eq!(fault(&many), Some("its footer is damaged"));
        assert_eq!(fault(&[0x1c; 100_000]), Some("its footer is damaged"));
        assert_eq!(fault(&[]), Some("its footer is damaged"));
        assert_eq!(fault(&[0]), None);
        // Four row groups that are empty structures.
        assert_eq!(fault(&[0x49, 0x4c, 0, 0, 0, 0, 0]), Some("it has row groups without columns"));
        // Groups of one column each, one within the other.
        let mut deep = vec![0x29, 0xfc, 100];
        deep.extend([0x55, 2, 0].repeat(100));
        assert_eq!(fault(&deep), Some("its columns lie too deep in one another"));
        assert_eq!(fault(&[0x29, 0xfc, 0x80, 0x20]), Some("it has more than 1000 columns"));
    }
}
