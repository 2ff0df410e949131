//! Writing a count file.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::writer::{ColumnWriterImpl, get_column_writer, get_typed_column_writer_mut};
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, ColumnPath, TypePtr};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::replace::Replacement;
use tabiya_chess::{MoveCode, PACKED_LEN, RatingBand, Speed, Variant};
use tabiya_parquet::checked::CheckedPages;
use tabiya_parquet::pages::plain;

use super::{
    COUNT_COLUMNS, CountsRow, CountsWritten, KEY, MOVE, POSITION, STDOUT, Shape, VARIANT_NAME, VERSION,
    VERSION_NAME,
};
use crate::slice::MAX_GAMES;
use crate::{RATING, SPEED, Slice};

/// Rows of each of the first row groups, which is held in memory until it is written: about 20 MB.
const GROUP_ROWS: usize = 1 << 18;

/// How many these are, for two billion rows. Those that follow have eight times as many rows, so that the footer, which readers hold
/// in memory, does not grow with the games of all the world.
const FIRST_GROUPS: usize = 1 << 13;

/// Row groups of a file at most, for 53 billion rows: each has less than 2 KiB in the footer, and readers refuse one above 64 MiB
/// ([`tabiya_parquet::table::MAX_FOOTER`]).
pub(super) const MAX_GROUPS: usize = 1 << 15;

/// Rows of a page: a position is found by reading one page of each column.
const PAGE_ROWS: usize = 1 << 10;

/// Values that are passed to the crate at a time, after which it checks whether a page is full.
const BATCH: usize = PAGE_ROWS;

/// Bytes of a page before it is compressed.
const PAGE_LEN: usize = 1 << 18;

/// Where a count file goes.
#[derive(Debug)]
#[non_exhaustive]
pub enum Target {
    File(Replacement),
    /// Standard output, which may be a pipe.
    Stdout(BufWriter<io::Stdout>),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(out) => out.flush(),
        }
    }
}

/// A count file that is being written. Dropped before [`CountWriter::finish`], it leaves no file.
#[derive(Debug)]
pub struct CountWriter<W: Write + Send = Target> {
    path: PathBuf,
    writer: SerializedFileWriter<W>,
    shape: Shape,
    group: CountsRowGroup,
    /// Row groups that were written.
    pub(super) groups: usize,
    last_key: Option<u64>,
    written: CountsWritten,
}

/// The rows of a row group, by columns.
#[derive(Debug, Default)]
struct CountsRowGroup {
    keys: Vec<i64>,
    moves: Vec<i32>,
    counts: [Vec<i64>; 3],
    /// Positions one after the other, if they are written.
    positions: Vec<u8>,
    /// What is counted separately, if anything is.
    slices: Vec<Slice>,
}

impl CountWriter {
    /// Begins a count file of this shape at `path`; with `force` it may replace a file. The path [`STDOUT`] is standard
    /// output.
    ///
    /// # Errors
    /// As [`Replacement::new`].
    pub fn create(path: &Path, shape: Shape, force: bool) -> Result<Self> {
        let target = if path.as_os_str() == STDOUT {
            Target::Stdout(BufWriter::new(io::stdout()))
        } else {
            Target::File(Replacement::new(path, force)?)
        };
        Self::new(path, target, shape)
    }

    /// Writes the remaining rows, syncs, and puts the file in place, unless no ply was counted. A reader of standard output
    /// receives a file without rows then.
    ///
    /// # Errors
    /// When the disk is full or fails, or when standard output is closed: the old file is unchanged.
    pub fn finish(self) -> Result<CountsWritten> {
        let (target, written) = self.close()?;
        match target {
            Target::File(file) if written.plies > 0 => file.commit()?,
            Target::File(_) => {}
            Target::Stdout(mut out) => out.flush().map_err(|error| cannot(&written.file, error.into()))?,
        }
        Ok(written)
    }
}

