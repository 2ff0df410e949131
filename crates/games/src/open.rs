//! Opening the files that a user names: the only module that knows every kind of source.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::file;
use tabiya_base::file_kind::FileKind;
use tabiya_base::folder::{self, FolderFiles};
use tabiya_chess::Variant;

use super::Batch;
use super::database::DatabaseSource;
use super::databases;
use super::decompress::kind_of;
use super::pgn::{Pgn, Room};
use super::stamp::Stamp;
use super::text::{CountedReader, STDIN, Text, checked, name_of, text};
use super::zip::{self, Member};

/// Name endings of the texts to read in a folder.
const TEXTS: [&str; 5] = [".pgn", ".pgn.gz", ".pgn.zst", ".pgn.bz2", ".pgn.xz"];
/// The name ending of the archives to read in a folder.
const ARCHIVE: &str = ".zip";

/// The games of several files, one file after another.
#[derive(Default)]
pub struct Sources {
    all: Vec<GameSource>,
    /// How many of them were begun.
    begun: usize,
    passed_over: Vec<Error>,
    skipped: Vec<PathBuf>,
    again: Vec<PathBuf>,
    current: Option<Batches>,
    /// Bytes of all together; `None` if unknown.
    size: Option<u64>,
    done: Arc<AtomicU64>,
    room: Room,
    variant: Variant,
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { all, begun, .. } = self;
        f.debug_struct("Sources").field("all", all).field("begun", begun).finish_non_exhaustive()
    }
}

/// A file that is to be read.
#[derive(Clone, Debug)]
struct GameSource {
    kind: SourceKind,
    /// The name that the places of its games have.
    name: PathBuf,
    /// The file in which other programs find a game by its address; `None` where none can: pipes, archives and compressed
    /// files.
    linked: Option<PathBuf>,
    /// Bytes that it takes on the disk.
    size: u64,
}

#[derive(Clone, Debug)]
enum SourceKind {
    Text(PathBuf),
    Database(PathBuf),
    Archived(Member),
    /// A text that is open already.
    Opened,
}

/// How a file is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The user names it.
    Named,
    /// It is in a folder.
    Folder,
}

/// Returns the batches of the current file, one after another.
type Batches = Box<dyn FnMut() -> Option<Box<dyn Batch>> + Send>;

/// Whether a name is that of a text of games, which may be compressed.
pub fn is_named(path: &Path) -> bool {
    ends_with(path, &TEXTS)
}

fn ends_with(path: &Path, ends: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    ends.iter().any(|end| name.ends_with(end))
}

/// Opens the games in files and folders; `-` is standard input. In a folder and the folders within it, all PGN files, ZIP
/// archives and databases are read in the order of their names; those that cannot be read are [passed
/// over](Sources::passed_over). Any file of a database means the whole database.
///
/// # Errors
/// When a file that is named is missing or does not hold games, or when a folder has no file of games.
pub fn open(paths: &[PathBuf]) -> Result<Sources> {
    let mut sources = Sources { size: Some(0), ..Sources::default() };
    for path in paths {
        if path.as_os_str() == STDIN {
            if sources.all.iter().any(|other| other.given().as_os_str() == STDIN) {
                return Err(Error::new(ErrorKind::Usage, "standard input can be read only once"));
            }
            sources.add_pipe(path.clone());
        } else if databases::is_named(path) && !path.is_dir() {
            sources.add_database(path.clone())?;
        } else {
            let metadata =
                fs::metadata(path).map_err(|error| Error::file(path, "cannot open the file", error))?;
            if metadata.is_dir() {
                sources.add_folder(path)?;
            } else if !metadata.is_file() {
                sources.add_pipe(path.clone());
            } else if zip::is_zip(path) {
                sources.add_archive(path, Origin::Named)?;
            } else if let Some(unread) = FileKind::unread_by_name(path) {
                return Err(unread.not("games", path));
            } else {
                sources.add_text(path.clone())?;
            }
        }
    }
    Ok(sources)
}

/// The games in a text that is open already, under this name; `size` bytes on the disk, of which `done` counts those read.
pub fn open_text(name: &Path, text: Text, size: Option<u64>, done: Arc<AtomicU64>) -> Sources {
    let (name, current) = (name.to_owned(), Some(batches(name, text, (Room::default(), Variant::Chess))));
    let all =
        vec![GameSource { kind: SourceKind::Opened, name, linked: None, size: size.unwrap_or_default() }];
    Sources { all, begun: 1, current, size, done, ..Sources::default() }
}

