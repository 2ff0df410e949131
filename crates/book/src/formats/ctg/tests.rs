//! Sound and broken books, and what reader and writer make of them.

mod broken;
mod editing;
mod fixtures;
mod reading;
mod samples;
mod writing;

pub use fixtures::{Fixture, Known, ctb, cto};
