//! Games as PGN text, in the export format of the PGN standard.

mod tree;
mod write;

/// The comment after a move that leads on in a book's lines, and is not in the book.
pub const UNLISTED: &str = "not in the book";

/// Whether a comment is [`UNLISTED`]. A line may end wherever it has a space.
#[inline]
pub(crate) fn is_unlisted(comment: &[u8]) -> bool {
    // Nearly all comments are shorter or longer.
    let near = UNLISTED.len()..2 * UNLISTED.len();
    let words = || comment.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    near.contains(&comment.len()) && words().eq(UNLISTED.split(' ').map(str::as_bytes))
}

pub use tree::{MoveTree, Notes, Remark, San, TreeNode, TreeStep, TreeWalk};
pub use write::PgnHead;
pub use write::PgnWriter;
