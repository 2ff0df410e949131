//! What every floor above stands on: errors, bounds-checked reading, memory maps, whole writing, sorting, progress.

pub mod blob;
pub mod bytes;
pub mod cut;
pub mod error;
pub mod interrupt;
pub mod map;
pub mod progress;
pub mod replace;
pub mod sort;
