//! An open database: its files, and what is wrong with them.

use std::fs;
use std::path::{Path, PathBuf};

use tabiya_base::blob::Blob;
use tabiya_base::bytes;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::folder::{self, has_extension};
use tabiya_base::map::Map;

use super::layout::{INDEX_MARK, RECORD_LEN, header};
use super::names::{Names, text};
use super::record::Version;
use crate::database::GamesFile;

/// The extensions of index, names and games of version 4 and of version 5.
const PARTS: [[&str; 3]; 2] = [["si4", "sn4", "sg4"], ["si5", "sn5", "sg5"]];

/// A database.
#[derive(Debug)]
pub struct Scid {
    pub(super) index: Blob,
    pub(super) games: Blob,
    pub(super) names: Names,
    pub(super) version: Version,
    /// What it says of itself.
    pub(super) description: String,
    /// The `.sg4` or `.sg5` file.
    pub(super) games_file: GamesFile,
    count: u32,
    files: [PathBuf; 3],
    findings: Vec<String>,
}

impl Version {
    /// Bytes before the first record of the index.
    fn header_len(self) -> u64 {
        match self {
            Self::V300 => 128,
            Self::V4 => header::MAX_LEN as u64,
            Self::V5 => 0,
        }
    }

    /// Bytes of a record of the index.
    pub(super) fn record_len(self) -> u64 {
        let [old, four, five] = RECORD_LEN;
        match self {
            Self::V300 => old,
            Self::V4 => four,
            Self::V5 => five,
        }
    }
}

/// The extensions of the database that a file belongs to, of version 5 if its name ends so.
fn extensions(path: &Path) -> [&'static str; 3] {
    let [four, five] = PARTS;
    if five.iter().any(|end| has_extension(path, end)) { five } else { four }
}

/// The files of the database that a file belongs to, of which those that are missing have the name that they should have.
fn files(path: &Path) -> [PathBuf; 3] {
    extensions(path).map(|end| {
        if path.is_file() && has_extension(path, end) {
            return path.to_owned();
        }
        folder::sibling(path, end).ok().flatten().unwrap_or_else(|| folder::with_extension(path, end))
    })
}

/// Every file of the database that a file belongs to, as far as they exist.
pub fn parts(path: &Path) -> Vec<PathBuf> {
    let mut files = files(path).to_vec();
    files.retain(|file| file == path || fs::metadata(file).is_ok());
    files
}

impl Scid {
    /// Opens a database by the name of any of its files.
    ///
    /// # Errors
    /// When a file is missing or cannot be opened, or the index is in another format, with what to do.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let files = files(path.as_ref());
        let [index, names, games] = &files;
        if !index.is_file() && !index.is_dir() {
            let [end, others @ ..] = extensions(path.as_ref());
            let others = others.map(|end| format!(".{end}")).join(", ");
            let what = format!("the list of games of this database (.{end}) is missing");
            return Err(Error::new(ErrorKind::File, what)
                .at_path(index)
                .advice(format!("name its .{end} file; the others ({others}) are found beside it")));
        }
        for (file, what) in [(games, "games"), (names, "names")] {
            if !file.is_file() && !file.is_dir() {
                let what = format!("the {what} of the database {} are missing", index.display());
                let advice =
                    "put all files of the database into one folder, with the same name before the dot";
                return Err(Error::new(ErrorKind::File, what).at_path(file).advice(advice));
            }
        }
        let (index, games, names) = (Blob::open(index)?, Blob::open(games)?, Map::open(names)?);
        Self::with(index, games, names, files)
    }

    /// Opens a database whose bytes are in memory: index, names and games.
    ///
    /// # Errors
    /// When the index is in another format.
    pub fn from_bytes(name: &str, [index, names, games]: [Vec<u8>; 3]) -> Result<Self> {
        let files = extensions(Path::new(name)).map(|end| Path::new(name).with_extension(end));
        let [path, _, games_path] = &files;
        Self::with(Blob::new(path, index), Blob::new(games_path, games), names.into(), files)
    }

    fn with(index: Blob, games: Blob, names: Map, files: [PathBuf; 3]) -> Result<Self> {
        let mut findings = Vec::new();
        let (version, claimed, description) = head(&index)?;
        let (names, damage) = if version == Version::V5 { Names::read5(names) } else { Names::read4(&names) };
        let [_, names_path, _] = &files;
        if let Some(damage) = damage {
            let name = names_path.file_name().unwrap_or_default().to_string_lossy();
            findings.push(format!("{name}: {damage}: names after that are not known"));
        }
        let records = index.len().saturating_sub(version.header_len());
        let rest = records % version.record_len();
        if rest != 0 {
            findings.push(format!("the last record of the index is cut off after {rest} bytes"));
        }
        let held = u32::try_from(records / version.record_len()).unwrap_or(u32::MAX);
        let count = claimed.unwrap_or(held).min(held);
        if let Some(claimed) = claimed.filter(|claimed| *claimed != held) {
            findings.push(format!("the header of the index counts {claimed} games, but it holds {held}"));
        }
        let description = if version == Version::V5 { names.description.clone() } else { description };
        let games_file = GamesFile::new(games.path());
        Ok(Self { index, games, names, version, description, games_file, count, files, findings })
    }

    /// The index.
    pub fn path(&self) -> &Path {
        self.index.path()
    }

    /// How many games it has.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The file of names.
    pub(super) fn files(&self) -> &[PathBuf; 3] {
        &self.files
    }

    /// What is wrong with its files, one clause each.
    pub fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Where the record of a game is in the index.
    pub(super) fn record_at(&self, number: u32) -> u64 {
        self.version.header_len() + u64::from(number.saturating_sub(1)) * self.version.record_len()
    }
}

/// The version of an index, the number of games that its header claims, and its description. Version 5 has no header.
fn head(index: &Blob) -> Result<(Version, Option<u32>, String)> {
    if has_extension(index.path(), "si5") {
        return Ok((Version::V5, None, String::new()));
    }
    let refused =
        |what: &str, advice: &str| Err(Error::format(index.path(), what).at_offset(0).advice(advice));
    let mut head = [0; header::MAX_LEN];
    let read = index.read(0, &mut head)?;
    let head = head.get(..read).unwrap_or_default();
    let name = "name the .si4 or .si5 file of a database";
    if !head.starts_with(INDEX_MARK) {
        return refused("this is not a database of Scid", name);
    }
    let version = match bytes::u16_be(head, header::VERSION) {
        Some(400) => Version::V4,
        Some(300) => Version::V300,
        Some(version) => {
            let what = format!("version {version} of Scid's databases is not supported");
            return refused(&what, "open it in Scid, and save it as a database of version 4 or 5");
        }
        None => return refused("the header of the index is cut off", name),
    };
    if (read as u64) < version.header_len() {
        return refused("the header of the index is cut off", name);
    }
    let count = bytes::slice(head, header::COUNT, 3);
    let count = count.map(|count| count.iter().fold(0, |count, byte| count << 8 | u32::from(*byte)));
    let description = bytes::slice(head, header::DESCRIPTION, header::DESCRIPTION_LEN).unwrap_or_default();
    let description = description.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok((version, count, text(description).into_owned()))
}
