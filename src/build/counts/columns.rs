//! The columns of a count file: which they are, of which type, and their values.

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::input::Input;
use super::pages::{Pages, is_known};
use super::{COUNT_COLUMNS, KEY, MOVE, POSITION};
use crate::chess::PACKED_LEN;

/// The most bytes that a whole number may have.
const NUMBER_LEN: usize = 16;

/// What is wrong with a column, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A clause.
    pub what: String,
    /// A clause, where there is something to be done.
    pub advice: Option<String>,
}

/// Where the columns stand among those of the file.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// The key, the move, wins, draws and losses.
    pub numbers: [usize; 5],
    /// The position, where the file has one.
    pub position: Option<usize>,
}

impl Columns {
    /// Finds the columns by their names, in any letter case, and looks at their types.
    ///
    /// # Errors
    /// When one is missing, or its type cannot hold what it should.
    pub fn find(schema: &SchemaDescriptor) -> Result<Self, Fault> {
        let mut numbers = [0; 5];
        for (name, into) in [KEY, MOVE].into_iter().chain(COUNT_COLUMNS).zip(&mut numbers) {
            *into = find(schema, name)?.ok_or_else(|| Fault {
                what: format!("this Parquet file has no column {name:?}, and is no count file without it"),
                advice: Some("the columns are key, move, wins, draws and losses".to_owned()),
            })?;
            number_type(&schema.column(*into), name)?;
        }
        let position = find(schema, POSITION)?;
        if let Some(at) = position {
            let column = schema.column(at);
            let fits = match column.physical_type() {
                Type::BYTE_ARRAY => true,
                Type::FIXED_LEN_BYTE_ARRAY => column.type_length() == PACKED_LEN as i32,
                _ => false,
            };
            if !fits {
                return Err(Fault {
                    what: format!("the column {POSITION:?} does not hold {PACKED_LEN} bytes"),
                    advice: Some("leave the column out, or write it as a BLOB".to_owned()),
                });
            }
        }
        Ok(Self { numbers, position })
    }
}

/// The place of a column that is neither in a list nor in a structure.
fn find(schema: &SchemaDescriptor, name: &str) -> Result<Option<usize>, Fault> {
    let named = |column: &ColumnDescriptor| {
        matches!(column.path().parts(), [only] if only.eq_ignore_ascii_case(name))
            && column.max_rep_level() == 0
    };
    let mut found = (0..schema.num_columns()).filter(|&at| named(&schema.column(at)));
    let first = found.next();
    if found.next().is_some() {
        return Err(Fault { what: format!("there are two columns {name:?}"), advice: None });
    }
    Ok(first)
}

/// Whether a column's numbers are without sign: negative ones then are large ones.
fn is_unsigned(column: &ColumnDescriptor) -> bool {
    match column.logical_type_ref() {
        Some(LogicalType::Integer(number)) => !number.is_signed,
        _ => matches!(
            column.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        ),
    }
}

/// Looks whether a column holds whole numbers.
fn number_type(column: &ColumnDescriptor, name: &str) -> Result<(), Fault> {
    let whole = match column.physical_type() {
        Type::INT32 | Type::INT64 => matches!(
            column.converted_type(),
            ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64
                | ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
                | ConvertedType::DECIMAL
        ),
        Type::FIXED_LEN_BYTE_ARRAY => {
            column.converted_type() == ConvertedType::DECIMAL
                && (1..=NUMBER_LEN as i32).contains(&column.type_length())
        }
        Type::BYTE_ARRAY => column.converted_type() == ConvertedType::DECIMAL,
        _ => false,
    };
    let fraction = column.converted_type() == ConvertedType::DECIMAL && column.type_scale() != 0;
    if whole && !fraction {
        return Ok(());
    }
    let cast = match name {
        KEY => "CAST(key AS UBIGINT) AS key".to_owned(),
        MOVE => "CAST(move AS INTEGER) AS move".to_owned(),
        count => format!("CAST(sum({count}) AS UBIGINT) AS {count}"),
    };
    let holds = match column.physical_type() {
        Type::DOUBLE | Type::FLOAT => format!("{} numbers, which are not exact", column.physical_type()),
        _ => "no whole numbers".to_owned(),
    };
    Err(Fault {
        what: format!("the column {name:?} holds {holds}"),
        advice: Some(format!("write it as whole numbers, with {cast}")),
    })
}

/// The values of one column of a row group.
pub struct Values {
    reader: ColumnReader,
    unsigned: bool,
    nullable: bool,
    levels: Vec<i16>,
    i32s: Vec<i32>,
    i64s: Vec<i64>,
    bytes: Vec<ByteArray>,
    fixed: Vec<FixedLenByteArray>,
}

