//! Tests of the whole: keys and moves, reading, damage.

mod broken;
mod games;
mod keys;
mod made;
mod reading;
mod writing;

pub use made::{Made, after, fen};
