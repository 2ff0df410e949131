//! Fuzzes `tests/seeds/cbh.rs`.
#![no_main]

#[path = "../../tests/seeds/cbh.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
