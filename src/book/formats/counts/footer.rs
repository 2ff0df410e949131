//! What the footer of a count file says: no more of it than is needed.
//!
//! The numbers of the fields: `parquet.thrift` in Parquet's repository.

use polars_parquet_format::thrift::Result;
use polars_parquet_format::thrift::protocol::{ReadThrift, TCompactInputProtocol, TInputProtocol, TType};
use polars_parquet_format::{
    CompressionCodec, ConvertedType, DecimalType, FieldRepetitionType, IntType, KeyValue, Type,
};

/// Bytes of memory that a structure may take for each of its bytes in the file, and beside them. The protocol counts
/// eight bytes for each element of a list, of which those of ours take up to fifteen times as many.
const MEMORY_PER_BYTE: usize = 2;
const MEMORY_BESIDE: usize = 1 << 16;

/// Reads a structure from the start of these bytes, and returns its length; `None` where it is damaged, cut off, or
/// claims more than the bytes account for.
pub fn read<T: ReadThrift>(bytes: &[u8]) -> Option<(T, usize)> {
    let mut rest = bytes;
    let memory = bytes.len().saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_BESIDE);
    let read = T::read_from_in_protocol(&mut TCompactInputProtocol::new(&mut rest, memory)).ok()?;
    Some((read, bytes.len() - rest.len()))
}

/// Hands over each field of a structure by its number and type: `see` reads or skips its value.
fn fields<T: TInputProtocol>(
    from: &mut T,
    mut see: impl FnMut(&mut T, i16, TType) -> Result<()>,
) -> Result<()> {
    from.read_struct_begin()?;
    loop {
        let field = from.read_field_begin()?;
        if field.field_type == TType::Stop {
            return from.read_struct_end();
        }
        see(from, field.id.unwrap_or_default(), field.field_type)?;
    }
}

/// Structures and lists within one another that are skipped.
const DEEPEST: i8 = 32;

/// Skips a value. What the crate skips as text must be UTF-8, and the least and greatest values of columns are not.
fn skip<T: TInputProtocol>(from: &mut T, kind: TType, depth: i8) -> Result<()> {
    match kind {
        // An error, and the crate's own.
        _ if depth == 0 => from.skip_till_depth(kind, 0),
        TType::String => from.read_bytes().map(drop),
        TType::Struct => fields(from, |from, _, kind| skip(from, kind, depth - 1)),
        TType::List | TType::Set => {
            let list = from.read_list_begin()?;
            (0..list.size).try_for_each(|_| skip(from, list.element_type, depth - 1))
        }
        _ => from.skip(kind),
    }
}

/// A footer.
#[derive(Debug, Default)]
pub struct Footer {
    /// The tree of columns, from its root on.
    pub schema: Vec<Element>,
    /// The row groups, which no footer lacks.
    pub groups: Option<Vec<Group>>,
    /// Names and values that writers add.
    pub notes: Vec<KeyValue>,
    /// The program that wrote the file.
    pub created_by: Option<String>,
}

impl ReadThrift for Footer {
    fn read_from_in_protocol<T: TInputProtocol>(from: &mut T) -> Result<Self> {
        let mut footer = Self::default();
        fields(from, |from, number, kind| {
            match number {
                2 => footer.schema = from.read_list()?,
                4 => footer.groups = Some(from.read_list()?),
                5 => footer.notes = from.read_list()?,
                6 => footer.created_by = Some(from.read_string()?),
                _ => skip(from, kind, DEEPEST)?,
            }
            Ok(())
        })?;
        Ok(footer)
    }
}

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
    /// What the values mean, as older writers say it.
    pub converted: Option<ConvertedType>,
    /// Digits after the point of a decimal, as older writers say it.
    pub scale: Option<i32>,
    /// What the values mean.
    pub logical: Option<Logical>,
}

impl ReadThrift for Element {
    fn read_from_in_protocol<T: TInputProtocol>(from: &mut T) -> Result<Self> {
        let mut element = Self::default();
        fields(from, |from, number, kind| {
            match number {
                1 => element.kind = Some(Type(from.read_i32()?)),
                2 => element.len = Some(from.read_i32()?),
                3 => element.repetition = Some(FieldRepetitionType(from.read_i32()?)),
                4 => element.name = from.read_string()?,
                5 => element.children = Some(from.read_i32()?),
                6 => element.converted = Some(ConvertedType(from.read_i32()?)),
                7 => element.scale = Some(from.read_i32()?),
                10 => element.logical = Some(Logical::read_from_in_protocol(from)?),
                _ => skip(from, kind, DEEPEST)?,
            }
            Ok(())
        })?;
        Ok(element)
    }
}

/// What the values of a column mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {
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

impl ReadThrift for Logical {
    fn read_from_in_protocol<T: TInputProtocol>(from: &mut T) -> Result<Self> {
        let mut logical = Self::Other;
        fields(from, |from, number, kind| {
            match number {
                5 => logical = Self::Decimal { scale: DecimalType::read_from_in_protocol(from)?.scale },
                10 => logical = Self::Integer { is_signed: IntType::read_from_in_protocol(from)?.is_signed },
                _ => skip(from, kind, DEEPEST)?,
            }
            Ok(())
        })?;
        Ok(logical)
    }
}

/// A row group.
#[derive(Debug)]
pub struct Group {
    /// Its columns.
    pub columns: Vec<Chunk>,
    /// Its rows; negative where the footer does not say.
    pub rows: i64,
}

impl ReadThrift for Group {
    fn read_from_in_protocol<T: TInputProtocol>(from: &mut T) -> Result<Self> {
        let mut group = Self { columns: Vec::new(), rows: -1 };
        fields(from, |from, number, kind| {
            match number {
                1 => group.columns = from.read_list()?,
                3 => group.rows = from.read_i64()?,
                _ => skip(from, kind, DEEPEST)?,
            }
            Ok(())
        })?;
        Ok(group)
    }
}

/// Where the pages of a column of a row group are. What cannot be lies beyond the end of any file.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
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

impl ReadThrift for Chunk {
    fn read_from_in_protocol<T: TInputProtocol>(from: &mut T) -> Result<Self> {
        let (mut codec, mut len, mut data, mut dictionary) = (-1, u64::MAX, u64::MAX, u64::MAX);
        let unsigned = |number: i64| u64::try_from(number).unwrap_or(u64::MAX);
        fields(from, |from, number, kind| {
            if number != 3 {
                return skip(from, kind, DEEPEST);
            }
            fields(from, |from, number, kind| {
                match number {
                    4 => codec = from.read_i32()?,
                    7 => len = unsigned(from.read_i64()?),
                    9 => data = unsigned(from.read_i64()?),
                    // Some writers put a 0 where there is no dictionary.
                    11 => {
                        dictionary = Some(unsigned(from.read_i64()?)).filter(|at| *at > 0).unwrap_or(u64::MAX)
                    }
                    _ => skip(from, kind, DEEPEST)?,
                }
                Ok(())
            })
        })?;
        let start = data.min(dictionary);
        Ok(Self { start, end: start.saturating_add(len), codec: CompressionCodec(codec) })
    }
}
