//! An open database: its files, and what is wrong with them.
#![allow(clippy::cast_possible_truncation, reason = "a record has 46 bytes")]

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use tabiya_base::blob::Blob;
use tabiya_base::bytes;
use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::file_kind::FileKind;
use tabiya_base::folder;
use tabiya_base::map::Map;

use super::entities::Entities;
use super::layout::{
    CBH_COUNT, CBH_MARK, CBH_MARK_AT, CBJ_MOVES, CBJ_SIZE, CBM_HEADER, RECORD_LEN, annotator, player, source,
    team, title, tournament,
};
use crate::cbv::{self, Cbv};
use crate::database::GamesFile;

/// Offsets in longer files need more than 32 bits.
pub(super) const WIDE: u64 = u32::MAX as u64;

/// A database.
#[derive(Debug)]
pub struct Cbh {
    pub(super) records: Blob,
    pub(super) moves: Blob,
    /// The `.cba` file, where there is one.
    pub(super) notes: Option<Blob>,
    /// The `.cbj` file, where there is one.
    pub(super) second: Option<Blob>,
    /// Bytes of each of its records.
    pub(super) second_len: u64,
    pub(super) players: Entities,
    pub(super) tournaments: Entities,
    pub(super) annotators: Entities,
    pub(super) sources: Entities,
    pub(super) teams: Entities,
    pub(super) titles: Entities,
    /// Bytes of the media in its texts.
    media: u64,
    /// The `.cbg` file.
    pub(super) games_file: GamesFile,
    count: u32,
    files: Vec<PathBuf>,
    /// The archive that the files are in, and its path.
    archive: Option<(Cbv, [PathBuf; 1])>,
    findings: Vec<String>,
}

/// The bytes of a database's files, by their extensions.
pub type CbhBytes<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// The other files of a database while they are opened: those that are missing or broken are left out and reported.
struct Parts<'a> {
    /// Opens a file by its extension.
    open: &'a dyn Fn(&str) -> Option<Result<Blob>>,
    files: Vec<PathBuf>,
    findings: Vec<String>,
}

impl Parts<'_> {
    /// Opens a file that may be missing unless it is `needed`; `lost` is what the database lacks without it.
    fn blob(&mut self, extension: &str, needed: bool, lost: &str) -> Option<Blob> {
        match (self.open)(extension) {
            Some(Ok(blob)) => {
                self.files.push(blob.path().to_owned());
                return Some(blob);
            }
            Some(Err(error)) => self.findings.push(format!("{}: {lost}", error.with_source())),
            None if needed => self.findings.push(format!("there is no .{extension} file: {lost}")),
            None => {}
        }
        None
    }

    /// Opens a file of entities with records of at least so many bytes.
    fn entities(&mut self, extension: &str, needed: bool, least: u64, lost: &str) -> Entities {
        let Some(blob) = self.blob(extension, needed, lost) else { return Entities::none() };
        // They are small beside the games, and are looked up in any order.
        let opened = blob.bytes().map_or_else(|| Map::open(blob.path()), |bytes| Ok(bytes.to_vec().into()));
        let (entities, finding) = match opened {
            Ok(bytes) => Entities::new(bytes, least),
            Err(error) => (Entities::none(), Some(error.with_source())),
        };
        self.findings.extend(finding.map(|finding| format!("the .{extension} file: {finding}")));
        entities
    }
}

