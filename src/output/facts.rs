//! What a book knows of a move, in words for people.

use tabiya_book::Learned;

/// What a move has learned: points and games.
pub fn learned(learned: Learned) -> String {
    format!("{}/{}", f64::from(learned.halfpoints) / 2.0, learned.games)
}
