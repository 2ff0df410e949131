//! Count files: the exact counts of some games, for builds that are larger than one machine.
//!
//! A count file is a [Parquet](https://parquet.apache.org/docs/file-format/) file with one row for each move of each
//! position. Any tool that reads Parquet can add it to the counts of other games, and `tabiya build` makes a book of it.
//! The columns, the files that are written and those that are read: docs/formats/counts.md, Columns;
//! docs/formats/counts.md, File; docs/formats/counts.md, What is read.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use tabiya_base::error::{Error, Result};
use tabiya_base::file_kind::PARQUET;
use tabiya_base::folder::{self, FolderFiles, has_extension};
use tabiya_chess::MoveCode;
use tabiya_chess::Packed;

use crate::{By, Format, Slice};

#[cfg(feature = "counts")]
mod book;
mod check;
mod driver;
#[cfg(feature = "counts")]
mod each;
#[cfg(feature = "counts")]
mod kept;
#[cfg(feature = "counts")]
mod layout;
#[cfg(feature = "counts")]
mod read;
#[cfg(feature = "counts")]
mod rows;
#[cfg(feature = "counts")]
mod seek;
#[cfg(feature = "counts")]
mod sums;
#[cfg(all(test, feature = "counts"))]
mod tests;
#[cfg(not(feature = "counts"))]
mod without;
#[cfg(feature = "counts")]
mod write;

#[cfg(feature = "counts")]
pub use book::{from_bytes, open};
pub use check::{Sum, add_unopened, damage, sum};
pub(crate) use driver::CountsDriver;
#[cfg(feature = "counts")]
pub use read::CountFile;
#[cfg(feature = "counts")]
pub use seek::Keys;
#[cfg(not(feature = "counts"))]
pub use without::{CountFile, CountWriter, Keys, from_bytes, open};
#[cfg(feature = "counts")]
pub use write::CountWriter;

/// The format.
pub const FORMAT: Format = Format::new(&driver::FACTS);

/// The extension of a count file.
pub const EXTENSION: &str = "parquet";

/// The path that means standard output.
pub const STDOUT: &str = "-";

/// The name of the version of this format in the metadata of a file (docs/formats/counts.md, File).
pub const VERSION_NAME: &str = "tabiya.counts";
/// The version that is written, and the latest that is read.
pub const VERSION: u32 = 1;

/// The name of the variant in the metadata of a file: as `UCI_Variant` has it; files of standard chess have none.
pub const VARIANT_NAME: &str = "tabiya.variant";

/// The column of keys.
pub const KEY: &str = "key";
/// The column of moves.
pub const MOVE: &str = "move";
/// The columns of counts.
pub const COUNT_COLUMNS: [&str; 3] = ["wins", "draws", "losses"];
/// The column of positions.
pub const POSITION: &str = "position";

/// The columns of a count file that not every one has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The positions themselves.
    pub positions: bool,
    /// Speeds and ratings.
    pub by: By,
}

/// A row of a count file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountsRow {
    /// The position's key.
    pub key: u64,
    /// The move, or [`MoveCode::NULL`] of games that ended in the position.
    pub mv: MoveCode,
    /// Games that the side that moves won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// The position.
    pub packed: Option<Packed>,
    /// The games that are counted.
    pub slice: Slice,
}

/// The size of a count file that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountsWritten {
    /// The file.
    pub file: PathBuf,
    /// Rows.
    pub rows: u64,
    /// Different positions in them.
    pub positions: u64,
    /// Plies that were counted.
    pub plies: u64,
}

/// Whether a file is a Parquet file, by its first bytes; one that cannot be read is not.
pub fn is_counts(path: &Path) -> bool {
    // Reading a pipe would wait for its writer, and take bytes from it.
    if !fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let mut start = [0; PARQUET.len()];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == PARQUET
}

/// Whether a name has the extension of a count file.
pub fn is_named(path: &Path) -> bool {
    has_extension(path, EXTENSION)
}

/// The count file that a user names, or those in a folder of them as Spark writes it; `None` if the path is neither.
///
/// # Errors
/// When the folder, or a folder in it, cannot be read.
pub fn named(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    if !path.is_dir() {
        return Ok(is_counts(path).then(|| vec![path.to_owned()]));
    }
    let CountFolder { counts, has_others, mut unread } = folder(path)?;
    match unread.pop() {
        _ if has_others || counts.is_empty() => Ok(None),
        None => Ok(Some(counts)),
        Some(error) => Err(error),
    }
}

/// The files of a folder, as those look at it who read folders of Parquet files.
#[derive(Debug)]
pub struct CountFolder {
    /// Its count files, in the order of their names.
    pub counts: Vec<PathBuf>,
    /// Whether there are other files.
    pub has_others: bool,
    /// Why folders in it cannot be read.
    pub unread: Vec<Error>,
}

/// Looks for count files in a folder and the folders within it. Names that begin with `.` or `_` are skipped, as programs that write
/// folders of Parquet files expect.
///
/// # Errors
/// When the folder cannot be read.
pub fn folder(path: &Path) -> Result<CountFolder> {
    let FolderFiles { found, unread } =
        folder::files(path, &|name| name.to_string_lossy().starts_with(['.', '_']))?;
    let (counts, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|path| is_named(path));
    Ok(CountFolder { counts, has_others: !others.is_empty(), unread })
}