impl Cbh {
    /// Opens a database by the name of any of its files, or by that of its archive. Files other than records and moves that are missing or broken
    /// are left out, and reported by [`Cbh::findings`].
    ///
    /// # Errors
    /// When records or moves are missing, cannot be opened or are in another format; for other formats and archives,
    /// with what to do about them.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        if cbv::is_named(path.as_ref()) {
            return Self::from_archive(&Cbv::open(path)?);
        }
        let main = main(path.as_ref())?;
        let records = Blob::open(&main)?;
        let part = |extension: &str| folder::sibling(&main, extension).ok().flatten().map(Blob::open);
        let moves = part("cbg").unwrap_or_else(|| {
            let what = format!("the moves of the database {} are missing", main.display());
            Err(missing(&what, &main.with_extension("cbg"))
                .advice("put all files of the database into one folder, with the same name before the dot"))
        });
        Self::with(records, moves?, &part)
    }

    /// Opens the database in an archive, whose files are unpacked where they are read.
    ///
    /// # Errors
    /// When the archive has no database or several, or is damaged.
    pub fn from_archive(archive: &Cbv) -> Result<Self> {
        let stem = archive.stem()?;
        let part = |extension: &str| archive.part(&stem, extension);
        let needed = |extension: &str| {
            part(extension).unwrap_or_else(|| {
                let what = format!("this archive holds no moves of the database {stem} (.{extension})");
                Err(missing(&what, archive.path()).advice("pack the database again in ChessBase"))
            })
        };
        let damaged = Cell::new(None);
        let open = |extension: &str| match part(extension)? {
            Ok(blob) => Some(Ok(blob)),
            // Unlike a file that is missing in a folder, this says that the archive is not as it was made.
            Err(error) => {
                damaged.set(Some(error));
                None
            }
        };
        let db = Self::with(needed("cbh")?, needed("cbg")?, &open)?;
        match damaged.take() {
            Some(error) => Err(error),
            None => Ok(Self { archive: Some((archive.clone(), [archive.path().to_owned()])), ..db }),
        }
    }

    /// Opens a database whose bytes are in memory.
    ///
    /// # Errors
    /// When records or moves are missing or are in another format.
    pub fn from_bytes(name: &str, part: CbhBytes<'_>) -> Result<Self> {
        let path = |extension: &str| Path::new(name).with_extension(extension);
        let part = |extension: &str| part(extension).map(|bytes| Ok(Blob::new(path(extension), bytes)));
        let blob = |extension: &str| {
            part(extension).unwrap_or_else(|| {
                Err(missing("this part of the database is missing", &path(extension))
                    .advice("put all files of the database into one folder"))
            })
        };
        Self::with(blob("cbh")?, blob("cbg")?, &part)
    }

    fn with(records: Blob, moves: Blob, open: &dyn Fn(&str) -> Option<Result<Blob>>) -> Result<Self> {
        let mut findings = Vec::new();
        let count = count(&records, &mut findings)?;
        let files = vec![records.path().to_owned(), moves.path().to_owned()];
        let mut parts = Parts { open, files, findings };
        let notes = parts.blob("cba", true, "games come without annotations");
        let players = parts.entities("cbp", true, player::MIN, "players have no names");
        let tournaments = parts.entities("cbt", true, tournament::MIN, "tournaments have no names");
        let annotators = parts.entities("cbc", true, annotator::MIN, "annotators have no names");
        let sources = parts.entities("cbs", true, source::MIN, "sources have no names");
        // Old databases and those of small programs have neither teams nor titles.
        let teams = parts.entities("cbe", false, team::MIN, "teams have no names");
        let titles = parts.entities("cbl", false, title::MIN, "games have no titles");
        let second = parts.blob("cbj", false, "teams are not known");
        // Only texts show media, and PGN has neither.
        let media = parts.blob("cbm", false, "media are not known");
        let second_len = second.as_ref().map_or(0, |blob| {
            let mut size = [0; 4];
            let read = blob.read(CBJ_SIZE, &mut size).unwrap_or_default();
            if read == size.len() { u32::from_le_bytes(size).into() } else { 0 }
        });
        if moves.len() > WIDE && second_len < CBJ_MOVES + 8 {
            let what = "the moves take more than 4 GiB, but no .cbj file says where those of each game are";
            parts.findings.push(what.to_owned());
        }
        Ok(Self {
            games_file: GamesFile::new(moves.path()),
            records,
            moves,
            notes,
            second,
            second_len,
            players,
            tournaments,
            annotators,
            sources,
            teams,
            titles,
            media: media.map_or(0, |blob| blob.len().saturating_sub(CBM_HEADER)),
            count,
            files: parts.files,
            archive: None,
            findings: parts.findings,
        })
    }

    /// The `.cbh` file, or the archive.
    pub fn path(&self) -> &Path {
        self.archive.as_ref().map_or(self.records.path(), |(archive, _)| archive.path())
    }

    /// Every file of the database that was found, or the archive.
    pub fn files(&self) -> &[PathBuf] {
        self.archive.as_ref().map_or(&self.files, |(_, files)| files)
    }

    /// Every file of the database that was found, those in an archive by their names below its own.
    pub(super) fn parts(&self) -> &[PathBuf] {
        &self.files
    }

    /// The archive that the files are in.
    pub(crate) fn archive(&self) -> Option<&Cbv> {
        self.archive.as_ref().map(|(archive, _)| archive)
    }

    /// How many records it has: games and texts are numbered from 1 to this.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Bytes of the pictures, sounds and other media in its texts.
    pub(crate) fn media(&self) -> u64 {
        self.media
    }

    /// What is wrong with its files, one clause each.
    pub fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Bytes of records and moves together.
    pub fn size(&self) -> u64 {
        self.records.len() + self.moves.len()
    }
}

