//! Tests of the whole: keys and moves, reading, damage.

mod broken;
mod editing;
mod fixtures;
mod games;
mod keys;
mod packed;
mod reading;
mod writing;

pub use fixtures::Fixture;

pub use crate::tests::{after, fen};
pub use packed::Packed;
