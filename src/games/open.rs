//! Which files a user means, and what they are: the only file that names every kind of source.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cbh::{self, Cbh, CbhSource};
use super::pgn::Pgn;
use super::pipe::Pipe;
use super::unpack::unpacked;
use super::{Batch, GameSource};
use crate::base::error::{Error, ErrorKind, Result};

/// The name that means standard input.
const STDIN: &str = "-";

/// Ends of names that are taken out of a folder.
const EXTENSIONS: [&str; 3] = [".pgn", ".pgn.gz", ".pgn.zst"];

/// Bytes from the start of a file that tell whether it is text.
const START_LEN: u64 = 4096;

/// Folders within folders that are looked into.
const DEEPEST: u32 = 64;

/// The games of several files, one file after another.
pub struct Sources {
    waiting: VecDeque<PathBuf>,
    names: Vec<PathBuf>,
    current: Option<Current>,
    size: Option<u64>,
    done: Arc<AtomicU64>,
}

/// The file that is being read.
enum Current {
    Text(Pgn<Text>),
    /// A database, and the bytes of the files before it.
    Database(CbhSource, u64),
}

/// Opens the games in files and folders; `-` is standard input. Of a folder, all PGN files in it and in its folders
/// are read, in the order of their names. A ChessBase database is named by any of its files.
///
/// # Errors
/// When a file is missing or is no file, when a folder holds no games, or when nothing is named.
pub fn open(paths: &[PathBuf]) -> Result<Sources> {
    let mut waiting = VecDeque::new();
    let mut size = Some(0_u64);
    let mut names = Vec::new();
    for path in paths {
        if path.as_os_str() == STDIN {
            if waiting.iter().any(|other: &PathBuf| other.as_os_str() == STDIN) {
                return Err(Error::new(ErrorKind::Usage, "standard input can be read only once"));
            }
            waiting.push_back(path.clone());
            names.push(name_of(path).to_owned());
            size = None;
            continue;
        }
        if cbh::is_named(path) && !path.is_dir() {
            let db = Cbh::open(path)?;
            size = size.map(|size| size + db.size());
            waiting.push_back(path.clone());
            names.push(db.moves_path().to_path_buf());
            continue;
        }
        let metadata =
            fs::metadata(path).map_err(|error| Error::file(path, "cannot open the file", error))?;
        if metadata.is_dir() {
            let before = waiting.len();
            folder(path, DEEPEST, &mut waiting)?;
            if waiting.len() == before {
                return Err(Error::new(ErrorKind::File, "this folder holds no PGN files")
                    .at_path(path)
                    .advice("their names end with .pgn, .pgn.gz or .pgn.zst"));
            }
            for path in waiting.iter().skip(before) {
                text(path, Arc::default())?;
                names.push(path.clone());
                let len =
                    fs::metadata(path).map_err(|error| Error::file(path, "cannot open the file", error))?;
                size = size.map(|size| size + len.len());
            }
        } else {
            if metadata.is_file() {
                size = size.map(|size| size + metadata.len());
                // What is wrong with the last file is better known now than after hours.
                text(path, Arc::default())?;
            } else {
                // A pipe has no length that is known beforehand, and can be read only once.
                size = None;
            }
            waiting.push_back(path.clone());
            names.push(path.clone());
        }
    }
    Ok(Sources { waiting, names, current: None, size, done: Arc::default() })
}

fn folder(path: &Path, depth: u32, found: &mut VecDeque<PathBuf>) -> Result<()> {
    let cannot = |error| Error::file(path, "cannot read the folder", error);
    if depth == 0 {
        return Err(Error::new(ErrorKind::File, "too many folders within one another").at_path(path));
    }
    let mut entries = fs::read_dir(path).map_err(cannot)?.collect::<io::Result<Vec<_>>>().map_err(cannot)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A folder behind a link is not followed: it may lead back here.
        if entry.file_type().map_err(cannot)?.is_dir() {
            folder(&path, depth - 1, found)?;
        } else {
            let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
            if path.is_file() && EXTENSIONS.iter().any(|extension| name.ends_with(extension)) {
                found.push_back(path);
            }
        }
    }
    Ok(())
}

/// The text of a file of games: what was looked at to tell what it is, and the rest.
type Text = io::Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>;

/// Opens a file, or standard input, and looks whether it is text.
fn text(path: &Path, done: Arc<AtomicU64>) -> Result<Text> {
    let cannot = |what| move |error| Error::file(path, what, error);
    let from: Box<dyn Read + Send> = if path.as_os_str() == STDIN {
        Box::new(Pipe::new(|| Ok(io::stdin())))
    } else if fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        Box::new(File::open(path).map_err(cannot("cannot open the file"))?)
    } else {
        let path = path.to_owned();
        Box::new(Pipe::new(|| File::open(path)))
    };
    let mut from = unpacked(Counted { from, done }).map_err(cannot("cannot read the file"))?;
    let mut start = Vec::new();
    // What is cut off behind its first bytes is told where it is read.
    let _ = (&mut from).take(START_LEN).read_to_end(&mut start);
    if let Some((what, advice)) = no_text(&start) {
        return Err(Error::format(path, what).advice(advice));
    }
    Ok(Cursor::new(start).chain(from))
}

/// Why the first bytes of a file are not those of a text of games.
fn no_text(start: &[u8]) -> Option<(&'static str, &'static str)> {
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return Some(("this is text in UTF-16", "save it as UTF-8"));
    }
    if start.contains(&0) {
        return Some((
            "this is no text of games",
            "name PGN files (.pgn, .pgn.gz or .pgn.zst) or ChessBase databases (.cbh)",
        ));
    }
    None
}

impl GameSource for Sources {
    fn next_batch(&mut self) -> Result<Option<Box<dyn Batch>>> {
        loop {
            let batch = match &mut self.current {
                None => None,
                Some(Current::Text(pgn)) => pgn.next_batch(),
                Some(Current::Database(games, before)) => {
                    let batch = games.next_batch();
                    self.done.store(*before + games.done(), Ordering::Relaxed);
                    batch
                }
            };
            if batch.is_some() {
                return Ok(batch);
            }
            self.current = None;
            let Some(path) = self.waiting.pop_front() else { return Ok(None) };
            self.current = Some(if cbh::is_named(&path) {
                let games = CbhSource::new(Arc::new(Cbh::open(&path)?));
                Current::Database(games, self.done.load(Ordering::Relaxed))
            } else {
                Current::Text(Pgn::new(Arc::from(name_of(&path)), text(&path, self.done.clone())?))
            });
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        self.names.clone()
    }

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// What a file is called in places and messages.
fn name_of(path: &Path) -> &Path {
    if path.as_os_str() == STDIN { Path::new("standard input") } else { path }
}

/// A file whose bytes are counted as they are read.
struct Counted<R> {
    from: R,
    done: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
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
            .waiting
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
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
    fn what_cannot_be_games_is_refused_before_anything_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pgn");
        assert!(names(&[&path]).unwrap_err().to_string().contains("cannot open the file"));
        write(&path, b"\0\x01\x02").unwrap();
        assert!(names(&[&path]).unwrap_err().to_string().contains("no text of games"));
        write(&path, "\u{feff}1. e4".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()).unwrap();
        assert!(names(&[&path]).unwrap_err().to_string().ends_with("save it as UTF-8"));
        assert!(names(&[Path::new("-"), Path::new("-")]).is_err());
    }
}
