//! Fuzzes `tests/seeds/text.rs`.
#![no_main]

#[path = "../../tests/seeds/text.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