/// As [`open_text`], the games of a variant: also those that do not say what they are.
pub fn open_text_of(name: &Path, text: Text, variant: Variant) -> Sources {
    let mut pgn = Pgn::new(Arc::from(name), text).of_variant(variant).or_untagged();
    let current: Batches = Box::new(move || pgn.next_batch());
    Sources { current: Some(current), variant, ..Sources::default() }
}

impl GameSource {
    /// Its name, as the user gave it.
    fn given(&self) -> &Path {
        match &self.kind {
            SourceKind::Text(path) | SourceKind::Database(path) => path,
            SourceKind::Archived(member) => &member.name,
            SourceKind::Opened => &self.name,
        }
    }
}

impl Sources {
    /// The same, of which the games of this variant are read instead of those of standard chess and Chess960.
    ///
    /// # Errors
    /// When one is a database: those hold no other variant.
    pub fn of_variant(self, variant: Variant) -> Result<Self> {
        let is_database = |source: &&GameSource| matches!(source.kind, SourceKind::Database(_));
        match self.all.iter().find(is_database).filter(|_| variant != Variant::Chess) {
            Some(database) => {
                let what = format!("databases hold standard chess only, not {variant}");
                Err(Error::new(ErrorKind::Usage, what)
                    .at_path(database.given())
                    .advice("name PGN files, or read the games of standard chess"))
            }
            None => Ok(Self { variant, ..self }),
        }
    }

    /// The variant whose games are read.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The same games once more, before any of them was read; `None` if there is a pipe, which can be read only once.
    pub fn again(&self) -> Option<Self> {
        self.size?;
        Some(Self { all: self.all.clone(), size: self.size, variant: self.variant, ..Self::default() })
    }

    /// The same, each file once, whatever the paths by which it is named.
    #[must_use]
    pub fn once(mut self) -> Self {
        let mut known = HashSet::new();
        let (all, again) = std::mem::take(&mut self.all).into_iter().partition(|source: &GameSource| {
            known.insert(dunce::canonicalize(&source.name).unwrap_or_else(|_| source.name.clone()))
        });
        let again: Vec<GameSource> = again;
        let bytes: u64 = again.iter().map(|source| source.size).sum();
        (self.all, self.size) = (all, self.size.and_then(|size| size.checked_sub(bytes)));
        self.again = again.iter().map(|source| source.given().to_owned()).collect();
        self
    }

    /// The files that [`Sources::once`] left out.
    pub fn named_again(&self) -> &[PathBuf] {
        &self.again
    }

    /// As [`Sources::again`], for what reads all games twice.
    ///
    /// # Errors
    /// When there is a pipe.
    pub fn twice(&self, what: &str) -> Result<Self> {
        self.again().ok_or_else(|| {
            let what = format!("{what} reads the games twice, but a pipe can be read only once");
            Error::new(ErrorKind::Usage, what).advice("write the games to a file, which may be compressed")
        })
    }

    /// Each file by itself with its stamp, before any of them was read; `None` if there is a pipe. They report their progress
    /// together.
    ///
    /// # Errors
    /// When a file has disappeared.
    pub fn each(&self) -> Result<Option<Vec<(Self, Stamp)>>> {
        if self.size.is_none() {
            return Ok(None);
        }
        let alone = |source: &GameSource| {
            let all = vec![GameSource { linked: None, ..source.clone() }];
            let (size, done) = (self.size, self.done.clone());
            let games = Self { all, size, done, variant: self.variant, ..Self::default() };
            let (files, within) = match &source.kind {
                SourceKind::Text(path) => (vec![path.clone()], None),
                SourceKind::Database(path) => (databases::parts(path), None),
                SourceKind::Archived(member) => (vec![member.archive().to_owned()], Some(member.content())),
                SourceKind::Opened => (Vec::new(), None),
            };
            Ok((games, Stamp::new(source.given(), files, within)?))
        };
        self.all.iter().map(alone).collect::<Result<_>>().map(Some)
    }

    /// Reads longer games, with this much room. Its batches must be dropped by other threads than the one that reads them, or
    /// before the next is read.
    pub(crate) fn read_within(&mut self, room: Room) {
        self.room = room;
    }

    /// Counts all bytes as read: the games are known already.
    pub fn skip(&self) {
        self.done.fetch_add(self.bytes(), Ordering::Relaxed);
    }

    /// Bytes that the files take on the disk; pipes count nothing.
    pub fn bytes(&self) -> u64 {
        self.all.iter().map(|source| source.size).sum()
    }

