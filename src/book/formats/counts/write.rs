//! Writing a count file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{
    ByteArray, DataType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};

use super::MOST_GAMES;
use super::pages::plain;
use super::{COUNT_COLUMNS, CountsWritten, KEY, Line, MOVE, POSITION, VERSION, VERSION_NAME};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::replace::Replacement;
use crate::chess::MoveCode;
use crate::chess::PACKED_LEN;

/// Rows of a row group, which is held in memory until it is written, and which readers read at a time.
const GROUP_ROWS: usize = 1 << 18;

/// Values that are passed to the crate at a time, after which it checks whether a page is full.
const BATCH: usize = 1 << 12;

/// Bytes of a page before it is compressed.
const PAGE_LEN: usize = 1 << 18;

/// A count file that is being written. Dropped before [`CountWriter::finish`], it leaves no file.
pub struct CountWriter<W: Write + Send = Replacement> {
    path: PathBuf,
    writer: SerializedFileWriter<W>,
    group: Group,
    last_key: Option<u64>,
    written: CountsWritten,
}

/// The rows of a row group, by columns.
#[derive(Default)]
struct Group {
    keys: Vec<i64>,
    moves: Vec<i32>,
    counts: [Vec<i64>; 3],
    /// Positions one after the other, if they are written.
    positions: Option<Vec<u8>>,
}

impl CountWriter {
    /// Begins a count file at `path`, with `positions` or without; with `force` it may replace a file.
    ///
    /// # Errors
    /// As [`Replacement::new`].
    pub fn create(path: &Path, positions: bool, force: bool) -> Result<Self> {
        Self::new(path, Replacement::new(path, force)?, positions)
    }

    /// Writes the remaining rows, syncs, and puts the file in place, unless no ply was counted.
    ///
    /// # Errors
    /// When the disk is full or fails: the old file is unchanged.
    pub fn finish(self) -> Result<CountsWritten> {
        let (file, written) = self.close()?;
        if written.plies > 0 {
            file.commit()?;
        }
        Ok(written)
    }
}

impl<W: Write + Send> CountWriter<W> {
    /// Begins a count file in any writer; `path` is only its name.
    ///
    /// # Errors
    /// When its first bytes cannot be written.
    pub fn new(path: &Path, file: W, positions: bool) -> Result<Self> {
        let broken = |error| cannot(path, error);
        let schema = schema(positions).map_err(broken)?;
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties())).map_err(broken)?;
        let group = Group { positions: positions.then(Vec::new), ..Group::default() };
        let written = CountsWritten { file: path.to_owned(), ..CountsWritten::default() };
        Ok(Self { path: path.to_owned(), writer, group, last_key: None, written })
    }

    /// Whether positions are written.
    pub fn has_positions(&self) -> bool {
        self.group.positions.is_some()
    }

    /// Takes in the next row: they come sorted by key, then by move, and each once.
    ///
    /// # Errors
    /// When the disk is full or fails, when a count is too large, or when positions are written and this one is missing.
    pub fn add(&mut self, line: &Line) -> Result<()> {
        let counts = [line.wins, line.draws, line.losses];
        if counts.iter().any(|count| *count >= MOST_GAMES) {
            return Err(Error::format(&self.path, "a move has more games than can be counted"));
        }
        if let Some(positions) = &mut self.group.positions {
            let packed = line
                .packed
                .ok_or_else(|| Error::format(&self.path, "a position that is to be written is missing"))?;
            positions.extend_from_slice(&packed.0);
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
        if self.group.keys.len() >= GROUP_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the row group.
    fn flush(&mut self) -> Result<()> {
        let path = &self.path;
        self.writer
            .next_row_group()
            .and_then(|row_group| self.group.write(row_group))
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

impl Group {
    fn write<W: Write + Send>(
        &mut self,
        mut to: SerializedRowGroupWriter<'_, W>,
    ) -> std::result::Result<(), ParquetError> {
        column::<Int64Type, W>(&mut to, &self.keys)?;
        column::<Int32Type, W>(&mut to, &self.moves)?;
        for counts in &self.counts {
            column::<Int64Type, W>(&mut to, counts)?;
        }
        if let Some(positions) = &mut self.positions {
            let rows = positions.len() / PACKED_LEN;
            // Slices of one block of bytes: a block for each would be a million of them.
            let all = ByteArray::from(std::mem::take(positions));
            let slice = |row: usize| FixedLenByteArray::from(all.slice(row * PACKED_LEN, PACKED_LEN));
            column::<FixedLenByteArrayType, W>(&mut to, &(0..rows).map(slice).collect::<Vec<_>>())?;
        }
        to.close().map(drop)
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.moves.clear();
        self.counts.iter_mut().for_each(Vec::clear);
        self.positions.as_mut().map(Vec::clear);
    }
}

/// Writes the next column.
fn column<T: DataType, W: Write + Send>(
    to: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> std::result::Result<(), ParquetError> {
    let Some(mut column) = to.next_column()? else { return Ok(()) };
    for values in values.chunks(BATCH) {
        column.typed::<T>().write_batch(values, None, None)?;
    }
    column.close()
}

/// The columns.
fn schema(positions: bool) -> std::result::Result<TypePtr, ParquetError> {
    let mut columns =
        format!("required int64 {KEY} (INTEGER(64,false)); required int32 {MOVE} (INTEGER(16,false));");
    for name in COUNT_COLUMNS {
        columns += &format!("required int64 {name} (INTEGER(64,false));");
    }
    if positions {
        columns += &format!("required fixed_len_byte_array({PACKED_LEN}) {POSITION};");
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
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
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
    let error =
        Error::new(ErrorKind::File, format!("cannot write the file: {}", plain(&error))).at_path(path);
    if path.exists() { error.advice("the old file is unchanged") } else { error }
}
