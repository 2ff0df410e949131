//! ChessBase books (`.ctg`, `.cto`, `.ctb`): entries in pages, found by a trie over hashes of positions.
//!
//! An entry holds its position's counts, ratings and colour and its moves' marks; what is known of a move besides its
//! mark stands in the entry of the position that it leads to. A damaged book is played as far as it is sound: a page
//! that the file does not have and what stands behind a broken entry of a page are not found, a move that is not legal is
//! not given.

mod check;
mod each;
mod entry;
mod files;
mod headers;
mod index;
pub mod layout;
mod moves;
mod page;
mod read;
mod signature;
#[cfg(test)]
mod tests;
mod walk;
mod write;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use shakmaty::Move;

pub use entry::{Entry, EntryMove, Rating, Statistics};
pub use files::{EXTENSIONS, in_any_case, part};
pub use read::Ctg;
pub use signature::{Signature, SignatureFault, decode};
pub use write::{Beside, Draft, Writer};

use super::{Book, BookMove, Damage, Format, Known, Scope, Summary};
use crate::base::progress::Progress;
use crate::chess::Position;

impl Book for Ctg {
    fn path(&self) -> &Path {
        self.name()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.opened_first()
    }

    fn format(&self) -> Format {
        Format::Ctg
    }

    /// Appends the moves in the order of the entry, each with what the entry of the position that it leads to knows.
    /// A move's weight is twice its wins and once its draws; where no move of the position has a result, all weigh 1.
    fn moves(&self, at: &Position, out: &mut Vec<BookMove>) {
        self.append(at.chess(), out);
    }

    /// The heaviest move that colours and marks let be played in tournaments.
    fn best(&self, at: &Position) -> Option<Move> {
        self.heaviest(at.chess())
    }

    fn each(
        &self,
        scope: Scope,
        progress: &Progress,
        visit: &mut dyn FnMut(&Known) -> ControlFlow<()>,
    ) -> u64 {
        each::each(self, scope, progress, visit)
    }

    fn summary(&self, progress: &Progress) -> Summary {
        check::summary(self, progress)
    }

    fn check(&self, progress: &Progress, report: &mut dyn FnMut(Damage)) {
        check::check(self, progress, report);
    }
}
