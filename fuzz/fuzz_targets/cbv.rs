//! Fuzzes `tests/seeds/cbv.rs`.
#![no_main]

#[path = "../../tests/seeds/cbv.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