impl Values {
    /// Begins to read a column.
    ///
    /// # Errors
    /// When it lies outside of the file, or is packed in an unknown way.
    pub fn open(input: &Input, group: &RowGroupMetaData, at: usize) -> Result<Self, Fault> {
        let fault = |what: String| Fault { what, advice: None };
        let Some(chunk) = group.columns().get(at) else {
            return Err(fault("a column is missing".to_owned()));
        };
        let descriptor = chunk.column_descr_ptr();
        let name = descriptor.name();
        let start = match chunk.dictionary_page_offset() {
            // Some writers put a 0 where there is none.
            Some(dictionary) if dictionary > 0 => dictionary.min(chunk.data_page_offset()),
            _ => chunk.data_page_offset(),
        };
        let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
        let range = range.and_then(|(start, len)| Some((start, start.checked_add(len)?)));
        let Some((start, end)) = range.filter(|(_, end)| *end <= input.len()) else {
            return Err(fault(format!("the column {name:?} lies outside of the file")));
        };
        let codec = chunk.compression();
        if !is_known(codec) {
            let codec = format!("{codec:?}").split('(').next().unwrap_or_default().to_owned();
            return Err(Fault {
                what: format!("the column {name:?} is packed with {codec}"),
                advice: Some("write it with snappy, zstd, gzip, lz4_raw or uncompressed".to_owned()),
            });
        }
        let kind = descriptor.physical_type();
        let value_len = u64::try_from(descriptor.type_length()).unwrap_or(0);
        let pages = Pages::new(input.clone(), start, end, codec, kind, value_len);
        Ok(Self {
            unsigned: is_unsigned(&descriptor),
            nullable: descriptor.self_type().get_basic_info().repetition() == Repetition::OPTIONAL,
            reader: get_column_reader(descriptor, Box::new(pages)),
            levels: Vec::new(),
            i32s: Vec::new(),
            i64s: Vec::new(),
            bytes: Vec::new(),
            fixed: Vec::new(),
        })
    }

    /// Reads the next values, no more than `most`, and says how many there were, those that are null among them.
    ///
    /// # Errors
    /// When the pages are damaged.
    pub fn read(&mut self, most: usize) -> Result<usize, ParquetError> {
        self.levels.clear();
        let levels = self.nullable.then_some(&mut self.levels);
        let (rows, ..) = match &mut self.reader {
            ColumnReader::Int32ColumnReader(reader) => {
                self.i32s.clear();
                reader.read_records(most, levels, None, &mut self.i32s)?
            }
            ColumnReader::Int64ColumnReader(reader) => {
                self.i64s.clear();
                reader.read_records(most, levels, None, &mut self.i64s)?
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.bytes.clear();
                reader.read_records(most, levels, None, &mut self.bytes)?
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                self.fixed.clear();
                reader.read_records(most, levels, None, &mut self.fixed)?
            }
            _ => return Err(ParquetError::General("a column has another type".to_owned())),
        };
        Ok(rows)
    }

    /// The place of the first of the values read last that is null.
    pub fn null(&self) -> Option<usize> {
        self.levels.iter().position(|level| *level == 0)
    }

    /// One of the values read last, none of which is null; `None` where it is no number, or too long.
    pub fn number(&self, at: usize) -> Option<i128> {
        match &self.reader {
            ColumnReader::Int32ColumnReader(_) => {
                let value = *self.i32s.get(at)?;
                Some(if self.unsigned { (value as u32).into() } else { value.into() })
            }
            ColumnReader::Int64ColumnReader(_) => {
                let value = *self.i64s.get(at)?;
                Some(if self.unsigned { (value as u64).into() } else { value.into() })
            }
            ColumnReader::ByteArrayColumnReader(_) => big_endian(self.bytes.get(at)?.data()),
            _ => big_endian(self.fixed.get(at)?.data()),
        }
    }

    /// One of the values read last, none of which is null, as bytes.
    pub fn bytes(&self, at: usize) -> Option<&[u8]> {
        match &self.reader {
            ColumnReader::ByteArrayColumnReader(_) => self.bytes.get(at).map(ByteArray::data),
            ColumnReader::FixedLenByteArrayColumnReader(_) => self.fixed.get(at).map(|value| value.data()),
            _ => None,
        }
    }
}

/// A whole number in two's complement, the highest byte first, as decimals are written.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { 0xff };
    let mut number = [sign; NUMBER_LEN];
    let from = NUMBER_LEN.checked_sub(bytes.len())?;
    number.get_mut(from..)?.copy_from_slice(bytes);
    Some(i128::from_be_bytes(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_whole_numbers_with_a_sign() {
        assert_eq!(big_endian(&[1, 0]), Some(256));
        assert_eq!(big_endian(&[0xff; 9]), Some(-1));
        assert_eq!(big_endian(&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Some(u64::MAX.into()));
        assert_eq!(big_endian(&[]), None);
        assert_eq!(big_endian(&[0; 17]), None);
    }
}
