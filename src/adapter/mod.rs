//! The proxy between a GUI and the child engine.
//!
//! [`session`] decides what each line means and does no I/O; [`io`] puts threads, pipes and the log around it;
//! [`learning`] takes the results of finished games into books on threads of its own; [`config`] is what the user set.

pub mod config;
pub mod io;
pub mod learning;
pub mod session;