impl<W: Write + Send> CountWriter<W> {
    /// Begins a count file in any writer; `path` is only its name.
    ///
    /// # Errors
    /// When its first bytes cannot be written.
    pub fn new(path: &Path, file: W, shape: Shape) -> Result<Self> {
        let broken = |error| cannot(path, error);
        let schema = schema(shape).map_err(broken)?;
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties())).map_err(broken)?;
        let written = CountsWritten { file: path.to_owned(), ..CountsWritten::default() };
        Ok(Self {
            path: path.to_owned(),
            writer,
            shape,
            group: CountsRowGroup::default(),
            groups: 0,
            last_key: None,
            written,
        })
    }

    /// The same, which says that it counts games of this variant.
    #[must_use]
    pub fn of_variant(mut self, variant: Variant) -> Self {
        if variant != Variant::Chess {
            let said = KeyValue::new(VARIANT_NAME.to_owned(), variant.uci().to_owned());
            self.writer.append_key_value_metadata(said);
        }
        self
    }

    /// The columns that are written and others may not have.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Takes in the next row: they come sorted by key, by move and by slice, and each once.
    ///
    /// # Errors
    /// When the disk is full or fails, when a count is too large, or when positions are written and this one is missing.
    pub fn add(&mut self, line: &CountsRow) -> Result<()> {
        let counts = [line.wins, line.draws, line.losses];
        if counts.iter().any(|count| *count >= MAX_GAMES) {
            return Err(Error::format(&self.path, "a move has too many games to count"));
        }
        if self.shape.positions {
            let packed = line
                .packed
                .ok_or_else(|| Error::format(&self.path, "a position that is to be written is missing"))?;
            self.group.positions.extend_from_slice(&packed.0);
        }
        if self.shape.by.any() {
            self.group.slices.push(line.slice);
        }
        self.group.keys.push(line.key.cast_signed());
        self.group.moves.push(line.mv.0.into());
        for (column, count) in self.group.counts.iter_mut().zip(counts) {
            column.push(count.cast_signed());
        }
        self.written.rows += 1;
        if line.mv != MoveCode::NULL {
            self.written.plies =
                counts.iter().fold(self.written.plies, |sum, count| sum.saturating_add(*count));
        }
        if self.last_key != Some(line.key) {
            self.last_key = Some(line.key);
            self.written.positions += 1;
        }
        if self.group.keys.len() >= rows_of_group(self.groups) {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the row group.
    pub(super) fn flush(&mut self) -> Result<()> {
        let path = &self.path;
        if self.groups >= MAX_GROUPS {
            return Err(Error::format(path, "a count file has no room for more rows").advice(
                "count fewer plies, or the games in several runs: a folder of their files is read as one",
            ));
        }
        self.groups += 1;
        let left = self.writer.schema_descr().columns().to_vec().into();
        let properties = self.writer.properties().clone();
        self.writer
            .next_row_group()
            .and_then(|to| self.group.write(Columns { to, left, properties }, self.shape))
            .map_err(|error| cannot(path, error))?;
        self.group.clear();
        Ok(())
    }

    /// Writes the remaining rows and the footer.
    ///
    /// # Errors
    /// When the disk is full or fails.
    pub fn close(mut self) -> Result<(W, CountsWritten)> {
        if !self.group.keys.is_empty() {
            self.flush()?;
        }
        let path = &self.path;
        let file = self.writer.into_inner().map_err(|error| cannot(path, error))?;
        Ok((file, self.written))
    }
}

/// Rows of the row group of this number, from 0.
pub(super) const fn rows_of_group(number: usize) -> usize {
    if number < FIRST_GROUPS { GROUP_ROWS } else { 8 * GROUP_ROWS }
}

impl CountsRowGroup {
    fn write<W: Write + Send>(
        &mut self,
        mut to: Columns<'_, W>,
        shape: Shape,
    ) -> std::result::Result<(), ParquetError> {
        to.column::<Int64Type>(&self.keys)?;
        to.column::<Int32Type>(&self.moves)?;
        for counts in &self.counts {
            to.column::<Int64Type>(counts)?;
        }
        if shape.positions {
            let rows = self.keys.len();
            // Slices of one block of bytes: a block for each would be a million of them.
            let all = ByteArray::from(std::mem::take(&mut self.positions));
            let slice = |row: usize| FixedLenByteArray::from(all.slice(row * PACKED_LEN, PACKED_LEN));
            to.next::<FixedLenByteArrayType>(|column| {
                (0..rows).step_by(BATCH).try_for_each(|from| {
                    let values: Vec<_> = (from..rows.min(from + BATCH)).map(slice).collect();
                    column.write_batch(&values, None, None).map(drop)
                })
            })?;
        }
        if shape.by.speed {
            let names = Speed::NAMES.map(|(name, _)| ByteArray::from(name));
            let name = |slice: &Slice| slice.speed().and_then(|speed| names.get(speed as usize).cloned());
            to.nullable::<ByteArrayType>(&self.slices, name)?;
        }
        if shape.by.rating {
            let lowest = |slice: &Slice| slice.rating().map(RatingBand::lowest).map(i32::from);
            to.nullable::<Int32Type>(&self.slices, lowest)?;
        }
        to.to.close().map(drop)
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.moves.clear();
        self.counts.iter_mut().for_each(Vec::clear);
        self.positions.clear();
        self.slices.clear();
    }
}

/// Where the columns of a row group go, in their order.
struct Columns<'a, W: Write + Send> {
    to: SerializedRowGroupWriter<'a, W>,
    left: VecDeque<ColumnDescPtr>,
    properties: WriterPropertiesPtr,
}

