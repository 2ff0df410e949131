//! Threads, pipes, books and the log around the session.

pub mod book_loader;
mod clock;
mod ending;
pub mod log;
mod opening;
mod reading;
pub mod run;
mod shared;
mod state;
pub mod stderr;
mod writing;
