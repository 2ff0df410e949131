//! The values of a column.

use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;

use super::columns::Column;
use super::footer::NUMBER_LEN;
use super::pages::Pages;

/// The values of one column of a row group.
pub struct Values {
    reader: ValueReader,
    is_unsigned: bool,
    /// For a column that may hold NULL: 0 for each NULL.
    levels: Option<Vec<i16>>,
    /// Where some of the values read last are NULL: the place of each among the others.
    places: Vec<Option<usize>>,
}

/// The decoder of the values, and those read last.
enum ValueReader {
    I32(ColumnReaderImpl<Int32Type>, Vec<i32>),
    I64(ColumnReaderImpl<Int64Type>, Vec<i64>),
    Bytes(ColumnReaderImpl<ByteArrayType>, Vec<ByteArray>),
    Fixed(ColumnReaderImpl<FixedLenByteArrayType>, Vec<FixedLenByteArray>),
}

impl Values {
    /// Begins to read these pages of a column.
    pub fn new(column: &Column, pages: Pages) -> Self {
        let (descriptor, pages) = (column.descriptor.clone(), Box::new(pages));
        let is_nullable = descriptor.max_def_level() > 0;
        let reader = match descriptor.physical_type() {
            Type::INT32 => ValueReader::I32(ColumnReaderImpl::new(descriptor, pages), Vec::new()),
            Type::INT64 => ValueReader::I64(ColumnReaderImpl::new(descriptor, pages), Vec::new()),
            Type::BYTE_ARRAY => ValueReader::Bytes(ColumnReaderImpl::new(descriptor, pages), Vec::new()),
            _ => ValueReader::Fixed(ColumnReaderImpl::new(descriptor, pages), Vec::new()),
        };
        Self {
            reader,
            is_unsigned: column.is_unsigned,
            levels: is_nullable.then(Vec::new),
            places: Vec::new(),
        }
    }

    /// Reads the next values, no more than `most`, and returns how many there are, including NULL.
    ///
    /// # Errors
    /// When the pages are damaged.
    pub fn read(&mut self, most: usize) -> std::result::Result<usize, ParquetError> {
        let levels = &mut self.levels;
        let read = match &mut self.reader {
            ValueReader::I32(reader, values) => fill(reader, values, levels, most),
            ValueReader::I64(reader, values) => fill(reader, values, levels, most),
            ValueReader::Bytes(reader, values) => fill(reader, values, levels, most),
            ValueReader::Fixed(reader, values) => fill(reader, values, levels, most),
        };
        self.places.clear();
        if let (Some(levels), Some(_)) = (&self.levels, self.null()) {
            let mut next = 0;
            self.places.extend(levels.iter().map(|level| {
                next += usize::from(*level != 0);
                (*level != 0).then_some(next.saturating_sub(1))
            }));
        }
        read
    }

    /// The place of a value among those that are not NULL; `None` if it is.
    fn place(&self, at: usize) -> Option<usize> {
        if self.places.is_empty() { Some(at) } else { self.places.get(at).copied().flatten() }
    }

    /// Whether one of the values read last is NULL.
    pub fn is_null(&self, at: usize) -> bool {
        self.place(at).is_none()
    }

    /// The place of the first NULL among the values read last.
    pub fn null(&self) -> Option<usize> {
        self.levels.as_ref()?.iter().position(|level| *level == 0)
    }

    /// One of the values read last; `None` if it is NULL, no number, or too long.
    pub fn number(&self, at: usize) -> Option<i128> {
        let place = self.place(at)?;
        match &self.reader {
            ValueReader::I32(_, values) if self.is_unsigned => {
                Some(values.get(place)?.cast_unsigned().into())
            }
            ValueReader::I32(_, values) => Some((*values.get(place)?).into()),
            ValueReader::I64(_, values) if self.is_unsigned => {
                Some(values.get(place)?.cast_unsigned().into())
            }
            ValueReader::I64(_, values) => Some((*values.get(place)?).into()),
            _ => big_endian(self.bytes(at)?),
        }
    }

    /// Shows the places of a number among the first `values` of those read last.
    pub fn equal(&self, number: i128, values: usize, mut see: impl FnMut(usize)) {
        match &self.reader {
            // Nearly all keys are written so, and each look-up compares as many as a page has.
            ValueReader::I64(_, read) if self.places.is_empty() => {
                let pattern = if self.is_unsigned {
                    u64::try_from(number).map(u64::cast_signed)
                } else {
                    i64::try_from(number)
                };
                let Ok(pattern) = pattern else { return };
                let equal = read.iter().take(values).enumerate().filter(|(_, value)| **value == pattern);
                equal.for_each(|(at, _)| see(at));
            }
            _ => (0..values).filter(|at| self.number(*at) == Some(number)).for_each(see),
        }
    }

    /// One of the values read last as bytes; `None` if it is NULL or a number.
    pub fn bytes(&self, at: usize) -> Option<&[u8]> {
        let at = self.place(at)?;
        match &self.reader {
            ValueReader::Bytes(_, values) => values.get(at).map(ByteArray::data),
            ValueReader::Fixed(_, values) => values.get(at).map(|value| value.data()),
            _ => None,
        }
    }
}

/// Reads the next values of a column of any type.
fn fill<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    values: &mut Vec<T::T>,
    levels: &mut Option<Vec<i16>>,
    most: usize,
) -> std::result::Result<usize, ParquetError> {
    values.clear();
    levels.iter_mut().for_each(Vec::clear);
    reader.read_records(most, levels.as_mut(), None, values).map(|(rows, ..)| rows)
}

/// The number that a footer or an index has for a column: the lowest byte first, decimals the highest first. `None` if the
/// bytes are not one.
pub fn number(column: &Column, bytes: &[u8]) -> Option<i128> {
    Some(match (column.descriptor.physical_type(), column.is_unsigned) {
        (Type::INT32, true) => u32::from_le_bytes(bytes.try_into().ok()?).into(),
        (Type::INT32, false) => i32::from_le_bytes(bytes.try_into().ok()?).into(),
        (Type::INT64, true) => u64::from_le_bytes(bytes.try_into().ok()?).into(),
        (Type::INT64, false) => i64::from_le_bytes(bytes.try_into().ok()?).into(),
        _ => big_endian(bytes)?,
    })
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
