//! Reading the parts of a footer, and of the indexes of pages, that count files need.
//!
//! The numbers of the fields: `parquet.thrift` in Parquet's repository.

use polars_parquet_format::thrift::Result;
use polars_parquet_format::thrift::protocol::{ReadThrift, TCompactInputProtocol, TInputProtocol, TType};
use polars_parquet_format::{
    CompressionCodec, ConvertedType, DecimalType, FieldRepetitionType, IntType, KeyValue, Type,
};

/// The most bytes that a whole number may have.
pub(crate) const NUMBER_LEN: usize = 16;

/// Bytes of memory that a structure may take for each of its bytes in the file, and besides them. The protocol counts
/// eight bytes for each element of a list; ours take up to fifteen times as many.
const MEMORY_PER_BYTE: usize = 2;
const MEMORY_BESIDE: usize = 1 << 16;

/// Reads a structure from the start of these bytes, and returns its length; `None` if it is damaged, is cut off, or claims
/// more than the bytes can hold.
pub fn read<T: ReadThrift>(bytes: &[u8]) -> Option<(T, usize)> {
    let mut rest = bytes;
    let memory = bytes.len().saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_BESIDE);
    let read = T::read_from_in_protocol(&mut TCompactInputProtocol::new(&mut rest, memory)).ok()?;
    Some((read, bytes.len() - rest.len()))
}

/// Reads a structure into `$into`: the fields with these numbers, and skips the others.
macro_rules! read_fields {
    ($name:ident, |$into:ident = $start:expr, $from:ident| $($number:literal => $read:expr),*) => {
        impl ReadThrift for $name {
            fn read_from_in_protocol<T: TInputProtocol>($from: &mut T) -> Result<Self> {
                let mut $into = $start;
                $from.read_struct_begin()?;
                loop {
                    let field = $from.read_field_begin()?;
                    match (field.field_type, field.id.unwrap_or_default()) {
                        (TType::Stop, _) => break,
                        $((_, $number) => $read,)*
                        (kind, _) => skip($from, kind, DEEPEST)?,
                    }
                }
                $from.read_struct_end()?;
                Ok($into)
            }
        }
    };
}

/// Structures and lists within one another that are skipped.
const DEEPEST: i8 = 32;

/// Skips a value. The crate skips texts only if they are UTF-8, and the least and greatest values of columns are not; and it
/// knows lists of booleans only by an old number of their type.
fn skip<T: TInputProtocol>(from: &mut T, kind: TType, depth: i8) -> Result<()> {
    match kind {
        // Returns the crate's own error.
        _ if depth == 0 => from.skip_till_depth(kind, 0),
        TType::String => from.read_bytes().map(drop),
        TType::Struct => {
            from.read_struct_begin()?;
            loop {
                match from.read_field_begin()?.field_type {
                    TType::Stop => return from.read_struct_end(),
                    kind => skip(from, kind, depth - 1)?,
                }
            }
        }
        TType::List | TType::Set => {
            let head = from.read_byte()?;
            let size = if head >> 4 == 15 { varint(from)? } else { u32::from(head >> 4) };
            match head & 15 {
                // Booleans, of a byte each.
                1 | 2 => (0..size).try_for_each(|_| from.read_byte().map(drop)),
                kind => {
                    let kind = *ELEMENTS.get(usize::from(kind)).unwrap_or(&TType::Stop);
                    (0..size).try_for_each(|_| skip(from, kind, depth - 1))
                }
            }
        }
        // Returns the crate's own error.
        TType::Stop => from.skip_till_depth(kind, 0),
        _ => from.skip(kind),
    }
}

/// The types of a list's elements, by their numbers in the compact protocol.
const ELEMENTS: [TType; 13] = [
    TType::Stop,
    TType::Bool,
    TType::Bool,
    TType::I08,
    TType::I16,
    TType::I32,
    TType::I64,
    TType::Double,
    TType::String,
    TType::List,
    TType::Set,
    TType::Map,
    TType::Struct,
];