fn missing(what: &str, path: &Path) -> Error {
    Error::new(ErrorKind::File, what).at_path(path)
}

/// How many records a `.cbh` file has.
fn count(records: &Blob, findings: &mut Vec<String>) -> Result<u32> {
    let mut head = [0; RECORD_LEN as usize];
    let read = records.read(0, &mut head)?;
    let head = head.get(..read).unwrap_or_default();
    let marked = bytes::slice(head, CBH_MARK_AT, 2) == Some(&CBH_MARK);
    let claimed = bytes::u32_be(head, CBH_COUNT).filter(|_| marked && read == RECORD_LEN as usize);
    let Some(claimed) = claimed else {
        return Err(Error::format(records.path(), "this is not a ChessBase database")
            .at_offset(0)
            .advice("name the .cbh file of a database"));
    };
    let len = records.len() - RECORD_LEN;
    let rest = len % RECORD_LEN;
    if rest != 0 {
        findings.push(format!("the last record of the .cbh file is cut off after {rest} bytes"));
    }
    let held = u32::try_from(len / RECORD_LEN).unwrap_or(u32::MAX);
    // The header counts one more.
    match claimed.checked_sub(1) {
        Some(claimed) if claimed == held => {}
        Some(claimed) if claimed < held => {
            findings.push(format!("the .cbh file holds {held} records, but its header counts {claimed}"));
            return Ok(claimed);
        }
        claimed => {
            let claimed = claimed.unwrap_or_default();
            let what = format!("the header of the .cbh file counts {claimed} records, but it holds {held}");
            findings.push(what);
        }
    }
    Ok(held)
}

/// All files of the database that a file belongs to, including those that are not read: files of the same name with an
/// extension of ChessBase.
pub fn parts(path: &Path) -> Vec<PathBuf> {
    const STARTS: [&str; 4] = ["cb", "ci", "ck", "cp"];
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let entries =
        fs::read_dir(folder::parent_of(path)).into_iter().flatten().flatten().map(|entry| entry.path());
    let own = entries.filter(|entry| {
        let end = extension(entry);
        stem(entry) == stem(path) && STARTS.iter().any(|start| end.starts_with(start))
    });
    own.chain([path.to_owned()]).collect()
}

/// The extension of a file in lower case; empty if it has none.
fn extension(path: &Path) -> String {
    path.extension().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// The `.cbh` file of the database that a file belongs to.
///
/// # Errors
/// When it is missing, or when the file is one of another program, with what to do about it.
pub fn main(path: &Path) -> Result<PathBuf> {
    if let Some(unread) = FileKind::unread_by_name(path) {
        return Err(unread.not("games", path));
    }
    if path.is_file() && extension(path) == "cbh" {
        return Ok(path.to_owned());
    }
    folder::sibling(path, "cbh").ok().flatten().ok_or_else(|| {
        Error::new(ErrorKind::File, "there is no such database")
            .at_path(path)
            .advice("name its .cbh file; the others (.cbg, .cba, .cbp ...) are found beside it")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_parts_are_found_in_any_letter_case() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["My Games.CBH", "My games.cbg", "MY GAMES.Cba"] {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        let path = folder.path().join("My Games.CBH");
        for (part, name) in [("cbg", "My games.cbg"), ("cba", "MY GAMES.Cba")] {
            let found = folder::sibling(&path, part).unwrap().unwrap();
            assert!(found.is_file());
            assert_eq!(found.file_name().unwrap().to_string_lossy().to_lowercase(), name.to_lowercase());
        }
        assert_eq!(folder::sibling(&path, "cbp").unwrap(), None);
        assert!(main(&folder.path().join("my games.cbg")).unwrap().is_file());
    }

    #[test]
    fn other_files_are_refused_with_advice() {
        for (name, says) in [
            ("a.2cbh", "save it as a CBH database"),
            ("a.cbz", "unpack it first"),
            ("none.cbh", "name its .cbh file"),
        ] {
            assert!(main(Path::new(name)).unwrap_err().to_string().contains(says), "{name}");
        }
    }
}
