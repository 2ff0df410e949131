//! A value that a thread computes in the background, and that whoever needs it first waits for.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::thread;

use super::panics;

/// The value and how to make it.
struct Making<T> {
    value: OnceLock<T>,
    make: Box<dyn Fn() -> T + Send + Sync>,
}

impl<T: Default> Making<T> {
    /// The value: it is ready, or another thread computes it, or this one does. It is the default if that panics, so
    /// that nobody waits forever and the program goes on.
    fn get(&self) -> &T {
        self.value.get_or_init(|| panics::caught(&self.make).unwrap_or_default())
    }
}

/// A value made in the background.
pub struct Background<T>(Arc<Making<T>>);

impl<T: Default + Send + Sync + 'static> Background<T> {
    /// Starts a thread that computes the value. If no thread can be started, whoever asks first computes it.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        let making = Arc::new(Making { value: OnceLock::new(), make: Box::new(make) });
        let inside = Arc::clone(&making);
        // A thread that cannot be started costs only time.
        let _ = thread::Builder::new().name("book index".to_owned()).spawn(move || {
            inside.get();
        });
        Self(making)
    }

    /// The value, once it is ready.
    pub fn get(&self) -> &T {
        self.0.get()
    }
}

impl<T> fmt::Debug for Background<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.value.get().is_some() { "Background(ready)" } else { "Background(being made)" })
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
        let value = Arc::new(Background::new(move || {
            held.lock().unwrap().recv().unwrap();
            count.fetch_add(1, Ordering::SeqCst) + 7
        }));
        // Had it waited for its value, this line would not be reached.
        assert_eq!(format!("{value:?}"), "Background(being made)");
        let askers: Vec<_> = (0..3)
            .map(|_| {
                let value = Arc::clone(&value);
                thread::spawn(move || *value.get())
            })
            .collect();
        release.send(()).unwrap();
        for asker in askers {
            assert_eq!(asker.join().unwrap(), 7);
        }
        assert_eq!((made.load(Ordering::SeqCst), format!("{value:?}").as_str()), (1, "Background(ready)"));
    }

    #[test]
    fn a_panic_leaves_the_default_and_nobody_waiting() {
        let value: Background<u32> = Background::new(|| panic!("on purpose"));
        assert_eq!((*value.get(), *value.get()), (0, 0));
    }
}