    /// Adds sources that [`Sources::each`] gave, before any of them was read.
    pub fn append(&mut self, more: Self) {
        self.all.extend(more.all);
    }

    /// Why files in folders that look as if they held games cannot be read.
    pub fn passed_over(&self) -> &[Error] {
        &self.passed_over
    }

    /// Takes them.
    pub(crate) fn take_passed_over(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.passed_over)
    }

    /// Archives in folders that hold no file of games.
    pub fn skipped(&self) -> &[PathBuf] {
        &self.skipped
    }

    /// These, if no file was passed over.
    ///
    /// # Errors
    /// Why the first one was.
    pub fn whole(mut self) -> Result<Self> {
        if self.passed_over.is_empty() { Ok(self) } else { Err(self.passed_over.swap_remove(0)) }
    }

    fn add(&mut self, kind: SourceKind, name: PathBuf, linked: Option<PathBuf>, size: u64) {
        self.all.push(GameSource { kind, name, linked, size });
        self.size = self.size.and_then(|before| before.checked_add(size));
    }

    /// Adds a pipe, whose length is unknown, and which can be read only once.
    fn add_pipe(&mut self, path: PathBuf) {
        let name = name_of(&path).to_owned();
        self.add(SourceKind::Text(path), name, None, 0);
        self.size = None;
    }

    fn add_text(&mut self, path: PathBuf) -> Result<()> {
        // Better report what is wrong with the last file now than after hours.
        text(&path, Arc::default())?;
        let metadata =
            fs::metadata(&path).map_err(|error| Error::file(&path, "cannot open the file", error))?;
        let linked = (!kind_of(&path).is_some_and(FileKind::is_compressed)).then(|| path.clone());
        self.add(SourceKind::Text(path.clone()), path, linked, metadata.len());
        Ok(())
    }

    fn add_database(&mut self, path: PathBuf) -> Result<()> {
        let db = databases::open(&path)?;
        let linked = db.linked().map(Path::to_path_buf);
        self.add(SourceKind::Database(path), db.games_path().to_path_buf(), linked, db.size());
        Ok(())
    }

    fn add_archive(&mut self, path: &Path, origin: Origin) -> Result<()> {
        let members = zip::members(path)?;
        if members.is_empty() {
            if origin == Origin::Folder {
                self.skipped.push(path.to_owned());
                return Ok(());
            }
            return Err(Error::new(ErrorKind::File, "this archive holds no PGN files")
                .at_path(path)
                .advice("name one whose files end with .pgn"));
        }
        members.iter().try_for_each(|member| archived(member, Arc::default()).map(|_| ()))?;
        for member in members {
            let (name, len) = (member.name.clone(), member.compressed);
            self.add(SourceKind::Archived(member), name, None, len);
        }
        Ok(())
    }

    fn add_folder(&mut self, path: &Path) -> Result<()> {
        let known = |sources: &Self| sources.all.len() + sources.passed_over.len();
        let before = known(self);
        let FolderFiles { found, unread } = folder::files(path, &is_of_a_system)?;
        self.passed_over.extend(unread);
        // A link to a folder is not followed, whatever its name.
        for path in found.into_iter().filter(|path| !path.is_dir()) {
            let added = if is_named(&path) {
                is_file(&path).and_then(|()| self.add_text(path.clone()))
            } else if databases::is_main(&path) {
                self.add_database(path.clone())
            } else if ends_with(&path, &[ARCHIVE]) {
                is_file(&path).and_then(|()| self.add_archive(&path, Origin::Folder))
            } else if let Some(unread) = FileKind::reported_by_name(&path) {
                Err(unread.not("games", &path))
            } else if databases::is_alone(&path) {
                databases::open(&path).map(|_| ())
            } else {
                Ok(())
            };
            self.passed_over.extend(added.err().map(|error| error.or_at_path(&path)));
        }
        if known(self) > before {
            return Ok(());
        }
        Err(Error::new(ErrorKind::File, "this folder holds no PGN files or databases").at_path(path).advice(
            "the names of PGN files end with .pgn, .pgn.gz, .pgn.zst, .pgn.bz2, .pgn.xz or .zip, those of databases \
             with .cbh, .cbv, .si4 or .si5",
        ))
    }
}

/// Whether a name in a folder is one that macOS gives to what it keeps of other files.
fn is_of_a_system(name: &OsStr) -> bool {
    name == "__MACOSX" || name.to_string_lossy().starts_with("._")
}

