//! ChessBase databases (`.cbh` and the files beside it). The format is described in `docs/formats/cbh.md`.
//!
//! A `.cbh` file is a list of records, one for each game or text, that point into the others: moves (`.cbg`),
//! annotations (`.cba`), players (`.cbp`), tournaments (`.cbt`), annotators (`.cbc`), sources (`.cbs`), and by the
//! records of `.cbj`, which go along with its own, teams (`.cbe`) and titles (`.cbl`). Of the media that texts
//! show (`.cbm`) only the size is known.
//!
//! [`Cbh`] is an open database, a [`Reader`] one thread's way through it, [`CbhSource`] its games for whoever builds or
//! learns; [`export`] writes them as PGN, [`check`] and [`info`] look at the whole.

mod board;
pub mod check;
mod codes;
mod database;
mod decode;
mod entities;
pub mod export;
mod files;
pub mod guide;
pub mod info;
pub mod layout;
#[cfg(test)]
pub(in crate::games) mod made;
mod mode;
mod nations;
pub mod notes;
mod parallel;
mod reader;
mod record;
mod san;
mod source;
mod start;
mod tables;
#[cfg(test)]
mod tests;
mod text;

pub use board::{Board, Fault};
pub use database::{Bytes, Cbh};
pub use decode::{Damage, Sink, Wrong, decode};
pub use files::{is_named, parts};
pub use mode::Mode;
pub use reader::{Found, Game, Reader, Unreadable};
pub use record::{Kind, MEDALS, Outcome, Record};
pub use source::CbhSource;
pub use start::Start;
