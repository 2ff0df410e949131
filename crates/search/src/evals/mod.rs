//! Stores of evaluations: what engines think of positions, in a file that several processes append to.
//!
//! | step | module |
//! |---|---|
//! | the bytes of the file | [`record`] |
//! | look-ups, and going through all positions | [`Store`] |
//! | appending, safe against crashes and other processes | [`Appender`] |
//! | sorting, and putting everything in order | [`Collector`] |
//! | what was found of a position apart from some moves | [`Alternative`] |
//! | which positions a book reaches | [`Wanted`] |
//! | the stores beside books | [`open_beside`] |
//!
//! # Which evaluation of a position counts
//! The deeper one; of equal depth the one of more nodes; then the better score for the side to move, so that of several
//! lines of one evaluation the best counts. Where neither depth nor nodes are known, as in most games, scores come from
//! different searches, and always taking the best would favour the side to move: there the record with the greater check
//! counts, which is as good as random and the same in any order. So a store depends on what was put into it, not on the
//! order.

mod alternative;
mod append;
mod compact;
mod evaluation;
mod known;
mod read;
pub mod record;
#[cfg(test)]
mod tests;
mod wanted;

use std::path::{Path, PathBuf};

use tabiya_base::folder;

pub use alternative::Alternative;
pub use append::{Appender, Waiting};
pub use compact::{Collector, Put, compact, repair};
pub use evaluation::{EngineId, Evaluation, Limit};
pub use known::{Evaluated, open_beside, value};
pub use read::{Store, StoreFinding as StoreFindings};
pub use wanted::Wanted;

/// What is added to a book's name for that of its store.
const SUFFIX: &str = ".evals";

/// The store beside a book: `book.bin.evals` of `book.bin`.
///
/// ```
/// use std::path::Path;
/// assert_eq!(tabiya_search::evals::beside(Path::new("a/book.bin")), Path::new("a/book.bin.evals"));
/// ```
pub fn beside(book: &Path) -> PathBuf {
    folder::with_suffix(book, SUFFIX)
}
