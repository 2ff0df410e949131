//! Failures of the disk that tests ask for: see the feature `faults`.

use std::cell::Cell;
use std::io;

thread_local! {
    static LEFT: Cell<Option<(u64, bool)>> = const { Cell::new(None) };
}

/// Lets a step of replacing files in this thread fail as on a full disk, after so many: only that one, or all that follow, as if
/// the process had died. `None` ends it.
pub fn fail_after(steps: Option<u64>, all: bool) {
    LEFT.set(steps.map(|steps| (steps, all)));
}

/// Whether a step of replacing files can be done.
pub(super) fn step() -> io::Result<()> {
    match LEFT.get() {
        None => return Ok(()),
        Some((0, true)) => {}
        Some((0, false)) => LEFT.set(None),
        Some((left, all)) => {
            LEFT.set(Some((left - 1, all)));
            return Ok(());
        }
    }
    Err(io::ErrorKind::StorageFull.into())
}
