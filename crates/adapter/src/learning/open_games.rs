//! The games that are neither learned nor reported yet. Both threads and the adapter's end need them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use log::Level;

use tabiya_learn::identity::Id;

use super::Messages;

/// The spool of each game; `None` for a game that is not on a disk yet.
type Open = HashMap<Id, Option<PathBuf>>;

/// See the module's documentation. Clones refer to the same games.
#[derive(Clone, Default)]
pub(super) struct OpenGames(Arc<Mutex<Open>>);

impl OpenGames {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A game has ended.
    pub(super) fn add(&self, id: Id) {
        self.open().insert(id, None);
    }

    /// Whether a game in a spool is one of this process, and will be learned anyway.
    pub(super) fn has(&self, id: Id) -> bool {
        self.open().contains_key(&id)
    }

    /// A game is in this spool.
    pub(super) fn keep(&self, id: Id, spool: &Path) {
        self.open().insert(id, Some(spool.to_owned()));
    }

    /// The outcome of a game is about to be reported.
    pub(super) fn close(&self, id: Id) {
        self.open().remove(&id);
    }

    /// Whether any game is not on a disk yet.
    pub(super) fn are_any_unsaved(&self) -> bool {
        self.open().values().any(Option::is_none)
    }

    /// Messages about all these games, which were not learned in this time.
    pub(super) fn messages(&self, time: Duration) -> Messages {
        let open = self.open();
        let seconds = time.as_secs();
        let mut kept: BTreeMap<&Path, u32> = BTreeMap::new();
        for spool in open.values().flatten() {
            *kept.entry(spool).or_default() += 1;
        }
        let unsaved = open.values().filter(|spool| spool.is_none()).count();
        let mut messages = Vec::new();
        for (spool, count) in kept {
            let (games, are) = if count == 1 { ("game", "is") } else { ("games", "are") };
            let spool = spool.display();
            messages.push((
                Level::Warn,
                format!(
                    "{count} {games} could not be learned in {seconds} s, {are} kept in {spool}, and will be \
                     learned when tabiya starts again"
                ),
            ));
        }
        if unsaved > 0 {
            let what = format!("{unsaved} finished games could be neither kept nor learned: they are lost");
            messages.push((Level::Error, what));
        }
        messages
    }
}
