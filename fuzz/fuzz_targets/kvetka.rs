//! Fuzzes `tests/seeds/kvetka.rs`.
#![no_main]

#[path = "../../tests/seeds/kvetka.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
