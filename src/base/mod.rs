//! What every floor above stands on: errors, bounds-checked reading, memory maps, progress.

pub mod bytes;
pub mod error;
pub mod map;
pub mod progress;
