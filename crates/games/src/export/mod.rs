//! Games as PGN text, in the export format of the PGN standard.

mod tree;
mod write;

pub use tree::{MoveTree, Node, Notes, Remark, San, TreeStep, Walk};
pub use write::PgnHead;
pub use write::PgnWriter;
