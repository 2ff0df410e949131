//! Reading a count file, whoever wrote it.

use std::path::{Path, PathBuf};

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::columns::{Columns, Fault, Values};
use super::guard::guarded;
use super::input::Input;
use super::pages::plain;
use super::thrift;
use super::{Line, MAGIC, VERSION, VERSION_NAME};
use crate::base::bytes;
use crate::base::error::{Error, Result};
use crate::book::polyglot::layout::RawMove;
use crate::build::row::MOST_GAMES;
use crate::chess::Packed;

/// Rows that are read at a time.
const BATCH: usize = 1 << 12;

/// Bytes behind the footer: its length, and the mark again.
const TAIL_LEN: u64 = 8;

/// The longest footer that is read: that of some hundred thousand row groups.
const MOST_FOOTER: u64 = 1 << 26;

/// Rows that one byte of a file may stand for. Each position has a key of its own of 8 bytes, and at most 218 moves.
const ROWS_PER_BYTE: u64 = 64;

/// The mark at the end of a file whose footer is encrypted.
const ENCRYPTED: &[u8] = b"PARE";

/// A count file that is open: its footer is read, and its rows are not.
pub struct CountFile {
    path: PathBuf,
    input: Input,
    metadata: ParquetMetaData,
    columns: Columns,
    /// The row that each row group begins with, and the number of all.
    starts: Vec<u64>,
    version: Option<u32>,
}

impl CountFile {
    /// Opens a count file.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, is no Parquet file, lacks a column, or has one whose type cannot hold what
    /// it should.
    pub fn open(path: &Path) -> Result<Self> {
        Self::new(path, Input::open(path)?)
    }

    /// Opens a count file that is in memory.
    ///
    /// # Errors
    /// As [`CountFile::open`].
    pub fn from_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Self> {
        Self::new(path.as_ref(), Input::memory(bytes))
    }

    fn new(path: &Path, input: Input) -> Result<Self> {
        let damaged = |what: &str| Error::format(path, what).advice("write or download it again");
        let footer = footer(path, &input)?;
        let at = input.len() - TAIL_LEN - footer.len() as u64;
        if let Some(fault) = thrift::fault(&footer) {
            return Err(damaged(&format!("this is no Parquet file that can be read: {fault}")).at_offset(at));
        }
        let metadata = match guarded(|| ParquetMetaDataReader::decode_metadata(&footer)) {
            Some(Ok(metadata)) => metadata,
            Some(Err(error)) => {
                return Err(damaged(&format!("its footer is damaged: {}", plain(&error))).at_offset(at));
            }
            None => return Err(damaged("its footer is damaged").at_offset(at)),
        };
        let said = metadata.file_metadata().key_value_metadata().into_iter().flatten();
        let version = said.filter(|said| said.key == VERSION_NAME).find_map(|said| said.value.as_deref());
        let version = version.map(|version| {
            version.parse().ok().filter(|version| (1..=VERSION).contains(version)).ok_or_else(|| {
                Error::format(path, format!("this is a count file of version {version:?}"))
                    .advice("read it with a newer tabiya")
            })
        });
        let version = version.transpose()?;
        let schema = metadata.file_metadata().schema_descr();
        let columns = guarded(|| Columns::find(schema))
            .unwrap_or_else(|| Err(Fault { what: "its columns are damaged".to_owned(), advice: None }))
            .map_err(|fault| of_fault(path, fault))?;
        // No byte belongs to two columns, or a short file might take for ever.
        let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
        let packed = chunks.map(|chunk| u64::try_from(chunk.compressed_size()).unwrap_or(u64::MAX));
        if packed.fold(0, u64::saturating_add) > input.len() {
            return Err(damaged("its columns claim more bytes than it has").at_offset(at));
        }
        let mut starts = vec![0_u64];
        let mut rows = 0_u64;
        for group in metadata.row_groups() {
            let here = u64::try_from(group.num_rows()).ok().and_then(|here| rows.checked_add(here));
            rows = here
                .filter(|rows| *rows <= input.len().saturating_mul(ROWS_PER_BYTE))
                .ok_or_else(|| damaged("it claims more rows than it has bytes for").at_offset(at))?;
            starts.push(rows);
        }
        Ok(Self { path: path.to_owned(), input, metadata, columns, starts, version })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.input.len()
    }

    /// Whether it has no bytes, which no count file has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows, as its footer says.
    pub fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Parts that can be read apart from one another.
    pub fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Rows of a part.
    pub fn group_rows(&self, group: usize) -> u64 {
        let at = |group: usize| self.starts.get(group).copied().unwrap_or(0);
        at(group + 1).saturating_sub(at(group))
    }

    /// Whether it holds the positions themselves.
    pub fn has_positions(&self) -> bool {
        self.columns.position.is_some()
    }

    /// The version of the format that the file says it has; `None` where others wrote it.
    pub fn version(&self) -> Option<u32> {
        self.version
    }

    /// The program that wrote it, as it says itself.
    pub fn created_by(&self) -> Option<&str> {
        self.metadata.file_metadata().created_by()
    }

