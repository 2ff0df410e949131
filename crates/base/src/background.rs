//! A value that a thread computes in the background. Whoever needs it first waits for it.

use std::sync::{Arc, LazyLock};
use std::thread;

use super::panics;

type Make<T> = Box<dyn FnOnce() -> T + Send>;

/// A value made in the background.
#[derive(Debug)]
pub struct Background<T>(Arc<LazyLock<T, Make<T>>>);

impl<T: Default + Send + Sync + 'static> Background<T> {
    /// Starts a thread that computes the value; if it cannot be started, the first caller that needs the value computes it.
    /// The value is the default if `make` panics, so that no caller waits forever and the program continues.
    pub fn new(make: impl FnOnce() -> T + Send + 'static) -> Self {
        let make: Make<T> = Box::new(move || panics::caught(make).unwrap_or_default());
        let value = Arc::new(LazyLock::new(make));
        let inside = Arc::clone(&value);
        // Without the thread only time is lost. The value outlives the work that asks for it, and does not stop with that.
        let _ = thread::Builder::new().name("book index".to_owned()).spawn(move || {
            LazyLock::force(&inside);
        });
        Self(value)
    }

    /// The value, once it is ready.
    pub fn get(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::channel;

    #[test]
    fn the_value_is_computed_once_in_the_background() {
        let (release, held) = channel::<()>();
        let held = Mutex::new(held);
        let made = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&made);
        let value = Arc::new(Background::new(move || {
            held.lock().unwrap().recv().unwrap();
            count.fetch_add(1, Ordering::SeqCst) + 7
        }));
        // Had it waited for its value, this line would not be reached.
        assert_eq!(made.load(Ordering::SeqCst), 0);
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
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_panic_leaves_the_default_and_nobody_waiting() {
        let value: Background<u32> = Background::new(|| panic!("on purpose"));
        assert_eq!((*value.get(), *value.get()), (0, 0));
    }
}
