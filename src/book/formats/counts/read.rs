//! Reading a count file of any writer.

use std::path::Path;

use super::columns::{self, Column, Holds, NUMBERS};
use super::footer::Footer;
use super::table::Table;
use super::values::Values;
use super::{Line, Shape, VERSION, VERSION_NAME, rows};
use crate::base::blob::Blob;
use crate::base::error::{Error, ErrorKind, Remedy, Result};

/// An open count file: its footer is read, its rows are not.
pub struct CountFile {
    /// The columns of numbers, and those of positions, speeds and ratings that there are.
    table: Table,
    version: Option<u32>,
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
        let mut known = None;
        let find = |footer: &Footer| {
            known = version(footer)?;
            columns::find(&footer.schema)
        };
        let table = Table::new(file, find)?;
        Ok(Self { table, version: known })
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

    /// Rows of a row group.
    pub(crate) fn group_rows(&self, group: usize) -> u64 {
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
        columns::shape(self.table.columns())
    }

    /// The version of the format in the file; `None` if another program wrote it.
    pub fn version(&self) -> Option<u32> {
        self.version
    }

    /// The program that wrote it, in its own words.
    pub(crate) fn created_by(&self) -> Option<&str> {
        self.table.created_by()
    }

    /// Reads the rows of a row group, with the columns that are `wanted`.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged, when a row has an impossible value, when a column is wanted and missing,
    /// and what `see` returns.
    pub fn group(&self, group: usize, wanted: Shape, mut see: impl FnMut(&Line) -> Result<()>) -> Result<()> {
        self.require(wanted)?;
        let is_wanted = |column: &Column| match column.holds {
            Holds::Number | Holds::Text => true,
            Holds::Position => wanted.positions,
            Holds::Speed => wanted.by.speed,
            Holds::Rating => wanted.by.rating,
        };
        let (mut known, mut slices) = (None, Vec::new());
        self.table.group(group, is_wanted, |row, columns, rows| {
            let (columns, sliced) =
                columns.split_at(columns.len().min(NUMBERS + usize::from(wanted.positions)));
            if let Some(null) = columns.iter().filter_map(Values::null).min() {
                return Err(self.table.bad(row + null as u64, "a value is missing (NULL)"));
            }
            let bad = |(at, what): (usize, String)| self.table.bad(row + at as u64, &what);
            rows::slices(wanted.by, sliced, rows, &mut slices).map_err(bad)?;
            for (at, slice) in slices.iter().enumerate() {
                let line = rows::line(columns, at, *slice).and_then(|mut line| {
                    if let Some(positions) = columns.get(NUMBERS) {
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
    pub(crate) fn require(&self, wanted: Shape) -> Result<()> {
        let has = self.shape();
        if wanted.positions && !has.positions {
            let what = "this count file holds only the keys of positions, and the output needs the positions";
            return Err(Error::format(self.path(), what).remedied_by(Remedy::CountPositions));
        }
        match wanted.by.columns().find(|name| !has.by.columns().any(|known| known == *name)) {
            Some(name) => {
                let what =
                    format!("this count file does not tell games apart by {name}: it has no such column");
                Err(Error::format(self.path(), what).remedied_by(Remedy::CountBy))
            }
            None => Ok(()),
        }
    }
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
