//! Foreign code that reads foreign bytes: where it panics, that is a damage of the file and no end of the program.
//!
//! The crate that decodes Parquet's values checks most of what a file claims, but not all: a claim that it takes at
//! its word may end in a panic. It holds nothing but memory, so that unwinding through it leaves nothing half done.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside of foreign code.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs foreign code; `None` where it panicked. Nothing is printed then.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_is_none_and_one_outside_is_a_panic() {
        assert_eq!(guarded(|| 7), Some(7));
        let none: Option<u8> = guarded(|| panic!("inside"));
        assert_eq!(none, None);
        assert!(catch_unwind(|| panic!("outside")).is_err());
    }
}
