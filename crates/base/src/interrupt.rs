//! Requests to stop, such as Ctrl-C, for work that must clean up before it ends.
//!
//! Work checks now and then whether to stop, and stops with an error: everything that it holds is dropped on the way
//! out, including temporary files.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::error::{Error, ErrorKind, Result};

/// How often a wait for work looks whether it must stop.
const TICK: Duration = Duration::from_millis(50);

/// What an interrupt says where the work does not know what was written: the command says it.
const INTERRUPTED: &str = "interrupted";

thread_local! {
    /// The scopes that this thread works in.
    static SCOPES: RefCell<Option<Arc<Scope>>> = const { RefCell::new(None) };
}

/// The scope of an interrupt, and the one that it is in.
struct Scope {
    interrupt: Interrupt,
    outer: Option<Arc<Scope>>,
}

/// A request to stop some work, which any thread may make. All clones are the same request.
///
/// What runs in its [scope](Self::scope) stops once it is made, on whatever threads it works: with an error of the kind
/// [`ErrorKind::Interrupted`], and without a file that is half written. Other work of the process goes on.
///
/// ```
/// use tabiya_base::error::ErrorKind;
/// use tabiya_base::interrupt::{Interrupt, check};
///
/// let interrupt = Interrupt::new();
/// let stop = interrupt.clone(); // for a button, or a handler of signals
/// stop.ask();
/// assert_eq!(interrupt.scope(check).unwrap_err().kind(), ErrorKind::Interrupted);
/// assert!(check().is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A request that is not made yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the request. It cannot be taken back.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the request was made.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does work that this request stops, as do the requests in whose scopes the call is.
    pub fn scope<T>(&self, work: impl FnOnce() -> T) -> T {
        let outer = SCOPES.with_borrow(Clone::clone);
        in_scope(Some(Arc::new(Scope { interrupt: self.clone(), outer })), work)
    }
}

/// Does work in these scopes, and returns to the thread's own, even from a panic.
fn in_scope<T>(scope: Option<Arc<Scope>>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Arc<Scope>>);

    impl Drop for Restore {
        fn drop(&mut self) {
            SCOPES.set(self.0.take());
        }
    }

    let _restore = Restore(SCOPES.replace(scope));
    work()
}

/// Work for another thread, which stops there as it would here: whatever starts a thread hands it over so.
pub fn inherited<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let scope = SCOPES.with_borrow(Clone::clone);
    move || in_scope(scope, work)
}

/// What puts a thread into the scopes that this call is in, for all of its work: for the threads of a pool.
pub fn entering() -> impl Fn() {
    let scope = SCOPES.with_borrow(Clone::clone);
    move || SCOPES.set(scope.clone())
}

/// Whether the work of this thread must stop.
pub fn asked() -> bool {
    let in_scope = |scope: &RefCell<Option<Arc<Scope>>>| in_any(scope.borrow().as_deref());
    // A thread that ends has left its scopes.
    SCOPES.try_with(in_scope).unwrap_or(false)
}

/// Whether an interrupt of these scopes is asked for.
fn in_any(scope: Option<&Scope>) -> bool {
    let mut each = std::iter::successors(scope, |scope| scope.outer.as_deref());
    each.any(|scope| scope.interrupt.is_asked())
}

/// Does work that cannot check for itself on another thread, and waits for it until the work must stop: then `None`.
///
/// # Errors
/// When the thread cannot be started, or the work panics.
pub fn wait_for<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (done, found) = channel();
    // Nobody waits after an interrupt.
    thread::Builder::new().name(name.to_owned()).spawn(inherited(move || drop(done.send(work()))))?;
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
pub fn outlive_file_limits() {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

    extern "C" fn nothing(_: nix::libc::c_int) {}

    let action = SigAction::new(SigHandler::Handler(nothing), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: as above.
    let _ = unsafe { sigaction(Signal::SIGXFSZ, &action) };
}

/// Does nothing: only Unix ends processes for that.
#[cfg(not(unix))]
pub fn outlive_file_limits() {}

/// # Errors
/// When the work must stop.
pub fn check() -> Result<()> {
    if asked() { Err(stopped()) } else { Ok(()) }
}

/// The error of work that stops. [`after`] says what was written by then.
pub fn stopped() -> Error {
    Error::new(ErrorKind::Interrupted, INTERRUPTED)
}

/// Says what was written before an interrupt, unless the error says it already.
pub fn after(written: &str, error: Error) -> Error {
    if error.what() == INTERRUPTED {
        return error.reworded(format!("interrupted: {written}"));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel;
    use crate::task_thread::TaskThread;
    use std::sync::Mutex;
    use std::sync::mpsc::Receiver;

    #[test]
    fn an_interrupt_stops_what_is_in_its_scope_on_whatever_threads_it_works() {
        let (one, other) = (Interrupt::new(), Interrupt::new());
        let seen = |interrupt: &Interrupt| {
            interrupt.scope(|| {
                let beside = parallel::beside(2, asked, asked);
                let waited = wait_for("test", asked).unwrap();
                let ordered = Mutex::new(Vec::new());
                let (mut items, work) = (0..6, |(): &mut (), _: i32, found: &mut bool| *found = asked());
                let take = |_, found: &mut bool| {
                    ordered.lock().unwrap().push(*found);
                    Ok(())
                };
                parallel::in_order(2, 0, || Ok(items.next()), || (), work, take).unwrap();
                let (send, told) = channel();
                let task =
                    TaskThread::start("test", move |_: Receiver<()>| send.send(asked()).unwrap()).unwrap();
                let task = told.recv().map(|told| (told, task.close().comes_within(Duration::MAX)));
                let (enter, entered) = (entering(), Mutex::new(None));
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        enter();
                        *entered.lock().unwrap() = Some(asked());
                    });
                });
                let mut all = vec![asked(), beside.0, waited.unwrap_or(true), task.unwrap().0];
                all.extend(entered.into_inner().unwrap());
                all.extend(beside.1);
                all.extend(ordered.into_inner().unwrap());
                all
            })
        };
        one.clone().ask();
        assert_eq!((seen(&one), seen(&other)), (vec![true; 13], vec![false; 13]));
        // A scope inside another obeys both.
        assert!(one.scope(|| other.scope(asked)) && other.scope(|| one.scope(asked)));
        assert!(!asked() && other.scope(|| check().is_ok()) && one.scope(check).is_err());
        // A panic leaves the scope too.
        assert!(std::panic::catch_unwind(|| one.scope(|| panic!("on purpose"))).is_err() && !asked());
    }

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