/// Refuses what is not a regular file: reading a pipe would wait for its writer.
fn is_file(path: &Path) -> Result<()> {
    file::open(path).map(|_| ())
}

/// The batches of a text.
fn batches(name: &Path, text: Text, (room, variant): (Room, Variant)) -> Batches {
    let mut pgn = Pgn::new(Arc::from(name), text).within(room).of_variant(variant);
    Box::new(move || pgn.next_batch())
}

/// Opens a PGN file in an archive.
fn archived(member: &Member, done: Arc<AtomicU64>) -> Result<Text> {
    let opened = member.open(|from| CountedReader { from, done });
    let cannot = |error| Error::file(&member.name, "cannot open the file", error);
    checked(&member.name, opened.map_err(cannot)?)
}

impl Sources {
    /// The next batch of games; `None` at the end.
    ///
    /// Batches and the games in them depend on the bytes of the files alone, not on how they are read.
    ///
    /// # Errors
    /// When a file cannot be opened or read, or does not hold games.
    pub fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>> {
        loop {
            if let Some(batch) = self.current.as_mut().and_then(|next| next()) {
                return Ok(Some(batch));
            }
            self.current = None;
            let Some(GameSource { kind, name, .. }) = self.all.get(self.begun) else { return Ok(None) };
            self.begun += 1;
            let (done, how) = (self.done.clone(), (self.room.clone(), self.variant));
            self.current = Some(match kind {
                SourceKind::Opened => continue,
                SourceKind::Text(path) => batches(name, text(path, done)?, how),
                SourceKind::Archived(member) => batches(name, archived(member, done)?, how),
                SourceKind::Database(path) => {
                    let mut games = DatabaseSource::new(databases::open(path)?);
                    let before = done.load(Ordering::Relaxed);
                    Box::new(move || {
                        let batch = games.next_batch();
                        done.store(before + games.done(), Ordering::Relaxed);
                        batch
                    })
                }
            });
        }
    }

    /// The files, by the names that the places of games have.
    pub fn files(&self) -> Vec<PathBuf> {
        self.all.iter().map(|source| source.name.clone()).collect()
    }

    /// The files that are read: of a database all its parts.
    pub fn parts(&self) -> Vec<PathBuf> {
        let parts = |source: &GameSource| match &source.kind {
            SourceKind::Database(path) => databases::parts(path),
            _ => vec![source.name.clone()],
        };
        self.all.iter().flat_map(parts).collect()
    }

    /// The same with the file of each in which other programs find a game by its address, if there is one.
    pub fn linked(&self) -> impl Iterator<Item = (&Path, Option<&Path>)> {
        self.all.iter().map(|source| (&*source.name, source.linked.as_deref()))
    }

    /// The same with the file of each from which its games can be read again.
    pub fn rereadable(&self) -> impl Iterator<Item = (&Path, Option<&Path>)> {
        self.all.iter().map(|source| match (&source.linked, &source.kind) {
            (None, SourceKind::Database(archive)) => (&*source.name, Some(&**archive)),
            (linked, _) => (&*source.name, linked.as_deref()),
        })
    }

    /// Bytes of all files together, as they are on the disk; `None` if unknown, as for a pipe.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Bytes of them that were read.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::write;

    fn names(paths: &[&Path]) -> Result<Vec<String>> {
        let paths: Vec<_> = paths.iter().map(|path| path.to_path_buf()).collect();
        let sources = open(&paths)?;
        Ok(sources
            .all
            .iter()
            .map(|source| source.given().file_name().unwrap().to_string_lossy().into_owned())
            .collect())
    }

