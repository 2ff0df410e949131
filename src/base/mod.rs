//! What every floor above stands on: errors, bounds-checked reading, memory maps, whole writing, sorting and looking up beyond
//! memory, progress.

pub mod blob;
pub mod bytes;
pub mod cut;
pub mod error;
pub mod interrupt;
pub mod map;
pub mod progress;
pub mod replace;
pub mod scratch;
pub mod sort;
pub mod table;
