//! What is known of the positions that a book reaches, besides what the book says.

use crate::chess::Position;

/// Evaluations of positions, such as a store of evaluations beside a book.
pub trait Evaluations: Send + Sync {
    /// The value of a position for the side to move, in centipawns, from -10,000 to 10,000; a mate is that much. `None` if
    /// it is not known.
    fn value(&self, at: &Position) -> Option<i64>;
}
