//! Fuzzes `tests/seeds/polyglot.rs`.
#![no_main]

#[path = "../../tests/seeds/polyglot.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
