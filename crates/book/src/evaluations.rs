//! What is known of the positions that a book reaches, besides what the book says.

use tabiya_chess::{Position, Value};

/// Evaluations of positions, such as a store of evaluations beside a book.
pub trait Evaluations: Send + Sync {
    /// The value of a position for the side to move; `None` if it is not known.
    fn value(&self, at: &Position) -> Option<Value>;
}
