//! Learning as its users meet it: the real executable, many of them at once, and killed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod crowd;
mod sessions;
mod workshop;
mod world;

use std::process::{Child, Command};

/// Starts a process. Wine 8 sometimes cannot while another one is being killed; then this tries again.
fn start(command: &mut Command) -> Child {
    /// `ERROR_INTERNAL_ERROR` of Windows.
    const INTERNAL_ERROR: i32 = 1359;
    for _ in 0..20 {
        match command.spawn() {
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(INTERNAL_ERROR) => {}
            started => return started.unwrap(),
        }
    }
    panic!("{command:?} cannot be started: internal error of Windows");
}
