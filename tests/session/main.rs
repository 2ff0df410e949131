//! The session as a state machine: by hand-written dialogues, and by random interleavings of all that can happen.

mod dialogues;
mod interleavings;
mod learning;
mod library;
mod setup;
