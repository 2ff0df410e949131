//! The proxy between a GUI and the child engine.
//!
//! [`session`] decides what each line means and does no I/O; [`io`] puts threads, pipes and the log around it;
//! [`learning`] writes the results of finished games into books, on its own threads.
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "tests know their numbers"))]

pub mod io;
pub mod learning;
pub mod session;
pub mod settings;
