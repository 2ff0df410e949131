//! The games of a book that is being written: each gets a place in the `.ksf` file, by which positions name it.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::super::element::Link;
use super::super::layout::{SOURCE_CBH, SOURCE_PGN, SOURCE_WEB};
use super::super::read::sources::Game;
use super::ksf::KsfWriter;
use crate::base::error::{Error, Result};
use crate::base::table::Table;
use crate::book::{LinkedGame, SourceKind};

/// Games of one source that follow each other.
#[derive(Debug)]
struct Run {
    source: u16,
    /// The place of its first game among all.
    first: u64,
}

/// The games so far.
#[derive(Debug)]
pub struct Games {
    ksf: KsfWriter<Body>,
    /// The numbers of the games, ascending.
    numbers: Table<{ size_of::<u64>() }>,
    runs: Vec<Run>,
    /// What the present source is.
    present: Option<(SourceKind, String)>,
    /// Games that have no place.
    pub lost: u64,
    folder: PathBuf,
}

impl Games {
    /// No game yet; they are kept in a temporary file of a folder, and of their numbers about this many bytes in RAM.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn new(folder: &Path, memory: usize) -> io::Result<Self> {
        let body = Body::Writing(BufWriter::new(tempfile::tempfile_in(folder)?));
        let (ksf, numbers) = (KsfWriter::new(body), Table::new(folder, memory));
        Ok(Self { ksf, numbers, runs: Vec::new(), present: None, lost: 0, folder: folder.to_owned() })
    }

    /// Takes in a game; their numbers ascend.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, game: &LinkedGame) -> Result<()> {
        let kind = match game.kind {
            SourceKind::Pgn => SOURCE_PGN,
            SourceKind::Web => SOURCE_WEB,
            SourceKind::Cbh => SOURCE_CBH,
            SourceKind::Other => {
                self.lost += 1;
                return Ok(());
            }
        };
        // Both have 32 bits in the file.
        let (Ok(address), Ok(length)) = (u32::try_from(game.address), u32::try_from(game.length)) else {
            self.lost += 1;
            return Ok(());
        };
        if !self.numbers.takes(game.number) {
            self.lost += 1;
            return Ok(());
        }
        let same =
            self.present.as_ref().is_some_and(|(kind, source)| (*kind, source) == (game.kind, &game.source));
        if !same {
            let source = self.ksf.source(kind, game.gone, &game.source);
            if !source.map_err(|error| Error::temporary(&self.folder, error))? {
                self.lost += 1;
                return Ok(());
            }
            self.present = Some((game.kind, game.source.clone()));
            let source = self.runs.last().map_or(0, |run| run.source + 1);
            self.runs.push(Run { source, first: self.numbers.len() });
        }
        let known = Game {
            address,
            length,
            white: game.white.clone(),
            black: game.black.clone(),
            white_elo: game.white_elo,
            black_elo: game.black_elo,
            result: match game.points {
                Some(0) => 0,
                Some(1) => 2,
                Some(2) => 1,
                _ => 3,
            },
        };
        let place = self.ksf.game(&known).map_err(|error| Error::temporary(&self.folder, error))?;
        match place {
            Some(_) => self.numbers.push(&game.number.to_be_bytes()).map(drop),
            None => {
                self.lost += 1;
                Ok(())
            }
        }
    }

    /// The link to the game of a number.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub fn link(&self, number: u64) -> Result<Option<Link>> {
        let Some((at, _)) = self.numbers.find(number)? else { return Ok(None) };
        let run = self.runs.partition_point(|run| run.first <= at).checked_sub(1);
        let run = run.and_then(|run| self.runs.get(run));
        Ok(run.and_then(|run| Some(Link { source: run.source, game: u32::try_from(at - run.first).ok()? })))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Writes the `.ksf` file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self, out: &mut impl Write) -> io::Result<()> {
        self.ksf.finish(out)
    }
}

/// A temporary file, written and then read in blocks.
#[derive(Debug)]
enum Body {
    Writing(BufWriter<File>),
    Reading(BufReader<File>),
}

impl Write for Body {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Writing(file) => file.write(bytes),
            Self::Reading(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Writing(file) => file.flush(),
            Self::Reading(_) => Ok(()),
        }
    }
}

impl Read for Body {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Self::Writing(file) = self {
            file.flush()?;
            *self = Self::Reading(BufReader::new(file.get_ref().try_clone()?));
        }
        match self {
            Self::Writing(_) => Ok(0),
            Self::Reading(file) => file.read(bytes),
        }
    }
}

impl Seek for Body {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Writing(file) => file.seek(to),
            Self::Reading(file) => file.seek(to),
        }
    }
}
