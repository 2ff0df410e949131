//! The session as a state machine: by hand-written dialogues, and by random interleavings of all that can happen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod dialogues;
mod interleavings;
mod learning;
mod library;
mod setup;