    #[test]
    fn folders_are_read_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("b/c")).unwrap();
        for name in ["b/c/3.PGN", "b/2.pgn", "a.pgn", "d.txt", "b/c.pgn"] {
            write(at(name), b"1. e4 *").unwrap();
        }
        assert_eq!(names(&[folder.path()]).unwrap(), ["a.pgn", "2.pgn", "3.PGN", "c.pgn"]);
        assert_eq!(names(&[&at("d.txt"), &at("a.pgn")]).unwrap(), ["d.txt", "a.pgn"]);
        fs::create_dir(at("e")).unwrap();
        assert!(names(&[&at("e")]).unwrap_err().to_string().contains("holds no PGN files"));
    }

    #[test]
    fn a_folders_compressed_files_and_databases_are_read_and_others_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a.pgn", "c.pgn.bz2", "d.pgn.xz", "x.cbv", "y.2cbh", "z.txt"] {
            write(at(name), b"1. e4 *").unwrap();
        }
        write(at("p.zip"), b"PK\x03\x04 and no archive").unwrap();
        crate::cbh::tests::fixtures::TestDatabase::default().write(&at("b.cbh"));
        let sources = open(&[folder.path().to_owned()]).unwrap();
        let names: Vec<_> = sources.all.iter().map(|source| source.given().to_owned()).collect();
        assert_eq!(names, ["a.pgn", "b.cbh", "c.pgn.bz2", "d.pgn.xz"].map(at));
        let errors: Vec<_> = sources.passed_over().iter().map(Error::to_string).collect();
        assert_eq!(errors.len(), 3, "{errors:?}");
        for (error, (name, says)) in errors.iter().zip([
            ("p.zip", "unpack it first"),
            ("x.cbv", "not a ChessBase archive"),
            ("y.2cbh", "newer format"),
        ]) {
            assert!(error.contains(name) && error.contains(says), "{error}");
        }
    }

    #[test]
    fn files_of_a_folder_that_are_no_sources_of_games_are_no_errors() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("__MACOSX")).unwrap();
        for name in ["a.pgn", "_b.pgn"] {
            write(at(name), b"1. e4 *").unwrap();
        }
        let double = b"\0\x05\x16\x07\0\x02\0\0Mac OS X        ";
        for name in ["._a.pgn", "__MACOSX/._a.pgn", ".DS_Store", "._b.zip", "._c.cbh"] {
            write(at(name), double).unwrap();
        }
        // The end of a central directory without entries.
        write(at("pictures.zip"), [&b"PK\x05\x06"[..], &[0; 18]].concat()).unwrap();
        let sources = open(&[folder.path().to_owned()]).unwrap();
        let errors: Vec<_> = sources.passed_over().iter().map(Error::to_string).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(sources.files(), ["_b.pgn", "a.pgn"].map(at));
        assert_eq!(sources.skipped(), [at("pictures.zip")]);
        // Who names it expects games in it.
        assert!(names(&[&at("pictures.zip")]).unwrap_err().to_string().contains("holds no PGN files"));
        assert!(names(&[&at("__MACOSX")]).unwrap_err().to_string().contains("holds no PGN files"));
    }

    #[test]
    fn files_without_games_are_refused_before_anything_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pgn");
        assert!(names(&[&path]).unwrap_err().to_string().contains("cannot open the file"));
        write(&path, b"\0\x01\x02").unwrap();
        assert!(names(&[&path]).unwrap_err().to_string().contains("not a text file of games"));
        write(&path, "\u{feff}1. e4".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()).unwrap();
        assert!(names(&[&path]).unwrap_err().to_string().ends_with("save it as UTF-8"));
        assert!(names(&[Path::new("-"), Path::new("-")]).is_err());
        write(&path, b"7z\xbc\xaf\x27\x1c\0\x04").unwrap();
        assert!(names(&[&path]).unwrap_err().to_string().ends_with("unpack it first"));
    }

    #[test]
    fn each_file_is_read_once_if_that_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("a")).unwrap();
        write(path("a/a.pgn"), "1. e4 *").unwrap();
        write(path("b.pgn"), "1. d4 *").unwrap();
        let paths = [path("a"), path("b.pgn"), path("a/a.pgn"), path("a/../b.pgn"), path("a")];
        let all = open(&paths).unwrap();
        assert_eq!((all.files().len(), all.size()), (5, Some(35)));
        let once = all.once();
        assert_eq!((once.files(), once.size()), (vec![path("a/a.pgn"), path("b.pgn")], Some(14)));
        assert_eq!(once.named_again(), [path("a/a.pgn"), path("a/../b.pgn"), path("a/a.pgn")]);
    }

    #[test]
    fn each_source_alone_gives_its_own_games() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        write(path("a.pgn"), "1. e4 *").unwrap();
        write(path("b.pgn"), "1. d4 *").unwrap();
        let all = open(&[folder.path().to_owned()]).unwrap();
        let mut each = all.each().unwrap().unwrap();
        assert_eq!(each.len(), 2);
        let [(first, _), (second, _)] = &mut each[..] else { unreachable!() };
        assert_eq!(first.files(), [path("a.pgn")]);
        first.skip();
        assert!(second.next_batch().unwrap().is_some());
        assert_eq!((second.done(), second.size()), (14, Some(14)));
    }
}
