//! The proxy between a GUI and the child engine.
//!
//! [`session`] decides what every line means and never touches a pipe; [`engine`] owns the child process; [`run`]
//! puts threads and pipes around the two. Games that are over are learned on a thread of their own.

mod answer;
mod board;
pub mod books;
pub mod config;
pub mod engine;
mod hub;
pub mod library;
pub mod log;
pub mod options;
pub mod paths;
pub mod run;
pub mod score;
pub mod session;
mod sink;
mod spelling;
pub mod stderr;
mod study;
mod trust;

pub use study::spool_paths;
