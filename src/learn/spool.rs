//! Games that could not be learned when they ended, kept for later.
//!
//! The spool is a text file, one game a line: its state (`+` waits, `-` is learned), a blank, 16 hexadecimal digits of
//! the SHA-256 of what follows the next blank, a blank, and a JSON object. A line is added with one write and synced; a
//! game that was learned has its `+` overwritten. A line whose digits do not fit was being written when the power went,
//! and is passed over. When no line waits the file is emptied. Whoever changes it locks it.
//!
//! A game that was learned but not yet crossed out does no harm: the book's journal knows it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use shakmaty::{ByColor, CastlingMode, Color, KnownOutcome, Position as _};

use super::lesson::Lesson;
use super::storage::{Bytes, lock};
use crate::base::error::{Error, Result};
use crate::chess::Game;

/// Bytes that a spool may have: more is not kept, and said not to be.
const SPOOL_MAX: u64 = 64 << 20;

/// Hexadecimal digits that guard a line.
const GUARD_LEN: usize = 16;

/// The place of the text in a line: behind the state, the guard and two blanks.
const TEXT: usize = GUARD_LEN + 3;

/// A game that waits for its book.
#[derive(Clone, Debug)]
pub struct Spooled {
    /// The book that it is to be learned into.
    pub book: PathBuf,
    /// The game.
    pub lesson: Lesson,
    /// The offset of its line.
    at: u64,
}

/// A line's text.
#[derive(Deserialize, Serialize)]
struct Line {
    book: PathBuf,
    id: String,
    fen: String,
    chess960: bool,
    moves: String,
    sides: String,
    result: String,
    note: String,
}

/// A file of games that wait.
#[derive(Clone, Debug)]
pub struct Spool {
    path: PathBuf,
}

impl Spool {
    /// The spool of this path; the file is made when something is put in it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a game in, for good: when this returns the disk has it.
    ///
    /// # Errors
    /// When the file cannot be made, locked within `patience`, or written.
    pub fn put(&self, book: &Path, lesson: &Lesson, patience: Duration) -> Result<()> {
        let cannot = |error| Error::file(&self.path, "cannot keep the game for later", error);
        let book = std::path::absolute(book).unwrap_or_else(|_| book.to_owned());
        let text = serde_json::to_string(&Line::of(book, lesson)).map_err(|error| cannot(error.into()))?;
        let line = format!("+ {} {text}\n", guard(&text));
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(cannot)?;
        }
        let mut file = self.open(true, patience)?;
        let mut end = file.size().map_err(cannot)?;
        if end + line.len() as u64 > SPOOL_MAX {
            return Err(cannot(io::Error::new(io::ErrorKind::FileTooLarge, "too many games wait already")));
        }
        let mut last = [b'\n'];
        if end > 0 {
            file.read_at(end - 1, &mut last).map_err(cannot)?;
        }
        if last != *b"\n" {
            // Another game's line was never whole.
            file.write_at(end, b"\n").map_err(cannot)?;
            end += 1;
        }
        file.write_at(end, line.as_bytes()).and_then(|()| file.sync()).map_err(cannot)?;
        #[cfg(unix)]
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// Hands over each game that waits; one for which `learn` is true is crossed out. Returns how many still wait.
    ///
    /// # Errors
    /// When the file is there but cannot be locked within `patience`, read or written.
    pub fn drain(&self, patience: Duration, mut learn: impl FnMut(&Spooled) -> bool) -> Result<usize> {
        let cannot = |error| Error::file(&self.path, "cannot read the games kept for later", error);
        if fs::metadata(&self.path).map_or(true, |metadata| metadata.len() == 0) {
            return Ok(0);
        }
        let mut file = self.open(false, patience)?;
        let len = file.size().map_err(cannot)?;
        let mut data = vec![0; usize::try_from(len.min(SPOOL_MAX)).unwrap_or_default()];
        let read = file.read_at(0, &mut data).map_err(cannot)?;
        data.truncate(read);
        let mut waiting = 0;
        for spooled in games(&data) {
            if learn(&spooled) {
                file.write_at(spooled.at, b"-").map_err(cannot)?;
            } else {
                waiting += 1;
            }
        }
        if waiting == 0 && len <= SPOOL_MAX {
            Bytes::set_len(&mut file, 0).and_then(|()| file.sync()).map_err(cannot)?;
        }
        Ok(waiting)
    }

    fn open(&self, create: bool, patience: Duration) -> Result<File> {
        let cannot = |error| Error::file(&self.path, "cannot open the games kept for later", error);
        let file = File::options().read(true).write(true).create(create).truncate(false).open(&self.path);
        let locked = file.and_then(|file| lock(file, patience)).map_err(cannot)?;
        locked.ok_or_else(|| {
            cannot(io::Error::new(io::ErrorKind::TimedOut, "another program keeps them locked"))
        })
    }
}

/// The games that wait in a spool's bytes.
fn games(data: &[u8]) -> Vec<Spooled> {
    let mut at = 0;
    let mut games = Vec::new();
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        games.extend(parse(line, at));
        at += line.len() as u64;
    }
    games
}

/// Reads a line; `None` where it waits for nothing or is not whole.
fn parse(line: &[u8], at: u64) -> Option<Spooled> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let text = line.get(TEXT..)?;
    let whole = line.get(..TEXT)? == format!("+ {} ", guard(text));
    whole.then_some(())?;
    let line: Line = serde_json::from_str(text).ok()?;
    Some(Spooled { lesson: line.lesson()?, book: line.book, at })
}

fn guard(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())).chars().take(GUARD_LEN).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Line {
    fn of(book: PathBuf, lesson: &Lesson) -> Self {
        let mode = lesson.start.chess().castles().mode();
        let moves: Vec<String> = lesson.moves.iter().map(|mv| mv.to_uci(mode).to_string()).collect();
        let mut sides = String::new();
        for color in Color::ALL {
            if *lesson.sides.get(color) {
                sides.push(color.char());
            }
        }
        Self {
            book,
            id: hex(&lesson.id),
            fen: lesson.start.fen(),
            chess960: mode == CastlingMode::Chess960,
            moves: moves.join(" "),
            sides,
            result: lesson.outcome.to_string(),
            note: lesson.note.clone(),
        }
    }

    fn lesson(&self) -> Option<Lesson> {
        let mode = if self.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let mut game = Game::from_fen(self.fen.as_bytes(), mode).ok()?;
        self.moves.split_whitespace().all(|mv| game.push_uci(mv.as_bytes())).then_some(())?;
        let mut id = [0; 16];
        (self.id.len() == 2 * id.len()).then_some(())?;
        for (place, byte) in id.iter_mut().enumerate() {
            *byte = u8::from_str_radix(self.id.get(2 * place..2 * place + 2)?, 16).ok()?;
        }
        Some(Lesson {
            id,
            start: game.start_position().clone(),
            moves: game.moves().to_vec(),
            sides: ByColor { white: self.sides.contains('w'), black: self.sides.contains('b') },
            outcome: KnownOutcome::from_ascii(self.result.as_bytes()).ok()?,
            note: self.note.clone(),
        })
    }
}
