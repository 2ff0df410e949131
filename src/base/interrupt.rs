//! Ctrl-C and similar requests, for work that must clean up before it ends.
//!
//! Work checks now and then whether to stop, and stops with an error: everything that it holds is dropped on the way
//! out, including temporary files.

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::error::{Error, ErrorKind, Result};

/// How often a wait for work looks whether it must stop.
const TICK: Duration = Duration::from_millis(50);

/// What an interrupt says where the work does not know what was written: the command says it.
const INTERRUPTED: &str = "interrupted";

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C, a closed terminal or a request to terminate only sets a flag for the work to stop.
pub fn watch() {
    #[cfg(feature = "program")]
    static ONCE: Once = Once::new();
    // Without the handler the process ends at once, as it does by default.
    #[cfg(feature = "program")]
    ONCE.call_once(|| drop(ctrlc::set_handler(ask)));
}

/// Asks the work to stop, as Ctrl-C does.
pub fn ask() {
    ASKED.store(true, Ordering::Relaxed);
}

/// Takes the request back, after all work that it was meant for has stopped: the process goes on.
pub fn withdraw() {
    ASKED.store(false, Ordering::Relaxed);
}

/// Whether the work must stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Does work that cannot check for itself on another thread, and waits for it until the work must stop: then `None`.
///
/// # Errors
/// When the thread cannot be started, or the work panics.
pub(crate) fn wait_for<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (done, found) = channel();
    // Nobody waits after an interrupt.
    thread::Builder::new().name(name.to_owned()).spawn(move || drop(done.send(work())))?;
    loop {
        match found.recv_timeout(TICK) {
            Ok(value) => return Ok(Some(value)),
            Err(RecvTimeoutError::Timeout) if asked() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the work failed")),
        }
    }
}

/// From now on writing a file beyond the limit that the system sets for this process (`ulimit -f`) is an error like any
/// other; without this call it ends the process.
///
/// # Safety
/// Safe to call: the handler does nothing. It is a handler because programs that we start would inherit an ignored
/// signal.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(crate) fn outlive_file_limits() {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

    extern "C" fn nothing(_: nix::libc::c_int) {}

    let action = SigAction::new(SigHandler::Handler(nothing), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: as above.
    let _ = unsafe { sigaction(Signal::SIGXFSZ, &action) };
}

/// Does nothing: only Unix ends processes for that.
#[cfg(not(unix))]
pub(crate) fn outlive_file_limits() {}

/// # Errors
/// When the work must stop.
pub fn check() -> Result<()> {
    if asked() { Err(stopped()) } else { Ok(()) }
}

/// The error of work that stops. [`after`] says what was written by then.
pub(crate) fn stopped() -> Error {
    Error::new(ErrorKind::Interrupted, INTERRUPTED)
}

/// Says what was written before an interrupt, unless the error says it already.
pub(crate) fn after(written: &str, error: Error) -> Error {
    if error.what() == INTERRUPTED {
        return error.reworded(format!("interrupted: {written}"));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_said_once_and_only_of_interrupts() {
        let inner = after("the book is written", stopped());
        assert_eq!(inner.what(), "interrupted: the book is written");
        assert_eq!(after("nothing was written", inner).what(), "interrupted: the book is written");
        let other = Error::new(ErrorKind::File, "the disk is full");
        assert_eq!(after("nothing was written", other).what(), "the disk is full");
        assert_eq!(stopped().what(), "interrupted");
    }
}
