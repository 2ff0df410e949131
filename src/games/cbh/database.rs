//! An open database: its files, and what is odd about them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entities::{Entities, Entity};
use super::files;
use super::layout::{
    CBH_COUNT, CBH_MARK, CBH_MARK_AT, CBJ_HEADER, CBJ_MOVES, CBJ_SIZE, CBM_HEADER, RECORD_LEN, annotator,
    player, source, team, title, tournament,
};
use crate::base::blob::Blob;
use crate::base::bytes;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::folder;

/// Above this length of a file its offsets need more than 32 bits.
const WIDE: u64 = u32::MAX as u64;

/// A database.
#[derive(Debug)]
pub struct Cbh {
    /// The `.cbh` file.
    pub(super) records: Blob,
    /// The `.cbg` file.
    pub(super) moves: Blob,
    /// The `.cba` file, where there is one.
    pub(super) notes: Option<Blob>,
    /// The `.cbj` file, where there is one.
    pub(super) second: Option<Blob>,
    /// Bytes of its records.
    pub(super) second_len: u64,
    pub(super) players: Entities,
    pub(super) tournaments: Entities,
    pub(super) annotators: Entities,
    pub(super) sources: Entities,
    pub(super) teams: Entities,
    pub(super) titles: Entities,
    /// Bytes of media that its texts show.
    media: u64,
    moves_name: Arc<Path>,
    count: u32,
    files: Vec<PathBuf>,
    damage: Vec<String>,
}

/// The other files of a database, by the last parts of their names.
type Parts<'a> = &'a dyn Fn(&str) -> Option<Result<(PathBuf, Blob)>>;

/// The bytes of a database's files, by the last parts of their names.
pub type Bytes<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

impl Cbh {
    /// Opens a database by the name of any of its files. What is missing or broken beside records and moves is left
    /// out, and reported by [`Cbh::damage`].
    ///
    /// # Errors
    /// When records or moves are missing, cannot be opened or are no such files; for other formats and archives, with
    /// what to do about them.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let main = files::main(path.as_ref())?;
        let records = Blob::open(&main)?;
        let moves = folder::sibling(&main, "cbg").ok().flatten().ok_or_else(|| {
            Error::new(ErrorKind::File, format!("the moves of the database {} are missing", main.display()))
                .at_path(main.with_extension("cbg"))
                .advice("put all files of the database into one folder, with the same name before the dot")
        })?;
        let moves = Blob::open(moves)?;
        Self::with(records, moves, &|part| {
            let path = folder::sibling(&main, part).ok().flatten();
            path.map(|path| Blob::open(&path).map(|blob| (path, blob)))
        })
    }

    /// Opens a database whose bytes are at hand: in tests, say.
    ///
    /// # Errors
    /// When records or moves are missing or are no such files.
    pub fn from_bytes(name: &str, part: Bytes<'_>) -> Result<Self> {
        let blob = |extension: &str| {
            let path = Path::new(name).with_extension(extension);
            let missing = || {
                Error::new(ErrorKind::File, "this part of the database is missing")
                    .at_path(&path)
                    .advice("put all files of the database into one folder")
            };
            part(extension).map(|bytes| Blob::new(&path, bytes)).ok_or_else(missing)
        };
        Self::with(blob("cbh")?, blob("cbg")?, &|extension| {
            let path = Path::new(name).with_extension(extension);
            part(extension).map(|bytes| Ok((path.clone(), Blob::new(path, bytes))))
        })
    }

    fn with(records: Blob, moves: Blob, part: Parts<'_>) -> Result<Self> {
        let mut damage = Vec::new();
        let count = count(&records, &mut damage)?;
        let mut files = vec![records.path().to_owned(), moves.path().to_owned()];
        let mut open = |extension: &str, needed: bool, what: &str| match part(extension) {
            Some(Ok((path, blob))) => {
                files.push(path);
                Some(blob)
            }
            Some(Err(error)) => {
                damage.push(format!("{error}: {what}"));
                None
            }
            None => {
                if needed {
                    damage.push(format!("there is no .{extension} file: {what}"));
                }
                None
            }
        };
        let notes = open("cba", true, "games come without annotations");
        let names = [
            ("cbp", player::LEAST, "players have no names"),
            ("cbt", tournament::LEAST, "tournaments have no names"),
            ("cbc", annotator::LEAST, "annotators have no names"),
            ("cbs", source::LEAST, "sources have no names"),
            ("cbe", team::LEAST, "teams have no names"),
            ("cbl", title::LEAST, "games have no titles"),
        ];
        let blobs = names.map(|(extension, least, what)| {
            // Old databases and those of small programs have neither teams nor titles.
            let needed = !matches!(extension, "cbe" | "cbl");
            (open(extension, needed, what), extension, least)
        });
        let second = open("cbj", false, "teams are not known");
        // Only texts show them, and PGN has neither.
        let media = open("cbm", false, "media are not known");
        let media = media.map_or(0, |blob| blob.len().saturating_sub(CBM_HEADER));
        let [players, tournaments, annotators, sources, teams, titles] =
            blobs.map(|(blob, extension, least)| {
                let Some(blob) = blob else { return Entities::none() };
                let (entities, what) = match entities(&blob, least) {
                    Ok(opened) => opened,
                    Err(error) => (Entities::none(), Some(error.to_string())),
                };
                damage.extend(what.map(|what| format!("the .{extension} file: {what}")));
                entities
            });
        let second_len = second.as_ref().map_or(0, |blob| {
            let mut head = [0; 8];
            let read = blob.read(0, &mut head).unwrap_or_default();
            head.get(..read).and_then(|head| bytes::u32_le(head, CBJ_SIZE)).map_or(0, u64::from)
        });
        if moves.len() > WIDE && second_len < CBJ_MOVES + 8 {
            damage.push(
                "the moves take more than 4 GiB, and no .cbj file says where those of each game are"
                    .to_owned(),
            );
        }
        let moves_name = Arc::from(moves.path());
        Ok(Self {
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
            media,
            moves_name,
            count,
            files,
            damage,
        })
    }

    /// The `.cbh` file.
    pub fn path(&self) -> &Path {
        self.records.path()
    }

    /// The `.cbg` file, in which offsets of games are.
    pub fn moves_path(&self) -> &Arc<Path> {
        &self.moves_name
    }

    /// Every file of the database that was found.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// How many records it has: games and texts are numbered from 1 to this.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Bytes of pictures, sounds and the like that its texts show.
    pub fn media(&self) -> u64 {
        self.media
    }

    /// What is wrong with its files, one clause each.
    pub fn damage(&self) -> &[String] {
        &self.damage
    }

    /// Bytes of records and moves together.
    pub fn size(&self) -> u64 {
        self.records.len() + self.moves.len()
    }

    /// Whether offsets in this file need the 64 bits that the `.cbj` records have.
    pub(super) fn is_wide(&self, file: &Blob) -> bool {
        file.len() > WIDE && self.second_len >= CBJ_MOVES + 8
    }

    /// The offset of a game's `.cbj` record.
    pub(super) fn second_at(&self, game: u32) -> u64 {
        CBJ_HEADER + u64::from(game.saturating_sub(1)) * self.second_len
    }

    /// A player, a tournament and so on, where there is one of this number that is not deleted.
    pub(super) fn live(entities: &Entities, number: u32) -> Option<Entity<'_>> {
        entities.get(number).filter(|_| !entities.is_deleted(number))
    }
}

