//! Finished games, kept until their books have learned them.
//!
//! A game goes here first, and is crossed out when its book has it: whatever happens in between, it is not lost.
//!
//! The spool is a text file with a line for each game and book (docs/formats/learn.md, Spool).
//!
//! A process that reads or changes the spool locks it, but not while learning or syncing, so no process waits long for
//! another. A game that was learned but not crossed out does no harm: the book's journal knows its identity, which is
//! kept here.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, CastlingMode, Color, KnownOutcome, Position as _};

use super::finished::{FinishedGame, IdentifiedGame};
use super::journal::{CHECK_LEN, check};
use super::storage::Bytes;
use crate::base::error::{Error, Result};
use crate::base::folder;
use crate::base::lock::lock;
use crate::book::Fingerprint;
use crate::chess::Game;

/// The most bytes of a spool: 1 GiB, some two million games. More games are refused, and reported.
const SPOOL_MAX: u64 = 1 << 30;

/// The longest line: 16 MiB, a game of two million moves.
const LINE_MAX: u64 = 16 << 20;

/// Games in one batch.
const BATCH_GAMES: usize = 64;

/// Bytes that one batch reads: 16 MiB, so the lock is not kept for long.
const BATCH_BYTES: u64 = 16 << 20;

/// A spool of at most this many bytes is searched for waiting games whenever one is crossed out: 256 KiB.
const SMALL: u64 = 256 << 10;

/// Bytes that are read and copied at once: 256 KiB.
const BLOCK: usize = 256 << 10;

/// The place of the text in a line: after the state, the hexadecimal digits of the text's check, and two spaces.
const TEXT: usize = 2 * CHECK_LEN + 3;

/// Where a game's line is, and its state and check, by which it is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    at: u64,
    head: [u8; TEXT],
}

/// A game that waits for its book.
#[derive(Clone, Debug)]
pub struct Spooled {
    /// The book that it is to be learned into.
    pub book: PathBuf,
    /// The book's fingerprint when the game was played from it, if it is known.
    pub fingerprint: Option<Fingerprint>,
    /// The game.
    pub finished: IdentifiedGame,
    /// Its line.
    pub place: Place,
}

/// Some of the games that wait.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The games, in the order of the file.
    pub games: Vec<Spooled>,
    /// Where the next batch begins; `None` at the end of the file.
    pub next: Option<u64>,
}

/// A line's text.
#[derive(Deserialize, Serialize)]
struct Line {
    book: PathBuf,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    fingerprint: String,
    id: String,
    fen: String,
    chess960: bool,
    moves: String,
    #[serde(default)]
    first: usize,
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
    /// The spool of this path; the file is created when games are put in it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts games in, each with the book that is to learn it and that book's fingerprint: when this returns, the disk
    /// has all of them.
    ///
    /// # Errors
    /// When the file cannot be created, locked within `patience`, or written, or is full. Some of the games may be in
    /// it nevertheless.
    pub fn put(
        &self,
        games: &[(&Path, Option<Fingerprint>, &IdentifiedGame)],
        patience: Duration,
    ) -> Result<Vec<Place>> {
        let mut lines = Vec::new();
        let mut places = Vec::new();
        let cannot = "cannot keep the game in the spool";
        let prepared = games.iter().try_for_each(|(book, fingerprint, game)| {
            let text = serde_json::to_string(&Line::new(book, *fingerprint, game))?;
            let head = head(&text);
            if (head.len() + text.len()) as u64 >= LINE_MAX {
                return Err(full("the game is too long"));
            }
            places.push(Place { at: lines.len() as u64, head });
            lines.extend_from_slice(&head);
            lines.extend_from_slice(text.as_bytes());
            lines.push(b'\n');
            Ok(())
        });
        let folder = folder::of(&self.path);
        let created = prepared.and_then(|()| fs::create_dir_all(folder));
        created.map_err(|error| Error::file(&self.path, cannot, error))?;
        self.locked(true, patience, cannot, |file| {
            let len = file.size()?;
            if len + lines.len() as u64 >= SPOOL_MAX {
                return Err(full("too many games wait in it already"));
            }
            let last = file.bytes_at(len.saturating_sub(1), 1)?;
            // The line of another game may have been cut off.
            let cut = last.first().is_some_and(|last| *last != b'\n');
            if cut {
                lines.insert(0, b'\n');
            }
            if let Err(error) = file.write_at(len, &lines) {
                // The disk is full: the part of the lines that was written is of no use.
                let _ = Bytes::set_len(file, len);
                return Err(error);
            }
            // Unlocked first, so that no other process waits for the disk; where that fails, as it does under Wine, closing
            // the file unlocks it.
            let _ = file.unlock();
            file.sync()?;
            if len == 0 {
                folder::sync(folder)?;
            }
            places.iter_mut().for_each(|place| place.at += len + u64::from(cut));
            Ok(())
        })?;
        Ok(places)
    }

