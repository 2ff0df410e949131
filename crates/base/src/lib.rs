//! What every other floor uses: errors, bounds-checked reading, memory maps, atomic writing of files, sorting and
//! look-ups beyond memory, progress.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

pub mod background;
pub mod blob;
pub mod bytes;
#[cfg(feature = "write")]
pub mod check;
pub mod command;
pub mod encoding;
pub mod error;
pub mod file;
pub mod file_kind;
pub mod findings;
pub mod folder;
pub mod interrupt;
#[cfg(feature = "names")]
pub mod likeness;
#[cfg(feature = "write")]
pub mod lock;
pub mod map;
pub mod panics;
pub mod parallel;
pub mod patch;
pub mod progress;
pub mod public_error;
#[cfg(feature = "write")]
pub mod replace;
#[cfg(feature = "write")]
pub mod resources;
#[cfg(feature = "write")]
pub mod scratch;
#[cfg(feature = "write")]
pub mod sort;
pub mod state_folder;
#[cfg(feature = "write")]
pub mod table;
pub mod task_thread;
pub mod truncated;
pub mod visit;
#[cfg(windows)]
pub mod windows;
