//! Learning as its users meet it: the real executable, many of them at once, and killed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod crowd;
mod sessions;
mod workshop;
mod world;
