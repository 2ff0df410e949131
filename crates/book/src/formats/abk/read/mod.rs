//! Reading a book: its tree is walked once, and turned into an index by position.

mod index;
mod indexed;
mod walk;
pub mod weigh;

pub use index::AbkIndex;
pub use indexed::IndexedMove;
pub(crate) use walk::MAX_LEN;
pub use walk::{MAX, walk};
