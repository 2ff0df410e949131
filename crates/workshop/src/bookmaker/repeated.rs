//! Games that occur several times, in one file or in several.
//!
//! A first round over all games makes a record of each: a digest of the players, the date and the moves, and the number of
//! the game. The records are sorted within the memory that the build may use, and of the games with one digest the first is
//! counted. So the same games count whatever the number of threads, and memory is bounded even if all games are one.

use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use tabiya_base::bytes::Parts as _;
use tabiya_base::error::{Error, Result};
use tabiya_base::progress::Progress;
use tabiya_base::sort::Sorter;
use tabiya_base::table::Table;
use tabiya_book::By;
use tabiya_chess::Position;
use tabiya_games::play::play;
use tabiya_games::{GameEnd, GameError, GameHeader, KeyedPly, Sources, Visitor};

use super::Resources;
use super::files::BuildFiles;
use super::filter::Filter;

/// Bytes of a digest, which a record begins with. The game's number follows.
const DIGEST_LEN: usize = 16;

/// The numbers of games that others before them repeat.
#[derive(Debug, Default)]
pub struct Repeated(Option<Table<{ size_of::<u64>() }>>);

impl Repeated {
    /// Those of a source that reads each file [once](Sources::once), if the filter lets each game count once; else none.
    ///
    /// # Errors
    /// When the games are in a pipe, or as [`Repeated::find`].
    pub fn among(
        source: &Sources,
        filter: &Filter,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Self> {
        if !filter.unique {
            return Ok(Self::default());
        }
        Self::find(&mut source.twice("counting each game once")?, filter, resources, progress)
    }

    /// Finds the games that have the same players, date and moves as one before them, among those that the filter admits.
    ///
    /// # Errors
    /// When a file cannot be read, a temporary one cannot be written, or the work is interrupted.
    pub fn find(
        source: &mut Sources,
        filter: &Filter,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Self> {
        let memory = resources.memory / 4;
        let sorter = Mutex::new(Sorter::new(&resources.temp, memory));
        let files = BuildFiles::new(source);
        let digester = || Digester {
            filter,
            wanted_tags: filter.wanted_tags(By::default()),
            files: &files,
            sorter: &sorter,
            taken: 0,
            game: 0,
            digest: Sha256::new(),
            plies: 0,
            failed: None,
        };
        let finish = |digester: Digester<'_>| digester.failed.map_or(Ok(digester.taken), Err);
        let taken = play(source, resources, progress, digester, finish)?;
        progress.things(taken.into_iter().sum(), "games");
        let mut sorted = sorter.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
        let mut numbers = Sorter::new(&resources.temp, memory);
        let (mut last, mut done) = (Vec::new(), 0_u64);
        while let Some(record) = sorted.next()? {
            done += 1;
            progress.step(done)?;
            // Games with the same number are one game of a file that is read twice.
            if record.get(..DIGEST_LEN) == last.get(..DIGEST_LEN) && record != last {
                numbers.push(record.part(DIGEST_LEN..))?;
            }
            last.clear();
            last.extend_from_slice(record);
        }
        drop(sorted);
        let mut numbers = numbers.finish()?;
        let mut repeated = Table::new(&resources.temp, memory / 4);
        while let Some(number) = numbers.next()? {
            if let Some(number) = number.first_chunk() {
                repeated.push(number)?;
            }
        }
        Ok(Self((!repeated.is_empty()).then_some(repeated)))
    }

    /// Whether no game is repeated.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the game with this number repeats one before it.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub fn contains(&self, game: u64) -> Result<bool> {
        self.0.as_ref().map_or(Ok(false), |numbers| Ok(numbers.find(game)?.is_some()))
    }
}

/// Computes the digests of the games of one thread.
struct Digester<'a> {
    filter: &'a Filter,
    wanted_tags: Vec<String>,
    files: &'a BuildFiles,
    sorter: &'a Mutex<Sorter>,
    /// Games whose records were made.
    taken: u64,
    game: u64,
    digest: Sha256,
    plies: usize,
    failed: Option<Error>,
}

impl Visitor for Digester<'_> {
    fn wanted_tags(&self) -> &[String] {
        &self.wanted_tags
    }

    fn begin(&mut self, game: &GameHeader) -> bool {
        if self.failed.is_some() || self.filter.admits(game).is_err() {
            return false;
        }
        self.game = self.files.number(&game.place.file, game.place.offset);
        self.plies = 0;
        for player in [&game.white, &game.black] {
            self.digest.update(player.trim().to_lowercase());
            self.digest.update([0]);
        }
        self.digest.update(game.date.to_pgn());
        self.digest.update(game.start.as_ref().map_or(0, Position::key).to_le_bytes());
        true
    }

    fn keyed_plies(&self) -> Option<usize> {
        Some(usize::MAX)
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        plies.iter().for_each(|ply| self.digest.update(ply.mv.0.to_le_bytes()));
        self.plies = plies.len();
    }

    fn end(&mut self, end: GameEnd) {
        let digest = self.digest.finalize_reset();
        let refused = self.filter.strict && end.error.is_some();
        if refused || self.filter.result(end.result, self.plies).is_err() {
            return;
        }
        let record = [digest.part(..DIGEST_LEN), &self.game.to_be_bytes()].concat();
        self.taken += 1;
        let mut sorter = self.sorter.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = sorter.push(&record) {
            self.failed = Some(error);
        }
    }

    fn unreadable(&mut self, _: GameError) {}

    fn has_failed(&self) -> bool {
        self.failed.is_some()
    }
}
