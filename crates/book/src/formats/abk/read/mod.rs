//! Reading a book: its tree is walked once, and turned into an index by position.

mod index;
mod indexed;
mod walk;
pub mod weigh;

pub use index::Index;
pub use indexed::IndexedMove;
pub(crate) use walk::LONGEST;
pub use walk::{MOST, walk};
