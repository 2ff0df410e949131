//! A value that a thread makes in the background, and that whoever needs it first waits for.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::thread;

/// The value and how to make it.
struct Making<T> {
    value: OnceLock<T>,
    make: Box<dyn Fn() -> T + Send + Sync>,
}

impl<T: Default> Making<T> {
    /// The value: ready, or waited for while another thread makes it, or made here when none has begun. Where making
    /// it panics it is the default, so that nobody waits for ever and nobody else panics.
    fn get(&self) -> &T {
        self.value.get_or_init(|| catch_unwind(AssertUnwindSafe(|| (self.make)())).unwrap_or_default())
    }
}

/// A value made in the background.
pub struct Later<T>(Arc<Making<T>>);

impl<T: Default + Send + Sync + 'static> Later<T> {
    /// Starts a thread that makes the value. Where no thread can be started, whoever asks first makes it.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        let making = Arc::new(Making { value: OnceLock::new(), make: Box::new(make) });
        let inside = Arc::clone(&making);
        // A thread that cannot be started is no loss but of time.
        let _ = thread::Builder::new().name("book index".to_owned()).spawn(move || {
            inside.get();
        });
        Self(making)
    }

    /// The value, waited for where it is not ready.
    pub fn get(&self) -> &T {
        self.0.get()
    }
}

impl<T> fmt::Debug for Later<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.value.get().is_some() { "Later(ready)" } else { "Later(being made)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::channel;

    #[test]
    fn it_returns_at_once_and_is_made_once() {
        let (release, held) = channel::<()>();
        let held = Mutex::new(held);
        let made = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&made);
        let later = Arc::new(Later::new(move || {
            held.lock().unwrap().recv().unwrap();
            count.fetch_add(1, Ordering::SeqCst) + 7
        }));
        // Had it waited for its value, this line would not be reached.
        assert_eq!(format!("{later:?}"), "Later(being made)");
        let askers: Vec<_> = (0..3)
            .map(|_| {
                let later = Arc::clone(&later);
                thread::spawn(move || *later.get())
            })
            .collect();
        release.send(()).unwrap();
        for asker in askers {
            assert_eq!(asker.join().unwrap(), 7);
        }
        assert_eq!((made.load(Ordering::SeqCst), format!("{later:?}").as_str()), (1, "Later(ready)"));
    }

    #[test]
    fn a_panic_leaves_the_default_and_nobody_waiting() {
        let later: Later<u32> = Later::new(|| panic!("on purpose"));
        assert_eq!((*later.get(), *later.get()), (0, 0));
    }
}
