//! Threads, pipes, books and the log around the session.

mod appended;
pub mod book_loader;
mod clock;
mod ending;
mod lines_file;
pub mod log;
mod opening;
mod reading;
pub mod run;
mod shared;
mod state;
pub mod stderr;
mod writing;
