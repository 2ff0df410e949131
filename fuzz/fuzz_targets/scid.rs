//! Fuzzes `tests/seeds/scid.rs`.
#![no_main]

#[path = "../../tests/seeds/scid.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
