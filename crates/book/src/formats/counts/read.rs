//! Reading a count file of any writer.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use tabiya_base::blob::Blob;
use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_chess::Variant;
use tabiya_parquet::columns::Column;
use tabiya_parquet::footer::Footer;
use tabiya_parquet::table::Table;
use tabiya_parquet::values::Values;

use super::layout::{self, NUMBERS, ROWS_PER_BYTE};
use super::seek::{KeyRows, Keys};
use super::{CountsRow, POSITION, Shape, VARIANT_NAME, VERSION, VERSION_NAME, rows};
use crate::{By, RATING, SPEED};

/// The columns of numbers besides the keys.
const OTHERS: usize = NUMBERS - 1;

/// An open count file: its footer is read, its rows are not.
#[derive(Debug)]
pub struct CountFile {
    /// The columns of numbers, and those of positions, speeds and ratings that there are.
    table: Table,
    version: Option<u32>,
    variant: Variant,
}

impl CountFile {
    /// Opens a count file.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, is not a Parquet file, lacks a column, or has one with a type that cannot hold its
    /// values.
    pub fn open(path: &Path) -> Result<Self> {
        Self::new(Blob::open(path)?)
    }

    /// Opens a count file that is in memory.
    ///
    /// # Errors
    /// As [`CountFile::open`].
    pub fn from_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Self> {
        Self::new(Blob::new(path.as_ref(), bytes))
    }

    fn new(file: Blob) -> Result<Self> {
        let (mut known, mut variant) = (None, Variant::Chess);
        let find = |footer: &Footer| {
            known = version(footer)?;
            variant = self::variant(footer)?;
            let columns = layout::find(&footer.schema)?;
            let rows_per_byte = ROWS_PER_BYTE * layout::shape(&columns).by.slices();
            Ok((columns, rows_per_byte))
        };
        let table = Table::new(file, find)?;
        Ok(Self { table, version: known, variant })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.table.path()
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.table.bytes()
    }

    /// The number of rows in its footer.
    pub fn rows(&self) -> u64 {
        self.table.rows()
    }

    /// The number of row groups, which can be read independently.
    pub fn groups(&self) -> usize {
        self.table.groups()
    }

    /// The number of rows of a row group.
    pub fn group_rows(&self, group: usize) -> u64 {
        self.table.group_rows(group)
    }

    /// The offset of a row group in bytes.
    pub(crate) fn group_start(&self, group: usize) -> u64 {
        self.table.group_start(group)
    }

    /// Whether it holds positions besides their keys.
    pub fn has_positions(&self) -> bool {
        self.shape().positions
    }

    /// The columns that it has and others may not have.
    pub fn shape(&self) -> Shape {
        layout::shape(self.table.columns())
    }

    /// The version of the format in the file; `None` if another program wrote it.
    pub fn version(&self) -> Option<u32> {
        self.version
    }

    /// The variant whose games it counts.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The program that wrote it, in its own words.
    pub fn created_by(&self) -> Option<&str> {
        self.table.created_by()
    }

    /// Reads the rows of a row group, with the columns that are `wanted`.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged, when a row has an impossible value, when a column is wanted and missing,
    /// and what `see` returns.
    pub fn group(
        &self,
        group: usize,
        wanted: Shape,
        see: impl FnMut(&CountsRow) -> Result<()>,
    ) -> Result<()> {
        self.rows_in(group, 0..self.group_rows(group), wanted, see)
    }

    /// Reads rows of a row group, as [`CountFile::group`] reads all of them.
    ///
    /// # Errors
    /// As [`CountFile::group`].
    pub fn rows_in(
        &self,
        group: usize,
        rows: Range<u64>,
        wanted: Shape,
        see: impl FnMut(&CountsRow) -> Result<()>,
    ) -> Result<()> {
        self.require(wanted)?;
        self.rows_of(group, rows, None, wanted, see)
    }

    /// The rows that may have keys of these, by their row groups, in a file that is [sorted](CountFile::keys): each row once,
    /// with a page or two that have none of them.
    pub fn between(&self, keys: &Keys, wanted: &RangeInclusive<u64>) -> Vec<(usize, Range<u64>)> {
        keys.between(&self.table, wanted)
    }

    /// Rows that are read at least where any are, in a file that is [sorted](CountFile::keys).
    pub fn least_rows(&self, keys: &Keys) -> u64 {
        keys.least_rows(&self.table)
    }

    /// Reads the rows of a position, with what games are counted separately `by`, in a file that is [sorted](CountFile::keys). Damaged parts of it have no rows: the last row group with some that were read is returned, with its error.
    pub(super) fn of_key(
        &self,
        keys: &Keys,
        key: u64,
        by: By,
        mut see: impl FnMut(&CountsRow),
    ) -> Option<(usize, Error)> {
        let mut damaged = None;
        let wanted = Shape { positions: false, by };
        keys.find(&self.table, key, |found| {
            let KeyRows { group, rows, all } = match found {
                Ok(found) => found,
                Err(error) => return damaged = Some(error),
            };
            let found = self.rows_of(group, rows, all.then_some(key), wanted, |line| {
                if line.key == key {
                    see(line);
                }
                Ok(())
            });
            // What was read until then counts.
            damaged = found.err().map(|error| (group, error)).or(damaged.take());
        });
        damaged
    }