    /// Reads the rows of a part; with `placed` their positions too.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged, when a row holds what cannot be, when positions are asked for and
    /// missing, and what `see` returns.
    pub fn group(&self, group: usize, placed: bool, mut see: impl FnMut(&Line) -> Result<()>) -> Result<()> {
        let first = self.starts.get(group).copied().unwrap_or(0);
        let Some(metadata) = self.metadata.row_groups().get(group) else { return Ok(()) };
        let open = |at: usize| {
            guarded(|| Values::open(&self.input, metadata, at))
                .unwrap_or_else(|| Err(Fault { what: "a column is damaged".to_owned(), advice: None }))
                .map_err(|fault| of_fault(&self.path, fault))
        };
        let mut columns = self.columns.numbers.into_iter().map(open).collect::<Result<Vec<_>>>()?;
        if placed {
            columns.push(open(self.columns.position.ok_or_else(|| self.lacks_positions())?)?);
        }
        let rows = self.group_rows(group);
        let mut read = 0;
        let mut known = None;
        while read < rows {
            let row = first + read;
            let most = BATCH.min(usize::try_from(rows - read).unwrap_or(BATCH));
            for values in &mut columns {
                match guarded(|| values.read(most)) {
                    Some(Ok(some)) if some == most => {}
                    Some(Ok(some)) => {
                        return Err(self.bad(row + some as u64, "a column ends here, and others go on"));
                    }
                    Some(Err(error)) => {
                        return Err(
                            self.bad(row, &format!("the rows from here on are damaged: {}", plain(&error)))
                        );
                    }
                    None => return Err(self.bad(row, "the rows from here on are damaged")),
                }
                if let Some(null) = values.null() {
                    return Err(self.bad(row + null as u64, "a value is missing (NULL)"));
                }
            }
            for at in 0..most {
                let line = line(&columns, at).and_then(|mut line| {
                    if let Some(positions) = columns.get(5) {
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

    /// What is wrong in a row.
    fn bad(&self, row: u64, what: &str) -> Error {
        Error::format(&self.path, format!("row {row}, counted from 0: {what}"))
    }

    /// That the positions are missing that somebody needs.
    pub fn lacks_positions(&self) -> Error {
        Error::format(&self.path, "this count file holds only the positions' keys, and what is to be made of it needs the positions")
            .advice("write the counts again with --positions, or make a .bin")
    }
}

/// The bytes of the footer.
fn footer(path: &Path, input: &Input) -> Result<Vec<u8>> {
    let cannot = |error| Error::file(path, "cannot read the file", error);
    let cut = || {
        Error::format(path, "this Parquet file is cut off: its end is missing")
            .advice("write or download it again")
    };
    let start = input.read(0, MAGIC.len() as u64).unwrap_or_default();
    if start != MAGIC && start != ENCRYPTED {
        return Err(Error::format(path, "this is no Parquet file"));
    }
    let tail_at = input.len().checked_sub(TAIL_LEN).filter(|at| *at >= MAGIC.len() as u64).ok_or_else(cut)?;
    let tail = input.read(tail_at, TAIL_LEN).map_err(cannot)?;
    if tail.ends_with(ENCRYPTED) {
        return Err(
            Error::format(path, "this Parquet file is encrypted").advice("write it without encryption")
        );
    }
    let len = bytes::u32_le(&tail, 0).map(u64::from).filter(|_| tail.ends_with(MAGIC)).ok_or_else(cut)?;
    if len > MOST_FOOTER {
        return Err(Error::format(path, "the footer of this Parquet file claims to be larger than 64 MiB")
            .at_offset(tail_at)
            .advice("write it with fewer, larger row groups"));
    }
    let at = tail_at.checked_sub(len).ok_or_else(cut)?;
    input.read(at, len).map_err(cannot)
}

fn of_fault(path: &Path, Fault { what, advice }: Fault) -> Error {
    let error = Error::format(path, what);
    match advice {
        Some(advice) => error.advice(advice),
        None => error,
    }
}

/// A row, without its position.
///
/// # Errors
/// What cannot be in it.
fn line(columns: &[Values], at: usize) -> std::result::Result<Line, String> {
    let [key, mv, wins, draws, losses, ..] = columns else { return Err("a column is missing".to_owned()) };
    let number = |values: &Values, name: &str| {
        values.number(at).ok_or_else(|| format!("{name} is no number of 128 bits"))
    };
    let wide = number(key, "key")?;
    // Who has no numbers without sign writes the upper half of all keys as negative ones.
    let key = u64::try_from(wide)
        .or_else(|_| i64::try_from(wide).map(i64::cast_unsigned))
        .map_err(|_| format!("key is {wide}, which has more than 64 bits"))?;
    let wide = number(mv, "move")?;
    let mv = u16::try_from(wide).map(RawMove).ok();
    let mv = mv.filter(|mv| *mv == RawMove::NULL || mv.fault().is_none());
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

/// A position, which must be that of the key. `known` remembers the last one that was.
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
            return Err("position is not the one that key stands for".to_owned());
        }
        *known = Some((key, packed));
    }
    Ok(packed)
}
