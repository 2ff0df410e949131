//! Fuzzes `tests/seeds/pgn.rs`.
#![no_main]

#[path = "../../tests/seeds/pgn.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
