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

/// From now on a file that grows to the limit that the system sets for this process (`ulimit -f`) cannot be written to,
/// which is an error like any other; without this it ends the process.
///
/// # Safety
/// Safe to call: the handler does nothing. It is a handler because programs that we start would inherit an ignored
/// signal.
#[cfg(unix)]
#[allow(unsafe_code)]
pub fn outlive_file_limits() {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

    extern "C" fn nothing(_: nix::libc::c_int) {}

    let action = SigAction::new(SigHandler::Handler(nothing), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: as above.
    let _ = unsafe { sigaction(Signal::SIGXFSZ, &action) };
}

/// Only Unix ends processes for that.
#[cfg(not(unix))]
pub fn outlive_file_limits() {}

/// # Errors
/// When the work is to stop.
pub fn check() -> Result<()> {
    if asked() {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted: nothing was written"));
    }
    Ok(())
}
