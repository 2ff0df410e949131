//! The journal of a book that another one has replaced.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tabiya_base::folder;
use tabiya_book::OldJournal;

use crate::journal::JournalState;
use crate::storage::{Claim, Disk, Storage as _};

/// How long to wait for a process that still has the journal.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is added to the name of a journal whose book was replaced; more of them get numbers.
const SET_ASIDE: &str = ".old";

/// Renames the journal beside a book that has just been replaced by another one, so that the new one can be edited and learn, and
/// nothing of what the journal knows is lost. `None` where there is none, or it has neither games nor edits.
pub fn set_aside(book: &Path) -> Option<OldJournal> {
    let mut disk = Disk::new(book).ok()?;
    let mut old = OldJournal { file: disk.journal.clone(), ..OldJournal::default() };
    let claimed = disk.claim(PATIENCE, false);
    let mut journal = match claimed {
        Ok(Claim::Ours(journal)) => journal,
        Ok(Claim::Missing) => return None,
        Ok(Claim::Busy) | Err(_) => return Some(old),
    };
    match JournalState::read(None, &mut *journal) {
        Ok(None) => return None,
        Ok(Some(state)) if state.is_blank() => return None,
        Ok(Some(state)) => {
            old.games = state.compacted().saturating_add(state.games.len() as u64);
            old.edits = state.undoable.len() as u64;
        }
        // Whatever it is, it is not of this book.
        Err(_) => {}
    }
    if let Some(free) = free_name(&disk.journal)
        && fs::rename(&disk.journal, &free).is_ok()
    {
        let _ = folder::sync(folder::parent_of(&free));
        (old.file, old.is_moved) = (free, true);
    }
    Some(old)
}

/// The first name for a journal that is set aside which no file has.
fn free_name(journal: &Path) -> Option<PathBuf> {
    let first = std::iter::once(SET_ASIDE.to_owned());
    let mut names = first.chain((2..1000).map(|number| format!("{SET_ASIDE}{number}")));
    names.find_map(|suffix| {
        let name = folder::with_suffix(journal, &suffix);
        name.symlink_metadata().is_err().then_some(name)
    })
}
