//! The games that are neither learned nor reported yet: both threads and the adapter's end must know them.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use log::Level;

use super::Messages;
use super::worker::Game;
use crate::learn::identity::Id;

#[derive(Default)]
struct Open {
    /// The number of games that are on no disk yet.
    loose: u32,
    /// The number of games in each spool.
    kept: BTreeMap<PathBuf, u32>,
    /// All of them.
    ids: HashSet<Id>,
}

/// See the module's documentation. Clones refer to the same games.
#[derive(Clone, Default)]
pub(super) struct OpenGames(Arc<Mutex<Open>>);

impl OpenGames {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A game has ended.
    pub(super) fn add(&self, id: Id) {
        let mut open = self.open();
        open.loose += 1;
        open.ids.insert(id);
    }

    /// Whether a game in a spool is one of this process, and will be learned anyway.
    pub(super) fn has(&self, id: Id) -> bool {
        self.open().ids.contains(&id)
    }

    /// A game is in this spool.
    pub(super) fn keep(&self, spool: &Path) {
        let mut open = self.open();
        open.loose = open.loose.saturating_sub(1);
        *open.kept.entry(spool.to_owned()).or_default() += 1;
    }

    /// The outcome of a game is about to be reported.
    pub(super) fn close(&self, game: &Game) {
        let mut open = self.open();
        open.ids.remove(&game.finished.id);
        match &game.kept {
            Ok((spool, _)) => {
                if let Some(count) = open.kept.get_mut(spool.path()) {
                    *count = count.saturating_sub(1);
                }
            }
            Err(_) => open.loose = open.loose.saturating_sub(1),
        }
    }

    /// Whether any game is on no disk yet.
    pub(super) fn are_any_loose(&self) -> bool {
        self.open().loose > 0
    }

    /// Messages about all these games, which were not learned in this time.
    pub(super) fn messages(&self, time: Duration) -> Messages {
        let open = self.open();
        let seconds = time.as_secs();
        let mut messages = Vec::new();
        for (spool, count) in open.kept.iter().filter(|(_, count)| **count > 0) {
            let (games, are) = if *count == 1 { ("game", "is") } else { ("games", "are") };
            let spool = spool.display();
            messages.push((
                Level::Warn,
                format!(
                    "{count} {games} could not be learned in {seconds} s, {are} kept in {spool} and learned by the \
                     next tabiya"
                ),
            ));
        }
        if open.loose > 0 {
            let what =
                format!("{} finished games could be neither kept nor learned: they are lost", open.loose);
            messages.push((Level::Error, what));
        }
        messages
    }
}
