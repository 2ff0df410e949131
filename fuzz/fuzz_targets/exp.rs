//! Fuzzes `tests/seeds/exp.rs`.
#![no_main]

#[path = "../../tests/seeds/exp.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
