//! Fuzzes `tests/seeds/cbh_moves.rs`.
#![no_main]

#[path = "../../tests/seeds/cbh_moves.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
