//! Reading a count file of any writer.

use std::path::Path;

use super::MOST_GAMES;
use super::columns::{self, NUMBERS};
use super::footer::Footer;
use super::table::Table;
use super::values::Values;
use super::{Line, VERSION, VERSION_NAME};
use crate::base::blob::Blob;
use crate::base::error::{Error, ErrorKind, Remedy, Result};
use crate::chess::MoveCode;
use crate::chess::Packed;

/// An open count file: its footer is read, its rows are not.
pub struct CountFile {
    /// The columns of numbers, and that of positions if there is one.
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
        self.table.columns() > NUMBERS
    }

    /// The version of the format in the file; `None` if another program wrote it.
    pub fn version(&self) -> Option<u32> {
        self.version
    }

    /// The program that wrote it, in its own words.
    pub(crate) fn created_by(&self) -> Option<&str> {
        self.table.created_by()
    }

    /// Reads the rows of a row group; with `placed` their positions too.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged, when a row has an impossible value, when positions are asked for and
    /// missing, and what `see` returns.
    pub fn group(&self, group: usize, placed: bool, mut see: impl FnMut(&Line) -> Result<()>) -> Result<()> {
        if placed && !self.has_positions() {
            return Err(self.lacks_positions());
        }
        let mut known = None;
        self.table.group(group, NUMBERS + usize::from(placed), |row, columns, rows| {
            if let Some(null) = columns.iter().find_map(Values::null) {
                return Err(self.table.bad(row + null as u64, "a value is missing (NULL)"));
            }
            for at in 0..rows {
                let line = line(columns, at).and_then(|mut line| {
                    if let Some(positions) = columns.get(NUMBERS) {
                        line.packed = Some(packed(positions.bytes(at), line.key, &mut known)?);
                    }
                    Ok(line)
                });
                see(&line.map_err(|what| self.table.bad(row + at as u64, &what))?)?;
            }
            Ok(())
        })
    }

    /// The error of a file without the positions that are needed.
    pub(crate) fn lacks_positions(&self) -> Error {
        let what = "this count file holds only the keys of positions, and the output needs the positions";
        Error::format(self.path(), what).remedied_by(Remedy::CountPositions)
    }
}

/// The version that a footer names; `None` if it names none.
///
/// # Errors
/// When it is none that we know.
fn version(footer: &Footer) -> Result<Option<u32>> {
    let mut notes = footer.notes.iter().filter(|note| note.key == VERSION_NAME);
    let Some(version) = notes.find_map(|note| note.value.as_deref()) else { return Ok(None) };
    let known = version.parse().ok().filter(|version| (1..=VERSION).contains(version));
    known.map(Some).ok_or_else(|| {
        let what = format!("this is a count file of version {version:?}");
        Error::new(ErrorKind::Format, what).advice("read it with a newer tabiya")
    })
}

/// A row, without its position.
///
/// # Errors
/// The value that is impossible.
fn line(columns: &[Values], at: usize) -> std::result::Result<Line, String> {
    let [key, mv, wins, draws, losses, ..] = columns else { return Err("a column is missing".to_owned()) };
    let number = |values: &Values, name: &str| {
        values.number(at).ok_or_else(|| format!("{name} is not a number of 128 bits"))
    };
    let wide = number(key, "key")?;
    // Programs without unsigned numbers write the upper half of all keys as negative numbers.
    let key = u64::try_from(wide)
        .or_else(|_| i64::try_from(wide).map(i64::cast_unsigned))
        .map_err(|_| format!("key is {wide}, which has more than 64 bits"))?;
    let wide = number(mv, "move")?;
    let mv = u16::try_from(wide).map(MoveCode).ok();
    let mv = mv.filter(|mv| *mv == MoveCode::NULL || mv.error().is_none());
    let mv = mv.ok_or_else(|| format!("move is {wide}, which codes no move"))?;
    let count = |values: &Values, name: &str| {
        let wide = number(values, name)?;
        match u64::try_from(wide) {
            Ok(count) if count < MOST_GAMES => Ok(count),
            Err(_) if wide < 0 => Err(format!("{name} is {wide}, and cannot be negative")),
            _ => Err(format!("{name} is {wide}, which is more than can be counted")),
        }
    };
    let (wins, draws, losses) = (count(wins, "wins")?, count(draws, "draws")?, count(losses, "losses")?);
    Ok(Line { key, mv, wins, draws, losses, packed: None })
}

/// A position, which must have the key. `known` is the last one that was checked.
fn packed(
    bytes: Option<&[u8]>,
    key: u64,
    known: &mut Option<(u64, Packed)>,
) -> std::result::Result<Packed, String> {
    let packed = bytes.and_then(|bytes| bytes.try_into().ok()).map(Packed);
    let packed = packed.ok_or("position does not have 24 bytes")?;
    if *known != Some((key, packed)) {
        let position = packed.unpack().ok_or("position is none of chess")?;
        if position.key() != key {
            return Err("position does not have this key".to_owned());
        }
        *known = Some((key, packed));
    }
    Ok(packed)
}
