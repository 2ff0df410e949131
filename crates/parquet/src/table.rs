//! Reading some columns of a Parquet file of any writer.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use polars_parquet_format::thrift::protocol::ReadThrift;

use tabiya_base::blob::Blob;
use tabiya_base::bytes;
use tabiya_base::error::{Error, Result};
use tabiya_base::panics::caught;

use super::columns::Column;
use super::footer::{self, Bound, ByteRange, Chunk, Footer, PageBounds, PagePlace, PagePlaces};
use super::pages::{self, Pages, plain};
use super::recent::Recent;
use super::values::Values;
use tabiya_base::file_kind::PARQUET;

/// Rows that are read at a time.
const BATCH: usize = 1 << 12;

/// Bytes after the footer: its length, and the magic bytes again.
const TAIL_LEN: u64 = 8;

/// The longest footer that is read, in bytes: it holds some ten thousand row groups.
pub const MAX_FOOTER: u64 = 1 << 26;

/// The longest index of a row group's pages that is read: it holds a million pages.
const MAX_INDEX: u64 = 1 << 24;

/// The magic bytes of a file with an encrypted footer.
const ENCRYPTED: &[u8] = b"PARE";

/// An open Parquet file: its footer is read, its rows are not.
pub struct Table {
    file: Arc<Blob>,
    /// The columns that are read.
    columns: Vec<Column>,
    /// The offset of each row group, and where these columns are in it.
    groups: Vec<(u64, Vec<Chunk>)>,
    /// The first row of each row group, and the number of all rows.
    starts: Vec<u64>,
    created_by: Option<String>,
    /// The pages of columns of row groups, by the place of the index.
    places: Recent<[u64; 2], Vec<PagePlace>>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("file", &self.file.path()).finish_non_exhaustive()
    }
}

impl Table {
    /// Reads the footer; `find` finds the columns that are to be read, and how many rows one byte of the file may hold.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or is not a Parquet file, and what `find` returns.
    pub fn new(file: Blob, find: impl FnOnce(&Footer) -> Result<(Vec<Column>, u64)>) -> Result<Self> {
        let (footer, at) = footer_bytes(&file)?;
        let damaged =
            |what: &str| Error::format(file.path(), what).at_offset(at).advice("write or download it again");
        let footer = footer::read::<Footer>(&footer);
        let (footer, _) = footer.ok_or_else(|| damaged("its footer is damaged"))?;
        let (columns, rows_per_byte) = find(&footer).map_err(|error| error.at_path(file.path()))?;
        let (mut groups, mut starts, mut rows, mut claimed) = (Vec::new(), vec![0], 0_u64, 0_u64);
        for group in footer.groups.ok_or_else(|| damaged("its footer is damaged"))? {
            // No byte belongs to two columns, or a short file could take forever.
            claimed = group.columns.iter().fold(claimed, |sum, column| sum.saturating_add(column.len()));
            if claimed > file.len() {
                return Err(damaged("its columns claim more bytes than it has"));
            }
            rows = rows.saturating_add(u64::try_from(group.rows).unwrap_or(u64::MAX));
            if rows > file.len().saturating_mul(rows_per_byte) {
                return Err(damaged("it claims more rows than it has bytes for"));
            }
            let chunk = |column: &Column| group.columns.get(column.at).copied();
            let chunks = columns.iter().map(chunk).collect::<Option<Vec<_>>>();
            let chunks = chunks.ok_or_else(|| damaged("a row group has fewer columns than the file"))?;
            let start = group.columns.iter().map(|column| column.start).min().unwrap_or_default();
            groups.push((start.min(at), chunks));
            starts.push(rows);
        }
        let created_by = footer.created_by;
        Ok(Self { file: Arc::new(file), columns, groups, starts, created_by, places: Recent::default() })
    }

