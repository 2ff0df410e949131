//! Games that occur several times, in one file or in several.
//!
//! A first round over all games makes a row of each: a digest of the players, the date and the moves, and the number of the
//! game. The rows are sorted within the memory that the build may use, and of the games with one digest the first is
//! counted. So the same games count whatever the number of threads.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use bytemuck::{Pod, Zeroable};
use sha2::{Digest as _, Sha256};
use shakmaty::Move;

use super::Resources;
use super::files::Files;
use super::filter::Filter;
use super::sort::{RadixSorter, Sortable, Sorted};
use crate::base::error::{Error, Result};
use crate::base::progress::Progress;
use crate::book::counts::By;
use crate::chess::{MoveCode, Position};
use crate::games::play::{GamesPlayer, play};
use crate::games::{Ahead, End, GameError, Header, KeyedPly, Sources, Visitor};

/// The numbers of games that others before them repeat.
#[derive(Clone, Debug, Default)]
pub struct Repeated(Vec<u64>);

impl Repeated {
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
        let share = Ahead::of(resources).left(resources) / resources.threads.max(1);
        let files = Files::new(source);
        let digester = || Digester {
            filter,
            wanted_tags: filter.wanted_tags(By::default()),
            files: &files,
            sorter: RadixSorter::<Row>::new(share, &resources.temp),
            games: 0,
            game: 0,
            digest: Sha256::new(),
            plies: 0,
            failed: None,
        };
        let finish = |digester: Digester<'_>| match digester.failed {
            Some(error) => Err(error),
            None => Ok(digester.sorter.finish()),
        };
        let sorted = Sorted::new(play(source, resources, progress, digester, finish)?);
        progress.things(sorted.total(), "games");
        let mut repeated = Vec::new();
        let later = |rows: &[Row]| -> Vec<u64> {
            let same = rows.chunk_by(|a, b| a.digest == b.digest);
            same.flat_map(|rows| rows.iter().skip(1).map(|row| row.game)).collect()
        };
        sorted.each(resources, progress, later, |games| {
            repeated.extend(games);
            Ok(())
        })?;
        repeated.sort_unstable();
        Ok(Self(repeated))
    }

    /// Whether no game is repeated.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the game with this number repeats one before it.
    pub fn contains(&self, game: u64) -> bool {
        self.0.binary_search(&game).is_ok()
    }
}

/// A game: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Row {
    digest: [u64; 2],
    game: u64,
}

impl Sortable for Row {
    fn key(&self) -> u64 {
        let [key, _] = self.digest;
        key
    }

    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }

    fn absorb(&mut self, other: &Self) -> bool {
        self == other
    }
}

/// Computes the digests of the games of one thread.
struct Digester<'a> {
    filter: &'a Filter,
    wanted_tags: Vec<String>,
    files: &'a Files,
    sorter: RadixSorter<Row>,
    games: u64,
    game: u64,
    digest: Sha256,
    plies: usize,
    failed: Option<Error>,
}

impl Digester<'_> {
    fn take(&mut self, mv: MoveCode) {
        self.digest.update(mv.0.to_le_bytes());
        self.plies += 1;
    }
}

impl GamesPlayer for Digester<'_> {
    fn games(&self) -> u64 {
        self.games
    }

    fn has_failed(&self) -> bool {
        self.failed.is_some()
    }
}

impl Visitor for Digester<'_> {
    fn wanted_tags(&self) -> &[String] {
        &self.wanted_tags
    }

    fn begin(&mut self, game: &Header) -> bool {
        self.games += 1;
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

    fn ply(&mut self, _: &Position, mv: Move) -> ControlFlow<()> {
        self.take(MoveCode::from_move(mv));
        ControlFlow::Continue(())
    }

    fn keyed_plies(&self) -> Option<usize> {
        Some(usize::MAX)
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        plies.iter().for_each(|ply| self.take(ply.mv));
    }

    fn end(&mut self, end: End) {
        let digest = self.digest.finalize_reset();
        let refused = self.filter.strict && end.error.is_some();
        if refused || self.filter.result(end.result, self.plies).is_err() {
            return;
        }
        let half = |from: usize| {
            let bytes = digest.iter().skip(from).take(8);
            bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        let row = Row { digest: [half(0), half(8)], game: self.game };
        if let Err(error) = self.sorter.push(row) {
            self.failed = Some(error);
        }
    }

    fn unreadable(&mut self, error: GameError) {
        self.games += u64::from(error.reason != crate::games::Reason::Unreadable);
    }
}
