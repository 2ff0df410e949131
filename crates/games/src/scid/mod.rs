//! Scid's databases (`.si4` and `.si5`, and the files beside them). `docs/formats/scid.md` describes the format.
//!
//! The index (`.si4`) has a record for each game, which points into the games (`.sg4`) and to names of players, events, sites and
//! rounds (`.sn4`). Version 5 stores games in the same way, index and names in others.
//!
//! [`Scid`] is an open database, `reader` reads it on one thread, `stored` and `decode` have what a game is. [`KIND`] is where this
//! plugs in.

mod board;
mod check;
mod database;
mod decode;
mod export;
mod info;
mod kind;
mod layout;
mod names;
mod reader;
mod record;
mod source;
mod stored;
mod tags;
#[cfg(test)]
mod tests;

pub use database::Scid;
pub use kind::KIND;
