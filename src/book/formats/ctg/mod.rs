//! ChessBase books (`.ctg`, `.cto`, `.ctb`): entries in pages, found by a trie over hashes of positions. The format is
//! described in `docs/formats/ctg.md`.
//!
//! An entry holds its position's counts, ratings and colour and its moves' marks; what is known of a move besides its
//! mark stands in the entry of the position that it leads to. A damaged book is played as far as it is sound: a page
//! that the file does not have and what stands behind a broken entry of a page are not found, a move that is not legal is
//! not given.

mod check;
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
mod traverse;
mod write;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub use entry::{Entry, EntryMove, Rating, Statistics};
pub use files::{EXTENSIONS, in_any_case, part};
pub use read::Ctg;
pub use signature::{Signature, decode};
pub use write::{Beside, Draft, Writer};

use crate::base::findings::Findings;
use crate::base::progress::Progress;
use crate::book::traverse::{Forms as _, each_form};
use crate::book::{Book, Format, MoveFacts, PositionRecord, Scope, Summary};
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
    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        self.moves_at(at.chess(), out);
    }

    fn each(
        &self,
        scope: Scope,
        progress: &Progress,
        visit: &mut dyn FnMut(&PositionRecord) -> ControlFlow<()>,
    ) -> u64 {
        each_form(self, scope, progress, visit)
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> Summary {
        check::survey(self, progress, findings)
    }

    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        check::inspect(self, progress, findings);
    }
}
