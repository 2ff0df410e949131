//! Fuzzes `tests/seeds/evals.rs`.
#![no_main]

#[path = "../../tests/seeds/evals.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