    /// The pages that may have rows of a key, by their row groups; `None` if those of a row group are not sorted by their keys.
    pub(super) fn pages_of(&self, keys: &Keys, key: u64) -> Option<Vec<(usize, Range<u64>)>> {
        keys.pages_of(&self.table, key)
    }

    /// What `of` makes of each row of a page; `None` if the page is damaged, or `of` makes nothing of one.
    pub(super) fn page<T>(
        &self,
        group: usize,
        rows: Range<u64>,
        by: By,
        of: impl Fn(&CountsRow) -> Option<T>,
    ) -> Option<Vec<T>> {
        let (mut page, len) = (Vec::new(), rows.end.saturating_sub(rows.start));
        let read = self.rows_of(group, rows, None, Shape { positions: false, by }, |row| {
            page.extend(of(row));
            Ok(())
        });
        (read.is_ok() && page.len() as u64 == len).then_some(page)
    }

    /// The rows of the pages that are read to find a key, in the first row group that may have it.
    #[cfg(test)]
    pub(super) fn rows_read(&self, key: u64) -> Option<Range<u64>> {
        self.keys()?.rows_read(&self.table, key)
    }

    /// Where its keys are; `None` if its row groups are not sorted by keys, or do not say which they have.
    pub fn keys(&self) -> Option<Keys> {
        Keys::new(&self.table)
    }

    /// Reads rows of a row group; their keys are not read if all of them are known to have this one.
    fn rows_of(
        &self,
        group: usize,
        rows: Range<u64>,
        key: Option<u64>,
        wanted: Shape,
        mut see: impl FnMut(&CountsRow) -> Result<()>,
    ) -> Result<()> {
        let left_out = self.table.columns().first().filter(|_| key.is_some()).map(|keys| keys.at);
        // Of the columns that are read, those before the move.
        let before = usize::from(key.is_none());
        let is_wanted = |column: &Column| match () {
            () if column.is_named(POSITION) => wanted.positions,
            () if column.is_named(SPEED) => wanted.by.speed,
            () if column.is_named(RATING) => wanted.by.rating,
            () => left_out != Some(column.at),
        };
        let (mut known, mut slices) = (None, Vec::new());
        self.table.rows_of(group, rows, is_wanted, |row, columns, rows| {
            let (columns, sliced) =
                columns.split_at(columns.len().min(before + OTHERS + usize::from(wanted.positions)));
            if let Some(null) = columns.iter().filter_map(Values::null).min() {
                return Err(self.table.bad(row + null as u64, "a value is missing (NULL)"));
            }
            let bad = |(at, what): (usize, String)| self.table.bad(row + at as u64, &what);
            rows::slices(wanted.by, sliced, rows, &mut slices).map_err(bad)?;
            let (keys, others) = columns.split_at(before.min(columns.len()));
            let key_at = |at| match keys {
                [keys] => rows::key(keys, at),
                _ => key.ok_or_else(|| "a column is missing".to_owned()),
            };
            for (at, slice) in slices.iter().enumerate() {
                let line = key_at(at).and_then(|key| rows::line(key, others, at, *slice, self.variant));
                let line = line.and_then(|mut line| {
                    if let Some(positions) = others.get(OTHERS) {
                        line.packed = Some(rows::packed(positions.bytes(at), line.key, &mut known)?);
                    }
                    Ok(line)
                });
                see(&line.map_err(|what| bad((at, what)))?)?;
            }
            Ok(())
        })
    }

    /// Checks that it has the columns that are wanted.
    ///
    /// # Errors
    /// The first that it lacks.
    pub fn require(&self, wanted: Shape) -> Result<()> {
        let has = self.shape();
        if wanted.positions && !has.positions {
            let what = "this count file holds only the keys of positions, but the output needs the positions";
            return Err(Error::format(self.path(), what).remedied_by(Remedy::CountPositions));
        }
        match wanted.by.columns().find(|name| !has.by.columns().any(|known| known == *name)) {
            Some(name) => {
                let what = format!(
                    "this count file does not count games separately by {name}: it has no such column"
                );
                Err(Error::format(self.path(), what).remedied_by(Remedy::CountBy))
            }
            None => Ok(()),
        }
    }
}

/// The variant that a footer names: standard chess if it names none, as files of other programs do.
///
/// # Errors
/// When we do not know it.
fn variant(footer: &Footer) -> Result<Variant> {
    let mut notes = footer.notes.iter().filter(|note| note.key == VARIANT_NAME);
    let Some(name) = notes.find_map(|note| note.value.as_deref()) else { return Ok(Variant::Chess) };
    Variant::from_uci(name).map_err(|_| {
        let what = format!("this count file holds games of {name:?}, which is no known variant");
        Error::new(ErrorKind::Format, what).advice("read it with a newer tabiya")
    })
}

/// The version that a footer names; `None` if it names none.
///
/// # Errors
/// When we do not know it.
fn version(footer: &Footer) -> Result<Option<u32>> {
    let mut notes = footer.notes.iter().filter(|note| note.key == VERSION_NAME);
    let Some(version) = notes.find_map(|note| note.value.as_deref()) else { return Ok(None) };
    let known = version.parse().ok().filter(|version| (1..=VERSION).contains(version));
    known.map(Some).ok_or_else(|| {
        let what = format!("this is a count file of version {version:?}");
        Error::new(ErrorKind::Format, what).advice("read it with a newer tabiya")
    })
}
