//! Fuzzes `tests/seeds/explore.rs`.
#![no_main]

#[path = "../../tests/seeds/explore.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
