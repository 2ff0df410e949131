//! ChessBase databases (`.cbh` and the files beside it). `docs/formats/cbh.md` describes the format.
//!
//! A `.cbh` file is a list of records, one for each game or text. They point into the other files: moves (`.cbg`),
//! annotations (`.cba`), players (`.cbp`), tournaments (`.cbt`), annotators (`.cbc`) and sources (`.cbs`). For each record
//! there is another one in `.cbj`, which points to teams (`.cbe`) and titles (`.cbl`). Of the media in texts (`.cbm`) only
//! the size is known.
//!
//! [`Cbh`] is an open database, [`CbhReader`] reads it on one thread, and [`CbhSource`] is its games for building and
//! learning. [`export`] writes the games as PGN, [`check`] and [`info`] examine the whole.

mod board;
pub mod check;
mod database;
mod decode;
mod entities;
mod error;
pub mod export;
pub mod guide;
pub mod info;
pub mod layout;
mod mode;
pub mod notes;
mod parallel;
mod reader;
mod record;
mod source;
mod start;
mod tags;
#[cfg(test)]
pub(crate) mod tests;
mod text;

pub use board::Board;
pub use database::{Cbh, CbhBytes, is_named, parts};
pub use decode::{Sink, decode};
pub use error::{DecodeError, MoveError};
pub use mode::Mode;
pub use reader::{CbhGame, CbhReader};
pub use record::{CbhOutcome, CbhRecord, CbhRecordKind};
pub use source::CbhSource;
pub use start::Start;