/// A length, seven bits in each byte, the lowest first; bits after the 32nd are left out.
fn varint<T: TInputProtocol>(from: &mut T) -> Result<u32> {
    let mut number = 0;
    for shift in (0..u32::BITS).step_by(7) {
        let byte = from.read_byte()?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Ok(number)
}

#[derive(Debug, Default)]
pub struct Footer {
    /// The tree of columns, from its root on.
    pub schema: Vec<Element>,
    /// The row groups, which no footer lacks.
    pub groups: Option<Vec<RowGroup>>,
    /// Names and values that writers add.
    pub notes: Vec<KeyValue>,
    /// The program that wrote the file.
    pub created_by: Option<String>,
}

read_fields!(Footer, |footer = Footer::default(), from|
    2 => footer.schema = from.read_list()?,
    4 => footer.groups = Some(from.read_list()?),
    5 => footer.notes = from.read_list()?,
    6 => footer.created_by = Some(from.read_string()?)
);

/// A column, or a group of the columns that follow.
#[derive(Debug, Default)]
pub struct Element {
    /// The type of a column.
    pub kind: Option<Type>,
    /// Bytes of a value of fixed length.
    pub len: Option<i32>,
    /// Whether it may be missing or come more than once.
    pub repetition: Option<FieldRepetitionType>,
    pub name: String,
    /// Members of a group.
    pub children: Option<i32>,
    /// The meaning of the values, in the form of older writers.
    pub converted: Option<ConvertedType>,
    /// Digits after the point of a decimal, in the form of older writers.
    pub scale: Option<i32>,
    /// The meaning of the values.
    pub logical: Option<Logical>,
}

read_fields!(Element, |element = Element::default(), from|
    1 => element.kind = Some(Type(from.read_i32()?)),
    2 => element.len = Some(from.read_i32()?),
    3 => element.repetition = Some(FieldRepetitionType(from.read_i32()?)),
    4 => element.name = from.read_string()?,
    5 => element.children = Some(from.read_i32()?),
    6 => element.converted = Some(ConvertedType(from.read_i32()?)),
    7 => element.scale = Some(from.read_i32()?),
    10 => element.logical = Some(Logical::read_from_in_protocol(from)?)
);

/// The meaning of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {
    Integer {
        /// Whether they have a sign.
        is_signed: bool,
    },
    Decimal {
        /// Digits after the point.
        scale: i32,
    },
    Other,
}

read_fields!(Logical, |logical = Logical::Other, from|
    5 => logical = Logical::Decimal { scale: DecimalType::read_from_in_protocol(from)?.scale },
    10 => logical = Logical::Integer { is_signed: IntType::read_from_in_protocol(from)?.is_signed }
);

#[derive(Debug)]
pub struct RowGroup {
    pub columns: Vec<Chunk>,
    /// Its rows; negative if the footer does not say.
    pub rows: i64,
}

read_fields!(RowGroup, |group = RowGroup { columns: Vec::new(), rows: -1 }, from|
    1 => group.columns = from.read_list()?,
    3 => group.rows = from.read_i64()?
);

/// Where the pages of a column of a row group are. Impossible offsets are beyond the end of any file.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// Offset of the first page.
    pub start: u64,
    /// Offset after the last page.
    pub end: u64,
    /// How pages are compressed.
    pub codec: CompressionCodec,
    /// The least and the greatest value, where the footer has them.
    pub bounds: [Bound; 2],
    /// Where the index of the pages' places is, and where that of their values.
    pub indexes: [ByteRange; 2],
}

impl Chunk {
    /// Bytes of the pages.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks whether it is empty")]
    pub fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// A part of the file; none if its length is 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByteRange {
    pub at: u64,
    pub len: u64,
}

read_fields!(Chunk, |chunk = Metadata::default().chunk(), from|
    3 => {
        let indexes = chunk.indexes;
        chunk = Metadata::read_from_in_protocol(from)?.chunk();
        chunk.indexes = indexes;
    },
    4 => chunk.indexes[0].at = unsigned(from.read_i64()?),
    5 => chunk.indexes[0].len = unsigned(from.read_i32()?.into()),
    6 => chunk.indexes[1].at = unsigned(from.read_i64()?),
    7 => chunk.indexes[1].len = unsigned(from.read_i32()?.into())
);

fn unsigned(number: i64) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}

/// The metadata of a column of a row group.
#[derive(Default)]
struct Metadata {
    codec: Option<i32>,
    len: Option<i64>,
    data: Option<i64>,
    dictionary: Option<i64>,
    bounds: [Bound; 2],
}

read_fields!(Metadata, |metadata = Metadata::default(), from|
    4 => metadata.codec = Some(from.read_i32()?),
    7 => metadata.len = Some(from.read_i64()?),
    9 => metadata.data = Some(from.read_i64()?),
    11 => metadata.dictionary = Some(from.read_i64()?),
    12 => metadata.bounds = Statistics::read_from_in_protocol(from)?.0
);

