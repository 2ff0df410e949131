//! Fuzzes `tests/seeds/kvetka.rs`.
#![no_main]

#[path = "../../tests/seeds/kvetka.rs"]
mod target;

// The target includes a file of the library, which names this module.
use tabiya_book as book;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
