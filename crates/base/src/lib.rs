//! What every other floor uses: errors, bounds-checked reading, memory maps, atomic writing of files, sorting and
//! look-ups beyond memory, progress.

pub(crate) mod background;
pub(crate) mod blob;
pub mod bytes;
#[cfg(feature = "workshop")]
pub mod check;
pub(crate) mod encoding;
pub mod error;
pub mod file;
pub mod findings;
pub mod folder;
pub mod interrupt;
#[cfg(feature = "workshop")]
pub(crate) mod lock;
pub mod map;
pub mod panics;
pub(crate) mod parallel;
pub mod patch;
pub mod progress;
#[cfg(feature = "workshop")]
pub mod replace;
#[cfg(feature = "workshop")]
pub mod resources;
#[cfg(feature = "workshop")]
pub(crate) mod scratch;
#[cfg(feature = "workshop")]
pub mod sort;
#[cfg(feature = "workshop")]
pub(crate) mod state_folder;
#[cfg(feature = "workshop")]
pub mod table;
#[cfg(feature = "workshop")]
pub(crate) mod task_thread;
pub mod truncated;
pub mod visit;
#[cfg(windows)]
pub(crate) mod windows;

/// How often a test does a thing, or how much of it: `few` in each run, `many` where `TABIYA_FULL_TESTS` is set, as it is
/// before a release.
#[cfg(test)]
pub(crate) fn times<T>(few: T, many: T) -> T {
    if std::env::var_os("TABIYA_FULL_TESTS").is_some() { many } else { few }
}
