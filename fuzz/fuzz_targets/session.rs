//! Fuzzes `tests/seeds/session.rs`.
#![no_main]

#[path = "../../tests/seeds/session.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
