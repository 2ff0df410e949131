//! Reading a count file of any writer.

use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;

use super::MOST_GAMES;
use super::columns::{self, Column, NUMBERS};
use super::footer::{self, Chunk, Footer};
use super::pages::{self, plain};
use super::values::Values;
use super::{Line, MAGIC, VERSION, VERSION_NAME};
use crate::base::blob::Blob;
use crate::base::bytes;
use crate::base::error::{Error, Remedy, Result};
use crate::base::panics::caught;
use crate::chess::MoveCode;
use crate::chess::Packed;

/// Rows that are read at a time.
const BATCH: usize = 1 << 12;

/// Bytes after the footer: its length, and the magic bytes again.
const TAIL_LEN: u64 = 8;

/// The longest footer that is read: it holds some hundred thousand row groups.
const MOST_FOOTER: u64 = 1 << 26;

/// Rows that one byte of a file may hold. Each position has its own key of 8 bytes, and at most 218 moves.
const ROWS_PER_BYTE: u64 = 64;

/// The magic bytes of a file with an encrypted footer.
const ENCRYPTED: &[u8] = b"PARE";

/// An open count file: its footer is read, its rows are not.
pub struct CountFile {
    file: Arc<Blob>,
    /// The columns of numbers, and that of positions if there is one.
    columns: Vec<Column>,
    /// The offset of each row group, and where these columns are in it.
    groups: Vec<(u64, Vec<Chunk>)>,
    /// The first row of each row group, and the number of all rows.
    starts: Vec<u64>,
    version: Option<u32>,
    created_by: Option<String>,
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
        let (footer, at) = footer_bytes(&file)?;
        let damaged =
            |what: &str| Error::format(file.path(), what).at_offset(at).advice("write or download it again");
        let footer = footer::read::<Footer>(&footer);
        let (footer, _) = footer.ok_or_else(|| damaged("its footer is damaged"))?;
        let mut notes = footer.notes.iter().filter(|note| note.key == VERSION_NAME);
        let version = notes.find_map(|note| note.value.as_deref());
        let known = version.and_then(|version| version.parse().ok());
        let known = known.filter(|version| (1..=VERSION).contains(version));
        if let (Some(version), None) = (version, known) {
            let what = format!("this is a count file of version {version:?}");
            return Err(Error::format(file.path(), what).advice("read it with a newer tabiya"));
        }
        let columns = columns::find(&footer.schema).map_err(|error| error.at_path(file.path()))?;
        let (mut groups, mut starts, mut rows, mut claimed) = (Vec::new(), vec![0], 0_u64, 0_u64);
        for group in footer.groups.ok_or_else(|| damaged("its footer is damaged"))? {
            // No byte belongs to two columns, or a short file could take forever.
            claimed = group.columns.iter().fold(claimed, |sum, column| sum.saturating_add(column.len()));
            if claimed > file.len() {
                return Err(damaged("its columns claim more bytes than it has"));
            }
            rows = rows.saturating_add(u64::try_from(group.rows).unwrap_or(u64::MAX));
            if rows > file.len().saturating_mul(ROWS_PER_BYTE) {
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
        Ok(Self { file: Arc::new(file), columns, groups, starts, version: known, created_by })
    }

    /// The file.
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

    /// Rows of a row group.
    pub(crate) fn group_rows(&self, group: usize) -> u64 {
        let at = |group: usize| self.starts.get(group).copied().unwrap_or(0);
        at(group + 1).saturating_sub(at(group))
    }

    /// The offset of a row group in bytes.
    pub(crate) fn group_start(&self, group: usize) -> u64 {
        self.groups.get(group).map_or(0, |(start, _)| *start)
    }

    /// Whether it holds positions besides their keys.
    pub fn has_positions(&self) -> bool {
        self.columns.len() > NUMBERS
    }

    /// The version of the format in the file; `None` if another program wrote it.
    pub fn version(&self) -> Option<u32> {
        self.version
    }

    /// The program that wrote it, in its own words.
    pub(crate) fn created_by(&self) -> Option<&str> {
        self.created_by.as_deref()
    }

    /// Reads the rows of a row group; with `placed` their positions too.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged, when a row has an impossible value, when positions are asked for and
    /// missing, and what `see` returns.
    pub fn group(&self, group: usize, placed: bool, mut see: impl FnMut(&Line) -> Result<()>) -> Result<()> {
        let first = self.starts.get(group).copied().unwrap_or(0);
        let Some((_, chunks)) = self.groups.get(group) else { return Ok(()) };
        if placed && !self.has_positions() {
            return Err(self.lacks_positions());
        }
        let open = |(column, chunk): (&Column, &Chunk)| {
            Values::open(&self.file, column, *chunk).map_err(|error| error.at_path(self.path()))
        };
        let read = self.columns.iter().zip(chunks).take(NUMBERS + usize::from(placed));
        let mut columns = read.map(open).collect::<Result<Vec<_>>>()?;
        let rows = self.group_rows(group);
        let mut read = 0;
        let mut known = None;
        while read < rows {
            let row = first + read;
            let most = BATCH.min(usize::try_from(rows - read).unwrap_or(BATCH));
            for values in &mut columns {
                match caught(|| values.read(most)) {
                    Some(Ok(some)) if some == most => {}
                    Some(Ok(some)) => {
                        return Err(self.bad(row + some as u64, "a column ends here, and others go on"));
                    }
                    Some(Err(error)) => return Err(self.unread(row, error)),
                    None => return Err(self.bad(row, "the rows from here on are damaged")),
                }
                if let Some(null) = values.null() {
                    return Err(self.bad(row + null as u64, "a value is missing (NULL)"));
                }
            }
            for at in 0..most {
                let line = line(&columns, at).and_then(|mut line| {
                    if let Some(positions) = columns.get(NUMBERS) {
                        line.packed = Some(packed(positions.bytes(at), line.key, &mut known)?);
                    }
                    Ok(line)
                });
                see(&line.map_err(|what| self.bad(row + at as u64, &what))?)?;
            }
            read += most as u64;
        }
        Ok(())
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
    fn bad(&self, row: u64, what: &str) -> Error {
        Error::format(self.path(), format!("row {row}, counted from 0: {what}"))
    }

    /// The error of a file without the positions that are needed.
    pub(crate) fn lacks_positions(&self) -> Error {
        let what = "this count file holds only the keys of positions, and the output needs the positions";
        Error::format(self.path(), what).remedied_by(Remedy::CountPositions)
    }
}

/// The bytes of the footer, and their offset.
fn footer_bytes(file: &Blob) -> Result<(Vec<u8>, u64)> {
    let error = |what: &str| Error::format(file.path(), what);
    let cut =
        || error("this Parquet file is cut off: its end is missing").advice("write or download it again");
    let mut start = [0; MAGIC.len()];
    file.read(0, &mut start)?;
    if start != MAGIC && start != ENCRYPTED {
        return Err(error("this is not a Parquet file"));
    }
    let tail_at = file.len().checked_sub(TAIL_LEN).filter(|at| *at >= MAGIC.len() as u64).ok_or_else(cut)?;
    let tail = pages::read(file, tail_at, TAIL_LEN)?;
    if tail.ends_with(ENCRYPTED) {
        return Err(error("this Parquet file is encrypted").advice("write it without encryption"));
    }
    let len = bytes::u32_le(&tail, 0).map(u64::from).filter(|_| tail.ends_with(MAGIC)).ok_or_else(cut)?;
    if len > MOST_FOOTER {
        return Err(error("the footer of this Parquet file claims to be larger than 64 MiB")
            .at_offset(tail_at)
            .advice("write it with fewer, larger row groups"));
    }
    let at = tail_at.checked_sub(len).ok_or_else(cut)?;
    Ok((pages::read(file, at, len)?, at))
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