    /// The columns that can be read.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.file.len()
    }

    /// The number of rows in its footer.
    pub fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The number of row groups, which can be read independently.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The first row of a row group.
    pub fn group_first(&self, group: usize) -> u64 {
        self.starts.get(group).copied().unwrap_or(0)
    }

    pub fn group_rows(&self, group: usize) -> u64 {
        self.group_first(group + 1).saturating_sub(self.group_first(group))
    }

    /// The offset of a row group in bytes.
    pub fn group_start(&self, group: usize) -> u64 {
        self.groups.get(group).map_or(0, |(start, _)| *start)
    }

    /// The program that wrote it, in its own words.
    pub fn created_by(&self) -> Option<&str> {
        self.created_by.as_deref()
    }

    /// Where a column is in a row group.
    pub fn chunk(&self, group: usize, column: usize) -> Option<&Chunk> {
        self.groups.get(group)?.1.get(column)
    }

    /// Reads the `wanted` columns of these rows of a row group, some rows at a time: `see` gets the number of the first of
    /// these rows in the file, the values of the columns in their order, and how many rows they are. Pages before the rows
    /// are skipped if the file has an index of its pages.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged, and what `see` returns.
    pub fn rows_of(
        &self,
        group: usize,
        rows: Range<u64>,
        wanted: impl Fn(&Column) -> bool,
        mut see: impl FnMut(u64, &[Values], usize) -> Result<()>,
    ) -> Result<()> {
        let first = self.group_first(group);
        let Some((_, chunks)) = self.groups.get(group) else { return Ok(()) };
        let mut all = Vec::new();
        for (column, chunk) in self.columns.iter().zip(chunks).filter(|(column, _)| wanted(column)) {
            all.push(self.open(column, chunk, &rows, first)?);
        }
        let mut row = rows.start;
        while row < rows.end {
            let most = BATCH.min(usize::try_from(rows.end - row).unwrap_or(BATCH));
            for values in &mut all {
                self.read(values, first + row, most)?;
            }
            see(first + row, &all, most)?;
            row += most as u64;
        }
        Ok(())
    }

    /// Begins to read these rows of a column of the row group whose first row is `first`.
    fn open(&self, column: &Column, chunk: &Chunk, rows: &Range<u64>, first: u64) -> Result<Values> {
        let pages = Pages::open(&self.file, &column.descriptor, *chunk);
        let mut pages = pages.map_err(|error| error.at_path(self.path()))?;
        let mut row = 0;
        // Whoever reads from the start needs no index.
        let places = if rows.start == 0 { Arc::default() } else { self.places(chunk) };
        let from = places.partition_point(|page| page.row <= rows.start).saturating_sub(1);
        let to = places.partition_point(|page| page.row < rows.end).saturating_sub(1);
        if let (Some(start), Some(from), Some(to)) = (places.first(), places.get(from), places.get(to)) {
            let end = to.place.at.saturating_add(to.place.len);
            let part = ByteRange { at: from.place.at, len: end.saturating_sub(from.place.at) };
            pages = pages.only(start.place.at, part);
            row = from.row;
        }
        let mut values = Values::new(column, pages);
        while row < rows.start {
            let most = BATCH.min(usize::try_from(rows.start - row).unwrap_or(BATCH));
            self.read(&mut values, first + row, most)?;
            row += most as u64;
        }
        Ok(values)
    }

    /// The pages of a column of a row group; none if the file has no index of them, or a damaged one.
    fn places(&self, chunk: &Chunk) -> Arc<Vec<PagePlace>> {
        let [places, _] = chunk.indexes;
        if places.len == 0 {
            return Arc::default();
        }
        self.places.get([places.at, places.len], || {
            let pages = self.index::<PagePlaces>(places).map(|read| read.pages).unwrap_or_default();
            let bytes = size_of_val(pages.as_slice());
            (pages, bytes)
        })
    }

    /// For each page of a column of a row group, its rows, and its least and greatest values; none if the file has no
    /// index of them, or a damaged one.
    pub fn page_bounds(&self, group: usize, column: usize) -> Vec<(Range<u64>, [Bound; 2])> {
        let Some(chunk) = self.chunk(group, column) else { return Vec::new() };
        let [_, bounds] = chunk.indexes;
        let Some(bounds) = self.index::<PageBounds>(bounds) else { return Vec::new() };
        let places = self.places(chunk);
        if bounds.least.len() != places.len() || bounds.greatest.len() != places.len() {
            return Vec::new();
        }
        let ends = places.iter().skip(1).map(|page| page.row).chain([self.group_rows(group)]);
        let rows = places.iter().zip(ends).map(|(page, end)| page.row..end);
        let bounds = bounds.least.iter().zip(&bounds.greatest).map(|(least, greatest)| [*least, *greatest]);
        rows.zip(bounds).collect()
    }

    /// Reads an index of pages.
    fn index<T: ReadThrift>(&self, place: ByteRange) -> Option<T> {
        if place.len == 0 || place.len > MAX_INDEX {
            return None;
        }
        let bytes = pages::read(&self.file, place.at, place.len).ok()?;
        footer::read(&bytes).map(|(read, _)| read)
    }

    /// Reads the next values of a column, as many as `most`, from a row of the file on.
    fn read(&self, values: &mut Values, row: u64, most: usize) -> Result<()> {
        match caught(|| values.read(most)) {
            Some(Ok(some)) if some == most => Ok(()),
            Some(Ok(some)) => Err(self.bad(row + some as u64, "a column ends here, but others go on")),
            Some(Err(error)) => Err(self.unread(row, error)),
            None => Err(self.bad(row, "the rows from here on are damaged")),
        }
    }

    /// The error of values that cannot be read from a row on.
    fn unread(&self, row: u64, error: ParquetError) -> Error {
        let error = match error {
            ParquetError::External(error) => match error.downcast::<Error>() {
                Ok(error) => return *error,
                Err(error) => ParquetError::External(error),
            },
            error => error,
        };
        self.bad(row, &format!("the rows from here on are damaged: {}", plain(&error)))
    }

    /// The error of a row.
    pub fn bad(&self, row: u64, what: &str) -> Error {
        Error::format(self.path(), format!("row {row}, counted from 0: {what}"))
    }
}

/// The bytes of the footer, and their offset.
fn footer_bytes(file: &Blob) -> Result<(Vec<u8>, u64)> {
    let error = |what: &str| Error::format(file.path(), what);
    let cut =
        || error("this Parquet file is cut off: its end is missing").advice("write or download it again");
    let mut start = [0; PARQUET.len()];
    file.read(0, &mut start)?;
    if start != PARQUET && start != ENCRYPTED {
        return Err(error("this is not a Parquet file").advice("write or download it again"));
    }
    let tail_at =
        file.len().checked_sub(TAIL_LEN).filter(|at| *at >= PARQUET.len() as u64).ok_or_else(cut)?;
    let tail = pages::read(file, tail_at, TAIL_LEN)?;
    if tail.ends_with(ENCRYPTED) {
        return Err(error("this Parquet file is encrypted").advice("write it without encryption"));
    }
    let len = bytes::u32_le(&tail, 0).map(u64::from).filter(|_| tail.ends_with(&PARQUET)).ok_or_else(cut)?;
    if len > MAX_FOOTER {
        return Err(error("the footer of this Parquet file claims to be larger than 64 MiB")
            .at_offset(tail_at)
            .advice("write it with fewer, larger row groups"));
    }
    let at = tail_at.checked_sub(len).ok_or_else(cut)?;
    Ok((pages::read(file, at, len)?, at))
}
