//! What a growing book comes to, and what is known of its positions, as reports have it.

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use tabiya_chess::Value;

/// How far games go in a book for one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The side.
    #[serde(with = "name")]
    pub side: Color,
    /// What the starting position is worth for it, in centipawns.
    pub value: Option<Value>,
    /// The plies that a game is expected to stay in the book.
    pub plies: f64,
    /// The probability that the book has an answer to what the opponent plays.
    pub covered: f64,
    /// Positions in which the book has a move.
    pub positions: u64,
}

/// What is known of a position for a side of the book.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownPosition {
    /// Its key, of all that decides about its moves: the Polyglot key, but in crazyhouse and three-check.
    pub key: u64,
    /// The side of the book.
    #[serde(with = "name")]
    pub side: Color,
    /// What it is worth for that side, in centipawns.
    pub value: Value,
    /// How probable it is that a game reaches it.
    pub reach: f64,
}

/// Sides as `white` and `black`.
mod name {
    use serde::{Deserialize as _, Deserializer, Serializer, de};
    use shakmaty::Color;

    pub(super) fn serialize<S: Serializer>(side: &Color, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(side)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Color, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}
