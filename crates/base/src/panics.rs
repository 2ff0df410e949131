//! Panics that are caught.
//!
//! A panic is a bug and ends the program; the adapter's hook kills the engine first. The exception is code that runs in
//! [`caught`]: its result is lost, and the program continues without it. Use it only for code that holds nothing but
//! memory, so unwinding through it leaves nothing half done.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs code whose panics are caught.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// From now on, this process prints nothing about panics that are caught.
pub fn hide_caught() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !is_caught() {
                before(info);
            }
        }));
    });
}

/// Runs `work`; `None` if it panics.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    let outer = CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(outer);
    done.ok()
}

/// Whether a panic of this thread is caught now. A hook that ends the process must check this.
pub fn is_caught() -> bool {
    CAUGHT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_is_none_and_one_outside_is_a_panic() {
        assert_eq!(caught(|| (7, is_caught())), Some((7, true)));
        let none: Option<u8> = caught(|| panic!("inside"));
        assert_eq!((none, is_caught()), (None, false));
        assert!(catch_unwind(|| panic!("outside")).is_err());
    }
}
