//! Fuzzes `tests/seeds/abk.rs`.
#![no_main]

#[path = "../../tests/seeds/abk.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
