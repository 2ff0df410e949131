//! Fuzzes `tests/seeds/obk.rs`.
#![no_main]

#[path = "../../tests/seeds/obk.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
