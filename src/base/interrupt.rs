//! Ctrl-C and its like, for work that must tidy up before it ends.
//!
//! Work asks now and then whether it is to stop, and stops by an error: what it holds is dropped on the way out,
//! temporary files among it.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::{Error, ErrorKind, Result};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C, a closed terminal or a request to terminate only asks the work to stop.
pub fn watch() {
    static ONCE: Once = Once::new();
    // Without the handler the process ends at once, as it would have anyway.
    ONCE.call_once(|| drop(ctrlc::set_handler(ask)));
}

/// Asks the work to stop, as Ctrl-C does.
pub fn ask() {
    ASKED.store(true, Ordering::Relaxed);
}

/// Whether the work is to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// # Errors
/// When the work is to stop.
pub fn check() -> Result<()> {
    if asked() {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted: nothing was written"));
    }
    Ok(())
}