impl<W: Write + Send> Columns<'_, W> {
    /// Writes the next column.
    fn column<T: DataType>(&mut self, values: &[T::T]) -> std::result::Result<(), ParquetError> {
        self.next::<T>(|column| {
            values.chunks(BATCH).try_for_each(|values| column.write_batch(values, None, None).map(drop))
        })
    }

    /// Writes the next column, with NULL for slices without a value.
    fn nullable<T: DataType>(
        &mut self,
        slices: &[Slice],
        value: impl Fn(&Slice) -> Option<T::T>,
    ) -> std::result::Result<(), ParquetError> {
        self.next::<T>(|column| {
            slices.chunks(BATCH).try_for_each(|slices| {
                let values: Vec<_> = slices.iter().map(&value).collect();
                let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
                let values: Vec<_> = values.into_iter().flatten().collect();
                column.write_batch(&values, Some(&levels), None).map(drop)
            })
        })
    }

    fn next<T: DataType>(
        &mut self,
        write: impl FnOnce(&mut ColumnWriterImpl<'_, T>) -> std::result::Result<(), ParquetError>,
    ) -> std::result::Result<(), ParquetError> {
        let Some(descriptor) = self.left.pop_front() else { return Ok(()) };
        let mut pages = Vec::new();
        let into = Box::new(CheckedPages(&mut pages));
        let mut column = get_column_writer(descriptor, self.properties.clone(), into);
        write(get_typed_column_writer_mut::<T>(&mut column))?;
        let closed = column.close()?;
        self.to.append_column(&Bytes::from(pages), closed)
    }
}

fn schema(shape: Shape) -> std::result::Result<TypePtr, ParquetError> {
    let mut columns =
        format!("required int64 {KEY} (INTEGER(64,false)); required int32 {MOVE} (INTEGER(16,false));");
    for name in COUNT_COLUMNS {
        columns += &format!("required int64 {name} (INTEGER(64,false));");
    }
    if shape.positions {
        columns += &format!("required fixed_len_byte_array({PACKED_LEN}) {POSITION};");
    }
    if shape.by.speed {
        columns += &format!("optional binary {SPEED} (STRING);");
    }
    if shape.by.rating {
        columns += &format!("optional int32 {RATING} (INTEGER(16,false));");
    }
    parse_message_type(&format!("message counts {{ {columns} }}")).map(Arc::new)
}

/// How the columns are written.
fn properties() -> WriterProperties {
    let path = |name: &str| ColumnPath::from(name);
    let said = KeyValue::new(VERSION_NAME.to_owned(), VERSION.to_string());
    WriterProperties::builder()
        .set_created_by(format!("tabiya {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![said]))
        .set_compression(Compression::SNAPPY)
        .set_data_page_size_limit(PAGE_LEN)
        .set_write_batch_size(BATCH)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_column_statistics_enabled(path(KEY), EnabledStatistics::Page)
        .set_sorting_columns(Some(
            [0, 1]
                .map(|column_idx| SortingColumn { column_idx, descending: false, nulls_first: false })
                .to_vec(),
        ))
        // Sorted numbers are close to each other, and most keys come once: a dictionary would save nothing.
        .set_column_dictionary_enabled(path(KEY), false)
        .set_column_encoding(path(KEY), Encoding::DELTA_BINARY_PACKED)
        .set_column_dictionary_enabled(path(POSITION), false)
        .build()
}

/// An error of writing, for the user.
fn cannot(path: &Path, error: ParquetError) -> Error {
    if path.as_os_str() == STDOUT {
        return Error::new(ErrorKind::File, format!("cannot write to standard output: {}", plain(&error)));
    }
    let error =
        Error::new(ErrorKind::File, format!("cannot write the file: {}", plain(&error))).at_path(path);
    if path.exists() { error.advice("the old file is unchanged") } else { error }
}
