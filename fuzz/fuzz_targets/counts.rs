//! Fuzzes `tests/seeds/counts.rs`.
#![no_main]

#[path = "../../tests/seeds/counts.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
