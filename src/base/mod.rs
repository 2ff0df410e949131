//! What every floor above stands on: errors, bounds-checked reading, memory maps, whole writing, sorting and looking up beyond
//! memory, progress.

pub mod background;
pub mod blob;
pub mod bytes;
pub mod cut;
pub mod error;
pub mod file;
pub mod findings;
pub mod folder;
pub mod interrupt;
pub mod map;
pub mod panics;
pub mod parallel;
pub mod progress;
pub mod replace;
pub mod scratch;
pub mod sort;
pub mod table;
