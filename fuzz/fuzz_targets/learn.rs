//! Fuzzes `tests/seeds/learn.rs`.
#![no_main]

#[path = "../../tests/seeds/learn.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
