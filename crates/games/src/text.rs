//! Texts in files, which may be compressed: read from the disk, from a pipe or from standard input.

use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::{Error, Result};
use tabiya_base::file_kind::FileKind;
use tabiya_chess::trim_blanks;

use super::decompress::{Failing, decompressed};
use super::pipe::Pipe;

/// The name that means standard input.
pub const STDIN: &str = "-";

/// Bytes at the start of a file that show whether it is text.
pub const START_LEN: u64 = 4096;

/// What to do with a file that holds no games.
pub const ADVICE: &str = "name PGN files (.pgn, also compressed as .gz, .zst, .bz2, .xz or .zip) or databases (.cbh, .cbv, .si4, .si5)";

/// The text of a file: the start, which was checked, and the rest.
pub type Text = io::Chain<Cursor<Vec<u8>>, Box<dyn Read + Send>>;

/// Opens a file or standard input, and checks that it is text. `done` counts the bytes that are read from the disk.
///
/// # Errors
/// When it cannot be opened, or is not text.
pub fn text(path: &Path, done: Arc<AtomicU64>) -> Result<Text> {
    let cannot = |what| move |error| Error::file(path, what, error);
    let from: Box<dyn Read + Send> = if path.as_os_str() == STDIN {
        Box::new(Pipe::new(|| Ok(io::stdin())))
    } else if fs::metadata(path).is_ok_and(|metadata| metadata.is_file()) {
        Box::new(File::open(path).map_err(cannot("cannot open the file"))?)
    } else {
        let path = path.to_owned();
        Box::new(Pipe::new(|| File::open(path)))
    };
    checked(path, decompressed(CountedReader { from, done }).map_err(cannot("cannot read the file"))?)
}

/// Checks that the content of a file is text.
///
/// # Errors
/// When it is not.
pub fn checked(path: &Path, mut from: Box<dyn Read + Send>) -> Result<Text> {
    let mut start = Vec::new();
    if let Err(error) = (&mut from).take(START_LEN).read_to_end(&mut start) {
        // Errors after the first bytes are reported where they are read.
        from = Box::new(Failing(Some(error)));
    }
    match refused(path, &start) {
        Some(error) => Err(error),
        None => Ok(Cursor::new(start).chain(from)),
    }
}

/// The error of a file with these first bytes that is not a text of games.
fn refused(path: &Path, start: &[u8]) -> Option<Error> {
    let error = |what: &str, advice| Some(Error::format(path, what).advice(advice));
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return error("this is text in UTF-16", "save it as UTF-8");
    }
    match FileKind::by_start(start) {
        Some(FileKind::Zip) => {
            return error("this is a ZIP archive in a pipe", "name its file, or unpack it first");
        }
        Some(kind) if kind.is_packed() => return Some(kind.not("games", path)),
        Some(kind) => return Some(kind.not("games", path).advice(ADVICE)),
        None => {}
    }
    if memchr::memchr(0, start).is_some_and(|zero| !is_games(start.part(..zero))) {
        return error("this is not a text file of games", ADVICE);
    }
    None
}

/// Whether a file that begins so is a text, of games or of anything else.
pub fn is_text(start: &[u8]) -> bool {
    refused(Path::new(""), start).is_none()
}

/// Whether a text before zero bytes is of games: a loss of power may leave zeros where their end was.
fn is_games(text: &[u8]) -> bool {
    let is_control = |byte: &u8| matches!(byte, 1..=8 | 0xe..=0x1f);
    let start = trim_blanks(text);
    start.starts_with(b"[") | start.starts_with(b"1.")
        && text.contains(&b'\n')
        && !text.iter().any(is_control)
}

/// The name of a file in places and messages.
pub fn name_of(path: &Path) -> &Path {
    if path.as_os_str() == STDIN { Path::new("standard input") } else { path }
}

/// Counts the bytes of a file as they are read.
pub(crate) struct CountedReader<R> {
    pub from: R,
    pub done: Arc<AtomicU64>,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