    /// Games that wait, from this offset on: 0, or where the batch before ended. Only some are read at once, so neither
    /// time nor memory grow with the file.
    ///
    /// # Errors
    /// When the file exists but cannot be locked within `patience`, or read.
    pub fn batch(&self, from: u64, patience: Duration) -> Result<Batch> {
        let mut batch = Batch::default();
        if !self.is_longer_than(from) {
            return Ok(batch);
        }
        self.locked(false, patience, "cannot read the games kept in the spool", |file| {
            batch.next = each_line(file, from, |at, line| {
                batch.games.extend(parse(line, at));
                batch.games.len() < BATCH_GAMES && at - from < BATCH_BYTES
            })?;
            Ok(batch)
        })
    }

    /// Crosses out games that were learned. A line that is no longer where it was is left alone.
    ///
    /// # Errors
    /// When the file cannot be locked within `patience`, read or written. The games are known to the journals of their
    /// books, and are not learned again.
    pub(crate) fn cross_out<'a>(
        &self,
        places: impl IntoIterator<Item = &'a Place>,
        patience: Duration,
    ) -> Result<()> {
        self.locked(false, patience, "cannot cross out the games that were learned", |file| {
            for place in places {
                if file.bytes_at(place.at, TEXT)? == place.head {
                    file.write_at(place.at, b"-")?;
                }
            }
            if file.size()? <= SMALL {
                empty_if_done(file)?;
            }
            Ok(())
        })
    }

    /// Frees the space of games that were learned: empties the file when none waits, and compacts it when more than
    /// half of it is crossed out.
    ///
    /// # Errors
    /// When the file exists but cannot be locked within `patience`, read or written. No game is lost then.
    pub(crate) fn tidy(&self, patience: Duration) -> Result<()> {
        if !self.is_longer_than(0) {
            return Ok(());
        }
        self.locked(false, patience, "cannot tidy the games kept in the spool", |file| {
            if empty_if_done(file)? || file.size()? <= SMALL { Ok(()) } else { compact(file) }
        })
    }

    fn is_longer_than(&self, len: u64) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() > len)
    }

    /// Opens and locks the file for `work`, whose errors begin with `cannot`.
    fn locked<T>(
        &self,
        create: bool,
        patience: Duration,
        cannot: &str,
        work: impl FnOnce(&mut File) -> io::Result<T>,
    ) -> Result<T> {
        let file = File::options().read(true).write(true).create(create).truncate(false).open(&self.path);
        let busy = || io::Error::new(io::ErrorKind::TimedOut, "another program keeps it locked");
        let locked = file.and_then(|file| lock(file, patience)?.ok_or_else(busy));
        let mut file = locked.map_err(|error| Error::file(&self.path, "cannot open the spool", error))?;
        work(&mut file).map_err(|error| Error::file(&self.path, cannot, error))
    }
}

