//! Games as PGN text, in the export format of the PGN standard: the writer, and what it writes.

mod tree;
mod write;

pub use tree::{Node, Notes, Remark, San, Tree};
pub use write::Writer;