impl Metadata {
    fn chunk(self) -> Chunk {
        let unsigned = |number: Option<i64>| number.map_or(u64::MAX, unsigned);
        // Some writers put a 0 where there is no dictionary.
        let start = unsigned(self.data).min(unsigned(self.dictionary.filter(|at| *at > 0)));
        let codec = CompressionCodec(self.codec.unwrap_or(-1));
        Chunk {
            start,
            end: start.saturating_add(unsigned(self.len)),
            codec,
            bounds: self.bounds,
            indexes: [ByteRange::default(); 2],
        }
    }
}

/// The statistics of a column: its least and its greatest value.
#[derive(Default)]
struct Statistics([Bound; 2]);

// The fields 1 and 2 of old writers have no order that is defined for unsigned numbers.
read_fields!(Statistics, |statistics = Statistics::default(), from|
    5 => statistics.0[1] = Bound::read_from_in_protocol(from)?,
    6 => statistics.0[0] = Bound::read_from_in_protocol(from)?
);

/// The bytes of the least or greatest value of a column; empty if the file does not name it, or it is longer than a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    bytes: [u8; NUMBER_LEN],
    len: u8,
}

impl Bound {
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len.into()).unwrap_or_default()
    }
}

impl ReadThrift for Bound {
    fn read_from_in_protocol<T: TInputProtocol>(from: &mut T) -> Result<Self> {
        let read = from.read_bytes()?;
        let mut bound = Self::default();
        if let (Some(bytes), Ok(len)) = (bound.bytes.get_mut(..read.len()), read.len().try_into()) {
            bytes.copy_from_slice(&read);
            bound.len = len;
        }
        Ok(bound)
    }
}

/// The places of a column's pages in a row group, without that of its dictionary.
#[derive(Debug, Default)]
pub(crate) struct PagePlaces {
    /// The pages, in their order.
    pub pages: Vec<PagePlace>,
}

read_fields!(PagePlaces, |places = PagePlaces::default(), from|
    1 => places.pages = from.read_list()?
);

/// Where a page is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PagePlace {
    /// The page with its header.
    pub place: ByteRange,
    /// Its first row in the row group.
    pub row: u64,
}

read_fields!(PagePlace, |page = PagePlace::default(), from|
    1 => page.place.at = unsigned(from.read_i64()?),
    2 => page.place.len = unsigned(from.read_i32()?.into()),
    3 => page.row = unsigned(from.read_i64()?)
);

/// The least and greatest values of a column's pages in a row group.
#[derive(Debug, Default)]
pub(crate) struct PageBounds {
    /// The least value of each page.
    pub least: Vec<Bound>,
    /// The greatest value of each page.
    pub greatest: Vec<Bound>,
}

read_fields!(PageBounds, |bounds = PageBounds::default(), from|
    2 => bounds.least = from.read_list()?,
    3 => bounds.greatest = from.read_list()?
);

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of this many pages as writers have them: a list of booleans of this type, least and greatest values of eight
    /// bytes, and an order.
    fn index(pages: u8, booleans: u8) -> Vec<u8> {
        let list = |kind: u8| if pages < 15 { vec![pages << 4 | kind] } else { vec![0xf0 | kind, pages] };
        let values = |from: u8| {
            (0..pages).flat_map(move |page| [8, page, 0, 0, 0, 0, 0, 0, from]).collect::<Vec<u8>>()
        };
        [
            &[0x19][..],
            &list(booleans),
            &vec![2; pages.into()],
            &[0x19],
            &list(8),
            &values(1),
            &[0x19],
            &list(8),
            &values(2),
            &[0x15, 2, 0],
        ]
        .concat()
    }

    #[test]
    fn bounds_of_pages_are_read_whatever_number_lists_of_booleans_have() {
        for booleans in [1, 2] {
            for pages in [0, 3, 14, 15, 100] {
                let bytes = index(pages, booleans);
                let (bounds, len) = read::<PageBounds>(&bytes).unwrap();
                assert_eq!(len, bytes.len());
                let of = |last| (0..pages).map(move |page| vec![page, 0, 0, 0, 0, 0, 0, last]);
                assert!(bounds.least.iter().map(|bound| bound.bytes().to_vec()).eq(of(1)));
                assert!(bounds.greatest.iter().map(|bound| bound.bytes().to_vec()).eq(of(2)));
                for cut in 0..len {
                    assert!(read::<PageBounds>(&bytes[..cut]).is_none());
                }
            }
        }
        // Lists that claim more than there is, of a type that there is not, or within one another without end.
        for damaged in
            [&[0x19, 0xf2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..], &[0x19, 0x1d, 0, 0], &[0x19; 99]]
        {
            assert!(read::<PageBounds>(damaged).is_none());
        }
    }
}
