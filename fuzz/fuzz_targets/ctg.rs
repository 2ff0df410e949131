//! Fuzzes `tests/seeds/ctg.rs`.
#![no_main]

#[path = "../../tests/seeds/ctg.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
