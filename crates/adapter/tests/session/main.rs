//! The session as a state machine: hand-written dialogues, and random interleavings of everything that can happen.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod dialogues;
mod figures;
mod guard;
mod interleavings;
mod learning;
mod library;
mod pairs;
mod rules;
mod setup;
mod variants;
