//! The file of a database that has its games.

use std::path::Path;
use std::sync::Arc;

use crate::{GameError, GameLocation, LineOrGame, Reason};

/// The file in which the offsets of games are, as places name it.
#[derive(Clone, Debug)]
pub(crate) struct GamesFile(Arc<Path>);

impl GamesFile {
    pub fn new(path: &Path) -> Self {
        Self(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The place of a game, for reports.
    pub fn place(&self, number: u32, offset: u64, length: u64) -> GameLocation {
        GameLocation { file: self.0.clone(), spot: LineOrGame::Game(number.into()), offset, length }
    }

    /// What is wrong with a game at this offset.
    pub fn error(&self, number: u32, offset: u64, reason: Reason, why: impl Into<String>) -> GameError {
        GameError { reason, place: self.place(number, offset, 0), why: why.into() }
    }
}