fn full(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

/// Calls `see` with each line and its offset while it returns true; returns where it stopped, `None` at the end of the
/// file. A line that is too long is split, and its pieces are no valid lines.
fn each_line(file: &File, from: u64, mut see: impl FnMut(u64, &[u8]) -> bool) -> io::Result<Option<u64>> {
    let mut file = file;
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(BLOCK, file);
    let mut line = Vec::new();
    let mut at = from;
    loop {
        line.clear();
        let read = reader.by_ref().take(LINE_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        let more = see(at, &line);
        at += read as u64;
        if !more {
            return Ok(Some(at));
        }
    }
}

/// Empties a spool in which no game waits; returns whether it is empty now.
fn empty_if_done(file: &mut File) -> io::Result<bool> {
    let mut waits = false;
    each_line(file, 0, |_, line| {
        waits = is_waiting(line);
        !waits
    })?;
    if !waits {
        Bytes::set_len(file, 0)?;
    }
    Ok(!waits)
}

/// Compacts a spool of which more than half is crossed out. Each game that waits is copied to the end, then to the
/// start: when the power fails, it may be there twice, which does no harm, but it is never missing.
fn compact(file: &mut File) -> io::Result<()> {
    let len = file.size()?;
    let mut waiting = 0;
    each_line(file, 0, |_, line| {
        waiting += if is_waiting(line) { line.len() as u64 } else { 0 };
        true
    })?;
    if waiting > len / 2 {
        return Ok(());
    }
    // The last line may have been cut off.
    file.write_at(len, b"\n")?;
    let copies = len + 1;
    let (mut from, mut end) = (Some(0), copies);
    while let Some(start) = from.filter(|from| *from < len) {
        let mut block = Vec::new();
        from = each_line(file, start, |at, line| {
            if at < len && is_waiting(line) {
                block.extend_from_slice(line);
            }
            at < len && block.len() < BLOCK
        })?;
        file.write_at(end, &block)?;
        end += block.len() as u64;
    }
    file.sync()?;
    let mut done = 0;
    while copies + done < end {
        // The file ends at `end`.
        let block = file.bytes_at(copies + done, BLOCK)?;
        if block.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.write_at(done, &block)?;
        done += block.len() as u64;
    }
    file.sync()?;
    Bytes::set_len(file, done)
}

/// Whether a line is whole, and its game waits.
fn is_waiting(line: &[u8]) -> bool {
    if line.first() != Some(&b'+') {
        return false;
    }
    let text = line.strip_suffix(b"\n").and_then(|line| line.get(TEXT..)).map(std::str::from_utf8);
    matches!(text, Some(Ok(text)) if line.starts_with(&head(text)))
}

/// Reads a line; `None` where its game does not wait, or the line is not whole.
fn parse(line: &[u8], at: u64) -> Option<Spooled> {
    is_waiting(line).then_some(())?;
    let place = Place { at, head: *line.first_chunk()? };
    let line: Line = serde_json::from_slice(line.get(TEXT..)?).ok()?;
    let fingerprint = bytes(&line.fingerprint);
    Some(Spooled { finished: line.game()?, book: line.book, fingerprint, place })
}

/// The beginning of the line of a game that waits.
fn head(text: &str) -> [u8; TEXT] {
    let head = format!("+ {} ", hex(&check(text.as_bytes())));
    head.as_bytes().first_chunk().copied().unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of so many hexadecimal digits.
fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = pairs.iter().map(|pair| byte(pair)).collect();
    bytes?.try_into().ok()
}

impl Line {
    fn new(book: &Path, fingerprint: Option<Fingerprint>, finished: &IdentifiedGame) -> Self {
        let IdentifiedGame { id, game } = finished;
        let mode = game.start.chess().castles().mode();
        let moves: Vec<String> = game.moves.iter().map(|mv| mv.to_uci(mode).to_string()).collect();
        let sides = Color::ALL.into_iter().filter(|color| *game.sides.get(*color)).map(Color::char);
        Self {
            book: std::path::absolute(book).unwrap_or_else(|_| book.to_owned()),
            fingerprint: fingerprint.map(|print| hex(&print)).unwrap_or_default(),
            id: hex(id),
            fen: game.start.fen(),
            chess960: mode == CastlingMode::Chess960,
            moves: moves.join(" "),
            first: game.first,
            sides: sides.collect(),
            result: game.result.to_string(),
            note: game.note.clone(),
        }
    }

    fn game(&self) -> Option<IdentifiedGame> {
        let mode = if self.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let mut game = Game::from_fen(self.fen.as_bytes(), mode).ok()?;
        self.moves.split_whitespace().all(|mv| game.push_uci(mv.as_bytes())).then_some(())?;
        let finished = FinishedGame {
            start: game.start_position().clone(),
            moves: game.moves().to_vec(),
            first: self.first,
            sides: ByColor { white: self.sides.contains('w'), black: self.sides.contains('b') },
            result: KnownOutcome::from_ascii(self.result.as_bytes()).ok()?,
            note: self.note.clone(),
        };
        Some(finished.identified(bytes(&self.id)?))
    }
}
