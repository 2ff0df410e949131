//! ChessBase databases (`.cbh` and the files beside it). `docs/formats/cbh.md` describes the format.
//!
//! A `.cbh` file is a list of records, one for each game or text. They point into the other files: moves (`.cbg`),
//! annotations (`.cba`), players (`.cbp`), tournaments (`.cbt`), annotators (`.cbc`) and sources (`.cbs`). For each record
//! there is another one in `.cbj`, which points to teams (`.cbe`) and titles (`.cbl`). Of the media in texts (`.cbm`) only
//! the size is known.
//!
//! [`Cbh`] is an open database, [`CbhReader`] reads it on one thread. [`KIND`] is where this plugs in, [`check`] and [`info`] examine the
//! whole.

mod board;
pub mod check;
mod database;
mod decode;
mod entities;
mod export;
pub mod guide;
pub mod info;
mod kind;
pub mod layout;
mod mode;
pub mod notes;
mod reader;
mod record;
mod source;
mod start;
mod tags;
#[cfg(test)]
pub(crate) mod tests;
mod text;

pub use board::Board;
pub use database::{Cbh, CbhBytes};
pub use decode::decode;
pub use kind::KIND;
pub use mode::Mode;
pub use reader::{CbhGame, CbhReader};
pub use record::{CbhOutcome, CbhRecord, CbhRecordKind};
pub use start::Start;
