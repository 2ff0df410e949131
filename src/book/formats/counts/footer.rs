//! Reading the parts of a footer that count files need.
//!
//! The numbers of the fields: `parquet.thrift` in Parquet's repository.

use polars_parquet_format::thrift::Result;
use polars_parquet_format::thrift::protocol::{ReadThrift, TCompactInputProtocol, TInputProtocol, TType};
use polars_parquet_format::{
    CompressionCodec, ConvertedType, DecimalType, FieldRepetitionType, IntType, KeyValue, Type,
};

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

/// Skips a value. The crate skips texts only if they are UTF-8, and the least and greatest values of columns are not.
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
            let list = from.read_list_begin()?;
            (0..list.size).try_for_each(|_| skip(from, list.element_type, depth - 1))
        }
        _ => from.skip(kind),
    }
}

/// A footer.
#[derive(Debug, Default)]
pub(crate) struct Footer {
    /// The tree of columns, from its root on.
    pub schema: Vec<Element>,
    /// The row groups, which no footer lacks.
    pub groups: Option<Vec<Group>>,
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
    /// Its name.
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
pub(crate) enum Logical {
    /// Whole numbers.
    Integer {
        /// Whether they have a sign.
        is_signed: bool,
    },
    /// Decimals.
    Decimal {
        /// Digits after the point.
        scale: i32,
    },
    /// Something else.
    Other,
}

read_fields!(Logical, |logical = Logical::Other, from|
    5 => logical = Logical::Decimal { scale: DecimalType::read_from_in_protocol(from)?.scale },
    10 => logical = Logical::Integer { is_signed: IntType::read_from_in_protocol(from)?.is_signed }
);

/// A row group.
#[derive(Debug)]
pub(crate) struct Group {
    /// Its columns.
    pub columns: Vec<Chunk>,
    /// Its rows; negative if the footer does not say.
    pub rows: i64,
}

read_fields!(Group, |group = Group { columns: Vec::new(), rows: -1 }, from|
    1 => group.columns = from.read_list()?,
    3 => group.rows = from.read_i64()?
);

/// Where the pages of a column of a row group are. Impossible offsets are beyond the end of any file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    /// Offset of the first page.
    pub start: u64,
    /// Offset after the last page.
    pub end: u64,
    /// How pages are compressed.
    pub codec: CompressionCodec,
}

impl Chunk {
    /// Bytes of the pages.
    pub fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

read_fields!(Chunk, |chunk = Metadata::default().chunk(), from|
    3 => chunk = Metadata::read_from_in_protocol(from)?.chunk()
);

/// The metadata of a column of a row group.
#[derive(Default)]
struct Metadata {
    codec: Option<i32>,
    len: Option<i64>,
    data: Option<i64>,
    dictionary: Option<i64>,
}

read_fields!(Metadata, |metadata = Metadata::default(), from|
    4 => metadata.codec = Some(from.read_i32()?),
    7 => metadata.len = Some(from.read_i64()?),
    9 => metadata.data = Some(from.read_i64()?),
    11 => metadata.dictionary = Some(from.read_i64()?)
);

impl Metadata {
    fn chunk(self) -> Chunk {
        let unsigned =
            |number: Option<i64>| number.and_then(|number| number.try_into().ok()).unwrap_or(u64::MAX);
        // Some writers put a 0 where there is no dictionary.
        let start = unsigned(self.data).min(unsigned(self.dictionary.filter(|at| *at > 0)));
        let codec = CompressionCodec(self.codec.unwrap_or(-1));
        Chunk { start, end: start.saturating_add(unsigned(self.len)), codec }
    }
}
