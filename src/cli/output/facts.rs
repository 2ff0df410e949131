//! What a book knows of a move, in words for people.

use crate::book::Learned;

/// The colour of a move that its format recommends or advises against.
pub fn colour(recommended: bool) -> &'static str {
    if recommended { "green" } else { "red" }
}

/// What a move has learned: points and games.
pub fn learned(learned: Learned) -> String {
    format!("{}/{}", f64::from(learned.halfpoints) / 2.0, learned.games)
}
