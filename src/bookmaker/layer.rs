//! Books that show another one with changes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::base::findings::Findings;
use crate::base::progress::Progress;
use crate::book::{Book, Format, GameReference, MoveFacts, Scope, Summary, Visit};
use crate::chess::Position;

/// A book that shows another one with changes of its positions. Everything else is as in the other one.
pub trait Layer: Send + Sync {
    /// The other book.
    fn below(&self) -> &dyn Book;

    /// Appends the moves in a position: see [`Book::moves`].
    fn changed_moves(&self, at: &Position, out: &mut Vec<MoveFacts>);

    /// Shows the positions: see [`Book::each`].
    fn each_changed(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> u64;
}

impl<L: Layer> Book for L {
    fn path(&self) -> &Path {
        self.below().path()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.below().files()
    }

    fn format(&self) -> Format {
        self.below().format()
    }

    fn moves(&self, at: &Position, out: &mut Vec<MoveFacts>) {
        self.changed_moves(at, out);
    }

    fn comment(&self, at: &Position) -> Option<String> {
        self.below().comment(at)
    }

    fn game(&self, at: &Position) -> Option<GameReference> {
        self.below().game(at)
    }

    fn games(&self, see: &mut dyn FnMut(GameReference) -> ControlFlow<()>) {
        self.below().games(see);
    }

    fn each(&self, scope: Scope, progress: &Progress, visit: Visit<'_>) -> u64 {
        self.each_changed(scope, progress, visit)
    }

    fn holds_positions(&self) -> bool {
        self.below().holds_positions()
    }

    fn survey(&self, progress: &Progress, findings: &mut Findings<'_>) -> Summary {
        self.below().survey(progress, findings)
    }

    fn inspect(&self, progress: &Progress, findings: &mut Findings<'_>) {
        self.below().inspect(progress, findings);
    }
}
