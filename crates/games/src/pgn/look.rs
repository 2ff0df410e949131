//! Searching in texts. In tests it counts the bytes that are looked at, which shows that no text is looked at again and again.

use std::sync::LazyLock;

pub(super) use ::memchr::memmem::Finder;

#[cfg(not(test))]
pub(super) use memchr::{memchr, memchr_iter, memchr2, memchr3, memmem, memrchr, memrchr_iter, memrchr2};

/// What is looked for again and again: to prepare for that takes longer than many a search.
pub(super) struct Needle(LazyLock<Finder<'static>>);

impl Needle {
    pub const fn new(make: fn() -> Finder<'static>) -> Self {
        Self(LazyLock::new(make))
    }

    /// Where it is first in a text.
    pub fn find(&self, text: &[u8]) -> Option<usize> {
        let found = self.0.find(text);
        #[cfg(test)]
        counted::up_to(found, text);
        found
    }
}

#[cfg(test)]
pub(super) use counted::{
    looked, memchr, memchr_iter, memchr2, memchr3, memmem, memrchr, memrchr_iter, memrchr2,
};

#[cfg(test)]
mod counted {
    use std::cell::Cell;

    thread_local! {
        static LOOKED: Cell<u64> = const { Cell::new(0) };
    }

    /// The bytes that were looked at on this thread, and one for each search.
    pub fn looked() -> u64 {
        LOOKED.get()
    }

    fn seen(bytes: usize) {
        LOOKED.set(LOOKED.get() + 1 + bytes as u64);
    }

    /// Counts the bytes up to what was found.
    pub(super) fn up_to(found: Option<usize>, text: &[u8]) -> Option<usize> {
        seen(found.unwrap_or(text.len()));
        found
    }

    /// Counts the bytes down to what was found.
    fn down_to(found: Option<usize>, text: &[u8]) -> Option<usize> {
        seen(text.len() - found.unwrap_or(0));
        found
    }

    pub fn memchr(byte: u8, text: &[u8]) -> Option<usize> {
        up_to(::memchr::memchr(byte, text), text)
    }

    pub fn memchr2(a: u8, b: u8, text: &[u8]) -> Option<usize> {
        up_to(::memchr::memchr2(a, b, text), text)
    }

    pub fn memchr3(a: u8, b: u8, c: u8, text: &[u8]) -> Option<usize> {
        up_to(::memchr::memchr3(a, b, c, text), text)
    }

    pub fn memrchr(byte: u8, text: &[u8]) -> Option<usize> {
        down_to(::memchr::memrchr(byte, text), text)
    }

    pub fn memrchr2(a: u8, b: u8, text: &[u8]) -> Option<usize> {
        down_to(::memchr::memrchr2(a, b, text), text)
    }

    /// Finds one after another in a text, from where the last one was.
    fn each<'a>(
        text: &'a [u8],
        next: impl Fn(&[u8]) -> Option<usize> + 'a,
    ) -> impl Iterator<Item = usize> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let at = from + next(&text[from..])?;
            from = at + 1;
            Some(at)
        })
    }

    pub fn memchr_iter(byte: u8, text: &[u8]) -> impl Iterator<Item = usize> {
        each(text, move |rest| memchr(byte, rest))
    }

    pub fn memrchr_iter(byte: u8, text: &[u8]) -> impl Iterator<Item = usize> {
        let mut end = text.len();
        std::iter::from_fn(move || {
            end = memrchr(byte, &text[..end])?;
            Some(end)
        })
    }

    pub mod memmem {
        pub fn find(text: &[u8], what: &[u8]) -> Option<usize> {
            super::up_to(::memchr::memmem::find(text, what), text)
        }

        pub fn rfind(text: &[u8], what: &[u8]) -> Option<usize> {
            super::down_to(::memchr::memmem::rfind(text, what), text)
        }
    }
}
