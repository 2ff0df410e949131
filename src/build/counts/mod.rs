//! Count files: the exact counts of some games, for builds that are larger than one machine.
//!
//! A count file is a [Parquet](https://parquet.apache.org/docs/file-format/) file of one row for each move of each
//! position, which any tool that reads Parquet can add up with those of other games, and of which
//! [`build_from`](super::build_from) makes a book:
//!
//! | column | type | what it holds |
//! |---|---|---|
//! | `key` | `INT64`, annotated `UINT_64` | the position's Polyglot key |
//! | `move` | `INT32`, annotated `UINT_16` | the move in Polyglot's code; castling is the king taking its own rook |
//! | `wins`, `draws`, `losses` | `INT64`, annotated `UINT_64` | games, counted for the side that moves |
//! | `position` | `FIXED_LEN_BYTE_ARRAY(24)` | the position, as [`Packed`]; only where it was asked for |
//!
//! With positions there are also rows of the move 0: games that went no further, counted for the side to move, so that
//! all rows of a position together are all games that reached it.
//!
//! What we write is sorted by key, then by move, and has each pair once; no value is missing; row groups have 2^18
//! rows; columns are packed with Snappy. The file's metadata hold the version of this format under the name
//! `tabiya.counts`.
//!
//! What we read may come in any order and have a pair more than once: then it is added up. Numbers may be `INT32`,
//! `INT64` or decimals without fraction, with or without sign (a negative key is the upper half of the unsigned ones);
//! a position may be a `BYTE_ARRAY`; other columns are passed over; pages may be packed with Snappy, Zstandard, gzip or
//! raw LZ4.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::base::error::{Error, ErrorKind, Result};
use crate::book::polyglot::layout::RawMove;
use crate::chess::Packed;

#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod guard;
#[cfg(feature = "parquet")]
mod input;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod read;
mod sum;
#[cfg(all(test, feature = "parquet"))]
mod tests;
#[cfg(feature = "parquet")]
mod thrift;
#[cfg(not(feature = "parquet"))]
mod without;
#[cfg(feature = "parquet")]
mod write;

#[cfg(feature = "parquet")]
pub use read::CountFile;
pub use sum::{Sum, sum};
#[cfg(not(feature = "parquet"))]
pub use without::{CountFile, CountWriter};
#[cfg(feature = "parquet")]
pub use write::CountWriter;

/// The bytes that a Parquet file begins and ends with.
pub const MAGIC: &[u8] = b"PAR1";

/// The end of a count file's name.
pub const EXTENSION: &str = "parquet";

/// The name under which the metadata say which version of this format a file has.
pub const VERSION_NAME: &str = "tabiya.counts";
/// The version that is written, and the latest that is read.
pub const VERSION: u32 = 1;

/// The column of keys.
pub const KEY: &str = "key";
/// The column of moves.
pub const MOVE: &str = "move";
/// The columns of counts.
pub const COUNT_COLUMNS: [&str; 3] = ["wins", "draws", "losses"];
/// The column of positions.
pub const POSITION: &str = "position";

/// Folders within folders that are looked into.
const DEEPEST: u32 = 64;

/// A row of a count file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The position's key.
    pub key: u64,
    /// The move, or [`RawMove::NULL`] of games that ended in the position.
    pub mv: RawMove,
    /// Games that the side that moves won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// The position.
    pub packed: Option<Packed>,
}

/// What was written into a count file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountsWritten {
    /// The file.
    pub file: PathBuf,
    /// Rows.
    pub rows: u64,
    /// Different positions in them.
    pub positions: u64,
    /// Half-moves that were counted.
    pub plies: u64,
}

/// Whether a file is a Parquet file, by its first bytes; one that cannot be opened or read is none.
pub fn is_counts(path: &Path) -> bool {
    // A pipe would wait for its writer, and lose what is read here.
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut start = [0; MAGIC.len()];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// Whether a name ends as that of a count file.
pub fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(EXTENSION))
}

/// The count files that a user named, or that are in a folder of them as Spark writes it; `None` where it is neither.
///
/// # Errors
/// When the folder cannot be read.
pub fn named(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    if !path.is_dir() {
        return Ok(is_counts(path).then(|| vec![path.to_owned()]));
    }
    let mut found = Vec::new();
    let others = folder(path, DEEPEST, &mut found)?;
    Ok(Some(found).filter(|found| !others && !found.is_empty()))
}

/// Takes the count files out of what a user named, and out of the folders among it: what is left are games.
///
/// A folder that holds nothing else is taken out too. Names that begin with `.` or `_` are passed over, as those who
/// write folders of Parquet files expect.
///
/// # Errors
/// When a folder cannot be read.
pub fn split(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut games, mut counts) = (Vec::new(), Vec::new());
    for path in paths {
        if path.is_dir() {
            let before = counts.len();
            let others = folder(path, DEEPEST, &mut counts)?;
            if others || counts.len() == before {
                games.push(path.clone());
            }
        } else if is_counts(path) {
            counts.push(path.clone());
        } else if is_named(path) && path.is_file() {
            return Err(Error::format(path, "this is no Parquet file").advice("write or download it again"));
        } else {
            games.push(path.clone());
        }
    }
    Ok((games, counts))
}

/// Finds the count files of a folder, in the order of their names; `true` where there are other files.
fn folder(path: &Path, depth: u32, found: &mut Vec<PathBuf>) -> Result<bool> {
    let cannot = |error| Error::file(path, "cannot read the folder", error);
    if depth == 0 {
        return Err(Error::new(ErrorKind::File, "too many folders within one another").at_path(path));
    }
    let mut entries =
        fs::read_dir(path).map_err(cannot)?.collect::<std::io::Result<Vec<_>>>().map_err(cannot)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut others = false;
    for entry in entries {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with(['.', '_']) {
            continue;
        }
        // A folder behind a link is not followed: it may lead back here.
        if entry.file_type().map_err(cannot)?.is_dir() {
            others |= folder(&path, depth - 1, found)?;
        } else if is_named(&path) && path.is_file() {
            found.push(path);
        } else {
            others = true;
        }
    }
    Ok(others)
}