/// The bytes of a file of entities: they are few beside those of the games, and looked up at any place.
fn entities(blob: &Blob, least: u64) -> Result<(Entities, Option<String>)> {
    match blob.bytes() {
        Some(bytes) => Ok(Entities::new(bytes.to_vec().into(), least)),
        None => Entities::open(blob.path(), least),
    }
}

/// How many records a `.cbh` file has.
fn count(records: &Blob, damage: &mut Vec<String>) -> Result<u32> {
    let mut head = [0; RECORD_LEN as usize];
    let read = records.read(0, &mut head)?;
    let head = head.get(..read).unwrap_or_default();
    let marked = bytes::slice(head, CBH_MARK_AT, 2) == Some(&CBH_MARK);
    let claimed = bytes::u32_be(head, CBH_COUNT).filter(|_| marked && read == RECORD_LEN as usize);
    let Some(claimed) = claimed else {
        return Err(Error::format(records.path(), "this is no ChessBase database")
            .at_offset(0)
            .advice("name the .cbh file of a database"));
    };
    let rest = (records.len() - RECORD_LEN) % RECORD_LEN;
    if rest != 0 {
        damage.push(format!("the last record of the .cbh file is cut off after {rest} bytes"));
    }
    // The header counts one more.
    let held = u32::try_from((records.len() - RECORD_LEN) / RECORD_LEN).unwrap_or(u32::MAX);
    match claimed.checked_sub(1) {
        Some(claimed) if claimed <= held => {
            if claimed < held {
                let what = format!("the .cbh file holds {held} records, and its header counts {claimed}");
                damage.push(what);
            }
            Ok(claimed)
        }
        _ => {
            let claimed = claimed.saturating_sub(1);
            let what = format!("the header of the .cbh file counts {claimed} records, and it holds {held}");
            damage.push(what);
            Ok(held)
        }
    }
}
