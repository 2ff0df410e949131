//! Games as PGN text, in the export format of the PGN standard.

mod tree;
mod write;

pub use tree::{Node, Notes, Remark, San, Step, Tree, Walk};
pub use write::Head;
pub use write::Writer;
